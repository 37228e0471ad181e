"""Quantiles of the histograms that kernels write (`kernels.base.histogram`)."""

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.kernels.base.histogram import STEP_BITS
from netcarlo.numerics.arrays import Floats, Ints


def edges(n: int) -> Ints:
    """Return the lower edges of the first `n` bins, int64[n]."""
    k = np.arange(n)
    shift = np.maximum((k >> STEP_BITS) - 1, 0)
    return np.asarray((k - (shift << STEP_BITS)) << shift, np.int64)


def quantiles(counts: ArrayLike, q: float) -> Floats:
    """Return the `q` quantile of each histogram in `counts` [..., bins]; NaN for an empty histogram.

    The result is the centre of the bin with the value below which a share `q` lies. Values were rounded down
    to whole numbers; the error is at most half a bin, 1 / 64 of the value from 32 on.
    """
    table = np.asarray(counts, np.int64)
    total = table.sum(axis=-1)
    rank = np.minimum(np.floor(q * total), total - 1)  # index in sorted order, from 0
    at = (table.cumsum(axis=-1) <= rank[..., None]).sum(axis=-1)
    low = edges(table.shape[-1] + 1)
    middle = (low[:-1] + low[1:]) / 2
    return np.where(total > 0, middle[np.minimum(at, table.shape[-1] - 1)], np.nan)
