"""Distributions as tables of points, from which kernels draw during a run (`kernels.base.points`)."""

import numpy as np

from netcarlo.numerics.arrays import Floats
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number

_OCTAVES, _PARTS = 30, 8
"""Number of octaves of each tail of a distribution (each half as likely as the one before), and points per
octave."""

WORDS = 2 * (_OCTAVES * _PARTS * 2 + 64)
"""Approximate number of words of a distribution."""


def points(name: str, value: Number, factor: float, draws: Draws) -> Floats:
    """Return the points of a field times `factor` [n, words]; a fixed number has two equal points."""
    n = len(draws.replications)
    if isinstance(value, Distribution) and name not in draws.given:
        places, values = inverse(value)
        pairs = np.stack([places, np.rint(values * factor)], axis=1)
        return np.tile(np.append(len(pairs), pairs.reshape(-1)), (n, 1))
    fixed = np.rint(draws.floats(name, value) * factor)
    return np.stack([np.full(n, 2.0), np.zeros(n), fixed, np.full(n, 2.0**32), fixed], axis=1)


def inverse(value: Distribution) -> tuple[Floats, Floats]:
    """Return points of an inverse distribution function: probabilities times 2**32, and values.

    The points are exact where the function is piecewise linear; other functions have eight points in each
    octave of either tail.
    """
    top = 2.0**32
    if value.kind == "choice":
        k = np.arange(len(value.values))
        ends = np.stack([k, k + 1], axis=1).reshape(-1) / len(value.values)
        return np.rint(ends * top), np.repeat(value.values, 2)
    if value.kind == "empirical":
        values, below = (np.array(part) for part in value.points)
        return np.rint(np.append(0.0, below) * top), np.append(values[0], values)
    if value.kind == "uniform":
        return np.array([0.0, top]), np.array(value.values)
    tail = np.outer(0.5 ** np.arange(_OCTAVES, 1, -1), 1 + np.arange(_PARTS) / _PARTS).reshape(-1) / 2
    middle = np.arange(0.25, 0.75, 1 / 64)
    u = np.unique(np.rint(np.concatenate([[0.0], tail, middle, 1 - tail, [1.0]]) * top))
    return u, value.quantile(np.minimum(u, top - 0.5) / top)
