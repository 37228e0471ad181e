"""Replications of one scenario on a page, and the estimates that are computed from them.

The final estimate is the output of `netcarlo estimate` to the last digit, with `--control` if a cheap model
reduces the variance. An earlier estimate is the output with `--replications` N, for the N replications so
far.
"""

import itertools
from collections import defaultdict
from functools import cached_property
from threading import Lock
from typing import NamedTuple

from netcarlo.estimation.replications import NONE, Replications
from netcarlo.estimation.sample import Aim, Step
from netcarlo.numerics.statistics import Mean
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.outcomes import BY_NAME
from netcarlo.simulation.progress import Report

_NUMBERS = itertools.count()
"""Identifiers of replications. Python may reuse an `id`."""


class Snapshot(NamedTuple):
    """Estimate of an outcome at some time."""

    by: str
    """Fidelity of the model: formula, fluid or packet."""
    mean: Mean
    """Mean of the outcome with its confidence interval."""
    of: int
    """Number of replications of the final estimate, as far as it can be predicted."""
    final: bool
    """True if the estimate is final."""
    draws: int = 0
    """Number of draws of the control variate."""


class LiveReplications(Replications):
    """Replications of a scenario and of its cheap models; several threads may read and extend them."""

    def __init__(self, scenario: Scenario) -> None:
        """Create without simulating; `extend` simulates."""
        super().__init__(scenario)
        self.history: dict[str, list[Mean]] = {}
        """Means by packet simulation after each batch, by outcome."""
        self.cheapest: dict[str, str | None] = {}
        """Cheapest fidelity that has an outcome, by outcome; None if only packets have it."""
        self.per_s = 0.0
        """Speed of packet simulation in the last batch [replications/s]."""
        self.bytes = 0
        """Memory of the replications [bytes]."""
        self.number = next(_NUMBERS)
        """Identifier, unique in this process."""
        self._locks: dict[str, Lock] = defaultdict(Lock)

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """Names of the outcomes of the scenario. Raises InputError."""
        return measurable.outcomes(self.scenario)

    def control(self, of: str) -> str | None:
        """Return the cheap fidelity to use as control variate, as in `--control`; None if there is none."""
        return self.cheapest_fidelity(of) if self.random else None

    def cheapest_fidelity(self, of: str) -> str | None:
        """Return the cheapest fidelity that has an outcome; None if only packets have it."""
        if of not in self.cheapest:
            self.cheapest[of] = next((kind for kind in ("formula", "fluid") if self.knows(kind, of)), None)
        return self.cheapest[of]

    def extend(self, step: Step, *, progress: Report | None = None) -> None:
        """Simulate the replications of a step that are missing; discard them if `progress` raises."""
        with self._locks[step.fidelity]:
            before = len(self._parts.get(step.fidelity, ()))
            super().extend(step, progress=progress)
            for part in self._parts.get(step.fidelity, [])[before:]:
                self.bytes += part.integers.nbytes + int(part.frame.memory_usage().sum())

    def final_aim(self, of: str) -> Aim:
        """Return the aim of the final estimate."""
        return self.aim(of, self.control(of) or NONE)

    def current_aim(self, of: str) -> Aim:
        """Return the aim of the current estimate: the final one, or the one for the replications so far."""
        aim = self.final_aim(of)
        return aim if self.wanted(aim) is None else aim.at_most(self.done())

    def missing_step(self, of: str) -> Step | None:
        """Return the next step that the final estimate needs; None if it needs none."""
        return self.wanted(self.final_aim(of))

    def preview(self, of: str) -> Snapshot | None:
        """Return the answer of the cheapest model, computed if needed; None if no cheap model has the
        outcome."""
        kind = self.cheapest_fidelity(of)
        if kind is None:
            return None
        draws = self.draws(kind)
        self.extend(Step(kind, draws))
        return Snapshot(kind, BY_NAME[of].means(self.values(of, kind)[:draws][None]).row(0), draws, True)

    def snapshot(self, of: str) -> Snapshot | None:
        """Return the estimate by the packet replications so far; None before the first."""
        step, done, now = self.missing_step(of), self.done(), self.current_aim(of)
        if not done:
            return None
        until = step.until if step is not None and step.fidelity == self.fidelity else 0
        _, draws = self.used(now)
        return Snapshot(self.fidelity, self.mean(now), max(until, done), step is None, draws)

    def remember(self, of: str) -> None:
        """Append the current estimate to the history of an outcome."""
        found, past = self.snapshot(of), self.history.setdefault(of, [])
        if found is not None:
            if past and past[-1].n == found.mean.n:
                past.pop()
            past.append(found.mean)
