"""Route in use: its nodes, its changes, and the time to discover another one.

Nodes, mobility and links are those of the packet engine, to the nanosecond. A route is kept until one of its
links breaks; a new link between two of its nodes shortens it. `m` is the scratch of the row and `s` the words
of the flow, see `state`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import topology
from netcarlo.kernels.adhoc.discovery import CHECK, JITTER, REQUEST_MOST, REQUEST_PERIOD
from netcarlo.kernels.adhoc.layout import IDEAL, Manet, ManetOut
from netcarlo.kernels.adhoc.state import COUNTS, NODE_WORDS, NODES, Node, Word, routes, sets
from netcarlo.kernels.adhoc.topology import Change
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.fluid.adhoc.state import AirWord

TO_ALL = CHECK + CHECK // 2
"""Time from a route request to the neighbours until the one that floods the network [ns]."""


@noinline
def move_until(m: Any, s: Any, times: Any, places: Any, until: Any) -> Any:
    """Move the nodes to time `until`, or to the next change of the route in use; return that time [ns]."""
    while m[Word.TOPOLOGY_AT] <= until:
        t = m[Word.TOPOLOGY_AT]
        what, i, j = topology.event(m, times, places, t)
        if what <= Change.SENSE and m[Word.ROUTE] != 0 and _matters(m, s, what, i, j):
            return t
    return until


@noinline
def move_nodes(m: Any, s: Any, times: Any, places: Any, t: Any) -> None:
    """Move the nodes to time `t` [ns]."""
    while move_until(m, s, times, places, t) < t:
        pass


@noinline
def _matters(m: Any, s: Any, what: Any, i: Any, j: Any) -> Any:
    """Update the route in use after a change of the link or sense bit of nodes `i` and `j`.

    Returns whether the route is affected.
    """
    route = routes.read(m, Word.ROUTE)
    at, to = routes.position(route, i), routes.position(route, j)
    first, last = min(at, to), max(at, to)
    on_it = first >= 0
    if what == Change.LINK:
        comes = sets.holds(m, NODES + i * NODE_WORDS + Node.LINK, j) != 0
        if on_it and not comes and last == first + 1:
            s[AirWord.BROKEN] = first + 1 if s[AirWord.BROKEN] == 0 else min(s[AirWord.BROKEN], first + 1)
        elif comes and s[AirWord.BROKEN] == 0 and m[Manet.ROUTING] == IDEAL:
            found = topology.shortest(m, m[Manet.SOURCE], m[Manet.SINK])
            if routes.length(found) < routes.length(route):
                routes.write(m, Word.ROUTE, found)
                on_it = True
        elif comes and on_it and s[AirWord.BROKEN] == 0:  # the later node receives the packets directly
            begin = routes.part(route, np.int64(0), first + 1)
            end = routes.part(route, last, routes.length(route))
            routes.write(m, Word.ROUTE, routes.join(begin, end))
    if on_it:
        s[AirWord.CHANGED] = 1
    return on_it


@noinline
def discover(m: Any, s: Any, times: Any, places: Any, t: Any) -> Any:
    """Search for a route from `t` on; return when the source has one, or END if it finds none [ns]."""
    m[Word.ROUTE] = 0
    s[AirWord.BROKEN] = 0
    s[AirWord.CHANGED] = 1
    begin, requests, wanted = t, np.int64(0), True
    while wanted and t < m[RowP.END]:
        move_nodes(m, s, times, places, t)
        routes.write(m, Word.ROUTE, topology.shortest(m, m[Manet.SOURCE], m[Manet.SINK]))
        wanted = m[Word.ROUTE] == 0
        if m[Manet.ROUTING] == IDEAL:
            t = min(m[Word.TOPOLOGY_AT], m[RowP.END]) if wanted else t
        elif not wanted:
            t += JITTER
        elif requests & 1 == 0:  # the neighbours did not know
            requests += 1
            t += TO_ALL
        else:
            requests += 1
            t += min(np.int64(REQUEST_PERIOD) << min(requests, np.int64(8)), np.int64(REQUEST_MOST)) - TO_ALL
    t = min(t, m[RowP.END])
    m[COUNTS + ManetOut.WAITED] += t - min(begin, t)
    return t
