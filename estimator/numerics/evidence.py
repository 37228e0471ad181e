"""Sequential tests of a probability, and the confidence sequences that follow from them.

The evidence that a probability is above p, after s successes in n trials, is the likelihood of the data under
probabilities above p, averaged over a prior, divided by the likelihood under p. If the probability is p or
less, the evidence is a supermartingale that starts at 1. So it ever reaches 1 / level with probability at
most `level`, for any number of tests and any stopping rule. Sources: Robbins, "Statistical methods related to
the law of the iterated logarithm" (Annals of Mathematical Statistics 41, 1970); Howard, Ramdas, McAuliffe,
Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences" (Annals of Statistics 49, 2021).
"""

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.numerics import beta, portable
from netcarlo.numerics.arrays import Floats

PRIOR = 20.0
"""Weight of the prior [trials]. The prior is the beta distribution with mean p and this weight, restricted to
values above p. The test is valid for any weight; this one needs few trials for differences from a tenth of 1
- p to 1 - p."""

SECTIONS, ROUNDS = 32, 10
"""Number of parts into which the inversion of a test divides an interval, and how often: many points together
take hardly longer than one."""


def above(successes: ArrayLike, trials: ArrayLike, p: ArrayLike) -> Floats:
    """Return the natural logarithm of the evidence that the probability is above `p`, 0 < p < 1.

    The arguments are broadcast against each other.
    """
    s, n, q = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (successes, trials, p)))
    a, b = PRIOR * q, PRIOR * (1 - q)
    found = beta.log_above(a + s, b + n - s, q) - beta.log_above(a, b, q)
    return np.asarray(found - s * portable.log(q) - (n - s) * portable.log(1 - q))


def below(successes: ArrayLike, trials: ArrayLike, p: ArrayLike) -> Floats:
    """Return the natural logarithm of the evidence that the probability is below `p`, 0 < p < 1."""
    s, n, q = (np.asarray(x, np.float64) for x in (successes, trials, p))
    return above(n - s, n, 1 - q)


def lower(successes: ArrayLike, trials: ArrayLike, level: float) -> Floats:
    """Return the lower end of the confidence sequence: the largest p that `above` rejects at `level`.

    The probability is above this bound at all times together, with confidence 1 - level.
    """
    s, n = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(trials, np.float64))
    low, part = np.zeros(s.shape), np.where(n > 0, s / np.maximum(n, 1), 0.0)
    inner = np.arange(1.0, SECTIONS).reshape(-1, *[1] * s.ndim)
    for _ in range(ROUNDS):
        part = part / SECTIONS
        inside = np.clip(low + part * inner, 1e-12, 1 - 1e-12)
        low = low + part * (above(s, n, inside) >= _threshold(level)).sum(axis=0)
    return low


def _threshold(level: float) -> float:
    """Return the logarithm of the evidence that rejects at `level`."""
    return -float(portable.log(np.asarray(level)))


def needed(p: float, level: float) -> int:
    """Return the least number of trials that can show a probability above `p`, which is if all succeed."""
    n = 1
    while above(n, n, p) < _threshold(level):
        n *= 2
    low, high = n // 2, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if above(middle, middle, p) >= _threshold(level) else (middle, high)
    return high


def upper(successes: ArrayLike, trials: ArrayLike, level: float) -> Floats:
    """Return the upper end of the confidence sequence: the smallest p that `below` rejects at `level`."""
    n = np.asarray(trials, np.float64)
    return 1 - lower(n - np.asarray(successes, np.float64), n, level)
