"""Topology: the sets of neighbours, their changes, shortest paths, and statistics of these.

Each pair of nodes has two bits, link (within transmission range) and sense (within sensing range). A bit
changes only at its event, so rounding cannot toggle it. `m` is scratch.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.motion import advance, crossing, encounter, position, set_out
from netcarlo.kernels.adhoc.state import COUNTS, NO_TIME, NODE_WORDS, NODES, Node, Word, routes, sets
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER

_MICROSECOND = 1000


class Change(IntEnum):
    """Kinds of events of the topology."""

    LINK = 0  # a link appeared or broke
    SENSE = 1  # a sense bit changed
    LEG = 2  # a node started its next leg
    PAIR = 3  # the next changes of one of its pairs have been computed


@noinline
def _search(m: Any, source: Any, sink: Any) -> Any:
    """Search the links breadth first, and store the levels in LEVELS.

    Returns the hops to the sink (0: not reachable), and the set of reachable nodes.
    """
    n = m[Manet.NODES]
    level = sets.add(sets.none(), source)
    seen = level
    hops = np.int64(0)
    depth = np.int64(0)
    while not sets.is_empty(level):
        sets.write(m, m[Word.LEVELS] + sets.WORDS * depth, level)
        if sets.has(level, sink):
            hops = depth
        reached = sets.none()
        for i in range(n):
            if sets.has(level, i):
                reached = sets.union(reached, sets.read(m, NODES + i * NODE_WORDS + Node.LINK))
        level = sets.without(reached, seen)
        seen = sets.union(seen, level)
        depth += 1
    return hops, seen


@noinline
def _way_back(m: Any, sink: Any, hops: Any) -> Any:
    """Return the route that the last search has found; none if there is no route, or it is too long."""
    if hops < 1 or hops >= routes.most(m):
        return routes.none()
    route = routes.single(sink)
    at = sink
    for depth in range(hops - 1, -1, -1):
        level = sets.read(m, m[Word.LEVELS] + sets.WORDS * depth)
        before = sets.common(level, sets.read(m, NODES + at * NODE_WORDS + Node.LINK))
        at = np.int64(0)
        while sets.has(before, at) == 0:
            at += 1
        route = routes.join(routes.single(at), route)
    return route


@noinline
def shortest(m: Any, source: Any, sink: Any) -> Any:
    """Return a shortest route over the current links; none if there is no route, or it is too long."""
    hops, _ = _search(m, source, sink)
    return _way_back(m, sink, hops)


@noinline
def integrate(m: Any, t: Any) -> None:
    """Integrate the statistics up to `t`."""
    us = (t - m[Word.INTEGRATED]) // _MICROSECOND
    m[Word.INTEGRATED] += us * _MICROSECOND
    hops = m[Word.HOPS]
    if hops > 0:
        m[COUNTS + ManetOut.CONNECTED] += us
        m[COUNTS + ManetOut.HOPS_1 + min(hops, 5) - 1] += us
        m[COUNTS + ManetOut.HOPS_SHORTEST] += hops * us
    if m[Word.SPLIT] != 0:
        m[COUNTS + ManetOut.SPLIT] += us
    if m[Word.KEPT] != 0:
        m[COUNTS + ManetOut.HOPS_KEPT] += (routes.length(routes.read(m, Word.KEPT)) - 1) * us
    m[COUNTS + ManetOut.LINK_TIME] += m[Word.LINKS] * us


@noinline
def _survey(m: Any, t: Any) -> None:
    """Determine hops, split and kept route at `t`."""
    hops, seen = _search(m, m[Manet.SOURCE], m[Manet.SINK])
    m[Word.HOPS] = hops
    m[Word.SPLIT] = 0 if sets.equal(seen, sets.first(m[Manet.NODES])) else 1
    if m[Word.KEPT] == 0 and hops > 0:
        routes.write(m, Word.KEPT, _way_back(m, m[Manet.SINK], hops))
        m[Word.KEPT_SINCE] = t


@noinline
def _link_changed(m: Any, i: Any, j: Any, t: Any) -> None:
    """Count the effects of the link of i and j, which appeared or broke at `t`."""
    integrate(m, t)
    m[Word.VERSION] += 1
    m[COUNTS + ManetOut.LINK_CHANGES] += 1
    comes = sets.holds(m, NODES + i * NODE_WORDS + Node.LINK, j)
    m[Word.LINKS] += 1 if comes else -1
    kept = routes.read(m, Word.KEPT)
    if not comes and routes.exists(kept):
        for k in range(routes.length(kept) - 1):
            a, b = routes.node(kept, k), routes.node(kept, k + 1)
            if (a == i and b == j) or (a == j and b == i):
                m[COUNTS + ManetOut.KEPT_BREAKS] += 1
                m[COUNTS + ManetOut.KEPT_LIFE] += (t - m[Word.KEPT_SINCE]) // _MICROSECOND
                m[Word.KEPT] = 0
    before = m[Word.HOPS]
    _survey(m, t)
    if before > 0 and m[Word.HOPS] == 0:
        m[Word.OUTAGE_SINCE] = t
    if before == 0 and m[Word.HOPS] > 0 and m[Word.OUTAGE_SINCE] != NO_TIME:
        m[COUNTS + ManetOut.OUTAGES] += 1
        m[COUNTS + ManetOut.OUTAGE_TIME] += (t - m[Word.OUTAGE_SINCE]) // _MICROSECOND


def _pair(m: Any, i: Any, j: Any) -> Any:
    """Return the first word of a pair i < j: the next changes of its link bit and of its sense bit."""
    return m[Word.PAIRS] + 2 * (i * m[Manet.NODES] + j)


@noinline
def _foresee(m: Any, i: Any, j: Any, now: Any) -> None:
    """Compute both next changes of a pair i < j after `now`."""
    at = NODES + i * NODE_WORDS
    to = _pair(m, i, j)
    square, along, across = encounter(m, i, j, now)
    m[to] = crossing(square, along, across, now, sets.holds(m, at + Node.LINK, j) != 0, m[Manet.RANGE])
    m[to + 1] = crossing(square, along, across, now, sets.holds(m, at + Node.SENSE, j) != 0, m[Manet.SENSE])


@noinline
def _next_of_row(m: Any, i: Any) -> None:
    """Set the time of the next event of node i: its next leg, or a change of its pairs with later nodes."""
    at = NODES + i * NODE_WORDS
    first = m[at + Node.T1]
    for j in range(i + 1, m[Manet.NODES]):
        to = _pair(m, i, j)
        first = min(first, min(m[to], m[to + 1]))
    m[at + Node.ROW_AT] = first


@noinline
def _next_of_all(m: Any) -> None:
    """Set the time of the next event of the topology."""
    first = np.int64(FOREVER)
    for i in range(m[Manet.NODES]):
        first = min(first, m[NODES + i * NODE_WORDS + Node.ROW_AT])
    m[Word.TOPOLOGY_AT] = first


@noinline
def begin(m: Any, times: Any, places: Any) -> None:
    """Initialise nodes, bits and statistics at time 0."""
    n = m[Manet.NODES]
    set_out(m, times, places)
    m[Word.LINKS] = 0
    zero = np.int64(0)
    for i in range(n):
        at = NODES + i * NODE_WORDS
        x, y = position(m, i, zero)
        for j in range(n):
            if j != i:
                other_x, other_y = position(m, np.int64(j), zero)
                square = (other_x - x) * (other_x - x) + (other_y - y) * (other_y - y)
                if square <= m[Manet.RANGE] * m[Manet.RANGE]:
                    sets.flip(m, at + Node.LINK, j)
                    m[Word.LINKS] += 1 if j > i else 0
                if square <= m[Manet.SENSE] * m[Manet.SENSE]:
                    sets.flip(m, at + Node.SENSE, j)
    for i in range(n):
        for j in range(i + 1, n):
            _foresee(m, np.int64(i), np.int64(j), zero)
        _next_of_row(m, np.int64(i))
    _next_of_all(m)
    m[Word.PARTNER] = n
    m[Word.OUTAGE_SINCE] = NO_TIME
    _survey(m, zero)


def _leg_ends(m: Any, times: Any, places: Any, i: Any, t: Any) -> None:
    """Put node i on its next leg, which changes the times of all its pairs: events at `t` follow."""
    advance(m, times, places, i, t)
    m[Word.MOVED] = i
    m[Word.PARTNER] = 0


@noinline
def _next_pair(m: Any, t: Any) -> Any:
    """Process the next pair of a node whose leg has ended.

    Rows of a device run in lockstep: a loop over all pairs in one row would delay all others.
    """
    i, j = m[Word.MOVED], m[Word.PARTNER]
    if j != i:
        _foresee(m, min(i, j), max(i, j), t)
    if j < i:
        _next_of_row(m, j)
    m[Word.PARTNER] += 1
    if m[Word.PARTNER] == m[Manet.NODES]:
        _next_of_row(m, i)
        _next_of_all(m)
    return np.int64(Change.PAIR), i, j


@noinline
def event(m: Any, times: Any, places: Any, t: Any) -> Any:
    """Return the event at TOPOLOGY_AT, which is `t`: (a `Change`, node i, node j)."""
    if m[Word.PARTNER] < m[Manet.NODES]:
        return _next_pair(m, t)
    i = np.int64(0)
    while m[NODES + i * NODE_WORDS + Node.ROW_AT] != t:
        i += 1
    at = NODES + i * NODE_WORDS
    if m[at + Node.T1] == t:
        _leg_ends(m, times, places, i, t)
        return np.int64(Change.LEG), i, i
    j = i + 1
    while m[_pair(m, i, j)] != t and m[_pair(m, i, j) + 1] != t:
        j += 1
    to = _pair(m, i, j)
    what, column, reach = np.int64(Change.LINK), Node.LINK, m[Manet.RANGE]
    if m[to] != t:
        what, column, reach, to = np.int64(Change.SENSE), Node.SENSE, m[Manet.SENSE], to + 1
    other = NODES + j * NODE_WORDS
    sets.flip(m, at + column, j)
    sets.flip(m, other + column, i)
    square, along, across = encounter(m, i, j, t)
    m[to] = crossing(square, along, across, t, sets.holds(m, at + column, j) != 0, reach)
    if what == Change.LINK:
        _link_changed(m, i, j, t)
    _next_of_row(m, i)
    _next_of_all(m)
    return what, i, j
