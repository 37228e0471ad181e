"""Figures of the page of a plan: probability curve, quantiles of the measures, effect of resources."""

import math
import re
from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from netcarlo.planning.definition import Plan
from netcarlo.planning.run import VERDICTS, Answer
from netcarlo.planning.search import FAILS, HOLDS, OPEN
from netcarlo.reports.parts import exported, scales
from netcarlo.reports.parts.figures import COLOURS, INK, SYMBOLS, Plot, plot, rounded
from netcarlo.reports.parts.intervals import MOST_BANDS, band
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.plan import wording

ZONES = {HOLDS: "#e6f4ec", OPEN: "#fbf3dc", FAILS: "#fbeae6"}
"""Backgrounds of what holds, is undecided, and fails: those of a verdict."""

SAID = {HOLDS: "holds", OPEN: "", FAILS: "fails"}
"""Words above the zones, for readers who cannot tell the colours apart; undecided values lie between them."""

WORDS_HIGH = 22
"""Height of the room above a plot for words [pixel]."""

STEEP = 30
"""A measure that changes by more than this factor has a logarithmic axis."""


BESIDE = 2
"""Least values that a measure is shown at on each side of those where its requirement stops to hold."""

LEGEND = 44
"""Letters of a line of the legend that fit on a phone."""

LONG = 28
"""Letters of the title of an axis that fit beside a figure on a phone."""

Ends = tuple[float | None, float | None]
"""The last value that is known to hold and the first that is known to fail."""


def axis(plan: Plan) -> Scale:
    """The scale of the planned quantity."""
    return scales.scale(plan.values, wording.unit(plan))


def curve(found: Answer) -> Plot:
    """The probability of each requirement against the quantity, with its interval, over what is certain."""
    plan, scale = found.plan, axis(found.plan)
    x = [rounded(point.value / scale.factor) for point in found.curve]
    data: list[Plot] = []
    for k, requirement in enumerate(plan.requirements):
        colour, shares = COLOURS[k % len(COLOURS)], [point.shares[k] for point in found.curve]
        low, high = ([100 * v for v in end] for end in _sharper(found, k))
        y = [rounded(100 * s.probability) for s in shares]
        few = len(plan.requirements) <= MOST_BANDS
        data += [band(x, low, high, colour)] if few else []
        data.append(
            {
                "x": x,
                "y": y,
                "error_y": {} if few else _bars(y, low, high),
                **exported.interval(
                    low,
                    high,
                    more={
                        "asked [%]": [100 * requirement.probability] * len(x),
                        "replications": [point.replications for point in found.curve],
                        "verdict": [VERDICTS[point.verdict] for point in found.curve],
                    },
                ),
                "mode": "lines+markers",
                "name": "<br>".join(wrap(f"{requirement.name}: {wording.goal(plan, k)}", LEGEND)),
                "line": {"color": colour, "width": 2},
                "marker": {"size": 7, "symbol": SYMBOLS[k % len(SYMBOLS)]},
                "customdata": [
                    [
                        wording.value(plan, p.value),
                        wording.band(plan, s.low, s.high),
                        p.replications,
                        VERDICTS[p.verdict],
                        wording.seen(plan, s.probability),
                    ]
                    for p, s in zip(found.curve, shares, strict=True)
                ],
                "hovertemplate": "%{customdata[0]} %{customdata[3]}: %{customdata[4]} %{customdata[1]}, "
                f"%{{customdata[2]}} replications<extra>{requirement.name}</extra>",
            }
        )
        data.append(_level(x, 100 * requirement.probability, colour, f"asked of {requirement.name}"))
    zones = _zones(plan, (found.holds, found.fails), scale)
    figure = plot(
        data, x=_title(plan, scale), shapes=zones, xaxis=_quantity_axis(plan, scale),
        y="share of the year [%]" if plan.of_year else "probability [%]",
        yaxis={} if plan.of_year else {"range": [-3, 103]},  # a year has nines: 0 to 100 % would hide them
    )  # fmt: skip
    figure["layout"]["legend"] |= {"traceorder": "normal", "y": 1.06}  # above the words of the zones
    return _with_words(figure, plan, (found.holds, found.fails), scale)


