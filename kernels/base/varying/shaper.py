"""Shaper: a packet leaves the queue when a token bucket has its tokens, as `tbf` of Linux (`tbf_dequeue`).

Tokens are times, as there: a packet costs its transmission time at the rate of the bucket, and the bucket
holds `burst`. The state is the time at which the bucket is full. A second bucket with the peak rate limits
the rate within a burst.
"""

from typing import Any

from netcarlo.kernels.base.varying.table import Head, Varying, first, second
from netcarlo.kernels.base.wire import on_wire


def passes(table: Any, at: Any, size: Any) -> Any:
    """Return True if a packet of `size` bytes fits into the buckets (`max_size` in `tbf_enqueue`)."""
    cost = on_wire(size, first(table, at + Head.SHAPER))
    peak = on_wire(size, first(table, at + Head.PEAK))
    return cost <= second(table, at + Head.SHAPER) and peak <= second(table, at + Head.PEAK)


def released(table: Any, m: Any, v: Any, t: Any, size: Any) -> Any:
    """Return when a packet of `size` bytes leaves the buckets [ns], at `t` or later, and take its tokens."""
    at = m[v + Varying.TABLE]
    if first(table, at + Head.SHAPER) > 0:
        cost = on_wire(size, first(table, at + Head.SHAPER))
        peak = on_wire(size, first(table, at + Head.PEAK))
        t = max(t, m[v + Varying.SHAPER_FULL_AT] + cost - second(table, at + Head.SHAPER))
        t = max(t, m[v + Varying.PEAK_FULL_AT] + peak - second(table, at + Head.PEAK))
        m[v + Varying.SHAPER_FULL_AT] = max(m[v + Varying.SHAPER_FULL_AT], t) + cost
        m[v + Varying.PEAK_FULL_AT] = max(m[v + Varying.PEAK_FULL_AT], t) + peak
    return t
