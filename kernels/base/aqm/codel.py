"""CoDel: packets that wait longer than the target for an interval are dropped at the head, at an increasing
rate (RFC 8289, section 5).

The control law t + interval / sqrt(count) is exact, rounded down: an integer square root by Newton's method.
`q` is the `Queue`. `p`, `m`, `b` and `s` are passed on to the functions `fates` of the network, which remove,
mark and drop packets.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm.state import NULL, Buffer, Queue
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline

fates: Any = slot("fates")
"""Functions of the network: `pop` removes a packet, `drop_early` drops one, and `mark` marks one."""

_RECENT_INTERVALS = 16
"""Intervals after which the previous dropping state is forgotten."""


def dequeue(p: Any, m: Any, b: Any, s: Any, q: Any, t: Any, limits: Any) -> Any:
    """Dequeue a packet at `t`, and return its buffer or NULL."""
    buffer, above = _dodequeue(m, s, q, t, limits)
    if m[q + Queue.DROPPING] != 0:
        m[q + Queue.DROPPING] = above
    if m[q + Queue.DROPPING] != 0 and t >= m[q + Queue.DROP_NEXT]:
        buffer = _drop_in_state(p, m, b, s, q, t, limits, buffer)
    elif m[q + Queue.DROPPING] == 0 and above:
        buffer = _enter_dropping(p, m, b, s, q, t, limits, buffer)
    return buffer


def _dodequeue(m: Any, s: Any, q: Any, t: Any, limits: Any) -> Any:
    """Remove the packet at the head; return its buffer, and whether it may be dropped (RFC 8289, section
    5.5)."""
    buffer = fates.pop(m, s, q)
    above, short = False, m[q + Queue.BYTES] <= limits.mtu
    if buffer == NULL or short or t - m[buffer + Buffer.ARRIVED] < limits.target:
        m[q + Queue.FIRST_ABOVE_TIME] = 0
    elif m[q + Queue.FIRST_ABOVE_TIME] == 0:
        m[q + Queue.FIRST_ABOVE_TIME] = t + limits.interval
    else:
        above = t >= m[q + Queue.FIRST_ABOVE_TIME]
    return buffer, above


@noinline
def _drop_in_state(p: Any, m: Any, b: Any, s: Any, q: Any, t: Any, limits: Any, buffer: Any) -> Any:
    """Drop packets in the dropping state while a drop is due."""
    while m[q + Queue.DROPPING] != 0 and t >= m[q + Queue.DROP_NEXT]:
        m[q + Queue.COUNT] += 1
        word, marked = fates.mark(m, b, m[buffer + Buffer.PACKET])
        above = True
        if marked:
            m[buffer + Buffer.PACKET] = word
        else:
            fates.drop_early(p, m, b, s, t, buffer)
            buffer, above = _dodequeue(m, s, q, t, limits)
        if above:
            count = m[q + Queue.COUNT]
            m[q + Queue.DROP_NEXT] = control_law(m[q + Queue.DROP_NEXT], limits.interval, count)
        else:
            m[q + Queue.DROPPING] = 0
        if marked:
            break
    return buffer


@noinline
def _enter_dropping(p: Any, m: Any, b: Any, s: Any, q: Any, t: Any, limits: Any, buffer: Any) -> Any:
    """Enter the dropping state after the sojourn time was above the target for an interval."""
    word, marked = fates.mark(m, b, m[buffer + Buffer.PACKET])
    if marked:
        m[buffer + Buffer.PACKET] = word
    else:
        fates.drop_early(p, m, b, s, t, buffer)
        buffer, _ = _dodequeue(m, s, q, t, limits)
    before = m[q + Queue.COUNT] - m[q + Queue.LAST_COUNT]
    soon = t - m[q + Queue.DROP_NEXT] < _RECENT_INTERVALS * limits.interval
    m[q + Queue.DROPPING] = 1
    m[q + Queue.COUNT] = before if before > 1 and soon else 1
    m[q + Queue.DROP_NEXT] = control_law(t, limits.interval, m[q + Queue.COUNT])
    m[q + Queue.LAST_COUNT] = m[q + Queue.COUNT]
    return buffer


@noinline
def control_law(t: Any, interval: Any, count: Any) -> Any:
    """Return the time of the next drop [ns]: `interval` / sqrt(`count`) after `t`, rounded down."""
    square = interval * interval // count
    root = interval  # an upper bound, from which Newton's steps decrease
    lower = (root + square // max(root, np.int64(1))) // 2
    while lower < root:
        root = lower
        lower = (root + square // max(root, np.int64(1))) // 2
    return t + root
