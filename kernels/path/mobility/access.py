"""The way of a packet from the MAP over the access routers to a mobile host, and of its ACK back.

What reaches an access router waits in a queue in order of time, for packets of the old and the new
router overtake each other.  Everything that a router does with a packet follows from the time at which
it is there and the timelines of the handovers before and behind that place of the journey.

In all functions `m` is the scratch, with the state from word `BASE` on: the `Word`s, then what all handovers
share (see `handovers`).
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, HIMIPV6, S_BINDING, S_MIP, Out, P
from netcarlo.kernels.path import hops as link
from netcarlo.kernels.path import timed_queue
from netcarlo.kernels.path.hops import ARRIVED, BACKWARD, FORWARD, IN_QUEUE, LINK_DOWN, MAIN, QUEUE_FULL
from netcarlo.kernels.path.mobility import handovers
from netcarlo.kernels.path.mobility.timeline import WORDS, Handover
from netcarlo.kernels.path.timed_queue import Entry, Queue

BASE: Any = slot("access_base")
"""The word of scratch where the state begins."""


class Word(IntEnum):
    """Words of scratch."""

    RADIO = 0  # number of the radio hop
    COUNT = 1  # handovers
    TABLE = 2  # the word where their timelines begin
    QUEUE = 3  # the queue at the access routers, `Queue`
    SENDER_PLACE = 7  # the place that the sender addresses
    SENDER_FROM = 8  # the first handover that it may still hear of
    MAP_PLACE = 9  # the place that the MAP sends to
    TUNNEL_DELAY = 10  # what the tunnels from the addressed MAP on add to its delay [ns]
    TUNNELLED = 11  # 1: there is such a tunnel
    PLACE = 12  # where the radio link was last used
    ACK_PLACE = 13  # where the last ACK came from
    IN_FLIGHT = 14  # data packets on the radio link at the end


STATE_WORDS = Word.IN_FLIGHT + 1 + handovers.STATE_WORDS

# Flags of a packet.
_COUNTS = 1  # it carries data
_COPIED = 2  # the MAP has made a copy for the next place
_DUPLICATED = 4  # a copy has gone to the next place
_COPY = 8  # it is a copy that waits for what the old router sends on
_WAITED = 16  # it has waited at this place
_TUNNELLED = 32
_FLAGS = 6  # bits; the place stands above them

_SHARED = Word.IN_FLIGHT + 1
_FIRST = np.int64(0)  # hop, in one direction or the other
_ONE = np.int64(1)


def scratch_words(ring: int, planned: int) -> int:
    """Words of scratch for a queue of `ring` packets and `planned` handovers, behind `STATE_WORDS`."""
    return timed_queue.scratch_words(ring) + WORDS * planned


@noinline
def prepare(parameters: Any, hops: Any, outages: Any, m: Any, out: Any, free: Any) -> Any:
    """Plan all handovers and lay out the queue from word `free` on; returns the next free word."""
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
    return table + WORDS * parameters[P.HANDOVERS]


def enter(parameters: Any, m: Any, out: Any, packet: Any, sent: Any, t: Any, counts: Any) -> Any:
    """A packet that the sender put out at `sent` passes the MAP at `t` [ns]; `counts` is 1 for data, else 0.

    Returns (ahead, t, tag): it reaches an access router at `t` with this `tag`.  If it is `ahead` of all
    others there, `step` may handle it at once; otherwise it is in the queue.
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
    arrival = t + parameters[P.MAP_TO_AR] + away
    ahead = timed_queue.is_empty(m, BASE + Word.QUEUE) and away == 0 and arrival <= parameters[P.END]
    if m[BASE + Word.TUNNELLED] == 1:
        flags |= _TUNNELLED
        out[Out.TUNNELLED] += counts
    leave = _past_false_alarms(m, place, t)
    if leave < count and m[_handover(m, leave) + Handover.COPY] <= t:
        protocol = parameters[P.HANDOVER]
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
    """When the next packet in the queue reaches an access router [ns], or FOREVER."""
    return timed_queue.due(parameters, m, np.int64(BASE + Word.QUEUE))


def pop(parameters: Any, m: Any) -> Any:
    """Take it out of the queue; returns (t, packet, tag, sent)."""
    return timed_queue.pop(parameters, m, np.int64(BASE + Word.QUEUE))


