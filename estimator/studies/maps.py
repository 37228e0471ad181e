"""Maps of a result over two parameters that a paper does not state."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean, mean
from netcarlo.studies.cells import Cells, Samples
from netcarlo.studies.selection import Value

Reading = Mapping[str, Value]
"""Assumed values of the two parameters."""


@dataclass(frozen=True)
class Map:
    """Quantity at every combination of two parameters, in rows and columns."""

    title: str
    """Title of the map."""
    note: str
    """Sentence below the map."""
    unit: str
    """Unit of the quantity."""
    across: str
    """Name of the horizontal parameter."""
    columns: list[str]
    """Values of the horizontal parameter."""
    up: str
    """Name of the vertical parameter."""
    rows: list[str]
    """Values of the vertical parameter."""
    values: Floats
    """Mean of the quantity, [rows, columns]."""
    low: Floats
    """Lower end of its interval, [rows, columns]."""
    high: Floats
    """Upper end of its interval, [rows, columns]."""
    marks: list[list[str]]
    """Text in each square."""
    at: tuple[int, int] | None = None
    """Row and column of the setting of the study; None if it is not in the map."""
    kinds: tuple[str, ...] = ()
    """Meanings of the values 0, 1, ... of a quantity without unit; empty for other quantities."""


@dataclass(frozen=True)
class Plane:
    """Variation with two conditions: its own is vertical, that of `by` horizontal."""

    cells: Cells
    """Cells of the variation."""
    variation: str
    """Name of the variation."""

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
        """Return the map of `measure`. The text of a square is the value, or the result of `mark`."""
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
    """Return the text of a value in a square, with ~ if its sign is not significant at 95 %."""
    clear = found.ci_low > 0 or found.ci_high < 0
    value = f"{found.mean:+.0f}".replace("-", "\N{MINUS SIGN}")
    return ("" if clear else "~") + (value if abs(found.mean) >= 0.5 else "0")
