"""Elementary functions whose results are the same on every machine.

NumPy has variants of exp, cbrt and pow for each kind of processor, which differ in the last bit.
What a draw or a statistic depends on is computed here with operations that are rounded exactly.
"""

import math
from decimal import Context, Decimal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_DIGITS = Context(prec=40)
_TERMS = [math.log(2) ** k / math.factorial(k) for k in range(18, -1, -1)]


def log2(x: float) -> float:
    """The logarithm to base 2 of a positive number."""
    return float(_DIGITS.divide(_DIGITS.ln(Decimal(x)), _DIGITS.ln(Decimal(2))))


def power(base: float, exponent: float) -> float:
    """A positive number to some power."""
    return float(_DIGITS.power(Decimal(base), Decimal(exponent)))


def exp2(x: Floats) -> Floats:
    """2 to the power of each element, to 2 units in the last place."""
    whole = np.floor(x)
    part = x - whole
    value = np.full_like(part, _TERMS[0])
    for term in _TERMS[1:]:  # the series of exp(part log 2)
        value = value * part + term
    return np.asarray(np.ldexp(value, whole.astype(np.int64)))


def cbrt(x: Floats) -> Floats:
    """The cube root of each element, to 2 units in the last place; NaN and infinity are themselves."""
    mantissa, exponent = np.frexp(np.abs(x))
    third = -(-exponent // 3)
    m = np.ldexp(mantissa, exponent - 3 * third)  # 1/8 to 1
    root = 0.4 + 0.62 * m
    with np.errstate(all="ignore"):
        for _ in range(6):
            root = root - (root * root * root - m) / (3.0 * root * root)
        found = np.copysign(np.ldexp(root, third), x)
    return np.where((x == 0) | ~np.isfinite(x), x, found)