def measure(found: Answer, k: int) -> Plot:
    """Return the quantile of a requirement's measure at its required probability, over the values.

    The bound is a line beside it. Only values near that at which the requirement starts to fail are shown.
    """
    plan, requirement, scale = found.plan, found.plan.requirements[k], axis(found.plan)
    own = alone(found, k)
    points = [p for p in found.curve if math.isfinite(p.shares[k].quantile)]
    shown = scales.scale([requirement.bound], wording.unit_of(requirement))
    colour, bound = COLOURS[k % len(COLOURS)], requirement.bound / shown.factor
    y = [point.shares[k].quantile / shown.factor for point in points]
    line = {
        "x": [rounded(point.value / scale.factor) for point in points], "y": [rounded(v) for v in y],
        "mode": "lines+markers", "showlegend": False, "line": {"color": colour, "width": 2},
        "marker": {"size": 7, "symbol": SYMBOLS[k % len(SYMBOLS)]},
        "hovertemplate": "%{x}: %{y}<extra></extra>", "name": requirement.name,
        **exported.instead(more={"bound": [rounded(bound)] * len(points)}),
    }  # fmt: skip
    across = [rounded(plan.values[i] / scale.factor) for i in (0, -1)]
    places = _window(plan, own)
    known = [plan.values.index(point.value) for point in points]
    inside = [*(v for place, v in zip(known, y, strict=True) if places[0] <= place <= places[1]), bound]
    if points:
        inside += np.interp(places, known, y).tolist()
    name = re.split("[<>≤≥]", wording.goal(plan, k))[0].strip()
    figure = plot(
        [line, _level(across, bound, INK, "bound")], x=_title(plan, scale), y=_broken(shown.label(name)),
        shapes=_zones(plan, own, scale),
        xaxis=_quantity_axis(plan, scale)
        | span([plan.values[i] / scale.factor for i in places], log=plan.log),
        yaxis=_height(inside),
    )  # fmt: skip
    shown_values = [plan.values[places[0]], plan.values[places[1]]]
    return _with_words(figure, plan, own, scale, shown_values)


def _window(plan: Plan, ends: Ends) -> tuple[int, int]:
    """The places of the values around those two between which a requirement stops to hold."""
    last = len(plan.values) - 1
    low = 0 if ends[0] is None else plan.values.index(ends[0])
    high = last if ends[1] is None else plan.values.index(ends[1])
    beside = max(BESIDE, last // 10)
    return max(low - beside, 0), min(high + beside, last)


def span(ends: Sequence[float], *, log: bool) -> Plot:
    """An axis from one end to the other, with some room."""
    low, high = (math.log10(end) if log else end for end in (min(ends), max(ends)))
    room = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
    return {"range": [rounded(low - room), rounded(high + room)]}


def _height(values: Sequence[float]) -> Plot:
    """The axis of a measure; logarithmic where it is steep."""
    steep = min(values) > 0 and max(values) > STEEP * min(values)
    return (logarithmic(*values) if steep else {}) | span(values, log=steep)


def _broken(title: str) -> str:
    """The title of an axis, on two lines if it is long."""
    return title.replace(" [", "<br>[") if len(title) > LONG else title


def alone(found: Answer, k: int) -> Ends:
    """The last value at which a requirement by itself is known to hold, and the first at which it is known to
    fail: all hold up to where the plan does, and its bands tell more."""
    plan, asked = found.plan, found.plan.requirements[k].probability
    low, high = _sharper(found, k)
    places = {value: i for i, value in enumerate(plan.values)}
    holds = [p.value for p, end in zip(found.curve, low, strict=True) if end >= asked]
    fails = [p.value for p, end in zip(found.curve, high, strict=True) if end < asked]
    holds += [] if found.holds is None else [found.holds]
    if found.fails is not None and plan.requirements[k].name in wording.failing(found):
        fails.append(found.fails)
    return max(holds, key=places.__getitem__, default=None), min(fails, key=places.__getitem__, default=None)


def resources(found: Answer) -> Plot | None:
    """Return the shift of the answer by more of each resource; None if no shift is known."""
    plan = found.plan
    known = [gain for gain in found.gains if gain.moved is not None][::-1]
    if not known:
        return None
    scale = axis(plan)
    moves = [tuple(v / scale.factor for v in gain.moved or ()) for gain in known]
    toward = 1.0 if plan.spec.find == "largest" else -1.0
    colours = [
        "#c3ccd6" if low <= 0 <= high else COLOURS[0] if toward * move > 0 else COLOURS[1]
        for move, low, high in moves
    ]
    bar = {
        "type": "bar", "orientation": "h", "showlegend": False, "name": "change",
        **exported.interval([low for _, low, _ in moves], [high for _, _, high in moves]),
        "x": [rounded(move[0]) for move in moves], "y": [gain.resource.name for gain in known],
        "marker": {"color": colours}, "width": 0.5,
        "error_x": {
            "type": "data", "symmetric": False, "thickness": 1.4, "color": INK,
            "array": [rounded(max(high - move, 0)) for move, _, high in moves],
            "arrayminus": [rounded(max(move - low, 0)) for move, low, _ in moves],
        },
        "customdata": [wording.moved(plan, gain) for gain in known],
        "hovertemplate": "%{y}: %{customdata}<extra></extra>",
    }  # fmt: skip
    x = f"change of {_title(plan, scale)}"
    return plot([bar], x=x, y="", yaxis={"automargin": True}, meta={"y": "resource"})


def _quantity_axis(plan: Plan, scale: Scale) -> Plot:
    return logarithmic(plan.values[0] / scale.factor, plan.values[-1] / scale.factor) if plan.log else {}


def logarithmic(*ends: float) -> Plot:
    """A logarithmic axis with ticks at 1, 2 and 5 times powers of ten."""
    low, high = min(ends), max(ends)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    shown = [tick for tick in ticks if 0.9 * low <= tick <= 1.1 * high]
    return {"type": "log", "tickvals": shown, "ticktext": [scales.trimmed(tick) for tick in shown]}


def _title(plan: Plan, scale: Scale) -> str:
    return scale.label(wording.title(plan))


def _sharper(found: Answer, k: int) -> tuple[list[float], list[float]]:
    """The ends of the bands of a requirement: as it falls along the values, each bounds the others."""
    shares = [point.shares[k] for point in found.curve]
    low, high = np.array([s.low for s in shares]), np.array([s.high for s in shares])
    if found.monotone:
        low, high = np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)
    return low.tolist(), high.tolist()


