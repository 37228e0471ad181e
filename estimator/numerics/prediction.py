"""Range in which one more value of a sample lies with a given probability (a prediction interval)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.numerics import statistics
from netcarlo.numerics.statistics import LEVEL

FEWEST = 39
"""Fewest values of which two bound 95 % without an assumption about their distribution."""


class Range(NamedTuple):
    """Range of one more value."""

    low: float
    high: float
    exact: bool
    """True without an assumption about the distribution; false if values are taken as normal."""


def prediction(values: ArrayLike) -> Range:
    """Return the range in which another independent value lies with a probability of 95 %.

    With n >= 39 values, the range between the k-th smallest and k-th largest contains another one with
    probability (n + 1 - 2k) / (n + 1), whatever their distribution is; k is the largest for which this is at
    least 95 %. With fewer it is mean +- t sd sqrt(1 + 1/n), which assumes a normal distribution. NaN with
    fewer than two values. Source: Hahn and Meeker, "Statistical Intervals" (1991), sections 4.7 and 5.3.
    """
    x = np.sort(np.asarray(values, np.float64))
    x = x[np.isfinite(x)]
    n = len(x)
    if n >= FEWEST:
        k = math.floor((1 - LEVEL) / 2 * (n + 1) + 1e-9)
        return Range(float(x[k - 1]), float(x[n - k]), True)
    found = statistics.mean(x)
    half = float(statistics.student_t([max(n - 1, 1)])[0]) * found.sd * math.sqrt(1 + 1 / max(n, 1))
    return Range(found.mean - half, found.mean + half, False)
