"""Page of a comparison with measured runs: the answer, curves over time, the table, and the runs."""

import math
from pathlib import Path
from typing import Any

from netcarlo.comparison.measured import Band, Measured
from netcarlo.reports.comparison import measured_wording as wording
from netcarlo.reports.page import page
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import COLOURS, DASHES, Plot, plot
from netcarlo.reports.parts.setting import setting
from netcarlo.reports.parts.simulated import simulated
from netcarlo.simulation.provenance import model_version, versions

FILES = ("comparison.html", "comparison.csv")
"""Files of a comparison that is written into a folder."""
MOST_RUNS = 6
"""Measured runs that are drawn."""
BADGES = {
    "inside": "good",
    "equal": "good",
    "above": "mark",
    "below": "mark",
    "differs": "mark",
    "unknown": "open",
}


def measured_page(found: Measured) -> str:
    """Return the HTML of the page."""
    drawn = curves(found)
    table = wording.rows(found)
    return page(
        "measured.html",
        title=f"{found.scenario.name} and measured runs",
        plots=drawn is not None,
        found=found,
        sentence=wording.headline(found),
        simulated=simulated(found.scenario, found.replications),
        explanation=wording.explanation(found),
        rows=[{"quantity": name, **row} for name, row in table.to_dict("index").items()],
        verdicts=found.table["verdict"].tolist(),
        badges=BADGES,
        figure=drawn,
        left=wording.left_out(found),
        runs=[_run(run) for run in found.runs],
        settings=setting(found.scenario, None),
        provenance={
            "model version": model_version(),
            "seed": str(found.scenario.seed),
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
        },
    )


def _run(run: Any) -> dict[str, Any]:
    """Return a measured run as texts."""
    about = [f"{name}: {text}" for name, text in run.setting.items()]
    if math.isfinite(run.end_s):
        about.append(f"measured time: {scales.say(run.start_s, 's')} to {scales.say(run.end_s, 's')}")
    flows = []
    for flow in run.flows:
        values = [f"{wording.word(name)} {_value(name, value)}" for name, value in flow.values.items()]
        flows.append(f"{flow.name}: {', '.join(values)}")
    return {"name": Path(run.source).name, "program": run.program, "about": about, "flows": flows}


def _value(name: str, value: float) -> str:
    return scales.say(value, wording.unit_of(name))


def curves(found: Measured) -> Plot | None:
    """Return the figure of the quantities over time, with a choice of the quantity; None without curves."""
    names = list(found.bands)
    if not names:
        return None

    def draw(k: int) -> Plot:
        return _curve(found, names[k], found.bands[names[k]])

    return with_choices(
        draw, [Choice("quantity", [wording.label(name) for name in names])], most_bytes=1_500_000
    )


def _curve(found: Measured, name: str, band: Band) -> Plot:
    unit = wording.unit_of(name)
    seen = [value for one in (band.high, *band.measured) for value in one.tolist() if math.isfinite(value)]
    scale = scales.scale(seen, unit)
    edges = band.edges_s.tolist()

    def steps(values: Any) -> list[float | None]:
        shown = [value / scale.factor if math.isfinite(value) else None for value in values.tolist()]
        return [*shown, shown[-1]]

    base = {"x": edges, "mode": "lines"}
    light = {"shape": "hv", "width": 0, "color": COLOURS[0]}
    data: list[Plot] = [
        {**base, "y": steps(band.low), "name": "simulated, 5 %", "line": light, "showlegend": False,
         "hoverinfo": "skip"},
        {**base, "y": steps(band.high), "name": "9 of 10 simulated runs", "line": light, "fill": "tonexty",
         "fillcolor": "rgba(0,119,204,0.18)", "hoverinfo": "skip"},
        {**base, "y": steps(band.median), "name": "simulated, median",
         "line": {"shape": "hv", "width": 2, "color": COLOURS[0], "dash": "dash"}},
    ]  # fmt: skip
    for k, (run, values) in enumerate(zip(found.runs[:MOST_RUNS], band.measured, strict=False)):
        called = Path(run.source).name if len(found.runs) > 1 else "measured"
        line = {"shape": "hv", "width": 2.4 if k == 0 else 1.4, "color": COLOURS[1]}
        line["dash"] = DASHES[k % len(DASHES)]
        data.append({**base, "y": steps(values), "name": called, "line": line})
    label = scale.label(wording.word(name))
    return plot(data, x="time from the start of the flow [s]", y=label, yaxis={"rangemode": "tozero"})
