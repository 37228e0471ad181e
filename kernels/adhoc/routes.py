"""Routes of at most MOST_ROUTE nodes in a word: from the low end their number (4 bits), then 6 bits each."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline

LENGTH_BITS, NODE_BITS = 4, 6
LENGTH_MASK, NODE_MASK = 15, 63


def node(route: Any, k: Any) -> Any:
    """Return the k-th node of a route."""
    return route >> (LENGTH_BITS + NODE_BITS * k) & NODE_MASK


@noinline
def position(route: Any, i: Any) -> Any:
    """Return the position of node i in a route, or -1."""
    for k in range(route & LENGTH_MASK):
        if node(route, k) == i:
            return k
    return np.int64(-1)


def part(route: Any, first: Any, last: Any) -> Any:
    """Return the part of a route from node `first` to node `last` - 1."""
    nodes = route >> (LENGTH_BITS + NODE_BITS * first)
    nodes &= (np.int64(1) << (NODE_BITS * (last - first))) - 1
    return nodes << LENGTH_BITS | (last - first)


@noinline
def reverse(route: Any) -> Any:
    """Return the reverse route."""
    nodes = np.int64(0)
    left = route >> LENGTH_BITS
    for _ in range(route & LENGTH_MASK):
        nodes = nodes << NODE_BITS | (left & NODE_MASK)
        left >>= NODE_BITS
    return nodes << LENGTH_BITS | (route & LENGTH_MASK)


def join(route: Any, more: Any) -> Any:
    """Return a route followed by another one."""
    length = route & LENGTH_MASK
    nodes = route >> LENGTH_BITS | more >> LENGTH_BITS << (NODE_BITS * length)
    return nodes << LENGTH_BITS | (length + (more & LENGTH_MASK))


def single(i: Any) -> Any:
    """Return the route that consists of one node."""
    return np.int64(i) << LENGTH_BITS | 1


def begins(route: Any, start: Any) -> Any:
    """Return whether a route begins with the route `start`, which may be empty."""
    length = start & LENGTH_MASK
    if length > route & LENGTH_MASK:
        return False
    mask = (np.int64(1) << (NODE_BITS * length)) - 1
    return (route ^ start) >> LENGTH_BITS & mask == 0
