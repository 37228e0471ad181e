"""Best guesses beside the guarantee: where each requirement stops to hold, and what a resource moves.

A requirement holds as long as the quantile of its measure, at the probability asked for, is on the good side
of the bound.  Between two values that quantile is taken to lie on a line, so whole numbers have parts, too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.planning.file import Plan, Resource
from netcarlo.planning.runner import ReplicationRunner

REPLICATIONS = 256
"""Of each value beside which a resource is looked at; the same ones with and without more of it."""

COARSE = 32
"""Of each value on the way to those."""

RESAMPLES = 200
"""Bootstrap samples behind the interval of what a resource moves."""


@dataclass(frozen=True)
class Gain:
    """What more of a resource buys.  Intervals are for 95 %, from the same replications before and after."""

    resource: Resource
    value: float
    """Of the quantity, at which the probabilities are."""
    probability: tuple[float, float]
    """That all requirements hold, before and after."""
    rise: tuple[float, float, float]
    """Its difference and the interval of that."""
    answer: tuple[float, float]
    """Where requirements stop to hold, before and after; -inf: they hold at no value, inf: at all."""
    moved: tuple[float, float, float] | None
    """Its difference and the interval of that; None where an answer is."""
    binding: str | None
    """Requirement that binds afterwards; None if all hold at all values, so that nothing binds."""


def crossing(values: Sequence[float], margins: Sequence[float], *, log: bool) -> float:
    """The value at which margins first get negative; -inf: before all `values`, inf: beyond them."""
    if margins[0] < 0:
        return -math.inf
    for k in range(1, len(values)):
        if margins[k] < 0:
            a, b = margins[k - 1], margins[k]
            part = a / (a - b) if math.isfinite(a) and math.isfinite(b) else 0.0
            x, y = values[k - 1], values[k]
            return x * (y / x) ** part if log else x + (y - x) * part
    return math.inf


class Line:
    """Margins of a plan's requirements along its values, with more of a resource or without."""

    def __init__(self, plan: Plan, runner: ReplicationRunner, resource: Resource | None, n: int) -> None:
        """Nothing is simulated yet; each value will have `n` replications."""
        self.plan, self.runner, self.resource, self.n = plan, runner, resource, n
        self.measured: dict[int, list[Floats]] = {}

    def locate(self, start: int) -> None:
        """Look at values, first at place `start`, until two neighbours are known between which they fail.

        A few replications find about where that is, all of them then decide.
        """
        self._locate(self._locate(start, min(COARSE, self.n)), self.n)

    def _locate(self, start: int, replications: int) -> int:
        """The last place that holds, judged by `replications`; 0 if there is none."""
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

    def look(self, i: int) -> list[Floats]:
        """The measures [n] of the requirements at place `i`."""
        if i not in self.measured:
            self.measured[i] = self._measures(i, self.n)
        return self.measured[i]

    def _measures(self, i: int, replications: int) -> list[Floats]:
        value = self.plan.values[i]
        outcomes = self.runner.of(self.plan.scenario(value, self.resource), replications)
        return [r.measured(outcomes, value) for r in self.plan.requirements]

    def held(self, i: int) -> NDArray[np.bool_]:
        """In which replications all requirements hold at place `i`."""
        found = [r.held(v) for r, v in zip(self.plan.requirements, self.look(i), strict=True)]
        return np.asarray(np.logical_and.reduce(found))

    def answers(self, chosen: NDArray[np.int64] | None = None) -> list[float]:
        """Where each requirement stops to hold, from all replications or from those `chosen`."""
        places = sorted(self.measured)
        values = [self.plan.values[i] for i in places]
        found = []
        for k, requirement in enumerate(self.plan.requirements):
            samples = [self.measured[i][k] for i in places]
            quantiles = [requirement.quantile(s if chosen is None else s[chosen]) for s in samples]
            found.append(crossing(values, list(map(requirement.margin, quantiles)), log=self.plan.log))
        return found

    def _holds(self, i: int, replications: int) -> bool:
        found = self.look(i) if replications == self.n else self._measures(i, replications)
        pairs = zip(self.plan.requirements, found, strict=True)
        return all(r.held(np.array([r.quantile(values)]))[0] for r, values in pairs)


def binding(plan: Plan, answers: Sequence[float]) -> str | None:
    """Name of the requirement that stops to hold first; None if all hold at all values."""
    place = first(plan, answers)
    return None if answers[place] == math.inf else plan.requirements[place].name


def first(plan: Plan, answers: Sequence[float]) -> int:
    """The requirement that stops to hold first: its place."""
    rising = plan.values[0] < plan.values[-1]
    keys = [a if rising or math.isinf(a) else -a for a in answers]
    return int(np.argmin(keys))


def gains(
    plan: Plan, runner: ReplicationRunner, *, start: int, at: int, known: Mapping[int, int]
) -> Iterator[Gain]:
    """What more of each resource of a plan buys: near place `start`, and in probability at place `at`.

    `known` tells how many replications without it there are at which places.
    """
    n = min(REPLICATIONS, plan.most)
    base = Line(plan, runner, None, n)
    for place, replications in known.items():
        if replications >= n:
            base.look(place)
    base.locate(start)
    for resource in plan.resources:
        line = Line(plan, runner, resource, n)
        line.locate(start)
        before, after = base.held(at), line.held(at)
        rise = statistics.paired(before.astype(np.float64), after.astype(np.float64))
        answers = base.answers(), line.answers()
        ends = [answer[first(plan, answer)] for answer in answers]
        yield Gain(
            resource, plan.values[at], (float(before.mean()), float(after.mean())),
            (rise.mean, rise.ci_low, rise.ci_high),
            (ends[0], ends[1]), _moved(plan, base, line, ends),
            binding(plan, answers[1]),
        )  # fmt: skip


def _moved(plan: Plan, base: Line, line: Line, ends: Sequence[float]) -> tuple[float, float, float] | None:
    if not all(map(math.isfinite, ends)):
        return None
    rng = np.random.Generator(np.random.Philox(plan.base.seed))
    moves = []
    for _ in range(RESAMPLES):
        chosen = rng.integers(0, base.n, base.n)
        a, b = base.answers(chosen), line.answers(chosen)
        move = b[first(plan, b)] - a[first(plan, a)]
        moves.append(move if math.isfinite(move) else math.nan)
    low, high = statistics.quantiles(moves, [0.025, 0.975])
    return float(ends[1] - ends[0]), float(low), float(high)
