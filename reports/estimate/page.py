"""The page of an estimate: the answer first, its figures, every outcome, and the setting."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netcarlo.estimation.estimate import Estimate
from netcarlo.reports.estimate.answer import answer, goals
from netcarlo.reports.estimate.parts import busiest, texts
from netcarlo.reports.page import page
from netcarlo.reports.parts import scales, values
from netcarlo.reports.parts.exported import interval
from netcarlo.reports.parts.figures import COLOURS, Plot, finite, plot
from netcarlo.reports.parts.setting import setting
from netcarlo.scenario import Scenario
from netcarlo.simulation import fidelity
from netcarlo.simulation.outcomes import BY_NAME
from netcarlo.simulation.provenance import model_version, versions

FIRST = ("transfer_s", "completion_s", "completion_mean_s", "message_mean_s", "goodput_bps")
"""Outcomes with a histogram, the first two of those that were measured."""
MOST_FIGURES = 2
MOST_BINS = 40
MOST_ROWS = 20
"""Number of links, and of flows, that are shown at once; the others can be opened."""

Outcomes = Mapping[str, Sequence[Sequence[str]]]
"""Rows (name, mean, 95 % interval, meaning) of the table of outcomes, by the title of their group."""


def estimate_page(
    scenarios: Sequence[Scenario],
    numbers: Sequence[tuple[str, str, str, str, str]],
    figures: Sequence[Plot],
    outcomes: Sequence[Sequence[str]],
    commands: Sequence[str],
    along: str,
) -> str:
    """Return the HTML of what the page of `netcarlo live` shows.

    `numbers` are name, number, unit, interval and what answered of each variant and of their difference;
    `outcomes` are name, mean, interval and meaning of the first variant; the first of the `figures` is
    `along` the field of this name.
    """
    captions = (
        f"Along {along}",
        "How the interval shrinks as packets are simulated; dotted: the cheap model",
    )
    figures_ = list(zip(captions, figures, strict=False))
    return _page(scenarios, numbers, figures_, {"": outcomes}, commands)


def page_of(found: Estimate, *, command: str) -> str:
    """Return the HTML of an estimate; `command` repeats it."""
    said = answer(found, every=True)
    numbers = [
        (line.name, line.value, "", f"95 % interval {line.interval}" if line.interval else "", line.remark)
        for line in [*said.lines, *goals(found)]
    ]
    groups = {
        title: [(row.name, row.mean, row.interval, BY_NAME[row.name].meaning) for row in rows]
        for title, rows in said.groups.items()
    }
    names = [name for name in FIRST if name in found.to_frame().index][:MOST_FIGURES]
    figures = [(_caption(found, name), histogram(found, name)) for name in names]
    caveats = found.outside, fidelity.sentence(found.scenario)
    notes = [*found.warnings, *(text for text in caveats if text)]
    parts = [_part(found, part) for part in found.parts]
    return _page([found.scenario], numbers, figures, groups, [command], f"{said.sentence}.", notes, parts)


def _part(found: Estimate, part: str) -> dict[str, Any]:
    """Return the table by link or by flow."""
    shown = texts(found.parts[part])
    return {
        "title": part.capitalize(),
        "name": part.removesuffix("s"),
        "sentence": f"{busiest(found)}. Busiest first." if part == "links" else "",
        "heads": list(shown),
        "rows": [(str(name), list(row)) for name, row in zip(shown.index, shown.to_numpy(), strict=True)],
    }


def _page(
    scenarios: Sequence[Scenario],
    numbers: Sequence[tuple[str, str, str, str, str]],
    figures: Sequence[tuple[str, Plot]],
    outcomes: Outcomes,
    commands: Sequence[str],
    sentence: str = "",
    notes: Sequence[str] = (),
    parts: Sequence[Mapping[str, Any]] = (),
) -> str:
    return page(
        "estimate.html",
        title=scenarios[0].name,
        description=scenarios[0].description,
        sentence=sentence,
        notes=notes,
        numbers=numbers,
        figures=[
            {"name": f"figure-{k}", "caption": caption, "plot": figure}
            for k, (caption, figure) in enumerate(figures)
        ],
        parts=parts,
        most_rows=MOST_ROWS,
        outcomes=outcomes,
        settings=[setting(scenario, None) for scenario in scenarios],
        provenance={
            "model version": model_version(),
            "seed": str(scenarios[0].seed),
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
            "command": "; ".join(commands),
        },
    )


def _caption(found: Estimate, name: str) -> str:
    n = int(found.table["n"][name])
    words = BY_NAME[name].words
    return f"{words[:1].upper()}{words[1:]} of {scales.count(n)} replications; mean with 95 % interval"


def histogram(found: Estimate, name: str) -> Plot:
    """Return the figure of how the replications scatter: a histogram, the mean and its 95 % interval."""
    mean = values.row(found.table, name)
    seen = found.outcomes.frame[name].to_numpy(np.float64)
    seen = seen[np.isfinite(seen)]
    scale = scales.scale([mean.mean], values.unit_of(name))
    counts, edges = np.histogram(seen / scale.factor, bins=min(MOST_BINS, max(1, int(2 * len(seen) ** 0.5))))
    middles = (edges[:-1] + edges[1:]) / 2
    bars = {
        "type": "bar", "x": [finite(x) for x in middles], "y": counts.tolist(), "name": "replications",
        "width": float(edges[1] - edges[0]), "marker": {"color": COLOURS[0], "opacity": 0.6},
    }  # fmt: skip
    at, low, high = (finite(value / scale.factor) for value in (mean.mean, mean.ci_low, mean.ci_high))
    marker: dict[str, Any] = {
        "x": [at], "y": [0], "mode": "markers", "name": "mean", "marker": {"color": COLOURS[1], "size": 10},
        "cliponaxis": False,
    }  # fmt: skip
    if at is not None and low is not None and high is not None:
        marker |= interval([low], [high])
        marker["error_x"] = {
            "type": "data", "symmetric": False, "array": [high - at], "arrayminus": [at - low],
            "thickness": 3, "width": 6,
        }  # fmt: skip
    return plot([bars, marker], x=scale.label(BY_NAME[name].words), y="replications", bargap=0)