def _bars(y: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Plot:
    """Return error bars, in place of bands that would hide each other."""
    return {
        "type": "data", "symmetric": False, "thickness": 1.2, "width": 3,
        "array": [rounded(h - v) for h, v in zip(high, y, strict=True)],
        "arrayminus": [rounded(v - w) for w, v in zip(low, y, strict=True)],
    }  # fmt: skip


def _level(x: Sequence[float], y: float, colour: str, name: str) -> Plot:
    return {
        "x": [min(x), max(x)], "y": [rounded(y)] * 2, "mode": "lines", "name": name, "showlegend": False,
        "line": {"color": colour, "width": 1.4, "dash": "dash"}, "hoverinfo": "name+y", **exported.DECORATION,
    }  # fmt: skip


def _zones(plan: Plan, ends: Ends, scale: Scale) -> list[Plot]:
    """Rectangles behind a curve: up to what holds, from what fails, and what is between."""
    return [
        {
            "type": "rect", "layer": "below", "line": {"width": 0}, "fillcolor": ZONES[kind],
            "xref": "x", "yref": "paper", "y0": 0, "y1": 1,
            "x0": rounded(low / scale.factor), "x1": rounded(high / scale.factor),
        }
        for kind, (low, high) in _known(plan, ends).items()
    ]  # fmt: skip


def _known(plan: Plan, ends: Ends) -> dict[int, tuple[float, float]]:
    """Return the ends of each zone that has any values, the smaller one first."""
    first, last = plan.values[0], plan.values[-1]
    holds, fails = ends
    low, high = first if holds is None else holds, last if fails is None else fails
    zones = {HOLDS: (first, holds), OPEN: (low, high), FAILS: (fails, last)}
    found = {}
    for kind, pair in zones.items():
        known = [end for end in pair if end is not None]
        if len(known) == 2 and known[0] != known[1]:
            found[kind] = (min(known), max(known))
    return found


def _with_words(
    figure: Plot, plan: Plan, ends: Ends, scale: Scale, shown: Sequence[float] | None = None
) -> Plot:  # fmt: skip
    """Return the figure with a word above the middle of each zone, as far as the zone is `shown`.

    The words are above the plot, where no line strikes them through.
    """
    least, most = min(shown or plan.values), max(shown or plan.values)
    said = []
    for kind, (start, end) in _known(plan, ends).items():
        low, high = max(start, least), min(end, most)
        if not SAID[kind] or low >= high:
            continue
        middle = math.sqrt(low * high) if plan.log else (low + high) / 2
        x = middle / scale.factor
        said.append({
            "text": SAID[kind], "showarrow": False, "font": {"size": 11}, "xref": "x", "yref": "paper",
            "x": rounded(math.log10(x) if plan.log else x), "y": 1, "yanchor": "bottom",
        })  # fmt: skip
    figure["layout"]["margin"] = {**figure["layout"]["margin"], "t": WORDS_HIGH}
    figure["layout"]["annotations"] = [*figure["layout"].get("annotations", ()), *said]
    return figure
