"""One-way transfer of an association, TCP or SCTP, over a path, packet by packet.

On a FIFO path the fate of a packet, and the ACK that it causes, are known when it is sent. ACKs wait in a
ring in order of arrival, and the next event is the earlier of its head and the timer. An iteration of the
event loop processes at most one event and one packet, and all branches join at its end, so that rows that run
side by side on a device stay in lockstep.

Packets to a mobile host can overtake each other after the MAP, others behind hops that reorder. There they
wait in a queue ordered by time (`mobility.access`, `reordering`) until the engine forwards them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import global_memory, loop_header, noinline
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_LOST,
    EVENT_RECEIVE,
    EVENT_SEND,
    EVENT_TIMEOUT,
    FOREVER,
    NEVER,
    STATUS_RING_FULL,
    STATUS_TRACE_FULL,
    Out,
    Rows,
)
from netcarlo.kernels.base.parameters import MobileP, ReliableP, RowP, TcpP
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.base.trace import begin as begin_row
from netcarlo.kernels.path import hops, reordering, timed_queue
from netcarlo.kernels.path.hops import ARRIVED, BACKWARD, FORWARD, IN_QUEUE, MAIN, QUEUE_FULL
from netcarlo.kernels.path.mobility import access
from netcarlo.kernels.path.state import ASSOCIATION, ENTRY, Path
from netcarlo.kernels.tcp.acks import FULL
from netcarlo.kernels.tcp.state import NONE

association: Any = slot("association")
fast_path: Any = slot("fast_path")
observer: Any = slot("observer")
"""Functions that record what happens (`observers.events`)."""

HAS_FAST_PATH: Any = slot("has_fast_path")
"""True if there is a fast path (`fast_path`)."""
MOBILE: Any = slot("mobile")
"""True if the last hop is a radio link behind access routers and a MAP."""
REORDERS: Any = slot("reorders")
"""True if packets may overtake each other on some hops."""
OUT_OF_ORDER: Any = slot("out_of_order")
"""True if MOBILE or REORDERS: packets wait in a queue ordered by time."""
forwarding: Any = slot("forwarding")
"""Module that forwards packets of that queue: `mobility.access` or `reordering`."""
FIRST: Any = slot("first")
"""Number of the first data packet: 1 after a handshake, else 0."""
PAUSES: Any = slot("pauses")
TYPED_PACKETS: Any = slot("typed_packets")
"""True if packets carry their type and the receiver has timers of its own.

These timers expire before a packet that arrives in the same nanosecond is processed.
"""

OUT = len(Out)

PROBE = FULL - 1
"""Number of the first probe segment and of the reply to it; further ones count downwards."""


def scratch_words(
    rows: Rows, of_association: Callable[[int, int], Any], *, mobile: bool, reorders: bool
) -> int:
    """Return the words of int64 scratch that any row of `rows` needs.

    `of_association(window, ring)` returns those of an association.
    """
    ring = int(rows.parameters[:, RowP.RING].max())
    window = int(rows.parameters[:, RowP.WINDOW].max())
    words = ASSOCIATION + ENTRY * ring + int(of_association(window, ring))
    if mobile:
        words += access.scratch_words(ring, int(rows.parameters[:, MobileP.HANDOVERS].max()))
    if reorders:
        words += timed_queue.scratch_words(ring)
    return hops.scratch_words(rows) + words


@noinline
def init(p: Any, of_hops: Any, outages: Any, losses: Any, m: Any, out: Any) -> Any:
    """Lay out scratch for the path; return the next free word."""
    for i in range(ASSOCIATION):
        m[i] = 0
    free = hops.prepare(p, of_hops, outages, losses, m)
    for i in range(out.shape[0]):
        out[i] = 0
    out[Out.FIRST_RX] = NEVER
    out[Out.RESUME_TX] = NEVER
    out[Out.RESUME_RX] = NEVER
    out[Out.COMPLETED] = NEVER
    m[Path.NEXT_SAMPLE] = p[RowP.SAMPLE] // 2
    m[Path.NEWEST_SENT] = NEVER
    m[Path.RECORD_AFTER] = NEVER
    free = observer.prepare(m, free)
    outage = np.int64(FOREVER)
    fixed = hops.hop_count(m, MAIN, FORWARD)
    if MOBILE:
        free = access.prepare(p, of_hops, outages, m, out, free)
        outage = access.first_down(m)
        fixed -= 1
    if REORDERS:
        free = reordering.prepare(p, m, free)
    for hop in range(fixed):
        if outages.shape[2] > 0:
            outage = min(outage, outages[0, hop, 0, 0])
    m[Path.FIRST_OUTAGE] = outage
    return free


@noinline
def sample(p: Any, m: Any, s: Any, g: Any, until: Any) -> None:
    """Take the samples of cwnd and RTT that are due by time `until` [ns]."""
    while m[Path.NEXT_SAMPLE] <= until:
        add(m, Path.CWND_SUM, Path.CWND_SUM_HIGH, association.cwnd_of(p, s, g))
        rtt = s[association.Counter.RTT]
        if rtt > 0:
            add(m, Path.RTT_SUM, Path.RTT_SUM_HIGH, rtt)
            m[Path.RTT_SAMPLES] += 1
        m[Path.SAMPLES] += 1
        m[Path.NEXT_SAMPLE] += p[RowP.SAMPLE]


@noinline
def record(trace: Any, n: Any, t: Any, event: Any, number: Any, s: Any, g: Any) -> Any:
    """Write an event at time t [ns], with the sender's state, to row n of the trace; return n + 1."""
    if begin_row(trace, n, t * 1e-9, event, number, 0):
        association.show(s, g, trace, n)
    return n + 1


