"""Elementary functions whose results are the same on every machine.

NumPy has variants of exp, cbrt and pow for each kind of processor, which differ in the last bit.
What a draw or a statistic depends on is computed here with operations that are rounded exactly.
"""

import math
from decimal import Context, Decimal

import numpy as np

from netcarlo.numerics.arrays import Floats

DIGITS = Context(prec=40)
"""What decimal numbers are computed with; their logarithms and exponentials are rounded exactly."""

_LN_2 = (math.ldexp(6243314768165359, -53), 2.319046813846299558e-17)  # the second is what the first lacks
_TERMS = [math.log(2) ** k / math.factorial(k) for k in range(18, -1, -1)]


def log2(x: float) -> float:
    """The logarithm to base 2 of a positive number."""
    return float(DIGITS.divide(DIGITS.ln(Decimal(x)), DIGITS.ln(Decimal(2))))


def power(base: float, exponent: float) -> float:
    """A positive number to some power."""
    return float(DIGITS.power(Decimal(base), Decimal(exponent)))


def log(x: Floats) -> Floats:
    """The natural logarithm of each finite element, to 2 units in the last place; minus infinity at 0."""
    mantissa, exponent = np.frexp(np.where(x > 0, x, 1.0))
    low = mantissa < math.sqrt(0.5)
    mantissa, exponent = np.where(low, 2 * mantissa, mantissa), exponent - low
    s = (mantissa - 1) / (mantissa + 1)
    t = s * s
    series = np.full_like(t, 1 / 23)
    for k in range(21, 1, -2):  # of atanh s, without its first term
        series = series * t + 1 / k
    found = exponent * _LN_2[0] + (exponent * _LN_2[1] + (2 * s + 2 * s * t * series))
    return np.where(x > 0, found, np.where(x == 0, -np.inf, np.nan))


def exp2(x: Floats) -> Floats:
    """2 to the power of each element, to 2 units in the last place."""
    whole = np.floor(x)
    part = x - whole
    value = np.full_like(part, _TERMS[0])
    for term in _TERMS[1:]:  # the series of exp(part log 2)
        value = value * part + term
    return np.asarray(np.ldexp(value, whole.astype(np.int64)))


def exp(x: Floats) -> Floats:
    """The exponential of each element; the relative error is that of a rounding times 2 + |x|."""
    return exp2(np.asarray(x / _LN_2[0]))


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
