"""Exponential random numbers made of integers: the same on every target.

A lost packet comes when the expected number of losses since the last one reaches an exponential number of
mean 1: so losses come as a Poisson process does, whatever the rate.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

UNIT_BITS = 40
"""Fraction bits of an expected number of losses."""

_LN2 = 744_261_118  # times 2**30
_DIGITS = 16  # of the logarithm


def make_exponential(dev: Callable[[Any], Any], draw: Any) -> Any:
    """Compile `exponential(seed, scenario, replication, stream, k)`: mean 1, UNIT_BITS fraction bits."""

    def exponential(seed: Any, scenario: Any, replication: Any, stream: Any, k: Any) -> Any:
        word, _, _, _ = draw(seed, scenario, replication, stream, k)
        mantissa = np.int64(word) | 1  # a uniform number in (0, 1), times 2**32
        exponent = np.int64(0)
        while mantissa < 1 << 31:
            mantissa <<= 1
            exponent += 1
        logarithm = np.int64(0)  # log2 of mantissa / 2**31, digit by digit: square and compare with 2
        mantissa >>= 1
        for _ in range(_DIGITS):
            mantissa = (mantissa * mantissa) >> 30
            logarithm <<= 1
            if mantissa >= 1 << 31:
                mantissa >>= 1
                logarithm += 1
        halvings = ((exponent + 1) << _DIGITS) - logarithm  # -log2 of the number
        return (halvings * _LN2) >> (_DIGITS + 30 - UNIT_BITS)

    return dev(exponential)
