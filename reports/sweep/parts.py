"""Parts that the figures of a sweep share: lines with intervals, logarithmic axes, numbers for JSON."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from netcarlo.numerics.arrays import Floats
from netcarlo.reports.parts import exported, scales
from netcarlo.reports.parts.figures import COLOURS, DASHES, SYMBOLS, Plot
from netcarlo.reports.parts.intervals import MOST_BANDS, band
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.sweep.results import Estimates

MOST_LINES = 8
"""Labels shown at first; a click in the legend shows another."""

MOST_MARKS = 8
"""On a logarithmic axis, so that they do not touch on a phone."""

LONGEST = 40
"""Characters of a command that is shown at a point."""

WIDE = 10.0
"""Largest over smallest value from which on an axis is logarithmic."""


def line_and_bounds(
    x: Sequence[Any], y: Floats, low: Floats, high: Floats, *, name: str, k: int, of: int, hover: str,
    extra: Sequence[Any] = (), mode: str = "lines+markers",
) -> list[Plot]:  # fmt: skip
    """Return the traces of the line of label number `k` of so many, with a band for one or two lines.

    Several lines, and points without a line, have error bars.
    """
    colour = COLOURS[k % len(COLOURS)]
    style = {
        "x": list(x), "y": numbers(y), "name": name, "legendgroup": name, "mode": mode,
        **exported.interval(low, high),
        "visible": True if k < MOST_LINES else "legendonly", "customdata": list(extra),
        "line": {"color": colour, "dash": DASHES[k % len(DASHES)], "width": 2},
        "marker": {"size": 9 if mode == "markers" else 6, "symbol": SYMBOLS[k % len(SYMBOLS)],
                   "color": colour},
        "hovertemplate": f"{name}<br>{hover}<extra></extra>",
    }  # fmt: skip
    if mode == "markers" or of > MOST_BANDS:
        bars = {
            "type": "data", "symmetric": False, "thickness": 1.4, "width": 4,
            "array": numbers(high - y, 5), "arrayminus": numbers(y - low, 5),
        }  # fmt: skip
        return [{**style, "error_y": bars}]
    sure = np.flatnonzero(np.isfinite(low) & np.isfinite(high)).tolist()
    around = band(
        [x[i] for i in sure], low[sure].tolist(), high[sure].tolist(), colour,
        name=name, legendgroup=name, visible=style["visible"],
    )  # fmt: skip
    return [around, style]


def pointer(command: str, key: str, found: Estimates | None = None) -> str:
    """The last line of what one reads at a point: the command that runs its cell again, if it is one cell."""
    if found is not None and (found.cells > 1).any():
        return "<br>mean of several cells"
    # A longer line would not fit beside the point.
    if len(command) > LONGEST:
        return f"<br>cell %{{{key}}}; click for the command"
    return f"<br>{command} %{{{key}}}"


def logarithmic(values: Floats) -> Plot:
    """An axis for these values as shown: logarithmic over a wide range, with marks at 1, 2 and 5."""
    if ratio(values) <= WIDE:
        return {"type": "linear"}
    found = known(values)
    low, high = math.floor(math.log10(found.min())), math.ceil(math.log10(found.max()))
    for steps in ((1, 2, 5), (1, 3), (1,)):
        marks = [step * 10.0**e for e in range(low, high + 1) for step in steps]
        inside = [mark for mark in marks if found.min() / 1.2 <= mark <= found.max() * 1.2]
        if len(inside) <= MOST_MARKS:
            break
    inside = inside[:: math.ceil(len(inside) / MOST_MARKS)]
    return {"type": "log", "tickvals": inside, "ticktext": [scales.trimmed(mark) for mark in inside]}


def ratio(values: Floats) -> float:
    """Largest over smallest value; 1 if some are not above 0."""
    found = known(values)
    return float(found.max() / found.min()) if len(found) and found.min() > 0 else 1.0


def known(values: Floats) -> Floats:
    """The finite values, float64[n]."""
    return values[np.isfinite(values)]


def fitting(values: Floats, unit: str) -> Scale:
    """The scale for all values but a few giants."""
    found = np.abs(known(values))
    return scales.scale([float(np.quantile(found, 0.9))] if len(found) else [], unit)


def numbers(values: Floats, digits: int = exported.DIGITS) -> list[float | None]:
    """Return the values with so many significant digits, as JSON takes them; None where there is none."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in values.tolist()]
