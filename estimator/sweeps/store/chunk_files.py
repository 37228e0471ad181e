"""Chunk files: a table as Parquet under a name that tells its cells and checks its bytes.

The names are `cells-<first cell>-<rows>-<SHA-256>.parquet` and the same with `replications` or `screened`: 10
digits or more, and the first 16 hexadecimal digits of the checksum.  Equal tables are equal files.
"""

import hashlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from netcarlo.sweeps.store.files import Files
from netcarlo.sweeps.store.versions import Version

FOLDER = "chunks"

Kind = Literal["cells", "replications", "screened"]
"""`screened`: rows of cells, too, but of what cheap models say of them."""

_NAME = re.compile(r"(cells|replications|screened)-(\d{10,})-(\d+)-([0-9a-f]{16})\.parquet")
_SWEEP = b"netcarlo.sweep"
_MODEL = b"netcarlo.model_version"


class DamageError(ValueError):
    """A file that is not what a chunk of this sweep should be; the message says why."""


class TruncationError(DamageError):
    """A file whose bytes are not those that were written."""


@dataclass(frozen=True, order=True)
class ChunkFile:
    """What the name of a chunk file says; sorts by first cell."""

    first: int
    rows: int
    kind: str
    checksum: str

    @property
    def name(self) -> str:
        """The file's path in the store."""
        return f"{FOLDER}/{self.kind}-{self.first:010d}-{self.rows}-{self.checksum}.parquet"

    @classmethod
    def parse(cls, name: str) -> "ChunkFile":
        """Read a name (without its folder).  Raises DamageError if no chunk is called so."""
        if not (match := _NAME.fullmatch(name)):
            raise DamageError("no name of a chunk")
        kind, first, rows, checksum = match.groups()
        return cls(int(first), int(rows), kind, checksum)

    def table(
        self, files: Files, columns: list[str] | None = None, *, versions: Mapping[str, Version]
    ) -> tuple[pa.Table, Version]:
        """Read the file and check its bytes, its sweep (one of these digests), its columns, its cells and
        its name.  Cells have the numbers that they have in the newest version.

        Raises DamageError.
        """
        data = files.read(self.name)
        if data is None:
            raise DamageError("gone")
        if _checksum(data) != self.checksum:
            raise TruncationError("truncated or altered")
        try:
            file = pq.ParquetFile(pa.BufferReader(data))
            found = (file.metadata.metadata or {}).get(_SWEEP, b"").decode()
            version = versions.get(found) or next(iter(versions.values()))
            if wrong := _unlike(file.schema_arrow, version.schemas[self.kind]):
                raise DamageError(f"without the column '{wrong.name}' ({wrong.type})")
            table = file.read(columns=columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise DamageError(f"not readable: {error}") from None
        if found not in versions:
            raise DamageError(f"of another sweep (digest {found or 'unknown'})")
        cell = table.column("cell")
        if cell.null_count or not len(cell):
            raise DamageError("without cells")
        steps = np.diff(cell.to_numpy())
        n_cells = version.about.n_cells
        if (
            cell[0].as_py() < 0
            or cell[-1].as_py() >= n_cells
            or (steps < (self.kind != "replications")).any()
        ):
            raise DamageError(f"of other cells than 0 to {n_cells - 1}, ascending")
        if table.num_rows != self.rows or cell[0].as_py() != self.first:
            raise DamageError("renamed")
        if version.moved:
            at = table.column_names.index("cell")
            table = table.set_column(at, "cell", pa.array(version.renumber(cell.to_numpy())))
        return table, version


@dataclass(frozen=True, order=True)
class Placed:
    """An intact file in a store, by the numbers that its cells have now; sorts by the first."""

    first: int
    last: int
    file: ChunkFile
    version: Version = field(compare=False)


def _unlike(found: pa.Schema, wanted: pa.Schema) -> pa.Field | None:
    """The first column that is wanted and not there, or of another type."""
    there = dict(zip(found.names, found.types, strict=True))
    return next((one for one in wanted if there.get(one.name) != one.type), None)


def pack(kind: Kind, table: pa.Table, *, sweep: str, model_version: str) -> tuple[ChunkFile, bytes]:
    """A chunk file and its bytes, which are the same for equal tables."""
    buffer = io.BytesIO()
    strings = [one.name for one in table.schema if one.type == pa.string() and one.name != "key"]
    floats = [one.name for one in table.schema if one.type == pa.float64()]
    # Without the copy of the Arrow schema and the bounds of each column a file of 20 cells is half
    # as large; splitting the bytes of floats saves another fifth of a large one.
    with pq.ParquetWriter(
        buffer,
        table.schema.remove_metadata(),
        compression="zstd",
        store_schema=False,
        write_statistics=["cell"],
        use_dictionary=strings,
        column_encoding=dict.fromkeys(floats, "BYTE_STREAM_SPLIT"),
    ) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_SWEEP: sweep, _MODEL: model_version})
    data = buffer.getvalue()
    return ChunkFile(table.column("cell")[0].as_py(), table.num_rows, kind, _checksum(data)), data


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
