"""Array types, and conversions of raw outcomes."""

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import NS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def divisors(values: Ints | Floats) -> Floats:
    """Return the values as floats, with NaN in place of values that are not positive."""
    return np.where(values > 0, values, np.nan).astype(np.float64)


def seconds(times: Ints) -> Floats:
    """Return times [ns] in seconds; NaN for NEVER."""
    return np.where(times >= 0, times / NS, np.nan)
