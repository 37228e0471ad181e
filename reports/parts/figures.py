"""Plotly figures as plain data, `{"data": [...], "layout": {...}}`: no plotting library is imported."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.reports.parts import wording
from netcarlo.reports.parts.bars import uncrowded
from netcarlo.reports.parts.exported import DECORATION, DIGITS, columns, exact, instead, with_intervals
from netcarlo.studies.comparison import Compared
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.selection import Value

Plot = dict[str, Any]

COLOURS = ("#0077cc", "#dd7711", "#225544", "#441166", "#885511", "#1100dd", "#888877")
"""Apart for every kind of colour vision and in grey print, and dark enough on white.

`python -m tests.reports.palette` prints by how much.
"""

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "pentagon", "hexagon", "star")
INK, GRID = "#1d2733", "#e3e7ec"
AXIS = {
    "gridcolor": GRID,
    "zerolinecolor": GRID,
    "linecolor": "#9aa5b1",
    "ticks": "outside",
    "automargin": True,
}
MOST_POINTS = 2500
"""Points kept of a trace; a step of the window is never left out."""


def plot(data: list[Plot], *, x: str, y: str, **layout: Any) -> Plot:
    """Return a figure with the layout of all pages and these axis titles.

    Error bars that would overlap are thinned out. `meta` names the exported columns `x` and `y` where an
    axis has no title.
    """
    return {
        "data": uncrowded(
            [with_intervals(trace) for trace in data], log=layout.get("xaxis", {}).get("type") == "log"
        ),
        "layout": {
            "font": {"family": "system-ui, sans-serif", "size": 13, "color": INK},
            "margin": {"l": 8, "r": 12, "t": 10, "b": 8},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "#ffffff",
            "hovermode": "closest",
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}},
            "xaxis": {**AXIS, "title": {"text": x, "standoff": 8}, **layout.pop("xaxis", {})},
            "yaxis": {**AXIS, "title": {"text": y, "standoff": 8}, **layout.pop("yaxis", {})},
            **layout,
        },
    }


def identity(evaluation: Evaluation, metric: str) -> Plot:
    """Published against estimated with the identity line, a colour per protocol."""
    rows = _with_estimate(evaluation, metric)
    values = [row.published.value for row in rows] + [row.estimate.mean for row in rows if row.estimate]
    low, high = min(values), max(values)
    pad = (high - low) * 0.05
    ends = [low - pad, high + pad]
    line = {"x": ends, "y": ends, "mode": "lines", "name": "identity", "hoverinfo": "skip",
            "line": {"color": "#8794a3", "width": 1.2, "dash": "dash"}, **DECORATION}  # fmt: skip
    equal: Plot = {"range": ends}
    label = wording.with_unit(evaluation.study.description.label(metric), rows[0].published.unit)
    titles = f"published {label}", f"estimated {label}"
    groups = [
        _markers(
            evaluation,
            style,
            {titles[0]: [row.published.value for row in style.rows], titles[1]: _means(style.rows)},
            ends=[(row.estimate.ci_low, row.estimate.ci_high) for row in style.rows if row.estimate],
        )
        for style in _styled(evaluation, rows)
    ]
    return plot([line, *groups], x=titles[0], y=titles[1], xaxis=equal, yaxis=equal)


def errors(evaluation: Evaluation, metric: str) -> Plot:
    """The error of every number in the paper's order, and how far it may go.

    The band is where the printed digits agree or, in a study judged by differences, what it allows;
    numbers that are judged by their absolute difference are drawn so.
    """
    rows = _with_estimate(evaluation, metric)
    order = {id(row): i + 1 for i, row in enumerate(rows)}
    description = evaluation.study.description
    absolute = any(d.metric == metric and d.abs_error is not None for d in description.tolerance)
    units = [1 if absolute else abs(row.published.value) / 100 for row in rows]
    if description.exact:  # a number may be cut off
        ends = [(-row.published.step / 2, row.published.step) for row in rows]
    else:
        ends = [(-row.allowed, row.allowed) if row.within is not None else (0.0, 0.0) for row in rows]
    band = {
        "type": "bar", "x": list(order.values()),
        "base": [rounded(low / unit) for (low, _), unit in zip(ends, units, strict=True)],
        "y": [rounded((high - low) / unit) for (low, high), unit in zip(ends, units, strict=True)],
        "width": 1.04, "marker": {"color": "#dfe5eb", "line": {"width": 0}}, "hoverinfo": "skip",
        "name": "printed digits agree" if description.exact else "allowed", **DECORATION,
    }  # fmt: skip
    x = "number, in the paper's order"
    y = f"difference [{wording.of_difference(rows[0].published)}]" if absolute else "error [%]"
    allowed = {
        id(row): (low / unit, high / unit) for row, (low, high), unit in zip(rows, ends, units, strict=True)
    }
    unit_of = {id(row): row.published.value / 100 if not absolute else 1.0 for row in rows}
    groups = [
        _markers(
            evaluation,
            style,
            {
                x: [order[id(row)] for row in style.rows],
                y: [row.difference if absolute else row.rel_error * 100 for row in style.rows],
            },
            ends=[
                (
                    (row.estimate.ci_low - row.published.value) / unit_of[id(row)],
                    (row.estimate.ci_high - row.published.value) / unit_of[id(row)],
                )
                for row in style.rows
                if row.estimate
            ],
            more={
                f"allowed {word} {y[y.index('[') :]}": exact([allowed[id(row)][end] for row in style.rows])
                for end, word in enumerate(("from", "to"))
            },
        )
        for style in _styled(evaluation, rows)
    ]
    return plot([band, *groups], x=x, y=y)


def line(x: Sequence[float], y: Sequence[float | None], name: str, colour: str, dash: str = "solid") -> Plot:
    """A staircase line; None is a gap."""
    return {
        "x": x, "y": y, "mode": "lines", "name": name,
        "line": {"color": colour, "dash": dash, "width": 1.6, "shape": "hv"},
        "hovertemplate": f"{name}<br>%{{x}} s: %{{y}}<extra></extra>",
    }  # fmt: skip


def staircase(values: NDArray[np.float64], name: str, colour: str, dash: str = "solid") -> Plot:
    """A value for each second from 0 on, as a staircase line."""
    x = [float(second) for second in range(len(values) + 1)]
    y = [rounded(v) for v in [*values, values[-1]]]
    return {**line(x, y, name, colour, dash), **instead(x=x[:-1], y=y[:-1])}


def steps(time: NDArray[np.float64], value: NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """The points at which a staircase changes, thinned to `MOST_POINTS` where it changes more often."""
    if not len(time):
        return [], []
    keep = np.flatnonzero(np.diff(value, prepend=np.nan) != 0)
    if len(keep) > MOST_POINTS:
        jump = np.abs(np.diff(value[keep], prepend=value[keep[0]]))
        large = keep[np.argsort(jump)[-MOST_POINTS // 5 :]]
        keep = np.unique(np.concatenate([keep[:: math.ceil(len(keep) / MOST_POINTS)], large]))
    keep = np.unique(np.append(keep, len(time) - 1))
    keep = keep[np.append(np.diff(time[keep]) != 0, True)]  # of several changes at one time the last holds
    return [rounded(t) for t in time[keep].tolist()], [rounded(v) for v in value[keep].tolist()]


def rounded(value: float) -> float:
    """Return the value with all its digits, without the noise of binary fractions."""
    return float(f"{value:.{DIGITS}g}")


def finite(value: float) -> float | None:
    """Return the value with all its digits; None where there is none."""
    return rounded(value) if math.isfinite(value) else None


class _Style(NamedTuple):
    """Rows that are drawn alike: those whose first condition has one value."""

    name: str
    rows: list[Compared]
    colour: str
    symbol: str


def _styled(evaluation: Evaluation, rows: Sequence[Compared]) -> list[_Style]:
    column, condition = next(iter(evaluation.study.description.conditions.items()))
    groups: dict[Value, list[Compared]] = {}
    for row in rows:
        groups.setdefault(row.published.conditions.get(column, ""), []).append(row)
    return [
        _Style(condition.show(value), group, COLOURS[i % len(COLOURS)], SYMBOLS[i % len(SYMBOLS)])
        for i, (value, group) in enumerate(groups.items())
    ]


def _markers(
    evaluation: Evaluation,
    style: _Style,
    axes: Mapping[str, Sequence[float]],
    *,
    ends: Sequence[tuple[float, float]],
    more: Mapping[str, Sequence[float | None]] | None = None,
) -> Plot:
    """Markers at the values of two axes, by their titles, which are exported with the intervals of y."""
    x, y = (exact(values) for values in axes.values())
    low, high = (exact([min(pair) if k == 0 else max(pair) for pair in ends]) for k in (0, 1))
    where = [wording.where(evaluation.study.description, row.published) for row in style.rows]
    exported = dict(zip(axes, (x, y), strict=True)) | dict(more or {})
    return {
        **columns({"published number": where, **exported, "low": low, "high": high}),
        "x": x, "y": y, "mode": "markers", "name": style.name,
        "marker": {"symbol": style.symbol, "color": style.colour, "size": 8, "opacity": 0.75,
                   "line": {"color": "#ffffff", "width": 0.8}},
        "text": where,
        "customdata": [[row.published.text, wording.estimate(row)] for row in style.rows],
        "hovertemplate": "%{text}<br>published %{customdata[0]}, ours %{customdata[1]}<extra></extra>",
    }  # fmt: skip


def _with_estimate(evaluation: Evaluation, metric: str) -> list[Compared]:
    return [row for row in evaluation.rows if row.published.metric == metric and row.estimate is not None]


def _means(rows: Iterable[Compared]) -> list[float]:
    return [row.estimate.mean for row in rows if row.estimate]
