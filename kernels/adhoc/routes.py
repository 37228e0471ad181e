"""Routes as words, and a node's cache of them.

Source: Johnson, Hu and Maltz, RFC 4728 (DSR), with the path cache of ns-2: whole paths, the oldest replaced
first, cut where a link is reported broken.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.layout import IDEAL, Manet
from netcarlo.kernels.adhoc.state import (
    CACHE,
    LENGTH_BITS,
    LENGTH_MASK,
    N_CACHE,
    N_MEMO,
    N_MEMO_VERSION,
    N_POINTER,
    NODE_BITS,
    NODE_MASK,
    NODE_WORDS,
    NODES,
    VERSION,
)
from netcarlo.kernels.base.inline import cold

UNKNOWN = -1
"""What `find` would return has to be looked up."""


class Routes(NamedTuple):
    """The compiled functions of routes; `m` is scratch, a route is a word (see `state`)."""

    node: Any
    """`(route, k) -> int`: the k-th node."""
    position: Any
    """`(route, i) -> int`: where node i is in it, or -1."""
    part: Any
    """`(route, first, last) -> route`: its nodes first .. last - 1."""
    reverse: Any
    """`(route) -> route`."""
    join: Any
    """`(route, route) -> route`: the one behind the other."""
    single: Any
    """`(i) -> route`: of one node."""
    add: Any
    """`(m, i, route)`: node i, its first, learns a route."""
    dead: Any
    """`(m, i, a, b)`: node i learns that the link a to b is broken."""
    find: Any
    """`(m, i, j) -> route`: the shortest that node i knows to j, 0: none."""


def make_routes(dev: Callable[[Any], Any], shortest: Any) -> Routes:
    """Compile `Routes` for a target; `shortest` is `Topology.route`."""

    def node(route: Any, k: Any) -> Any:
        return route >> (LENGTH_BITS + NODE_BITS * k) & NODE_MASK

    node = dev(node)

    def position(route: Any, i: Any) -> Any:
        for k in range(route & LENGTH_MASK):
            if route >> (LENGTH_BITS + NODE_BITS * k) & NODE_MASK == i:
                return k
        return np.int64(-1)

    position = dev(cold(position))

    def part(route: Any, first: Any, last: Any) -> Any:
        nodes = route >> (LENGTH_BITS + NODE_BITS * first)
        nodes &= (np.int64(1) << (NODE_BITS * (last - first))) - 1
        return nodes << LENGTH_BITS | (last - first)

    part = dev(part)

    @cold
    def reverse(route: Any) -> Any:
        nodes = np.int64(0)
        left = route >> LENGTH_BITS
        for _ in range(route & LENGTH_MASK):
            nodes = nodes << NODE_BITS | (left & NODE_MASK)
            left >>= NODE_BITS
        return nodes << LENGTH_BITS | (route & LENGTH_MASK)

    def join(route: Any, more: Any) -> Any:
        length = route & LENGTH_MASK
        nodes = route >> LENGTH_BITS | more >> LENGTH_BITS << (NODE_BITS * length)
        return nodes << LENGTH_BITS | (length + (more & LENGTH_MASK))

    join = dev(join)

    def single(i: Any) -> Any:
        return np.int64(i) << LENGTH_BITS | 1

    def begins(route: Any, start: Any) -> Any:
        # `start` is empty, or the beginning of `route`.
        length = start & LENGTH_MASK
        if length > route & LENGTH_MASK:
            return False
        mask = (np.int64(1) << (NODE_BITS * length)) - 1
        return (route ^ start) >> LENGTH_BITS & mask == 0

    begins = dev(begins)

    @cold
    def add(m: Any, i: Any, route: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        cache = m[at + N_CACHE]
        for entry in range(CACHE):
            known = m[cache + entry]
            if begins(route, known):
                if known != route:
                    m[cache + entry] = route
                    m[at + N_MEMO] = UNKNOWN
                return
            if begins(known, route):
                return
        pointer = m[at + N_POINTER]
        m[cache + pointer] = route
        m[at + N_POINTER] = (pointer + 1) % CACHE
        m[at + N_MEMO] = UNKNOWN

    @cold
    def dead(m: Any, i: Any, a: Any, b: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        cache = m[at + N_CACHE]
        m[at + N_MEMO] = UNKNOWN
        for entry in range(CACHE):
            known = m[cache + entry]
            for k in range((known & LENGTH_MASK) - 1):
                if node(known, k) == a and node(known, k + 1) == b:
                    m[cache + entry] = part(known, np.int64(0), np.int64(k + 1)) if k > 0 else 0
                    break

    @cold
    def look_up(m: Any, i: Any, j: Any) -> Any:
        cache = m[m[NODES] + i * NODE_WORDS + N_CACHE]
        best = np.int64(0)
        length = np.int64(LENGTH_MASK + 1)
        for entry in range(CACHE):
            known = m[cache + entry]
            for k in range(1, min(known & LENGTH_MASK, length - 1)):
                if node(known, k) == j:
                    best = part(known, np.int64(0), np.int64(k + 1))
                    length = np.int64(k + 1)
                    break
        return best

    look_up = dev(look_up)

    def find(m: Any, i: Any, j: Any) -> Any:
        # Only source and sink ask again and again, each for the other: the answer is kept.
        at = m[NODES] + i * NODE_WORDS
        ideal = m[Manet.ROUTING] == IDEAL
        usual = (i == m[Manet.SOURCE] and j == m[Manet.SINK]) or (i == m[Manet.SINK] and j == m[Manet.SOURCE])
        if usual and m[at + N_MEMO] != UNKNOWN and not (ideal and m[at + N_MEMO_VERSION] != m[VERSION]):
            return m[at + N_MEMO]
        route = shortest(m, i, j) if ideal else look_up(m, i, j)
        if usual:
            m[at + N_MEMO] = route
            m[at + N_MEMO_VERSION] = m[VERSION]
        return route

    return Routes(node, position, part, dev(reverse), join, dev(single), dev(add), dev(dead), dev(cold(find)))
