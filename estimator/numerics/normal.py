"""Normal distribution with the same results on every machine and library version.

Draws and digests depend on it, so it uses only exactly rounded operations (`portable`).
"""

from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np

from netcarlo.numerics import portable
from netcarlo.numerics.arrays import Floats

_PI = Decimal("3.14159265358979323846264338327950288419716939937511")
_FAR = 5
"""Argument above which the continued fraction converges fast; below it the series has no cancellation."""
_FRACTIONS = 200
_BLOCK = 1 << 16
"""Number of quantiles per block, so that a block stays in the cache."""

# Rational approximations P / Q of the quantile, coefficients from the highest power down to the constant.
_CENTRE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)  # fmt: skip
_TAIL = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
     4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
     2.05319162663775882187e0, 1.0),
)  # fmt: skip
_FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
     5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def quantile(p: Floats) -> Floats:
    """Return the standard normal quantile of each probability, relative error 1e-15; infinite at 0 and 1.

    Source: Wichura, "Algorithm AS 241" (Applied Statistics 37, 1988), PPND16.
    """
    flat = np.asarray(p, np.float64).reshape(-1)
    parts = [_quantile(flat[i : i + _BLOCK]) for i in range(0, max(1, len(flat)), _BLOCK)]
    return np.concatenate(parts).reshape(np.shape(p))


def _quantile(p: Floats) -> Floats:
    q = p - 0.5
    found = q * _ratio(_CENTRE, 0.180625 - q * q)
    tail = np.abs(q) > 0.425
    if tail.any():
        far = np.where(q < 0, p, 1.0 - p)[tail]
        with np.errstate(all="ignore"):
            r = np.sqrt(-portable.log(far))
            value = np.where(r <= 5, _ratio(_TAIL, r - 1.6), _ratio(_FAR_TAIL, r - 5))
        value = np.where(far > 0, value, np.where(far == 0, np.inf, np.nan))
        found[tail] = np.copysign(value, q[tail])
    return found


def _ratio(approximation: tuple[tuple[float, ...], tuple[float, ...]], x: Floats) -> Floats:
    above, below = (np.full_like(x, coefficients[0]) for coefficients in approximation)
    for a, b in zip(*(coefficients[1:] for coefficients in approximation), strict=True):
        above, below = above * x + a, below * x + b
    return above / below


@lru_cache(maxsize=4096)
def below(x: float) -> float:
    """Return the probability of a value less than `x`, to the last digit.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.11 and 26.2.14.
    """
    if abs(x) > 40:  # beyond the smallest float
        return float(x > 0)
    with localcontext(portable.DIGITS):
        z = abs(Decimal(x))
        density = (-z * z / 2).exp() / (2 * _PI).sqrt()
        if z > _FAR:
            fraction = z
            for k in range(_FRACTIONS, 0, -1):
                fraction = z + k / fraction
            more = density / fraction
        else:
            term, total, k = z, z, 1
            while term > total * Decimal("1e-40"):
                k += 2
                term = term * z * z / k
                total += term
            more = Decimal("0.5") - density * total
        return float(1 - more if x > 0 else more)
