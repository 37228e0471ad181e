"""Queue of packets ordered by time, with room for `RowP.RING` packets.

In all functions `w` is the word of scratch `m` where the words of the queue begin.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.ring import numbered


class Queue(IntEnum):
    """Words of a queue."""

    BEGIN = 0  # first word of the entries
    HEAD = 1  # entries removed so far
    TAIL = 2  # entries inserted so far
    FULL = 3  # 1 after an overflow


class Entry(IntEnum):
    """Words of a packet in the queue."""

    TIME = 0  # time at which the packet is forwarded [ns]
    PACKET = 1  # number of the packet
    TAG = 2  # position and other state of the packet, defined by the user of the queue
    SENT = 3  # send time of the packet [ns]


_ENTRY = len(Entry)


def scratch_words(ring: int) -> int:
    """Return the words of scratch for `ring` packets."""
    return _ENTRY * ring


def init(p: Any, m: Any, w: Any, free: Any) -> Any:
    """Lay out an empty queue with its entries from word `free` on; return the next free word."""
    m[w + Queue.BEGIN] = free
    m[w + Queue.HEAD] = 0
    m[w + Queue.TAIL] = 0
    m[w + Queue.FULL] = 0
    return free + _ENTRY * p[RowP.RING]


def is_empty(m: Any, w: Any) -> Any:
    """Return True if the queue is empty."""
    return m[w + Queue.HEAD] == m[w + Queue.TAIL]


def due(p: Any, m: Any, w: Any) -> Any:
    """Return the time of the first packet [ns], or FOREVER."""
    if is_empty(m, w):
        return np.int64(FOREVER)
    return m[entry(p, m, w, m[w + Queue.HEAD]) + Entry.TIME]


def pop(p: Any, m: Any, w: Any) -> Any:
    """Remove the first packet; return (t, packet, tag, sent)."""
    at = entry(p, m, w, m[w + Queue.HEAD])
    m[w + Queue.HEAD] += 1
    return m[at + Entry.TIME], m[at + Entry.PACKET], m[at + Entry.TAG], m[at + Entry.SENT]


def entry(p: Any, m: Any, w: Any, i: Any) -> Any:
    """Return the word where the entry of this number begins."""
    return numbered(m[w + Queue.BEGIN], p[RowP.RING] - 1, _ENTRY, i)


@noinline
def push(p: Any, m: Any, w: Any, t: Any, packet: Any, tag: Any, sent: Any, first: Any) -> None:
    """Insert a packet by time. Ties are ordered by the bits `first` of their tags, larger first,
    then by age."""
    i, head = m[w + Queue.TAIL], m[w + Queue.HEAD]
    if i - head >= p[RowP.RING]:
        m[w + Queue.FULL] = 1
        return
    m[w + Queue.TAIL] = i + 1
    here = entry(p, m, w, i)
    while i > head:
        before = entry(p, m, w, i - 1)
        time = m[before + Entry.TIME]
        if time < t or (time == t and m[before + Entry.TAG] & first >= tag & first):
            break
        for word in range(_ENTRY):
            m[here + word] = m[before + word]
        i -= 1
        here = before
    m[here + Entry.TIME] = t
    m[here + Entry.PACKET] = packet
    m[here + Entry.TAG] = tag
    m[here + Entry.SENT] = sent
