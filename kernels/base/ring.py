"""Ring buffers in scratch, with entries of several words.

A ring has room for any number of entries and stores the place of its first one. If the number of an entry
determines its place, the number of places is a power of two (`numbered`).
"""

from enum import IntEnum
from typing import Any


class Ring(IntEnum):
    """Words of scratch of a ring."""

    HEAD = 0  # place of the first entry
    COUNT = 1  # number of entries
    ROOM = 2  # maximum number of entries
    BEGIN = 3  # first word of the places


def init(m: Any, ring: Any, begin: Any, room: Any) -> None:
    """Initialise an empty ring at word `ring`, with `room` places from word `begin` on."""
    m[ring + Ring.HEAD] = 0
    m[ring + Ring.COUNT] = 0
    m[ring + Ring.ROOM] = room
    m[ring + Ring.BEGIN] = begin


def entry(m: Any, ring: Any, words: Any, i: Any) -> Any:
    """Return the word where entry `i` begins, counted from the first; places after the last entry
    are free."""
    place, room = m[ring + Ring.HEAD] + i, m[ring + Ring.ROOM]
    return m[ring + Ring.BEGIN] + words * (place if place < room else place - room)


def first(m: Any, ring: Any, words: Any) -> Any:
    """Return the word where the first entry begins."""
    return m[ring + Ring.BEGIN] + words * m[ring + Ring.HEAD]


def push(m: Any, ring: Any, words: Any) -> Any:
    """Append an entry, for which there must be room; return the word where it begins."""
    count = m[ring + Ring.COUNT]
    m[ring + Ring.COUNT] = count + 1
    return entry(m, ring, words, count)


def pop(m: Any, ring: Any) -> None:
    """Remove the first entry."""
    following = m[ring + Ring.HEAD] + 1
    m[ring + Ring.HEAD] = following if following < m[ring + Ring.ROOM] else 0
    m[ring + Ring.COUNT] -= 1


def numbered(begin: Any, mask: Any, words: Any, number: Any) -> Any:
    """Return the word where the entry of this number begins, in `mask + 1` places from word `begin` on."""
    return begin + words * (number & mask)
