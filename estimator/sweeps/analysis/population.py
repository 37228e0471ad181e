"""Estimates over a population of drawn networks, with standard errors from the blocks of its design.

The points of a Latin hypercube or a Sobol sequence are dependent, so the variance of single draws does not
give the error of their mean. Blocks are independent and identically distributed, so the variance of their
means does (Owen, "Monte Carlo theory, methods and examples", chapter 17).

In all functions, `values` [n] has one number for each drawn network, and `blocks` [n] the block of each.
Networks with NaN are left out; in paired comparisons, those with NaN on either side.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean, Proportion

if TYPE_CHECKING:
    import pandas as pd


def mean(values: ArrayLike, blocks: ArrayLike) -> Mean:
    """Return the mean over the population, with `n` and `sd` of the networks and the interval from blocks.

    With B blocks of m_b networks, the variance of the mean is B / (B - 1) sum (m_b / n)^2 (mean_b - mean)^2.
    The interval is Student's with B - 1 degrees of freedom. If each block has one value, this is
    `statistics.mean`.
    """
    x, which = _kept(values, blocks)
    overall = statistics.mean(x)
    size = np.bincount(which)
    if len(size) == len(x):
        return overall
    rows = np.full((len(size), size.max()), np.nan)
    order = np.argsort(which, kind="stable")
    rows[which[order], np.arange(len(x)) - np.repeat(np.cumsum(size) - size, size)] = x[order]
    error = np.sqrt(_variance(statistics.means(rows).mean, overall.mean, size))
    half = float(statistics.student_t(len(size) - 1) * error)
    return overall._replace(ci_low=overall.mean - half, ci_high=overall.mean + half)


def share(values: ArrayLike, blocks: ArrayLike) -> Proportion:
    """Return the mean over the population of values from 0 to 1, with an interval inside this range.

    If every value is 0 or 1, the interval is that of `wins`, else that of `mean`.
    """
    x, which = _kept(values, blocks)
    if ((x > 0) & (x < 1)).any():
        found = mean(x, which)
        low, high = np.clip([found.ci_low, found.ci_high], 0.0, 1.0)
        return Proportion(found.n, found.mean, float(low), float(high))
    size = np.bincount(which)
    if len(size) == len(x):
        which = np.zeros_like(which)
    p, low, high = (float(each[0]) for each in _shares(np.bincount(which, x)[:, None], size))
    return Proportion(len(x), p, low, high)


def paired(a: ArrayLike, b: ArrayLike, blocks: ArrayLike) -> Mean:
    """Return the mean of the differences `b - a` on the same networks."""
    return mean(np.asarray(b, np.float64) - np.asarray(a, np.float64), blocks)


def exceedance(values: ArrayLike, blocks: ArrayLike, thresholds: ArrayLike) -> "pd.DataFrame":
    """Return the probability that the value of a network is at least each of the `thresholds` [k].

    Columns threshold, probability, ci_low, ci_high; a row for each threshold, with separate 95 % intervals.
    """
    import pandas as pd

    x, which = _kept(values, blocks)
    at = np.asarray(thresholds, np.float64).reshape(-1)
    order = np.lexsort((x, which))
    x, size = x[order], np.bincount(which)
    parts = [np.sort(x)] if len(size) == len(x) else np.split(x, np.cumsum(size)[:-1])
    reached = np.stack([len(part) - np.searchsorted(part, at) for part in parts])
    probability, low, high = _shares(reached, size)
    return pd.DataFrame({"threshold": at, "probability": probability, "ci_low": low, "ci_high": high})


def wins(values: Mapping[str, ArrayLike], blocks: ArrayLike, *, smaller: bool = False) -> "pd.DataFrame":
    """Return the fraction of networks on which each label has the largest (with `smaller`, smallest) value.

    Networks with NaN for any label are left out; equally good labels share a network. A row for each label,
    columns share, ci_low, ci_high.
    """
    import pandas as pd

    table = np.stack([np.asarray(v, np.float64) for v in values.values()], axis=1)
    table, which = _kept(-table if smaller else table, blocks)
    best = table == table.max(axis=1, keepdims=True)
    credit = best / best.sum(axis=1, keepdims=True)
    size = np.bincount(which)
    if len(size) == len(table):
        which = np.zeros_like(which)
    won = np.zeros((which.max(initial=0) + 1, len(values)))
    np.add.at(won, which, credit)
    share, low, high = _shares(won, size)
    index = pd.Index(list(values), name="label")
    return pd.DataFrame({"share": share, "ci_low": low, "ci_high": high}, index=index)


def _kept(values: ArrayLike, blocks: ArrayLike) -> tuple[Floats, NDArray[np.int64]]:
    """Return the values without NaN, and their blocks renumbered 0, 1, ..."""
    x = np.asarray(values, np.float64)
    keep = ~np.isnan(x.reshape(len(x), -1)).any(axis=1) if len(x) else np.zeros(0, bool)
    return x[keep], np.unique(np.asarray(blocks)[keep], return_inverse=True)[1].astype(np.int64)


def _variance(part: Floats, whole: Floats | float, size: NDArray[np.int64]) -> Floats:
    """Return the variance of the overall mean `whole` [...] from the block means `part` [blocks, ...]."""
    weight = (size / size.sum()).reshape(-1, *(1,) * (part.ndim - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        correction = np.float64(len(size)) / (len(size) - 1)
        return np.asarray(((weight * (part - whole)) ** 2).sum(axis=0) * correction)


def _shares(counts: ArrayLike, size: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Return fractions [k] and their intervals from `counts` [blocks, k] in blocks of `size` [blocks].

    Independent draws have a single row of counts, and Wilson's interval. Otherwise, with the variance v of a
    fraction p over the blocks, n draws are equivalent to p (1 - p) / v independent ones; this number and
    Student's t are used in Wilson's formula. A variance of 0, for example with p = 0, does not mean that
    there is no error, because one draw more or less would change it. So an interval is at least as wide as
    that of n independent draws or, if this is narrower, that of draws with a standard error of 1.96 / n.
    """
    won, n = np.asarray(counts, np.float64), size.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.clip(won.sum(axis=0) / n, 0.0, 1.0)
        if len(won) < len(size) or n <= 1:
            return p, *statistics.wilson(p, n)
        independent = p * (1 - p)
        variance = _variance(won / size[:, None], p, size)
        at_most = n * np.maximum(1.0, n * independent / 1.96**2)
        worth = np.minimum(independent / variance, at_most)
    low, high = statistics.wilson(p, at_most)
    t_low, t_high = statistics.wilson(p, worth, float(statistics.student_t(len(size) - 1)))
    # A variance of 0 needs no correction for degrees of freedom. With a single block the interval is NaN.
    use = variance != 0
    return p, np.where(use, np.minimum(low, t_low), low), np.where(use, np.maximum(high, t_high), high)
