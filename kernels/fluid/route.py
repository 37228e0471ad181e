"""Properties of a path in a fluid: round trip, slowest hop, random loss and outages.

Packets on a hop during an outage are lost. To the sender an outage therefore begins when it sends the first
packet that is still on the hop at the beginning of the outage, and ends when it sends the first one that
reaches the hop after its end.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import ENDLESS, FOREVER, Hop
from netcarlo.kernels.base.parameters import ReliableP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.fluid.chance import survival
from netcarlo.kernels.fluid.state import ONE, ONE_BITS

MOST_CROSS = 0.99
"""Largest share of a hop that cross traffic takes."""
MOST_ODDS = ONE << 10
"""Largest odds of losses to packets that get through; also used where no packet gets through."""


class RouteWord(IntEnum):
    """Words of a path."""

    DOWN = 0  # packets sent from then on are lost in the next outage [ns]
    UP = 1  # packets sent from then on are not lost in it [ns]
    STOP = 2  # acknowledgements that would arrive from then on are lost in it, too [ns]
    RESUME = 3  # acknowledgements that would arrive from then on are not lost in it [ns]
    HOPS = 4  # the words of the hops


class HopWord(IntEnum):
    """Words of a hop."""

    ENTERS = 0  # delay from the sender to its queue [ns]
    LEAVES = 1  # delay from the sender to its far end [ns]
    OUTAGE = 2  # its next outage
    GAP = 3  # packets until the next random loss (`gaps`) [packet, ONE_BITS]
    GAPS = 4  # gaps drawn so far
    BACK = 5  # delay of an acknowledgement from its near end to the sender [ns]
    RETURNS = 6  # delay of an acknowledgement from its far end to the sender [ns]
    SIZE = 7


class Route(NamedTuple):
    """Properties of a path without outages."""

    base_rtt: Any  # round trip without queues [ns]
    service: Any  # a packet at the slowest hop, float [ns]
    capacity: Any  # packets that fit on it and into the queue of that hop
    loss: Any  # probability of random loss, ONE_BITS
    loss_odds: Any  # losses for each packet that gets through, ONE_BITS; MOST_ODDS at most
    one_way: Any  # to the receiver, without queues [ns]


def words(hops: int) -> int:
    """Return the words of a path of at most so many hops."""
    return RouteWord.HOPS + HopWord.SIZE * hops


def prepare(p: Any, hops: Any, losses: Any, w: Any, path: Any, size: Any) -> Any:
    """Return the `Route` of path `path` for packets of `size` bytes, and initialise its words `w`."""
    base = np.int64(0)
    slowest = 1.0  # [ns / packet]
    limit = np.int64(0)
    survive = np.int64(ONE)
    for hop in range(hops.shape[1]):
        h = hops[path, hop]
        if h[Hop.PRESENT] != 0:
            times = w[RouteWord.HOPS + HopWord.SIZE * hop :]
            tx = on_wire(size, h[Hop.BYTE_TIME])
            times[HopWord.ENTERS] = base
            base += tx + h[Hop.DELAY]
            times[HopWord.LEAVES] = base
            left = 1.0  # by cross traffic
            if h[Hop.CROSS_EVERY] > 0:
                left = 1.0 - float(on_wire(h[Hop.CROSS_SIZE], h[Hop.BYTE_TIME])) / float(h[Hop.CROSS_EVERY])
            each = float(tx) / max(left, 1.0 - MOST_CROSS)
            if each > slowest:
                slowest = each
                limit = h[Hop.QUEUE]
            survive = (survive * np.int64(survival(losses, h[Hop.LOSS]) * ONE)) >> ONE_BITS
    forth, back = base, np.int64(0)
    for hop in range(hops.shape[1]):
        h = hops[path, hop]
        if h[Hop.PRESENT] != 0:
            times = w[RouteWord.HOPS + HopWord.SIZE * hop :]
            times[HopWord.BACK] = back
            back += h[Hop.R_DELAY] + on_wire(p[ReliableP.ACK], h[Hop.R_BYTE_TIME])
            times[HopWord.RETURNS] = back
    base += back
    room = np.int64(float(base) / slowest) + limit if limit > 0 else np.int64(ENDLESS)
    odds = np.int64(MOST_ODDS)
    if survive > ONE // (MOST_ODDS // ONE):
        odds = np.int64(float(ONE - survive) / float(survive) * ONE)
    return Route(base, slowest, room, ONE - survive, odds, forth)


def burst_room(hops: Any, path: Any, size: Any, service: Any) -> Any:
    """Return the window [packet] at which slow start overflows a queue; ENDLESS if it does not.

    ACKs arrive at the rate of the slowest hop, which serves a packet in `service` ns, and each releases two
    packets. A queue then grows by the share of them that its hop does not serve meanwhile.
    """
    spacing, room = service / 2.0, np.int64(ENDLESS)
    for hop in range(hops.shape[1]):
        h = hops[path, hop]
        if h[Hop.PRESENT] != 0:
            each = float(on_wire(size, h[Hop.BYTE_TIME]))
            if each > spacing:
                if h[Hop.QUEUE] > 0:
                    room = min(room, np.int64(float(h[Hop.QUEUE]) / (1.0 - spacing / each)))
                spacing = each
    return room


def find_outage(hops: Any, outages: Any, w: Any, path: Any, t: Any) -> None:
    """Set DOWN, UP, STOP and RESUME to the first outage that affects packets sent at `t` [ns] or later."""
    w[RouteWord.DOWN] = FOREVER
    w[RouteWord.UP] = FOREVER
    w[RouteWord.STOP] = FOREVER
    w[RouteWord.RESUME] = FOREVER
    for hop in range(hops.shape[1]):
        if hops[path, hop, Hop.PRESENT] != 0:
            times = w[RouteWord.HOPS + HopWord.SIZE * hop :]
            enters, k = times[HopWord.ENTERS], times[HopWord.OUTAGE]
            while k < outages.shape[2] and outages[path, hop, k, 1] - enters <= t:
                k += 1
            times[HopWord.OUTAGE] = k
            if k < outages.shape[2]:
                down = outages[path, hop, k, 0] - times[HopWord.LEAVES]
                if down < w[RouteWord.DOWN]:
                    w[RouteWord.DOWN] = down
                    w[RouteWord.UP] = outages[path, hop, k, 1] - enters
                    w[RouteWord.STOP] = outages[path, hop, k, 0] + times[HopWord.BACK]
                    w[RouteWord.RESUME] = outages[path, hop, k, 1] + times[HopWord.RETURNS]


def rewind(hops: Any, w: Any) -> None:
    """Restart the search of `find_outage`, which will be called for an earlier time."""
    for hop in range(hops.shape[1]):
        w[RouteWord.HOPS + HopWord.SIZE * hop + HopWord.OUTAGE] = 0
    w[RouteWord.UP] = 0


def is_down(w: Any, t: Any) -> Any:
    """Return whether packets sent at `t` [ns] are lost in an outage; call `find_outage` for `t` first."""
    return w[RouteWord.DOWN] <= t < w[RouteWord.UP]
