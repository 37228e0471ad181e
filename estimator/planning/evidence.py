"""Tests of a probability that may be looked at after every replication, and the bands they give.

The evidence that a probability is above p, after s successes in n trials, is the likelihood of the data
under probabilities above p, averaged over a prior, divided by the likelihood under p.  If the probability is
p or less, that is a supermartingale which starts at 1: it ever reaches 1 / level with probability `level` at
most, whenever one looks and whatever makes one stop.  Sources: Robbins, "Statistical methods related to the
law of the iterated logarithm" (Annals of Mathematical Statistics 41, 1970); Howard, Ramdas, McAuliffe,
Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences" (Annals of Statistics 49, 2021).
"""

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.numerics import beta, portable
from netcarlo.numerics.arrays import Floats

PRIOR = 20.0
"""The prior is the part above p of the beta distribution of mean p that is worth so many trials.  It does
well for differences from a tenth of 1 - p to the whole of it; any other is as valid."""

STEPS = 50
"""Halvings in the inversion of a test: far below what a plot or a decision can show."""


def above(successes: ArrayLike, trials: ArrayLike, p: ArrayLike) -> Floats:
    """The logarithm of the evidence that the probability is above `p`, of 0 < p < 1; shapes broadcast."""
    s, n, q = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (successes, trials, p)))
    a, b = PRIOR * q, PRIOR * (1 - q)
    found = beta.log_above(a + s, b + n - s, q) - beta.log_above(a, b, q)
    return np.asarray(found - s * portable.log(q) - (n - s) * portable.log(1 - q))


def below(successes: ArrayLike, trials: ArrayLike, p: ArrayLike) -> Floats:
    """The logarithm of the evidence that the probability is below `p`."""
    s, n, q = (np.asarray(x, np.float64) for x in (successes, trials, p))
    return above(n - s, n, 1 - q)


def lower(successes: ArrayLike, trials: ArrayLike, level: float) -> Floats:
    """The largest p that `above` rejects at `level`: the probability is higher with confidence 1 - level,
    at all times together."""
    s, n = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(trials, np.float64))
    low, high = np.zeros(s.shape), np.where(n > 0, s / np.maximum(n, 1), 0.0)
    for _ in range(STEPS):
        middle = (low + high) / 2
        inside = np.clip(middle, 1e-12, 1 - 1e-12)
        rejected = above(s, n, inside) >= _asked(level)
        low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
    return low


def _asked(level: float) -> float:
    """The evidence that rejects at `level`."""
    return -float(portable.log(np.asarray(level)))


def needed(p: float, level: float) -> int:
    """The fewest trials that can show a probability above `p`: all of them succeed."""
    n = 1
    while above(n, n, p) < _asked(level):
        n *= 2
    low, high = n // 2, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if above(middle, middle, p) >= _asked(level) else (middle, high)
    return high


def upper(successes: ArrayLike, trials: ArrayLike, level: float) -> Floats:
    """The smallest p that `below` rejects at `level`."""
    n = np.asarray(trials, np.float64)
    return 1 - lower(n - np.asarray(successes, np.float64), n, level)
