"""Policer: drops, before the queue, packets for which a token bucket has no tokens.

It is the virtual scheduling algorithm of GCRA (ITU-T I.371): the state is the time at which the bucket will
be full.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import BYTE_TIME_BITS
from netcarlo.kernels.base.varying.framing import framed
from netcarlo.kernels.base.varying.shaper import passes
from netcarlo.kernels.base.varying.table import Head, Varying, first, second

_BITS = np.int64(BYTE_TIME_BITS)
_CEIL = np.int64((1 << BYTE_TIME_BITS) - 1)


@noinline
def conforms(table: Any, m: Any, v: Any, t: Any, size: Any) -> Any:
    """Return True if a packet of `size` bytes that arrives at time t [ns] conforms to the policer, and
    fits into the shaper's buckets."""
    at = m[v + Varying.TABLE]
    size = framed(table, at, size)
    if not passes(table, at, size):
        return False
    byte_time = first(table, at + Head.POLICER)
    if byte_time == 0:
        return True
    full = max(m[v + Varying.BUCKET_FULL_AT], t) + ((size * byte_time + _CEIL) >> _BITS)
    if full - t > second(table, at + Head.POLICER):
        return False
    m[v + Varying.BUCKET_FULL_AT] = full
    return True
