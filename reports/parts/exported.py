"""Data that the CSV file and the table of a figure contain where its drawing shows something else.

Plotly leaves the key `meta` of traces and layouts alone, so each trace carries there the data that `take.js`
exports. A trace without `meta` is exported as it is drawn.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netcarlo.numerics.arrays import Floats

DIGITS = 15
"""Significant digits of exported numbers: all that a double has for certain."""

DECORATION: dict[str, Any] = {"meta": {"decoration": True}}
"""Mark a trace that shows no data of its own, such as a confidence band or a key of the legend."""


def exact(values: Floats | Sequence[float]) -> list[float | None]:
    """Return the values with all their digits; None where there is none."""
    found = np.asarray(values, dtype=np.float64).tolist()
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in found]


def interval(low: Floats | Sequence[float], high: Floats | Sequence[float], **more: Any) -> dict[str, Any]:
    """Return the keys of a trace that export an interval for each point.

    `more` as in `instead`.
    """
    return {"meta": {"low": exact(low), "high": exact(high), **more}}


def instead(**drawn: Any) -> dict[str, Any]:
    """Return the keys of a trace that export other values than those drawn.

    `x`, `y` and `z` replace the places, `series` the name; `more` holds further columns by their names.
    """
    return {"meta": drawn}


def columns(found: Mapping[str, Sequence[Any]], **more: Any) -> dict[str, Any]:
    """Return the keys of a trace that exports these columns instead of its axes."""
    return {"meta": {"columns": {name: list(values) for name, values in found.items()}, **more}}


def with_intervals(trace: dict[str, Any]) -> dict[str, Any]:
    """Return the trace with the ends of its error bars exported, where it exports no interval of its own."""
    meta = trace.get("meta", {})
    axis = "x" if "error_x" in trace else "y"
    bars = trace.get(f"error_{axis}", {})
    if not bars.get("array") or "low" in meta or "columns" in meta:
        return trace
    middle, above, below = (
        np.array([np.nan if v is None else v for v in values], np.float64)
        for values in (trace[axis], bars["array"], bars.get("arrayminus", bars["array"]))
    )
    return {**trace, "meta": {**meta, "low": exact(middle - below), "high": exact(middle + above)}}
