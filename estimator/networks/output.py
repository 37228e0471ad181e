"""Output of a kernel for rows, from which outcomes are computed as declared."""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from netcarlo.kernels.base.rows import split
from netcarlo.networks.outcome import Column, Otherwise, Outcome
from netcarlo.numerics.arrays import Bools, Floats, Ints, seconds


class Output:
    """Rows [n] of a network and the integers [n, ...] that its kernel wrote for them.

    `output[column]` is a column of the output. Kinds of networks add quantities that several of their
    outcomes use. Conditions of outcomes depend only on the rows and need no integers.
    """

    parts: ClassVar[Mapping[type[IntEnum], str]] = {}
    """Names of the tables of flows, links or nodes in `kernels.base.rows`, by the type of their columns."""

    def __init__(self, rows: Any, integers: Ints | None = None, *, of: Any = None) -> None:
        """Create an output; `of` are the rows for which the integers were written, if different from
        `rows`."""
        self.rows = rows
        self.p: Ints = rows.parameters
        self._integers, self._of = integers, rows if of is None else of

    @property
    def integers(self) -> Ints:
        """Output of the kernel, trimmed as by `kernels.base.rows.trim`."""
        if self._integers is None:
            raise ValueError("the condition of an outcome depends on rows, not on what a kernel wrote")
        return self._integers

    @cached_property
    def _tables(self) -> dict[str, Ints]:
        return split(self.integers, self._of)

    def table(self, columns: type[IntEnum]) -> Ints:
        """Return these columns for all flows, links or nodes [n, k, columns]; for the row itself, k is 1."""
        part = self.parts.get(columns)
        return self.integers[:, None] if part is None else self._tables[part]

    def present(self, columns: type[IntEnum]) -> Bools:
        """Return the mask of flows, links or nodes [n, k] that exist in a row, for the table with these
        columns."""
        raise NotImplementedError

    def __getitem__(self, column: IntEnum | tuple[IntEnum, ...]) -> Ints:
        """Return the sum of one or several columns over all flows, links or nodes [n]."""
        columns = column if isinstance(column, tuple) else (column,)
        found: Ints = sum(self.table(type(each))[:, :, each].sum(axis=1) for each in columns)
        return found

    def long(self, low: IntEnum, high: IntEnum) -> Floats:
        """Return a sum stored in two words, see `kernels.base.sums`, over all flows, links or nodes [n]."""
        return self[low] + self[high] * 2.0**63

    def each(self, column: IntEnum | tuple[IntEnum, ...]) -> Floats:
        """Return a column, or the sum of several, for each flow, link or node [n, k]; NaN where it does
        not exist."""
        columns = column if isinstance(column, tuple) else (column,)
        values = sum(self.table(type(each))[:, :, each] for each in columns)
        return np.where(self.present(type(columns[0])), values, np.nan)


class Seconds(NamedTuple):
    """Source of an outcome that is a time: converts ns to s, and NEVER to NaN."""

    column: IntEnum

    def __call__(self, output: Output) -> Floats:
        """Return the times [n]."""
        return seconds(output[self.column])


def evaluated(outcomes: Iterable[Outcome], output: Output) -> dict[str, Any]:
    """Return the outcomes of rows by name, [n] each."""
    found: dict[str, Any] = {}
    for outcome in outcomes:
        if outcome.column is None:
            continue
        where = None if outcome.when is None else np.asarray(outcome.when(output))
        if where is not None and outcome.otherwise != Otherwise.COMPUTED and not where.any():
            if outcome.otherwise == Otherwise.MISSING:
                found[outcome.name] = np.full(len(where), np.nan)
            continue
        values = _values(outcome.column, output)
        if where is not None and outcome.otherwise == Otherwise.MISSING and not where.all():
            values = np.where(where, values, np.nan)
        found[outcome.name] = values
    return found


def by_part(outcomes: Iterable[Outcome], part: str, output: Output) -> dict[str, Any]:
    """Return the outcomes of each flow, link or class by name, [n, parts] each."""
    found: dict[str, Any] = {}
    for outcome in outcomes:
        for by in outcome.by:
            if by.part == part:
                found[outcome.name] = by.column(output) if callable(by.column) else output.each(by.column)
    return found


def _values(column: Column, output: Output) -> Any:
    return column(output) if callable(column) else output[column]
