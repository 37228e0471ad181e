"""Inverse distribution functions: the values [n] at the probabilities `u` [n] in [0, 1).

A function for each kind of `distributions.KINDS`, which takes its parameters in the order given there.  What
is drawn is the same on every machine: only operations that are rounded exactly (`portable`).
"""

import numpy as np

from netcarlo.numerics import normal as gauss
from netcarlo.numerics import portable
from netcarlo.numerics.arrays import Floats, Ints

TINY = 1e-300
"""Least value of a quantity whose logarithm is normal."""


def uniform(u: Floats, low: float, high: float) -> Floats:
    """All values equally likely."""
    return np.asarray(low + u * (high - low))


def log_uniform(u: Floats, low: float, high: float) -> Floats:
    """All logarithms equally likely."""
    return np.asarray(low * portable.exp2(u * portable.log2(high / low)))


def integers(u: Floats, low: float, high: float) -> Floats:
    """All whole numbers equally likely."""
    return np.asarray(low + _index(u, int(high - low) + 1), np.float64)


def choice(u: Floats, values: tuple[float, ...]) -> Floats:
    """All values of a list equally likely."""
    return np.array(values)[_index(u, len(values))]


def triangular(u: Floats, low: float, mode: float, high: float) -> Floats:
    """A density that rises from `low` to `mode` and falls to `high`, linearly."""
    span, rise = high - low, mode - low
    up = low + np.sqrt(u * (span * rise))
    down = high - np.sqrt((1.0 - u) * (span * (high - mode)))
    return np.where(u * span < rise, up, down)


def normal(u: Floats, mean: float, sd: float, low: float, high: float) -> Floats:
    """Normal, of that mean and standard deviation before it is cut off."""
    # In the upper tail work with the mirror image, where the probability below keeps its digits.
    sign = -1.0 if low > mean else 1.0
    a, b = sorted((sign * (low - mean) / sd, sign * (high - mean) / sd))
    at_a, at_b = gauss.below(a), gauss.below(b)
    p = at_a + (u if sign > 0 else 1.0 - u) * (at_b - at_a)
    return mean + sign * sd * gauss.quantile(p)


def lognormal(u: Floats, median: float, sigma: float, low: float, high: float) -> Floats:
    """The logarithm is normal with standard deviation `sigma`."""
    mean, a, b = portable.log(np.array([median, max(low, TINY), high])).tolist()
    return portable.exp(np.clip(normal(u, mean, sigma, a, b), a, b))


def exponential(u: Floats, mean: float, low: float, high: float) -> Floats:
    """Exponential, of that mean before it is cut off."""
    return mean * _standard(u, low / mean, high / mean)


def weibull(u: Floats, scale: float, shape: float, low: float, high: float) -> Floats:
    """Of the values a share of 1 - exp(-(x / scale)**shape) is below x."""
    ends = shape * (portable.log(np.array([low, high])) - portable.log(np.array([scale])))
    a, b = portable.exp(np.clip(ends, -700.0, 700.0)).tolist()
    return scale * portable.exp(portable.log(np.maximum(_standard(u, a, b), TINY)) / shape)


def pareto(u: Floats, scale: float, shape: float, low: float, high: float) -> Floats:
    """Of the values a share of (scale / x)**shape is above x, none is below `scale`."""
    a, b = (shape * (portable.log(np.array([low, high])) - portable.log(np.array([scale])))).tolist()
    return scale * portable.exp(_standard(u, a, b) / shape)


def empirical(u: Floats, flat: tuple[float, ...]) -> Floats:
    """Linear between points: first the values, then the probabilities not to exceed them."""
    values, below = np.array(flat).reshape(2, -1)
    right = np.searchsorted(below, u, side="right")  # the first point that u does not reach
    left = np.maximum(right - 1, 0)
    step = np.where(right > 0, below[right] - below[left], 1.0)
    part = np.where(right > 0, (u - below[left]) / step, 0.0)  # all that is below the first point is there
    return np.asarray(values[left] + part * (values[right] - values[left]), np.float64)


def _standard(u: Floats, low: float, high: float) -> Floats:
    """Exponential with mean 1 between `low` and `high`: it forgets what lies below."""
    kept = 1.0 - float(portable.exp(np.array([-min(high - low, 700.0)]))[0])
    return np.asarray(low - portable.log(1.0 - u * kept))


def _index(u: Floats, count: int) -> Ints:
    # The product can round up to `count` when u is the largest float below 1.
    return np.minimum(np.floor(u * count), count - 1).astype(np.int64)
