"""Point estimates without confidence: the limit of each requirement, and the effect of more of a resource.

A requirement holds if the quantile of its measure at the required probability satisfies the
bound. The quantile is interpolated between neighbouring values, so a limit of whole numbers may be
fractional.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.planning.definition import Plan, Resource
from netcarlo.planning.runner import ReplicationRunner

REPLICATIONS = 256
"""Number of replications at each value for the effect of a resource; the same ones with and without more of
it."""

COARSE_REPLICATIONS = 32
"""Number of replications at each value of the search for the limit."""

RESAMPLES = 200
"""Number of bootstrap samples for the interval of the change of a limit."""


@dataclass(frozen=True)
class Gain:
    """Effect of more of a resource. Intervals are 95 % CI of paired replications before and after."""

    resource: Resource
    """Resource with its field before and after."""
    value: float
    """Value of the quantity at which the probabilities are given."""
    probability: tuple[float, float]
    """Probability that all requirements hold, before and after."""
    rise: tuple[float, float, float]
    """Difference of the probabilities, and its interval."""
    answer: tuple[float, float]
    """Limit before and after; -inf if the requirements hold at no value, inf if at all values."""
    moved: tuple[float, float, float] | None
    """Difference of the limits, and its interval; None if a limit is infinite."""
    binding: str | None
    """Requirement that fails first afterwards (active constraint); None if all hold at all values."""
    replications: int
    """Number of replications at each value."""


def crossing(values: Sequence[float], margins: Sequence[float], *, log: bool) -> float:
    """Return the value at which the margins first become negative, by interpolation.

    -inf if they are negative at the first of `values`, inf if at none.
    """
    if margins[0] < 0:
        return -math.inf
    for k in range(1, len(values)):
        if margins[k] < 0:
            a, b = margins[k - 1], margins[k]
            part = a / (a - b) if math.isfinite(a) and math.isfinite(b) else 0.0
            x, y = values[k - 1], values[k]
            return x * (y / x) ** part if log else x + (y - x) * part
    return math.inf


class MarginCurve:
    """Measures of a plan's requirements at its values, with or without more of a resource."""

    def __init__(self, plan: Plan, runner: ReplicationRunner, resource: Resource | None, n: int) -> None:
        """Prepare without simulating; each value will have `n` replications."""
        self.plan, self.runner, self.resource, self.n = plan, runner, resource, n
        self.measured: dict[int, list[Floats]] = {}

    def locate(self, start: int) -> None:
        """Evaluate values, beginning at index `start`, until the limit is between two neighbours.

        A first pass with few replications finds its approximate place, a second one uses all replications.
        """
        self._locate(self._locate(start, min(COARSE_REPLICATIONS, self.n)), self.n)

    def _locate(self, start: int, replications: int) -> int:
        """Return the index of the last value that holds by `replications` replications; 0 if there is
        none."""
        n = len(self.plan.values)
        step, low, high, i = 1, -1, n, start
        while True:
            low, high = (i, high) if self._holds(i, replications) else (low, i)
            if high - low <= 1:
                return max(low, 0)
            if low < 0:
                i = max(high - step, 0)
            elif high == n:
                i = min(low + step, n - 1)
            else:
                i = (low + high) // 2
            step *= 2

    def measures(self, i: int) -> list[Floats]:
        """Return the measures of the requirements at index `i`, [n] each."""
        if i not in self.measured:
            self.measured[i] = self._measures(i, self.n)
        return self.measured[i]

    def _measures(self, i: int, replications: int) -> list[Floats]:
        value = self.plan.values[i]
        outcomes = self.runner.of(self.plan.scenario(value, self.resource), replications)
        return [r.measured(outcomes, value) for r in self.plan.requirements]

    def held(self, i: int) -> NDArray[np.bool_]:
        """Return True for each replication in which all requirements hold at index `i`, [n]."""
        found = [r.held(v) for r, v in zip(self.plan.requirements, self.measures(i), strict=True)]
        return np.asarray(np.logical_and.reduce(found))

    def answers(self, chosen: NDArray[np.int64] | None = None) -> list[float]:
        """Return the limit of each requirement, from all replications or from those with indices `chosen`."""
        places = sorted(self.measured)
        values = [self.plan.values[i] for i in places]
        found = []
        for k, requirement in enumerate(self.plan.requirements):
            samples = [self.measured[i][k] for i in places]
            quantiles = [requirement.quantile(s if chosen is None else s[chosen]) for s in samples]
            found.append(crossing(values, list(map(requirement.margin, quantiles)), log=self.plan.log))
        return found

    def _holds(self, i: int, replications: int) -> bool:
        found = self.measures(i) if replications == self.n else self._measures(i, replications)
        pairs = zip(self.plan.requirements, found, strict=True)
        return all(r.held(np.array([r.quantile(values)]))[0] for r, values in pairs)


def binding(plan: Plan, answers: Sequence[float]) -> str | None:
    """Return the name of the requirement that fails first; None if all hold at all values."""
    place = first_to_fail(plan, answers)
    return None if answers[place] == math.inf else plan.requirements[place].name


def first_to_fail(plan: Plan, answers: Sequence[float]) -> int:
    """Return the index of the requirement that fails first, by the limits of all requirements."""
    rising = plan.values[0] < plan.values[-1]
    keys = [a if rising or math.isinf(a) else -a for a in answers]
    return int(np.argmin(keys))


def gains(
    plan: Plan, runner: ReplicationRunner, *, start: int, at: int, known: Mapping[int, int]
) -> Iterator[Gain]:
    """Yield the effect of more of each resource of a plan.

    The search for the limit begins at index `start`; probabilities are given at index `at`. `known` has the
    number of existing replications by index.
    """
    n = min(REPLICATIONS, plan.max_replications)
    base = MarginCurve(plan, runner, None, n)
    for place, replications in known.items():
        if replications >= n:
            base.measures(place)
    base.locate(start)
    for resource in plan.resources:
        line = MarginCurve(plan, runner, resource, n)
        line.locate(start)
        before, after = base.held(at), line.held(at)
        rise = statistics.paired(before.astype(np.float64), after.astype(np.float64))
        answers = base.answers(), line.answers()
        ends = [answer[first_to_fail(plan, answer)] for answer in answers]
        yield Gain(
            resource, plan.values[at], (float(before.mean()), float(after.mean())),
            (rise.mean, rise.ci_low, rise.ci_high),
            (ends[0], ends[1]), _moved(plan, base, line, ends),
            binding(plan, answers[1]), n,
        )  # fmt: skip


def _moved(
    plan: Plan, base: MarginCurve, line: MarginCurve, ends: Sequence[float]
) -> tuple[float, float, float] | None:
    if not all(map(math.isfinite, ends)):
        return None
    rng = np.random.Generator(np.random.Philox(plan.base.seed))
    moves = []
    for _ in range(RESAMPLES):
        chosen = rng.integers(0, base.n, base.n)
        a, b = base.answers(chosen), line.answers(chosen)
        move = b[first_to_fail(plan, b)] - a[first_to_fail(plan, a)]
        moves.append(move if math.isfinite(move) else math.nan)
    low, high = statistics.quantiles(moves, [0.025, 0.975])
    return float(ends[1] - ends[0]), float(low), float(high)
