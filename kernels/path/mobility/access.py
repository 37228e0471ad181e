"""Forwarding from the MAP over the access routers to a mobile host, and of ACKs back.

Packets at an access router wait in a queue ordered by time, as those of the old and the new router overtake
each other. The treatment of a packet by a router follows from its time of arrival and from the timelines of
the handovers before and after that place of the journey.

In all functions `m` is the scratch, with the state from word `BASE` on: the words of `Word`, then those that
all handovers share (`handovers`).
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, HIMIPV6, S_BINDING, S_MIP, Out
from netcarlo.kernels.base.parameters import MobileP, RowP
from netcarlo.kernels.path import hops as link
from netcarlo.kernels.path import timed_queue
from netcarlo.kernels.path.hops import ARRIVED, BACKWARD, FORWARD, IN_QUEUE, LINK_DOWN, MAIN, QUEUE_FULL
from netcarlo.kernels.path.mobility import handovers
from netcarlo.kernels.path.mobility.timeline import WORDS, Handover
from netcarlo.kernels.path.timed_queue import Entry, Queue

BASE: Any = slot("access_base")
"""Word of scratch where the state begins."""


class Word(IntEnum):
    """Words of scratch."""

    RADIO = 0  # number of the radio hop
    COUNT = 1  # number of handovers
    TABLE = 2  # first word of their timelines
    QUEUE = 3  # queue at the access routers (`timed_queue.Queue`)
    SENDER_PLACE = 7  # place that the sender addresses
    SENDER_FROM = 8  # first handover of which the sender may still learn
    MAP_PLACE = 9  # place to which the MAP forwards
    TUNNEL_DELAY = 10  # delay added by the tunnels from the addressed MAP on [ns]
    TUNNELLED = 11  # 1 if there is such a tunnel
    PLACE = 12  # place of the latest use of the radio link
    ACK_PLACE = 13  # place of the latest ACK
    IN_FLIGHT = 14  # data packets on the radio link at the end


STATE_WORDS = Word.IN_FLIGHT + 1 + handovers.STATE_WORDS

# Flags of a packet.
_COUNTS = 1  # the packet carries data
_COPIED = 2  # the MAP has made a copy for the next place
_DUPLICATED = 4  # a copy was sent to the next place
_COPY = 8  # the packet is a copy, delivered after the packets that the old router forwards
_WAITED = 16  # the packet has waited at this place
_TUNNELLED = 32
_FLAGS = 6  # number of flag bits; the place is above them

_SHARED = Word.IN_FLIGHT + 1
_FIRST = np.int64(0)  # first hop of a direction
_ONE = np.int64(1)


def scratch_words(ring: int, planned: int) -> int:
    """Return the words of scratch for a queue of `ring` packets and `planned` handovers, after
    `STATE_WORDS`."""
    return timed_queue.scratch_words(ring) + WORDS * planned


@noinline
def prepare(parameters: Any, hops: Any, outages: Any, m: Any, out: Any, free: Any) -> Any:
    """Plan all handovers and lay out the queue from word `free` on; return the next free word."""
    for i in range(STATE_WORDS):
        m[BASE + i] = 0
    radio = link.hop_count(m, MAIN, FORWARD) - 1
    link.disable_outages(m, MAIN, FORWARD, radio)
    link.disable_outages(m, MAIN, BACKWARD, _FIRST)
    table = timed_queue.init(parameters, m, np.int64(BASE + Word.QUEUE), free)
    m[BASE + Word.RADIO] = radio
    m[BASE + Word.TABLE] = table
    m[BASE + Word.COUNT] = handovers.plan_all(
        parameters, hops, outages, m, out, np.int64(BASE + _SHARED), table, radio
    )
    return table + WORDS * parameters[MobileP.HANDOVERS]


def enter(parameters: Any, m: Any, out: Any, packet: Any, sent: Any, t: Any, counts: Any) -> Any:
    """Process a packet sent at `sent` that passes the MAP at `t` [ns]; `counts` is 1 for data, else 0.

    Returns (ahead, t, tag): the packet reaches an access router at `t` with this `tag`. If it is `ahead` of
    all others, `step` may process it at once; otherwise it is in the queue.
    """
    count = m[BASE + Word.COUNT]
    known = m[BASE + Word.SENDER_FROM]
    if known < count and m[_handover(m, known) + Handover.BEGIN] <= sent:
        _bind_sender(m, sent)
    place = m[BASE + Word.MAP_PLACE]
    if place < count and m[_handover(m, place) + Handover.BEGIN] <= t:
        _bind_map(m, t)
        place = m[BASE + Word.MAP_PLACE]
    flags = counts
    away = m[BASE + Word.TUNNEL_DELAY]
    arrival = t + parameters[MobileP.MAP_TO_AR] + away
    ahead = timed_queue.is_empty(m, BASE + Word.QUEUE) and away == 0 and arrival <= parameters[RowP.END]
    if m[BASE + Word.TUNNELLED] == 1:
        flags |= _TUNNELLED
        out[Out.TUNNELLED] += counts
    leave = _past_false_alarms(m, place, t)
    if leave < count and m[_handover(m, leave) + Handover.COPY] <= t:
        protocol = parameters[MobileP.HANDOVER]
        if protocol in (S_MIP, HIMIPV6):
            flags |= _COPIED
        if protocol == S_MIP:
            ahead = False
            out[Out.COPIES] += counts
            later = arrival + m[_handover(m, leave) + Handover.DETOUR]
            copy = (leave + 1) << _FLAGS | _COPY | flags & (_TUNNELLED | _COUNTS)
            _push(parameters, m, later, packet, copy, sent)
    tag = place << _FLAGS | flags
    if not ahead:
        _push(parameters, m, arrival, packet, tag, sent)
    return ahead, arrival, tag


def due(parameters: Any, m: Any) -> Any:
    """Return the time at which the next packet of the queue reaches an access router [ns], or FOREVER."""
    return timed_queue.due(parameters, m, np.int64(BASE + Word.QUEUE))


def pop(parameters: Any, m: Any) -> Any:
    """Remove the first packet of the queue; return (t, packet, tag, sent)."""
    return timed_queue.pop(parameters, m, np.int64(BASE + Word.QUEUE))


def step(
    parameters: Any, outages: Any, losses: Any, m: Any, out: Any,
    t: Any, packet: Any, tag: Any, sent: Any, wire: Any,
) -> Any:  # fmt: skip
    """Process a packet of `wire` bytes at an access router at `t` [ns]; return (fate, time).

    The host receives it at `time`, or it is lost at `time`, or it is IN_QUEUE.
    """
    counts = _counts(tag)
    count = m[BASE + Word.COUNT]
    place = tag >> _FLAGS
    while True:
        if place > 0:
            at = _handover(m, place - 1)
            if t < m[at + Handover.RELEASE] or m[at + Handover.SETTLE] > 0 or tag & _COPY:
                fate = _buffer_at_new_router(parameters, m, out, t, packet, tag, sent)
                if fate != ARRIVED:
                    return fate, t
        at = _handover(m, place)
        if place == count or t < m[at + Handover.UP] or m[at + Handover.UP] > m[at + Handover.DOWN]:
            break
        place += 1  # false alarm: the router is the same
        tag += 1 << _FLAGS
    down = np.int64(FOREVER)
    if place < count:
        down = m[at + Handover.DOWN]
        if t >= m[at + Handover.BEGIN]:
            if t >= m[at + Handover.FORWARD]:
                out[Out.TUNNELLED] += counts
                _tunnel(parameters, m, t, packet, tag, sent)
                return IN_QUEUE, t
            if t >= m[at + Handover.ASTRAY] and t < down:
                out[Out.DROPS_HANDOVER] += counts
                return LINK_DOWN, t
            if parameters[MobileP.HANDOVER] == S_BINDING and t >= m[at + Handover.COPY]:
                out[Out.COPIES] += counts
                _tunnel(parameters, m, t, packet, tag, sent)
                tag |= _DUPLICATED
            if t >= down:
                return _on_departed_host(parameters, m, out, t, packet, tag, sent), t
        if m[at + Handover.UP] == down:
            down = _leaves(m, place)
    if place != m[BASE + Word.PLACE]:
        _move(outages, m, place, t)
    radio = m[BASE + Word.RADIO]
    fate, arrival = link.forward(parameters, outages, losses, m, MAIN, FORWARD, radio, _ONE, t, wire)
    if fate == QUEUE_FULL:
        out[Out.DROPS_QUEUE] += counts
        return fate, t
    if arrival > down:
        return _on_departed_host(parameters, m, out, t, packet, tag, sent), down
    if arrival > parameters[RowP.END]:
        m[BASE + Word.IN_FLIGHT] += counts
        return IN_QUEUE, arrival
    if tag & _COPIED and parameters[MobileP.HANDOVER] == HIMIPV6:
        out[Out.COPIES] += counts
        out[Out.DISCARDED] += counts
    if fate != ARRIVED:
        out[Out.DROPS_RANDOM] += counts
    return fate, arrival


def send_ack(parameters: Any, outages: Any, losses: Any, m: Any, t: Any, ack_id: Any, size: Any) -> Any:
    """Send an ACK of `size` bytes from the host; return (fate, time) as `hops.transmit`."""
    count = m[BASE + Word.COUNT]
    place = m[BASE + Word.ACK_PLACE]
    if place < count and t > m[_handover(m, place) + Handover.DOWN]:
        while place < count and t >= m[_handover(m, place) + Handover.UP]:
            place += 1
        m[BASE + Word.ACK_PLACE] = place
        if place < count and t > m[_handover(m, place) + Handover.DOWN]:
            return LINK_DOWN, t
    fate, t = link.forward(parameters, outages, losses, m, MAIN, BACKWARD, _FIRST, _ONE, t, size)
    if fate != ARRIVED:
        return fate, t
    t += parameters[MobileP.MAP_TO_AR]
    fixed = m[BASE + Word.RADIO]
    return link.forward(parameters, outages, losses, m, MAIN, BACKWARD, _ONE, fixed, t, size)


def overfull(m: Any) -> Any:
    """Return True if the queue was too small."""
    return m[BASE + Word.QUEUE + Queue.FULL] == 1


@noinline
def in_flight(parameters: Any, m: Any) -> Any:
    """Return the number of data packets in the queue or on the radio link at the end."""
    n, queue = m[BASE + Word.IN_FLIGHT], np.int64(BASE + Word.QUEUE)
    for i in range(m[queue + Queue.HEAD], m[queue + Queue.TAIL]):
        n += _counts(m[timed_queue.entry(parameters, m, queue, i) + Entry.TAG])
    return n


def first_down(m: Any) -> Any:
    """Return the time at which the host first leaves a router [ns], or FOREVER."""
    if m[BASE + Word.COUNT] > 0:
        return m[_handover(m, 0) + Handover.DOWN]
    return np.int64(FOREVER)


def _handover(m: Any, k: Any) -> Any:
    """Return the word where a handover begins."""
    return m[BASE + Word.TABLE] + k * WORDS


def _counts(tag: Any) -> Any:
    """Return 1 for data, else 0."""
    return tag & _COUNTS


def _push(parameters: Any, m: Any, t: Any, packet: Any, tag: Any, sent: Any) -> None:
    """Insert a packet in the queue; of simultaneous packets tunnelled ones, which are older, come first."""
    timed_queue.push(parameters, m, np.int64(BASE + Word.QUEUE), t, packet, tag, sent, np.int64(_TUNNELLED))


def _tunnel(parameters: Any, m: Any, t: Any, packet: Any, tag: Any, sent: Any) -> None:
    """Tunnel a packet from the old router to the next place."""
    later = t + m[_handover(m, tag >> _FLAGS) + Handover.TUNNEL]
    _push(parameters, m, later, packet, _next(tag), sent)


def _next(tag: Any) -> Any:
    """Return the tag of a packet that is tunnelled to the next place."""
    return (tag >> _FLAGS) + 1 << _FLAGS | _TUNNELLED | tag & _COUNTS


@noinline
def _bind_sender(m: Any, now: Any) -> None:
    """Update the place to which the sender addresses packets from `now` on."""
    count, place = m[BASE + Word.COUNT], m[BASE + Word.SENDER_PLACE]
    k = m[BASE + Word.SENDER_FROM]
    while k < count and m[_handover(m, k) + Handover.BEGIN] <= now and _never_learnt(m, k):
        k += 1
    m[BASE + Word.SENDER_FROM] = k
    while k < count and m[_handover(m, k) + Handover.BEGIN] <= now:
        if m[_handover(m, k) + Handover.AT_CN] <= now:
            place = k + 1
        k += 1
    if place > m[BASE + Word.SENDER_PLACE]:
        m[BASE + Word.SENDER_PLACE] = place
        m[BASE + Word.SENDER_FROM] = max(m[BASE + Word.SENDER_FROM], place)
        m[BASE + Word.MAP_PLACE] = place
        m[BASE + Word.TUNNEL_DELAY] = 0
        m[BASE + Word.TUNNELLED] = 0


def _never_learnt(m: Any, k: Any) -> Any:
    """Return True if the sender never learns of a handover."""
    return m[_handover(m, k) + Handover.AT_CN] == FOREVER


@noinline
def _bind_map(m: Any, t: Any) -> None:
    """Update the place to which the MAP forwards packets from `t` [ns] on."""
    count = m[BASE + Word.COUNT]
    k = m[BASE + Word.MAP_PLACE]
    while k < count and m[_handover(m, k) + Handover.BEGIN] <= t:
        at = _handover(m, k)
        if m[at + Handover.AT_MAP] <= t:
            m[BASE + Word.MAP_PLACE] = k + 1
            if m[at + Handover.INTER] == 1:
                m[BASE + Word.TUNNEL_DELAY] += m[at + Handover.DETOUR]
                m[BASE + Word.TUNNELLED] = 1
        elif m[at + Handover.INTER] == 1:
            break
        k += 1


def _past_false_alarms(m: Any, place: Any, t: Any) -> Any:
    """Return the place at which the host stays after false alarms."""
    at = _handover(m, place)
    while (
        place < m[BASE + Word.COUNT]
        and t >= m[at + Handover.UP]
        and m[at + Handover.UP] == m[at + Handover.DOWN]
    ):
        place += 1
        at += WORDS
    return place


@noinline
def _move(outages: Any, m: Any, place: Any, t: Any) -> None:
    """Empty the radio queue for the first packet at a new place."""
    for k in range(m[BASE + Word.PLACE], place):
        at = _handover(m, k)
        if m[at + Handover.UP] > m[at + Handover.DOWN]:
            link.empty_queue(outages, m, MAIN, FORWARD, m[BASE + Word.RADIO], t)
    m[BASE + Word.PLACE] = place


@noinline
def _buffer_at_new_router(parameters: Any, m: Any, out: Any, t: Any, packet: Any, tag: Any, sent: Any) -> Any:
    """Process a packet at the new router.

    Returns IN_QUEUE if it is buffered, QUEUE_FULL if the buffer is full, and ARRIVED if it can be delivered.
    """
    at = _handover(m, (tag >> _FLAGS) - 1)
    if tag & _TUNNELLED:
        m[at + Handover.LAST] = t
    gate = m[at + Handover.RELEASE]
    if tag & _COPY:
        gate = max(gate, m[at + Handover.HOLD])
    settles = m[at + Handover.SETTLE] > 0 and tag & _TUNNELLED == 0
    if settles:
        gate = max(gate, m[at + Handover.LAST]) + m[at + Handover.SETTLE]
    if t < gate:
        if tag & _WAITED == 0:
            if m[at + Handover.WAITING] >= parameters[MobileP.BUFFER]:
                out[Out.DROPS_BUFFER] += _counts(tag)
                return QUEUE_FULL
            m[at + Handover.WAITING] += 1
            out[Out.BUFFERED] += _counts(tag)
        _push(parameters, m, gate, packet, tag | _WAITED, sent)
        return IN_QUEUE
    if settles:  # packets to the new address no longer wait
        m[at + Handover.SETTLE] = 0
    return ARRIVED


@noinline
def _on_departed_host(parameters: Any, m: Any, out: Any, t: Any, packet: Any, tag: Any, sent: Any) -> Any:
    """Process a packet at the old router for a host that has left, or will have left at its arrival."""
    counts = _counts(tag)
    at = _handover(m, tag >> _FLAGS)
    if tag & _COPIED and parameters[MobileP.HANDOVER] == HIMIPV6:
        out[Out.COPIES] += counts
        out[Out.DISCARDED] += counts
        _push(parameters, m, t + m[at + Handover.DETOUR], packet, _next(tag), sent)
        return IN_QUEUE
    if tag & (_DUPLICATED | _COPIED):
        out[Out.DISCARDED] += counts
        return IN_QUEUE
    if t < m[at + Handover.DOWN] or m[at + Handover.KEPT] == FOREVER:
        out[Out.DROPS_HANDOVER] += counts
        return LINK_DOWN
    if t < m[at + Handover.KEPT]:
        if m[at + Handover.KEEPING] >= parameters[MobileP.BUFFER]:
            out[Out.DROPS_BUFFER] += counts
            return QUEUE_FULL
        m[at + Handover.KEEPING] += 1
        out[Out.BUFFERED] += counts
    out[Out.TUNNELLED] += counts
    _tunnel(parameters, m, max(t, m[at + Handover.KEPT]), packet, tag, sent)
    return IN_QUEUE


@noinline
def _leaves(m: Any, place: Any) -> Any:
    """Return the time at which the host leaves the router, after the false alarms there [ns]."""
    for k in range(place, m[BASE + Word.COUNT]):
        at = _handover(m, k)
        if m[at + Handover.UP] > m[at + Handover.DOWN]:
            return m[at + Handover.DOWN]
    return np.int64(FOREVER)
