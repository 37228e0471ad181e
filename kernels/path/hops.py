"""Path of FIFO drop-tail hops in tandem, with random loss, outages, cross traffic and clocked release.

Packets of one direction stay in order, so the whole journey of a packet is known when it is sent. The state
of a hop in one direction is: the time from which its server is free, the departure times of the packets that
it holds (a ring as long as the queue limit), and the number of packets until the next random loss. There are
no events and no queues of packets.

A packet that arrives in the nanosecond of a departure finds the departing packet still in the queue, as in
ns-2, or not (`ARRIVAL_BEFORE_DEPARTURE`). ACK clocking makes this tie common.

In all functions `m` is the scratch. The state of the hops begins at word `BASE`: the number of hops of each
lane (a path in one direction), then hop by hop the words (`HopWord`) of all lanes, then the rings.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base import layout, varying
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.channel import begin, lost
from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, STREAM_LOSS, Hop, Rows

BASE: Any = slot("hops_base")
"""Word of scratch where the state of the hops begins."""
PATHS: Any = slot("hop_paths")
"""Number of paths."""
_LANES: Any = slot("hop_lanes")
"""Number of lanes: two for each path."""

FIRST_HOP_SPECIALISED: Any = slot("first_hop_specialised")
"""True if the first hop has its own code, with constant addresses (`HOT_WORDS`)."""
observer: Any = slot("observer")
"""Functions that record what happens (`observers.events`)."""
ARRIVAL_BEFORE_DEPARTURE: Any = slot("arrival_before_departure")
"""True if a packet that departs at the time of an arrival is still in the queue, as in ns-2.

ns-2 schedules the arrival before the departure. A real host takes time to reply, so that the packet has left.
"""
VARYING: Any = slot("varying")
"""True if hops may be time-varying (`base.varying`)."""

# Paths and directions, as NumPy integers: Numba compiles a function anew for each literal.
MAIN = np.int64(0)
FORWARD = np.int64(0)  # carries data
BACKWARD = np.int64(1)  # carries ACKs

# Fates of a packet.
IN_QUEUE = -1  # it is in the queue of a node, its fate is not known
ARRIVED = 0
QUEUE_FULL = 1
LOST = 2
LINK_DOWN = 3
DESTROYED = 4


class HopWord(IntEnum):
    """Words of scratch of a hop in one direction."""

    FREE_AT = 0  # time from which the server is free [ns]
    SAFE_UNTIL = auto()  # latest arrival at the far end that meets no outage and no tick [ns]
    BYTE_TIME = auto()  # see `Hop.BYTE_TIME`
    DELAY = auto()  # propagation delay [ns]
    LIMIT = auto()  # maximum number of packets held; 0: unlimited
    RING = auto()  # first word of the ring of departure times
    NEXT_PLACE = auto()  # next place in that ring
    CHECK_FROM = auto()  # earlier of DOWN_AT and CROSS: no slow path before [ns]
    GAP = auto()  # packets until the next random loss; first of the words of `Channel`
    GAPS = auto()  # gaps drawn
    LOSS = auto()  # row of the loss table
    CHANCES = auto()  # probabilities for the packet at the end of a gap, see `Hop.CHANCES`
    OTHER_LOSS = auto()  # row of the loss table in the other state of the channel
    OTHER_CHANCES = auto()  # probabilities in the other state of the channel
    DOWN_AT = auto()  # start of the next or current outage [ns]
    UP_AT = auto()  # end of that outage [ns]
    OUTAGE_INDEX = auto()  # number of that outage
    CROSS = auto()  # arrival of the next packet of cross traffic [ns]
    CROSS_EVERY = auto()  # interval of cross traffic [ns]
    CROSS_TIME = auto()  # transmission time of a packet of cross traffic [ns]
    TICK = auto()  # packets leave the far end at multiples of this plus TICK_PHASE [ns]; 0: at any time
    TICK_PHASE = auto()  # phase of the ticks [ns]
    PATH = auto()  # number of the path
    HOP = auto()  # place of the hop on the path, counted from the sender
    STREAM = auto()  # random stream of the gaps
    HELD = auto()  # sum of the times that packets of the sender spent on the hop [ns], low word
    HELD_HIGH = auto()  # high word of that sum (`sums`)
    VARIES = auto()  # first word of the state of a time-varying hop; 0: constant
    CROSS_SIZE = auto()  # size of a packet of cross traffic [bytes]


_SIZE = len(HopWord)
_ROUND = np.int64(1 << (BYTE_TIME_BITS - 1))
_BITS = np.int64(BYTE_TIME_BITS)
_LONG_AGO = np.int64(-1)
_R = int(Hop.R_BYTE_TIME)

HOT_WORDS = (0, 2), *((at, at + HopWord.GAPS) for at in (2 * layout.PATHS, 2 * layout.PATHS + _SIZE))
"""Ranges of words from BASE on [from, to) that every packet of the main path accesses.

