"""Along an axis of a sweep: at which share of the points each label is best."""

import numpy as np

from netcarlo.numerics.arrays import Floats
from netcarlo.reports.parts import exported, scales
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import COLOURS, Plot, plot
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.sweep.parts import numbers
from netcarlo.reports.sweep.results import Axis, Results
from netcarlo.reports.sweep.slices import thinned
from netcarlo.reports.sweep.wins import Wins, judged, wins

MOST_VALUES = 24
"""Values of an axis that are drawn; of more every k-th."""

BYTES = 180_000
PERCENT = Scale(0.01, "%")


def shares(results: Results) -> Plot | None:
    """The figure, first along the axis on which it depends most; None if nothing can be won or varies."""
    outcomes = judged(results)
    axes = [axis for axis in results.axes if len(axis.values) > 1]
    if not outcomes or not axes:
        return None
    axes.sort(key=lambda axis: -_spread(_along(results, axis, outcomes[0])))

    def draw(axis: int, outcome: int) -> Plot:
        return _plot(results, axes[axis], _along(results, axes[axis], outcomes[outcome]))

    choices = [
        Choice("axis", [axis.title for axis in axes]),
        Choice("outcome", [scales.name_of(outcome) for outcome in outcomes]),
    ]
    return with_choices(draw, choices, most_bytes=BYTES)


def _along(results: Results, axis: Axis, outcome: str) -> list[Wins]:
    """Return the shares of wins at each value of an axis, thinned to the values that are drawn."""
    place = results.places[axis.name]
    return [wins(results, outcome, place[None] == i) for i in thinned(len(axis.values), MOST_VALUES)]


def _spread(found: list[Wins]) -> float:
    """Return the largest difference of a share along an axis."""
    each: Floats = np.array([one.share for one in found])
    return float(np.nan_to_num(each.max(axis=0) - each.min(axis=0)).max())


def _plot(results: Results, axis: Axis, found: list[Wins]) -> Plot:
    texts = [axis.texts[i] for i in thinned(len(axis.values), MOST_VALUES)]
    hover = f"{axis.title} %{{x}}<br>best in %{{y}} %{{customdata}} %<extra></extra>"
    data = [
        {
            "type": "bar", "x": texts, "y": numbers(np.array([100 * one.share[k] for one in found])),
            **exported.interval([100 * one.low[k] for one in found], [100 * one.high[k] for one in found]),
            "name": label, "marker": {"color": COLOURS[k % len(COLOURS)]},
            "customdata": [scales.interval(one.low[k], one.high[k], PERCENT) for one in found],
            "hovertemplate": f"{label}<br>{hover}",
        }
        for k, label in enumerate(results.labels)
    ]  # fmt: skip
    drawn = plot(
        data, x=axis.title, y="best in [%], ties shared", barmode="stack", yaxis={"range": [0, 100]},
        xaxis={"type": "category", "showgrid": False}, bargap=0.25,
    )  # fmt: skip
    drawn["layout"]["legend"]["traceorder"] = "normal"
    return drawn
