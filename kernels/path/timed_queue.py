"""Packets that overtake each other wait in a queue in order of time, whose places are as many as `P.RING`.

`w` is the word of scratch `m` where its words begin.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, P
from netcarlo.kernels.base.ring import numbered


class Queue(IntEnum):
    """Words of scratch."""

    BEGIN = 0  # the word where the places begin
    HEAD = 1  # entries taken out so far
    TAIL = 2  # entries put in so far
    FULL = 3  # 1: there were too few places


class Entry(IntEnum):
    """Words of an entry."""

    TIME = 0  # [ns]
    PACKET = 1  # its number
    TAG = 2  # where it is, and what else must be known of it
    SENT = 3  # when the sender put it out [ns]


_ENTRY = len(Entry)


def scratch_words(ring: int) -> int:
    """Words of scratch for `ring` packets."""
    return _ENTRY * ring


def init(p: Any, m: Any, w: Any, free: Any) -> Any:
    """Lay out an empty queue, whose places lie from word `free` on; returns the next free word."""
    m[w + Queue.BEGIN] = free
    m[w + Queue.HEAD] = 0
    m[w + Queue.TAIL] = 0
    m[w + Queue.FULL] = 0
    return free + _ENTRY * p[P.RING]


def is_empty(m: Any, w: Any) -> Any:
    """Whether nobody waits."""
    return m[w + Queue.HEAD] == m[w + Queue.TAIL]


def due(p: Any, m: Any, w: Any) -> Any:
    """The time of the first packet [ns], or FOREVER."""
    if is_empty(m, w):
        return np.int64(FOREVER)
    return m[entry(p, m, w, m[w + Queue.HEAD]) + Entry.TIME]


def pop(p: Any, m: Any, w: Any) -> Any:
    """Take it out; returns (t, packet, tag, sent)."""
    at = entry(p, m, w, m[w + Queue.HEAD])
    m[w + Queue.HEAD] += 1
    return m[at + Entry.TIME], m[at + Entry.PACKET], m[at + Entry.TAG], m[at + Entry.SENT]


def entry(p: Any, m: Any, w: Any, i: Any) -> Any:
    """Where the words of the entry of that number begin."""
    return numbered(m[w + Queue.BEGIN], p[P.RING] - 1, _ENTRY, i)


@noinline
def push(p: Any, m: Any, w: Any, t: Any, packet: Any, tag: Any, sent: Any, first: Any) -> None:
    """Into the queue; of several at the same time those come first in whose tag the bits `first` are more,
    then those that have been there for longer.
    """
    i, head = m[w + Queue.TAIL], m[w + Queue.HEAD]
    if i - head >= p[P.RING]:
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
