"""Means over cells of which a cheap model answers some, put right by a random sample that packets answer,
too.

The cells that the cheap model answers are the *clear* ones.  Those of them that were in the sample (drawn
before anything was known of them) have both values, and the regression of the one on the other tells what
packets would say of the others are on average: the regression estimator of sample surveys (Cochran, "Sampling
Techniques", 1977, chapter 7), of late prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan
and Zrnic, Science 382, 2023; Angelopoulos, Duchi and Zrnic, "PPI++", 2023).  Cells that packets answer
because they were in doubt stand for themselves alone.
"""

import math
from typing import NamedTuple

import numpy as np

from netcarlo.numerics.arrays import Bools, Floats
from netcarlo.numerics.statistics import wilson

PRIOR = 5
"""Cells that the slope 1 is worth: what is rare may be in none of the sample."""

LEAST = 20
"""Cells with both values below which no interval is given."""


class Completed(NamedTuple):
    """Cells with the clear ones put right, float64[networks]: the mean of each network's, and its part in the
    error."""

    mean: Floats
    influence: Floats
    """What its sampled cells have to do with the correction; the mean over the networks is 0."""


def values(packets: Floats, cheap: Floats, clear: Bools, both: Bools) -> Completed | None:
    """For each network what the mean over all networks is made of, and what its error.

    `packets` and `cheap` are float64[networks, points]: what is NaN did not happen, and counts for nothing.
    Packets' values are those of all cells but the `clear` ones, and of `both`, bool[networks, points]: the
    sampled ones that stand for the clear ones.  The spread of mean + influence over networks, or over blocks
    of them, tells the error of the mean, that of the correction included.  Where values are missing it is
    that of a ratio of two such means, the other that of what there is.  None if there are too few with both
    values.
    """
    if clear.any() and np.count_nonzero(both) < LEAST:
        return None
    there = _one(~np.isnan(packets), ~np.isnan(cheap), clear, both)
    total = _one(np.nan_to_num(packets), np.nan_to_num(cheap), clear, both)
    share = there.mean.mean()
    if not share > 0:
        return None
    mean = total.mean.mean() / share
    return Completed(
        mean + (total.mean - mean * there.mean) / share, (total.influence - mean * there.influence) / share
    )


def share(packets: Floats, cheap: Floats, clear: Bools, both: Bools) -> tuple[Floats, float, float] | None:
    """The same of numbers from 0 to 1 that are mostly 0 or 1: the mean of each network's cells,
    float64[networks], and how far below and above the mean over all the correction may put it.

    There the cheap values are taken as they are, and corrected by how often packets' are above or below them:
    that no sampled one was is no proof that none is, so these shares have Wilson's intervals, and their
    difference that of Newcombe (see `Results`).
    """
    there = both & ~np.isnan(packets) & ~np.isnan(cheap)
    n = np.count_nonzero(there)
    if clear.any() and n < LEAST:
        return None
    if not clear.any():
        return _average(packets), 0.0, 0.0
    off = (packets - cheap)[there]
    up, down = np.count_nonzero(off > 0) / n, np.count_nonzero(off < 0) / n
    (up_low, up_high), (down_low, down_high) = ((*map(float, wilson(p, n)),) for p in (up, down))
    weight = float(np.count_nonzero(clear & ~np.isnan(cheap)) / clear.size)
    below = weight * math.hypot(up - up_low, down_high - down)
    above = weight * math.hypot(up_high - up, down - down_low)
    return _average(np.where(clear, cheap + off.mean(), packets)), below, above


def _average(values: Floats) -> Floats:
    there = ~np.isnan(values)
    count = there.sum(axis=1)
    return np.where(count > 0, np.where(there, values, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def _one(packets: Floats | Bools, cheap: Floats | Bools, clear: Bools, both: Bools) -> Completed:
    """The same of numbers that are all there."""
    y, x = np.asarray(packets, np.float64), np.asarray(cheap, np.float64)
    networks, points = y.shape
    if not clear.any():
        return Completed(np.asarray(y.mean(axis=1)), np.zeros(networks))
    expected = _slope(y[both], x[both], float(x[clear].var())) * x
    off = np.where(both, y - expected, 0.0)
    n = np.count_nonzero(both)
    shift = off.sum() / n
    weight = np.count_nonzero(clear) / points / n
    return Completed(
        np.asarray(np.where(clear, expected + shift, y).mean(axis=1)),
        np.asarray(weight * np.where(both, off - shift, 0.0).sum(axis=1)),
    )


def _slope(y: Floats, x: Floats, variance: float) -> float:
    """The regression coefficient of pairs [n], drawn towards 1 as if there were some more in which the two
    move alike.

    `variance` is that of `x` where it is to be used: a sample that has seen nothing of it says nothing of the
    slope.
    """
    a, more = x - x.mean(), PRIOR * variance
    squares = float((a * a).sum()) + more
    return (float((a * y).sum()) + more) / squares if squares > 0 else 1.0
