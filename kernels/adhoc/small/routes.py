"""Routes of at most MOST_ROUTE nodes in one word.

From the lowest bit: number of nodes (4 bits), then 6 bits per node.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import MOST_ROUTE
from netcarlo.kernels.base.inline import noinline

WORDS = 1
"""Words of scratch that hold a route."""
MOST = MOST_ROUTE
"""Maximum number of nodes of a route."""
_LENGTH_BITS, _NODE_BITS = 4, 6
_LENGTH_MASK, _NODE_MASK = 15, 63


def most(m: Any) -> Any:
    """Return the maximum number of nodes of a route in a network."""
    return MOST


def none() -> Any:
    """Return the empty route, which stands for no route."""
    return np.int64(0)


def single(i: Any) -> Any:
    """Return the route that consists of one node."""
    return np.int64(i) << _LENGTH_BITS | 1


def exists(route: Any) -> Any:
    """Return whether a route has nodes."""
    return route != 0


def length(route: Any) -> Any:
    """Return the number of nodes of a route, both ends included."""
    return route & _LENGTH_MASK


def node(route: Any, k: Any) -> Any:
    """Return the k-th node of a route."""
    return route >> (_LENGTH_BITS + _NODE_BITS * k) & _NODE_MASK


@noinline
def position(route: Any, i: Any) -> Any:
    """Return the position of node i in a route, or -1."""
    for k in range(route & _LENGTH_MASK):
        if node(route, k) == i:
            return k
    return np.int64(-1)


def part(route: Any, first: Any, last: Any) -> Any:
    """Return the part of a route from node `first` to node `last` - 1."""
    nodes = route >> (_LENGTH_BITS + _NODE_BITS * first)
    nodes &= (np.int64(1) << (_NODE_BITS * (last - first))) - 1
    return nodes << _LENGTH_BITS | (last - first)


@noinline
def reverse(route: Any) -> Any:
    """Return the reverse route."""
    nodes = np.int64(0)
    left = route >> _LENGTH_BITS
    for _ in range(route & _LENGTH_MASK):
        nodes = nodes << _NODE_BITS | (left & _NODE_MASK)
        left >>= _NODE_BITS
    return nodes << _LENGTH_BITS | (route & _LENGTH_MASK)


def join(route: Any, more: Any) -> Any:
    """Return a route followed by another one."""
    count = route & _LENGTH_MASK
    nodes = route >> _LENGTH_BITS | more >> _LENGTH_BITS << (_NODE_BITS * count)
    return nodes << _LENGTH_BITS | (count + (more & _LENGTH_MASK))


def begins(route: Any, start: Any) -> Any:
    """Return whether a route begins with the route `start`, which may be empty."""
    count = start & _LENGTH_MASK
    if count > route & _LENGTH_MASK:
        return False
    mask = (np.int64(1) << (_NODE_BITS * count)) - 1
    return (route ^ start) >> _LENGTH_BITS & mask == 0


def equal(route: Any, other: Any) -> Any:
    """Return whether two routes are equal."""
    return route == other


def read(m: Any, at: Any) -> Any:
    """Return the route that begins at word `at` of scratch."""
    return m[at]


def write(m: Any, at: Any, route: Any) -> None:
    """Write a route to scratch from word `at` on."""
    m[at] = route


def packed(number: Any) -> Any:
    """Return a number in the type of a route, for the load of a frame."""
    return number


def unpacked(load: Any) -> Any:
    """Return the number in the load of a frame."""
    return load
