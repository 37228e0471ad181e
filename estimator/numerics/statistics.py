"""Statistics of outcomes: means, confidence intervals, quantiles, paired differences, stopping rules.

Values are sorted and summed in a fixed order in twice the usual precision, so that results depend neither on
the order nor on the grouping of the data.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcarlo.numerics import beta, normal, portable, student
from netcarlo.numerics.arrays import Floats, Ints

LEVEL = 0.95
"""Confidence level of all intervals."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Probabilities of the quantiles in tables of estimates and of cells."""

MAX_REPLICATIONS = 1_000_000
"""Maximum number of replications of a `StoppingRule`."""

EXPECTED_REPLICATIONS = 1000
"""Number of replications that forecasts assume where a `StoppingRule` decides."""


class Mean(NamedTuple):
    """Mean, standard deviation and 95 % confidence interval of `n` values, those that are not NaN.

    `sd` and the interval are NaN if `n` is too small: a single value has neither.
    """

    n: int
    mean: float
    sd: float
    ci_low: float
    ci_high: float

    @property
    def half_width(self) -> float:
        """Half the width of the confidence interval."""
        return (self.ci_high - self.ci_low) / 2.0


class Means(NamedTuple):
    """Means of many rows: five arrays [rows], see `Mean`."""

    n: Ints
    mean: Floats
    sd: Floats
    ci_low: Floats
    ci_high: Floats

    @property
    def half_width(self) -> Floats:
        """Half the widths of the confidence intervals [rows]."""
        return (self.ci_high - self.ci_low) / 2.0

    def row(self, k: int) -> Mean:
        """Return the mean of one row."""
        n, *rest = (column[k] for column in self)
        return Mean(int(n), *map(float, rest))


Estimated = TypeVar("Estimated", Mean, Means)


def mean(values: ArrayLike) -> Mean:
    """Return mean, standard deviation (n - 1) and confidence interval of the values that are not NaN.

    The interval is Student's, corrected for skewness: with T = (mean - truth) / sd and the skewness g of the
    sample, sqrt(n) (T + g T^2 / 3 + g^2 T^3 / 27 + g / 6n) is taken as Student's t. This cubic is monotonic,
    so its inverse gives an interval, and it equals t where g is 0. Source: Hall, "On the removal of skewness
    by transformation" (Journal of the Royal Statistical Society B 54, 1992).
    """
    return means(np.asarray(values, dtype=np.float64).reshape(1, -1)).row(0)


