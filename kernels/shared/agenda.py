"""Event agenda: the keys of all sources of events, and a tournament tree that yields the earliest.

The keys of all classes except CLOCK and ARRIVAL are the leaves of a tree. A node is the smaller of its two
children, and node 1 is the earliest event. For each class the tree has as many leaves as the row has flows or
links, rounded up to a power of two. Arrivals have a tree of their own.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.shared.state import Word

ARRIVALS: Any = slot("arrivals")
"""True if flows arrive and depart."""


class Event(IntEnum):
    """Classes of events, in the order of precedence at equal times."""

    CLOCK = 0  # samples are due
    DATA = 1  # data of a flow reach the first link of their route
    ACK = 2  # acknowledgements of a flow reach the first link of their route
    HOST = 3  # an event at the hosts of a flow
    FAR_END = 4  # a packet reaches the far end of a link and enters the next one
    ARRIVAL = 5  # a flow arrives


NO_EVENT = (1 << 63) - 1
"""Key of no event. A key is time << 13 | class << 10 | number of the flow or link, whose bits some bits of
the time flip, so that no flow always precedes the others at equal times. The range is 13 days and 1,024
flows.
"""
_TIME_SHIFT = 13
_CLASS_SHIFT = 10
_NUMBER_MASK = 1023
_TIE_SHIFT = 11  # shift of the time that flips the bits of the number


def earliest(m: Any) -> Any:
    """Return the key of the next event."""
    key = min(m[Word.CLOCK], m[Word.EARLIEST])
    return min(key, m[m[Word.ARRIVALS] + 1]) if ARRIVALS else key


def earliest_of(m: Any, kind: Any) -> Any:
    """Return the key of the next event of a class in the tree."""
    return m[Word.TREE + kind + 3]


def time_of(key: Any) -> Any:
    """Return the time of an event [ns]."""
    return key >> _TIME_SHIFT


def class_of(key: Any) -> Any:
    """Return the class of an event (`Event`)."""
    return key >> _CLASS_SHIFT & 7


def number_of(key: Any) -> Any:
    """Return the flow or link of an event."""
    return (key ^ (key >> _TIME_SHIFT >> _TIE_SHIFT)) & _NUMBER_MASK


def set_clock(m: Any, t: Any) -> None:
    """Set the time of the next samples to `t` [ns]."""
    m[Word.CLOCK] = t << _TIME_SHIFT


def bring_arrival_forward(m: Any, i: Any, t: Any) -> None:
    """Bring the next arrival at source `i` forward to `t` [ns], if it is later."""
    _bring_forward(m, m[Word.ARRIVALS], _leaf_of_arrival(m, i), _key(Event.ARRIVAL, i, t))


def reschedule_arrival(m: Any, i: Any, t: Any) -> None:
    """Set the next arrival at source `i` to `t` [ns], after the earliest has happened."""
    _reschedule(m, m[Word.ARRIVALS], _leaf_of_arrival(m, i), _key(Event.ARRIVAL, i, t))


def bring_forward(m: Any, kind: Any, i: Any, t: Any) -> None:
    """Bring the event of class `kind` of flow or link `i` forward to `t` [ns], if it is later."""
    _bring_forward(m, Word.TREE, _leaf_of(m, kind, i), _key(kind, i, t))


def reschedule(m: Any, kind: Any, i: Any, t: Any) -> None:
    """Set the next event of class `kind` of flow or link `i` to `t` [ns], after the earliest has
    happened."""
    _reschedule(m, Word.TREE, _leaf_of(m, kind, i), _key(kind, i, t))


def _bring_forward(m: Any, tree: Any, node: Any, key: Any) -> None:
    while node > 0 and key < m[tree + node]:
        m[tree + node] = key
        node >>= 1


def _reschedule(m: Any, tree: Any, node: Any, key: Any) -> None:
    m[tree + node] = key
    while node > 1:
        key = min(key, m[tree + (node ^ 1)])
        node >>= 1
        m[tree + node] = key


def _key(kind: Any, i: Any, t: Any) -> Any:
    if t >= NO_EVENT >> _TIME_SHIFT:
        return np.int64(NO_EVENT)
    place = (i ^ (t >> _TIE_SHIFT)) & _NUMBER_MASK
    return t << _TIME_SHIFT | kind << _CLASS_SHIFT | place


def _leaf_of(m: Any, kind: Any, i: Any) -> Any:
    return ((kind + 3) << m[Word.BITS + kind]) + i  # the roots of the classes are nodes 4 to 7


def _leaf_of_arrival(m: Any, i: Any) -> Any:
    return (np.int64(1) << m[Word.FLOW_BITS]) + i
