"""Estimates over a population of drawn networks, with errors from the blocks of its design.

The points of a Latin hypercube or a Sobol sequence depend on one another, so that the spread of
single draws says nothing about the error of their mean.  Whole blocks are independent and alike:
the spread of their means does (Owen, "Monte Carlo theory, methods and examples", chapter 17).

`values` [n] are one number per drawn network and `blocks` [n] the block of each.  NaN is left out,
in pairs where two are compared, so that an answer is about the networks that have one.
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
    """The mean over the population; `n` and `sd` are those of the networks, the interval is of blocks.

    The variance of the mean is that of block means weighted by their sizes m_b of n,
    B / (B - 1) sum (m_b / n)^2 (mean_b - mean)^2, and the interval is Student's with B - 1 degrees of
    freedom.  Where each value is a block this is `statistics.mean`.
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
    """The mean of shares, each from 0 to 1, over the population, with an interval inside that range.

    Where every share is 0 or 1 the interval is that of `wins`, else that of `mean`.
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
    """The mean of the differences `b - a` on the same networks."""
    return mean(np.asarray(b, np.float64) - np.asarray(a, np.float64), blocks)


def exceedance(values: ArrayLike, blocks: ArrayLike, thresholds: ArrayLike) -> "pd.DataFrame":
    """With which probability a network's value is at least each of the `thresholds` [k].

    Columns threshold, probability, ci_low, ci_high; a row per threshold, its own 95 % interval each.
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
    """On which share of the networks each label has the largest (or smallest) value.

    Networks on which one of them has NaN are left out; labels that are equally good share a network.
    A row per label, columns share, ci_low, ci_high.
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
    """Values without NaN, and the blocks of them, numbered 0, 1, ..."""
    x = np.asarray(values, np.float64)
    keep = ~np.isnan(x.reshape(len(x), -1)).any(axis=1) if len(x) else np.zeros(0, bool)
    return x[keep], np.unique(np.asarray(blocks)[keep], return_inverse=True)[1].astype(np.int64)


def _variance(part: Floats, whole: Floats | float, size: NDArray[np.int64]) -> Floats:
    """The variance of a mean `whole` [...] of blocks with the means `part` [blocks, ...]."""
    weight = (size / size.sum()).reshape(-1, *(1,) * (part.ndim - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        correction = np.float64(len(size)) / (len(size) - 1)
        return np.asarray(((weight * (part - whole)) ** 2).sum(axis=0) * correction)


def _shares(counts: ArrayLike, size: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Shares [k] and their intervals from the `counts` [blocks, k] in blocks of `size` [blocks].

    Independent draws come as one row of counts and have Wilson's interval.  Otherwise the variance v of
    a share p over the blocks makes n draws worth p (1 - p) / v independent ones, and these and Student's
    t are put into Wilson's formula.  A v of 0, such as where p is 0, is no proof of no error: with one
    draw more or less it would not be 0.  So an interval is at least that of n independent draws or,
    where this is narrower, that of draws with a standard error of p of 1.96 / n.
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
    # No deviation, no degrees of freedom to pay for; a lone block says nothing: its NaN wins.
    use = variance != 0
    return p, np.where(use, np.minimum(low, t_low), low), np.where(use, np.maximum(high, t_high), high)
