"""What is known of each value of a plan: replications, verdicts, and bands that hold for all values together.

With confidence 1 - a no value of the plan is called wrongly, whatever was looked at and how often: each of
the n values has its share a / n of the error, also those that are never looked at.  A value that fails is
called to hold only if a requirement that fails there passes a test at that level.  A value that holds is
called to fail if any of the R requirements fails a test, so each is tested at a / (n R).  None can be called
wrongly in both ways.  A band is wrong if either of its ends is, so all ends are at a / (2 n R), and a
verdict may come a little before the band leaves what was asked.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netcarlo.numerics.arrays import Floats
from netcarlo.planning import evidence
from netcarlo.planning.file import Plan
from netcarlo.planning.requirements import Requirement
from netcarlo.planning.runner import ReplicationRunner
from netcarlo.planning.search import FAILS, HOLDS, OPEN

FIRST = 32
"""Replications of a value before its first look."""

LATER = 1.5
"""How many times as many there are at the next one."""


@dataclass(frozen=True)
class Share:
    """How often a requirement holds at a value."""

    probability: float
    low: float
    """With the high end a band that holds with the plan's confidence at all values and times together."""
    high: float
    quantile: float
    """What its measure reaches with the probability asked for."""


@dataclass(frozen=True)
class Point:
    """What is known of a value: of each requirement, in their order."""

    value: float
    replications: int
    verdict: int
    shares: tuple[Share, ...]


class Ledger:
    """Replicates the values of a plan, named by their places in `Plan.values`; says what is known of them."""

    def __init__(self, plan: Plan, runner: ReplicationRunner) -> None:
        """Nothing is known yet."""
        self.plan, self.runner = plan, runner
        self.replications: dict[int, int] = {}
        self.verdicts: dict[int, int] = {}
        self.holds_level = plan.level
        self.fails_level = self.holds_level / len(plan.requirements)
        self.band_level = self.fails_level / 2

    def decide(self, i: int, cap: int) -> int:
        """Replicate value `i` until its verdict is known, or it has `cap` replications; the verdict."""
        while True:
            n = self.replications.get(i, 0)
            verdict = self.verdicts.get(i, OPEN)
            if verdict != OPEN or n >= cap:
                return verdict
            self.extend(i, min(cap, max(FIRST, math.ceil(LATER * n))))

    def extend(self, i: int, n: int) -> None:
        """Replicate value `i` up to `n` times, and look."""
        if n <= self.replications.get(i, 0):
            return
        successes = [r.held(values).sum() for r, values in self._measured(i, n)]
        self.replications[i] = n  # not before there are so many: a plan may be stopped while they are made
        if self.verdicts.get(i, OPEN) == OPEN:
            self.verdicts[i] = self._verdict(np.array(successes, np.float64), n)

    def points(self, places: Sequence[int]) -> list[Point]:
        """Return what is known of some values that were looked at.

        All bands are inverted together, which takes hardly longer than one of them.
        """
        if not places:
            return []
        looked = [self._measured(i, self.replications[i]) for i in places]
        held = np.array([[r.held(values).sum() for r, values in one] for one in looked], np.float64)
        trials = np.array([[self.replications[i]] for i in places], np.float64)
        low = evidence.lower(held, trials, self.band_level)
        high = evidence.upper(held, trials, self.band_level)
        points = []
        for k, i in enumerate(places):
            shares = tuple(
                Share(
                    float(held[k, r] / trials[k, 0]), float(low[k, r]), float(high[k, r]),
                    requirement.quantile(values),
                )
                for r, (requirement, values) in enumerate(looked[k])
            )  # fmt: skip
            verdict = self.verdicts.get(i, OPEN)
            points.append(Point(self.plan.values[i], self.replications[i], verdict, shares))
        return points

    def _measured(self, i: int, n: int) -> list[tuple[Requirement, Floats]]:
        value = self.plan.values[i]
        outcomes = self.runner.of(self.plan.scenario(value), n)
        return [(r, r.measured(outcomes, value)) for r in self.plan.requirements]

    def _verdict(self, successes: Floats, n: int) -> int:
        asked = np.array([requirement.probability for requirement in self.plan.requirements])
        if (evidence.above(successes, n, asked) >= -math.log(self.holds_level)).all():
            return HOLDS
        if (evidence.below(successes, n, asked) >= -math.log(self.fails_level)).any():
            return FAILS
        return OPEN
