"""Properties of a path in a fluid: base RTT, slowest hop, random loss and outages.

Packets on a hop during an outage are lost. As the sender observes it, an outage therefore begins when the
sender sends the first packet that is still on the hop at the beginning of the outage, and ends when it sends
the first one that reaches the hop after the end of the outage.
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
"""Largest share of a hop's rate that cross traffic uses."""
MOST_ODDS = ONE << 10
"""Largest ratio of lost to delivered packets; also used if no packet is delivered."""


class RouteWord(IntEnum):
    """Words of a path."""

    DOWN = 0  # packets sent from then on are lost in the next outage [ns]
    UP = 1  # packets sent from then on are not lost in the next outage [ns]
    STOP = 2  # ACKs that would arrive from then on are also lost in it [ns]
    RESUME = 3  # ACKs that would arrive from then on are not lost in it [ns]
    HOPS = 4  # first word of the hops


class HopWord(IntEnum):
    """Words of a hop."""

    ENTERS = 0  # one-way delay from the sender to its queue [ns]
    LEAVES = 1  # one-way delay from the sender to its far end [ns]
    OUTAGE = 2  # number of its next outage
    GAP = 3  # packets until the next random loss (`gaps`) [packet, ONE_BITS]
    GAPS = 4  # gaps drawn so far
    BACK = 5  # one-way delay of an ACK from its near end to the sender [ns]
    RETURNS = 6  # one-way delay of an ACK from its far end to the sender [ns]
    SIZE = 7


class Route(NamedTuple):
    """Properties of a path without outages."""

    base_rtt: Any  # RTT without queues [ns]
    service: Any  # service time of a packet at the slowest hop, float [ns]
    capacity: Any  # packets that the path and the queue of that hop hold [packet]
    loss: Any  # probability of random loss, ONE_BITS
    loss_odds: Any  # lost packets per delivered packet, ONE_BITS; at most MOST_ODDS
    one_way: Any  # one-way delay to the receiver without queues [ns]


def words(hops: int) -> int:
    """Return the number of words of a path of at most `hops` hops."""
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


def burst_room(hops: Any, path: Any, size: Any, spacing: Any) -> Any:
    """Return the packets of a burst that overflow a queue [packet]; ENDLESS if none do.

    The packets leave the sender every `spacing` ns: in slow start twice as fast as the slowest hop, which
    spaces ACKs, serves them. A queue grows by the share of them that its hop does not serve meanwhile.
    """
    room = np.int64(ENDLESS)
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
