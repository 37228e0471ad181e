"""Figure of one outcome of a sweep over one column, with a line and intervals for each value of another."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.errors import InputError, closest, suggest
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.figures import Plot, plot
from netcarlo.reports.sweep.features import bins, features
from netcarlo.reports.sweep.parts import line_and_bounds, logarithmic, numbers
from netcarlo.reports.sweep.results import Axis, Results
from netcarlo.sweeps.store.store import Store

MOST_LINES = 24
"""Maximum number of values of the column `by`."""


def curves(
    store: Store, x: str | None, y: str | None, by: str | None, where: Mapping[str, Any] | None
) -> Plot:  # fmt: skip
    """Return the figure of the outcome `y` over the column `x`, with a line for each value of `by`.

    `where` selects cells by values of columns. A point is a cell, or the mean of the networks that were drawn
    at random, with the interval of their population; a drawn quantity as `x` is divided into bins with
    equally many networks. Defaults: the first outcome, the first axis with numbers, and the remaining axis.
    Raises InputError if cells differ in another axis.
    """
    results = Results(store.manifest, store.frame())
    column = partial(_column, results)
    cells, every = results.ok, [*results.axes, *([results.compared] if results.compared else [])]
    axes = {axis.name: axis for axis in every if len(axis.values) > 1}
    for name, value in (where or {}).items():
        cells = cells[cells[column(name, "where")] == value]
        axes.pop(name, None)
    if cells.empty:
        raise InputError(f"no finished cell has {dict(where or {})}; see netcarlo.open(store).cells")
    y = column(y or results.outcomes[0], "y")
    numeric = [name for name, axis in axes.items() if axis.numeric]
    x = column(x or (numeric or [*axes] or ["draw"])[0], "x")
    others = [name for name in axes if name != x]
    if by is None and len(others) == 1:
        by = others[0]
    by = None if by is None else column(by, "by")
    if mixed := [name for name in others if name != by]:
        first, value = mixed[0], axes[mixed[0]].values[0]
        remedy = f"choose where={{{first!r}: {value!r}}} (--where {first}={value})"
        remedy += "" if by is not None else f", or by={first!r} (--by {first})"
        raise InputError(f"cells differ in {', '.join(mixed)}; {remedy}")
    if x not in axes and x != "draw" and pd.api.types.is_numeric_dtype(cells[x]):
        centres, place = bins(cells[x].to_numpy(float))
        cells = cells.assign(**{x: centres[place]})[place >= 0]
    return _figure(results, cells, axes, x, y, by)


def _column(results: Results, name: str, argument: str) -> str:
    """Return the name of a column. Raises InputError that names the columns of a figure, not all of them."""
    columns = results.ok.columns
    if name in columns:
        return name
    compared = [results.compared.name] if results.compared else []
    usual = [axis.name for axis in results.axes] + compared + (features(results) if results.drawn else [])
    known = [*results.outcomes, *results.sweep["goals"]] if argument == "y" else usual
    remedy = suggest(name, columns if closest(name, columns) else known)
    raise InputError(f"{argument}={name!r} is not a column of the cells; {remedy}")


def _figure(
    results: Results, cells: pd.DataFrame, axes: Mapping[str, Axis], x: str, y: str, by: str | None
) -> Plot:  # fmt: skip
    groups = [("", cells)] if by is None else [(value, part) for value, part in cells.groupby(by, sort=False)]
    if len(groups) > MOST_LINES:
        raise InputError(f"by={by!r} has {len(groups)} values; expected at most {MOST_LINES}; use where=")
    is_number = pd.api.types.is_numeric_dtype(cells[x])
    unit = axes[x].unit if x in axes else scales.unit_of(x)
    across = scales.scale(cells[x].to_numpy(float) if is_number else np.zeros(0), unit)
    up = scales.scale(np.abs(cells[y].to_numpy(float)), scales.unit_of(y))
    data: list[Plot] = []
    for k, (label, part) in enumerate(groups):
        points = [(value, _mean(results, rows, y)) for value, rows in part.groupby(x, sort=is_number)]
        mean, low, high = (
            np.array([getattr(found, name) for _, found in points]) / up.factor
            for name in ("mean", "ci_low", "ci_high")
        )
        places = numbers(np.array([value for value, _ in points], float) / across.factor) if is_number else [
            str(value) for value, _ in points
        ]  # fmt: skip
        data += line_and_bounds(
            places, mean, low, high, name=_text(axes, by, label) if by else scales.name_of(y),
            k=k, of=len(groups), mode="lines+markers" if is_number else "markers",
            hover=f"{scales.name_of(x)} %{{x}} {across.unit}<br>{scales.name_of(y)} %{{y}} {up.unit}",
        )  # fmt: skip
    xaxis = logarithmic(cells[x].to_numpy(float) / across.factor) if is_number else {}
    return plot(
        data, x=across.label(scales.name_of(x)), y=up.label(scales.name_of(y)), xaxis=xaxis,
        yaxis={"rangemode": "tozero"}, showlegend=by is not None,
    )  # fmt: skip


def _text(axes: Mapping[str, Axis], by: str, label: Any) -> str:
    """Return the text of a value of the column `by` in the legend."""
    axis = axes.get(by)
    return axis.texts[axis.values.index(label)] if axis and label in axis.values else str(label)


def _mean(results: Results, rows: pd.DataFrame, y: str) -> Mean:
    """Return the estimate of a cell with its interval, or the mean of several cells over their networks."""
    if len(rows) > 1:
        return results.over_networks(y, rows[y].to_numpy(float), rows["block"].to_numpy())
    row = rows.iloc[0]
    low, high = (float(row.get(f"{y}_{end}", np.nan)) for end in ("low", "high"))
    return Mean(1, float(row[y]), np.nan, low, high)
