"""Replications, verdicts and simultaneous confidence bands at the values of a plan.

With confidence 1 - a, all verdicts are correct, whichever values are tested and however often: each of the n
values has an error probability of a / n, also those that are never tested. A value that fails gets the
verdict "holds" only if a requirement that fails there passes a test at this level. A value that holds gets
the verdict "fails" if any of the R requirements fails a test, so each is tested at level a / (n R). The two
errors exclude each other. A band is wrong if either of its ends is, so its ends have level a / (2 n R). A
verdict may therefore come a little before the band excludes the required probability.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netcarlo.estimation.verdicts import following
from netcarlo.numerics import evidence
from netcarlo.numerics.arrays import Floats
from netcarlo.planning.definition import Plan
from netcarlo.planning.requirements import Requirement
from netcarlo.planning.runner import ReplicationRunner
from netcarlo.planning.search import FAILS, HOLDS, OPEN
from netcarlo.scenario import Scenario


@dataclass(frozen=True)
class Share:
    """Fraction of replications in which a requirement holds at a value."""

    probability: float
    """Fraction of the replications in which it holds."""
    low: float
    """Lower end of the confidence band, which is simultaneous for all values and all tests."""
    high: float
    """Upper end of the confidence band, which is simultaneous for all values and all tests."""
    quantile: float
    """Value that the measure reaches with the required probability."""


@dataclass(frozen=True)
class Point:
    """Results at one value of the quantity."""

    value: float
    """Value of the quantity, in SI units."""
    replications: int
    """Number of replications."""
    verdict: int
    """HOLDS, OPEN or FAILS of `search`."""
    shares: tuple[Share, ...]
    """Results of the requirements, in the order of the plan."""


class Ledger:
    """Replications and verdicts at the values of a plan. A value is given by its index in `Plan.values`."""

    def __init__(self, plan: Plan, runner: ReplicationRunner) -> None:
        """Start without replications."""
        self.plan, self.runner = plan, runner
        self.replications: dict[int, int] = {}
        self.verdicts: dict[int, int] = {}
        self.holds_level = plan.level
        self.fails_level = self.holds_level / len(plan.requirements)
        self.band_level = self.fails_level / 2

    def decide(self, i: int, cap: int) -> int:
        """Replicate value `i` until its verdict is known or it has `cap` replications. Return the verdict."""
        while True:
            n = self.replications.get(i, 0)
            verdict = self.verdicts.get(i, OPEN)
            if verdict != OPEN or n >= cap:
                return verdict
            self.extend(i, following(n, cap))

    def extend(self, i: int, n: int) -> None:
        """Replicate value `i` up to `n` replications in total, and test its requirements."""
        if n <= self.replications.get(i, 0):
            return
        value = self.plan.values[i]
        measured = self._measured(self.plan.scenario(value), value, n)
        successes = [r.held(values).sum() for r, values in measured]
        self.replications[i] = n  # after the simulation, because it may be interrupted
        if self.verdicts.get(i, OPEN) == OPEN:
            self.verdicts[i] = self._verdict(np.array(successes, np.float64), n)

    def points(self, places: Sequence[int]) -> list[Point]:
        """Return the results at values that have replications.

        All bands are inverted together, which takes hardly longer than one of them.
        """
        if not places:
            return []
        values = [self.plan.values[i] for i in places]
        measured = [
            self._measured(self.plan.scenario(value), value, self.replications[i])
            for i, value in zip(places, values, strict=True)
        ]
        held = np.array([[r.held(values).sum() for r, values in one] for one in measured], np.float64)
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
                for r, (requirement, values) in enumerate(measured[k])
            )  # fmt: skip
            verdict = self.verdicts.get(i, OPEN)
            points.append(Point(self.plan.values[i], self.replications[i], verdict, shares))
        return points

    def mean(self, i: int, outcome: str) -> float:
        """Return the mean of an outcome at value `i`, which has replications."""
        runs = self.runner.of(self.plan.scenario(self.plan.values[i]), self.replications[i])
        return float(np.mean(runs[outcome]))

    def _measured(self, scenario: Scenario, value: float, n: int) -> list[tuple[Requirement, Floats]]:
        """Return the measure of each requirement in the first `n` replications of a scenario, [n]."""
        outcomes = self.runner.of(scenario, n)
        return [(r, r.measured(outcomes, value)) for r in self.plan.requirements]

    def _verdict(self, successes: Floats, n: int) -> int:
        asked = np.array([requirement.probability for requirement in self.plan.requirements])
        if (evidence.above(successes, n, asked) >= -math.log(self.holds_level)).all():
            return HOLDS
        if (evidence.below(successes, n, asked) >= -math.log(self.fails_level)).any():
            return FAILS
        return OPEN
