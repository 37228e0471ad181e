"""Who reaches whom: the masks of links, their changes, shortest paths, and statistics of them.

Each pair of nodes has two bits, link (within range) and sense (within sensing range).  A bit flips at its
event and nowhere else, so rounding cannot make it flicker.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.layout import MOST_ROUTE, Manet, ManetOut
from netcarlo.kernels.adhoc.motion import Motion
from netcarlo.kernels.adhoc.state import (
    COUNTS,
    HOPS,
    KEPT,
    KEPT_SINCE,
    LAST,
    LENGTH_BITS,
    LENGTH_MASK,
    LEVELS,
    LINK_COUNT,
    N_LINK,
    N_ROW_AT,
    N_SENSE,
    N_T1,
    NO_TIME,
    NODE_BITS,
    NODE_MASK,
    NODE_WORDS,
    NODES,
    OUTAGE_SINCE,
    PAIRS,
    SPLIT,
    TOPOLOGY_AT,
    VERSION,
)
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER

_MICROSECOND = 1000

# What a topology event was.
LEG, LINK, SENSE = range(3)


class Topology(NamedTuple):
    """The compiled functions of the topology; `m` is scratch."""

    begin: Any
    """`(m, times, places)`: nodes, bits, statistics at time 0."""
    event: Any
    """`(m, times, places, t) -> (what, i, j)`: the event at TOPOLOGY_AT, which is t; LEG, LINK or SENSE."""
    route: Any
    """`(m, source, sink) -> route`: a shortest path over the links there are; 0: none, or too long."""
    close: Any
    """`(m, t)`: the statistics end at t."""


def make_topology(dev: Callable[[Any], Any], motion: Motion) -> Topology:
    """Compile `Topology` for a target."""
    place, begin_motion, advance, change = motion

    def search(m: Any, source: Any, sink: Any) -> Any:
        # Breadth first; the levels stay in LEVELS.  Returns hops to the sink (0: none) and who is reached.
        n = m[Manet.NODES]
        level = np.int64(1) << source
        seen = level
        hops = np.int64(0)
        depth = np.int64(0)
        while level != 0:
            m[m[LEVELS] + depth] = level
            if level >> sink & 1:
                hops = depth
            reached = np.int64(0)
            for i in range(n):
                if level >> i & 1:
                    reached |= m[m[NODES] + i * NODE_WORDS + N_LINK]
            level = reached & ~seen
            seen |= level
            depth += 1
        return hops, seen

    search = dev(cold(search))

    @cold
    def way_back(m: Any, sink: Any, hops: Any) -> Any:
        # The route of the last search.
        if hops < 1 or hops >= MOST_ROUTE:
            return np.int64(0)
        route = sink
        at = sink
        for depth in range(hops - 1, -1, -1):
            before = m[m[LEVELS] + depth] & m[m[NODES] + at * NODE_WORDS + N_LINK]
            at = np.int64(0)
            while before >> at & 1 == 0:
                at += 1
            route = route << NODE_BITS | at
        return route << LENGTH_BITS | (hops + 1)

    way_back = dev(way_back)

    @cold
    def route(m: Any, source: Any, sink: Any) -> Any:
        hops, _ = search(m, source, sink)
        return way_back(m, sink, hops)

    @cold
    def integrate(m: Any, t: Any) -> None:
        us = (t - m[LAST]) // _MICROSECOND
        m[LAST] += us * _MICROSECOND
        hops = m[HOPS]
        if hops > 0:
            m[COUNTS + ManetOut.CONNECTED] += us
            m[COUNTS + ManetOut.HOPS_1 + min(hops, 5) - 1] += us
            m[COUNTS + ManetOut.HOPS_SHORTEST] += hops * us
        if m[SPLIT] != 0:
            m[COUNTS + ManetOut.SPLIT] += us
        if m[KEPT] != 0:
            m[COUNTS + ManetOut.HOPS_KEPT] += ((m[KEPT] & LENGTH_MASK) - 1) * us
        m[COUNTS + ManetOut.LINK_TIME] += m[LINK_COUNT] * us

    integrate = dev(integrate)

    @cold
    def survey(m: Any, t: Any) -> None:
        # Hops, split and kept route as they are now.
        hops, seen = search(m, m[Manet.SOURCE], m[Manet.SINK])
        m[HOPS] = hops
        everybody = np.int64(-1) if m[Manet.NODES] == 64 else (np.int64(1) << m[Manet.NODES]) - 1
        m[SPLIT] = 1 if seen != everybody else 0
        if m[KEPT] == 0 and hops > 0:
            m[KEPT] = way_back(m, m[Manet.SINK], hops)
            m[KEPT_SINCE] = t

    survey = dev(survey)

    @cold
    def link_changed(m: Any, i: Any, j: Any, t: Any) -> None:
        integrate(m, t)
        m[VERSION] += 1
        m[COUNTS + ManetOut.LINK_CHANGES] += 1
        comes = m[m[NODES] + i * NODE_WORDS + N_LINK] >> j & 1
        m[LINK_COUNT] += 1 if comes else -1
        kept = m[KEPT]
        if not comes and kept != 0:
            nodes = kept >> LENGTH_BITS
            for _ in range((kept & LENGTH_MASK) - 1):
                a = nodes & NODE_MASK
                b = nodes >> NODE_BITS & NODE_MASK
                nodes >>= NODE_BITS
                if (a == i and b == j) or (a == j and b == i):
                    m[COUNTS + ManetOut.KEPT_BREAKS] += 1
                    m[COUNTS + ManetOut.KEPT_LIFE] += (t - m[KEPT_SINCE]) // _MICROSECOND
                    m[KEPT] = 0
        before = m[HOPS]
        survey(m, t)
        if before > 0 and m[HOPS] == 0:
            m[OUTAGE_SINCE] = t
        if before == 0 and m[HOPS] > 0 and m[OUTAGE_SINCE] != NO_TIME:
            m[COUNTS + ManetOut.OUTAGES] += 1
            m[COUNTS + ManetOut.OUTAGE_TIME] += (t - m[OUTAGE_SINCE]) // _MICROSECOND

    link_changed = dev(link_changed)

    def pair(m: Any, i: Any, j: Any) -> Any:
        return m[PAIRS] + 2 * (i * m[Manet.NODES] + j)

    pair = dev(pair)

    @cold
    def foresee(m: Any, i: Any, j: Any, now: Any) -> None:
        # Both next changes of a pair i < j.
        at = m[NODES] + i * NODE_WORDS
        to = pair(m, i, j)
        m[to] = change(m, i, j, now, m[at + N_LINK] >> j & 1 != 0, m[Manet.RANGE])
        m[to + 1] = change(m, i, j, now, m[at + N_SENSE] >> j & 1 != 0, m[Manet.SENSE])

    foresee = dev(foresee)

    @cold
    def next_of_row(m: Any, i: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        first = m[at + N_T1]
        for j in range(i + 1, m[Manet.NODES]):
            to = pair(m, i, j)
            first = min(first, min(m[to], m[to + 1]))
        m[at + N_ROW_AT] = first

    next_of_row = dev(next_of_row)

    @cold
    def next_of_all(m: Any) -> None:
        first = np.int64(FOREVER)
        for i in range(m[Manet.NODES]):
            first = min(first, m[m[NODES] + i * NODE_WORDS + N_ROW_AT])
        m[TOPOLOGY_AT] = first

    next_of_all = dev(next_of_all)

    @cold
    def begin(m: Any, times: Any, places: Any) -> None:
        n = m[Manet.NODES]
        begin_motion(m, times, places)
        m[LINK_COUNT] = 0
        zero = np.int64(0)
        for i in range(n):
            at = m[NODES] + i * NODE_WORDS
            x, y = place(m, i, zero)
            for j in range(n):
                if j != i:
                    other_x, other_y = place(m, np.int64(j), zero)
                    square = (other_x - x) * (other_x - x) + (other_y - y) * (other_y - y)
                    if square <= m[Manet.RANGE] * m[Manet.RANGE]:
                        m[at + N_LINK] |= np.int64(1) << j
                        m[LINK_COUNT] += 1 if j > i else 0
                    if square <= m[Manet.SENSE] * m[Manet.SENSE]:
                        m[at + N_SENSE] |= np.int64(1) << j
        for i in range(n):
            for j in range(i + 1, n):
                foresee(m, np.int64(i), np.int64(j), zero)
            next_of_row(m, np.int64(i))
        next_of_all(m)
        m[OUTAGE_SINCE] = NO_TIME
        survey(m, zero)

    @cold
    def leg_ends(m: Any, times: Any, places: Any, i: Any, t: Any) -> None:
        advance(m, times, places, i, t)
        for j in range(m[Manet.NODES]):
            if j < i:
                foresee(m, np.int64(j), i, t)
                next_of_row(m, np.int64(j))
            elif j > i:
                foresee(m, i, np.int64(j), t)
        next_of_row(m, i)

    leg_ends = dev(leg_ends)

    @cold
    def event(m: Any, times: Any, places: Any, t: Any) -> Any:
        i = np.int64(0)
        while m[m[NODES] + i * NODE_WORDS + N_ROW_AT] != t:
            i += 1
        at = m[NODES] + i * NODE_WORDS
        j = i
        what = np.int64(LEG)
        if m[at + N_T1] == t:
            leg_ends(m, times, places, i, t)
        else:
            j += 1
            while m[pair(m, i, j)] != t and m[pair(m, i, j) + 1] != t:
                j += 1
            to = pair(m, i, j)
            other = m[NODES] + j * NODE_WORDS
            if m[to] == t:
                what = np.int64(LINK)
                m[at + N_LINK] ^= np.int64(1) << j
                m[other + N_LINK] ^= np.int64(1) << i
                m[to] = change(m, i, j, t, m[at + N_LINK] >> j & 1 != 0, m[Manet.RANGE])
                link_changed(m, i, j, t)
            else:
                what = np.int64(SENSE)
                m[at + N_SENSE] ^= np.int64(1) << j
                m[other + N_SENSE] ^= np.int64(1) << i
                m[to + 1] = change(m, i, j, t, m[at + N_SENSE] >> j & 1 != 0, m[Manet.SENSE])
            next_of_row(m, i)
        next_of_all(m)
        return what, i, j

    return Topology(dev(begin), dev(event), dev(route), integrate)
