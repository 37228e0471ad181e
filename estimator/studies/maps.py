"""A result over two unknowns of a study: what the paper does not say, tried out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean, mean
from netcarlo.studies.cells import Cells, Samples
from netcarlo.studies.study import Value

Reading = Mapping[str, Value]
"""Values of the two unknowns."""


@dataclass(frozen=True)
class Map:
    """A quantity at every reading of two unknowns, rows by columns.

    `values` has an interval, `low` to `high`; `marks` are what is said of each square, where `kinds`
    names what is meant by the values 0, 1, ..  `at` is the study's setting, if it is among them.
    """

    title: str
    note: str
    unit: str
    across: str
    columns: list[str]
    up: str
    rows: list[str]
    values: Floats  # [rows, columns]
    low: Floats
    high: Floats
    marks: list[list[str]]
    at: tuple[int, int] | None = None
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plane:
    """The readings of a variation with two conditions: its own upwards, that of `by` across."""

    cells: Cells
    variation: str

    def map(
        self,
        title: str,
        measure: Callable[[Reading], Samples],
        *,
        note: str,
        unit: str = "",
        setting: Reading,
        mark: Callable[[Reading], str] | None = None,
        kinds: tuple[str, ...] = (),
    ) -> Map:
        """What `measure` finds at each reading; it is its own `mark` unless one is given."""
        variation = self.cells.study.description.variations[self.variation]
        (up, own), (across, other) = variation.added(self.variation).items()
        rows, (columns,) = variation.values, (varied.values for varied in variation.by.values())
        readings: list[list[Reading]] = [[{up: row, across: column} for column in columns] for row in rows]
        found = [[mean(measure(reading)) for reading in row] for row in readings]
        at = [(i, j) for i, row in enumerate(readings) for j, one in enumerate(row) if one == setting]
        if mark is None:
            marks = [[said(one) for one in row] for row in found]
        else:
            marks = [[mark(reading) for reading in row] for row in readings]
        return Map(
            title=title,
            note=note,
            unit=unit,
            across=other.label,
            columns=[other.show(value) for value in columns],
            up=own.label,
            rows=[own.show(value) for value in rows],
            values=np.array([[one.mean for one in row] for row in found]),
            low=np.array([[one.ci_low for one in row] for row in found]),
            high=np.array([[one.ci_high for one in row] for row in found]),
            marks=marks,
            at=at[0] if at else None,
            kinds=kinds,
        )


def said(found: Mean) -> str:
    """A value in a square; with ~ where its sign is not clear at 95 %."""
    clear = found.ci_low > 0 or found.ci_high < 0
    value = f"{found.mean:+.0f}".replace("-", "\N{MINUS SIGN}")
    return ("" if clear else "~") + (value if abs(found.mean) >= 0.5 else "0")
