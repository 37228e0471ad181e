"""Samples of a posterior by differential evolution Markov chains (ter Braak, 2006), many at a time."""

from collections.abc import Callable

import numpy as np

from netcarlo.numerics.arrays import Floats, Ints

NOISE = 1e-4
"""Standard deviation of the noise in each step, in units of the range of a field."""
JUMPS = 0.1
"""Share of steps of the full difference between two chains, which join separate regions."""
STUCK = 2.0
"""Number of interquartile ranges above the third quartile of the misfit from which a chain is stuck."""

Misfit = Callable[[Floats], Floats]
"""Function of positions [n, fields] that returns minus twice the logarithm of the likelihood, float64[n]."""


def even(n: int, fields: int, rng: np.random.Generator) -> Floats:
    """Return positions [n, fields] in [0, 1] that fill the space evenly: scrambled Sobol' points.

    `n` is a power of 2.
    """
    from scipy.stats import qmc

    return np.asarray(qmc.Sobol(fields, scramble=True, seed=rng).random(n))


def walk(
    misfit: Misfit, start: Floats, *, steps: int, temperature: float, rng: np.random.Generator
) -> Floats:
    """Return the positions [chains, fields] of Markov chains after a number of steps.

    All positions in [0, 1] are equally likely before the measurement; the likelihood counts to the power
    1 / `temperature`. Each half of the chains moves along differences of the other half. Chains that are
    stuck far from the others at the start are moved to others (Vrugt et al., 2009, DREAM).
    """
    positions, now = start.copy(), misfit(start)
    n, d = positions.shape
    one, three = np.quantile(now, [0.25, 0.75])
    stuck = now > three + STUCK * (three - one)
    chosen = rng.choice(np.flatnonzero(~stuck), size=int(stuck.sum()))
    positions[stuck], now[stuck] = positions[chosen], now[chosen]
    halves = np.arange(n) < n // 2, np.arange(n) >= n // 2
    for _ in range(steps):
        for mine, others in (halves, halves[::-1]):
            count = int(mine.sum())
            pool = positions[others]
            pairs = rng.integers(len(pool), size=(2, count))
            length = np.where(
                rng.random(count) < JUMPS, 1.0, 2.38 / np.sqrt(2 * d) * rng.uniform(0.5, 1, count)
            )
            moved = positions[mine] + length[:, None] * (pool[pairs[0]] - pool[pairs[1]])
            moved = reflected(moved + NOISE * rng.standard_normal((count, d)))
            then = misfit(moved)
            accept = np.log(rng.random(count)) < (now[mine] - then) / (2 * temperature)
            where = np.flatnonzero(mine)[accept]
            positions[where], now[where] = moved[accept], then[accept]
    return positions


def resampled(misfit: Floats, n: int, *, least: float, rng: np.random.Generator) -> Ints:
    """Return the indices of `n` candidates drawn by their likelihood, to the power 1 / temperature.

    The temperature is the lowest from 1 on at which at least a share `least` of the candidates is effective.
    """

    def weights(t: float) -> Floats:
        found = np.exp((misfit.min() - misfit) / (2 * t))
        return np.asarray(found / found.sum())

    def share(t: float) -> float:
        return float(1 / (weights(t) ** 2).sum()) / len(misfit)

    low, high = 1.0, 1.0
    while share(high) < least:
        low, high = high, high * 2
    while high > 1.05 * low:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if share(middle) < least else (low, middle)
    ends = np.cumsum(weights(high))
    found = np.searchsorted(ends, (np.arange(n) + rng.random()) / n * ends[-1])
    return np.asarray(np.minimum(found, len(misfit) - 1))


def reflected(positions: Floats) -> Floats:
    """Return positions reflected into [0, 1]."""
    folded = np.mod(positions, 2.0)
    return np.where(folded > 1, 2 - folded, folded)
