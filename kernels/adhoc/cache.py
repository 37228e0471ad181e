"""The routes that a node knows.

Source: Johnson, Hu and Maltz, RFC 4728 (DSR), with the path cache of ns-2: whole paths, the oldest replaced
first, cut where a link is reported broken.  `m` is scratch.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import topology
from netcarlo.kernels.adhoc.layout import IDEAL, Manet
from netcarlo.kernels.adhoc.routes import LENGTH_MASK, begins, node, part
from netcarlo.kernels.adhoc.state import CACHE, NODE_WORDS, NODES, UNKNOWN, Node, Word
from netcarlo.kernels.base.inline import noinline


@noinline
def add(m: Any, i: Any, route: Any) -> None:
    """Node i, the first of a route, learns it."""
    at = NODES + i * NODE_WORDS
    cache = m[at + Node.CACHE]
    for entry in range(CACHE):
        known = m[cache + entry]
        if begins(route, known):
            if known != route:
                m[cache + entry] = route
                m[at + Node.MEMO] = UNKNOWN
            return
        if begins(known, route):
            return
    pointer = m[at + Node.POINTER]
    m[cache + pointer] = route
    m[at + Node.POINTER] = (pointer + 1) % CACHE
    m[at + Node.MEMO] = UNKNOWN


@noinline
def dead(m: Any, i: Any, a: Any, b: Any) -> None:
    """Node i learns that the link from node a to b is broken."""
    at = NODES + i * NODE_WORDS
    cache = m[at + Node.CACHE]
    m[at + Node.MEMO] = UNKNOWN
    for entry in range(CACHE):
        known = m[cache + entry]
        for k in range((known & LENGTH_MASK) - 1):
            if node(known, k) == a and node(known, k + 1) == b:
                m[cache + entry] = part(known, np.int64(0), np.int64(k + 1)) if k > 0 else 0
                break


@noinline
def _look_up(m: Any, i: Any, j: Any) -> Any:
    """The shortest route to node j in the cache of node i; 0: none."""
    cache = m[NODES + i * NODE_WORDS + Node.CACHE]
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


@noinline
def find(m: Any, i: Any, j: Any) -> Any:
    """The shortest route that node i knows to j, with the ideal router the shortest there is; 0: none.

    Only source and sink ask again and again, each for the other: their answers are kept.
    """
    at = NODES + i * NODE_WORDS
    ideal = m[Manet.ROUTING] == IDEAL
    usual = (i == m[Manet.SOURCE] and j == m[Manet.SINK]) or (i == m[Manet.SINK] and j == m[Manet.SOURCE])
    stale = ideal and m[at + Node.MEMO_VERSION] != m[Word.VERSION]
    if usual and m[at + Node.MEMO] != UNKNOWN and not stale:
        return m[at + Node.MEMO]
    route = topology.shortest(m, i, j) if ideal else _look_up(m, i, j)
    if usual:
        m[at + Node.MEMO] = route
        m[at + Node.MEMO_VERSION] = m[Word.VERSION]
    return route
