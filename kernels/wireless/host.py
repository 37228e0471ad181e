"""The end hosts of a flow: what its source puts out, and what comes of a packet that reaches its end."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_TIMEOUT, FOREVER, NEVER, STREAM_DATAGRAM, P
from netcarlo.kernels.udp.source import gap, offset_of
from netcarlo.kernels.wireless import delays
from netcarlo.kernels.wireless import leg as legs
from netcarlo.kernels.wireless.forwarding import inject
from netcarlo.kernels.wireless.frame import (
    BACKWARD,
    CONTROL,
    FLOW_MASK,
    HOPS,
    PACKET_SHIFT,
    PROBE,
    frame_of,
    is_data,
    transmission_id,
)
from netcarlo.kernels.wireless.layout import (
    DELAY_BINS,
    DELAY_LOW,
    NOBODY,
    Flow,
    FlowOut,
    Link,
    Node,
    Radio,
)
from netcarlo.kernels.wireless.state import (
    ASSOCIATED,
    FLOW_COUNTS,
    NO_EVENT,
    START_OF_KEYS,
    FlowState,
    Mac,
    Phase,
    Word,
    association,
    flow_at,
    link_at,
    node_at,
    transport_at,
)
from netcarlo.kernels.wireless.trace import note

GAUGED: Any = slot("gauged")
"""Whether delays of classes of flows are measured, see `delays`."""


@noinline
def schedule(m: Any, flow: Any) -> None:
    """Find the next event of a flow."""
    at = flow_at(m, flow)
    event = m[at + FlowState.NEXT]
    if ASSOCIATED and m[at + Flow.TCP] != 0:
        s = m[m[at + FlowState.ASSOCIATION] :]
        event = min(event, min(association.due(s), association.due_at_receiver(s)))
    key = event << 2 | Phase.FLOW if event < FOREVER else np.int64(NO_EVENT)
    m[START_OF_KEYS + m[Radio.NODES] + m[Radio.LEGS] + flow] = key


@noinline
def on_event(m: Any, f: Any, constants: Any, t: Any, flow: Any) -> None:
    """The next event of a flow is now."""
    if ASSOCIATED and m[flow_at(m, flow) + Flow.TCP] != 0:
        _on_association_event(m, f, constants, t, flow)
    else:
        _put_out_datagram(m, t, flow)


def _put_out_datagram(m: Any, t: Any, flow: Any) -> None:
    """A UDP source puts out its next packet."""
    at = flow_at(m, flow)
    number = m[at + FlowState.NUMBER]
    m[at + FlowState.NUMBER] = number + 1
    if t < m[Radio.WARM_UP]:
        m[at + FlowState.UNCOUNTED] = number + 1
    following = t + gap(m, STREAM_DATAGRAM + flow, number, m[at + Flow.INTERVAL], m[at + Flow.SPREAD])
    if number + 1 >= m[at + Flow.LIMIT] or following >= m[at + Flow.STOP]:
        following = np.int64(FOREVER)
        if number + 1 >= m[at + Flow.LIMIT]:
            m[at + FLOW_COUNTS + FlowOut.SOURCE_DONE] = t
    m[at + FlowState.NEXT] = following
    m[at + FLOW_COUNTS + FlowOut.SENT] += 1
    inject(m, t, number << PACKET_SHIFT | flow)
    schedule(m, flow)


def _on_association_event(m: Any, f: Any, constants: Any, t: Any, flow: Any) -> None:
    """An association begins, or a timer goes off, at its source or at its sink."""
    at = flow_at(m, flow)
    p, s = m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :]
    g = f[flow * association.FLOATS :]
    if m[at + FlowState.NEXT] == t:
        m[at + FlowState.NEXT] = FOREVER
        association.start(p, s, g, t)
        _send(m, f, t, flow)
    elif association.due(s) == t:
        before = s[association.Counter.TIMEOUTS]
        association.on_timeout(p, s, g, constants, t)
        if s[association.Counter.TIMEOUTS] > before:
            note(m, EVENT_TIMEOUT, flow, _first_node(m, at))
        _send(m, f, t, flow)
    else:
        _answer(m, t, flow, association.on_delay(p, s))
        schedule(m, flow)


@noinline
def _send(m: Any, f: Any, t: Any, flow: Any) -> None:
    """Put out what the source of an association may."""
    at = flow_at(m, flow)
    p, s = m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :]
    g = f[flow * association.FLOATS :]
    node = np.int64(NOBODY)
    if m[Radio.BACK_PRESSURE] != 0 and m[at + Flow.BEFORE] == NOBODY:
        node = node_at(m, _first_node(m, at))
    packet = np.int64(association.NONE)
    sends = association.may_send(p, s)
    while sends:
        blocked = node != NOBODY and m[node + Mac.COUNT] >= m[node + Node.QUEUE]
        packet = association.next_segment(p, s, g, t, blocked)
        if packet >= 0:
            frame = frame_of(flow, packet, association.transmission_id(s, t))
            if not association.is_data(p, s, packet):
                frame |= CONTROL
            inject(m, t, frame)
        sends = packet >= 0 and association.may_send(p, s)
    if packet == association.FULL:
        m[Word.FULL] = 1
    if m[at + FLOW_COUNTS + FlowOut.SOURCE_DONE] == NEVER and association.all_sent(s):
        m[at + FLOW_COUNTS + FlowOut.SOURCE_DONE] = t
    probe = association.probe(p, s, t)
    if probe >= 0:
        inject(m, t, probe << PACKET_SHIFT | PROBE | flow)
    schedule(m, flow)


@noinline
def on_room(m: Any, f: Any, t: Any, flow: Any, node: Any) -> None:
    """A frame has left the queue of a node: the source of an association that waited for that goes on."""
    at = flow_at(m, flow)
    p, s = m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :]
    if _first_node(m, at) == node and association.resume(p, s, f[flow * association.FLOATS :]):
        _send(m, f, t, flow)


def _first_node(m: Any, at: Any) -> Any:
    """The radio node that the data of the flow at word `at` come to first."""
    return m[link_at(m, m[m[Word.PATHS] + m[at + Flow.FORTH_AT]]) + Link.FROM]


@noinline
def arrive(m: Any, f: Any, constants: Any, t: Any, frame: Any, more: Any) -> None:
    """A packet reaches its end host; whether `more` do at once."""
    if ASSOCIATED and m[flow_at(m, frame & FLOW_MASK) + Flow.TCP] != 0:
        if frame & BACKWARD:
            _on_ack(m, f, constants, t, frame)
        elif frame & PROBE:
            inject(m, t, frame & ~HOPS | BACKWARD)
        else:
            _on_data(m, t, frame, more)
    else:
        _on_datagram(m, t, frame)


def _on_ack(m: Any, f: Any, constants: Any, t: Any, frame: Any) -> None:
    """An acknowledgement, or another answer of the sink, reaches its source."""
    flow = frame & FLOW_MASK
    at = flow_at(m, flow)
    p, s = m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :]
    if frame & PROBE:
        association.on_probe(p, s, f[flow * association.FLOATS :], constants, t, frame >> PACKET_SHIFT)
    else:
        association.on_ack(p, s, f[flow * association.FLOATS :], constants, t, frame >> PACKET_SHIFT)
    _send(m, f, t, flow)


def _on_data(m: Any, t: Any, frame: Any, more: Any) -> None:
    """A packet reaches the sink of its association."""
    flow = frame & FLOW_MASK
    packet = frame >> PACKET_SHIFT
    at = flow_at(m, flow)
    counts = at + FLOW_COUNTS
    p, s = m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :]
    before = association.in_order(p, s)
    association.note_transmission(p, s, packet, transmission_id(frame))
    answer, fresh = association.on_data(p, s, t, packet, more)
    m[counts + FlowOut.IN_ORDER] += association.in_order(p, s) - before
    if is_data(frame):
        _count_packet(m, counts, t)
        if fresh:
            _count_arrival(m, at, t, association.delay_of(p, s, t, packet))
        if m[counts + FlowOut.COMPLETED] == NEVER and association.complete(p, s):
            m[counts + FlowOut.COMPLETED] = t
    _answer(m, t, flow, answer)
    schedule(m, flow)


@noinline
def _answer(m: Any, t: Any, flow: Any, answer: Any) -> None:
    """A sink answers with a packet, by its number, an acknowledgement as a rule, or with none (negative)."""
    at = flow_at(m, flow)
    if answer == association.FULL:
        m[Word.FULL] = 1
    elif answer >= 0:
        frame = answer << PACKET_SHIFT | BACKWARD | flow
        if association.is_ack(m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :], answer):
            m[at + FLOW_COUNTS + FlowOut.ACKS_SENT] += 1
            if m[at + Flow.ACK_COST] > 0 and m[at + Flow.AFTER] != NOBODY:
                legs.occupy(m, m[at + Flow.AFTER], t, m[at + Flow.ACK_COST])
        else:
            frame |= CONTROL
        inject(m, t, frame)


def _on_datagram(m: Any, t: Any, frame: Any) -> None:
    """A packet reaches its UDP sink."""
    flow = frame & FLOW_MASK
    at = flow_at(m, flow)
    counts = at + FLOW_COUNTS
    _count_packet(m, counts, t)
    m[at + FlowState.ARRIVED] += 1
    if m[at + FlowState.ARRIVED] == m[at + Flow.LIMIT]:
        m[counts + FlowOut.COMPLETED] = t
    number, every, spread = frame >> PACKET_SHIFT, m[at + Flow.INTERVAL], m[at + Flow.SPREAD]
    offset = offset_of(m, m, at + FlowState.KNOWN, STREAM_DATAGRAM + flow, number, every, spread)
    sent = m[at + Flow.START] + offset
    if sent >= m[Radio.WARM_UP]:
        m[counts + FlowOut.ARRIVED] += 1
    _count_arrival(m, at, t, t - sent)


def _count_packet(m: Any, counts: Any, t: Any) -> None:
    """Data have come to a sink, whether they are new there or not."""
    m[counts + FlowOut.RECEIVED] += 1
    m[counts + FlowOut.LAST_RX] = t
    if m[counts + FlowOut.FIRST_RX] == NEVER:
        m[counts + FlowOut.FIRST_RX] = t


@noinline
def _count_arrival(m: Any, at: Any, t: Any, delay: Any) -> None:
    """A packet of the flow at word `at` has arrived for the first time, so long after it was put out [ns]."""
    counts = at + FLOW_COUNTS
    m[counts + FlowOut.DELIVERED] += 1
    m[at + FlowState.DELAY_NS] += delay
    m[counts + FlowOut.DELAY_SUM] += m[at + FlowState.DELAY_NS] // 1000
    m[at + FlowState.DELAY_NS] %= 1000
    m[counts + FlowOut.DELAYS + _delay_bin(delay)] += 1
    if GAUGED:
        delays.arrived(m, at, t, delay)
    length = m[Radio.BIN]
    if length > 0 and t >= m[Radio.WARM_UP]:
        number = (t - m[Radio.WARM_UP]) // length
        if number != m[at + FlowState.BIN]:
            m[at + FlowState.BIN] = number
            m[at + FlowState.IN_BIN] = 0
        m[at + FlowState.IN_BIN] += 1
        if m[Radio.WARM_UP] + (number + 1) * length <= m[P.END]:
            m[counts + FlowOut.BEST] = max(m[counts + FlowOut.BEST], m[at + FlowState.IN_BIN])


def _delay_bin(delay: Any) -> Any:
    """The bin of a delay [ns] in `FlowOut.DELAYS`, four in each octave."""
    octave = np.int64(0)
    rest = max(delay, np.int64(1))
    while rest > 1:
        rest >>= 1
        octave += 1
    quarter = delay >> (octave - 2) & 3 if octave >= 2 else np.int64(0)
    return min(max((octave - DELAY_LOW) * 4 + quarter, 0), DELAY_BINS - 1)
