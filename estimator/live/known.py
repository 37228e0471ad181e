"""The scenarios that somebody has looked at, with their replications; visitors share them."""

import time

from netcarlo.estimation.sample import Step
from netcarlo.kernels.runtime.compile import cpu_loop
from netcarlo.live.kept import Kept
from netcarlo.live.runs import Look, Runs
from netcarlo.scenario import Scenario
from netcarlo.simulation import launches
from netcarlo.simulation.progress import Report
from netcarlo.sweeps.space.identity import key

FIRST = 16
"""Replications of the first batch."""
BATCH_S = 0.2
"""How long a batch is, about: the page is drawn anew after each."""


class Known:
    """Replications by their scenario, and which models answer at once."""

    def __init__(self) -> None:
        self._runs: Kept[Runs] = Kept(lambda runs: runs.bytes)
        self._ready: set[object] = set()

    def runs(self, scenario: Scenario) -> Runs:
        """The replications of a scenario."""
        return self._runs.made(key(scenario), lambda: Runs(scenario))

    def seen(self, scenario: Scenario) -> Runs | None:
        """The same if somebody has looked at it."""
        return self._runs.get(key(scenario))

    def guess(self, runs: Runs, of: str) -> Look | None:
        """The cheap answer; None where there is none, or its model is not compiled yet."""
        kind = runs.first(of)
        return (
            runs.guess(of) if kind == "formula" or (kind and self._model(runs, kind) in self._ready) else None
        )

    def _model(self, runs: Runs, kind: str) -> object:
        return launches.model_of(runs.at(kind))

    def extend(self, runs: Runs, step: Step, check: Report) -> None:
        """More replications by a fidelity, whose model is compiled if need be."""
        if step.fidelity != "formula":
            cpu_loop(model := self._model(runs, step.fidelity))
            self._ready.add(model)
        runs.extend(step, progress=check)


class Sharpening:
    """An outcome of a scenario, which packets sharpen: a job of the desk."""

    def __init__(self, known: Known, runs: Runs, of: str) -> None:
        self.known, self.runs, self.of = known, runs, of

    @property
    def about(self) -> int:
        """Its replications."""
        return self.runs.number

    def left(self) -> int | None:
        """The replications by packets; None at rest."""
        return None if self._next() is None else self.runs.done()

    def _next(self) -> Step | None:
        """What to simulate: of what `estimate` would take next, as much as a batch has."""
        runs, aim = self.runs, self.runs.resting(self.of)
        first = runs.first(self.of)
        if first is not None and not runs.done(first):
            return Step(first, runs.draws(first))
        step, done = runs.wanted(aim), runs.done()
        if step is None or step.fidelity != runs.fidelity:
            return step
        if (draws := runs.wanted(aim.at_most(done))) is not None:  # they sharpen what there is by now
            return draws
        more = max(FIRST, min(done, round(BATCH_S * runs.per_s)))
        return step._replace(until=min(step.until, done + more))

    def work(self, check: Report) -> None:
        """One batch."""
        if (step := self._next()) is None:
            return
        done, started = self.runs.done(step.fidelity), time.perf_counter()
        self.known.extend(self.runs, step, check)
        if step.fidelity == self.runs.fidelity and done:  # the first batch may have waited for a compiler
            spent = max(time.perf_counter() - started, 1e-4)
            self.runs.per_s = (self.runs.done() - done) / spent
        self.runs.remember(self.of)
