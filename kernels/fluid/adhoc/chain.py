"""Capacity of a multi-hop 802.11 route whose exchanges (RTS, CTS, data, ACK) share the channel.

A packet needs one exchange on each hop of the route; its answer (a transport ACK) needs one on each hop back.
An exchange defers to every exchange whose sender its own sender senses, or whose CTS its sender has decoded.
The route is saturated when one exchange and those it defers to occupy the channel all the time. A frame that
only the receiver senses (hidden node) destroys the RTS (`exchange`).

`m` is the scratch of the row and `g` the floats of the flow, see `state`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet
from netcarlo.kernels.adhoc.state import NODE_WORDS, NODES, Node, Word, routes, sets
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import ReliableP
from netcarlo.kernels.fluid.adhoc import exchange
from netcarlo.kernels.fluid.adhoc.state import AirFloat, ExchangeFloat
from netcarlo.kernels.senders import UDP

KIND: Any = slot("kind")

MOST_HIDDEN = 0.9  # largest probability that an RTS collides with a hidden node
LEAST_FREE = 0.05  # smallest share of the time in which a node finds the channel idle


def hops_of(m: Any) -> Any:
    """Return the number of hops of the route in use, -1 if there is no route."""
    return routes.length(routes.read(m, Word.ROUTE)) - 1


def _ends(m: Any, hops: Any, x: Any) -> Any:
    """Return sender and receiver of exchange `x`: 0 to hops - 1 carry data, the others carry answers."""
    route = routes.read(m, Word.ROUTE)
    if x < hops:
        return routes.node(route, x), routes.node(route, x + 1)
    return routes.node(route, x - hops + 1), routes.node(route, x - hops)


def _has(m: Any, i: Any, column: Any, j: Any) -> Any:
    """Return whether node `j` is in the set `column` (`Node.SENSE` or `Node.LINK`) of node `i`."""
    return sets.holds(m, NODES + i * NODE_WORDS + column, j) != 0


def _meet(m: Any, g: Any, hops: Any, count: Any, answers: Any, x: Any) -> Any:
    """Return how exchange `x` interacts with all exchanges of one packet and its answers [ns].

    Returns the time for which `x` defers to them (its own time included), the part of that time with frames
    on the air, and the time in which the receiver of `x` senses frames that its sender does not sense (hidden
    nodes).
    """
    a, b = _ends(m, hops, x)
    waits, busy, hidden = 0.0, 0.0, 0.0
    early = float(exchange.unanswered(m) + m[Manet.EIFS])
    for y in range(count):
        c, d = _ends(m, hops, np.int64(y))
        e = g[AirFloat.EXCHANGES + ExchangeFloat.SIZE * y :]
        weight = 1.0 if y < hops else answers
        air, on = weight * e[ExchangeFloat.AIR], weight * e[ExchangeFloat.BUSY]
        if a in (c, d) or _has(m, a, Node.SENSE, c) or _has(m, a, Node.LINK, d):
            waits += air
            busy += on
        else:
            part = min(weight * early, on) if _has(m, a, Node.SENSE, d) else 0.0  # until the CTS is over
            waits += part
            busy += part
            if _has(m, b, Node.SENSE, c):
                hidden += on - part
    return waits, busy, hidden


@noinline
def weigh(m: Any, g: Any, offered: Any) -> None:
    """Compute the floats of the route in use, to which at most `offered` packets arrive [1 / ns]."""
    hops = hops_of(m)
    count, alone = (hops if KIND == UDP else 2 * hops), KIND == UDP and hops == 1
    answers = 1.0 / float(max(m[ReliableP.ACK_EVERY], 1))
    data, answer = exchange.of_data(m), exchange.on_air(m, m[ReliableP.ACK])
    for x in range(count):
        g[AirFloat.EXCHANGES + ExchangeFloat.SIZE * x + ExchangeFloat.HIDDEN] = 0.0
        exchange.weigh(m, g, x, data if x < hops else answer, alone)
    full = 0.0
    for x in range(count):
        waits, _, _ = _meet(m, g, hops, count, answers, np.int64(x))
        full = max(full, waits)
    g[AirFloat.SERVICE] = full
    rate = min(offered, 1.0 / full)
    for x in range(count):
        _, busy, hidden = _meet(m, g, hops, count, answers, np.int64(x))
        free = max(1.0 - rate * busy, LEAST_FREE)
        meets = min(rate * hidden / free, MOST_HIDDEN)
        g[AirFloat.EXCHANGES + ExchangeFloat.SIZE * x + ExchangeFloat.HIDDEN] = meets
    g[AirFloat.TRIP] = max(float(exchange.lone_trip(m, hops, data, answer)), g[AirFloat.SERVICE])
    _weigh_breaks(m, g, hops, count, answers)


def _weigh_breaks(m: Any, g: Any, hops: Any, count: Any, answers: Any) -> None:
    """Compute how many existing links the MAC gives up per packet, exchanges of its answers included."""
    g[AirFloat.NOISE] = 0.0
    g[AirFloat.HIDDEN] = 0.0
    g[AirFloat.WORST] = 0.0
    for x in range(count):
        e = g[AirFloat.EXCHANGES + ExchangeFloat.SIZE * x :]
        weight = 1.0 if x < hops else answers
        if e[ExchangeFloat.HIDDEN] > 0.0:  # SERVICE excludes retries after hidden-node collisions
            length = exchange.of_data(m) if x < hops else exchange.on_air(m, m[ReliableP.ACK])
            exchange.weigh(m, g, x, length, False)
            g[AirFloat.HIDDEN] += weight * e[ExchangeFloat.GIVEN_UP]
        else:
            g[AirFloat.NOISE] += weight * e[ExchangeFloat.GIVEN_UP]
        g[AirFloat.WORST] = max(g[AirFloat.WORST], e[ExchangeFloat.HIDDEN])
