"""Parallel coordinates of drawn networks: a line for each over upright axes of features and an outcome."""

import numpy as np
from numpy.typing import NDArray

from netcarlo.numerics.arrays import Bools, Floats
from netcarlo.reports.parts import exported, scales
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import COLOURS, INK, Plot, plot
from netcarlo.reports.sweep.features import features, unit_of
from netcarlo.reports.sweep.parts import WIDE, known, numbers, pointer, ratio
from netcarlo.reports.sweep.results import Results
from netcarlo.reports.sweep.slices import sampled
from netcarlo.reports.sweep.wins import TIE, best, judged

MOST = 600
"""Networks that are drawn."""

BYTES = 500_000
LIGHT = "#8794a3"
Group = tuple[str, str, Bools]
"""Lines drawn alike: their name, their colour, and which they are."""


def parallel(results: Results, command: str) -> Plot:
    """Parallel coordinates: a line per network at a point of the grid, coloured by the best label."""
    outcomes = judged(results) or results.outcomes
    several = bool(judged(results))
    pick = sampled(results.draws * results.points, MOST)
    draws, points = pick // results.points, pick % results.points
    axes = [axis for axis in results.axes if axis.numeric and len(axis.values) > 1][:2]
    common = [
        *((axis.title, axis.unit, np.array(axis.values)[results.places[axis.name][points]]) for axis in axes),
        *(
            (scales.name_of(name), unit_of(results, name), results.feature(name)[draws, points])
            for name in features(results)
            if name != "bdp_packets"  # the product of two others
        ),
    ]

    def draw(outcome: int) -> Plot:
        column = outcomes[outcome]
        values = results.cube(column)[draws, points]
        if several:
            winner = best(results, column)[draws, points]
            at = np.maximum(winner, 0)
            groups = [
                *((label, COLOURS[k % len(COLOURS)], winner == k) for k, label in enumerate(results.labels)),
                ("equally good", LIGHT, winner == TIE),
            ]
        else:
            at = np.zeros(len(values), dtype=np.int64)
            groups = _fifths(values[:, 0], scales.name_of(column))
        chosen = np.take_along_axis(values, at[:, None], axis=1)[:, 0]
        title = scales.name_of(column) + (" of the best" if several else "")
        dims = [*common, (title, scales.unit_of(column), chosen)]
        keys = results.keys[draws, points, at]
        return _threads(dims, keys, groups, command)

    choices = [Choice("outcome", [scales.name_of(o) for o in outcomes])]
    return with_choices(draw, choices, most_bytes=BYTES)


def _threads(
    dims: list[tuple[str, str, Floats]], keys: NDArray[np.str_], groups: list[Group], command: str
) -> Plot:
    heights, notes, shapes = [], [], []
    table: dict[str, Floats] = {}
    for i, (name, unit, values) in enumerate(dims):
        height, marks, shown = _upright(values, unit)
        heights.append(height)
        scale = scales.scale(known(values).tolist(), unit)
        table[scale.label(name)] = values / scale.factor
        shapes.append(
            {"type": "line", "x0": i, "x1": i, "y0": 0, "y1": 1, "line": {"color": INK, "width": 1.2}}
        )
        title = name.replace(" ", "<br>", 1) + (f"<br>[{shown}]" if shown else "")
        notes.append(
            {"x": i, "y": 1.03, "yanchor": "bottom", "text": title, "showarrow": False, "font": {"size": 11}}
        )
        notes += [
            {"x": i, "y": at, "xanchor": "left", "xshift": 3, "text": text, "showarrow": False,
             "font": {"size": 10}, "bgcolor": "rgba(255,255,255,.8)", "borderpad": 0}
            for at, text in marks
        ]  # fmt: skip
    matrix = np.array(heights).T
    whole = np.isfinite(matrix).all(axis=1)
    data = []
    # The smallest group is drawn last, so that it is seen.
    for name, colour, mask in sorted(groups, key=lambda group: -int(group[2].sum())):
        inside = np.flatnonzero(mask & whole)
        path = np.concatenate([matrix[inside], np.full((len(inside), 1), np.nan)], axis=1)
        listed = {title: numbers(values[inside]) for title, values in table.items()}
        data.append(
            {
                **exported.columns({"cell": keys[inside].tolist(), **listed}),
                "y": numbers(path.ravel(), 3), "customdata": keys[inside].tolist(),
                "mode": "lines", "name": name, "line": {"color": colour, "width": 1},
                "opacity": 0.3 if len(inside) > 150 else 0.6,
                "hovertemplate": f"{name}{pointer(command, 'customdata')}<extra></extra>",
            }
        )  # fmt: skip
    clicked = {"y": [], "customdata": [], "mode": "lines", "showlegend": False, "hoverinfo": "skip",
               "line": {"color": INK, "width": 3}, **exported.DECORATION}  # fmt: skip
    figure = plot(
        [*data, clicked], x="", y="",
        xaxis={"visible": False, "range": [-0.3, len(dims) - 0.45], "fixedrange": True},
        yaxis={"visible": False, "range": [-0.03, 1.22], "fixedrange": True},
        shapes=shapes, annotations=notes,
    )  # fmt: skip
    return {**figure, "stride": len(dims)}


def _upright(values: Floats, unit: str) -> tuple[Floats, list[tuple[float, str]], str]:
    """Heights from 0 to 1 on an upright axis, its marks, and its unit; logarithmic for a wide range."""
    found = known(values)
    shown = scales.scale(found.tolist(), unit)
    log = ratio(values) > WIDE
    put = np.log10 if log else np.asarray
    if not len(found):
        return np.full(len(values), np.nan), [], shown.unit
    low, high = float(put(found.min())), float(put(found.max()))
    if low == high:
        low, high = low - 0.5, high + 0.5
    distinct = np.unique(found)
    places = put(distinct) if len(distinct) <= 6 else np.linspace(low, high, 4)
    marks = [
        (float((at - low) / (high - low)), scales.trimmed((10**at if log else at) / shown.factor, 2))
        for at in places.tolist()
    ]
    height = (put(np.where(np.isnan(values), 1.0 if log else 0.0, values)) - low) / (high - low)
    return np.where(np.isnan(values), np.nan, height), marks, shown.unit


def _fifths(values: Floats, name: str) -> list[Group]:
    colours = ("#440154", "#3b528b", "#21918c", "#5ec962", "#e0c500")
    words = ("lowest", "second", "middle", "fourth", "highest")
    found = known(values)
    cuts = np.quantile(found, [0.2, 0.4, 0.6, 0.8]) if len(found) else np.zeros(4)
    place = np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right"))
    return [(f"{word} fifth of {name}", colours[i], place == i) for i, word in enumerate(words)]
