"""Merge of files whose cells may overlap: each cell from one file, in ascending order, in parts."""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from netcarlo.sweeps.store.chunk_files import StoredFile

Flags = NDArray[np.bool_]


def merged(
    files: Sequence[StoredFile],
    read: Callable[[StoredFile], pa.Table],
    *,
    wanted: Callable[[pa.Table], Flags],
    n_cells: int,
) -> Iterator[pa.Table]:
    """Yield the rows of `files` for which `wanted` returns True, in ascending order of cells, in parts.

    `files` are in ascending order of their first cell. `wanted` returns bool[rows]. A cell that several files
    have is taken from the first one with wanted rows. Memory holds one file, and rows that a later file may
    precede.
    """
    given = np.zeros(n_cells, dtype=bool)
    waiting: list[pa.Table] = []
    for file, following in zip_longest(files, files[1:]):
        table = read(file)
        cell = table.column("cell").to_numpy()
        take = wanted(table) & ~given[cell]
        given[cell[take]] = True
        waiting.append(table if take.all() else table.filter(pa.array(take)))
        rows = _ascending(waiting)
        ready = rows.num_rows
        if following is not None:
            ready = int(np.searchsorted(rows.column("cell").to_numpy(), following.first))
        if ready:
            yield rows.slice(0, ready)
        waiting = [rows.slice(ready)] if ready < rows.num_rows else []


def _ascending(tables: Sequence[pa.Table]) -> pa.Table:
    table = pa.concat_tables(tables)
    cell = table.column("cell").to_numpy()
    return table if (np.diff(cell) >= 0).all() else table.take(np.argsort(cell, kind="stable"))
