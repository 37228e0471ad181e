"""Page about a scenario: an outcome at the current values of the controls, for one variant or two."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from netcarlo.estimation.estimate import estimate
from netcarlo.estimation.replications import NONE
from netcarlo.live import curve, wording
from netcarlo.live.cache import Refinement, ReplicationCache
from netcarlo.live.controls import Control, controls
from netcarlo.live.page import Check, Details, File, Numbers, Page
from netcarlo.live.replications import LiveReplications
from netcarlo.live.scheduler import Scheduler
from netcarlo.live.url_state import State, read
from netcarlo.reports.estimate.page import estimate_page
from netcarlo.reports.parts import scales
from netcarlo.reports.trace.page import trace_page
from netcarlo.scenario import Scenario, scenario_in
from netcarlo.schema import document as files
from netcarlo.schema.document import Document
from netcarlo.schema.names import with_values
from netcarlo.schema.output import csv_text
from netcarlo.simulation import measurable
from netcarlo.simulation.interruptions import interruptions
from netcarlo.simulation.outcomes import BY_NAME
from netcarlo.simulation.trace import per_second
from netcarlo.simulation.trace import trace as traced

HEAD = ("outcome", "mean", "95 % interval", "meaning")
MOST_MADE = 2000
"""Maximum number of cached scenarios of states."""
REPORT_S = 5.0
"""Time to complete the curve of a report [s]."""


class ScenarioPage(Page):
    """Page about a scenario file, with controls for its fields."""

    captions = ("Outcome against ", "Confidence interval against replications; dotted: the cheap model")

    def __init__(self, document: Document, values: Mapping[str, Any], scheduler: Scheduler) -> None:
        """`values` has fields of the file to be replaced, as with `--set`. Raises InputError."""
        self.document, self.set, self.scheduler, self.cache = (
            document,
            dict(values),
            scheduler,
            ReplicationCache(),
        )
        self._made: dict[str, Scenario] = {}
        self.base = scenario_in(document, values=self.set)
        self.name, self.description = self.base.name, self.base.description
        self.controls: list[Control] = controls(document, self.base)
        self.outcomes = measurable.outcomes(self.base)
        finite = getattr(self.base.transport, "bytes", None) and "completion_s" in self.outcomes
        self.of = "completion_s" if finite else "goodput_bps"
        self.files = {
            "scenario.yaml": File("YAML", "application/yaml", True, self._yaml),
            "outcomes.csv": File("CSV", "text/csv", True, self._csv),
            "trace.html": File("trace of replication 0", "text/html", False, self._trace),
            "report.html": File("report", "text/html", False, self._report),
        }
        first = self.cache.runs(self.base)  # begin before the first visitor arrives
        self.cache.preview(first, self.of)
        scheduler.watch("nobody", [Refinement(self.cache, first, self.of)])

    def state(self, query: str) -> tuple[State, str]:
        """Return the state of a query and an error, see `url_state.read`."""
        return read(query, self.controls, of=self.of)

    def scenario(
        self, state: State, *, variant: bool = False, moved: Mapping[str, int] | None = None
    ) -> Scenario:
        """Return the scenario of a state; `moved` overrides positions. Raises InputError."""
        values = self._values(state, variant, moved)
        name = repr(sorted(values.items()))
        if name not in self._made:
            if len(self._made) > MOST_MADE:
                self._made.clear()
            self._made[name] = scenario_in(self.document, values=values)
        return self._made[name]

    def _values(
        self, state: State, variant: bool = False, moved: Mapping[str, int] | None = None
    ) -> dict[str, Any]:
        return {**self.set, **state.values(variant=variant, moved=moved)}

    def _runs(self, state: State) -> list[LiveReplications]:
        """Return the replications of each variant. Raises InputError."""
        return [self.cache.runs(self.scenario(state, variant=variant)) for variant in state.variants]

    def _jobs(self, state: State) -> list[Refinement]:
        return [Refinement(self.cache, runs, state.of) for runs in self._runs(state)]

    def numbers(self, state: State, visitor: str) -> Numbers:
        """Return the current estimate of each variant, and of their difference. Raises InputError."""
        jobs = self._jobs(state)
        self.scheduler.watch(visitor, jobs)
        every = [job.runs for job in jobs]
        guesses = [self.cache.preview(runs, state.of) for runs in every]
        for runs in every:
            if state.of not in measurable.EVERYWHERE and state.of not in runs.measured:
                measurable.refuse(state.of, runs.scenario, runs.measured)
        rest = all(
            runs.missing_step(state.of) is None for runs in every
        )  # read first: the other thread extends them
        looks = [runs.snapshot(state.of) or guess for runs, guess in zip(every, guesses, strict=True)]
        items = [
            wording.number_tile(name, runs, look, state.of, self.scheduler.compiling)
            for name, runs, look in zip(wording.names(state), every, looks, strict=True)
        ]
        if len(every) > 1:
            items.append(wording.difference(every, looks, state.of))
        commands = [
            self._command(state, runs, variant) for runs, variant in zip(every, state.variants, strict=True)
        ]
        return Numbers(items, commands, rest)

    def _command(self, state: State, runs: LiveReplications, variant: bool) -> str:
        """Return the command whose output is the final answer of a variant."""
        said = ["netcarlo", "estimate", Path(self.document.source).name]
        for name, value in self._values(state, variant).items():
            said += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        control = runs.control(state.of)
        if control or runs.scenario.precision is not None:
            said += ["--control", control or NONE]
        if (
            control or runs.scenario.precision is not None
        ):  # the number of replications depends on the outcome
            said += ["--of", state.of]
        return shlex.join(said)

    def details(self, state: State, *, budget_s: float) -> Details:
        """Return both figures and the table of all outcomes of the first variant."""
        every = self._runs(state)
        figure, complete = curve.outcome_curve(self, state, budget_s=budget_s)
        plots = [figure, curve.convergence(self.cache, every, state.of)]
        rest = complete and all(runs.missing_step(state.of) is None for runs in every)
        return Details(plots, HEAD, _table(every[0], state.of), rest)

    # Files that the page offers.

    def _yaml(self, state: State, check: Check) -> str:
        self.scenario(state)
        return files.yaml_text(with_values(self.document.data, self._values(state)))

    def _csv(self, state: State, check: Check) -> str:
        tables = []
        for runs, variant in zip(self._runs(state), state.variants, strict=True):
            control = runs.control(state.of)
            found = estimate(runs.scenario, control=control or NONE, of=state.of, progress=check).to_frame()
            found = found.reset_index()
            if state.variant is not None:
                found.insert(0, "variant", "what if" if variant else "this")
            tables.append(found)
        return csv_text(pd.concat(tables))

    def _trace(self, state: State, check: Check) -> str:
        scenario = self.scenario(state)
        found = traced(scenario, replication=0)
        return trace_page(
            found.frame, f"{scenario.name}, seed {scenario.seed}, replication 0", scenario=scenario,
            outcomes=found.outcomes.frame, interruptions=interruptions(scenario, replication=0),
            rates=per_second(scenario, found.frame, replication=0),
        )  # fmt: skip

    def _report(self, state: State, check: Check) -> str:
        self.scheduler.wait_until_final(self._jobs(state), check)
        numbers, drawn = self.numbers(state, "report"), self.details(state, budget_s=REPORT_S)
        scenarios = [self.scenario(state, variant=variant) for variant in state.variants]
        label = state.control(state.against).label
        return estimate_page(scenarios, numbers.items, drawn.plots, drawn.table, numbers.commands, label)


def _table(runs: LiveReplications, of: str) -> list[tuple[str, str, str, str]]:
    """Return all outcomes of packet simulation, as in the table of `estimate`."""
    if not runs.done():
        return []
    rows = []
    for name, mean in runs.means(runs.current_aim(of), runs.measured).items():
        if mean.n:
            scale = scales.scale([mean.mean], wording.unit(name))
            text = f"{wording.number(mean, scale)} {scale.unit}".rstrip()
            rows.append((BY_NAME[name].words, text, wording.interval(mean, scale), BY_NAME[name].meaning))
    return rows
