"""Means over cells of which some are answered by a cheap model, corrected with a random sample of packets.

The cells that the cheap model answers are the *clear* ones. Those in the random sample, which is drawn before
any results are known, have both values. The regression of the packet values on the cheap values predicts the
mean of the packet values of the other clear cells. This is the regression estimator of sample surveys
(Cochran, "Sampling Techniques", 1977, chapter 7), recently called prediction-powered inference (Angelopoulos,
Bates, Fannjiang, Jordan and Zrnic, Science 382, 2023; Angelopoulos, Duchi and Zrnic, "PPI++", 2023). Cells
that packets answer because the cheap model could not decide are used as they are.
"""

import math
from typing import NamedTuple

import numpy as np

from netcarlo.numerics.arrays import Bools, Floats
from netcarlo.numerics.statistics import wilson

PRIOR = 5
"""Weight of the slope 1 in the regression [cells]. A rare value may be missing in the sample."""

MIN_PAIRS = 20
"""Minimum number of cells with both values for an interval."""


class Completed(NamedTuple):
    """Corrected values of networks, float64[networks]."""

    mean: Floats
    """Mean over the cells of each network, with clear cells corrected."""
    influence: Floats
    """Influence of the sampled cells of each network on the correction; its mean over the networks is 0."""


def values(packets: Floats, cheap: Floats, clear: Bools, both: Bools) -> Completed | None:
    """Return the corrected mean of each network, and its influence on the correction.

    `packets` and `cheap` are float64[networks, points]; NaN means that there is no value. Packet values exist
    for all cells that are not `clear`, and for `both`, bool[networks, points]: the sampled cells that
    represent the clear ones. The variance of mean + influence over networks, or over blocks of them, gives
    the standard error of the overall mean, including that of the correction. With missing values, the
    estimate is the ratio of two such means: of the values, and of the fraction that exists. None if too few
    cells have both values.
    """
    if clear.any() and np.count_nonzero(both) < MIN_PAIRS:
        return None
    there = _complete_values(~np.isnan(packets), ~np.isnan(cheap), clear, both)
    total = _complete_values(np.nan_to_num(packets), np.nan_to_num(cheap), clear, both)
    share = there.mean.mean()
    if not share > 0:
        return None
    mean = total.mean.mean() / share
    return Completed(
        mean + (total.mean - mean * there.mean) / share, (total.influence - mean * there.influence) / share
    )


def share(packets: Floats, cheap: Floats, clear: Bools, both: Bools) -> tuple[Floats, float, float] | None:
    """Return corrected means of values from 0 to 1 that are mostly 0 or 1, float64[networks].

    Also return by how much the error of the correction extends the interval of the overall mean below and
    above. The arguments are those of `values`. The cheap values have slope 1, and are corrected by the
    fractions of sampled cells in which the packet value is above or below. These fractions have Wilson's
    intervals, which are not empty if the fraction is 0, and their difference has Newcombe's interval (see
    `Results`).
    """
    there = both & ~np.isnan(packets) & ~np.isnan(cheap)
    n = np.count_nonzero(there)
    if clear.any() and n < MIN_PAIRS:
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


def _complete_values(packets: Floats | Bools, cheap: Floats | Bools, clear: Bools, both: Bools) -> Completed:
    """Return the corrected values for data without missing values; the arguments are those of `values`."""
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
    """Return the regression coefficient of pairs [n], shrunk towards 1 with the weight `PRIOR`.

    `variance` is that of `x` over the cells to which the regression is applied. A sample with a much smaller
    variance gives little information on the slope.
    """
    a, more = x - x.mean(), PRIOR * variance
    squares = float((a * a).sum()) + more
    return (float((a * y).sum()) + more) / squares if squares > 0 else 1.0