def step(
    parameters: Any, outages: Any, losses: Any, m: Any, out: Any,
    t: Any, packet: Any, tag: Any, sent: Any, wire: Any,
) -> Any:  # fmt: skip
    """What becomes of a packet of `wire` bytes at an access router at `t` [ns]: returns (fate, time).

    The host receives it at `time`, it is lost, or it WAITS.
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
        place += 1  # a false alarm: the same router
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
            if parameters[P.HANDOVER] == S_BINDING and t >= m[at + Handover.COPY]:
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
    if arrival > parameters[P.END]:
        m[BASE + Word.IN_FLIGHT] += counts
        return IN_QUEUE, arrival
    if tag & _COPIED and parameters[P.HANDOVER] == HIMIPV6:
        out[Out.COPIES] += counts
        out[Out.DISCARDED] += counts
    if fate != ARRIVED:
        out[Out.DROPS_RANDOM] += counts
    return fate, arrival


def send_ack(parameters: Any, outages: Any, losses: Any, m: Any, t: Any, ack_id: Any, size: Any) -> Any:
    """Hand an ACK of `size` bytes from the host to the path; returns (fate, time) as `hops.transmit`."""
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
    t += parameters[P.MAP_TO_AR]
    fixed = m[BASE + Word.RADIO]
    return link.forward(parameters, outages, losses, m, MAIN, BACKWARD, _ONE, fixed, t, size)


def overfull(m: Any) -> Any:
    """Whether the queue was too small."""
    return m[BASE + Word.QUEUE + Queue.FULL] == 1


@noinline
def in_flight(parameters: Any, m: Any) -> Any:
    """Data packets in the queue or on the radio link at the end."""
    n, queue = m[BASE + Word.IN_FLIGHT], np.int64(BASE + Word.QUEUE)
    for i in range(m[queue + Queue.HEAD], m[queue + Queue.TAIL]):
        n += _counts(m[timed_queue.entry(parameters, m, queue, i) + Entry.TAG])
    return n


def first_down(m: Any) -> Any:
    """When the host first leaves a router [ns], or FOREVER."""
    if m[BASE + Word.COUNT] > 0:
        return m[_handover(m, 0) + Handover.DOWN]
    return np.int64(FOREVER)


def _handover(m: Any, k: Any) -> Any:
    """Where the words of a handover begin."""
    return m[BASE + Word.TABLE] + k * WORDS


def _counts(tag: Any) -> Any:
    """1 for data, else 0."""
    return tag & _COUNTS


def _push(parameters: Any, m: Any, t: Any, packet: Any, tag: Any, sent: Any) -> None:
    """Into the queue; of several at the same time the tunnelled ones, which are older, come first."""
    timed_queue.push(parameters, m, np.int64(BASE + Word.QUEUE), t, packet, tag, sent, np.int64(_TUNNELLED))


def _tunnel(parameters: Any, m: Any, t: Any, packet: Any, tag: Any, sent: Any) -> None:
    """The old router sends a packet on to the next place."""
    later = t + m[_handover(m, tag >> _FLAGS) + Handover.TUNNEL]
    _push(parameters, m, later, packet, _next(tag), sent)


def _next(tag: Any) -> Any:
    """Of a packet that is tunnelled to the next place."""
    return (tag >> _FLAGS) + 1 << _FLAGS | _TUNNELLED | tag & _COUNTS


@noinline
def _bind_sender(m: Any, now: Any) -> None:
    """The place that the sender's packets are addressed to, from now on."""
    count, place = m[BASE + Word.COUNT], m[BASE + Word.SENDER_PLACE]
    k = m[BASE + Word.SENDER_FROM]
    while k < count and m[_handover(m, k) + Handover.BEGIN] <= now and _never_heard(m, k):
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


def _never_heard(m: Any, k: Any) -> Any:
    """Whether the sender never hears of a handover."""
    return m[_handover(m, k) + Handover.AT_CN] == FOREVER


@noinline
def _bind_map(m: Any, t: Any) -> None:
    """The place that the MAP sends them to, from `t` [ns] on."""
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
    """The place that a host stays at since past false alarms."""
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
    """The first packet on the radio link of a new place."""
    for k in range(m[BASE + Word.PLACE], place):
        at = _handover(m, k)
        if m[at + Handover.UP] > m[at + Handover.DOWN]:
            link.empty_queue(outages, m, MAIN, FORWARD, m[BASE + Word.RADIO], t)
    m[BASE + Word.PLACE] = place


@noinline
def _buffer_at_new_router(parameters: Any, m: Any, out: Any, t: Any, packet: Any, tag: Any, sent: Any) -> Any:
    """A packet comes to the new router; returns WAITS, FULL_QUEUE (lost), or ARRIVED: it need not wait."""
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
            if m[at + Handover.WAITING] >= parameters[P.BUFFER]:
                out[Out.DROPS_BUFFER] += _counts(tag)
                return QUEUE_FULL
            m[at + Handover.WAITING] += 1
            out[Out.BUFFERED] += _counts(tag)
        _push(parameters, m, gate, packet, tag | _WAITED, sent)
        return IN_QUEUE
    if settles:  # packets to the new address wait no longer
        m[at + Handover.SETTLE] = 0
    return ARRIVED


@noinline
def _on_departed_host(parameters: Any, m: Any, out: Any, t: Any, packet: Any, tag: Any, sent: Any) -> Any:
    """The old router has a packet for a host that left, or will have left when it arrives."""
    counts = _counts(tag)
    at = _handover(m, tag >> _FLAGS)
    if tag & _COPIED and parameters[P.HANDOVER] == HIMIPV6:
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
        if m[at + Handover.KEEPING] >= parameters[P.BUFFER]:
            out[Out.DROPS_BUFFER] += counts
            return QUEUE_FULL
        m[at + Handover.KEEPING] += 1
        out[Out.BUFFERED] += counts
    out[Out.TUNNELLED] += counts
    _tunnel(parameters, m, max(t, m[at + Handover.KEPT]), packet, tag, sent)
    return IN_QUEUE


@noinline
def _leaves(m: Any, place: Any) -> Any:
    """When the host really leaves a router that only a false alarm was raised for [ns]."""
    for k in range(place, m[BASE + Word.COUNT]):
        at = _handover(m, k)
        if m[at + Handover.UP] > m[at + Handover.DOWN]:
            return m[at + Handover.DOWN]
    return np.int64(FOREVER)
