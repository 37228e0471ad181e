"""One hash for all rows of a table, the same in whatever parts and order they come."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SIZE = 16
"""Bytes of a hash."""


def digest(tables: Iterable[pa.Table]) -> str:
    """The sum of the rows' hashes modulo 2^128, as 32 hexadecimal digits; zero without rows.

    A row is hashed by BLAKE2b (16 bytes, read as a little-endian integer) from its values in the
    order of the columns: an int64 or float64 as its 8 bytes, little-endian, each NaN as
    7ff8000000000000 (hexadecimal); a string as the 16 bytes of the BLAKE2b of its UTF-8.  The key of
    that hash is the BLAKE2b (16 bytes) of the lines `name type` of all columns.  Rows that come twice
    count twice.
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
    """The values of each row as bytes, uint8[rows, width]."""
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
