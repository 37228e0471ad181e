"""Differences of two sides in many cells, and tests of their significance.

The false discovery rate is at most q = `FALSE_DISCOVERY_RATE`: the k differences with the smallest p-values
are significant, for the largest k for which the k-th smallest of m p-values is at most q k / m. Source:
Benjamini and Hochberg, "Controlling the false discovery rate" (Journal of the Royal Statistical Society B 57,
1995). The adjusted intervals have confidence 1 - q k / m, so a difference is significant if its interval
excludes 0. Source: Benjamini and Yekutieli, "False discovery rate-adjusted multiple confidence intervals for
selected parameters" (Journal of the American Statistical Association 100, 2005).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri, stdtrit

from netcarlo.networks.outcome import Outcome, dimension
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.schema import units

FALSE_DISCOVERY_RATE = 0.05
"""Maximum expected fraction of false ones among the significant differences. If there are no true
differences, it is the probability that any is significant."""

Interval = Callable[[float], tuple[Floats, Floats]]
"""Function from an error probability to the lower and upper ends of confidence intervals, [rows] each."""


class Differences(NamedTuple):
    """Differences of one quantity in many cells, `other` minus `baseline`: arrays [rows]."""

    n: Ints
    """Number of pairs; of values that are not paired, the smaller number."""
    baseline: Floats
    """Mean of the baseline."""
    other: Floats
    """Mean of the other side."""
    difference: Floats
    """Mean difference."""
    ci_low: Floats
    """Lower end of the 95 % interval of a single difference."""
    ci_high: Floats
    """Upper end of the 95 % interval of a single difference."""
    interval: Interval
    """Intervals at any confidence, for the joint tests."""
    min_p_value: Floats
    """Lower bound on the p-value; few discrete values cannot give a smaller one."""
    equal: Bools
    """True if all values are equal to the bit, with common random numbers."""


def paired(outcome: Outcome, a: Floats, b: Floats) -> Differences:
    """Return the differences of paired values [rows, n] with common random numbers; pairs with a NaN are left
    out."""
    both = ~(np.isnan(a) | np.isnan(b))
    change = np.where(both, b - a, np.nan)
    found = outcome.differences(change)
    moved = (both & (change != 0)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = found.sd / np.sqrt(found.n)
    return Differences(
        found.n, _means(a, both), _means(b, both), found.mean, found.ci_low, found.ci_high,
        student(found.mean, error, found.n - 1),
        # Two-sided sign test: probability that all `moved` signs are equal.
        np.exp2(1.0 - moved) if _is_count(outcome) else np.zeros(len(a)),
        (found.n > 0) & (moved == 0),
    )  # fmt: skip


class Estimates(NamedTuple):
    """Estimated means of many cells: arrays [rows]."""

    n: Ints
    """Number of values."""
    mean: Floats
    """Mean."""
    error: Floats
    """Standard error of the mean."""
    df: Floats
    """Degrees of freedom of the standard error."""


def independent(outcome: Outcome, a: Estimates, b: Estimates, *, common: bool) -> Differences:
    """Return the differences of means with independent errors.

    `common` is true if the sides have common random numbers, but the single values are not stored. The
    interval is Welch's, with degrees of freedom rounded down. For yes-no outcomes it is Newcombe's, from
    Wilson's intervals. Source: Newcombe, "Interval estimation for the difference between independent
    proportions" (Statistics in Medicine 17, 1998), method 10.
    """
    n, change = np.minimum(a.n, b.n), b.mean - a.mean
    if outcome.values.yes_no:
        interval = _newcombe(a, b)
        min_p_value = np.zeros(len(n))
    else:
        va, vb = a.error**2, b.error**2
        with np.errstate(invalid="ignore", divide="ignore"):
            df = np.floor((va + vb) ** 2 / (va**2 / a.df + vb**2 / b.df) + 1e-9)
        still = va + vb == 0
        interval = student(change, np.sqrt(va + vb), np.where(still, np.minimum(a.df, b.df), df))
        # Two-sided rank test: probability that all larger values are on one side.
        min_p_value = np.where(still & _is_count(outcome), 2 * np.exp(-_log_binomial(a.n, b.n)), 0.0)
    low, high = interval(FALSE_DISCOVERY_RATE)
    reach = outcome.values.most - outcome.values.least
    equal = (a.n == b.n) & (a.mean == b.mean) & (a.error == b.error) if common else np.zeros(len(n), bool)
    return Differences(
        n,
        a.mean,
        b.mean,
        change,
        np.maximum(low, -reach),
        np.minimum(high, reach),
        interval,
        min_p_value,
        equal,
    )


def bracketed(
    n: Ints, means: tuple[Floats, Floats], a: tuple[Floats, Floats], b: tuple[Floats, Floats]
) -> Differences:
    """Return the differences of means with simultaneous bands `a` and `b`, such as those of plans.

    A difference is significant if the bands do not overlap.
    """
    with np.errstate(invalid="ignore"):
        low, high, change = b[0] - a[1], b[1] - a[0], means[1] - means[0]
        equal = (a[0] == b[0]) & (a[1] == b[1]) & ((change == 0) | np.isnan(change))
    return Differences(n, *means, change, low, high, lambda _: (low, high), np.zeros(len(low)), equal)


def student(change: Floats, error: Floats, df: Floats | Ints) -> Interval:
    """Return Student's intervals of differences.

    The correction for skewness of `statistics.means` is not applied: it is accurate at 95 %, but far too
    permissive at the small error probabilities of joint tests.
    """

    def interval(wrong: float) -> tuple[Floats, Floats]:
        half = -stdtrit(np.where(np.asarray(df) >= 1, df, np.nan), wrong / 2) * error
        return change - half, change + half

    return interval


def _newcombe(a: Estimates, b: Estimates) -> Interval:
    def interval(wrong: float) -> tuple[Floats, Floats]:
        z = float(-ndtri(wrong / 2))
        (la, ua), (lb, ub) = (statistics.wilson(each.mean, each.n, z) for each in (a, b))
        low = np.sqrt((b.mean - lb) ** 2 + (ua - a.mean) ** 2)
        high = np.sqrt((ub - b.mean) ** 2 + (a.mean - la) ** 2)
        return b.mean - a.mean - low, b.mean - a.mean + high

    return interval


def _is_count(outcome: Outcome) -> bool:
    """Return True if the outcome is a count or is computed from counts, so that its values are discrete."""
    return dimension(outcome.name) in (units.PLAIN, units.PACKETS)


def _log_binomial(a: Ints, b: Ints) -> Floats:
    return np.asarray(gammaln(a + b + 1.0) - gammaln(a + 1.0) - gammaln(b + 1.0))


def _means(values: Floats, both: Bools) -> Floats:
    return statistics.means(np.where(both, values, np.nan)).mean


class Judged(NamedTuple):
    """Verdicts on all differences of a comparison: arrays [rows]."""

    low: Floats
    """Lower end of the adjusted interval."""
    high: Floats
    """Upper end of the adjusted interval."""
    verdict: Any
    """`differs`, `noise`, `equal` to the bit, or `unknown` (too few values for an interval)."""
    tested: int
    """Number of tested differences."""
    confidence: float
    """Confidence of the adjusted intervals."""


def judge(found: Sequence[Differences]) -> Judged:
    """Test all differences together (Benjamini and Hochberg)."""
    min_p_value = np.concatenate([each.min_p_value for each in found])
    equal = np.concatenate([each.equal for each in found])

    def interval(wrong: float) -> tuple[Floats, Floats]:
        parts = [each.interval(wrong) for each in found]
        low, high = (np.concatenate([part[end] for part in parts]) for end in (0, 1))
        held = min_p_value > wrong  # the p-value cannot be below `wrong`: include 0
        return np.where(held, np.minimum(low, 0.0), low), np.where(held, np.maximum(high, 0.0), high)

    low, high = interval(FALSE_DISCOVERY_RATE)
    known = ~(np.isnan(low) | np.isnan(high)) & ~equal
    tested = k = int(known.sum())
    while k:
        low, high = interval(FALSE_DISCOVERY_RATE * k / tested)
        called = int((known & ((low > 0) | (high < 0))).sum())
        if called >= k:
            break
        k = called
    wrong = FALSE_DISCOVERY_RATE * max(k, 1) / max(tested, 1)
    low, high = interval(wrong)
    differs = known & ((low > 0) | (high < 0)) & (k > 0)
    verdict = np.select([equal, differs, known], ["equal", "differs", "noise"], "unknown")
    return Judged(low, high, verdict, tested, 1 - wrong)
