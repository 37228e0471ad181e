"""Hosts of a flow: applications, TCP or SCTP, and the cables to the first and last router.

A cable to a host has neither queue limit nor loss, and the order of its packets is known, so everything
behind the last link of a route is computed immediately. `b` is where the block of flow `i` begins in scratch
`m`, `p` are the columns of the row.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_RECEIVE,
    EVENT_RECOVERY,
    EVENT_SEND,
    EVENT_TIMEOUT,
    FOREVER,
    NEVER,
)
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared import (
    agenda,
    arrivals,
    delays,
    ends,
    event_log,
    fifo,
    lookahead,
    packet,
    varying,
)
from netcarlo.kernels.shared.agenda import Event
from netcarlo.kernels.shared.layout import Flow, FlowOut, Link, Shared
from netcarlo.kernels.shared.packet import NONE
from netcarlo.kernels.shared.sources import next_datagram
from netcarlo.kernels.shared.state import FlowWord, Word

LOOKAHEAD: Any = slot("lookahead")
ARRIVALS: Any = slot("arrivals")

DELAYS: Any = slot("delays")

VARYING: Any = slot("varying")

TRACED: Any = slot("traced")

association: Any = slot("association")


def on_event(
    m: Any, b: Any, p: Any, constants: Any, losses: Any, f: Any, i: Any, t: Any, ack: Any
) -> Any:  # fmt: skip
    """Process the event at `t` at the hosts of a flow: the arrival of `ack`, or what is due if that is
    NONE.

    Returns the time of the next event at these hosts [ns].
    """
    if m[b + Flow.KIND] == UDP:
        _send_datagram(p, m, b, losses, i, t)
    else:
        s, g = m[b + FlowWord.ASSOCIATION :], f[i * association.FLOATS :]
        _process(p, constants, m, b, s, g, i, t, ack)
        _send_data(m, b, s, g, i, t)
    return next_event(m, b)


def receive(m: Any, b: Any, p: Any, i: Any, link: Any, at: Any, word: Any, size: Any) -> Any:
    """Process data of `size` bytes that have passed `link`, their last shared one, and reach the last
    router at `at` [ns].

    Returns the packet that is sent back, or NONE, and the time at which it reaches its first link [ns].
    """
    busy = max(at, m[b + FlowWord.SINK_BUSY]) + on_wire(size, m[b + Flow.SINK])
    m[b + FlowWord.SINK_BUSY] = busy
    t = busy + m[b + Flow.SINK_DELAY]
    reply, due = np.int64(NONE), t
    if m[b + Flow.KIND] == UDP:
        m[b + FlowWord.COUNTS + FlowOut.USEFUL] += _useful_payload(p, m, b, link, size, at, word)
        _receive_datagram(p, m, b, t, word)
        if TRACED and t <= p[RowP.END]:
            event_log.log(m, t, EVENT_RECEIVE, event_log.AT_HOST, word, ends.payload_of(m, b, word), False)
    elif word & packet.SHORT == packet.PROBE:
        reply, due = _reply_to_probe(p, m, b, i, t, word)
    else:
        reply, due = _receive_data(p, m, b, i, link, at, t, word, size)
    if ARRIVALS:
        arrivals.on_packet_left(m, b, t)
    return reply, due


def return_ack(m: Any, b: Any, at: Any, size: Any) -> Any:
    """Return the time at which a packet of `size` bytes reaches the source host, if it is at the first
    router at `at` [ns]."""
    busy = max(at, m[b + FlowWord.ACCESS_BACK_BUSY]) + on_wire(size, m[b + Flow.ACCESS_BACK])
    m[b + FlowWord.ACCESS_BACK_BUSY] = busy
    return busy + m[b + Flow.SOURCE_DELAY]


def next_event(m: Any, b: Any) -> Any:
    """Return the time of the next event at the hosts of a flow [ns]."""
    event = m[b + FlowWord.NEXT]
    if m[b + Flow.KIND] != UDP:
        s = m[b + FlowWord.ASSOCIATION :]
        event = min(event, min(association.due(s), association.due_at_receiver(s)))
        event = min(event, fifo.next_time(m, b + FlowWord.TO_SOURCE))
    return event


@noinline
def _send_datagram(p: Any, m: Any, b: Any, losses: Any, i: Any, t: Any) -> None:
    """Send a UDP datagram at `t` [ns]."""
    m[b + FlowWord.COUNTS + FlowOut.SENT] += 1
    number = next_datagram(p, m, b, losses, i, t)
    word = packet.pack_with_time(m, i, t) if DELAYS else packet.pack(m, i, number, np.int64(0))
    if number + 1 == m[b + RowP.LIMIT]:
        word |= packet.SHORT
    if TRACED:
        event_log.log(m, t, EVENT_SEND, event_log.AT_HOST, word, ends.size_of(m, b, word), False)
    _send_to_link(m, b, i, t, word)


def _process(
    p: Any, constants: Any, m: Any, b: Any, s: Any, g: Any, i: Any, t: Any, word: Any
) -> None:  # fmt: skip
    """Process an event of an association: its start, an acknowledgement or a timer."""
    flow, starts = m[b:], m[b + FlowWord.NEXT] == t
    if word == NONE and not starts and fifo.next_time(m, b + FlowWord.TO_SOURCE) == t:
        word, _ = fifo.pop(m, b + FlowWord.TO_SOURCE)
    if TRACED:
        timeouts, recoveries = s[association.Counter.TIMEOUTS], s[association.Counter.FAST_RETRANSMITS]
        if word != NONE and not starts and word & (packet.PROBE | packet.CONTROL) == 0:
            event_log.log(m, t, EVENT_ACK, event_log.AT_HOST, word, 0, False)
    if starts:
        m[b + FlowWord.NEXT] = FOREVER
        association.start(flow, s, g, t)
    elif word != NONE:
        if ARRIVALS:
            arrivals.on_packet_left(m, b, t)
        number = packet.number_of(m, word)
        if word & packet.PROBE:
            association.on_probe(flow, s, g, constants, t, number)
        else:
            if word & packet.MARKED:
                association.on_echo(flow, s, g, constants, t, number)
            association.on_ack(flow, s, g, constants, t, number)
        if m[b + FlowWord.COUNTS + FlowOut.FINISHED] == NEVER and association.finished(s):
            m[b + FlowWord.COUNTS + FlowOut.FINISHED] = t
            if ARRIVALS:
                arrivals.on_acknowledged(p, m, b, t)
    elif association.due(s) == t:
        association.on_timeout(flow, s, g, constants, t)
    elif association.due_at_receiver(s) == t:  # otherwise the timer was cancelled
        _on_receiver_timer(p, m, b, i)
    if TRACED:
        word = packet.pack(m, i, np.int64(0), np.int64(0))
        if s[association.Counter.TIMEOUTS] > timeouts:
            event_log.log(m, t, EVENT_TIMEOUT, event_log.AT_HOST, word, 0, False)
        if s[association.Counter.FAST_RETRANSMITS] > recoveries:
            event_log.log(m, t, EVENT_RECOVERY, event_log.AT_HOST, word, 0, False)


def _send_data(m: Any, b: Any, s: Any, g: Any, i: Any, t: Any) -> None:
    """Send all packets that the window permits."""
    flow = m[b:]
    number = np.int64(association.NONE)
    sends = association.may_send(flow, s)
    while sends:
        number = association.next_segment(flow, s, g, t, False)
        if number >= 0:
            word = packet.pack(m, i, number, association.transmission_id(s, t))
            if not association.is_data(flow, s, number):
                word |= packet.CONTROL
            elif association.is_last(flow, s, number):
                word |= packet.SHORT
            if association.carries_cwr(s, number):
                word |= packet.CWR
            if TRACED:
                event_log.log(m, t, EVENT_SEND, event_log.AT_HOST, word, ends.size_of(m, b, word), False)
            _send_to_link(m, b, i, t, word)
        sends = number >= 0 and association.may_send(flow, s)
    if number == association.FULL:
        m[Word.STATUS] = 1
    probe = association.probe(flow, s, t)
    if probe >= 0:
        _send_to_link(m, b, i, t, packet.pack(m, i, probe, np.int64(0)) | packet.PROBE)


def _send_to_link(m: Any, b: Any, i: Any, t: Any, word: Any) -> None:
    """Send a data packet to its first link."""
    if ARRIVALS:
        m[b + FlowWord.IN_FLIGHT] += 1
    busy = max(t, m[b + FlowWord.SOURCE_BUSY]) + on_wire(ends.size_of(m, b, word), m[b + Flow.ACCESS])
    m[b + FlowWord.SOURCE_BUSY] = busy
    fifo.push(m, b + FlowWord.TO_LINK, Event.DATA, i, busy + m[b + Flow.SOURCE_DELAY], word)


@noinline
def _receive_datagram(p: Any, m: Any, b: Any, t: Any, word: Any) -> None:
    """Count a UDP datagram that arrives at `t` [ns]."""
    counts = b + FlowWord.COUNTS
    if t > p[RowP.END]:
        m[b + FlowWord.ARRIVING_AFTER_END] += 1
    else:
        counts_now = t >= p[Shared.WARM_UP]
        m[b + FlowWord.ARRIVED] += 1
        m[counts + FlowOut.RECEIVED] += counts_now
        m[counts + FlowOut.DELIVERED] += counts_now
        if DELAYS:
            delays.on_delivery(p, m, b, t, packet.age_of(m, word, t))
        if m[b + FlowWord.ARRIVED] == m[b + RowP.LIMIT]:
            m[counts + FlowOut.COMPLETED] = t


def _receive_data(
    p: Any, m: Any, b: Any, i: Any, link: Any, at: Any, t: Any, word: Any, size: Any
) -> Any:  # fmt: skip
    """Process a packet of an association that reaches the sink host at `t` [ns]; returns as `receive`.

    A packet that arrives after the end is still in flight then; only whether it is new matters.
    """
    s, counts = m[b + FlowWord.ASSOCIATION :], b + FlowWord.COUNTS
    number, after_end, counts_now = packet.number_of(m, word), t > p[RowP.END], t >= p[Shared.WARM_UP]
    while association.due_at_receiver(s) <= min(t, p[RowP.END]):
        _on_receiver_timer(p, m, b, i)
    if word & packet.CWR:
        m[b + FlowWord.ECHOES_CE] = 0
    if word & packet.MARKED:
        m[b + FlowWord.ECHOES_CE] = 1
    was = association.in_order(m[b:], s)
    association.note_transmission(m[b:], s, number, packet.transmission_id(word))
    ack_id, fresh = association.on_data(m[b:], s, t, number, False)
    if counts_now and not after_end:
        m[counts + FlowOut.IN_ORDER] += association.in_order(m[b:], s) - was
    if packet.is_payload(word):
        if fresh:
            m[counts + FlowOut.USEFUL] += _useful_payload(p, m, b, link, size, at, word)
        if after_end:
            m[b + FlowWord.ARRIVING_AFTER_END] += 1
        else:
            m[counts + FlowOut.RECEIVED] += counts_now
            if TRACED:
                payload = ends.payload_of(m, b, word) * fresh
                event_log.log(m, t, EVENT_RECEIVE, event_log.AT_HOST, word, payload, False)
            if fresh:
                m[counts + FlowOut.DELIVERED] += counts_now
                if DELAYS:
                    delays.on_delivery(p, m, b, t, association.delay_of(m[b:], s, t, number))
                if LOOKAHEAD and m[b + FlowWord.ARRIVED] == 0:
                    m[b + FlowWord.ARRIVED] = 1
                    lookahead.on_first_data(p, m, b)
            if m[counts + FlowOut.COMPLETED] == NEVER and association.complete(m[b:], s):
                m[counts + FlowOut.COMPLETED] = t
                if ARRIVALS:
                    arrivals.on_completion(p, m, b, i, t)
    reply, reply_at = np.int64(NONE), t
    if not after_end:
        reply, reply_at = _send_ack(p, m, b, i, t, ack_id)
        due = association.due_at_receiver(s)
        if due < FOREVER:
            agenda.bring_forward(m, Event.HOST, i, due)
    return reply, reply_at


def _reply_to_probe(p: Any, m: Any, b: Any, i: Any, t: Any, word: Any) -> Any:
    """Reply to a probe that reaches the sink host at `t` [ns]; returns as `receive`."""
    reply, reply_at = np.int64(NONE), t
    while association.due_at_receiver(m[b + FlowWord.ASSOCIATION :]) <= min(t, p[RowP.END]):
        _on_receiver_timer(p, m, b, i)
    if t <= p[RowP.END]:
        reply = packet.pack(m, i, packet.number_of(m, word), np.int64(0)) | packet.PROBE | packet.BACKWARD
        reply_at = _send_to_reverse_link(m, b, t, reply)
    return reply, reply_at


def _useful_payload(p: Any, m: Any, b: Any, link: Any, size: Any, at: Any, word: Any) -> Any:
    """Return the part of a packet's payload that is transmitted within the measurement window [byte].

    The transmission is that of the slower of the last link and the cable to the sink: neither can forward
    more than its rate.
    """
    duration, until = on_wire(size, m[link + Link.BYTE_TIME]), at - m[link + Link.DELAY]
    if VARYING:
        duration, until = varying.latest_transmission(m, link, duration, until)
    if on_wire(size, m[b + Flow.SINK]) > duration:
        duration, until = on_wire(size, m[b + Flow.SINK]), m[b + FlowWord.SINK_BUSY]
    inside = min(until, p[RowP.END]) - max(until - duration, p[Shared.WARM_UP])
    payload = ends.payload_of(m, b, word)
    if inside == duration:
        return payload
    return payload * max(inside, np.int64(0)) // max(duration, np.int64(1))


@noinline
def _on_receiver_timer(p: Any, m: Any, b: Any, i: Any) -> None:
    """Process a timer of the receiver."""
    s = m[b + FlowWord.ASSOCIATION :]
    t = association.due_at_receiver(s)
    word, reply_at = _send_ack(p, m, b, i, t, association.on_delay(m[b:], s))
    if word != NONE:
        fifo.push(m, b + FlowWord.BACK_TO_LINK, Event.ACK, i, reply_at, word)


def _send_ack(p: Any, m: Any, b: Any, i: Any, t: Any, ack_id: Any) -> Any:
    """Send a packet of the receiver, and return it with the time at which it reaches its first link [ns],
    or NONE."""
    word, reply_at = np.int64(NONE), t
    if ack_id >= 0:
        word = packet.pack(m, i, ack_id, np.int64(0)) | packet.BACKWARD
        if association.is_ack(m[b:], m[b + FlowWord.ASSOCIATION :], ack_id):
            m[b + FlowWord.COUNTS + FlowOut.ACKS_SENT] += t >= p[Shared.WARM_UP]
        else:
            word |= packet.CONTROL
        if m[b + FlowWord.ECHOES_CE] != 0:
            word |= packet.MARKED
        reply_at = _send_to_reverse_link(m, b, t, word)
    elif ack_id == association.FULL:
        m[Word.STATUS] = 1
    return word, reply_at


def _send_to_reverse_link(m: Any, b: Any, t: Any, word: Any) -> Any:
    """Send an acknowledgement or a reply, and return the time at which it reaches its first link [ns]."""
    if ARRIVALS:
        m[b + FlowWord.IN_FLIGHT] += 1
    busy = max(t, m[b + FlowWord.SINK_BACK_BUSY]) + on_wire(ends.size_of(m, b, word), m[b + Flow.SINK_BACK])
    m[b + FlowWord.SINK_BACK_BUSY] = busy
    return busy + m[b + Flow.SINK_DELAY]
