"""The page of `netcarlo availability`: the answer, bad service by state, the table of states, the setting."""

import numpy as np

from netcarlo.estimation.availability import Availability
from netcarlo.reports.availability import wording
from netcarlo.reports.page import page
from netcarlo.reports.parts.exported import DECORATION, interval
from netcarlo.reports.parts.figures import COLOURS, Plot, plot, rounded
from netcarlo.reports.parts.setting import setting
from netcarlo.reports.parts.simulated import simulated
from netcarlo.schema.units import YEAR
from netcarlo.simulation import validated
from netcarlo.simulation.provenance import model_version, versions

LEAST_S = 1.0
"""Left end of the axis of times [s]."""
TICKS = {
    "1 s": 1.0, "10 s": 10.0, "1 min": 60.0, "10 min": 600.0, "1 h": 3600.0, "10 h": 36e3, "1 day": 86400.0,
    "10 days": 864e3, "100 days": 864e4,
}  # fmt: skip


def availability_page(found: Availability, *, command: str) -> str:
    """Return the HTML of an estimate of availability; `command` repeats it."""
    texts = [wording.meaning(found), wording.causes(found), wording.nines(found)]
    return page(
        "availability.html",
        title=found.scenario.name,
        description=found.scenario.description,
        sentence=f"Good service in {wording.sentence(found)}.",
        texts=[f"{text}." for text in texts if text],
        notes=[
            f"{simulated(found.scenario)}; {wording.spent(found)}.",
            *filter(None, [validated.sentence(found.scenario)]),
        ],
        figure={
            "name": "states",
            "caption": "Bad service in a year by state of the network, with 95 % intervals",
            "plot": by_state(found),
        },
        rows=wording.rows(found),
        settings=setting(found.scenario, None),
        provenance={
            "model version": model_version(),
            "seed": str(found.scenario.seed),
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
            "command": command,
        },
    )


def by_state(found: Availability) -> Plot:
    """Return the figure of the time of bad service in a year by state, the first state on top.

    The axis is logarithmic; intervals that begin at 0 begin at its left end.
    """
    states = found.states[::-1]
    names = [str(name) for name in states.index]
    met = [states[name] for name in ("probability", "ci_high", "ci_low")]
    mean, low, high = ((YEAR * states["share"] * (1 - each)).tolist() for each in met)
    ticks = {text: seconds for text, seconds in TICKS.items() if seconds < 3 * max(high)}
    ends = zip(np.maximum(low, LEAST_S).tolist(), np.maximum(high, LEAST_S).tolist(), strict=True)
    lines: Plot = {
        "x": [end for both in ends for end in (*both, None)],
        "y": [text for name in names for text in (name, name, None)],
        "mode": "lines", "name": "95 % interval", "line": {"color": COLOURS[1], "width": 3},
        "hoverinfo": "skip", **DECORATION,
    }  # fmt: skip
    points: Plot = {
        "x": [rounded(each) if each > 0 else None for each in mean], "y": names, "mode": "markers",
        "name": "mean", "marker": {"color": COLOURS[0], "size": 10},
        "customdata": [wording.time(each) for each in mean],
        "hovertemplate": "%{y}: %{customdata}<extra></extra>", **interval(low, high),
    }  # fmt: skip
    return plot(
        [lines, points], x="bad service in a year", y="",
        xaxis={
            "type": "log", "tickvals": [*ticks.values()], "ticktext": [*ticks],
            "range": [np.log10(LEAST_S), np.log10(2 * max(*high, 10.0))],
        },
        yaxis={"automargin": True, "range": [-0.5, len(names) - 0.5]},
    )  # fmt: skip
