"""Exponential random numbers from integers, the same on every target.

An exponential number of mean 1 is -ln(u) of a uniform number u. The binary digits of log2(u) are found one
by one, by squaring (Knuth, The Art of Computer Programming 1, 1.2.2). After 16 digits the numbers are
multiples of ln(2) / 2**16, and their mean is 1 + 5e-6.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw

FRACTION_BITS = 40
_DIGITS = 16  # of the logarithm
_LN2 = 744_261_118  # times 2**30


def exponential(p: Any, stream: Any, k: Any) -> Any:
    """Draw `k` of a stream of the row with the columns `p`: of mean 1, with FRACTION_BITS fraction bits."""
    word, _, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, k)
    return exponential_of(np.int64(word))


def exponential_of(word: Any) -> Any:
    """Return the exponential number of 32 random bits, with FRACTION_BITS fraction bits."""
    mantissa = word | 1  # of a uniform number in (0, 1), times 2**32
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
