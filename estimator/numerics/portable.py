"""Elementary functions with the same results on every machine.

NumPy has variants of exp, cbrt and pow for each kind of processor, which differ in the last bit. Draws and
statistics use these functions, which consist of exactly rounded operations.
"""

import math
from decimal import Context, Decimal

import numpy as np

from netcarlo.numerics.arrays import Floats

DIGITS = Context(prec=40)
"""Context of decimal arithmetic; its logarithms and exponentials are exactly rounded."""

_LN_2 = (math.ldexp(6243314768165359, -53), 2.319046813846299558e-17)  # high and low part
_TERMS = [math.log(2) ** k / math.factorial(k) for k in range(18, -1, -1)]


def log2(x: float) -> float:
    """Return the logarithm to base 2 of a positive number."""
    return float(DIGITS.divide(DIGITS.ln(Decimal(x)), DIGITS.ln(Decimal(2))))


def power(base: float, exponent: float) -> float:
    """Return a positive number raised to a power."""
    return float(DIGITS.power(Decimal(base), Decimal(exponent)))


def log(x: Floats) -> Floats:
    """Return the natural logarithm of each finite element, to 2 units in the last place; minus infinity at
    0."""
    mantissa, exponent = np.frexp(np.where(x > 0, x, 1.0))
    low = mantissa < math.sqrt(0.5)
    mantissa, exponent = np.where(low, 2 * mantissa, mantissa), exponent - low
    s = (mantissa - 1) / (mantissa + 1)
    t = s * s
    series = np.full_like(t, 1 / 23)
    for k in range(21, 1, -2):  # series of atanh s without its first term
        series = series * t + 1 / k
    found = exponent * _LN_2[0] + (exponent * _LN_2[1] + (2 * s + 2 * s * t * series))
    return np.where(x > 0, found, np.where(x == 0, -np.inf, np.nan))


def exp2(x: Floats) -> Floats:
    """Return 2 to the power of each element, to 2 units in the last place."""
    whole = np.floor(x)
    part = x - whole
    value = np.full_like(part, _TERMS[0])
    for term in _TERMS[1:]:  # series of exp(part log 2)
        value = value * part + term
    return np.asarray(np.ldexp(value, whole.astype(np.int64)))


def exp(x: Floats) -> Floats:
    """Return the exponential of each element; the relative error is that of one rounding times 2 + |x|."""
    return exp2(np.asarray(x / _LN_2[0]))


def cbrt(x: Floats) -> Floats:
    """Return the cube root of each element, to 2 units in the last place; NaN and infinity are unchanged."""
    mantissa, exponent = np.frexp(np.abs(x))
    third = -(-exponent // 3)
    m = np.ldexp(mantissa, exponent - 3 * third)  # 1/8 to 1
    root = 0.4 + 0.62 * m
    with np.errstate(all="ignore"):
        for _ in range(6):
            root = root - (root * root * root - m) / (3.0 * root * root)
        found = np.copysign(np.ldexp(root, third), x)
    return np.where((x == 0) | ~np.isfinite(x), x, found)
