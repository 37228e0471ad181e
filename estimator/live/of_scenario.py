"""A page about a scenario: its outcome at any place of the sliders, alone or beside a second variant."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from netcarlo.estimation.estimate import estimate
from netcarlo.live import along, words
from netcarlo.live.address import State, read
from netcarlo.live.controls import Control, controls
from netcarlo.live.desk import Desk
from netcarlo.live.known import Known, Sharpening
from netcarlo.live.runs import Runs
from netcarlo.live.subject import Check, Drawn, File, Numbers, Subject
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
"""Scenarios of states that are kept."""
REPORT_S = 5.0
"""Seconds that the curve of a report may take."""


class OfScenario(Subject):
    """A scenario file and what moves in it."""

    captions = ("Along ", "How the interval shrinks as packets are simulated; dotted: the cheap model")

    def __init__(self, document: Document, values: Mapping[str, Any], desk: Desk) -> None:
        """`values` are fields that are set for the whole page, as by `--set`.  Raises InputError."""
        self.document, self.set, self.desk, self.known = document, dict(values), desk, Known()
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
        first = self.known.runs(self.base)  # what a visitor will ask first
        self.known.guess(first, self.of)
        desk.look_at("nobody", [Sharpening(self.known, first, self.of)])

    def state(self, query: str) -> tuple[State, str]:
        """The state of an address and what is refused of it, see `address.read`."""
        return read(query, self.controls, of=self.of)

    def scenario(
        self, state: State, *, variant: bool = False, moved: Mapping[str, int] | None = None
    ) -> Scenario:
        """The scenario of a state.  Raises InputError."""
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

    def _runs(self, state: State) -> list[Runs]:
        """The replications of each variant.  Raises InputError."""
        return [self.known.runs(self.scenario(state, variant=variant)) for variant in state.variants]

    def _jobs(self, state: State) -> list[Sharpening]:
        return [Sharpening(self.known, runs, state.of) for runs in self._runs(state)]

    def numbers(self, state: State, visitor: str) -> Numbers:
        """The outcome of each variant now, and their difference.  Raises InputError."""
        jobs = self._jobs(state)
        self.desk.look_at(visitor, jobs)
        every = [job.runs for job in jobs]
        guesses = [self.known.guess(runs, state.of) for runs in every]
        for runs in every:
            if state.of not in measurable.EVERYWHERE and state.of not in runs.measured:
                measurable.refuse(state.of, runs.scenario, runs.measured)
        rest = all(runs.step(state.of) is None for runs in every)  # before they are looked at
        looks = [runs.look(state.of) or guess for runs, guess in zip(every, guesses, strict=True)]
        items = [
            words.item(name, runs, look, state.of, self.desk.doing)
            for name, runs, look in zip(words.names(state), every, looks, strict=True)
        ]
        if len(every) > 1:
            items.append(words.difference(every, looks, state.of))
        commands = [
            self._command(state, runs, variant) for runs, variant in zip(every, state.variants, strict=True)
        ]
        return Numbers(items, commands, rest)

    def _command(self, state: State, runs: Runs, variant: bool) -> str:
        """The command that says the same at rest."""
        said = ["netcarlo", "estimate", Path(self.document.source).name]
        for name, value in self._values(state, variant).items():
            said += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        control = runs.control(state.of)
        if control:
            said += ["--control", control]
        if control or runs.scenario.precision is not None:  # the outcome decides how much is simulated
            said += ["--of", state.of]
        return shlex.join(said)

    def drawn(self, state: State, *, budget_s: float) -> Drawn:
        """The outcome along a slider, how its interval shrinks, and all outcomes of the first variant."""
        every = self._runs(state)
        figure, complete = along.along(self, state, budget_s=budget_s)
        plots = [figure, along.settling(self.known, every, state.of)]
        rest = complete and all(runs.step(state.of) is None for runs in every)
        return Drawn(plots, HEAD, _table(every[0], state.of), rest)

    # What can be taken.

    def _yaml(self, state: State, check: Check) -> str:
        self.scenario(state)
        return files.yaml_text(with_values(self.document.data, self._values(state)))

    def _csv(self, state: State, check: Check) -> str:
        tables = []
        for runs, variant in zip(self._runs(state), state.variants, strict=True):
            control = runs.control(state.of)
            found = estimate(runs.scenario, control=control, of=state.of, progress=check).to_frame()
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
        self.desk.rest(self._jobs(state), check)
        numbers, drawn = self.numbers(state, "report"), self.drawn(state, budget_s=REPORT_S)
        scenarios = [self.scenario(state, variant=variant) for variant in state.variants]
        label = state.control(state.against).label
        return estimate_page(scenarios, numbers.items, drawn.plots, drawn.table, numbers.commands, label)


def _table(runs: Runs, of: str) -> list[tuple[str, str, str, str]]:
    """All outcomes by packets, as in the table of `estimate`."""
    if not runs.done():
        return []
    rows = []
    for name, mean in runs.means(runs.now(of), runs.measured).items():
        if mean.n:
            scale = scales.scale([mean.mean], words.unit(name))
            text = f"{words.number(mean, scale)} {scale.unit}".rstrip()
            rows.append((BY_NAME[name].words, text, words.interval(mean, scale), BY_NAME[name].meaning))
    return rows
