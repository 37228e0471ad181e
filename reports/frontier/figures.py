"""The figures of a plan of two quantities: what holds beside what fails, and what it costs."""

from netcarlo.planning.designs import Frontier, cheapest
from netcarlo.planning.run import Answer
from netcarlo.planning.search import FAILS, HOLDS, OPEN
from netcarlo.reports.frontier import wording
from netcarlo.reports.parts import exported, scales
from netcarlo.reports.parts.figures import COLOURS, INK, Plot, plot, rounded
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.plan import wording as of_plan
from netcarlo.reports.plan.figures import ZONES, axis, logarithmic, span


def border(found: Frontier) -> Plot:
    """Return the regions in which the requirements hold (green) and fail (red), over both quantities."""
    plan, across, scale = found.plan, _across(found), axis(found.plan)
    x = [_beside(answer) / across.factor for answer in found.answers]
    nearest, furthest = (rounded(plan.values[i] / scale.factor) for i in (0, -1))
    holds = [_scaled(answer.holds, scale) for answer in found.answers]
    fails = [_scaled(answer.fails, scale) for answer in found.answers]
    lower = [nearest if v is None else v for v in holds]
    upper = [furthest if v is None else v for v in fails]
    data = [
        _edge(x, [nearest] * len(x)),
        _edge(x, lower, ZONES[HOLDS]),
        _edge(x, upper, ZONES[OPEN]),
        _edge(x, [furthest] * len(x), ZONES[FAILS]),
        _line(found, x, fails, "known to fail", COLOURS[1], "dot"),
        _line(found, x, holds, "known to hold", COLOURS[0], "solid"),
    ]
    if (best := found.cheapest) is not None:
        data.append(
            {
                "x": [rounded(best.beside / across.factor)], "y": [rounded(best.value / scale.factor)],
                "mode": "markers", "name": "cheapest so far" if found.provisional else "cheapest",
                "marker": {"size": 15, "symbol": "star", "color": INK}, "cliponaxis": False,
                "hovertemplate": f"{wording.priced(found, best)}<extra></extra>",
            }
        )  # fmt: skip
    ends = (min(nearest, furthest), max(nearest, furthest))
    return plot(
        data, x=across.label(wording.title(found)), y=scale.label(of_plan.title(plan)),
        xaxis=_axis(found, across), yaxis=logarithmic(*ends) if plan.log else {"range": list(ends)},
    )  # fmt: skip


def costs(found: Frontier) -> Plot | None:
    """The cost of the cheapest design that is known to hold at each value of the second quantity; None
    without costs."""
    across = _across(found)
    known = [(answer, cheap) for answer in found.answers if (cheap := cheapest(answer)) is not None]
    if not known:
        return None
    line = {
        "x": [rounded(_beside(answer) / across.factor) for answer, _ in known],
        "y": [rounded(cheap.cost) for _, cheap in known],
        "mode": "lines+markers", "showlegend": False, "line": {"color": COLOURS[0], "width": 2},
        "marker": {"size": 8}, "name": "cheapest design known to hold",
        **exported.instead(
            more={axis(found.plan).label(of_plan.title(found.plan)):
                  [rounded(cheap.value / axis(found.plan).factor) for _, cheap in known]}
        ),
        "customdata": [wording.priced(found, cheap) for _, cheap in known],
        "hovertemplate": "%{customdata}<extra></extra>",
    }  # fmt: skip
    currency = found.plan.spec.currency
    y = f"cost [{currency}]" if currency else "cost"
    return plot([line], x=across.label(wording.title(found)), y=y, xaxis=_axis(found, across))


def _across(found: Frontier) -> Scale:
    assert found.plan.across is not None
    return scales.scale(found.plan.across.numbers, of_plan.unit_in(found.plan.across.dimension))


def _axis(found: Frontier, scale: Scale) -> Plot:
    across = found.plan.across
    assert across is not None
    ends = [across.numbers[0] / scale.factor, across.numbers[-1] / scale.factor]  # also if some are missing
    return (logarithmic(*ends) if across.log else {}) | span(ends, log=across.log)


def _beside(answer: Answer) -> float:
    assert answer.plan.beside is not None
    return answer.plan.beside.value


def _scaled(value: float | None, scale: Scale) -> float | None:
    return None if value is None else rounded(value / scale.factor)


def _edge(x: list[float], y: list[float], fill: str = "") -> Plot:
    """An edge without a line; with a colour what lies between it and the edge before is filled."""
    filled = {"fill": "tonexty", "fillcolor": fill} if fill else {}
    return {
        "x": x, "y": y, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip",
        "showlegend": False, **filled, **exported.DECORATION,
    }  # fmt: skip


def _line(
    found: Frontier, x: list[float], y: list[float | None], name: str, colour: str, dash: str
) -> Plot:  # fmt: skip
    label = wording.title(found)
    return {
        "x": x, "y": y, "mode": "lines+markers", "name": name, "marker": {"size": 7},
        "line": {"color": colour, "width": 2, "dash": dash},
        "customdata": [row[label] for row in wording.rows(found)],
        "hovertemplate": f"%{{y}} is {name} at {label} %{{customdata}}<extra></extra>",
    }  # fmt: skip
