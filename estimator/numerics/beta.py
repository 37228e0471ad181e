"""Incomplete beta function with the same results on every machine and library version."""

import numpy as np

from netcarlo.numerics import portable
from netcarlo.numerics.arrays import Floats

_HALF_LOG_2PI = 0.9189385332046727
_SHIFT = 12
"""Shift of the arguments after which Stirling's series is accurate to a float."""
_STIRLING = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
_MOST = 100_000
"""Maximum number of terms of the continued fraction; it needs about the square root of its arguments."""


def log_beta(a: Floats, b: Floats) -> Floats:
    """Return the logarithms of the beta function of positive numbers, accurate to 1e-15 of max(|result|,
    1)."""
    x, y, ratio = a + _SHIFT, b + _SHIFT, np.ones(np.shape(a))
    for k in range(_SHIFT):
        ratio = ratio * ((a + b + k) / (a + k)) * ((a + b + _SHIFT + k) / (b + k))
    whole = x + y
    powers = (x - 0.5) * portable.log(x / whole) + y * portable.log(y / whole) - portable.log(y) / 2
    return np.asarray(powers + _HALF_LOG_2PI + (_rest(x) + _rest(y) - _rest(whole)) + portable.log(ratio))


def _rest(x: Floats) -> Floats:
    """Return the remainder of Stirling's formula."""
    z, series = 1 / (x * x), np.zeros_like(x)
    for coefficient in _STIRLING:
        series = series * z + coefficient
    return np.asarray(series / x)


def log_above(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return the logarithms of the integrals of t^(a - 1) (1 - t)^(b - 1) from `x` to 1, for 0 < x < 1."""
    y = 1 - x
    above = y * (a + b + 2) < b + 1  # the fraction converges fast for the smaller part
    p, q = np.where(above, b, a), np.where(above, a, b)
    u, v = np.where(above, y, x), np.where(above, x, y)
    part = p * portable.log(u) + q * portable.log(v) + portable.log(_fraction(p, q, u) / p)
    whole = log_beta(a, b)
    rest = whole + portable.log(1 - portable.exp(np.minimum(part - whole, 0.0)))
    return np.where(above, part, rest)


def quantile(a: Floats, b: Floats, p: float) -> Floats:
    """Return the quantiles of beta distributions at a probability `p`, by bisection, accurate to 1e-15."""
    low, high = np.zeros(np.shape(a)), np.ones(np.shape(a))
    limit = portable.log(np.array(1 - p)) + log_beta(a, b)
    for _ in range(50):
        middle = (low + high) / 2
        beyond = log_above(a, b, middle) > limit
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.asarray((low + high) / 2)


def _fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return the continued fractions of the incomplete beta function (DLMF 8.17.22, by Lentz's method).

    Each element stops when it has converged, independently of the others.
    """
    c, d = np.ones_like(x), 1 / (1 - (a + b) * x / (a + 1))
    found, open_ = d, np.ones(x.shape, bool)
    for m in range(1, _MOST):
        k = a + 2 * m
        one = m * (b - m) * x / ((k - 1) * k)
        other = -(a + m) * (a + b + m) * x / (k * (k + 1))
        c, d = 1 + one / c, 1 / (1 + one * d)
        factor = c * d
        c, d = 1 + other / c, 1 / (1 + other * d)
        found = np.where(open_, found * factor * (c * d), found)
        open_ = open_ & ~(abs(c * d - 1) < 4e-16)
        if not open_.any():
            break
    return found
