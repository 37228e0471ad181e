"""Replications of the scenarios that visitors have looked at. All visitors share them."""

import time

from netcarlo.estimation.sample import Step
from netcarlo.kernels.runtime.compile import cpu_loop
from netcarlo.live.lru import LruCache
from netcarlo.live.replications import LiveReplications, Snapshot
from netcarlo.scenario import Scenario
from netcarlo.simulation import launches
from netcarlo.simulation.progress import Report
from netcarlo.sweeps.space.identity import key

FIRST = 16
"""Number of replications in the first batch."""
BATCH_S = 0.2
"""Approximate duration of a batch [s]. The page is updated after each."""


class ReplicationCache:
    """Replications by scenario, and the models that are already compiled."""

    def __init__(self) -> None:
        self._runs: LruCache[LiveReplications] = LruCache(lambda runs: runs.bytes)
        self._ready: set[object] = set()

    def runs(self, scenario: Scenario) -> LiveReplications:
        """Return the replications of a scenario, which are created if needed."""
        return self._runs.get_or_make(key(scenario), lambda: LiveReplications(scenario))

    def cached(self, scenario: Scenario) -> LiveReplications | None:
        """Return the replications of a scenario that a visitor has looked at, else None."""
        return self._runs.get(key(scenario))

    def preview(self, runs: LiveReplications, of: str) -> Snapshot | None:
        """Return the answer of the cheapest model; None if no model has one or it is not compiled yet."""
        kind = runs.cheapest_fidelity(of)
        return (
            runs.preview(of)
            if kind == "formula" or (kind and self._model(runs, kind) in self._ready)
            else None
        )

    def _model(self, runs: LiveReplications, kind: str) -> object:
        return launches.model_of(runs.at(kind))

    def extend(self, runs: LiveReplications, step: Step, check: Report) -> None:
        """Simulate the replications of a step; compile its model first if needed."""
        if step.fidelity != "formula":
            cpu_loop(model := self._model(runs, step.fidelity))
            self._ready.add(model)
        runs.extend(step, progress=check)


class Refinement:
    """Job of the scheduler that narrows the confidence interval of an outcome by packet simulation."""

    def __init__(self, cache: ReplicationCache, runs: LiveReplications, of: str) -> None:
        self.cache, self.runs, self.of = cache, runs, of

    @property
    def work_id(self) -> int:
        """Number of the replications that the job extends."""
        return self.runs.number

    def work_done(self) -> int | None:
        """Return the number of packet replications so far, or None if the estimate is final."""
        return None if self._next() is None else self.runs.done()

    def _next(self) -> Step | None:
        """Return the next batch: the part of the next step of `estimate` that fits into a batch."""
        runs, aim = self.runs, self.runs.final_aim(self.of)
        first = runs.cheapest_fidelity(self.of)
        if first is not None and not runs.done(first):
            return Step(first, runs.draws(first))
        step, done = runs.wanted(aim), runs.done()
        if step is None or step.fidelity != runs.fidelity:
            return step
        if (
            draws := runs.wanted(aim.at_most(done))
        ) is not None:  # the control variate of the replications so far
            return draws
        more = max(FIRST, min(done, round(BATCH_S * runs.per_s)))
        return step._replace(until=min(step.until, done + more))

    def work(self, check: Report) -> None:
        """Simulate one batch."""
        if (step := self._next()) is None:
            return
        done, started = self.runs.done(step.fidelity), time.perf_counter()
        self.cache.extend(self.runs, step, check)
        if step.fidelity == self.runs.fidelity and done:  # the first batch may have waited for a compiler
            spent = max(time.perf_counter() - started, 1e-4)
            self.runs.per_s = (self.runs.done() - done) / spent
        self.runs.remember(self.of)
