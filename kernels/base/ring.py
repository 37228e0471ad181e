"""Queues in rings of scratch, each entry of so many words.

A ring has room for any number of entries and knows its first one.  Where an entry's number tells its place,
there are as many places as a power of two, see `numbered`.
"""

from enum import IntEnum
from typing import Any


class Ring(IntEnum):
    """Words of scratch of a ring."""

    HEAD = 0  # place of the first entry
    COUNT = 1  # entries
    ROOM = 2  # most entries
    BEGIN = 3  # the word where the places begin


def init(m: Any, ring: Any, begin: Any, room: Any) -> None:
    """Lay out an empty ring at word `ring`, whose places lie from word `begin` on."""
    m[ring + Ring.HEAD] = 0
    m[ring + Ring.COUNT] = 0
    m[ring + Ring.ROOM] = room
    m[ring + Ring.BEGIN] = begin


def entry(m: Any, ring: Any, words: Any, i: Any) -> Any:
    """The word where entry `i` begins, counted from the first one; behind the last there are free places."""
    place, room = m[ring + Ring.HEAD] + i, m[ring + Ring.ROOM]
    return m[ring + Ring.BEGIN] + words * (place if place < room else place - room)


def first(m: Any, ring: Any, words: Any) -> Any:
    """The word where the first entry begins."""
    return m[ring + Ring.BEGIN] + words * m[ring + Ring.HEAD]


def push(m: Any, ring: Any, words: Any) -> Any:
    """Append an entry, for which there must be room; returns the word where it begins."""
    count = m[ring + Ring.COUNT]
    m[ring + Ring.COUNT] = count + 1
    return entry(m, ring, words, count)


def pop(m: Any, ring: Any) -> None:
    """The first entry leaves."""
    following = m[ring + Ring.HEAD] + 1
    m[ring + Ring.HEAD] = following if following < m[ring + Ring.ROOM] else 0
    m[ring + Ring.COUNT] -= 1


def numbered(begin: Any, mask: Any, words: Any, number: Any) -> Any:
    """The word where the entry of that number begins, in `mask + 1` places from word `begin` on."""
    return begin + words * (number & mask)
