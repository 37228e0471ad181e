"""Trace of the rate, delay and loss of a hop over time.

A trace is piecewise constant: from each of its times on, the hop has a rate, a delay and a loss. A packet is
transmitted at the rates during its transmission (not at all while the rate is 0), and has the delay and loss
of the moment at which its transmission ends. Or a trace is a list of *opportunities*, as in Mahimahi
(Netravali et al., USENIX ATC 2015): at each of them a number of bytes of waiting packets can leave; unused
bytes are lost. A trace ends for good, or repeats.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER
from netcarlo.kernels.base.varying.table import HEAD, STALLED, STEPS, Head, Varying, first, second

_BITS = np.int64(BYTE_TIME_BITS)
_HALF = np.int64(1 << (BYTE_TIME_BITS - 1))
_PART = np.int64(16)  # fraction bits of the bytes left to transmit
_MASK = np.int64((1 << 16) - 1)


def wide(table: Any, at: Any) -> Any:
    """Return the number of pairs of an entry."""
    return 2 if first(table, at + Head.TRACE) == STEPS else 1


def pair_of(m: Any, v: Any, wide: Any) -> Any:
    """Return the first pair of the current entry."""
    return m[v + Varying.TABLE] + HEAD + wide * m[v + Varying.ENTRY]


def _next(table: Any, m: Any, v: Any) -> None:
    """Move to the next entry; after the last one of a trace that does not repeat there is none."""
    at = m[v + Varying.TABLE]
    m[v + Varying.ENTRY] += 1
    if m[v + Varying.ENTRY] == second(table, at + Head.TRACE) and first(table, at + Head.PERIOD) > 0:
        m[v + Varying.ENTRY] = 0
        m[v + Varying.PERIOD_START] += first(table, at + Head.PERIOD)


def _begin(table: Any, m: Any, v: Any, t: Any) -> None:
    """Move to the start of the trace, at or before time t [ns]."""
    period = first(table, m[v + Varying.TABLE] + Head.PERIOD)
    m[v + Varying.PERIOD_START] = t // period * period if period > 0 else 0
    m[v + Varying.ENTRY] = 0


def _until(table: Any, m: Any, v: Any) -> Any:
    """Return the end of the current step [ns]."""
    at, entry = m[v + Varying.TABLE], m[v + Varying.ENTRY] + 1
    if entry < second(table, at + Head.TRACE):
        return m[v + Varying.PERIOD_START] + first(table, at + HEAD + 2 * entry)
    period = first(table, at + Head.PERIOD)
    return m[v + Varying.PERIOD_START] + period if period > 0 else np.int64(FOREVER)


def seek(table: Any, m: Any, v: Any, t: Any) -> None:
    """Move to the step of time t [ns], which never decreases except after a `reset`."""
    if m[v + Varying.PERIOD_START] < 0:
        _begin(table, m, v, t)
    while _until(table, m, v) <= t:
        _next(table, m, v)


def by_steps(table: Any, m: Any, v: Any, t: Any, size: Any) -> Any:
    """Return the end of a transmission that begins at time t [ns]."""
    seek(table, m, v, t)
    left = size << _PART
    while True:
        until, byte_time = _until(table, m, v), second(table, pair_of(m, v, 2))
        if byte_time > 0:
            need = (((left >> _PART) * byte_time + ((left & _MASK) * byte_time >> _PART)) + _HALF) >> _BITS
            if t + need <= until:
                return t + need
            whole = ((until - t) << _BITS) // byte_time
            part = ((((until - t) << _BITS) - whole * byte_time) << _PART) // byte_time
            left -= (whole << _PART) + part
        if until == FOREVER:
            return np.int64(STALLED)
        t = until
        _next(table, m, v)


def by_opportunities(table: Any, m: Any, v: Any, t: Any, size: Any) -> Any:
    """Return the time at which the last byte of a packet leaves that arrives at time t [ns]."""
    at = m[v + Varying.TABLE]
    if m[v + Varying.PERIOD_START] < 0:
        _begin(table, m, v, t)
        m[v + Varying.BYTES_LEFT] = second(table, at + HEAD)
    while m[v + Varying.ENTRY] < second(table, at + Head.TRACE):
        when = m[v + Varying.PERIOD_START] + first(table, pair_of(m, v, 1))
        if when > t:
            if size <= m[v + Varying.BYTES_LEFT]:
                m[v + Varying.BYTES_LEFT] -= size
                return when
            size -= m[v + Varying.BYTES_LEFT]
        _next(table, m, v)
        if m[v + Varying.ENTRY] < second(table, at + Head.TRACE):
            m[v + Varying.BYTES_LEFT] = second(table, pair_of(m, v, 1))
    return np.int64(STALLED)
