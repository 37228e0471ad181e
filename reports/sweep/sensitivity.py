"""Sensitivity of outcomes to drawn inputs: bars of Sobol indices with intervals."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.reports.parts import exported, scales
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import COLOURS, INK, Plot, plot
from netcarlo.reports.sweep import ranking
from netcarlo.reports.sweep.parts import numbers
from netcarlo.reports.sweep.results import Results
from netcarlo.reports.sweep.wins import judged
from netcarlo.sweeps.analysis import sensitivity
from netcarlo.sweeps.space.designs import grouped

MOST_BARS = 12
MOST_TARGETS = 8
"""Indices of a wide space take seconds each."""

BYTES = 50_000


class Bars(NamedTuple):
    """Figure of the indices, table of all inputs for the first choice, or reasons for their absence."""

    plot: Plot | None
    table: list[dict[str, str]]
    shown: str
    """Name of the quantity of the table."""
    about: str
    """Sentence about inputs that are drawn several times for a network; empty if there are none."""
    missing: list[str]
    """Reasons why some outcomes have no indices."""


def bars(results: Results) -> Bars:
    """Indices at the middle of the grid: of the baseline's outcomes, and of gains over it."""
    inputs = results.sweep["inputs"]
    names = _names(list(dict.fromkeys([*grouped(inputs)[0], *inputs])))
    found: dict[str, pd.DataFrame] = {}
    missing = []
    for said, column, label in _targets(results)[:MOST_TARGETS]:
        try:
            found[said] = _indices(results, column, label)
        except InputError as error:
            missing.append(f"{said}: {error}")
    if not found:
        return Bars(None, [], "", "", missing)
    targets = list(found)

    def draw(target: int) -> Plot:
        return _plot(results, found[targets[target]].head(MOST_BARS), names)

    figure = with_choices(draw, [Choice("of", targets)], most_bytes=BYTES)
    first = found[targets[0]]
    return Bars(figure, _table(first, names), targets[0], ranking.about_groups(first), missing)


def _targets(results: Results) -> list[tuple[str, str, int]]:
    """Return quantities with indices, most important first: name, column, and index of the label."""
    labels, of = results.labels, f" of {results.labels[0]}" if results.labels[0] else ""
    outcomes = judged(results) + [o for o in results.outcomes if o not in judged(results)]
    values = [(scales.name_of(outcome) + of, outcome, 0) for outcome in outcomes]
    gains = [
        (f"gain in {scales.name_of(outcome)} of {label} over {labels[0]}", f"{outcome}_gain", k)
        for outcome in judged(results)[:1]
        for k, label in enumerate(labels)
        if k
    ]
    return [*values[:1], *gains, *values[1:]]


def _plot(results: Results, top: pd.DataFrame, names: Mapping[str, str]) -> Plot:
    rising = top.iloc[::-1]
    kinds = [("first", "alone (first order)", COLOURS[0])]
    if results.sweep["draw"]["method"] == "saltelli":
        kinds.insert(0, ("total", "with all interactions (total)", COLOURS[1]))
    data = [
        {
            "type": "bar", "orientation": "h", "name": name, "y": [names[str(i)] for i in rising.index],
            "x": _percent(rising[kind]),
            **exported.interval(
                *(100 * rising[f"{kind}_{end}"].to_numpy(np.float64) for end in ("low", "high"))
            ),
            "marker": {"color": colour},
            "error_x": {
                "type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": INK,
                "array": _percent(rising[f"{kind}_high"] - rising[kind]),
                "arrayminus": _percent(rising[kind] - rising[f"{kind}_low"]),
            },
            "hovertemplate": f"%{{y}} {name}: %{{x}} %<extra></extra>",
        }
        for kind, name, colour in kinds
    ]  # fmt: skip
    return plot(
        data, x="share of the variance [%]", y="", meta={"y": "input"}, barmode="group",
        showlegend=len(kinds) > 1,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "reversed"},
        yaxis={"gridcolor": "rgba(0,0,0,0)", "ticks": ""},
    )  # fmt: skip


def _percent(part: "pd.Series[Any]") -> list[float | None]:
    return numbers(100 * np.asarray(part, dtype=np.float64))


def _table(found: pd.DataFrame, names: Mapping[str, str]) -> list[dict[str, str]]:
    percent = scales.Scale(0.01, "%")
    return [
        {
            "input": names[str(name)],
            "field": str(name),
            "first": scales.number(round(100 * row["first"], 1)),
            "first_interval": scales.interval(row["first_low"], row["first_high"], percent),
            "total": scales.number(round(100 * row["total"], 1)),
            "total_interval": scales.interval(row["total_low"], row["total_high"], percent),
        }
        for name, row in found.iterrows()
    ]


def _indices(results: Results, column: str, label: int) -> pd.DataFrame:
    """Indices over the networks for one label, the largest first."""
    at_middle = [results.places[axis.name] == axis.middle for axis in results.axes]
    point = int(np.all(at_middle, axis=0).argmax()) if at_middle else 0
    per_draw = results.points * len(results.labels)
    mine = results.ok[results.ok["cell"] % per_draw == point * len(results.labels) + label]
    found = sensitivity.indices(mine, inputs=results.sweep["inputs"], of=column, draw=results.sweep["draw"])
    size = found["total"].where(found["total"].notna(), found["first"])
    return found.loc[size.sort_values(ascending=False, kind="stable").index]


def _names(inputs: Sequence[str]) -> dict[str, str]:
    """Inputs in words; two that would read the same keep their field names."""
    names = {name: scales.name_of(name) for name in inputs}
    said = list(names.values())
    return {name: text if said.count(text) == 1 else name for name, text in names.items()}
