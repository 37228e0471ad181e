"""What the figures of a sweep share: lines with bands, logarithmic axes, numbers in few digits."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from netcarlo.reports import scales
from netcarlo.reports.figures import COLOURS, DASHES, SYMBOLS, Plot
from netcarlo.reports.scales import Scale
from netcarlo.reports.sweep_results import Floats

MOST_LINES = 8
"""Labels shown at first; a click in the legend shows another."""

WIDE = 30.0
"""Largest over smallest value from which on an axis is logarithmic."""


def band_and_line(
    x: Sequence[Any], y: Floats, low: Floats, high: Floats, *, name: str, k: int, hover: str,
    extra: Sequence[Any] = (), mode: str = "lines+markers",
) -> list[Plot]:  # fmt: skip
    """The line of label number `k` and its band; points with bars if `mode` has no lines."""
    colour = COLOURS[k % len(COLOURS)]
    style = {
        "x": list(x), "y": numbers(y), "name": name, "legendgroup": name, "mode": mode,
        "visible": True if k < MOST_LINES else "legendonly", "customdata": list(extra),
        "line": {"color": colour, "dash": DASHES[k // len(COLOURS) % len(DASHES)], "width": 2},
        "marker": {"size": 9 if mode == "markers" else 6, "symbol": SYMBOLS[k % len(SYMBOLS)],
                   "color": colour},
        "hovertemplate": f"{name}<br>{hover}<extra></extra>",
    }  # fmt: skip
    if mode == "markers":
        bars = {"type": "data", "array": numbers((high - low) / 2), "thickness": 1.4, "width": 4}
        return [{**style, "error_y": bars}]
    sure = np.flatnonzero(np.isfinite(low) & np.isfinite(high)).tolist()
    band = {
        "x": [x[i] for i in sure] + [x[i] for i in reversed(sure)],
        "y": numbers(np.concatenate([high[sure], low[sure[::-1]]])),
        "fill": "toself", "mode": "none", "fillcolor": colour + "2e", "hoverinfo": "skip", "name": name,
        "showlegend": False, "legendgroup": name, "visible": style["visible"],
    }  # fmt: skip
    return [band, style]


def logarithmic(values: Floats) -> Plot:
    """A logarithmic axis for values over a wide range, marked at 1, 2 and 5 if that is not too often."""
    spread = ratio(values)
    return {"type": "log", "dtick": "D2" if spread < 3000 else 1} if spread > WIDE else {"type": "linear"}


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


def numbers(values: Floats, digits: int = 5) -> list[float | None]:
    """Values in few digits, as JSON takes them."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in values.tolist()]
