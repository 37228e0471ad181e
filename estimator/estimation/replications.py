"""Replications of one scenario and of its cheap fidelities, each simulated once."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd

from netcarlo.estimation.control_variates import INPUTS, controlled
from netcarlo.estimation.sample import Aim, Sample, Step
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import MAX_REPLICATIONS, StoppingRule
from netcarlo.scenario import Scenario
from netcarlo.schema.draws import Draws, written_name
from netcarlo.simulation import fidelity as fidelities
from netcarlo.simulation import measurable
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import Outcomes, joined, listed, values_of
from netcarlo.simulation.progress import Report
from netcarlo.simulation.simulate import simulate

FIRST_DRAWS = {"formula": 32, "fluid": 8}
"""Number of draws of each cheap fidelity for the preview, if the scenario has random fields; otherwise 1."""

LEGENDRE: tuple[Callable[[Floats], Floats], ...] = (lambda u: 2 * u - 1, lambda u: 6 * u * u - 6 * u + 1)
"""Legendre polynomials over [0, 1], whose mean is 0."""

LATE = 256
"""Number of replications after which a fluid may become a control variate without being named."""

LEAST_EXPLAINED = 0.8
"""Minimum squared correlation with a fluid that was not named. Packet runs then fall to a third or less,
which pays for 8 draws of the fluid each."""

AUTO, NONE = "auto", "none"
"""Values of `control` besides the cheap fidelities: netcarlo chooses, and no control variates."""


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
        self._inputs = np.zeros((0, 0))
        self._target, self._threads, self._large = target, threads, large

    def aim(self, of: str, control: str = NONE, *, most: int = MAX_REPLICATIONS) -> Aim:
        """Return the aim of the scenario: its precision, or its number of replications.

        With a precision there are at most `most` replications.
        """
        precision, n = self.scenario.precision, self.scenario.replications
        rule = StoppingRule.fixed(n) if precision is None else StoppingRule(precision, most=most)
        if control == AUTO:
            return Aim(of, rule, self.controls(of))
        return Aim(of, rule, () if control == NONE else (control,))

    def controls(self, of: str) -> tuple[str, ...]:
        """Return the control variates that netcarlo chooses for an outcome: the formula and the drawn
        quantities.

        A fluid has to be compiled, so it is chosen late (`complete`).
        """
        if not self.random:
            return ()
        return (*(["formula"] if self.knows("formula", of) else []), INPUTS)

    def complete(self, aim: Aim, control: str = NONE, *, progress: Report | None = None) -> Aim:
        """Simulate what an aim with `control` needs. Return the aim, to which a fluid may have been added.

        A fluid is added to the controls that netcarlo chooses if `LATE` replications are too few, there is no
        formula, and the fluid explains `LEAST_EXPLAINED` of the variance.
        """
        if control == AUTO and self._may_add_fluid(aim):
            early = aim.at_most(LATE)
            self._complete(early, progress)
            if self.precise(early):
                return early
            if self._explains("fluid", aim.of):
                aim = replace(aim, rule=replace(aim.rule, first=LATE), controls=(*aim.controls, "fluid"))
        self._complete(aim, progress)
        return aim

    def _complete(self, aim: Aim, progress: Report | None) -> None:
        if aim.fast:
            self.compile(self.fidelity, *aim.fast)
        while step := self.wanted(aim):
            self.extend(step, progress=progress if step.fidelity == self.fidelity else None)

    def _may_add_fluid(self, aim: Aim) -> bool:
        precision = aim.rule.relative > 0 and aim.rule.most > LATE
        return precision and aim.controls == (INPUTS,) and self.knows("fluid", aim.of)

    def _explains(self, kind: str, of: str) -> bool:
        """Return True if a cheap fidelity explains enough of the variance of `LATE` replications."""
        self.compile(kind)
        self.extend(Step(kind, LATE))
        found = controlled(self.values(of)[:LATE], self.values(of, kind)[:LATE])
        return found is not None and found.correlation**2 >= LEAST_EXPLAINED

    @cached_property
    def random(self) -> bool:
        """True if the network is random, so that a cheap model can serve as control variate."""
        drawn = build(self.scenario, replications=1).drawn
        return bool(len(drawn.columns)) or self.scenario.network.random_places

    @cached_property
    def unavailable(self) -> dict[str, str]:
        """Reason why each cheap fidelity cannot be used; empty if it can."""
        if self.scenario.fidelity != "packet":
            return dict.fromkeys(fidelities.CHEAP, f"the scenario has fidelity {self.scenario.fidelity}")
        return {kind: self.scenario.network.unknown(self.scenario, kind) for kind in fidelities.CHEAP}

    @cached_property
    def _of_fluid(self) -> tuple[str, ...]:
        return measurable.outcomes(self.at("fluid"))

    def knows(self, kind: str, of: str) -> bool:
        """Return True if a cheap fidelity has an outcome."""
        if self.unavailable[kind]:
            return False
        if kind == "fluid":
            return of in self._of_fluid
        self.extend(Step(kind, self.draws(kind)))
        return bool(np.isfinite(self.values(of, kind)).any())

    def draws(self, kind: str) -> int:
        """Return the number of draws of a cheap fidelity for the preview."""
        return FIRST_DRAWS[kind] if self.random else 1

    def inputs(self, n: int) -> Floats:
        """Return controls of mean 0 from the drawn quantities of the first `n` replications, [n, controls].

        They are the first two Legendre polynomials of the random number that a quantity is drawn from, added
        up over the quantities that have one written distribution.
        """
        if len(self._inputs) < n:
            self._inputs = np.stack([*self._scores(n), np.zeros(n)], axis=1)[:, :-1]
        return self._inputs[:n]

    def _scores(self, n: int) -> Iterator[Floats]:
        """Yield the controls of `inputs`: the linear ones, then the quadratic ones."""
        parts = next(parts for parts in self._parts.values() if sum(len(part.frame) for part in parts) >= n)
        frame = pd.concat([part.frame for part in parts])[:n]
        outcomes = {*listed(frame)}
        groups: dict[str, list[str]] = {}
        for name in frame:
            if name not in outcomes:
                groups.setdefault(written_name(str(name)), []).append(str(name))
        draws = Draws(self.scenario.seed, np.arange(n), np.full(n, self.scenario.topology))
        for polynomial in LEGENDRE:
            for names in groups.values():
                there = frame[names].notna().to_numpy()
                scores = [polynomial(draws.uniform(name)) for name in names]
                yield (np.stack(scores, axis=1) * there).sum(axis=1) / np.sqrt(
                    np.maximum(there.sum(axis=1), 1)
                )

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
