"""Plans about the year: replications and verdicts by states of the network.

Where outages are rarer than a run, a probability is a share of the year. Each state of the year
(`estimation.states`) has replications of its own, and is weighted by its share of the year. The error
probability of a verdict is divided among the K states that are simulated. With its confidence, all their
confidence sequences are correct at all times, and then the share of the year is between the weighted sums of
their ends. This holds for any allocation of the replications, and although states share random numbers.
Several outages at once are not simulated: their probability is taken as 0 in lower ends, and as 1 in upper
ends.
"""

from collections.abc import Sequence

import numpy as np

from netcarlo.estimation.strata import Strata
from netcarlo.numerics import evidence
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.planning.definition import Plan
from netcarlo.planning.ledger import Ledger, Point, Share
from netcarlo.planning.requirements import Requirement
from netcarlo.planning.runner import ReplicationRunner
from netcarlo.planning.search import FAILS, HOLDS, OPEN
from netcarlo.planning.states import States, allocated


class YearLedger(Ledger):
    """Replications and verdicts at the values of a plan about the year."""

    def __init__(self, plan: Plan, runner: ReplicationRunner) -> None:
        """Start without replications."""
        super().__init__(plan, runner)
        self._states: dict[int, States] = {}
        self._trials: dict[int, Ints] = {}

    def extend(self, i: int, n: int) -> None:
        """Replicate value `i` up to `n` replications in total, or a few of each state."""
        if n <= self.replications.get(i, 0):
            return
        if i not in self._states:
            self._states[i] = States.of(self.plan.scenario(self.plan.values[i]))
        trials = self._allocated(i, n)
        held = self._held(self._runs(i, trials))
        self._trials[i], self.replications[i] = trials, int(trials.sum())  # may be interrupted before
        if self.verdicts.get(i, OPEN) == OPEN:
            self.verdicts[i] = self._verdict_of_year(i, held)

    def points(self, places: Sequence[int]) -> list[Point]:
        """Return the results at values that have replications; probabilities are shares of the year."""
        return [self._point(i) for i in places]

    def mean(self, i: int, outcome: str) -> float:
        """Return the mean of an outcome over the year at value `i`, which has replications."""
        states = self._states[i]
        means = [
            np.mean(self.runner.of(scenario, int(n))[outcome])
            for scenario, n in zip(states.scenarios, self._trials[i], strict=True)
        ]
        return float(np.average(means, weights=states.shares))

    def _allocated(self, i: int, n: int) -> Ints:
        """Return the replications [K] of the states of value `i`, together `n` or more."""
        strata = Strata(self._states[i].shares)
        if i in self._trials:
            for k, one in enumerate(self._runs(i, self._trials[i])):
                strata.add(k, np.logical_and.reduce([r.held(values) for r, values in one]))
        return allocated(strata, n)

    def _runs(self, i: int, trials: Ints) -> list[list[tuple[Requirement, Floats]]]:
        """Return the measures of the requirements in the states of value `i`."""
        value = self.plan.values[i]
        scenarios = self._states[i].scenarios
        return [self._measured(one, value, int(n)) for one, n in zip(scenarios, trials, strict=True)]

    @staticmethod
    def _held(runs: list[list[tuple[Requirement, Floats]]]) -> Floats:
        """Return in how many replications each requirement holds in each state, [K, R]."""
        return np.array([[r.held(values).sum() for r, values in one] for one in runs], np.float64)

    def _verdict_of_year(self, i: int, held: Floats) -> int:
        asked = np.array([requirement.probability for requirement in self.plan.requirements])
        seen = self._states[i].shares @ (held / self._trials[i][:, None])
        if (seen >= asked).all():
            return HOLDS if (self._lower(i, held, self.holds_level) >= asked).all() else OPEN
        return FAILS if (self._upper(i, held, self.fails_level) <= asked).any() else OPEN

    def _lower(self, i: int, held: Floats, level: float) -> Floats:
        """Return the lower ends of the shares of the year, [R]."""
        shares, trials = self._states[i].shares, self._trials[i][:, None]
        return np.asarray(shares @ evidence.lower(held, trials, level / len(shares)))

    def _upper(self, i: int, held: Floats, level: float) -> Floats:
        """Return the upper ends of the shares of the year, [R]."""
        return 1 - self._lower(i, self._trials[i][:, None] - held, level)

    def _point(self, i: int) -> Point:
        states, trials, runs = self._states[i], self._trials[i], self._runs(i, self._trials[i])
        held = self._held(runs)
        probability = states.shares @ (held / trials[:, None])
        low, high = (end(i, held, self.band_level) for end in (self._lower, self._upper))
        weights = np.append(np.repeat(states.shares / trials, trials), 1 - states.shares.sum())
        shares = tuple(
            Share(
                float(probability[k]), float(low[k]), float(high[k]),
                requirement.quantile(np.concatenate([*(one[k][1] for one in runs), [np.nan]]), weights),
            )
            for k, requirement in enumerate(self.plan.requirements)
        )  # fmt: skip
        verdict = self.verdicts.get(i, OPEN)
        return Point(self.plan.values[i], self.replications[i], verdict, shares)
