"""Figures of a sweep along its axes: a line with its 95 % intervals for every compared label."""

import numpy as np

from netcarlo.numerics.arrays import Ints
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import INK, Plot, plot
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.sweep.answers import PERCENT
from netcarlo.reports.sweep.parts import line_and_bounds, logarithmic, numbers, pointer
from netcarlo.reports.sweep.results import Axis, Estimates, Results
from netcarlo.reports.sweep.slices import Slices, thinned
from netcarlo.reports.sweep.wins import judged

MOST_VALUES = 60
"""Values of an axis that are drawn; of more every k-th."""

MOST_MARKED = 9
"""Values that are marks of the x axis themselves."""

ZERO = {"rangemode": "tozero", "zeroline": True, "zerolinecolor": INK, "zerolinewidth": 1.5}
"""A y axis on which zero is what everything is compared with."""

BYTES = {False: 1_100_000, True: 300_000}
"""Most bytes of all these figures together; fewer with drawn networks (True), which have other figures."""


def lines(results: Results, axis: Axis, command: str, *, gains: bool = False) -> Plot:
    """Outcomes and probabilities of goals along an axis, or their gains over the first label, which are
    paired; the other axes are chosen."""
    slices = Slices(results, (other for other in results.axes if other is not axis), averages=True)
    chosen = thinned(len(axis.values), MOST_VALUES)
    position = np.full(len(axis.values), -1)
    position[chosen] = np.arange(len(chosen))

    columns = [*results.outcomes, *results.sweep["goals"]]

    def draw(outcome: int, *options: int) -> Plot:
        column = columns[outcome]
        group = np.where(slices.inside(*options), position[results.places[axis.name]], -1)
        found = results.estimates(f"{column}_gain" if gains else column, group, len(chosen))
        return _plot(results, found, axis, chosen, column, command, gains=gains)

    start = columns.index((judged(results) or columns)[0])
    choices = [Choice("outcome", [scales.name_of(o) for o in columns], start), *slices.choices]
    figures = sum(len(other.values) > 1 for other in results.axes) * min(len(results.labels), 2)
    return with_choices(draw, choices, most_bytes=BYTES[results.drawn] // figures)


def _plot(
    results: Results, found: Estimates, axis: Axis, chosen: Ints, column: str, command: str, *, gains: bool
) -> Plot:  # fmt: skip
    name = f"gain in {scales.name_of(column)}" if gains else scales.name_of(column)
    goal = column in results.sweep["goals"]
    y = PERCENT if goal else scales.scale(np.abs(found.mean).ravel(), scales.unit_of(column))
    x = scales.scale(axis.values if axis.numeric else [], axis.unit)
    places = (
        numbers(np.array(axis.values)[chosen] / x.factor) if axis.numeric else [axis.texts[i] for i in chosen]
    )
    data: list[Plot] = []
    shown = [(k, label) for k, label in enumerate(results.labels) if k or not gains]
    for k, label in shown:
        data += line_and_bounds(
            places, *(each[:, k] / y.factor for each in found[:3]), name=label, k=k, of=len(shown),
            mode="lines+markers" if axis.numeric else "markers",
            extra=[
                [key, scales.interval(low, high, y)]
                for key, low, high in zip(found.key[:, k], found.low[:, k], found.high[:, k], strict=True)
            ],
            hover=f"{axis.title} %{{x}} {x.unit if axis.numeric else ''}<br>"
            f"{name} %{{y}} %{{customdata[1]}} {y.unit}{pointer(command, 'customdata[0]', found)}",
        )  # fmt: skip
    return plot(
        data, x=x.label(axis.title) if axis.numeric else axis.title, y=y.label(name),
        xaxis=_ticks(axis, x, chosen), yaxis=dict(ZERO) if gains else {"rangemode": "tozero"},
        showlegend=len(results.labels) > 1,
    )  # fmt: skip


def _ticks(axis: Axis, x: Scale, chosen: Ints) -> Plot:
    """The x axis: logarithmic where the sweep's axis is, marked at its values if they are few."""
    if not axis.numeric:
        return {"type": "category"}
    values = np.array(axis.values)[chosen] / x.factor
    log = axis.log and values.min() > 0
    if len(values) > MOST_MARKED:
        return logarithmic(values) if log else {"type": "linear"}
    at = np.log(values) if log else values
    far = [0]  # marks that do not touch on a phone
    for i in range(1, len(at)):
        if abs(at[i] - at[far[-1]]) >= 0.09 * np.ptp(at):
            far.append(i)
    texts = [scales.trimmed(values[i]) for i in far]
    return {"type": "log" if log else "linear", "tickvals": values[far].tolist(), "ticktext": texts}
