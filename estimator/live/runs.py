"""Replications of one scenario that visitors look at, and what they say of an outcome.

A page that rests shows what `netcarlo estimate` says, to the last digit: with `--control` where a cheap model
sharpens it.  Before that it shows what `--replications` of those that there are would say.
"""

import itertools
from collections import defaultdict
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np

from netcarlo.estimation.replications import Replications
from netcarlo.estimation.sample import Aim, Step
from netcarlo.numerics.statistics import Mean
from netcarlo.scenario import Scenario
from netcarlo.simulation import fidelity, measurable
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import BY_NAME
from netcarlo.simulation.progress import Report

FIRST_DRAWS = {"formula": 32, "fluid": 8}
"""Cheap draws of the first answer, where networks are drawn; else it is one."""

_NUMBERS = itertools.count()
"""Numbers of runs. An `id` is not unique, because Python uses it again."""


class Look(NamedTuple):
    """What is known of an outcome at a time."""

    by: str
    """What answered: formula, fluid or packet."""
    mean: Mean
    of: int
    """Replications at rest, as far as is known."""
    rest: bool
    draws: int = 0
    """Draws of the control that sharpens the mean."""


class Runs(Replications):
    """Replications of a scenario and of its cheap models, which several threads read and extend."""

    def __init__(self, scenario: Scenario) -> None:
        """Nothing is simulated yet."""
        super().__init__(scenario)
        self.history: dict[str, list[Mean]] = {}
        """Means of outcomes by packets, as they came."""
        self.firsts: dict[str, str | None] = {}
        """The cheapest fidelity that knows an outcome, of those that were asked for."""
        self.per_s = 0.0
        """Replications by packets per second, in the last batch."""
        self.bytes = 0
        """Memory of the replications."""
        self.number = next(_NUMBERS)
        """Number of these runs, unique in this process."""
        self._locks: dict[str, Lock] = defaultdict(Lock)

    @cached_property
    def random(self) -> bool:
        """Whether networks are drawn, so that a cheap model of each says something."""
        drawn = build(self.scenario, replications=1).drawn
        return bool(len(drawn.columns)) or self.scenario.network.random_places

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """The outcomes that there are.  Raises InputError."""
        return measurable.outcomes(self.scenario)

    @cached_property
    def refused(self) -> dict[str, str]:
        """Why cheap fidelities do not know the scenario; empty where they do."""
        if self.scenario.fidelity != "packet":
            return dict.fromkeys(fidelity.CHEAP, "it is cheap itself")
        return {kind: self.scenario.network.unknown(self.scenario, kind) for kind in fidelity.CHEAP}

    @cached_property
    def _of_fluid(self) -> tuple[str, ...]:
        return measurable.outcomes(self.at("fluid"))

    def knows(self, kind: str, of: str) -> bool:
        """Whether a cheap fidelity has an outcome."""
        if self.refused[kind]:
            return False
        if kind == "fluid":
            return of in self._of_fluid
        self.extend(Step(kind, self.draws(kind)))
        return bool(np.isfinite(self.values(of, kind)).any())

    def draws(self, kind: str) -> int:
        """How many cheap draws the first answer takes."""
        return FIRST_DRAWS[kind] if self.random else 1

    def control(self, of: str) -> str | None:
        """The cheap fidelity that sharpens an outcome, as `--control` names it."""
        return self.first(of) if self.random else None

    def first(self, of: str) -> str | None:
        """The cheapest fidelity that knows an outcome."""
        if of not in self.firsts:
            self.firsts[of] = next((kind for kind in ("formula", "fluid") if self.knows(kind, of)), None)
        return self.firsts[of]

    def extend(self, step: Step, *, progress: Report | None = None) -> None:
        """Simulate what a step lacks; if `progress` raises, the step is left out."""
        with self._locks[step.fidelity]:
            before = len(self._parts.get(step.fidelity, ()))
            super().extend(step, progress=progress)
            for part in self._parts.get(step.fidelity, [])[before:]:
                self.bytes += part.integers.nbytes + int(part.frame.memory_usage().sum())

    def resting(self, of: str) -> Aim:
        """Return the estimate at rest."""
        return self.aim(of, self.control(of))

    def now(self, of: str) -> Aim:
        """Return the estimate that is shown: the one at rest or, before, that of the replications so far."""
        aim = self.resting(of)
        return aim if self.wanted(aim) is None else aim.at_most(self.done())

    def step(self, of: str) -> Step | None:
        """Return what the estimate at rest lacks; None if nothing."""
        return self.wanted(self.resting(of))

    def guess(self, of: str) -> Look | None:
        """The cheap answer, which is computed if need be; None where no cheap model knows the outcome."""
        kind = self.first(of)
        if kind is None:
            return None
        draws = self.draws(kind)
        self.extend(Step(kind, draws))
        return Look(kind, BY_NAME[of].means(self.values(of, kind)[:draws][None]).row(0), draws, True)

    def look(self, of: str) -> Look | None:
        """The answer of the packets, as far as there are; None before the first."""
        step, done, now = self.step(of), self.done(), self.now(of)
        if not done:
            return None
        until = step.until if step is not None and step.fidelity == self.fidelity else 0
        _, draws = self.used(now)
        return Look(self.fidelity, self.mean(now), max(until, done), step is None, draws)

    def remember(self, of: str) -> None:
        """Note what is known now in the history of an outcome."""
        found, past = self.look(of), self.history.setdefault(of, [])
        if found is not None:
            if past and past[-1].n == found.mean.n:
                past.pop()
            past.append(found.mean)
