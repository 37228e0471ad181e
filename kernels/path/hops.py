"""A path: FIFO drop-tail hops in tandem, with random loss, outages, cross traffic and clocked release.

Packets of one direction stay in order, so a packet's whole journey is known the moment it is
handed over: each hop direction needs only when its server is free, the departure times of the
packets it still holds (a ring as long as its queue limit), and how many packets pass until the
next random loss.  No events, no queues of packets.

A packet that is handed over in the very nanosecond of a departure still finds the departing packet
in the queue, as with ns-2, or does not (see `ARRIVAL_BEFORE_DEPARTURE`).  ACK clocking makes that tie common.

In all functions `m` is the scratch, with the state of the hops from word `BASE` on: how many hops each
lane (a path in one direction) has, then hop by hop the `Word`s of all lanes, then the rings.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base import varying
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.channel import begin, lost
from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, PATHS, STREAM_LOSS, Hop, P, Rows
from netcarlo.kernels.base.sums import add

BASE: Any = slot("hops_base")
"""The word of scratch where the state of the hops begins."""

APART: Any = slot("first_hop_apart")
"""The first hop has code of its own, in which its place is a constant (see `HOT_WORDS`)."""
QUEUES: Any = slot("queues")
"""Measure how long packets are held."""
ARRIVAL_BEFORE_DEPARTURE: Any = slot("arrival_before_departure")
"""What leaves in this very nanosecond is still in the queue: ns-2 had scheduled the arrival before the
departure.  In a network a host takes its time to answer, and what leaves has left."""
VARYING: Any = slot("varying")
"""Whether hops may have what changes from packet to packet, see `varying`."""

# Paths and directions.  As NumPy integers they are no literals, each of which would compile anew.
MAIN = np.int64(0)
FORTH = np.int64(0)  # carries data
BACK = np.int64(1)  # carries acknowledgements

# The fate of a packet.
WAITS = -1  # it has not come to its end
ARRIVED = 0
FULL_QUEUE = 1
LOST = 2
DOWN = 3
DESTROYED = 4


class Word(IntEnum):
    """Words of scratch of a hop in one direction."""

    FREE = 0  # the server is free from then on [ns]
    SAFE = auto()  # what reaches the far end by then is neither destroyed nor held for a tick [ns]
    BYTE_TIME = auto()  # as Hop.BYTE_TIME
    DELAY = auto()  # propagation [ns]
    LIMIT = auto()  # most packets held; 0: no limit
    RING = auto()  # the word where the ring of departure times begins
    SLOT = auto()  # next place in that ring
    ALERT = auto()  # the earlier of DOWN and CROSS: nothing to catch up with before [ns]
    GAP = auto()  # packets until the next random loss; this and what follows as in `Channel`
    GAPS = auto()  # gaps drawn so far
    LOSS = auto()  # row of the loss table
    CHANCES = auto()  # what happens to the packet behind a gap
    OTHER_LOSS = auto()  # the same two in, or outside, bursts
    OTHER_CHANCES = auto()
    DOWN = auto()  # start of the next outage, or of the one that lasts [ns]
    UP = auto()  # its end [ns]
    OUTAGE = auto()  # its number
    CROSS = auto()  # arrival of the next packet of cross traffic [ns]
    CROSS_EVERY = auto()  # time from one to the next [ns]
    CROSS_TIME = auto()  # time that the server needs for one [ns]
    TICK = auto()  # packets leave the far end at multiples of this; 0: at any time [ns]
    TICK_PHASE = auto()  # plus this [ns]
    PATH = auto()  # the hop's path
    HOP = auto()  # its place on that path, seen from the sender
    STREAM = auto()  # random stream of the gaps
    HELD = auto()  # time that packets of the sender were held, summed [ns]; what exceeds a word:
    HELD_HIGH = auto()
    VARIES = auto()  # the word where the state of what varies begins; 0: nothing does
    CROSS_SIZE = auto()  # a packet of cross traffic [byte]


_SIZE = len(Word)
_LANES = 2 * PATHS
_ROUND = np.int64(1 << (BYTE_TIME_BITS - 1))
_BITS = np.int64(BYTE_TIME_BITS)
_LONG_AGO = np.int64(-1)
_R = int(Hop.R_BYTE_TIME)

HOT_WORDS = (0, 2), *((at, at + Word.GAPS) for at in (_LANES, _LANES + _SIZE))
"""Words from BASE on [from, to) that every packet of the main path touches: how many hops there are, and of
the first of each direction what stands before GAPS."""


def scratch_words(rows: Rows) -> int:
    """Words of scratch that the hops of any row of `rows` need."""
    limits = rows.hops[..., Hop.QUEUE] + rows.hops[..., Hop.R_QUEUE]
    size = _SIZE + varying.WORDS * bool(rows.hops[..., [Hop.VARIES, Hop.R_VARIES]].any())
    states = _LANES * (1 + rows.hops.shape[2] * size)
    return int(states + (limits.sum(axis=(1, 2)).max() if limits.size else 0))


@noinline
def prepare(parameters: Any, hops: Any, outages: Any, losses: Any, m: Any) -> Any:
    """Lay out the state of the hops; returns the first free word of scratch."""
    n_hops = hops.shape[1]
    free = BASE + _LANES * (1 + n_hops * _SIZE)
    for path in range(PATHS):
        for direction in range(2):
            lane = 2 * path + direction
            m[BASE + lane] = 0
            at = BASE + _LANES + lane * _SIZE
            for step in range(n_hops):
                hop = step if direction == 0 else n_hops - 1 - step
                if hops[path, hop, Hop.PRESENT] != 0:
                    m[BASE + lane] += 1
                    m[at + Word.PATH] = path
                    m[at + Word.HOP] = hop
                    m[at + Word.RING] = free
                    _prepare_hop(parameters, hops, outages, losses, m, at, direction)
                    free += m[at + Word.LIMIT]
                    if VARYING:
                        free += varying.WORDS if m[at + Word.VARIES] > 0 else 0
                    at += _LANES * _SIZE
    return free


def _prepare_hop(
    parameters: Any, hops: Any, outages: Any, losses: Any, m: Any, at: Any, direction: Any
) -> None:
    """Fill the words `at` of a hop whose PATH, HOP and RING are known."""
    path, hop = m[at + Word.PATH], m[at + Word.HOP]
    m[at + Word.BYTE_TIME] = hops[path, hop, Hop.BYTE_TIME + _R * direction]
    m[at + Word.DELAY] = hops[path, hop, Hop.DELAY + _R * direction]
    if m[at + Word.BYTE_TIME] > 0:
        m[at + Word.LIMIT] = hops[path, hop, Hop.QUEUE + _R * direction]
    else:  # infinitely fast: never queues
        m[at + Word.LIMIT] = 0
    m[at + Word.SLOT] = 0
    m[at + Word.HELD] = 0
    m[at + Word.HELD_HIGH] = 0
    m[at + Word.TICK] = hops[path, hop, Hop.TICK] if direction == 0 else 0
    m[at + Word.TICK_PHASE] = hops[path, hop, Hop.TICK_PHASE]
    m[at + Word.VARIES] = 0
    if VARYING:
        _prepare_varying(hops, m, at, direction)
    m[at + Word.OUTAGE] = -1
    _next_outage(outages, m, at)
    m[at + Word.LOSS] = hops[path, hop, Hop.LOSS + _R * direction]
    m[at + Word.CHANCES] = hops[path, hop, Hop.CHANCES + direction]
    m[at + Word.OTHER_LOSS] = hops[path, hop, Hop.BURST_LOSS + direction]
    m[at + Word.OTHER_CHANCES] = hops[path, hop, Hop.BURST_CHANCES + direction]
    m[at + Word.STREAM] = STREAM_LOSS + (path * 64 + hop) * 2 + direction
    begin(parameters, losses, m, at + Word.GAP, m[at + Word.STREAM])
    m[at + Word.CROSS] = FOREVER
    if direction == 0 and hops[path, hop, Hop.CROSS_EVERY] > 0 and m[at + Word.BYTE_TIME] > 0:
        size = hops[path, hop, Hop.CROSS_SIZE]
        m[at + Word.CROSS] = hops[path, hop, Hop.CROSS_FIRST]
        m[at + Word.CROSS_EVERY] = hops[path, hop, Hop.CROSS_EVERY]
        m[at + Word.CROSS_TIME] = (size * m[at + Word.BYTE_TIME] + _ROUND) >> _BITS
        m[at + Word.CROSS_SIZE] = size
    m[at + Word.ALERT] = _alert(m, at)


@noinline
def _prepare_varying(hops: Any, m: Any, at: Any, direction: Any) -> None:
    pair = hops[m[at + Word.PATH], m[at + Word.HOP], Hop.VARIES + direction]
    if pair > 0:
        m[at + Word.VARIES] = m[at + Word.RING] + m[at + Word.LIMIT]
        varying.prepare(global_memory(m), m[at + Word.VARIES], pair)


def transmit(
    parameters: Any, outages: Any, losses: Any, m: Any, path: Any, direction: Any, t: Any, size: Any
) -> Any:
    """Hand a packet of `size` bytes to a path at time `t` [ns] (per path and direction in order of time).

    Returns its fate and when that happened [ns].
    """
    count = hops_of(m, path, direction)
    if not APART:
        return carry(parameters, outages, losses, m, path, direction, np.int64(0), count, t, size)
    fate, t = _pass(parameters, outages, losses, m, position(path, direction, np.int64(0)), t, size)
    if fate == ARRIVED and count > 1:
        fate, t = carry(
            parameters, outages, losses, global_memory(m), path, direction, np.int64(1), count - 1, t, size
        )
    return fate, t


def carry(
    parameters: Any, outages: Any, losses: Any, m: Any, path: Any, direction: Any, first: Any, count: Any,
    t: Any, size: Any,
) -> Any:  # fmt: skip
    """As `transmit`, for `count` of the hops from the `first` in this direction on."""
    at = position(path, direction, first)
    for _ in range(count):
        fate, t = _pass(parameters, outages, losses, m, at, t, size)
        if fate != ARRIVED:
            return fate, t
        at += _LANES * _SIZE
    return np.int64(ARRIVED), t


def _pass(parameters: Any, outages: Any, losses: Any, m: Any, at: Any, t: Any, size: Any) -> Any:
    """As `transmit`, for the hop whose words begin at `at`."""
    time = (size * m[at + Word.BYTE_TIME] + _ROUND) >> _BITS
    if t >= m[at + Word.ALERT]:
        if _catch_up(outages, m, at, t):
            return np.int64(DOWN), t
        if VARYING:
            time = _taken(outages, m, at, t, size, time)
            if time < 0:
                return np.int64(FULL_QUEUE), t
    free = _serve(m, at, t, time)
    if free < 0:
        return np.int64(FULL_QUEUE), t
    if QUEUES:
        until = min(min(free, m[at + Word.DOWN]), parameters[P.END])
        add(m, at + Word.HELD, at + Word.HELD_HIGH, max(until - t, np.int64(0)))
    t = free + m[at + Word.DELAY]
    if m[at + Word.SAFE] < t:
        gone: Any = False
        if VARYING:
            t, gone = _varied(parameters, outages, m, at, free)
        else:
            t = _released(m, at, t)
        if m[at + Word.DOWN] < t:
            return np.int64(DESTROYED), m[at + Word.DOWN]
        if gone:
            return np.int64(LOST), t
    if lost(parameters, losses, m, at + Word.GAP, m[at + Word.STREAM]):
        return np.int64(LOST), t
    return np.int64(ARRIVED), t


def reorders(outages: Any, m: Any, path: Any, direction: Any, hop: Any) -> Any:
    """Whether packets may overtake each other on a hop, counted in its direction."""
    at = position(path, direction, hop)
    table = outages[m[at + Word.PATH], m[at + Word.HOP]]
    return m[at + Word.VARIES] > 0 and varying.reorders(table, global_memory(m), m[at + Word.VARIES])


def hops_of(m: Any, path: Any, direction: Any) -> Any:
    """The number of hops of a path."""
    return m[BASE + 2 * path + direction]


@noinline
def longest_held(m: Any) -> Any:
    """Of the hops of the main path, the longest time that packets of the sender were held, in two words."""
    low, high = np.int64(0), np.int64(0)
    for hop in range(hops_of(m, MAIN, FORTH)):
        at = position(MAIN, FORTH, hop)
        more = m[at + Word.HELD_HIGH] > high or (m[at + Word.HELD_HIGH] == high and m[at + Word.HELD] > low)
        if more:
            low, high = m[at + Word.HELD], m[at + Word.HELD_HIGH]
    return low, high


@noinline
def clear(outages: Any, m: Any, path: Any, direction: Any, hop: Any, t: Any) -> None:
    """Empty the queue of a hop at time `t` [ns]."""
    at = position(path, direction, hop)
    _catch_up(outages, m, at, t)
    _empty(m, at)


@noinline
def keep_up(m: Any, path: Any, direction: Any, hop: Any) -> None:
    """Make a hop know no outages."""
    at = position(path, direction, hop)
    m[at + Word.DOWN] = FOREVER
    m[at + Word.SAFE] = FOREVER
    m[at + Word.OUTAGE] = FOREVER
    m[at + Word.ALERT] = _alert(m, at)


def position(path: Any, direction: Any, hop: Any) -> Any:
    """Where the words of a hop begin, counted in its direction."""
    return BASE + _LANES + (2 * path + direction + hop * _LANES) * _SIZE


def is_held(leaves: Any, t: Any) -> Any:
    """Whether a packet that leaves a hop then is in its queue at time t [ns]."""
    return leaves >= t if ARRIVAL_BEFORE_DEPARTURE else leaves > t


def _serve(m: Any, at: Any, t: Any, duration: Any) -> Any:
    """The server takes a packet over at time `t`; returns when it is done, or -1 if the queue is full."""
    limit = m[at + Word.LIMIT]
    free = max(t, m[at + Word.FREE]) + duration
    if limit > 0:
        number = m[at + Word.SLOT]
        ring, place = global_memory(m), m[at + Word.RING] + number
        if is_held(ring[place], t):  # the packet `limit` places ahead is still there
            return np.int64(-1)
        ring[place] = free
        number += 1
        m[at + Word.SLOT] = number if number < limit else 0
    m[at + Word.FREE] = free
    return free


@noinline
def _catch_up(outages: Any, m: Any, at: Any, t: Any) -> Any:
    """Cross traffic and outages up to time `t`; returns whether the hop is down then."""
    while min(m[at + Word.DOWN], m[at + Word.CROSS]) <= t:
        cross = m[at + Word.CROSS]
        if cross < m[at + Word.DOWN]:
            time = m[at + Word.CROSS_TIME]
            if VARYING:
                time = _taken(outages, m, at, cross, m[at + Word.CROSS_SIZE], time)
            if time >= 0:
                _serve(m, at, cross, time)
            m[at + Word.CROSS] += m[at + Word.CROSS_EVERY]
        elif cross <= t and cross < m[at + Word.UP]:  # vanishes in the outage
            m[at + Word.CROSS] += m[at + Word.CROSS_EVERY]
        elif t >= m[at + Word.UP]:
            _next_outage(outages, m, at)
        else:
            return True
    m[at + Word.ALERT] = _alert(m, at)
    return False


def _alert(m: Any, at: Any) -> Any:
    """From when on a packet has to be looked at more closely [ns]."""
    if VARYING and m[at + Word.VARIES] > 0:
        return np.int64(_LONG_AGO)
    return min(m[at + Word.DOWN], m[at + Word.CROSS])


@noinline
def _taken(outages: Any, m: Any, at: Any, t: Any, size: Any, time: Any) -> Any:
    """How long the server is busy with a packet that comes at time `t`, where it is not the usual `time`.

    -1 if it is dropped.
    """
    block, table, words = m[at + Word.VARIES], outages[m[at + Word.PATH], m[at + Word.HOP]], global_memory(m)
    if block == 0:
        return time
    if not varying.passes(table, words, block, t, size):
        return np.int64(varying.DROPPED)
    if m[at + Word.LIMIT] > 0 and is_held(words[m[at + Word.RING] + m[at + Word.SLOT]], t):
        return np.int64(varying.DROPPED)
    free = m[at + Word.FREE]
    return varying.transmitted(table, words, block, t, free, size, time) - max(t, free)


@noinline
def _varied(parameters: Any, outages: Any, m: Any, at: Any, free: Any) -> Any:
    """When the far end lets go of a packet that is transmitted at time `free`, and whether it is lost."""
    t, gone, block = free + m[at + Word.DELAY], False, m[at + Word.VARIES]
    if free >= varying.STANDS:  # no other hop has to do with it
        return free, True
    if block > 0:
        table, stream = outages[m[at + Word.PATH], m[at + Word.HOP]], m[at + Word.STREAM]
        t, gone = varying.arrives(
            parameters, table, global_memory(m), block, stream, free, m[at + Word.DELAY]
        )
    return _released(m, at, t), gone


@noinline
def _released(m: Any, at: Any, t: Any) -> Any:
    """When the far end lets go of a packet that arrives there at time `t`."""
    tick = m[at + Word.TICK]
    return t + (m[at + Word.TICK_PHASE] - t) % tick if tick > 0 else t


@noinline
def _next_outage(outages: Any, m: Any, at: Any) -> None:
    """The hop is up (again), its queue empty, the server idle; looks out for the next outage."""
    _empty(m, at)
    m[at + Word.OUTAGE] += 1
    m[at + Word.DOWN] = FOREVER
    if m[at + Word.OUTAGE] < outages.shape[2]:
        m[at + Word.DOWN] = outages[m[at + Word.PATH], m[at + Word.HOP], m[at + Word.OUTAGE], 0]
        m[at + Word.UP] = outages[m[at + Word.PATH], m[at + Word.HOP], m[at + Word.OUTAGE], 1]
    plain = m[at + Word.TICK] == 0
    if VARYING:
        plain = plain and m[at + Word.VARIES] == 0
    m[at + Word.SAFE] = m[at + Word.DOWN] if plain else _LONG_AGO


@noinline
def _empty(m: Any, at: Any) -> None:
    ring = global_memory(m)
    m[at + Word.FREE] = 0
    if VARYING and m[at + Word.VARIES] > 0:
        varying.reset(ring, m[at + Word.VARIES])
    for i in range(m[at + Word.LIMIT]):
        ring[m[at + Word.RING] + i] = _LONG_AGO
