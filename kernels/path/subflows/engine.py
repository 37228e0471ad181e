"""One-way transfer of an MPTCP connection over up to four paths, packet by packet.

Packets of a path and direction stay in order, so the next event is the earliest of the arrivals at the heads
of the rings, the timers of the receivers and senders of the subflows, and those of the connection. Of
simultaneous events the first in that order is processed first; of simultaneous packets of a kind the one that
was sent first, of timers that of the lower path.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_LOST,
    EVENT_RECEIVE,
    EVENT_SEND,
    EVENT_TIMEOUT,
    FOREVER,
    MPTCP_PATHS,
    NEVER,
    PATHS,
    STATUS_OK,
    STATUS_RING_FULL,
    FurtherSubflows,
    Out,
    Rows,
)
from netcarlo.kernels.base.parameters import MptcpP, RowP
from netcarlo.kernels.linux import receiver as of_subflow
from netcarlo.kernels.linux.state import ACK_OF_SYN, FIRST, NONE
from netcarlo.kernels.mptcp import connection, receiver, reinjection, socket_buffers, state
from netcarlo.kernels.mptcp.state import Conn, Sub, subflow_at
from netcarlo.kernels.path import hops
from netcarlo.kernels.path.hops import ARRIVED, BACKWARD, FORWARD
from netcarlo.kernels.path.subflows import record
from netcarlo.kernels.path.subflows.state import HOPS, LANES, Entry, Lane, Word, entry_at, lane_at

association: Any = slot("association")
observer: Any = slot("observer")
"""Functions that record what happens (`path.observers.events`)."""

RECEIVER_TIMERS = LANES
"""Number of the event of the first receiver's timers; those of arrivals are the numbers of the lanes."""
SENDER_TIMERS = RECEIVER_TIMERS + MPTCP_PATHS
CONNECTION_TIMER = SENDER_TIMERS + MPTCP_PATHS
JOIN_TIMERS = CONNECTION_TIMER + 1


def scratch_words(rows: Rows, of_association: Callable[[int, int], Any]) -> int:
    """Return the words of int64 scratch that any row of `rows` needs.

    `of_association(window, ring)` returns those of an association.
    """
    ring = int(rows.parameters[:, RowP.RING].max(initial=0))
    window = int(rows.parameters[:, RowP.WINDOW].max(initial=0))
    subflows = int(rows.parameters[:, MptcpP.SUBFLOWS].max(initial=0))
    of_connection = int(state.scratch_words(of_association, subflows, window, ring))
    return hops.scratch_words(rows) + HOPS + 2 * subflows * Entry.SIZE * ring + of_connection


def further_columns(rows: Rows) -> int:
    """Return the columns of outcomes of subflows beyond the second; 0 if no row has them."""
    return FurtherSubflows.COLUMNS if (rows.parameters[:, MptcpP.SUBFLOWS] > PATHS).any() else 0


@noinline
def init(p: Any, of_hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any) -> None:
    """Lay out scratch for the paths and the connection."""
    for i in range(HOPS):
        m[i] = 0
    free = hops.prepare(p, of_hops, outages, losses, m)
    for direction in range(2):
        for path in range(p[MptcpP.SUBFLOWS]):
            m[lane_at(path + MPTCP_PATHS * direction) + Lane.BEGIN] = free
            free += Entry.SIZE * p[RowP.RING]
    free = connection.prepare(p, m, g, free)
    observer.prepare(m, free)
    for i in range(out.shape[0]):
        out[i] = 0
    for column in (Out.FIRST_RX, Out.LAST_RX, Out.RESUME_TX, Out.RESUME_RX, Out.COMPLETED):
        out[column] = NEVER
    m[Word.NEXT_SAMPLE] = p[RowP.SAMPLE] // 2
    m[Word.FIRST_OUTAGE] = FOREVER
    for hop in range(of_hops.shape[1]):
        if outages.shape[2] > 0:
            m[Word.FIRST_OUTAGE] = min(m[Word.FIRST_OUTAGE], outages[0, hop, 0, 0])


