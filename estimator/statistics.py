"""Statistics of outcomes: means, intervals, quantiles, paired differences, and when to stop.

Sums are exactly rounded, so a result depends neither on the order nor on the grouping of the data.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95
"""Confidence of every interval."""

MOST = 1_000_000
"""Replications after which `StoppingRule` gives up."""

Floats = NDArray[np.float64]


class Mean(NamedTuple):
    """A mean with its standard deviation and 95 % interval; `n` values, those that are not NaN.

    `sd` and the interval are NaN where `n` is too small: one value has neither.
    """

    n: int
    mean: float
    sd: float
    ci_low: float
    ci_high: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.ci_high - self.ci_low) / 2.0


def mean(values: ArrayLike) -> Mean:
    """Mean, standard deviation (n - 1) and Student's t interval of the values that are not NaN."""
    x = np.asarray(values, dtype=np.float64).reshape(-1)
    x = x[~np.isnan(x)]
    n = len(x)
    if n == 0:
        return Mean(0, math.nan, math.nan, math.nan, math.nan)
    centre = math.fsum(x.tolist()) / n
    if n == 1:
        return Mean(1, centre, math.nan, math.nan, math.nan)
    deviations = x - centre
    # The second sum corrects for the rounding of the centre (Chan, Golub and LeVeque, 1983).
    squares = math.fsum((deviations * deviations).tolist()) - math.fsum(deviations.tolist()) ** 2 / n
    sd = math.sqrt(max(squares, 0.0) / (n - 1))
    half = student_t(n - 1) * sd / math.sqrt(n)
    return Mean(n, centre, sd, centre - half, centre + half)


def student_t(df: int) -> float:
    """The two-sided 95 % quantile of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + LEVEL / 2))


def quantiles(values: ArrayLike, probabilities: ArrayLike) -> Floats:
    """Quantiles of the values that are not NaN (linear between order statistics); NaN without any."""
    x = np.asarray(values, dtype=np.float64).reshape(-1)
    x = x[~np.isnan(x)]
    p = np.asarray(probabilities, dtype=np.float64)
    return np.quantile(x, p) if len(x) else np.full(p.shape, np.nan)


class Proportion(NamedTuple):
    """How often something held, with Wilson's 95 % interval."""

    n: int
    probability: float
    ci_low: float
    ci_high: float


def proportion(held: ArrayLike) -> Proportion:
    """The share of True in `held`.

    Source of the interval: Wilson, "Probable inference, the law of succession, and statistical
    inference" (JASA 22, 1927).
    """
    x = np.asarray(held, dtype=bool).reshape(-1)
    n, k = len(x), int(x.sum())
    if n == 0:
        return Proportion(0, math.nan, math.nan, math.nan)
    from scipy.special import ndtri

    z = float(ndtri(0.5 + LEVEL / 2))
    p = k / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Proportion(n, p, 0.0 if k == 0 else centre - half, 1.0 if k == n else centre + half)


def paired(a: ArrayLike, b: ArrayLike) -> Mean:
    """Mean of the differences `b - a` of replications with common random numbers.

    Pairs with a NaN are left out.  Raises ValueError if the lengths differ.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"paired needs as many values on both sides, not {x.shape} and {y.shape}")
    return mean(y - x)


@dataclass(frozen=True)
class StoppingRule:
    """Replicate until the 95 % half-width is at most `relative` times the mean.

    Batches grow: after `first` replications the variance seen so far predicts how many are needed,
    with a margin, and at most `growth` times as many as there are come next.  So the data are
    looked at a few times only, and seldom stop by the luck of a small variance: coverage stays
    within a percent of nominal (measured in tests/estimator/test_statistics.py).
    """

    relative: float
    first: int = 256
    growth: float = 4.0
    margin: float = 1.1
    most: int = MOST

    def next_batch(self, values: Floats) -> int:
        """How many replications to add to `values`, those there are; 0 to stop."""
        n = len(values)
        if n < self.first:
            return min(self.first, self.most) - n
        seen = mean(values)
        if self.met(values) or n >= self.most:
            return 0
        wanted = math.inf
        if seen.mean != 0 and seen.n > 1:
            wanted = self.margin * n * (seen.half_width / (self.relative * abs(seen.mean))) ** 2
        return int(min(max(wanted, 1.1 * n), self.growth * n, self.most)) - n

    def met(self, values: ArrayLike) -> bool:
        """Whether the half-width is small enough."""
        seen = mean(values)
        return seen.n > 1 and seen.half_width <= self.relative * abs(seen.mean)


def until_precise(rule: StoppingRule, draw: Callable[[int, int], Floats]) -> Floats:
    """Values of `draw(first, count)` until `rule` stops."""
    values = np.zeros(0)
    while batch := rule.next_batch(values):
        values = np.concatenate([values, draw(len(values), batch)])
    return values