def means(values: ArrayLike) -> Means:
    """Return the `mean` of each row of `values` [rows, n], equal to the bit."""
    parts = [_means(x) for x in _parts(values)]
    return Means(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def bounded(found: Estimated, least: float, most: float) -> Estimated:
    """Return the mean or means of values in `least` to `most`, with intervals limited to this range.

    No mean of such values lies outside, so the limited interval has the same coverage.
    """
    low = np.maximum(found.ci_low, np.minimum(least, found.mean))
    high = np.minimum(found.ci_high, np.maximum(most, found.mean))
    return found._replace(ci_low=low, ci_high=high)


def no_narrower(found: Estimated, relative: float) -> Estimated:
    """Return the mean or means with intervals that reach at least `relative` times the mean to each side.

    An interval of fixed width does not profit from a sample that stopped because its variance was small by
    chance (Stein, "A two-sample test for a linear hypothesis whose power is independent of the variance",
    Annals of Mathematical Statistics 16, 1945).
    """
    if not relative:
        return found
    half = relative * np.abs(found.mean)
    low, high = np.minimum(found.ci_low, found.mean - half), np.maximum(found.ci_high, found.mean + half)
    return found._replace(ci_low=low, ci_high=high)


def _means(values: Floats) -> Means:
    x = np.sort(values.T, axis=0)  # [n, rows]; NaN comes last
    n = len(x) - np.isnan(x).sum(axis=0)
    absent = np.arange(len(x))[:, None] >= n if (n < len(x)).any() else None
    with np.errstate(all="ignore"):
        centre = _divide(*_sum(x, absent), n)
        # Scale by a power of 2, which is exact, so that powers of deviations do not overflow.
        unit = np.ldexp(1.0, np.frexp(np.nanmax(np.abs(x - centre), axis=0, initial=0.0))[1])
        deviations = (x - centre) / unit
        powers = deviations * deviations
        # The second sum corrects for the rounding of the centre (Chan, Golub and LeVeque, 1983).
        squares = np.maximum(_sum(powers, absent)[0] - _sum(deviations, absent)[0] ** 2 / n, 0.0)
        cubes = _sum(powers * deviations, absent)[0]
        sd = unit * np.sqrt(squares / (n - 1))
        most = (n - 2) / np.sqrt(n - 1)  # maximum skewness of n values
        skewness = np.clip(np.sqrt(n) * cubes / (squares * np.sqrt(squares)), -most, most)
        skewness = np.where(squares > 0, skewness, 0.0)
        ends = (_end(n, centre, sd, skewness, sign * student_t(n - 1)) for sign in (1, -1))
        return Means(n, centre, sd, *ends)


def _end(n: Ints, centre: Floats, sd: Floats, skewness: Floats, t: Floats) -> Floats:
    # The cubic solved for (mean - truth) / sd, in a form that is also valid for zero skewness.
    w = t / np.sqrt(n) - skewness / (6 * n)
    root = portable.cbrt(1 + skewness * w)
    return np.asarray(centre - 3 * sd * w / (1 + root + root * root))


def _sum(x: Floats, absent: NDArray[np.bool_] | None) -> tuple[Floats, Floats]:
    """Return the sums [rows] of the columns of `x` [n, rows] without the `absent`: floats and their rounding
    errors.

    Values are added pairwise, keeping the rounding error of each addition.
    """
    high = x if absent is None else np.where(absent, 0.0, x)
    low = np.zeros_like(high)
    while len(high) > 1:
        if len(high) % 2:
            nothing = np.zeros_like(high[:1])
            high, low = np.concatenate([high, nothing]), np.concatenate([low, nothing])
        high, error = _two_sum(high[0::2], high[1::2])
        low = error + (low[0::2] + low[1::2])
    total = high.sum(axis=0)
    rounded, left = _two_sum(total, low.sum(axis=0))
    finite = np.isfinite(total)
    return np.where(finite, rounded, total), np.where(finite, left, 0.0)


def dot(a: Floats, b: Floats) -> float:
    """Return the sum of products of two arrays [n], the same on every processor."""
    return math.fsum((a * b).tolist())


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a sum and its rounding error (Knuth, The Art of Computer Programming 2, section 4.2.2)."""
    total = a + b
    b_seen = total - a
    return total, (a - (total - b_seen)) + (b - b_seen)


def _divide(high: Floats, low: Floats, n: Ints) -> Floats:
    """Return `(high + low) / n`, rounded once, so that the mean of equal values is that value; `n` is
    below 2^26."""
    quotient = high / n
    upper = quotient * (2.0**27 + 1)
    upper = upper - (upper - quotient)  # upper half of its digits; the product with n is exact
    better = quotient + (((high - upper * n) - (quotient - upper) * n) + low) / n
    return np.where(np.isfinite(better), better, quotient)


def student_t(df: ArrayLike) -> Floats:
    """Return the two-sided 95 % quantiles of Student's t with `df` degrees of freedom, in the shape of
    `df`."""
    different, which = np.unique(df, return_inverse=True)
    quantiles = [student.quantile(0.5 + LEVEL / 2, float(each)) for each in different]
    return np.asarray(np.array(quantiles, np.float64)[which])


def quantiles(values: ArrayLike, probabilities: ArrayLike) -> Floats:
    """Return quantiles of the values that are not NaN (linear between order statistics); NaN if there are
    none."""
    return np.asarray(row_quantiles(np.asarray(values, dtype=np.float64).reshape(1, -1), probabilities)[0])


def row_quantiles(values: ArrayLike, probabilities: ArrayLike) -> Floats:
    """Return `quantiles` [rows, probabilities] of each row of `values` [rows, n], equal to the bit."""
    p = np.asarray(probabilities, dtype=np.float64)
    parts = [_quantiles(x, p.reshape(-1)) for x in _parts(values)]
    return np.concatenate(parts).reshape(-1, *p.shape)


def _quantiles(values: Floats, p: Floats) -> Floats:
    if not values.shape[1]:
        return np.full((len(values), len(p)), np.nan)
    x = np.sort(values, axis=1)  # NaN comes last
    last = np.maximum(x.shape[1] - np.isnan(x).sum(axis=1) - 1, 0)[:, None]
    if (last == x.shape[1] - 1).all():
        last = last[:1]
    at = p * last
    below = np.floor(at).astype(np.int64)
    above = np.minimum(below + 1, last)
    if len(last) == 1:
        a, b = x[:, below[0]], x[:, above[0]]
    else:
        a, b = np.take_along_axis(x, below, axis=1), np.take_along_axis(x, above, axis=1)
    part = at - below
    with np.errstate(invalid="ignore"):
        # Exact at either end, as in numpy.quantile, and no interpolation at infinity.
        between = np.where(part < 0.5, a + (b - a) * part, b - (b - a) * (1 - part))
        return np.where(a == b, a, between)


def _parts(values: ArrayLike) -> Iterator[Floats]:
    """Yield `values` [rows, n] in groups of rows that fit the cache; at least one group."""
    x = np.asarray(values, dtype=np.float64)
    size = max(1, (1 << 16) // max(1, x.shape[1]))
    return (x[i : i + size] for i in range(0, max(1, len(x)), size))


class Proportion(NamedTuple):
    """Proportion with Wilson's 95 % confidence interval."""

    n: int
    probability: float
    ci_low: float
    ci_high: float


class Proportions(NamedTuple):
    """Proportions of many rows: four arrays [rows], see `Proportion`."""

    n: Ints
    probability: Floats
    ci_low: Floats
    ci_high: Floats


def proportion(held: ArrayLike) -> Proportion:
    """Return the share of True in `held`, with Wilson's interval."""
    n, *rest = proportions(np.asarray(held, dtype=bool).reshape(1, -1))
    return Proportion(int(n[0]), *(float(column[0]) for column in rest))


def proportions(held: ArrayLike) -> Proportions:
    """Return the `proportion` of each row of `held` [rows, n], equal to the bit."""
    x = np.asarray(held, dtype=bool)
    n = np.full(len(x), x.shape[1])
    with np.errstate(invalid="ignore"):
        share = x.sum(axis=1) / n
    return Proportions(n, share, *wilson(share, n))


def wilson(share: ArrayLike, n: ArrayLike, quantile: float | None = None) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's interval for a `share` of `n`; NaN where `n` is 0.

    `quantile` is a quantile of the normal distribution; default: that of the 95 % interval. Source: Wilson,
    "Probable inference, the law of succession, and statistical inference" (JASA 22, 1927).
    """
    p, m = np.asarray(share, np.float64), np.asarray(n, np.float64)
    z = _normal_quantile() if quantile is None else quantile
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (p + z * z / (2 * m)) / (1 + z * z / m)
        half = z / (1 + z * z / m) * np.sqrt(p * (1 - p) / m + z * z / (4 * m * m))
    low, high = np.where(p == 0, 0.0, centre - half), np.where(p == 1, 1.0, centre + half)
    return low, high


def clopper_pearson(successes: ArrayLike, n: ArrayLike) -> tuple[Floats, Floats]:
    """Return the ends of the exact 95 % interval of a probability after `successes` in `n` trials, n > 0.

    Its coverage is at least 95 % for any probability. Source: Clopper and Pearson, "The use of confidence or
    fiducial limits illustrated in the case of the binomial" (Biometrika 26, 1934).
    """
    x, m = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(n, np.float64))
    tail = (1 - LEVEL) / 2
    # The upper end is 1 minus the lower end for failures.
    met = np.stack([x, m - x])
    ends = np.where(met > 0, beta.quantile(np.maximum(met, 0.5), m - met + 1, tail), 0.0)
    return ends[0], 1 - ends[1]


def _normal_quantile() -> float:
    return float(normal.quantile(np.asarray(0.5 + LEVEL / 2)))


def paired(a: ArrayLike, b: ArrayLike) -> Mean:
    """Return the mean of the differences `b - a` of replications with common random numbers.

    Pairs with a NaN are left out. Raises ValueError if the lengths differ.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"paired needs as many values on both sides, not {x.shape} and {y.shape}")
    return mean(y - x)


