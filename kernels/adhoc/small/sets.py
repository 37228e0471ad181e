"""Sets of up to 64 nodes: an integer, in which a node is a bit."""

from typing import Any

import numpy as np

WORDS = 1
"""Words of scratch that hold a set."""


def none() -> Any:
    """Return the empty set."""
    return np.int64(0)


def first(n: Any) -> Any:
    """Return the set of nodes 0 to n - 1."""
    return np.int64(-1) if n == 64 else (np.int64(1) << n) - 1


def add(s: Any, i: Any) -> Any:
    """Return a set with node i added."""
    return s | np.int64(1) << i


def remove(s: Any, i: Any) -> Any:
    """Return a set without node i."""
    return s & ~(np.int64(1) << i)


def has(s: Any, i: Any) -> Any:
    """Return 1 if a set has node i, else 0."""
    return s >> i & 1


def union(s: Any, other: Any) -> Any:
    """Return the nodes that are in one of two sets."""
    return s | other


def common(s: Any, other: Any) -> Any:
    """Return the nodes that are in both of two sets."""
    return s & other


def without(s: Any, other: Any) -> Any:
    """Return the nodes of a set that are not in another one."""
    return s & ~other


def is_empty(s: Any) -> Any:
    """Return whether a set is empty."""
    return s == 0


def equal(s: Any, other: Any) -> Any:
    """Return whether two sets are equal."""
    return s == other


def read(m: Any, at: Any) -> Any:
    """Return the set that begins at word `at` of scratch."""
    return m[at]


def write(m: Any, at: Any, s: Any) -> None:
    """Write a set to scratch from word `at` on."""
    m[at] = s


def holds(m: Any, at: Any, i: Any) -> Any:
    """Return 1 if the set that begins at word `at` of scratch has node i, else 0."""
    return m[at] >> i & 1


def flip(m: Any, at: Any, i: Any) -> None:
    """Add node i to the set that begins at word `at` of scratch, or remove it."""
    m[at] ^= np.int64(1) << i
