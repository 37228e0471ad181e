"""Student's t distribution with the same results on every machine and library version."""

import math
from functools import lru_cache

import numpy as np

from netcarlo.numerics import beta, normal, portable

_EXPANDED = 1000.0
"""Degrees of freedom above which the expansion of the quantile is accurate to 1e-14."""


@lru_cache(maxsize=1 << 16)
def quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t at a probability from 0.6 to 0.975; NaN if `df` is less than 1.

    It uses an expansion in 1 / df (Abramowitz and Stegun, 26.7.5), improved by Newton's method; accuracy
    1e-12.
    """
    if not df >= 1:
        return math.nan
    z = float(normal.quantile(np.asarray(p)))
    s = z * z
    t = z + z / df * (
        (s + 1) / 4
        + ((5 * s + 16) * s + 3) / (96 * df)
        + (((3 * s + 19) * s + 17) * s - 15) / (384 * df * df)
        + ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / (92160 * df * df * df)
    )
    if df > _EXPANDED:
        return t
    scale = math.sqrt(df) * float(portable.exp(beta.log_beta(np.asarray(df / 2), np.asarray(0.5))))
    step = t
    while abs(step) > 1e-8 * t:  # the remaining error is of the order of step**2
        density = portable.power(df / (df + t * t), (df + 1) / 2) / scale
        step = (p - 0.5) / density - t * _series(df, t)
        t += step
    return t


def _series(df: float, t: float) -> float:
    """Return the probability between 0 and `t`, divided by `t` and by the density there (DLMF 8.17.8)."""
    y, k = t * t / (df + t * t), 0
    term = total = 1.0
    while term > 1e-17 * total:
        term *= (df + 1 + 2 * k) / (3 + 2 * k) * y
        total += term
        k += 1
    return total