@noinline
def next_event(p: Any, m: Any) -> Any:
    """Return the time of the next event [ns] and its number, NONE if there is none.

    Of simultaneous events the one with the lowest number is next, of arrivals in a direction the packet that
    was sent first.
    """
    now, event, order = np.int64(FOREVER), np.int64(NONE), np.int64(0)
    for path in range(p[MptcpP.SUBFLOWS]):
        for direction in range(2):
            first = MPTCP_PATHS * direction
            w = lane_at(path + first)
            if m[w + Lane.HEAD] < m[w + Lane.TAIL]:
                at = entry_at(p, m, path + first, m[w + Lane.HEAD])
                t, sent = m[at + Entry.ARRIVES], m[at + Entry.ORDER]
                later = event >= first + MPTCP_PATHS or (event >= first and sent < order)
                if t < now or (t == now and later):
                    now, event, order = t, np.int64(path + first), sent
        s = m[subflow_at(path) :]
        t = association.due_at_receiver(s)
        if t < now or (t == now and event > RECEIVER_TIMERS + path):
            now, event = t, np.int64(RECEIVER_TIMERS + path)
        t = association.due(s)
        if t < now or (t == now and event > SENDER_TIMERS + path):
            now, event = t, np.int64(SENDER_TIMERS + path)
        t = s[Sub.JOIN_TIMER]
        if t < now or (t == now and event > JOIN_TIMERS + path):
            now, event = t, np.int64(JOIN_TIMERS + path)
    t = m[Conn.TIMER]
    if t < now or (t == now and event > CONNECTION_TIMER):
        now, event = t, np.int64(CONNECTION_TIMER)
    return now, event


def transmit(
    p: Any, outages: Any, losses: Any, m: Any, out: Any, path: Any, direction: Any, now: Any, number: Any,
    size: Any,
) -> Any:  # fmt: skip
    """Send a packet over a path; return its fate and the time of its arrival or loss, as `hops.transmit`."""
    fate, t = hops.transmit(p, outages, losses, m, path, direction, now, size)
    w = lane_at(path + MPTCP_PATHS * direction)
    if fate == ARRIVED:
        at = entry_at(p, m, path + MPTCP_PATHS * direction, m[w + Lane.TAIL])
        m[at + Entry.ARRIVES] = t
        m[at + Entry.NUMBER] = number
        m[at + Entry.SENT] = now
        m[at + Entry.ORDER] = m[Word.SENT]
        m[w + Lane.TAIL] += 1
        if m[w + Lane.TAIL] - m[w + Lane.HEAD] >= p[RowP.RING]:
            m[Conn.OVERFULL] = 1
    elif t <= p[RowP.END]:
        record.count_loss(p, m[subflow_at(path) :], out, fate, direction == FORWARD, number)
    m[Word.SENT] += 1
    return fate, t


@noinline
def send_waiting(
    p: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any, now: Any, path: Any
) -> None:
    """Send the packets that the window of a subflow permits."""
    s = m[subflow_at(path) :]
    while association.may_send(p, s):
        packet = socket_buffers.next_segment(p, s, g, now)
        if packet < 0:
            if packet == association.FULL:
                m[Conn.OVERFULL] = 1
            return
        if trace.shape[0] > 0 and packet >= FIRST:
            record.note(m, g, out, trace, now, EVENT_SEND, record.sequence_of(p, s, packet), path)
        size = state.size_of(p, s, packet)
        fate, t = transmit(p, outages, losses, m, out, path, FORWARD, now, packet, size)
        if trace.shape[0] > 0 and packet >= FIRST and fate != ARRIVED and t <= p[RowP.END]:
            record.note(m, g, out, trace, t, EVENT_LOST, record.sequence_of(p, s, packet), path)


@noinline
def send_all(
    p: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any, now: Any, path: Any
) -> None:
    """Send what the windows of all subflows permit, first on `path`."""
    send_waiting(p, outages, losses, m, g, out, trace, now, path)
    for other in range(p[MptcpP.SUBFLOWS]):
        if other != path and association.may_send(p, m[subflow_at(other) :]):
            send_waiting(p, outages, losses, m, g, out, trace, now, np.int64(other))


@noinline
def send_ack(p: Any, outages: Any, losses: Any, m: Any, out: Any, now: Any, path: Any, ack_id: Any) -> None:
    """Send a packet of the receiver of a subflow, if there is one, with the data ACK of the connection."""
    s = m[subflow_at(path) :]
    if ack_id >= 0:
        receiver.note_data_ack(p, m, s, ack_id)
        transmit(p, outages, losses, m, out, path, BACKWARD, now, ack_id, state.size_of_ack(p, s, ack_id))
    elif ack_id == association.FULL:
        m[Conn.OVERFULL] = 1


