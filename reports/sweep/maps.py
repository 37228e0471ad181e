"""Maps of a sweep over two of its axes: which label is best, gains over the baseline, and means."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.exported import exact
from netcarlo.reports.parts.figures import COLOURS, Plot, plot
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.sweep.answers import PERCENT
from netcarlo.reports.sweep.parts import numbers, pointer
from netcarlo.reports.sweep.results import Axis, Estimates, Results
from netcarlo.reports.sweep.slices import thinned
from netcarlo.reports.sweep.wins import clearly_better, gain_scale, judged

MOST_VALUES = 24
"""Values of an axis on a map; of more every k-th."""

MOST_PAIRS = 6
BYTES = {False: 800_000, True: 250_000}
SEQUENTIAL = "Viridis"
DIVERGING = [[0, "#b35806"], [0.25, "#f1a340"], [0.5, "#f7f7f7"], [0.75, "#67a9cf"], [1, "#2166ac"]]


class Layer(NamedTuple):
    """Contents of the squares of a map."""

    z: Floats
    key: list[str]
    more: list[str]
    """Read beside the key: an interval, or what is best."""
    hover: str
    unclear: Bools
    """Squares whose result is not clear at 95 %, bool[squares]."""
    colours: Plot
    value: str
    """Quantity shown, with its unit: the name of the exported column."""
    series: str
    low: Floats
    high: Floats
    """Ends of the intervals of z, float64[squares]; NaN where there are none."""
    best: list[str]
    """Best label in each square, in place of z; empty for other layers."""


def maps(results: Results, command: str) -> Plot | None:
    """The map with its choices; None with fewer than two axes."""
    wide = sorted((a for a in results.axes if len(a.values) > 1), key=lambda a: (-a.numeric, -len(a.values)))
    pairs = list(combinations(wide, 2))[:MOST_PAIRS]
    if not pairs:
        return None
    labels = results.labels
    shown = [(f"mean of {label}" if label else "mean", _value, k) for k, label in enumerate(labels)]
    if len(labels) > 1:
        gains = [(f"gain of {labels[k]} over {labels[0]}", _gain, k) for k in range(1, len(labels))]
        shown = [*gains, *shown]
    if winnable := judged(results):
        shown = [("which is best", _best, 0), *shown]
    outcomes = winnable + [o for o in results.outcomes if o not in winnable] + list(results.sweep["goals"])

    def draw(pair: int, layer: int, outcome: int, averaged: int) -> Plot | None:
        _, layer_of, k = shown[layer]
        if layer_of is _best and not results.sign(outcomes[outcome]):
            return None
        across, up = pairs[pair]
        columns, rows = thinned(len(across.values), MOST_VALUES), thinned(len(up.values), MOST_VALUES)
        square = np.full((len(up.values), len(across.values)), -1)
        square[np.ix_(rows, columns)] = np.arange(rows.size * columns.size).reshape(rows.size, columns.size)
        inside = np.ones(results.points, dtype=bool)
        for axis in results.axes:
            if axis not in (across, up) and not averaged:
                inside &= results.places[axis.name] == axis.middle
        group = np.where(inside, square[results.places[up.name], results.places[across.name]], -1)
        values = results.estimates(outcomes[outcome], group, rows.size * columns.size)
        found = layer_of(results, outcomes[outcome], group, values, k)
        return _plot(
            found, _titles(across, columns), _titles(up, rows), pointer(command, "customdata[0]", values)
        )  # fmt: skip

    choices = [
        Choice("axes", [f"{across.title} and {up.title}" for across, up in pairs]),
        Choice("shown", [name for name, _, _ in shown]),
        Choice("outcome", [scales.name_of(outcome) for outcome in outcomes]),
    ]
    other = ["at their middle values", "averaged over"] if len(wide) > 2 else [""]
    choices.append(Choice("other axes", other, int(results.drawn and len(wide) > 2)))
    return with_choices(draw, choices, most_bytes=BYTES[results.drawn])


def _shown(results: Results, column: str, values: Estimates) -> Scale:
    if column in results.sweep["goals"]:
        return PERCENT
    return scales.scale(np.abs(values.mean).ravel(), scales.unit_of(column))


def _value(results: Results, column: str, group: Ints, values: Estimates, k: int) -> Layer:
    shown = _shown(results, column, values)
    z = values.mean[:, k] / shown.factor
    more = [
        scales.interval(low, high, shown)
        for low, high in zip(values.low[:, k], values.high[:, k], strict=True)
    ]
    # One range for all labels, so that their maps compare.
    known = values.mean[np.isfinite(values.mean)] / shown.factor
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    colours = {"colorscale": SEQUENTIAL, "zmin": low, "zmax": high,
               "colorbar": _bar(shown.label(scales.name_of(column)))}  # fmt: skip
    hover = f"{results.labels[k]} %{{z}} %{{customdata[1]}} {shown.unit}"
    return Layer(
        z, values.key[:, k].tolist(), more, hover, np.zeros(len(z), dtype=bool), colours,
        shown.label(scales.name_of(column)), results.labels[k],
        values.low[:, k] / shown.factor, values.high[:, k] / shown.factor, [],
    )  # fmt: skip


def _gain(results: Results, column: str, group: Ints, values: Estimates, k: int) -> Layer:
    gains = results.estimates(f"{column}_gain", group, len(values.mean))
    goal = column in results.sweep["goals"]
    shown = Scale(0.01, "points") if goal else gain_scale(values.mean, scales.unit_of(column))
    unit = shown.unit if shown else "%"
    base = np.full(len(values.mean), shown.factor) if shown else values.mean[:, 0] / 100
    with np.errstate(divide="ignore", invalid="ignore"):
        z, low, high = (np.where(base > 0, each[:, k] / base, np.nan) for each in gains[:3])
    more = [scales.interval(a, b, Scale(1.0, unit)) for a, b in zip(low, high, strict=True)]
    hover = f"{results.labels[k]}: gain %{{z}} %{{customdata[1]}} {unit}"
    sizes = np.abs(z[np.isfinite(z)])
    reach = float(np.percentile(sizes, 95)) if len(sizes) else 1.0  # outliers leave the others their colours
    colours = {"colorscale": DIVERGING, "zmin": -reach, "zmax": reach,
               "colorbar": _bar(Scale(1.0, unit).label(f"{scales.name_of(column)}: gain"))}  # fmt: skip
    return Layer(
        z, values.key[:, k].tolist(), more, hover, (low <= 0) & (high >= 0), colours,
        Scale(1.0, unit).label(f"{scales.name_of(column)}: gain"),
        f"{results.labels[k]} over {results.labels[0]}", low, high, [],
    )  # fmt: skip


def _best(results: Results, column: str, group: Ints, values: Estimates, k: int) -> Layer:
    gains = results.estimates(f"{column}_gain", group, len(values.mean))
    score = np.where(np.isnan(values.mean), -np.inf, results.sign(column) * values.mean)
    known, first = np.isfinite(score).any(axis=1), score.argmax(axis=1)
    at = np.arange(len(first))
    beaten = clearly_better(results.sign(column), values, gains)[at, first].sum(axis=1)
    shown = _shown(results, column, values)
    more = [
        f"{results.labels[i]} {scales.number(values.mean[g, i] / shown.factor)}" for g, i in enumerate(first)
    ]
    # A colour for each label that is best somewhere.
    winners = sorted(set(first[known].tolist()))
    count = max(len(winners), 1)
    steps = [
        [(i + edge) / count, COLOURS[k % len(COLOURS)]]
        for i, k in enumerate(winners or [0])
        for edge in (0, 1)
    ]
    bar = _bar("best") | {"tickvals": list(range(count)), "ticktext": [results.labels[i] for i in winners]}
    colours = {"colorscale": steps, "zmin": -0.5, "zmax": count - 0.5, "colorbar": bar}
    z = np.where(known, np.searchsorted(winners, first) if winners else np.nan, np.nan)
    unclear = known & (beaten < len(results.labels) - 1)
    hover = f"best: %{{customdata[1]}} {shown.unit}"
    none = np.full(len(z), np.nan)
    decided = np.asarray(known).tolist()
    return Layer(
        z, values.key[at, first].tolist(), more, hover, unclear, colours, "best label",
        f"best {scales.name_of(column)}", none, none,
        [results.labels[i] if there else "" for i, there in zip(first.tolist(), decided, strict=True)],
    )  # fmt: skip


Shown = tuple[str, list[str], Sequence[float | str | None]]
"""Title of an axis of a map, its values as texts, and as they are exported."""


def _titles(axis: Axis, chosen: Ints) -> Shown:
    """The title of an axis of a map and its values, short where they stay different."""
    if axis.numeric:
        shown = scales.scale(axis.values, axis.unit)
        texts = [scales.trimmed(axis.values[i] / shown.factor) for i in chosen]
        if len(set(texts)) == len(texts):
            return shown.label(axis.title), texts, exact([axis.values[i] / shown.factor for i in chosen])
    texts = [axis.texts[i] for i in chosen]
    return axis.title, texts, texts


def _plot(found: Layer, across: Shown, up: Shown, tail: str) -> Plot:
    (x_title, x, _), (y_title, y, _) = across, up
    shape = len(y), len(x)
    exported: Plot = {"series": found.series, "x": across[2], "y": up[2]}
    if found.best:
        clear = np.where(found.unclear, "no", "yes")
        exported |= {"z": np.array(found.best, dtype=object).reshape(shape).tolist(),
                     "more": {"clear at 95 %": clear.reshape(shape).tolist()}}  # fmt: skip
    elif np.isfinite(found.low).any():
        exported |= {name: [exact(row) for row in each.reshape(shape)]
                     for name, each in (("low", found.low), ("high", found.high))}  # fmt: skip
    trace = {
        "type": "heatmap", "x": x, "y": y,
        "z": [numbers(row) for row in found.z.reshape(shape)],
        "text": np.where(found.unclear, "≈", "").reshape(shape).tolist() if found.unclear.any() else [],
        "customdata": np.array([found.key, found.more], dtype=object).T.reshape(*shape, 2).tolist(),
        "hovertemplate": f"{x_title}: %{{x}}<br>{y_title}: %{{y}}<br>{found.hover}{tail}<extra></extra>",
        "texttemplate": "%{text}", "xgap": 1, "ygap": 1, "hoverongaps": False, **found.colours,
        "meta": exported,
    }  # fmt: skip
    axis: Plot = {"type": "category", "showgrid": False, "zeroline": False}
    return plot([trace], x=x_title, y=y_title, xaxis=axis, yaxis=dict(axis), meta={"value": found.value})


def _bar(title: str) -> Plot:
    return {"title": {"text": title, "side": "top"}, "thickness": 12, "outlinewidth": 0}
