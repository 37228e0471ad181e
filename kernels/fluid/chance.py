"""Exponential random numbers made of integers: the same on every target.

A packet is lost when the number of losses to be expected since the last one reaches an exponential number of
mean 1: so losses come as a Poisson process does, whatever its rate.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

FRACTION_BITS = 40
_DIGITS = 16  # of the logarithm
_LN2 = 744_261_118  # times 2**30


def make_exponential(dev: Callable[[Any], Any], draw: Any) -> Any:
    """Compile `exponential(seed, scenario, replication, stream, k)`: mean 1, FRACTION_BITS fraction bits."""

    def exponential(seed: Any, scenario: Any, replication: Any, stream: Any, k: Any) -> Any:
        word, _, _, _ = draw(seed, scenario, replication, stream, k)
        mantissa = np.int64(word) | 1  # of a uniform number in (0, 1), times 2**32
        exponent = np.int64(1)
        while mantissa < 1 << 31:
            mantissa <<= 1
            exponent += 1
        mantissa >>= 1
        logarithm = np.int64(0)  # log2(mantissa / 2**30), digit by digit: square, and compare with 2
        for _ in range(_DIGITS):
            mantissa = (mantissa * mantissa) >> 30
            logarithm <<= 1
            if mantissa >= 1 << 31:
                mantissa >>= 1
                logarithm += 1
        halvings = (exponent << _DIGITS) - logarithm
        return (halvings * _LN2) >> (_DIGITS + 30 - FRACTION_BITS)

    return dev(exponential)
