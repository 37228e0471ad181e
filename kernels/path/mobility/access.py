"""The way of a packet from the MAP over the access routers to a mobile host, and of its ACK back.

What reaches an access router waits in a queue in order of time, for packets of the old and the new
router overtake each other.  Everything that a router does with a packet follows from the time at which
it is there and the timelines of the handovers before and behind that place of the journey.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, HIMIPV6, S_BINDING, S_MIP, Out, P
from netcarlo.kernels.path import hops as link
from netcarlo.kernels.path.hops import BACK, FORTH, MAIN
from netcarlo.kernels.path.mobility.handovers import make_handovers
from netcarlo.kernels.path.mobility.schedule import JOURNEY
from netcarlo.kernels.path.mobility.timeline import (
    ASTRAY,
    AT_CN,
    AT_MAP,
    BEGIN,
    COPY,
    DETOUR,
    DOWN,
    FORWARD,
    HOLD,
    INTER,
    KEEPING,
    KEPT,
    LAST,
    LEGS,
    RELEASE,
    SETTLE,
    TUNNEL,
    UP,
    WAITING,
    WORDS,
)

_FIRST = np.int64(0)  # hop, in one direction or the other
_ONE = np.int64(1)

WAITS = -1
"""A fate: the packet has not come to its end."""

_ENTRY = 4  # of the queue: time, packet, place and flags, when the sender put it out

# Flags of a packet.
_COPIED = 1  # the MAP has made a copy for the next place
_TWIN = 2  # a copy has gone to the next place
_IS_COPY = 4  # it is a copy that waits for what the old router sends on
_WAITED = 8  # it has waited at this place
_TUNNELLED = 16
_FLAGS = 5  # bits; the place stands above them

# State, words of scratch behind the legs and the journey.
_RADIO, _COUNT, _TABLE, _QUEUE, _HEAD, _TAIL, _FULL = range(LEGS + JOURNEY, LEGS + JOURNEY + 7)
_CN, _CN_FROM, _MAP, _AWAY, _BY_TUNNEL = range(_FULL + 1, _FULL + 6)
_PLACE, _ACK_PLACE, _LATE = range(_BY_TUNNEL + 1, _BY_TUNNEL + 4)
STATE_WORDS = _LATE + 1


class Access(NamedTuple):
    """The compiled functions of the access network."""

    prepare: Any
    """`(parameters, hops, outages, m, out, free) -> free`: plan all handovers and lay out the queue."""
    enter: Any
    """`(parameters, m, out, packet, sent, t, counts) -> (ahead, t, tag)`: a packet that the sender put out at
    `sent` passes the MAP at `t`, and with its `tag` reaches an access router.  If it is `ahead` of all others
    there, `step` may handle it at once; otherwise it is in the queue."""
    due: Any
    """`(parameters, m) -> int`: when the next packet reaches an access router, or FOREVER."""
    pop: Any
    """`(parameters, m) -> (t, packet, tag, sent)`: take it out of the queue."""
    step: Any
    """`(parameters, outages, losses, m, out, t, packet, tag, sent, first, size) -> (fate, time)`: what
    becomes of a packet at an access router: received by the host at `time`, lost, or WAITS."""
    answer: Any
    """`(parameters, outages, losses, m, t, size) -> (fate, time)`: an ACK from the host, as `transmit`."""
    overfull: Any
    """`(m) -> bool`: the queue was too small."""
    under_way: Any
    """`(parameters, m, first) -> int`: data packets in the queue, or on the radio link at the end."""
    first_down: Any
    """`(m) -> int`: when the host first leaves a router, or FOREVER."""


def scratch_words(ring: int, handovers: int) -> int:
    """Words of scratch for a queue of `ring` packets and so many handovers, behind `STATE_WORDS`."""
    return _ENTRY * ring + WORDS * handovers


def make_access(dev: Callable[[Any], Any], way: link.Link, base: int) -> Access:
    """Compile the access network of a row for a target, with its state from word `base` of scratch on."""
    plan_all = make_handovers(dev)
    carry, hops_of, clear, keep_up = way.carry, way.hops_of, way.clear, way.keep_up

    @cold
    def prepare(parameters: Any, hops: Any, outages: Any, m: Any, out: Any, free: Any) -> Any:
        for i in range(STATE_WORDS):
            m[base + i] = 0
        radio = hops_of(m, MAIN, FORTH) - 1
        keep_up(m, MAIN, FORTH, radio)
        keep_up(m, MAIN, BACK, _FIRST)
        m[base + _RADIO] = radio
        m[base + _QUEUE] = free
        m[base + _TABLE] = free + _ENTRY * parameters[P.RING]
        m[base + _COUNT] = plan_all(
            parameters, hops, outages, m, base, base + LEGS, m[base + _TABLE], out, radio
        )
        return m[base + _TABLE] + WORDS * parameters[P.HANDOVERS]

    @cold
    def push(parameters: Any, m: Any, t: Any, packet: Any, tag: Any, sent: Any) -> None:
        # Into the queue in order of time; of several at the same time the tunnelled ones, which are older,
        # come first.
        mask = parameters[P.RING] - 1
        queue = m[base + _QUEUE]
        i = m[base + _TAIL]
        head = m[base + _HEAD]
        if i - head > mask:
            m[base + _FULL] = 1
            return
        m[base + _TAIL] = i + 1
        tunnelled = tag & _TUNNELLED
        while i > head:
            here = queue + _ENTRY * (i & mask)
            before = queue + _ENTRY * ((i - 1) & mask)
            if m[before] < t or (m[before] == t and m[before + 2] & _TUNNELLED >= tunnelled):
                break
            for word in range(_ENTRY):
                m[here + word] = m[before + word]
            i -= 1
        here = queue + _ENTRY * (i & mask)
        m[here] = t
        m[here + 1] = packet
        m[here + 2] = tag
        m[here + 3] = sent

    push = dev(push)

    @cold
    def bind_sender(m: Any, now: Any) -> None:
        # The place that the sender's packets are addressed to, from now on.
        count, table, place = m[base + _COUNT], m[base + _TABLE], m[base + _CN]
        k = m[base + _CN_FROM]
        while k < count and m[table + k * WORDS + BEGIN] <= now and m[table + k * WORDS + AT_CN] == FOREVER:
            k += 1  # the sender never hears of it
        m[base + _CN_FROM] = k
        while k < count and m[table + k * WORDS + BEGIN] <= now:
            if m[table + k * WORDS + AT_CN] <= now:
                place = k + 1
            k += 1
        if place > m[base + _CN]:
            m[base + _CN] = place
            m[base + _CN_FROM] = max(m[base + _CN_FROM], place)
            m[base + _MAP] = place
            m[base + _AWAY] = 0
            m[base + _BY_TUNNEL] = 0

    bind_sender = dev(bind_sender)

    @cold
    def bind_map(m: Any, t: Any) -> None:
        # The place that the MAP sends them to.
        count, table = m[base + _COUNT], m[base + _TABLE]
        k = m[base + _MAP]
        while k < count and m[table + k * WORDS + BEGIN] <= t:
            at = table + k * WORDS
            if m[at + AT_MAP] <= t:
                m[base + _MAP] = k + 1
                if m[at + INTER] == 1:
                    m[base + _AWAY] += m[at + DETOUR]
                    m[base + _BY_TUNNEL] = 1
            elif m[at + INTER] == 1:
                break
            k += 1

    bind_map = dev(bind_map)

    def passes(m: Any, place: Any, t: Any) -> Any:
        # The place that a host stays at since past false alarms.
        at = m[base + _TABLE] + place * WORDS
        while place < m[base + _COUNT] and t >= m[at + UP] and m[at + UP] == m[at + DOWN]:
            place += 1
            at += WORDS
        return place

    passes = dev(passes)

    def enter(parameters: Any, m: Any, out: Any, packet: Any, sent: Any, t: Any, counts: Any) -> Any:
        count, table = m[base + _COUNT], m[base + _TABLE]
        known = m[base + _CN_FROM]
        if known < count and m[table + known * WORDS + BEGIN] <= sent:
            bind_sender(m, sent)
        place = m[base + _MAP]
        if place < count and m[table + place * WORDS + BEGIN] <= t:
            bind_map(m, t)
            place = m[base + _MAP]
        flags = np.int64(0)
        arrival = t + parameters[P.MAP_TO_AR] + m[base + _AWAY]
        ahead = m[base + _HEAD] == m[base + _TAIL] and m[base + _AWAY] == 0 and arrival <= parameters[P.END]
        if m[base + _BY_TUNNEL] == 1:
            flags = np.int64(_TUNNELLED)
            out[Out.TUNNELLED] += counts
        leave = passes(m, place, t)
        if leave < count and m[table + leave * WORDS + COPY] <= t:
            protocol = parameters[P.HANDOVER]
            if protocol in (S_MIP, HIMIPV6):
                flags |= _COPIED
            if protocol == S_MIP:
                ahead = False
                out[Out.COPIES] += counts
                later = arrival + m[table + leave * WORDS + DETOUR]
                copy = (leave + 1) << _FLAGS | _IS_COPY | flags & _TUNNELLED
                push(parameters, m, later, packet, copy, sent)
        tag = place << _FLAGS | flags
        if not ahead:
            push(parameters, m, arrival, packet, tag, sent)
        return ahead, arrival, tag

    def due(parameters: Any, m: Any) -> Any:
        if m[base + _HEAD] == m[base + _TAIL]:
            return np.int64(FOREVER)
        return m[m[base + _QUEUE] + _ENTRY * (m[base + _HEAD] & (parameters[P.RING] - 1))]

    @cold
    def move(outages: Any, m: Any, place: Any, t: Any) -> None:
        # The first packet on the radio link of a new place.
        table = m[base + _TABLE]
        for k in range(m[base + _PLACE], place):
            if m[table + k * WORDS + UP] > m[table + k * WORDS + DOWN]:
                clear(outages, m, MAIN, FORTH, m[base + _RADIO], t)
        m[base + _PLACE] = place

    move = dev(move)

    @cold
    def hold(parameters: Any, m: Any, out: Any, t: Any, packet: Any, tag: Any, sent: Any, counts: Any) -> Any:
        # A packet comes to the new router; WAITS, FULL_QUEUE (lost), or ARRIVED: it need not wait.
        at = m[base + _TABLE] + ((tag >> _FLAGS) - 1) * WORDS
        if tag & _TUNNELLED:
            m[at + LAST] = t
        gate = m[at + RELEASE]
        if tag & _IS_COPY:
            gate = max(gate, m[at + HOLD])
        settles = m[at + SETTLE] > 0 and tag & _TUNNELLED == 0
        if settles:
            gate = max(gate, m[at + LAST]) + m[at + SETTLE]
        if t < gate:
            if tag & _WAITED == 0:
                if m[at + WAITING] >= parameters[P.BUFFER]:
                    out[Out.DROPS_BUFFER] += counts
                    return link.FULL_QUEUE
                m[at + WAITING] += 1
                out[Out.BUFFERED] += counts
            push(parameters, m, gate, packet, tag | _WAITED, sent)
            return WAITS
        if settles:  # packets to the new address wait no longer
            m[at + SETTLE] = 0
        return link.ARRIVED

    hold = dev(hold)

    @cold
    def part(
        parameters: Any, m: Any, out: Any, t: Any, packet: Any, tag: Any, sent: Any, counts: Any
    ) -> Any:  # fmt: skip
        # The old router has a packet for a host that left, or will have left when it arrives.
        at = m[base + _TABLE] + (tag >> _FLAGS) * WORDS
        new = ((tag >> _FLAGS) + 1) << _FLAGS | _TUNNELLED
        protocol = parameters[P.HANDOVER]
        if tag & _COPIED and protocol == HIMIPV6:
            out[Out.COPIES] += counts
            out[Out.DISCARDED] += counts
            push(parameters, m, t + m[at + DETOUR], packet, new, sent)
            return WAITS
        if tag & (_TWIN | _COPIED):
            out[Out.DISCARDED] += counts
            return WAITS
        if t < m[at + DOWN] or m[at + KEPT] == FOREVER:
            out[Out.DROPS_HANDOVER] += counts
            return link.DOWN
        if t < m[at + KEPT]:
            if m[at + KEEPING] >= parameters[P.BUFFER]:
                out[Out.DROPS_BUFFER] += counts
                return link.FULL_QUEUE
            m[at + KEEPING] += 1
            out[Out.BUFFERED] += counts
        out[Out.TUNNELLED] += counts
        push(parameters, m, max(t, m[at + KEPT]) + m[at + TUNNEL], packet, new, sent)
        return WAITS

    part = dev(part)

    def pop(parameters: Any, m: Any) -> Any:
        entry = m[base + _QUEUE] + _ENTRY * (m[base + _HEAD] & (parameters[P.RING] - 1))
        m[base + _HEAD] += 1
        return m[entry], m[entry + 1], m[entry + 2], m[entry + 3]

    @cold
    def leaves(m: Any, place: Any) -> Any:
        # When the host really leaves a router that only a false alarm was raised for.
        for k in range(place, m[base + _COUNT]):
            at = m[base + _TABLE] + k * WORDS
            if m[at + UP] > m[at + DOWN]:
                return m[at + DOWN]
        return np.int64(FOREVER)

    leaves = dev(leaves)

    def step(
        parameters: Any, outages: Any, losses: Any, m: Any, out: Any,
        t: Any, packet: Any, tag: Any, sent: Any, first: Any, size: Any,
    ) -> Any:  # fmt: skip
        counts = np.int64(1) if packet >= first else np.int64(0)
        wire = size if packet >= first else parameters[P.HANDSHAKE]
        table, count = m[base + _TABLE], m[base + _COUNT]
        place = tag >> _FLAGS
        while True:
            if place > 0:
                at = table + (place - 1) * WORDS
                if t < m[at + RELEASE] or m[at + SETTLE] > 0 or tag & _IS_COPY:
                    fate = hold(parameters, m, out, t, packet, tag, sent, counts)
                    if fate != link.ARRIVED:
                        return fate, t
            at = table + place * WORDS
            if place == count or t < m[at + UP] or m[at + UP] > m[at + DOWN]:
                break
            place += 1  # a false alarm: the same router
            tag += 1 << _FLAGS
        down = np.int64(FOREVER)
        if place < count:
            down = m[at + DOWN]
            if t >= m[at + BEGIN]:
                if t >= m[at + FORWARD]:
                    new = (place + 1) << _FLAGS | _TUNNELLED
                    out[Out.TUNNELLED] += counts
                    push(parameters, m, t + m[at + TUNNEL], packet, new, sent)
                    return WAITS, t
                if t >= m[at + ASTRAY] and t < down:
                    out[Out.DROPS_HANDOVER] += counts
                    return link.DOWN, t
                if parameters[P.HANDOVER] == S_BINDING and t >= m[at + COPY]:
                    out[Out.COPIES] += counts
                    new = (place + 1) << _FLAGS | _TUNNELLED
                    push(parameters, m, t + m[at + TUNNEL], packet, new, sent)
                    tag |= _TWIN
                if t >= down:
                    return part(parameters, m, out, t, packet, tag, sent, counts), t
            if m[at + UP] == down:
                down = leaves(m, place)
        if place != m[base + _PLACE]:
            move(outages, m, place, t)
        fate, arrival = carry(parameters, outages, losses, m, MAIN, FORTH, m[base + _RADIO], _ONE, t, wire)
        if fate == link.FULL_QUEUE:
            out[Out.DROPS_QUEUE] += counts
            return fate, t
        if arrival > down:
            return part(parameters, m, out, t, packet, tag, sent, counts), down
        if arrival > parameters[P.END]:
            m[base + _LATE] += counts
            return WAITS, arrival
        if tag & _COPIED and parameters[P.HANDOVER] == HIMIPV6:
            out[Out.COPIES] += counts
            out[Out.DISCARDED] += counts
        if fate != link.ARRIVED:
            out[Out.DROPS_RANDOM] += counts
        return fate, arrival

    def answer(parameters: Any, outages: Any, losses: Any, m: Any, t: Any, size: Any) -> Any:
        count, table = m[base + _COUNT], m[base + _TABLE]
        place = m[base + _ACK_PLACE]
        if place < count and t > m[table + place * WORDS + DOWN]:
            while place < count and t >= m[table + place * WORDS + UP]:
                place += 1
            m[base + _ACK_PLACE] = place
            if place < count and t > m[table + place * WORDS + DOWN]:
                return link.DOWN, t
        fate, t = carry(parameters, outages, losses, m, MAIN, BACK, _FIRST, _ONE, t, size)
        if fate != link.ARRIVED:
            return fate, t
        t += parameters[P.MAP_TO_AR]
        return carry(parameters, outages, losses, m, MAIN, BACK, _ONE, m[base + _RADIO], t, size)

    def overfull(m: Any) -> Any:
        return m[base + _FULL] == 1

    @cold
    def under_way(parameters: Any, m: Any, first: Any) -> Any:
        n = m[base + _LATE]
        for i in range(m[base + _HEAD], m[base + _TAIL]):
            if m[m[base + _QUEUE] + _ENTRY * (i & (parameters[P.RING] - 1)) + 1] >= first:
                n += 1
        return n

    def first_down(m: Any) -> Any:
        if m[base + _COUNT] > 0:
            return m[m[base + _TABLE] + DOWN]
        return np.int64(FOREVER)

    return Access(
        dev(prepare), dev(enter), dev(due), dev(pop), dev(step), dev(answer), dev(overfull), dev(under_way),
        dev(first_down),
    )  # fmt: skip
