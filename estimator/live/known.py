"""The scenarios that somebody has looked at, with their replications; visitors share them."""

import time
from collections.abc import Callable

from netcarlo.kernels.runtime.compile import cpu_loop
from netcarlo.live.kept import Kept
from netcarlo.live.runs import Look, Runs
from netcarlo.scenario import Scenario
from netcarlo.simulation import launches
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
        return launches.model_of(runs.scenario.model_copy(update={"fidelity": kind}))

    def extend(self, runs: Runs, kind: str, until: int, check: Callable[..., object]) -> None:
        """More replications by a fidelity, whose model is compiled if need be."""
        if kind == "packet":
            kind = runs.scenario.fidelity
        if kind != "formula":
            cpu_loop(model := self._model(runs, kind))
            self._ready.add(model)
        runs.extend("packet" if kind == runs.scenario.fidelity else kind, until, progress=check)


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
        return None if self._next() is None else self.runs.done("packet")

    def _next(self) -> tuple[str, int] | None:
        """What to simulate: a fidelity, and until which replication."""
        runs, of = self.runs, self.of
        first = runs.first(of)
        if first is not None and not runs.done(first):
            return first, runs.draws(first)
        step = runs.step(of)
        if step is None:
            return None
        if step.cheap:
            return str(runs.control(of)), step.until
        if (useful := runs.useful(of)) > runs.done(str(runs.control(of))):
            return str(runs.control(of)), useful
        done = runs.done("packet")
        more = max(FIRST, min(done, round(BATCH_S * runs.per_s)))
        return "packet", min(step.until, done + more)

    def work(self, check: Callable[..., object]) -> None:
        """One batch."""
        if (found := self._next()) is None:
            return
        kind, until = found
        done, started = self.runs.done(kind), time.perf_counter()
        self.known.extend(self.runs, kind, until, check)
        if kind == "packet" and done:  # the first batch may have waited for a compiler
            self.runs.per_s = (self.runs.done(kind) - done) / max(time.perf_counter() - started, 1e-4)
        self.runs.remember(self.of)
