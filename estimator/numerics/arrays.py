"""Arrays by what they hold, and how outcomes are read from them."""

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import NS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def divisors(values: Ints | Floats) -> Floats:
    """The values, NaN where they are not positive."""
    return np.where(values > 0, values, np.nan).astype(np.float64)


def seconds(times: Ints) -> Floats:
    """Times [ns] in s, NaN for those that did not happen (NEVER)."""
    return np.where(times >= 0, times / NS, np.nan)
