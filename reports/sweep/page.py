"""The report of a sweep: what its template shows, put together from the table of a store."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from netcarlo.reports.page import page
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.figures import Plot
from netcarlo.reports.sweep import answers as sweep_answers
from netcarlo.reports.sweep.axes import lines
from netcarlo.reports.sweep.exceedance import exceedance
from netcarlo.reports.sweep.features import by_feature
from netcarlo.reports.sweep.maps import maps
from netcarlo.reports.sweep.networks import networks
from netcarlo.reports.sweep.parallel import parallel
from netcarlo.reports.sweep.results import DONE, Results
from netcarlo.reports.sweep.sensitivity import bars
from netcarlo.reports.sweep.shares import shares
from netcarlo.reports.sweep.wins import judged
from netcarlo.simulation.outcomes import MEANING
from netcarlo.sweeps.space.designs import grouped

MOST_FAILED = 50
MOST_VALUES = 8


def sweep_page(
    manifest: Mapping[str, Any],
    frame: pd.DataFrame,
    *,
    store: str,
    replications: pd.DataFrame | None = None,
    cheap: pd.DataFrame | None = None,
    runs: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The HTML of the report of a store.

    `manifest` and `frame` (a row per cell that was reached) are the store's, see docs/sweeps.md; `store` is
    its name in the commands that the page shows; `replications` has a row per replication, if kept; `cheap`
    what cheap models say of cells, with `fidelity: auto`; `runs` are the records of runs.
    """
    results = Results(manifest, frame, cheap)
    sweep = results.sweep
    quoted = shlex.quote(store)
    command = f"netcarlo rerun {quoted}"
    shown = Sections(results, command, replications) if len(results.ok) else None
    return page(
        "sweep.html",
        title=sweep["name"],
        plots=shown is not None,
        sweep=sweep,
        results=results,
        quoted=quoted,
        command=command,
        verdict={**(said := sweep_answers.verdict(results)), "text": _sentences(said["cost"], said["text"])},
        tiles=sweep_answers.tiles(results),
        screened=results.screened and results.screened.facts(runs),
        asked=_axes(results),
        inputs=_inputs(results),
        meanings={scales.name_of(o): MEANING.get(o, "") for o in sweep["outcomes"]},
        shown=shown,
        outside=(manifest.get("outside_validated_range") or {}).get("text", ""),
        failed=_failed(results, command),
        provenance=_provenance(manifest, store),
        source=manifest.get("source", ""),
    )


class Sections:
    """The tables and figures of a sweep of which at least one cell has a result."""

    def __init__(self, results: Results, command: str, replications: pd.DataFrame | None) -> None:
        self.means = sweep_answers.means(results)
        self.winners = sweep_answers.winners(results)
        self.lines: list[dict[str, Any]] = []
        for i, axis in enumerate(results.axes):
            if len(axis.values) > 1:
                caption = f"Along {axis.title}"
                plot = lines(results, axis, command)
                self.lines.append({"name": f"line-{i}", "caption": caption, "plot": plot})
                if len(results.labels) > 1:
                    caption += f": gain over {results.labels[0]}, with the same random numbers on both sides"
                    plot = lines(results, axis, command, gains=True)
                    self.lines.append({"name": f"line-gain-{i}", "caption": caption, "plot": plot})
        self.shares = shares(results)
        self.maps = maps(results, command)
        self.exceedance = exceedance(results, replications, command)
        self.done = bool(DONE & set(results.outcomes))
        self.sampled = "networks" if results.drawn else "cells" if replications is None else "replications"
        self.networks: Plot | None = None
        self.by_feature: Plot | None = None
        self.parallel: Plot | None = None
        self.bars = bars(results) if results.drawn else None
        if results.drawn:
            self.networks = networks(results, command)
            self.parallel = parallel(results, command)
            if judged(results):
                self.by_feature = by_feature(results)
        # The figure of the first outcome, directly below the headline.
        self.first = self.lines.pop(0) if self.lines else None


def _sentences(*texts: str) -> str:
    return " ".join(filter(None, texts))


def _axes(results: Results) -> list[dict[str, Any]]:
    axes = [*results.axes, *([results.compared] if results.compared else [])]
    return [
        {
            "title": axis.title,
            "name": axis.name if axis.name != axis.title else "",
            "count": len(axis.values),
            "some": _some(axis.texts),
            "kind": "compared" if axis is results.compared else "logarithmic" if axis.log else "",
        }
        for axis in axes
    ]


def _some(texts: tuple[str, ...]) -> str:
    if len(texts) <= MOST_VALUES:
        return ", ".join(texts)
    return ", ".join([*texts[:3], "…", *texts[-2:]])


def _inputs(results: Results) -> list[dict[str, str]]:
    names, groups = grouped(results.sweep["inputs"])
    return [
        {
            "title": scales.name_of(name),
            "name": name,
            "from": scales.distribution(results.base, name),
            "fields": f"{groups.count(k)} numbers" if groups.count(k) > 1 else "",
        }
        for k, name in enumerate(names)
    ]


def _failed(results: Results, command: str) -> list[dict[str, str]]:
    return [
        {"key": row["key"], "error": row["error"], "command": f"{command} {row['key']}"}
        for _, row in results.failed.head(MOST_FAILED).iterrows()
    ]


def _provenance(manifest: Mapping[str, Any], store: str) -> dict[str, str]:
    sweep = manifest["sweep"]
    return {
        "sweep": sweep["digest"],
        "model version": sweep["model_version"],
        "seed": f"{sweep['seed']}; {manifest['seed_scheme']}",
        "versions": ", ".join(f"{name} {version}" for name, version in manifest["versions"].items()),
        "created": manifest.get("created", ""),
        "store": store,
        "command": f"netcarlo sweep FILE --out {shlex.quote(store)}",
    }
