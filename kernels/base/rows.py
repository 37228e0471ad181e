"""Type of rows: five arrays that a kernel reads, common to all networks.

The first four have a row for each replication. The last (`losses`) is a table, whose rows the others refer
to. Outcomes, int64[n, columns], begin with `STATUS`; tables of flows, nodes or links follow the first
columns.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

STATUS = 0
"""Column of all outcomes with the status of the row, one of the STATUS_ constants."""


class Table(NamedTuple):
    """Table of flows, nodes or links in the outcomes of a row."""

    of: str
    """Name of its entries, such as flows, nodes or links."""
    columns: int
    """Columns of each entry."""
    written: int
    """Number of entries that a launch of these rows writes."""
    room: int
    """Maximum number of entries of these rows; entries that a launch of them alone omits are 0."""


class AnyRows(Protocol):
    """Rows of a kind of network: a NamedTuple of five arrays with these methods."""

    @property
    def parameters(self) -> Ints:
        """Parameters of the run, [n, columns]."""

    @property
    def constants(self) -> NDArray[np.float64]:
        """Constants of a user's congestion control, [n, C]."""

    @property
    def losses(self) -> NDArray[np.uint32]:
        """Digit thresholds, [m, 32], see `loss.thresholds`."""

    @property
    def filling(self) -> tuple[int, int, int, int]:
        """Padding of the first four arrays in rows that have fewer entries than others."""

    def renumbered(self, line: Ints) -> Self:
        """Return the rows for another table of losses, in which row k has the number `line[k]`."""

    def tables(self) -> tuple[int, tuple[Table, ...]]:
        """Return the number of outcomes before the tables, and the tables."""

    def __iter__(self) -> Any: ...


def replications(rows: AnyRows) -> tuple[NDArray[Any], ...]:
    """Return the arrays with a row for each replication."""
    return tuple(rows)[:-1]


def take(rows: AnyRows, index: Any) -> Any:
    """Return some of the rows."""
    return type(rows)(*(array[index] for array in replications(rows)), rows.losses)  # type: ignore[call-arg]


def concatenate(parts: Sequence[AnyRows]) -> Any:
    """Concatenate rows of one type, padded to the widest, so that one launch runs them all."""
    losses, line = np.unique(np.concatenate([part.losses for part in parts]), axis=0, return_inverse=True)
    ends = np.cumsum([len(part.losses) for part in parts])[:-1]
    renumbered = [
        replications(part.renumbered(mine))
        for part, mine in zip(parts, np.split(line.reshape(-1), ends), strict=True)
    ]
    columns = zip(*renumbered, parts[0].filling, strict=True)
    joined = [_joined(arrays[:-1], fill=arrays[-1]) for arrays in columns]
    return type(parts[0])(*joined, losses)  # type: ignore[call-arg]


def _joined(arrays: Sequence[NDArray[Any]], *, fill: int) -> NDArray[Any]:
    shape = np.max([array.shape[1:] for array in arrays], axis=0)
    found = []
    for array in arrays:
        missing = [(0, 0), *((0, most - size) for most, size in zip(shape, array.shape[1:], strict=True))]
        found.append(np.pad(array, missing, constant_values=fill))
    return np.concatenate(found)


def trim(outcomes: Ints, launched: AnyRows, rows: AnyRows) -> Ints:
    """Return the outcomes [n, ...] of some of the rows `launched`, as wide as their own `rows` need.

    The outcomes of a launch are as wide as its widest row.
    """
    return _resized(outcomes, launched, [table.room for table in rows.tables()[1]])


def widened(outcomes: Ints, launched: AnyRows, rows: AnyRows) -> Ints:
    """Return the outcomes [n, ...] of the rows `launched`, as wide as a launch of all `rows` writes them."""
    return _resized(outcomes, launched, [table.written for table in rows.tables()[1]])


def _resized(outcomes: Ints, launched: AnyRows, sizes: Sequence[int]) -> Ints:
    at, tables = launched.tables()
    parts = [outcomes[:, :at]]
    for given, size in zip(tables, sizes, strict=True):
        end = at + given.written * given.columns
        table = outcomes[:, at:end].reshape(len(outcomes), given.written, given.columns)[:, :size]
        table = np.pad(table, [(0, 0), (0, size - table.shape[1]), (0, 0)])
        parts.append(table.reshape(len(outcomes), -1))
        at = end
    return np.concatenate(parts, axis=1)


def split(outcomes: Ints, rows: AnyRows) -> dict[str, Ints]:
    """Return the tables [n, k, columns] in the trimmed outcomes of `rows`, by name."""
    at, tables = rows.tables()
    found = {}
    for table in tables:
        end = at + table.room * table.columns
        found[table.of] = outcomes[:, at:end].reshape(len(outcomes), -1, table.columns)
        at = end
    return found
