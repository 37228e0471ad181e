"""Routes of at most MOST_LONG_ROUTE nodes in two words, 8 bits a node."""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.layout import MOST_LONG_ROUTE, MOST_ROUTE, MOST_SMALL, Manet
from netcarlo.kernels.base.inline import noinline

WORDS = 2
"""Words of scratch that hold a route."""
MOST = MOST_LONG_ROUTE
"""Maximum number of nodes of a route."""
_LENGTH_BITS, _NODE_BITS = 4, 8
_LENGTH_MASK, _NODE_MASK = 15, 255
_FIRST = 7  # number of nodes in the first word


class Route(NamedTuple):
    """Nodes of a route."""

    first: Any
    """From the lowest bit: number of nodes (4 bits), then the first seven nodes."""
    rest: Any
    """All further nodes."""


def most(m: Any) -> Any:
    """Return the maximum number of nodes of a route in a network."""
    return MOST_ROUTE if m[Manet.NODES] <= MOST_SMALL else MOST


def none() -> Any:
    """Return the empty route, which stands for no route."""
    return Route(np.int64(0), np.int64(0))


def single(i: Any) -> Any:
    """Return the route that consists of one node."""
    return Route(np.int64(i) << _LENGTH_BITS | 1, np.int64(0))


def exists(route: Any) -> Any:
    """Return whether a route has nodes."""
    return route.first != 0


def length(route: Any) -> Any:
    """Return the number of nodes of a route, both ends included."""
    return route.first & _LENGTH_MASK


def node(route: Any, k: Any) -> Any:
    """Return the k-th node of a route."""
    if k < _FIRST:
        return route.first >> (_LENGTH_BITS + _NODE_BITS * k) & _NODE_MASK
    return route.rest >> (_NODE_BITS * (k - _FIRST)) & _NODE_MASK


def _append(route: Any, i: Any) -> Any:
    """Return a route with node i appended."""
    count = length(route)
    if count < _FIRST:
        return Route((route.first | i << (_LENGTH_BITS + _NODE_BITS * count)) + 1, route.rest)
    return Route(route.first + 1, route.rest | i << (_NODE_BITS * (count - _FIRST)))


@noinline
def position(route: Any, i: Any) -> Any:
    """Return the position of node i in a route, or -1."""
    for k in range(length(route)):
        if node(route, np.int64(k)) == i:
            return np.int64(k)
    return np.int64(-1)


@noinline
def part(route: Any, first: Any, last: Any) -> Any:
    """Return the part of a route from node `first` to node `last` - 1."""
    found = none()
    for k in range(first, last):
        found = _append(found, node(route, np.int64(k)))
    return found


@noinline
def reverse(route: Any) -> Any:
    """Return the reverse route."""
    found = none()
    for k in range(length(route)):
        found = _append(found, node(route, length(route) - 1 - k))
    return found


@noinline
def join(route: Any, more: Any) -> Any:
    """Return a route followed by another one."""
    for k in range(length(more)):
        route = _append(route, node(more, np.int64(k)))
    return route


def begins(route: Any, start: Any) -> Any:
    """Return whether a route begins with the route `start`, which may be empty."""
    count = length(start)
    if count > length(route):
        return False
    mask = (np.int64(1) << (_NODE_BITS * min(count, _FIRST))) - 1
    if (route.first ^ start.first) >> _LENGTH_BITS & mask != 0:
        return False
    mask = (np.int64(1) << (_NODE_BITS * max(count - _FIRST, 0))) - 1
    return (route.rest ^ start.rest) & mask == 0


def equal(route: Any, other: Any) -> Any:
    """Return whether two routes are equal."""
    return route.first == other.first and route.rest == other.rest


def read(m: Any, at: Any) -> Any:
    """Return the route that begins at word `at` of scratch."""
    return Route(m[at], m[at + 1])


def write(m: Any, at: Any, route: Any) -> None:
    """Write a route to scratch from word `at` on."""
    m[at] = route.first
    m[at + 1] = route.rest


def packed(number: Any) -> Any:
    """Return a number in the type of a route, for the load of a frame."""
    return Route(number, np.int64(0))


def unpacked(load: Any) -> Any:
    """Return the number in the load of a frame."""
    return load.first
