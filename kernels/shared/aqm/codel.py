"""CoDel: what has waited too long for too long is dropped at the head, ever faster (RFC 8289, section 5).

The control law t + interval / sqrt(count) is exact, rounded down: an integer square root by Newton.
`b` is the block of the link, `s` its `Discipline`, `q` the `Queue`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.shared.aqm import fates, places
from netcarlo.kernels.shared.aqm.state import NOTHING, Place, Queue
from netcarlo.kernels.shared.layout import Link, LinkOut
from netcarlo.kernels.shared.state import LinkWord

_SOON = 16
"""Intervals after which nothing is remembered of the last time of dropping."""


def take(p: Any, m: Any, b: Any, s: Any, q: Any, t: Any) -> Any:
    """What leaves a queue at `t`: its place, or NOTHING."""
    place, above = _head(m, b, s, q, t)
    if m[q + Queue.DROPPING] != 0:
        m[q + Queue.DROPPING] = above
    if m[q + Queue.DROPPING] != 0 and t >= m[q + Queue.DROP_NEXT]:
        place = _drop_more(p, m, b, s, q, t, place)
    elif m[q + Queue.DROPPING] == 0 and above:
        place = _begin_to_drop(p, m, b, s, q, t, place)
    return place


def _head(m: Any, b: Any, s: Any, q: Any, t: Any) -> Any:
    # The packet at the head is taken out: its place, and whether it may be dropped.
    place = places.pop(m, s, q)
    above, short = False, m[q + Queue.BYTES] <= m[b + Link.AQM_MTU]
    if place == NOTHING or short or t - m[place + Place.CAME] < m[b + Link.AQM_TARGET]:
        m[q + Queue.ABOVE] = 0
    elif m[q + Queue.ABOVE] == 0:
        m[q + Queue.ABOVE] = t + m[b + Link.AQM_INTERVAL]
    else:
        above = t >= m[q + Queue.ABOVE]
    return place, above


@noinline
def _drop_more(p: Any, m: Any, b: Any, s: Any, q: Any, t: Any, place: Any) -> Any:
    # In the dropping state, when the next one is due.
    while m[q + Queue.DROPPING] != 0 and t >= m[q + Queue.DROP_NEXT]:
        m[q + Queue.DROPS] += 1
        word, marked = fates.mark(m, b, m[place + Place.WORD])
        above = True
        if marked:
            m[place + Place.WORD] = word
        else:
            _drop(p, m, b, t, place)
            place, above = _head(m, b, s, q, t)
        if above:
            count, interval = m[q + Queue.DROPS], m[b + Link.AQM_INTERVAL]
            m[q + Queue.DROP_NEXT] = control_law(m[q + Queue.DROP_NEXT], interval, count)
        else:
            m[q + Queue.DROPPING] = 0
        if marked:
            break
    return place


@noinline
def _begin_to_drop(p: Any, m: Any, b: Any, s: Any, q: Any, t: Any, place: Any) -> Any:
    # The sojourn time has been above the target for an interval.
    word, marked = fates.mark(m, b, m[place + Place.WORD])
    if marked:
        m[place + Place.WORD] = word
    else:
        _drop(p, m, b, t, place)
        place, _ = _head(m, b, s, q, t)
    interval = m[b + Link.AQM_INTERVAL]
    before = m[q + Queue.DROPS] - m[q + Queue.DROPS_BEFORE]
    soon = t - m[q + Queue.DROP_NEXT] < _SOON * interval
    m[q + Queue.DROPPING] = 1
    m[q + Queue.DROPS] = before if before > 1 and soon else 1
    m[q + Queue.DROP_NEXT] = control_law(t, interval, m[q + Queue.DROPS])
    m[q + Queue.DROPS_BEFORE] = m[q + Queue.DROPS]
    return place


def _drop(p: Any, m: Any, b: Any, t: Any, place: Any) -> None:
    m[b + LinkWord.COUNTS + LinkOut.EARLY] += 1
    fates.drop(p, m, b, t, place)


@noinline
def control_law(t: Any, interval: Any, count: Any) -> Any:
    """When the next one is dropped [ns]: `interval` / sqrt(`count`) after `t`, rounded down."""
    square = interval * interval // count
    root = interval  # which is no less than the root: from there Newton's steps only fall
    lower = (root + square // max(root, np.int64(1))) // 2
    while lower < root:
        root = lower
        lower = (root + square // max(root, np.int64(1))) // 2
    return t + root
