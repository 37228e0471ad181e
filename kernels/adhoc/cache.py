"""Route caches of the nodes.

Source: Johnson, Hu and Maltz, RFC 4728 (DSR), with the path cache of ns-2: it stores whole paths, replaces
the oldest first, and truncates paths at a link that is reported broken. `m` is scratch.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import topology
from netcarlo.kernels.adhoc.layout import IDEAL, Manet
from netcarlo.kernels.adhoc.state import CACHE, NODE_WORDS, NODES, UNKNOWN, Node, Word, routes
from netcarlo.kernels.base.inline import noinline


@noinline
def add(m: Any, i: Any, route: Any) -> None:
    """Add a route to the cache of its first node i."""
    at = NODES + i * NODE_WORDS
    cache = m[at + Node.CACHE]
    for entry in range(CACHE):
        known = routes.read(m, cache + routes.WORDS * entry)
        if routes.begins(route, known):
            if not routes.equal(known, route):
                routes.write(m, cache + routes.WORDS * entry, route)
                m[at + Node.MEMO] = UNKNOWN
            return
        if routes.begins(known, route):
            return
    pointer = m[at + Node.POINTER]
    routes.write(m, cache + routes.WORDS * pointer, route)
    m[at + Node.POINTER] = (pointer + 1) % CACHE
    m[at + Node.MEMO] = UNKNOWN


@noinline
def dead(m: Any, i: Any, a: Any, b: Any) -> None:
    """Remove the broken link from node a to node b from the cache of node i."""
    at = NODES + i * NODE_WORDS
    cache = m[at + Node.CACHE]
    m[at + Node.MEMO] = UNKNOWN
    for entry in range(CACHE):
        to = cache + routes.WORDS * entry
        known = routes.read(m, to)
        for k in range(routes.length(known) - 1):
            if routes.node(known, k) == a and routes.node(known, k + 1) == b:
                left = routes.part(known, np.int64(0), np.int64(k + 1)) if k > 0 else routes.none()
                routes.write(m, to, left)
                break


@noinline
def _look_up(m: Any, i: Any, j: Any) -> Any:
    """Return the shortest route to node j in the cache of node i, or none."""
    cache = m[NODES + i * NODE_WORDS + Node.CACHE]
    best = routes.none()
    length = np.int64(routes.MOST + 1)
    for entry in range(CACHE):
        known = routes.read(m, cache + routes.WORDS * entry)
        for k in range(1, min(routes.length(known), length - 1)):
            if routes.node(known, k) == j:
                best = routes.part(known, np.int64(0), np.int64(k + 1))
                length = np.int64(k + 1)
                break
    return best


@noinline
def find(m: Any, i: Any, j: Any) -> Any:
    """Return the shortest route from node i to node j, or none: from the cache, or of the ideal router.

    Only source and sink request routes repeatedly, each to the other; the results of these lookups are
    stored.
    """
    at = NODES + i * NODE_WORDS
    ideal = m[Manet.ROUTING] == IDEAL
    usual = (i == m[Manet.SOURCE] and j == m[Manet.SINK]) or (i == m[Manet.SINK] and j == m[Manet.SOURCE])
    stale = ideal and m[at + Node.MEMO_VERSION] != m[Word.VERSION]
    if usual and m[at + Node.MEMO] != UNKNOWN and not stale:
        return routes.read(m, at + Node.MEMO)
    route = topology.shortest(m, i, j) if ideal else _look_up(m, i, j)
    if usual:
        routes.write(m, at + Node.MEMO, route)
        m[at + Node.MEMO_VERSION] = m[Word.VERSION]
    return route
