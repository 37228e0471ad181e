"""Replications of one scenario and of its cheap fidelities, each simulated once."""

import time

import numpy as np

from netcarlo.estimation.sample import Aim, Sample, Step
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import MAX_REPLICATIONS, StoppingRule
from netcarlo.scenario import Scenario
from netcarlo.simulation.outcomes import Outcomes, joined, values_of
from netcarlo.simulation.progress import Report
from netcarlo.simulation.simulate import simulate


class Replications(Sample):
    """Sample of a scenario that simulates on demand: `while step := r.wanted(aim): r.extend(step)`."""

    def __init__(
        self, scenario: Scenario, *, target: str = "auto", threads: int | None = None, large: bool = False
    ) -> None:
        """Create an empty sample; `target`, `threads` and `large` are passed to `simulate`."""
        super().__init__(scenario.fidelity)
        self.scenario = scenario
        self.seconds: dict[str, float] = {}
        """Time spent on each fidelity [s], without `compile`."""
        self._parts: dict[str, list[Outcomes]] = {}
        self._target, self._threads, self._large = target, threads, large

    def aim(self, of: str, control: str | None = None, *, most: int = MAX_REPLICATIONS) -> Aim:
        """Return the aim of the scenario: its precision, or its number of replications.

        With a precision there are at most `most` replications.
        """
        precision, n = self.scenario.precision, self.scenario.replications
        rule = StoppingRule.fixed(n) if precision is None else StoppingRule(precision, most=most)
        return Aim(of, rule, control)

    def done(self, fidelity: str | None = None) -> int:
        """Return the number of replications of a fidelity (default: that of the scenario)."""
        return sum(len(part.frame) for part in self._parts.get(fidelity or self.fidelity, ()))

    def values(self, of: str, fidelity: str | None = None) -> Floats:
        """Return an outcome of the replications of a fidelity, [n]; NaN if the fidelity does not have it."""
        parts = self._parts.get(fidelity or self.fidelity, ())
        return np.concatenate([np.zeros(0), *(values_of(part.frame, of) for part in parts)])

    def outcomes(self) -> Outcomes:
        """Return all outcomes of the replications of the scenario; there must be at least one."""
        return joined(self._parts[self.fidelity])

    def at(self, fidelity: str) -> Scenario:
        """Return the scenario with another fidelity."""
        if fidelity == self.fidelity:
            return self.scenario
        return self.scenario.model_copy(update={"fidelity": fidelity})

    def compile(self, *fidelities: str) -> None:
        """Compile the models of some fidelities, so that `seconds` does not include compilation."""
        for fidelity in fidelities:
            simulate(self.at(fidelity), replications=1, target=self._target, large=self._large)

    def extend(self, step: Step, *, progress: Report | None = None) -> None:
        """Simulate the replications of a step; if `progress` raises, the step is discarded."""
        first, started = self.done(step.fidelity), time.perf_counter()
        if step.until <= first:
            return

        def report(done: int, _: int) -> None:
            if progress:
                progress(first + done, step.until)

        part = simulate(
            self.at(step.fidelity), first=first, replications=step.until - first, target=self._target,
            threads=self._threads, progress=report, large=self._large,
        )  # fmt: skip
        spent = time.perf_counter() - started
        self.seconds[step.fidelity] = self.seconds.get(step.fidelity, 0.0) + spent
        self._parts.setdefault(step.fidelity, []).append(part)
