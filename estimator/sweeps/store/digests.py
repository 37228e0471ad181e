"""Hash of all rows of a table that does not depend on their order or on the division into parts."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SIZE = 16
"""Size of a hash [bytes]."""


def digest(tables: Iterable[pa.Table]) -> str:
    """Return the sum of the hashes of all rows modulo 2^128, as 32 hexadecimal digits; zero without rows.

    The hash of a row is BLAKE2b (16 bytes, read as a little-endian integer) of its values in the order of the
    columns: an int64 or float64 as its 8 bytes, little-endian, each NaN as 7ff8000000000000 (hexadecimal); a
    string as the BLAKE2b (16 bytes) of its UTF-8. The key of the hash is the BLAKE2b (16 bytes) of the lines
    `name type` of all columns. Rows that occur twice count twice.
    """
    total = 0
    for table in tables:
        header = "\n".join(f"{field.name} {field.type}" for field in table.schema)
        key = blake2b(header.encode(), digest_size=SIZE).digest()
        rows = _bytes(table)
        width = rows.shape[1]
        data = rows.tobytes()
        for start in range(0, len(data), width):
            row = blake2b(data[start : start + width], digest_size=SIZE, key=key).digest()
            total += int.from_bytes(row, "little")
    return f"{total % 2 ** (8 * SIZE):032x}"


def _bytes(table: pa.Table) -> NDArray[np.uint8]:
    """Return the values of each row as bytes, uint8[rows, width]."""
    parts = []
    for column in table.columns:
        if column.type == pa.string():
            words = column.combine_chunks().dictionary_encode()
            hashes = [
                blake2b(word.encode(), digest_size=SIZE).digest() for word in words.dictionary.to_pylist()
            ]
            part = np.frombuffer(b"".join(hashes), dtype=np.uint8).reshape(-1, SIZE)[words.indices.to_numpy()]
        else:
            values = column.to_numpy()
            if column.type == pa.float64():
                values = np.where(np.isnan(values), np.nan, values)
            little = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
            part = little.view(np.uint8).reshape(-1, 8)
        parts.append(part)
    return np.concatenate(parts, axis=1)