They are the numbers of hops and, of the first hop of each direction, the words before GAPS.
"""


def scratch_words(rows: Rows) -> int:
    """Return the words of scratch that the hops of any row of `rows` need."""
    limits = rows.hops[..., Hop.QUEUE] + rows.hops[..., Hop.R_QUEUE]
    size = _SIZE + varying.WORDS * bool(rows.hops[..., [Hop.VARIES, Hop.R_VARIES]].any())
    states = 2 * rows.hops.shape[1] * (1 + rows.hops.shape[2] * size)
    return int(states + (limits.sum(axis=(1, 2)).max() if limits.size else 0))


@noinline
def prepare(parameters: Any, hops: Any, outages: Any, losses: Any, m: Any) -> Any:
    """Lay out the state of the hops; return the first free word of scratch."""
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
                    m[at + HopWord.PATH] = path
                    m[at + HopWord.HOP] = hop
                    m[at + HopWord.RING] = free
                    _prepare_hop(parameters, hops, outages, losses, m, at, direction)
                    free += m[at + HopWord.LIMIT]
                    if VARYING:
                        free += varying.WORDS if m[at + HopWord.VARIES] > 0 else 0
                    at += _LANES * _SIZE
    return free


def _prepare_hop(
    parameters: Any, hops: Any, outages: Any, losses: Any, m: Any, at: Any, direction: Any
) -> None:
    """Fill the words `at` of a hop whose PATH, HOP and RING are set."""
    path, hop = m[at + HopWord.PATH], m[at + HopWord.HOP]
    m[at + HopWord.BYTE_TIME] = hops[path, hop, Hop.BYTE_TIME + _R * direction]
    m[at + HopWord.DELAY] = hops[path, hop, Hop.DELAY + _R * direction]
    if m[at + HopWord.BYTE_TIME] > 0:
        m[at + HopWord.LIMIT] = hops[path, hop, Hop.QUEUE + _R * direction]
    else:  # infinitely fast: never queues
        m[at + HopWord.LIMIT] = 0
    m[at + HopWord.NEXT_PLACE] = 0
    m[at + HopWord.HELD] = 0
    m[at + HopWord.HELD_HIGH] = 0
    m[at + HopWord.TICK] = hops[path, hop, Hop.TICK] if direction == 0 else 0
    m[at + HopWord.TICK_PHASE] = hops[path, hop, Hop.TICK_PHASE]
    m[at + HopWord.VARIES] = 0
    if VARYING:
        _prepare_varying(hops, m, at, direction)
    m[at + HopWord.OUTAGE_INDEX] = -1
    _next_outage(outages, m, at)
    m[at + HopWord.LOSS] = hops[path, hop, Hop.LOSS + _R * direction]
    m[at + HopWord.CHANCES] = hops[path, hop, Hop.CHANCES + direction]
    m[at + HopWord.OTHER_LOSS] = hops[path, hop, Hop.BURST_LOSS + direction]
    m[at + HopWord.OTHER_CHANCES] = hops[path, hop, Hop.BURST_CHANCES + direction]
    m[at + HopWord.STREAM] = STREAM_LOSS + (path * 64 + hop) * 2 + direction
    begin(parameters, losses, m, at + HopWord.GAP, m[at + HopWord.STREAM])
    m[at + HopWord.CROSS] = FOREVER
    if direction == 0 and hops[path, hop, Hop.CROSS_EVERY] > 0 and m[at + HopWord.BYTE_TIME] > 0:
        size = hops[path, hop, Hop.CROSS_SIZE]
        m[at + HopWord.CROSS] = hops[path, hop, Hop.CROSS_FIRST]
        m[at + HopWord.CROSS_EVERY] = hops[path, hop, Hop.CROSS_EVERY]
        m[at + HopWord.CROSS_TIME] = (size * m[at + HopWord.BYTE_TIME] + _ROUND) >> _BITS
        m[at + HopWord.CROSS_SIZE] = size
    m[at + HopWord.CHECK_FROM] = _check_from(m, at)


@noinline
def _prepare_varying(hops: Any, m: Any, at: Any, direction: Any) -> None:
    pair = hops[m[at + HopWord.PATH], m[at + HopWord.HOP], Hop.VARIES + direction]
    if pair > 0:
        m[at + HopWord.VARIES] = m[at + HopWord.RING] + m[at + HopWord.LIMIT]
        varying.prepare(global_memory(m), m[at + HopWord.VARIES], pair)


def transmit(
    parameters: Any, outages: Any, losses: Any, m: Any, path: Any, direction: Any, t: Any, size: Any
) -> Any:
    """Send a packet of `size` bytes over a path at time `t` [ns]; times must not decrease.

    Returns its fate and the time of its arrival or loss [ns].
    """
    count = hop_count(m, path, direction)
    if not FIRST_HOP_SPECIALISED:
        return forward(parameters, outages, losses, m, path, direction, np.int64(0), count, t, size)
    fate, t = _traverse(parameters, outages, losses, m, hop_at(path, direction, np.int64(0)), t, size)
    if fate == ARRIVED and count > 1:
        fate, t = forward(
            parameters, outages, losses, global_memory(m), path, direction, np.int64(1), count - 1, t, size
        )
    return fate, t


def forward(
    parameters: Any, outages: Any, losses: Any, m: Any, path: Any, direction: Any, first: Any, count: Any,
    t: Any, size: Any,
) -> Any:  # fmt: skip
    """Send a packet over `count` hops, beginning with hop `first` of a direction; return as `transmit`."""
    at = hop_at(path, direction, first)
    for _ in range(count):
        fate, t = _traverse(parameters, outages, losses, m, at, t, size)
        if fate != ARRIVED:
            return fate, t
        at += _LANES * _SIZE
    return np.int64(ARRIVED), t


def _traverse(parameters: Any, outages: Any, losses: Any, m: Any, at: Any, t: Any, size: Any) -> Any:
    """Send a packet over the hop whose words begin at `at`; return as `transmit`."""
    time = (size * m[at + HopWord.BYTE_TIME] + _ROUND) >> _BITS
    if t >= m[at + HopWord.CHECK_FROM]:
        if _advance_to(outages, m, at, t):
            return np.int64(LINK_DOWN), t
        if VARYING:
            time = _service_time(outages, m, at, t, size, time)
            if time < 0:
                return np.int64(QUEUE_FULL), t
    free = _enqueue(m, at, t, time)
    if free < 0:
        return np.int64(QUEUE_FULL), t
    observer.on_enqueued(parameters, m, at, t, free)
    t = free + m[at + HopWord.DELAY]
    if m[at + HopWord.SAFE_UNTIL] < t:
        is_lost: Any = False
        if VARYING:
            t, is_lost = _arrival(parameters, outages, m, at, free)
        else:
            t = _next_release(m, at, t)
        if m[at + HopWord.DOWN_AT] < t:
            return np.int64(DESTROYED), m[at + HopWord.DOWN_AT]
        if is_lost:
            return np.int64(LOST), t
    if lost(parameters, losses, m, at + HopWord.GAP, m[at + HopWord.STREAM]):
        return np.int64(LOST), t
    return np.int64(ARRIVED), t


def reorders(outages: Any, m: Any, path: Any, direction: Any, hop: Any) -> Any:
    """Return True if packets may overtake each other on a hop, numbered in its direction."""
    at = hop_at(path, direction, hop)
    table = outages[m[at + HopWord.PATH], m[at + HopWord.HOP]]
    return m[at + HopWord.VARIES] > 0 and varying.reorders(table, global_memory(m), m[at + HopWord.VARIES])


def hop_count(m: Any, path: Any, direction: Any) -> Any:
    """Return the number of hops of a path."""
    return m[BASE + 2 * path + direction]


@noinline
def longest_held(m: Any) -> Any:
    """Return the time that packets spent on the hop where it is longest [ns], in two words (`sums`)."""
    low, high = np.int64(0), np.int64(0)
    for hop in range(hop_count(m, MAIN, FORWARD)):
        at = hop_at(MAIN, FORWARD, hop)
        more = m[at + HopWord.HELD_HIGH] > high or (
            m[at + HopWord.HELD_HIGH] == high and m[at + HopWord.HELD] > low
        )
        if more:
            low, high = m[at + HopWord.HELD], m[at + HopWord.HELD_HIGH]
    return low, high


@noinline
def empty_queue(outages: Any, m: Any, path: Any, direction: Any, hop: Any, t: Any) -> None:
    """Empty the queue of a hop at time `t` [ns]."""
    at = hop_at(path, direction, hop)
    _advance_to(outages, m, at, t)
    _empty(m, at)


@noinline
def disable_outages(m: Any, path: Any, direction: Any, hop: Any) -> None:
    """Remove the outages of a hop."""
    at = hop_at(path, direction, hop)
    m[at + HopWord.DOWN_AT] = FOREVER
    m[at + HopWord.SAFE_UNTIL] = FOREVER
    m[at + HopWord.OUTAGE_INDEX] = FOREVER
    m[at + HopWord.CHECK_FROM] = _check_from(m, at)


def hop_at(path: Any, direction: Any, hop: Any) -> Any:
    """Return the word where a hop begins, numbered in its direction."""
    return BASE + _LANES + (2 * path + direction + hop * _LANES) * _SIZE


def is_held(leaves: Any, t: Any) -> Any:
    """Return True if a packet that departs at `leaves` is in the queue at time t [ns]."""
    return leaves >= t if ARRIVAL_BEFORE_DEPARTURE else leaves > t


def _enqueue(m: Any, at: Any, t: Any, duration: Any) -> Any:
    """Let a packet enter the server's queue at time `t`; return its departure time, or -1 if the queue is
    full."""
    limit = m[at + HopWord.LIMIT]
    free = max(t, m[at + HopWord.FREE_AT]) + duration
    if limit > 0:
        number = m[at + HopWord.NEXT_PLACE]
        ring, place = global_memory(m), m[at + HopWord.RING] + number
        if is_held(ring[place], t):  # the packet `limit` places ahead is still held
            return np.int64(-1)
        ring[place] = free
        number += 1
        m[at + HopWord.NEXT_PLACE] = number if number < limit else 0
    m[at + HopWord.FREE_AT] = free
    return free


@noinline
def _advance_to(outages: Any, m: Any, at: Any, t: Any) -> Any:
    """Process cross traffic and outages up to time `t`; return True if the hop is down."""
    while min(m[at + HopWord.DOWN_AT], m[at + HopWord.CROSS]) <= t:
        cross = m[at + HopWord.CROSS]
        if cross < m[at + HopWord.DOWN_AT]:
            time = m[at + HopWord.CROSS_TIME]
            if VARYING:
                time = _service_time(outages, m, at, cross, m[at + HopWord.CROSS_SIZE], time)
            if time >= 0:
                _enqueue(m, at, cross, time)
            m[at + HopWord.CROSS] += m[at + HopWord.CROSS_EVERY]
        elif cross <= t and cross < m[at + HopWord.UP_AT]:  # dropped in the outage
            m[at + HopWord.CROSS] += m[at + HopWord.CROSS_EVERY]
        elif t >= m[at + HopWord.UP_AT]:
            _next_outage(outages, m, at)
        else:
            return True
    m[at + HopWord.CHECK_FROM] = _check_from(m, at)
    return False


def _check_from(m: Any, at: Any) -> Any:
    """Return the time from which packets need the slow path of a hop [ns]."""
    if VARYING and m[at + HopWord.VARIES] > 0:
        return np.int64(_LONG_AGO)
    return min(m[at + HopWord.DOWN_AT], m[at + HopWord.CROSS])


@noinline
def _service_time(outages: Any, m: Any, at: Any, t: Any, size: Any, time: Any) -> Any:
    """Return the service time [ns] of a packet that arrives at time `t`, with its wait for tokens; -1 if it
    is dropped.

    `time` is its transmission time at the constant rate of the hop [ns].
    """
    block, table, words = (
        m[at + HopWord.VARIES],
        outages[m[at + HopWord.PATH], m[at + HopWord.HOP]],
        global_memory(m),
    )
    if block == 0:
        return time
    if not varying.conforms(table, words, block, t, size):
        return np.int64(varying.DROPPED)
    if m[at + HopWord.LIMIT] > 0 and is_held(words[m[at + HopWord.RING] + m[at + HopWord.NEXT_PLACE]], t):
        return np.int64(varying.DROPPED)
    free = m[at + HopWord.FREE_AT]
    _, end = varying.transmission(table, words, block, t, free, size, time)
    return end - max(t, free)


@noinline
def _arrival(parameters: Any, outages: Any, m: Any, at: Any, free: Any) -> Any:
    """Return the arrival time at the far end of a packet transmitted at time `free`, and True if it
    is lost."""
    t, is_lost, block = free + m[at + HopWord.DELAY], False, m[at + HopWord.VARIES]
    if free >= varying.STALLED:  # the packet never leaves, so that it reaches no other hop
        return free, True
    if block > 0:
        table, stream = outages[m[at + HopWord.PATH], m[at + HopWord.HOP]], m[at + HopWord.STREAM]
        t, is_lost = varying.arrival(
            parameters, table, global_memory(m), block, stream, free, m[at + HopWord.DELAY]
        )
    return _next_release(m, at, t), is_lost


@noinline
def _next_release(m: Any, at: Any, t: Any) -> Any:
    """Return the time at which the far end releases a packet that arrives there at time `t` [ns]."""
    tick = m[at + HopWord.TICK]
    return t + (m[at + HopWord.TICK_PHASE] - t) % tick if tick > 0 else t


@noinline
def _next_outage(outages: Any, m: Any, at: Any) -> None:
    """Start an up period of the hop, with an empty queue and an idle server; look up the next outage."""
    _empty(m, at)
    m[at + HopWord.OUTAGE_INDEX] += 1
    m[at + HopWord.DOWN_AT] = FOREVER
    if m[at + HopWord.OUTAGE_INDEX] < outages.shape[2]:
        m[at + HopWord.DOWN_AT] = outages[
            m[at + HopWord.PATH], m[at + HopWord.HOP], m[at + HopWord.OUTAGE_INDEX], 0
        ]
        m[at + HopWord.UP_AT] = outages[
            m[at + HopWord.PATH], m[at + HopWord.HOP], m[at + HopWord.OUTAGE_INDEX], 1
        ]
    plain = m[at + HopWord.TICK] == 0
    if VARYING:
        plain = plain and m[at + HopWord.VARIES] == 0
    m[at + HopWord.SAFE_UNTIL] = m[at + HopWord.DOWN_AT] if plain else _LONG_AGO


@noinline
def _empty(m: Any, at: Any) -> None:
    ring = global_memory(m)
    m[at + HopWord.FREE_AT] = 0
    if VARYING and m[at + HopWord.VARIES] > 0:
        varying.reset(ring, m[at + HopWord.VARIES])
    for i in range(m[at + HopWord.LIMIT]):
        ring[m[at + HopWord.RING] + i] = _LONG_AGO
