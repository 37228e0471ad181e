"""Chunk files: a table as Parquet. The name includes the first cell, the number of rows and a checksum.

The names are `cells-<first cell>-<rows>-<SHA-256>.parquet`, and likewise with `replications` or `screened`.
The first cell has 10 digits or more; the checksum is truncated to 16 hexadecimal digits. Equal tables give
equal files.
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
"""Kind of a chunk file: statistics of cells, their replications, or statistics by cheap models
(`screened`)."""

_NAME = re.compile(r"(cells|replications|screened)-(\d{10,})-(\d+)-([0-9a-f]{16})\.parquet")
_SWEEP = b"netcarlo.sweep"
_MODEL = b"netcarlo.model_version"


class DamageError(ValueError):
    """Error about a file that is not a valid chunk of this sweep; the message has the reason."""


class TruncationError(DamageError):
    """Error about a file with a wrong checksum."""


@dataclass(frozen=True, order=True)
class ChunkFile:
    """Name of a chunk file in parts; ordered by first cell."""

    first: int
    """Number of the first cell."""
    rows: int
    """Number of rows."""
    kind: str
    """One of `Kind`."""
    checksum: str
    """First 16 hexadecimal digits of the SHA-256 of the file."""

    @property
    def name(self) -> str:
        """Path of the file in the store."""
        return f"{FOLDER}/{self.kind}-{self.first:010d}-{self.rows}-{self.checksum}.parquet"

    @classmethod
    def parse(cls, name: str) -> "ChunkFile":
        """Parse a name without its folder. Raises DamageError if it is not the name of a chunk file."""
        if not (match := _NAME.fullmatch(name)):
            raise DamageError("not the name of a chunk file")
        kind, first, rows, checksum = match.groups()
        return cls(int(first), int(rows), kind, checksum)

    def table(
        self, files: Files, columns: list[str] | None = None, *, versions: Mapping[str, Version]
    ) -> tuple[pa.Table, Version]:
        """Read the file and check its checksum, sweep, columns, cells and name.

        `versions` has the accepted sweeps by digest. Cells are renumbered for the newest version. Raises
        DamageError.
        """
        data = files.read(self.name)
        if data is None:
            raise DamageError("removed")
        if _checksum(data) != self.checksum:
            raise TruncationError("truncated or altered")
        try:
            file = pq.ParquetFile(pa.BufferReader(data))
            found = (file.metadata.metadata or {}).get(_SWEEP, b"").decode()
            version = versions.get(found) or next(iter(versions.values()))
            if wrong := _unlike(file.schema_arrow, version.schemas[self.kind]):
                raise DamageError(f"lacking the column '{wrong.name}' ({wrong.type})")
            table = file.read(columns=columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise DamageError(f"not readable: {error}") from None
        if found not in versions:
            raise DamageError(f"a file of another sweep (digest {found or 'unknown'})")
        cell = table.column("cell")
        if cell.null_count or not len(cell):
            raise DamageError("lacking cells")
        steps = np.diff(cell.to_numpy())
        n_cells = version.sweep_entry.n_cells
        if (
            cell[0].as_py() < 0
            or cell[-1].as_py() >= n_cells
            or (steps < (self.kind != "replications")).any()
        ):
            raise DamageError(f"inconsistent: its cells are not ascending numbers from 0 to {n_cells - 1}")
        if table.num_rows != self.rows or cell[0].as_py() != self.first:
            raise DamageError("renamed")
        if version.renumbered:
            at = table.column_names.index("cell")
            table = table.set_column(at, "cell", pa.array(version.renumber(cell.to_numpy())))
        return table, version


@dataclass(frozen=True, order=True)
class StoredFile:
    """Intact file in a store; ordered by first cell."""

    first: int
    """Number of the first cell in the newest version of the sweep."""
    last: int
    """Number of the last cell in the newest version of the sweep."""
    file: ChunkFile
    """Name of the file."""
    version: Version = field(compare=False)
    """Version of the sweep that wrote the file."""


def _unlike(found: pa.Schema, wanted: pa.Schema) -> pa.Field | None:
    """Return the first required column that is missing or has another type, or None."""
    there = dict(zip(found.names, found.types, strict=True))
    return next((one for one in wanted if there.get(one.name) != one.type), None)


def pack(kind: Kind, table: pa.Table, *, sweep: str, model_version: str) -> tuple[ChunkFile, bytes]:
    """Return a chunk file and its bytes. Equal tables give equal bytes."""
    buffer = io.BytesIO()
    strings = [one.name for one in table.schema if one.type == pa.string() and one.name != "key"]
    floats = [one.name for one in table.schema if one.type == pa.float64()]
    # Omitting the Arrow schema and the bounds of columns halves a file of 20 cells. The encoding of floats
    # makes large files another fifth smaller.
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
