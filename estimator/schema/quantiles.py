"""Inverse distribution functions: values [n] at the probabilities `u` [n] in [0, 1).

There is one function for each of `DISTRIBUTIONS`; it takes the parameters in the order given there.
Draws are the same on every machine, because only exactly rounded operations are used (`portable`).
"""

import numpy as np

from netcarlo.numerics import normal as gauss
from netcarlo.numerics import portable
from netcarlo.numerics.arrays import Floats, Ints

TINY = 1e-300
"""Minimum value of a quantity whose logarithm is drawn."""


def uniform(u: Floats, low: float, high: float) -> Floats:
    """Uniform distribution: all values are equally likely."""
    return np.asarray(low + u * (high - low))


def log_uniform(u: Floats, low: float, high: float) -> Floats:
    """Log-uniform distribution: all logarithms are equally likely."""
    return np.asarray(low * portable.exp2(u * portable.log2(high / low)))


def integers(u: Floats, low: float, high: float) -> Floats:
    """Discrete uniform distribution: all whole numbers are equally likely."""
    return np.asarray(low + _index(u, int(high - low) + 1), np.float64)


def choice(u: Floats, values: tuple[float, ...]) -> Floats:
    """Discrete distribution: all values of a list are equally likely."""
    return np.array(values)[_index(u, len(values))]


def triangular(u: Floats, low: float, mode: float, high: float) -> Floats:
    """Triangular distribution: the density rises linearly from `low` to `mode` and falls to `high`."""
    span, rise = high - low, mode - low
    up = low + np.sqrt(u * (span * rise))
    down = high - np.sqrt((1.0 - u) * (span * (high - mode)))
    return np.where(u * span < rise, up, down)


def normal(u: Floats, mean: float, sd: float, low: float, high: float) -> Floats:
    """Truncated normal distribution; mean and standard deviation are those before truncation."""
    # In the upper tail use the mirror image, where probabilities do not lose precision.
    sign = -1.0 if low > mean else 1.0
    a, b = sorted((sign * (low - mean) / sd, sign * (high - mean) / sd))
    at_a, at_b = gauss.below(a), gauss.below(b)
    p = at_a + (u if sign > 0 else 1.0 - u) * (at_b - at_a)
    return mean + sign * sd * gauss.quantile(p)


def lognormal(u: Floats, median: float, sigma: float, low: float, high: float) -> Floats:
    """Truncated lognormal distribution: the logarithm is normal with standard deviation `sigma`."""
    mean, a, b = portable.log(np.array([median, max(low, TINY), high])).tolist()
    return portable.exp(np.clip(normal(u, mean, sigma, a, b), a, b))


def exponential(u: Floats, mean: float, low: float, high: float) -> Floats:
    """Truncated exponential distribution; the mean is that before truncation."""
    return mean * _standard(u, low / mean, high / mean)


def weibull(u: Floats, scale: float, shape: float, low: float, high: float) -> Floats:
    """Truncated Weibull distribution: P(X < x) = 1 - exp(-(x / scale)**shape) before truncation."""
    ends = shape * (portable.log(np.array([low, high])) - portable.log(np.array([scale])))
    a, b = portable.exp(np.clip(ends, -700.0, 700.0)).tolist()
    return scale * portable.exp(portable.log(np.maximum(_standard(u, a, b), TINY)) / shape)


def pareto(u: Floats, scale: float, shape: float, low: float, high: float) -> Floats:
    """Truncated Pareto distribution: P(X > x) = (scale / x)**shape before truncation, for x >= `scale`."""
    a, b = (shape * (portable.log(np.array([low, high])) - portable.log(np.array([scale])))).tolist()
    return scale * portable.exp(_standard(u, a, b) / shape)


def empirical(u: Floats, flat: tuple[float, ...]) -> Floats:
    """Empirical distribution, linear between points; `flat` has the values, then their cumulative
    probabilities."""
    values, below = np.array(flat).reshape(2, -1)
    right = np.searchsorted(below, u, side="right")  # first point above u
    left = np.maximum(right - 1, 0)
    step = np.where(right > 0, below[right] - below[left], 1.0)
    part = np.where(right > 0, (u - below[left]) / step, 0.0)  # mass at the first point
    return np.asarray(values[left] + part * (values[right] - values[left]), np.float64)


def _standard(u: Floats, low: float, high: float) -> Floats:
    """Exponential distribution with mean 1, truncated to `low` to `high`."""
    kept = 1.0 - float(portable.exp(np.array([-min(high - low, 700.0)]))[0])
    return np.asarray(low - portable.log(1.0 - u * kept))


def _index(u: Floats, count: int) -> Ints:
    # The product can round up to `count` when u is the largest float below 1.
    return np.minimum(np.floor(u * count), count - 1).astype(np.int64)
