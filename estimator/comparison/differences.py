"""Differences of two sides in many cells, and which of them are more than chance.

The share of false ones among those that are called is kept at `FALSE`: with the k-th smallest of m
probabilities at most `FALSE` k / m the k clearest are called, for the largest such k.  Source: Benjamini and
Hochberg, "Controlling the false discovery rate" (Journal of the Royal Statistical Society B 57, 1995).  The
intervals that go with it have the confidence 1 - `FALSE` k / m, so that a difference is called where its
interval is without 0.  Source: Benjamini and Yekutieli, "False discovery rate-adjusted multiple confidence
intervals for selected parameters" (Journal of the American Statistical Association 100, 2005).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri, stdtrit

from netcarlo.networks.outcome import Outcome, dimension
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.schema import units

FALSE = 0.05
"""The share of the differences called that may be false, on average; of nothing but noise, the probability
that any is called."""

Ends = Callable[[float], tuple[Floats, Floats]]
"""The ends [rows] of intervals that are wrong with such a probability."""


class Differences(NamedTuple):
    """Of one quantity, `other` minus `baseline`, in many cells: arrays [rows]."""

    n: Ints
    """Pairs, or of what is not paired the smaller number of values."""
    baseline: Floats
    other: Floats
    difference: Floats
    ci_low: Floats
    """With `ci_high` the 95 % interval of each difference by itself, as everywhere,"""
    ci_high: Floats
    ends: Ends
    """and that by which many are judged together."""
    chance: Floats
    """How probable so clear a difference is at least if there is none: few values can only prove so much."""
    equal: Bools
    """Whether all values are equal to the bit, with common random numbers."""


def paired(outcome: Outcome, a: Floats, b: Floats) -> Differences:
    """Of values [rows, n] with common random numbers; pairs with a NaN are left out."""
    both = ~(np.isnan(a) | np.isnan(b))
    change = np.where(both, b - a, np.nan)
    found = outcome.differences(change)
    moved = (both & (change != 0)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = found.sd / np.sqrt(found.n)
    return Differences(
        found.n, _means(a, both), _means(b, both), found.mean, found.ci_low, found.ci_high,
        student(found.mean, error, found.n - 1),
        # That all of so many signs are the same.
        np.exp2(1.0 - moved) if _counts(outcome) else np.zeros(len(a)),
        (found.n > 0) & (moved == 0),
    )  # fmt: skip


class Estimates(NamedTuple):
    """Estimated means of many cells: arrays [rows]."""

    n: Ints
    mean: Floats
    error: Floats
    """The standard errors of the means,"""
    df: Floats
    """and their degrees of freedom."""


def independent(outcome: Outcome, a: Estimates, b: Estimates, *, common: bool) -> Differences:
    """Of means with errors that are independent (`common`: of the same random numbers, whose values are not
    known one by one).

    Welch's interval, with degrees of freedom rounded down; of yes and no Newcombe's, from Wilson's.  Source:
    Newcombe, "Interval estimation for the difference between independent proportions" (Statistics in Medicine
    17, 1998).
    """
    n, change = np.minimum(a.n, b.n), b.mean - a.mean
    if outcome.values.yes_no:
        ends = _newcombe(a, b)
        chance = np.zeros(len(n))
    else:
        va, vb = a.error**2, b.error**2
        with np.errstate(invalid="ignore", divide="ignore"):
            df = np.floor((va + vb) ** 2 / (va**2 / a.df + vb**2 / b.df) + 1e-9)
        still = va + vb == 0
        ends = student(change, np.sqrt(va + vb), np.where(still, np.minimum(a.df, b.df), df))
        # That of so many values the larger ones are all on one side.
        chance = np.where(still & _counts(outcome), 2 * np.exp(-_log_ways(a.n, b.n)), 0.0)
    low, high = ends(FALSE)
    reach = outcome.values.most - outcome.values.least
    equal = (a.n == b.n) & (a.mean == b.mean) & (a.error == b.error) if common else np.zeros(len(n), bool)
    return Differences(
        n, a.mean, b.mean, change, np.maximum(low, -reach), np.minimum(high, reach), ends, chance, equal
    )


def bracketed(
    n: Ints, means: tuple[Floats, Floats], a: tuple[Floats, Floats], b: tuple[Floats, Floats]
) -> Differences:
    """Of numbers with ends [rows] that hold together already, as those of a plan: what lies apart differs."""
    with np.errstate(invalid="ignore"):
        low, high, change = b[0] - a[1], b[1] - a[0], means[1] - means[0]
        equal = (a[0] == b[0]) & (a[1] == b[1]) & ((change == 0) | np.isnan(change))
    return Differences(n, *means, change, low, high, lambda _: (low, high), np.zeros(len(low)), equal)


def student(change: Floats, error: Floats, df: Floats | Ints) -> Ends:
    """Student's intervals.  Those of `means` have a correction for skewness: right at 95 %, it lets through
    many times too many where one in thousands is asked for."""

    def ends(wrong: float) -> tuple[Floats, Floats]:
        half = -stdtrit(np.where(np.asarray(df) >= 1, df, np.nan), wrong / 2) * error
        return change - half, change + half

    return ends


def _newcombe(a: Estimates, b: Estimates) -> Ends:
    def ends(wrong: float) -> tuple[Floats, Floats]:
        z = float(-ndtri(wrong / 2))
        (la, ua), (lb, ub) = (statistics.wilson(each.mean, each.n, z) for each in (a, b))
        low = np.sqrt((b.mean - lb) ** 2 + (ua - a.mean) ** 2)
        high = np.sqrt((ub - b.mean) ** 2 + (a.mean - la) ** 2)
        return b.mean - a.mean - low, b.mean - a.mean + high

    return ends


def _counts(outcome: Outcome) -> bool:
    """Whether its values are few: numbers of something, and what is made of them."""
    return dimension(outcome.name) in (units.PLAIN, units.PACKETS)


def _log_ways(a: Ints, b: Ints) -> Floats:
    return np.asarray(gammaln(a + b + 1.0) - gammaln(a + 1.0) - gammaln(b + 1.0))


def _means(values: Floats, both: Bools) -> Floats:
    return statistics.means(np.where(both, values, np.nan)).mean


class Judged(NamedTuple):
    """What is called: arrays [rows] over all differences, one after the other."""

    low: Floats
    """With `high` the intervals by which it is judged."""
    high: Floats
    verdict: Any
    """`differs`, `noise`, `equal` to the bit, or `unknown`: too few values for an interval."""
    tested: int
    confidence: float


def judge(found: Sequence[Differences]) -> Judged:
    """Call the differences that are more than chance, of all of them together."""
    chance = np.concatenate([each.chance for each in found])
    equal = np.concatenate([each.equal for each in found])

    def ends(wrong: float) -> tuple[Floats, Floats]:
        parts = [each.ends(wrong) for each in found]
        low, high = (np.concatenate([part[end] for part in parts]) for end in (0, 1))
        held = chance > wrong  # what chance does so often has an interval with 0
        return np.where(held, np.minimum(low, 0.0), low), np.where(held, np.maximum(high, 0.0), high)

    low, high = ends(FALSE)
    known = ~(np.isnan(low) | np.isnan(high)) & ~equal
    tested = k = int(known.sum())
    while k:
        low, high = ends(FALSE * k / tested)
        called = int((known & ((low > 0) | (high < 0))).sum())
        if called >= k:
            break
        k = called
    wrong = FALSE * max(k, 1) / max(tested, 1)
    low, high = ends(wrong)
    differs = known & ((low > 0) | (high < 0)) & (k > 0)
    verdict = np.select([equal, differs, known], ["equal", "differs", "noise"], "unknown")
    return Judged(low, high, verdict, tested, 1 - wrong)
