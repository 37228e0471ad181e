"""A path: FIFO drop-tail hops in tandem, with random loss, outages, cross traffic and clocked release.

Packets of one direction stay in order, so a packet's whole journey is known the moment it is
handed over: each hop direction needs only when its server is free, the departure times of the
packets it still holds (a ring as long as its queue limit), and how many packets pass until the
next random loss.  No events, no queues of packets.

A packet that is handed over in the very nanosecond of a departure still finds the departing packet
in the queue.  ACK clocking makes that tie common, and ns-2 resolves it so: there the arrival was
scheduled before the departure.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, PATHS, STREAM_LOSS, Hop, P, Rows
from netcarlo.kernels.base.loss import make_gap
from netcarlo.kernels.base.philox import make_draw

# Paths and directions.  As NumPy integers they are no literals, each of which would compile anew.
MAIN = np.int64(0)
FORTH = np.int64(0)
BACK = np.int64(1)

ARRIVED = 0
FULL_QUEUE = 1
LOST = 2
DOWN = 3
DESTROYED = 4

# One hop direction: words of scratch.
_FREE = 0  # the server is free from this time on [ns]
_GAP = 1  # packets until the next random loss
_LOOK = 2  # later arrivals need a look: the outage destroys them, or the hop has a tick
_BYTE_TIME = 3
_DELAY = 4
_LIMIT = 5  # most packets held, 0: no limit
_RING = 6  # where the ring of departure times begins in scratch
_SLOT = 7  # next place in that ring
_UP = 8  # end of the outage at _DOWN [ns]
_OUTAGE = 9  # its number
_PATH = 10
_HOP = 11
_LOSS = 12  # row of the loss table
_STREAM = 13  # random stream of the gaps
_LOSSES = 14  # gaps drawn so far
_CROSS = 15  # arrival of the next packet of cross traffic
_CROSS_EVERY = 16
_CROSS_TIME = 17  # the server needs for one of them
_ALERT = 18  # nothing happens before: the earlier of the next outage and the next cross traffic
_TICK = 19  # packets leave the far end at multiples of this, 0: at any time [ns]
_TICK_PHASE = 20  # plus this
_DOWN = 21  # start of the next outage, or of the one that lasts [ns]
_SIZE = 22

_LANES = 2 * PATHS  # a path and a direction; their hop counts come first, then hop by hop the lanes

_HALF = np.int64(1 << (BYTE_TIME_BITS - 1))
_BITS = np.int64(BYTE_TIME_BITS)
_LONG_AGO = np.int64(-1)
_R = int(Hop.R_BYTE_TIME)


def scratch_words(rows: Rows) -> int:
    """Words of scratch that the hops of any row of `rows` need."""
    limits = rows.hops[..., Hop.QUEUE] + rows.hops[..., Hop.R_QUEUE]
    states = _LANES * (1 + rows.hops.shape[2] * _SIZE)
    return int(states + (limits.sum(axis=(1, 2)).max() if limits.size else 0))


class Link(NamedTuple):
    """The compiled functions of the hops; direction FORTH carries data, BACK acknowledgements."""

    prepare: Any
    """`(parameters, hops, outages, losses, scratch) -> int`: lay out the hops' state from word `base`
    of scratch; returns the first free word."""
    transmit: Any
    """`(parameters, outages, losses, scratch, path, direction, t, size) -> (fate, time)`: hand a packet
    of `size` bytes to a path at time `t` (per path and direction in order of time).  `fate` is ARRIVED,
    or the cause of the loss; `time` is when that happened [ns]."""
    carry: Any
    """`(parameters, outages, losses, scratch, path, direction, first, count, t, size) -> (fate, time)`:
    the same for `count` of its hops from the `first` in this direction on."""
    hops_of: Any
    """`(scratch, path, direction) -> int`: their number."""
    clear: Any
    """`(outages, scratch, path, direction, hop, t)`: empty the queue of a hop at time t."""
    keep_up: Any
    """`(scratch, path, direction, hop)`: a hop knows no outages."""


def make_link(dev: Callable[[Any], Any], base: int = 0) -> Link:
    """Compile the hops of a row for a target, with their state from word `base` of scratch on."""
    gap = make_gap(dev, make_draw(dev))

    @cold
    def next_gap(parameters: Any, losses: Any, m: Any, at: Any) -> None:
        m[at + _GAP] = gap(
            losses,
            m[at + _LOSS],
            parameters[P.SEED],
            parameters[P.SCENARIO],
            parameters[P.REPLICATION],
            m[at + _STREAM],
            m[at + _LOSSES],
        )
        m[at + _LOSSES] += 1

    next_gap = dev(next_gap)

    @cold
    def empty(m: Any, at: Any) -> None:
        m[at + _FREE] = 0
        for i in range(m[at + _LIMIT]):
            m[m[at + _RING] + i] = _LONG_AGO

    empty = dev(empty)

    @cold
    def next_outage(outages: Any, m: Any, at: Any) -> None:
        # Up (again): the queue is empty, the server idle; look out for the next outage.
        empty(m, at)
        m[at + _OUTAGE] += 1
        m[at + _DOWN] = FOREVER
        if m[at + _OUTAGE] < outages.shape[2]:
            m[at + _DOWN] = outages[m[at + _PATH], m[at + _HOP], m[at + _OUTAGE], 0]
            m[at + _UP] = outages[m[at + _PATH], m[at + _HOP], m[at + _OUTAGE], 1]
        m[at + _LOOK] = m[at + _DOWN] if m[at + _TICK] == 0 else _LONG_AGO

    next_outage = dev(next_outage)

    @cold
    def released(m: Any, at: Any, t: Any) -> Any:
        # When the far end lets go of a packet that arrives there at time t.
        tick = m[at + _TICK]
        return t + (m[at + _TICK_PHASE] - t) % tick if tick > 0 else t

    released = dev(released)

    def take(m: Any, at: Any, t: Any, duration: Any) -> Any:
        # The server takes a packet over at time t; returns when it is done, or -1 if the queue is full.
        limit = m[at + _LIMIT]
        free = max(t, m[at + _FREE]) + duration
        if limit > 0:
            slot = m[at + _SLOT]
            place = m[at + _RING] + slot
            if m[place] >= t:  # the packet `limit` places ahead is still there
                return np.int64(-1)
            m[place] = free
            slot += 1
            m[at + _SLOT] = slot if slot < limit else 0
        m[at + _FREE] = free
        return free

    take = dev(take)

    @cold
    def catch_up(outages: Any, m: Any, at: Any, t: Any) -> Any:
        # Cross traffic and outages up to time t; returns whether the hop is down then.
        while m[at + _ALERT] <= t:
            cross = m[at + _CROSS]
            if cross < m[at + _DOWN]:
                take(m, at, cross, m[at + _CROSS_TIME])
                m[at + _CROSS] += m[at + _CROSS_EVERY]
            elif cross <= t and cross < m[at + _UP]:  # vanishes in the outage
                m[at + _CROSS] += m[at + _CROSS_EVERY]
            elif t >= m[at + _UP]:
                next_outage(outages, m, at)
            else:
                return True
            m[at + _ALERT] = min(m[at + _DOWN], m[at + _CROSS])
        return False

    catch_up = dev(catch_up)

    @cold
    def prepare(parameters: Any, hops: Any, outages: Any, losses: Any, m: Any) -> Any:
        n_hops = hops.shape[1]
        free = base + _LANES * (1 + n_hops * _SIZE)
        for path in range(PATHS):
            for direction in range(2):
                lane = 2 * path + direction
                m[base + lane] = 0
                at = base + _LANES + lane * _SIZE
                for step in range(n_hops):
                    hop = step if direction == 0 else n_hops - 1 - step
                    if hops[path, hop, Hop.PRESENT] == 0:
                        continue
                    m[base + lane] += 1
                    m[at + _BYTE_TIME] = hops[path, hop, Hop.BYTE_TIME + _R * direction]
                    m[at + _DELAY] = hops[path, hop, Hop.DELAY + _R * direction]
                    if m[at + _BYTE_TIME] > 0:
                        m[at + _LIMIT] = hops[path, hop, Hop.QUEUE + _R * direction]
                    else:  # infinitely fast: never queues
                        m[at + _LIMIT] = 0
                    m[at + _RING] = free
                    m[at + _SLOT] = 0
                    free += m[at + _LIMIT]
                    m[at + _PATH] = path
                    m[at + _HOP] = hop
                    m[at + _TICK] = hops[path, hop, Hop.TICK] if direction == 0 else 0
                    m[at + _TICK_PHASE] = hops[path, hop, Hop.TICK_PHASE]
                    m[at + _OUTAGE] = -1
                    next_outage(outages, m, at)
                    m[at + _LOSS] = hops[path, hop, Hop.LOSS + _R * direction]
                    m[at + _STREAM] = STREAM_LOSS + (path * 64 + hop) * 2 + direction
                    m[at + _LOSSES] = 0
                    next_gap(parameters, losses, m, at)
                    m[at + _CROSS] = FOREVER
                    if direction == 0 and hops[path, hop, Hop.CROSS_EVERY] > 0 and m[at + _BYTE_TIME] > 0:
                        size = hops[path, hop, Hop.CROSS_SIZE]
                        m[at + _CROSS] = hops[path, hop, Hop.CROSS_FIRST]
                        m[at + _CROSS_EVERY] = hops[path, hop, Hop.CROSS_EVERY]
                        m[at + _CROSS_TIME] = (size * m[at + _BYTE_TIME] + _HALF) >> _BITS
                    m[at + _ALERT] = min(m[at + _DOWN], m[at + _CROSS])
                    at += _LANES * _SIZE
        return free

    def position(path: Any, direction: Any, hop: Any) -> Any:
        return base + _LANES + (2 * path + direction + hop * _LANES) * _SIZE

    position = dev(position)

    def carry(
        parameters: Any, outages: Any, losses: Any, m: Any, path: Any, direction: Any, first: Any, count: Any,
        t: Any, size: Any,
    ) -> Any:  # fmt: skip
        at = position(path, direction, first)
        for _ in range(count):
            if t >= m[at + _ALERT] and catch_up(outages, m, at, t):
                return DOWN, t
            free = take(m, at, t, (size * m[at + _BYTE_TIME] + _HALF) >> _BITS)
            if free < 0:
                return FULL_QUEUE, t
            t = free + m[at + _DELAY]
            if m[at + _LOOK] < t:
                t = released(m, at, t)
                if m[at + _DOWN] < t:
                    return DESTROYED, m[at + _DOWN]
            left = m[at + _GAP]
            if left == 0:
                next_gap(parameters, losses, m, at)
                return LOST, t
            m[at + _GAP] = left - 1
            at += _LANES * _SIZE
        return ARRIVED, t

    carry = dev(carry)

    def hops_of(m: Any, path: Any, direction: Any) -> Any:
        return m[base + 2 * path + direction]

    hops_of = dev(hops_of)

    def transmit(
        parameters: Any, outages: Any, losses: Any, m: Any, path: Any, direction: Any, t: Any, size: Any
    ) -> Any:  # fmt: skip
        count = hops_of(m, path, direction)
        return carry(parameters, outages, losses, m, path, direction, np.int64(0), count, t, size)

    @cold
    def clear(outages: Any, m: Any, path: Any, direction: Any, hop: Any, t: Any) -> None:
        at = position(path, direction, hop)
        catch_up(outages, m, at, t)
        empty(m, at)

    @cold
    def keep_up(m: Any, path: Any, direction: Any, hop: Any) -> None:
        at = position(path, direction, hop)
        m[at + _DOWN] = FOREVER
        m[at + _LOOK] = FOREVER
        m[at + _OUTAGE] = FOREVER
        m[at + _ALERT] = m[at + _CROSS]

    return Link(dev(prepare), dev(transmit), carry, hops_of, dev(clear), dev(keep_up))