@noinline
def record_packet(p: Any, trace: Any, n: Any, t: Any, event: Any, packet: Any, s: Any, g: Any) -> Any:
    """Write an event of a packet of the sender to the trace; return the number of rows."""
    if TYPED_PACKETS and not association.is_data(p, s, packet):
        return n
    return record(trace, n, t, event, association.sequence_of(p, s, packet), s, g)


@noinline
def record_ack(p: Any, trace: Any, n: Any, t: Any, ack_id: Any, s: Any, g: Any) -> Any:
    """Write the arrival of an ACK at the sender to the trace; return the number of rows."""
    if not association.is_ack(p, s, ack_id):
        return n
    return record(trace, n, t, EVENT_ACK, association.cumulative_ack(p, s, ack_id), s, g)


def note(trace: Any, n: Any, t: Any, event: Any, packet: Any) -> Any:
    """Write an event of `packet` at time t [ns] to row n of the trace; return n + 1."""
    begin_row(trace, n, t * 1e-9, event, packet, 0)
    return n + 1


def send_ack(
    p: Any, outages: Any, losses: Any, m: Any, s: Any, out: Any, t: Any, ack_id: Any, tail: Any
) -> Any:
    """Send an ACK from the receiver at time t [ns]; return the new end of the ring of ACKs."""
    wire = p[RowP.HEADER]
    if not PAUSES or ack_id > PROBE:
        wire = association.size_of_ack(p, s, ack_id)
    if OUT_OF_ORDER:
        fate, back = forwarding.send_ack(p, outages, losses, m, t, ack_id, wire)
    else:
        fate, back = hops.transmit(p, outages, losses, m, MAIN, BACKWARD, t, wire)
    return store_ack(p, m, s, out, fate, back, ack_id, tail)


def store_ack(p: Any, m: Any, s: Any, out: Any, fate: Any, back: Any, ack_id: Any, tail: Any) -> Any:
    """Store an ACK in the ring if it arrives; return the new end of the ring.

    `back` is the time of its arrival or loss [ns].
    """
    if REORDERS and fate == IN_QUEUE:
        return tail
    if fate == ARRIVED:
        ring, at = global_memory(m), m[Path.ACK_RING] + ENTRY * (tail & (p[RowP.RING] - 1))
        ring[at] = back
        ring[at + 1] = ack_id
        tail += 1
    elif back <= p[RowP.END] and (not PAUSES or ack_id > PROBE) and association.is_ack(p, s, ack_id):
        out[Out.ACK_DROPS] += 1
    return tail


@noinline
def forward_ack(
    p: Any, outages: Any, losses: Any, m: Any, s: Any, out: Any, t: Any, ack_id: Any, tag: Any, size: Any,
    tail: Any,
) -> Any:  # fmt: skip
    """Forward an ACK of the queue at time t [ns]; return the new end of the ring."""
    fate, back = reordering.step_back(p, outages, losses, m, t, ack_id, tag, size)
    if reordering.is_forgotten(p, m, ack_id):
        m[Path.OVERFLOW] = 1
    return store_ack(p, m, s, out, fate, back, ack_id, tail)


@noinline
def send_delayed_ack(p: Any, outages: Any, losses: Any, m: Any, s: Any, out: Any, tail: Any) -> Any:
    """Process a timer of the receiver, which may send a delayed ACK; return the new end of the ring."""
    due = association.due_at_receiver(s)
    ack_id = association.on_delay(p, s)
    if ack_id < 0:
        if ack_id == association.FULL:
            m[Path.OVERFLOW] = 1
        return tail
    return send_ack(p, outages, losses, m, s, out, due, ack_id, tail)


