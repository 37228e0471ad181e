"""Packets in queues: chains of places, of which a link has so many.

`s` is where the `Discipline` of a link begins in scratch `m`, `q` a `Queue` of it.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.shared.aqm.state import NOTHING, Discipline, Place, Queue


def lay(m: Any, s: Any, begin: Any, room: Any) -> Any:
    """So many places without packets, from word `begin` on; returns the first word behind them."""
    m[s + Discipline.UNUSED] = begin
    for k in range(room):
        m[begin + Place.SIZE * k + Place.FOLLOWING] = begin + Place.SIZE * (k + 1)
    m[begin + Place.SIZE * (room - 1) + Place.FOLLOWING] = NOTHING
    return begin + Place.SIZE * room


def append(m: Any, s: Any, q: Any, t: Any, word: Any, size: Any) -> None:
    """A packet of `size` bytes comes to a queue at `t`: there must be a place."""
    place = m[s + Discipline.UNUSED]
    m[s + Discipline.UNUSED] = m[place + Place.FOLLOWING]
    m[place + Place.CAME] = t
    m[place + Place.WORD] = word
    m[place + Place.BYTES] = size
    m[place + Place.FOLLOWING] = NOTHING
    if m[q + Queue.FIRST] == NOTHING:
        m[q + Queue.FIRST] = place
    else:
        m[m[q + Queue.LAST] + Place.FOLLOWING] = place
    m[q + Queue.LAST] = place
    m[q + Queue.BYTES] += size
    m[s + Discipline.WAITING] += 1


def pop(m: Any, s: Any, q: Any) -> Any:
    """The packet at the head leaves: its place, whose words stay until the next packet comes, or NOTHING."""
    place = m[q + Queue.FIRST]
    if place != NOTHING:
        m[q + Queue.FIRST] = m[place + Place.FOLLOWING]
        m[q + Queue.BYTES] -= m[place + Place.BYTES]
        m[s + Discipline.WAITING] -= 1
        m[place + Place.FOLLOWING] = m[s + Discipline.UNUSED]
        m[s + Discipline.UNUSED] = place
    return np.int64(place)
