"""Routes: at most MOST_ROUTE nodes in a word, from its low end their number (4 bits), then 6 bits a node."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline

LENGTH_BITS, NODE_BITS = 4, 6
LENGTH_MASK, NODE_MASK = 15, 63


def node(route: Any, k: Any) -> Any:
    """The k-th node."""
    return route >> (LENGTH_BITS + NODE_BITS * k) & NODE_MASK


@noinline
def position(route: Any, i: Any) -> Any:
    """Where node i is in a route, or -1."""
    for k in range(route & LENGTH_MASK):
        if node(route, k) == i:
            return k
    return np.int64(-1)


def part(route: Any, first: Any, last: Any) -> Any:
    """The nodes first .. last - 1 of a route."""
    nodes = route >> (LENGTH_BITS + NODE_BITS * first)
    nodes &= (np.int64(1) << (NODE_BITS * (last - first))) - 1
    return nodes << LENGTH_BITS | (last - first)


@noinline
def reverse(route: Any) -> Any:
    """The route back."""
    nodes = np.int64(0)
    left = route >> LENGTH_BITS
    for _ in range(route & LENGTH_MASK):
        nodes = nodes << NODE_BITS | (left & NODE_MASK)
        left >>= NODE_BITS
    return nodes << LENGTH_BITS | (route & LENGTH_MASK)


def join(route: Any, more: Any) -> Any:
    """A route with another one behind it."""
    length = route & LENGTH_MASK
    nodes = route >> LENGTH_BITS | more >> LENGTH_BITS << (NODE_BITS * length)
    return nodes << LENGTH_BITS | (length + (more & LENGTH_MASK))


def single(i: Any) -> Any:
    """The route of one node."""
    return np.int64(i) << LENGTH_BITS | 1


def begins(route: Any, start: Any) -> Any:
    """Whether `start` is empty, or the beginning of a route."""
    length = start & LENGTH_MASK
    if length > route & LENGTH_MASK:
        return False
    mask = (np.int64(1) << (NODE_BITS * length)) - 1
    return (route ^ start) >> LENGTH_BITS & mask == 0
