"""Which drawn inputs decide an outcome: bars of Sobol indices with intervals."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from netcarlo.reports import scales
from netcarlo.reports.choices import Choice, with_choices
from netcarlo.reports.figures import COLOURS, Plot, plot
from netcarlo.reports.sweep_parts import numbers
from netcarlo.reports.sweep_results import Results
from netcarlo.sweeps import sensitivity

MOST_BARS = 12
BYTES = 60_000


def bars(results: Results) -> tuple[Plot, list[dict[str, str]]]:
    """The figure, and a table of all inputs for what it shows first."""
    found = cache(lambda outcome, label: _indices(results, results.outcomes[outcome], label))
    names = _names(results.sweep["inputs"])

    def draw(outcome: int, label: int) -> Plot:
        top = _ordered(found(outcome, label)).head(MOST_BARS).iloc[::-1]
        kinds = [("first", "alone (first order)", COLOURS[0])]
        if results.sweep["draw"]["method"] == "saltelli":
            kinds.insert(0, ("total", "with all interactions (total)", COLOURS[1]))
        data = [
            {
                "type": "bar", "orientation": "h", "name": name, "y": [names[i] for i in top.index],
                "x": numbers(100 * top[kind].to_numpy(), 3), "marker": {"color": colour},
                "error_x": {
                    "type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": "#1d2733",
                    "array": numbers(100 * (top[f"{kind}_high"] - top[kind]).to_numpy(), 3),
                    "arrayminus": numbers(100 * (top[kind] - top[f"{kind}_low"]).to_numpy(), 3),
                },
                "hovertemplate": "%{y}: %{x} %<extra></extra>",
            }
            for kind, name, colour in kinds
        ]  # fmt: skip
        return plot(
            data, x="share of the variance over networks [%]", y="", barmode="group",
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "reversed"},
            yaxis={"gridcolor": "rgba(0,0,0,0)", "ticks": ""}, showlegend=len(kinds) > 1,
        )  # fmt: skip

    choices = [
        Choice("outcome", [scales.name_of(o) for o in results.outcomes]),
        Choice(results.compared.title if results.compared else "", list(results.labels)),
    ]
    return with_choices(draw, choices, most_bytes=BYTES), _table(_ordered(found(0, 0)), names)


def _table(found: pd.DataFrame, names: dict[str, str]) -> list[dict[str, str]]:
    percent = scales.Scale(0.01, "%")
    return [
        {
            "input": names[str(name)],
            "field": str(name),
            "first": scales.number(100 * row["first"]),
            "first_interval": scales.interval(row["first_low"], row["first_high"], percent),
            "total": scales.number(100 * row["total"]),
            "total_interval": scales.interval(row["total_low"], row["total_high"], percent),
        }
        for name, row in found.iterrows()
    ]


def _indices(results: Results, column: str, label: int) -> pd.DataFrame:
    """Indices over the networks of one label, at the middle of the grid."""
    at_middle = [results.places[axis.name] == axis.middle for axis in results.axes]
    point = int(np.all(at_middle, axis=0).argmax()) if at_middle else 0
    cell = results.ok["cell"].to_numpy()
    per_draw = results.points * len(results.labels)
    mine = results.ok[cell % per_draw == point * len(results.labels) + label]
    return sensitivity.indices(mine, inputs=results.sweep["inputs"], of=column, draw=results.sweep["draw"])


def _ordered(found: pd.DataFrame) -> pd.DataFrame:
    size = found["total"].where(found["total"].notna(), found["first"])
    return found.loc[size.sort_values(ascending=False, kind="stable").index]


def _names(inputs: Sequence[str]) -> dict[str, str]:
    """Inputs in words; two that would read the same keep their field names."""
    names = {name: scales.name_of(name) for name in inputs}
    said = list(names.values())
    return {name: text if said.count(text) == 1 else name for name, text in names.items()}