@dataclass(frozen=True)
class StoppingRule:
    """Stopping rule: replicate until the half-width of the 95 % interval is at most `relative` times the
    mean.

    Batches grow: after `first` replications the variance so far predicts the number needed, with a `margin`;
    the next batch increases the total at most by the factor `growth`. The data are therefore examined only a
    few times. With the interval of `no_narrower` coverage is at least nominal (docs/statistics.md).
    """

    relative: float
    first: int = 64
    growth: float = 4.0
    margin: float = 1.1
    most: int = MAX_REPLICATIONS

    @classmethod
    def fixed(cls, n: int) -> "StoppingRule":
        """Return the rule for a fixed number of replications."""
        return cls(0.0, first=n, most=n)

    def at_most(self, n: int) -> "StoppingRule":
        """Return the rule that stops after `n` replications at the latest."""
        return replace(self, most=min(n, self.most))

    def next_after(self, n: int, estimate: Callable[[], Mean]) -> int:
        """Return how many replications to add to the `n` whose mean `estimate` returns; 0 to stop."""
        if n < self.first:
            return min(self.first, self.most) - n
        if n >= self.most or self.reached(seen := estimate()):
            return 0
        wanted = math.inf
        if seen.mean != 0 and seen.n > 1:
            wanted = self.margin * n * (seen.half_width / (self.relative * abs(seen.mean))) ** 2
        return int(min(max(wanted, 1.1 * n), self.growth * n, self.most)) - n

    def met(self, values: ArrayLike) -> bool:
        """Return True if the half-width of the mean of `values` is small enough."""
        return self.reached(mean(values))

    def reached(self, seen: Mean) -> bool:
        """Return True if the half-width of `seen` is small enough."""
        return seen.n > 1 and seen.half_width <= self.relative * abs(seen.mean)
