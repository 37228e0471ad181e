"""Sets of up to 256 nodes: four integers, in which a node is a bit."""

from typing import Any, NamedTuple

import numpy as np

WORDS = 4
"""Words of scratch that hold a set."""
_SHIFT, _MASK = 6, 63  # node number >> _SHIFT is its word, node number & _MASK its bit


class Set(NamedTuple):
    """Set of nodes."""

    a: Any
    """Nodes 0 to 63."""
    b: Any
    """Nodes 64 to 127."""
    c: Any
    """Nodes 128 to 191."""
    d: Any
    """Nodes 192 to 255."""


def none() -> Any:
    """Return the empty set."""
    zero = np.int64(0)
    return Set(zero, zero, zero, zero)


def first(n: Any) -> Any:
    """Return the set of nodes 0 to n - 1."""
    return Set(_first(n), _first(n - 64), _first(n - 128), _first(n - 192))


def _first(n: Any) -> Any:
    return np.int64(-1) if n >= 64 else (np.int64(1) << max(n, 0)) - 1


def single(i: Any) -> Any:
    """Return the set of node i alone."""
    zero, bit, word = np.int64(0), np.int64(1) << (i & _MASK), i >> _SHIFT
    return Set(
        bit if word == 0 else zero, bit if word == 1 else zero, bit if word == 2 else zero,
        bit if word == 3 else zero,
    )  # fmt: skip


def add(s: Any, i: Any) -> Any:
    """Return a set with node i added."""
    return union(s, single(i))


def remove(s: Any, i: Any) -> Any:
    """Return a set without node i."""
    return without(s, single(i))


def has(s: Any, i: Any) -> Any:
    """Return 1 if a set has node i, else 0."""
    low, high = (s.a, s.c) if i & 64 == 0 else (s.b, s.d)
    return (low if i < 128 else high) >> (i & _MASK) & 1


def union(s: Any, other: Any) -> Any:
    """Return the nodes that are in one of two sets."""
    return Set(s.a | other.a, s.b | other.b, s.c | other.c, s.d | other.d)


def common(s: Any, other: Any) -> Any:
    """Return the nodes that are in both of two sets."""
    return Set(s.a & other.a, s.b & other.b, s.c & other.c, s.d & other.d)


def without(s: Any, other: Any) -> Any:
    """Return the nodes of a set that are not in another one."""
    return Set(s.a & ~other.a, s.b & ~other.b, s.c & ~other.c, s.d & ~other.d)


def is_empty(s: Any) -> Any:
    """Return whether a set is empty."""
    return s.a | s.b | s.c | s.d == 0


def equal(s: Any, other: Any) -> Any:
    """Return whether two sets are equal."""
    return s.a == other.a and s.b == other.b and s.c == other.c and s.d == other.d


def read(m: Any, at: Any) -> Any:
    """Return the set that begins at word `at` of scratch."""
    return Set(m[at], m[at + 1], m[at + 2], m[at + 3])


def write(m: Any, at: Any, s: Any) -> None:
    """Write a set to scratch from word `at` on."""
    m[at] = s.a
    m[at + 1] = s.b
    m[at + 2] = s.c
    m[at + 3] = s.d


def holds(m: Any, at: Any, i: Any) -> Any:
    """Return 1 if the set that begins at word `at` of scratch has node i, else 0."""
    return m[at + (i >> _SHIFT)] >> (i & _MASK) & 1


def flip(m: Any, at: Any, i: Any) -> None:
    """Add node i to the set that begins at word `at` of scratch, or remove it."""
    m[at + (i >> _SHIFT)] ^= np.int64(1) << (i & _MASK)