@noinline
def arrive_at_receiver(
    p: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any, now: Any, path: Any
) -> None:
    """Process the arrival of the first packet in flight of a path at the receiver, after timers due now."""
    s, w = m[subflow_at(path) :], lane_at(path)
    while association.due_at_receiver(s) <= now:
        send_ack(p, outages, losses, m, out, now, path, association.on_delay(p, s))
    at = entry_at(p, m, path, m[w + Lane.HEAD])
    packet, sent = m[at + Entry.NUMBER], m[at + Entry.SENT]
    m[w + Lane.HEAD] += 1
    association.note_timestamp(s, packet, sent)
    receiver.grow_window(p, s, packet)
    ack_id, _ = association.on_data(p, s, now, packet, False)
    if packet >= FIRST:
        record.count_arrival(m, s, out, now, sent)
        receiver.pass_up(p, m, s)
        if out[Out.COMPLETED] == NEVER and receiver.complete(p, m):
            out[Out.COMPLETED] = now
        if trace.shape[0] > 0:
            record.note(m, g, out, trace, now, EVENT_RECEIVE, record.sequence_of(p, s, packet), path)
    elif packet == ACK_OF_SYN and path > 0:
        ack_id = of_subflow.make_ack(p, s)  # the sender waits for it (RFC 8684, section 3.2)
    send_ack(p, outages, losses, m, out, now, path, ack_id)


@noinline
def act_at_sender(
    p: Any, constants: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any, now: Any,
    event: Any,
) -> None:  # fmt: skip
    """Process an event at the sender: an acknowledgement or a timer."""
    path, acked, advances = np.int64(0), np.int64(NONE), False
    if event < RECEIVER_TIMERS:
        path, w = event - MPTCP_PATHS, lane_at(event)
        acked = path
        number = m[entry_at(p, m, event, m[w + Lane.HEAD]) + Entry.NUMBER]
        m[w + Lane.HEAD] += 1
        of_data = association.is_ack(p, m[subflow_at(path) :], number)
        advances = connection.on_ack(p, m, g, constants, now, path, number)
        if trace.shape[0] > 0 and of_data:
            record.note(m, g, out, trace, now, EVENT_ACK, m[Conn.SND_UNA], path)
    elif event < CONNECTION_TIMER:
        path = event - SENDER_TIMERS
        timeouts = m[subflow_at(path) + association.Counter.TIMEOUTS]
        connection.on_timeout(p, m, g, constants, now, path)
        if trace.shape[0] > 0 and m[subflow_at(path) + association.Counter.TIMEOUTS] > timeouts:
            record.note(m, g, out, trace, now, EVENT_TIMEOUT, m[Conn.SND_UNA] + 1, path)
    elif event == CONNECTION_TIMER:
        reinjection.on_timer(p, m, now)
    else:
        path = event - JOIN_TIMERS
        connection.on_join_timer(p, m, now, path)
    send_all(p, outages, losses, m, g, out, trace, now, path)
    if connection.finish_event(p, m, now, acked, advances):
        send_all(p, outages, losses, m, g, out, trace, now, path)
        state.set_timeout(p, m, now)


def simulate(
    p: Any, constants: Any, of_hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; return the number of trace rows. `base.model.Model` describes the arguments."""
    init(p, of_hops, outages, losses, m, g, out)
    now, end = p[RowP.START], p[RowP.END]
    record.sample(p, m, out, min(now, end))
    if now <= end:
        connection.start(p, m, g, now)
        send_waiting(p, outages, losses, m, g, out, trace, now, np.int64(0))
        if connection.finish_event(p, m, now, np.int64(NONE), False):
            send_waiting(p, outages, losses, m, g, out, trace, now, np.int64(0))
            state.set_timeout(p, m, now)
    now, event = next_event(p, m)
    while now <= end and not connection.overfull(p, m) and out[Out.STATUS] == STATUS_OK:
        record.sample(p, m, out, now)
        if event < MPTCP_PATHS:
            arrive_at_receiver(p, outages, losses, m, g, out, trace, now, event)
        elif RECEIVER_TIMERS <= event < SENDER_TIMERS:
            path = event - RECEIVER_TIMERS
            send_ack(p, outages, losses, m, out, now, path, association.on_delay(p, m[subflow_at(path) :]))
        else:
            act_at_sender(p, constants, outages, losses, m, g, out, trace, now, event)
        now, event = next_event(p, m)
    if connection.overfull(p, m):
        out[Out.STATUS] = STATUS_RING_FULL
        return np.int64(0)
    if out[Out.STATUS] == STATUS_OK:
        record.sample(p, m, out, end)
        record.report(p, m, out)
    return m[Word.TRACED]