def count_arrival(p: Any, m: Any, s: Any, out: Any, packet: Any, fresh: Any, t: Any, sent: Any) -> None:
    """Count a packet sent at `sent` that arrives at time t [ns]."""
    if association.is_data(p, s, packet):
        if fresh:
            observer.on_delivered(p, m, s, t, packet)
        else:
            m[Path.DUPLICATES] += 1
        record_arrival(m, out, t, sent)
    if association.complete(p, s) and out[Out.COMPLETED] == NEVER:
        out[Out.COMPLETED] = t


def record_arrival(m: Any, out: Any, t: Any, sent: Any) -> None:
    """Record the arrival at time t [ns] of data sent at `sent`."""
    if t > m[Path.RECORD_AFTER]:
        record_first_arrival(m, out, t, sent)
    if MOBILE:
        if m[Path.NEWEST_SENT] != NEVER:
            out[Out.SILENCE] = max(out[Out.SILENCE], t - m[Path.LAST_RX])
        if sent < m[Path.NEWEST_SENT]:
            out[Out.REORDERED] += 1
        m[Path.NEWEST_SENT] = max(m[Path.NEWEST_SENT], sent)
    m[Path.LAST_RX] = t


@noinline
def record_first_arrival(m: Any, out: Any, t: Any, sent: Any) -> None:
    """Record the first arrival of data, and the first one after the first outage began."""
    if out[Out.FIRST_RX] == NEVER:
        out[Out.FIRST_RX] = t
        m[Path.RECORD_AFTER] = m[Path.FIRST_OUTAGE]
    if t > m[Path.RECORD_AFTER]:
        out[Out.RESUME_RX] = t
        out[Out.RESUME_TX] = sent
        m[Path.RECORD_AFTER] = FOREVER


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the size of a packet of the sender [bytes]."""
    if TYPED_PACKETS:
        return association.size_of(p, s, packet)
    size = p[RowP.DATA] + p[RowP.HEADER] * FIRST if packet >= FIRST else p[TcpP.HANDSHAKE]
    if association.is_last(p, s, packet):
        size -= p[RowP.SHORT]
    if PAUSES and packet <= PROBE:
        size = p[RowP.HEADER]
    return size


def send_packet(
    p: Any, outages: Any, losses: Any, m: Any, out: Any, now: Any, packet: Any, counts: Any, wire: Any
) -> Any:
    """Send a packet of `wire` bytes over the path; `counts` is True if it carries data.

    Returns (fate, time) as `hops.transmit`, and the packet's tag at an access router or NONE.
    """
    tag = np.int64(NONE)
    if MOBILE:
        fate, t = hops.forward(
            p, outages, losses, m, MAIN, FORWARD, np.int64(0), hops.hop_count(m, MAIN, FORWARD) - 1, now, wire
        )
    elif REORDERS:
        fate, t = reordering.send(p, outages, losses, m, packet, now, wire)
    else:
        fate, t = hops.transmit(p, outages, losses, m, MAIN, FORWARD, now, wire)
    if counts:
        if fate > ARRIVED and t <= p[RowP.END]:
            out[Out.DROPS_QUEUE - QUEUE_FULL + fate] += 1
        elif OUT_OF_ORDER and t > p[RowP.END]:
            out[Out.IN_FLIGHT] += 1
    if MOBILE and fate == ARRIVED and t <= p[RowP.END]:
        ahead, t, tag = access.enter(p, m, out, packet, now, t, np.int64(1) if counts else np.int64(0))
        if not ahead:
            fate = np.int64(IN_QUEUE)
            tag = np.int64(NONE)
    return fate, t, tag


def receive(
    p: Any, outages: Any, losses: Any, m: Any, s: Any, out: Any, t: Any, packet: Any, sent: Any, tail: Any
) -> Any:
    """Process the arrival at time t [ns] of a packet sent at `sent`; return the new end of the ring."""
    if TYPED_PACKETS:
        while association.due_at_receiver(s) <= t:
            tail = send_delayed_ack(p, outages, losses, m, s, out, tail)
    elif p[ReliableP.ACK_EVERY] > 1 and association.due_at_receiver(s) < t:
        tail = send_delayed_ack(p, outages, losses, m, s, out, tail)
    if PAUSES and packet <= PROBE:
        tail = send_ack(p, outages, losses, m, s, out, t, packet, tail)
    else:
        association.note_timestamp(s, packet, sent)
        ack_id, fresh = association.on_data(p, s, t, packet, False)
        count_arrival(p, m, s, out, packet, fresh, t, sent)
        if ack_id >= 0:
            tail = send_ack(p, outages, losses, m, s, out, t, ack_id, tail)
        elif ack_id == association.FULL:
            m[Path.OVERFLOW] = 1
    return tail


@noinline
def finish(p: Any, m: Any, s: Any, out: Any) -> None:
    """Write the outcomes."""
    out[Out.HANDSHAKES] = s[association.Counter.HANDSHAKES]
    out[Out.TIMEOUTS] = s[association.Counter.TIMEOUTS]
    out[Out.FAST_RETRANSMITS] = s[association.Counter.FAST_RETRANSMITS]
    out[Out.CWND_CUTS] = s[association.Counter.REDUCTIONS]
    out[Out.SENT] = s[association.Counter.SENT]
    out[Out.RETRANSMITTED] = s[association.Counter.RETRANSMITTED]
    out[Out.IN_ORDER] = association.in_order(p, s)
    out[Out.DELIVERED] = out[Out.IN_ORDER] + s[association.Counter.OUT_OF_ORDER]
    out[Out.RECEIVED] = out[Out.DELIVERED] + m[Path.DUPLICATES]
    out[Out.LAST_RX] = m[Path.LAST_RX] if out[Out.RECEIVED] > 0 else NEVER
    out[Out.ACKED] = association.acked(p, s)
    if MOBILE:
        out[Out.IN_FLIGHT] += access.in_flight(p, m)
    out[Out.CWND_SUM] = m[Path.CWND_SUM]
    out[Out.CWND_SUM_HIGH] = m[Path.CWND_SUM_HIGH]
    out[Out.RTT_SUM] = m[Path.RTT_SUM]
    out[Out.RTT_SUM_HIGH] = m[Path.RTT_SUM_HIGH]
    out[Out.SAMPLES] = m[Path.SAMPLES]
    out[Out.RTT_SAMPLES] = m[Path.RTT_SAMPLES]
    observer.report(m, out, np.int64(OUT))


def queue_is_next(p: Any, m: Any, s: Any, arrival: Any) -> Any:
    """Return True if the first packet of the queue precedes the next ACK and all timers."""
    timers = min(association.due(s), association.due_at_receiver(s))
    return forwarding.due(p, m) <= min(min(timers, p[RowP.END]), arrival)


def next_ack_arrival(m: Any, ring: Any, mask: Any, head: Any, tail: Any) -> Any:
    """Return the arrival time of the first ACK of the ring at the sender, or FOREVER [ns]."""
    return global_memory(m)[ring + ENTRY * (head & mask)] if head < tail else np.int64(FOREVER)


def simulate(
    p: Any, constants: Any, of_hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; return the number of trace rows. `base.model.Model` describes the arguments."""
    ring, mask, s = init(p, of_hops, outages, losses, m, out), p[RowP.RING] - 1, m[ASSOCIATION:]
    m[Path.ACK_RING] = ring
    free = ring + ENTRY * p[RowP.RING] - ASSOCIATION
    association.prepare(p, s, g, p[RowP.LIMIT], p[TcpP.CLOCK_PHASE], 0, free)
    traced, end, now, events = trace.shape[0] > 0, p[RowP.END], p[RowP.START], np.int64(0)
    delayed = TYPED_PACKETS or p[ReliableP.ACK_EVERY] > 1
    head, tail = np.int64(0), np.int64(0)  # numbers of the first ACK in flight, and of the next
    if p[RowP.RING] <= p[RowP.WINDOW]:  # the receiver's bitmap must hold a window
        m[Path.OVERFLOW] = 1
    sample(p, m, s, g, min(now, end))
    next_sample = min(m[Path.NEXT_SAMPLE], end + 1)  # time of the next sample, or just after the end
    association.start(p, s, g, now)
    use_fast_path = HAS_FAST_PATH and not traced and fast_path.is_worthwhile(m)
    simple = HAS_FAST_PATH and fast_path.is_simple(p, m)
    busy = True  # the latest event may allow more packets
    while m[Path.OVERFLOW] == 0 and now <= end:
        loop_header()
        packet, sent, t, tag, fate = np.int64(NONE), now, now, np.int64(NONE), np.int64(ARRIVED)
        if HAS_FAST_PATH and use_fast_path and fast_path.is_steady(p, s):
            if simple:
                now, head, tail, packet, t = fast_path.run(
                    p, constants, outages, losses, m, s, g, out, head, tail, now, next_sample, True
                )
            else:
                now, head, tail, packet, t = fast_path.run(
                    p, constants, outages, losses, m, s, g, out, head, tail, now, next_sample, False
                )
            sent, busy = now, packet != NONE or association.may_send(p, s)
            next_sample = min(m[Path.NEXT_SAMPLE], end + 1)
        if not busy:
            # The next event: an ACK, a timer of the sender, or a timer of the receiver (a delayed ACK), which
            # no packet can precede any more.
            arrival = next_ack_arrival(m, ring, mask, head, tail)
            upcoming = min(arrival, association.due(s))
            if delayed and association.due_at_receiver(s) < upcoming:
                if association.due_at_receiver(s) > end:
                    now = association.due_at_receiver(s)
                else:
                    tail = send_delayed_ack(p, outages, losses, m, s, out, tail)
            else:
                now = upcoming
                if next_sample <= now:
                    sample(p, m, s, g, min(now, end))
                    next_sample = min(m[Path.NEXT_SAMPLE], end + 1)
                if now <= end:
                    if arrival <= association.due(s):
                        ack_id = global_memory(m)[ring + ENTRY * (head & mask) + 1]
                        head += 1
                        if REORDERS and reordering.is_forgotten(p, m, ack_id):
                            m[Path.OVERFLOW] = 1
                        if PAUSES and ack_id <= PROBE:
                            association.on_probe(p, s, g, constants, now, PROBE - ack_id)
                        else:
                            association.on_ack(p, s, g, constants, now, ack_id)
                        if traced and ack_id >= 0:
                            events = record_ack(p, trace, events, now, ack_id, s, g)
                    else:
                        timeouts = s[association.Counter.TIMEOUTS]
                        association.on_timeout(p, s, g, constants, now)
                        if traced and (not TYPED_PACKETS or s[association.Counter.TIMEOUTS] > timeouts):
                            missing = s[association.Counter.ACKED] + 1
                            events = record(trace, events, now, EVENT_TIMEOUT, missing, s, g)

        # At most one packet: a new one, or one of the queue; it is received if it arrives.
        carried = HAS_FAST_PATH and packet != NONE
        busy = now <= end
        if busy and not carried:
            sent = now
            packet = association.next_segment(p, s, g, now, False)
            if PAUSES and packet == NONE:
                probe = association.probe(p, s, now)
                packet = PROBE - probe if probe != NONE else packet
        if carried:
            busy = True
        elif busy and (packet >= 0 or (PAUSES and packet <= PROBE)):
            if traced and packet >= 0:
                events = record_packet(p, trace, events, now, EVENT_SEND, packet, s, g)
            counts, wire = association.is_data(p, s, packet), size_of(p, s, packet)
            fate, t, tag = send_packet(p, outages, losses, m, out, now, packet, counts, wire)
        elif (
            OUT_OF_ORDER and busy and packet == NONE
            and queue_is_next(p, m, s, next_ack_arrival(m, ring, mask, head, tail))
        ):  # fmt: skip
            t, packet, tag, sent = forwarding.pop(p, m)
        else:
            if packet == association.FULL:
                m[Path.OVERFLOW] = 1
            busy = False
        if MOBILE and tag != NONE:
            wire = size_of(p, s, packet)
            fate, t = access.step(p, outages, losses, m, out, t, packet, tag, sent, wire)
        elif REORDERS and tag != NONE and reordering.is_ack(tag):
            tail = forward_ack(p, outages, losses, m, s, out, t, packet, tag, sent, tail)
            fate = np.int64(IN_QUEUE)
        elif REORDERS and tag != NONE:
            counts, wire = association.is_data(p, s, packet), size_of(p, s, packet)
            fate, t = reordering.step(p, outages, losses, m, out, t, packet, tag, sent, wire, counts)
        if busy:
            if traced and t <= end and fate != IN_QUEUE and packet >= 0:
                event = EVENT_RECEIVE if fate == ARRIVED else EVENT_LOST
                events = record_packet(p, trace, events, t, event, packet, s, g)
            if t <= end and fate == ARRIVED:
                tail = receive(p, outages, losses, m, s, out, t, packet, sent, tail)
            busy = association.may_send(p, s)
            if OUT_OF_ORDER and not busy:
                busy = queue_is_next(p, m, s, next_ack_arrival(m, ring, mask, head, tail))
        if tail - head > mask or (OUT_OF_ORDER and forwarding.overfull(m)):
            m[Path.OVERFLOW] = 1
    if m[Path.OVERFLOW] == 0 and not association.overfull(s):
        sample(p, m, s, g, end)
        finish(p, m, s, out)
        if traced and events > trace.shape[0]:
            out[Out.STATUS] = STATUS_TRACE_FULL
    else:
        out[Out.STATUS] = STATUS_RING_FULL
        events = np.int64(0)
    return events
