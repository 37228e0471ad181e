"""Random loss as the gap to the next loss, drawn exactly with integers.

The number of packets that survive before the next loss is geometric, P(gap = k) = p (1 - p)**k. With q = 1 -
p its binary digits are independent, P(digit j is 1) = q**(2**j) / (1 + q**(2**j)). So each digit is one
comparison of a 32-bit word with a threshold prepared on the host: no logarithm, and the same bits on every
target.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.philox import draw

Floats = NDArray[np.float64]

DIGITS = 32
NO_LOSS = 1 << 62
"""Gap of a link without loss."""


def thresholds(probability: ArrayLike) -> NDArray[np.uint32]:
    """Digit thresholds of the gap for loss probabilities `probability[m]` in [0, 1].

    Returns uint32[m, 32]: digit j is 1 when a 32-bit word is below threshold j.  A row of zeros is
    a certain loss; no loss (probability 0) is marked by the value 2**32 - 1 in the last digit.
    """
    q = 1.0 - np.asarray(probability, dtype=np.float64).reshape(-1)
    powers = np.empty((len(q), DIGITS))
    high, low = q, np.zeros_like(q)
    for digit in range(DIGITS):
        powers[:, digit] = high
        high, low = _square(high, low)
    table = np.minimum(np.rint(powers / (1.0 + powers) * 2.0**32), 2.0**32 - 1).astype(np.uint32)
    table[q >= 1.0, -1] = 0xFFFFFFFF
    return table


def probabilities(table: NDArray[np.uint32]) -> Floats:
    """Return the approximate loss probabilities of the rows of `thresholds`, float64[m]."""
    odd = table[:, 0] * 2.0**-32  # q / (1 + q)
    return np.where(table[:, -1] == 0xFFFFFFFF, 0.0, 1.0 - odd / (1.0 - odd))


def _square(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """Return the square of `high + low` in two parts.

    Repeated squaring with rounding errors kept (Dekker, Numerische Mathematik 18, 1971) is as accurate as a
    power, and the same on every machine, which NumPy's power is not.
    """
    upper = high * (2.0**27 + 1)
    upper = upper - (upper - high)
    lower = high - upper
    square = high * high
    error = ((upper * upper - square) + 2 * upper * lower) + lower * lower + 2 * high * low
    total = square + error
    return total, (square - total) + error


@noinline
def gap(losses: Any, row: Any, seed: Any, scenario: Any, replication: Any, stream: Any, k: Any) -> Any:
    """Return the number of packets between loss k - 1 and loss k of a stream, by the thresholds
    `losses[row]`."""
    if losses[row, DIGITS - 1] == np.uint32(0xFFFFFFFF):
        return np.int64(NO_LOSS)
    value = np.int64(0)
    for block in range(DIGITS // 4):
        if losses[row, 4 * block] == np.uint32(0):  # thresholds decrease: all further digits are 0
            break
        w0, w1, w2, w3 = draw(seed, scenario, replication, stream, k * (DIGITS // 4) + block)
        if w0 < losses[row, 4 * block]:
            value |= np.int64(1) << np.int64(4 * block)
        if w1 < losses[row, 4 * block + 1]:
            value |= np.int64(2) << np.int64(4 * block)
        if w2 < losses[row, 4 * block + 2]:
            value |= np.int64(4) << np.int64(4 * block)
        if w3 < losses[row, 4 * block + 3]:
            value |= np.int64(8) << np.int64(4 * block)
    return value
