"""One-way transfer of an association over two paths, packet by packet.

The association, such as QUIC, chooses the path of each packet. Packets of a path and direction stay in order,
so the next event is the earliest of the arrivals at the heads of four rings and the timers of receiver and
sender. Of simultaneous events the first in that order is processed first; of simultaneous packets of a kind
the one that was sent first.
"""

from collections.abc import Callable
from enum import IntEnum
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
    NEVER,
    PATHS,
    STATUS_OK,
    STATUS_RING_FULL,
    STATUS_TRACE_FULL,
    Failover,
    Out,
    Rows,
)
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.trace import begin
from netcarlo.kernels.path import engine, hops, state
from netcarlo.kernels.path.hops import ARRIVED, BACKWARD, FORWARD, QUEUE_FULL
from netcarlo.kernels.path.state import Path
from netcarlo.kernels.path.subflows.state import Entry, Lane

association: Any = slot("association")

LANES = 2 * PATHS
"""Paths in either direction: lane `path` carries data, lane PATHS + `path` acknowledgements."""
RECEIVER_TIMERS = LANES
"""Number of the event of the receiver's timers; those of arrivals are the numbers of the lanes."""
SENDER_TIMERS = RECEIVER_TIMERS + 1
END_OF_RUN = SENDER_TIMERS + 1


class Word(IntEnum):
    """Words of the engine that follow those of `path.state`."""

    TRACED = state.ASSOCIATION
    """Rows of the trace."""
    SENT = TRACED + 1
    """Packets that were sent, on all lanes."""
    FIRST_OUTAGE = TRACED + 2
    """Start of the first outage of the first path [ns]."""


LANE = Word.FIRST_OUTAGE + 1
"""First word of the first lane: a path in a direction, as in `path.subflows`."""
ASSOCIATION = LANE + LANES * Lane.SIZE
"""First word of the association, which the hops follow."""


def scratch_words(rows: Rows, of_association: Callable[[int, int], Any]) -> int:
    """Return the words of int64 scratch that any row of `rows` needs.

    `of_association(window, ring)` returns those of an association.
    """
    ring = int(rows.parameters[:, RowP.RING].max(initial=0))
    window = int(rows.parameters[:, RowP.WINDOW].max(initial=0))
    words = ASSOCIATION + LANES * Entry.SIZE * ring + int(of_association(window, ring))
    return hops.scratch_words(rows) + words


def lane_at(lane: Any) -> Any:
    """Return the word at which a lane begins."""
    return LANE + Lane.SIZE * lane


def entry_at(p: Any, m: Any, lane: Any, number: Any) -> Any:
    """Return the word at which a packet in flight begins."""
    return m[lane_at(lane) + Lane.BEGIN] + Entry.SIZE * (number & (p[RowP.RING] - 1))


@noinline
def init(p: Any, of_hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any) -> None:
    """Lay out scratch for the paths and the association."""
    free = engine.init(p, of_hops, outages, losses, m, out)
    for word in range(state.ASSOCIATION, ASSOCIATION):
        m[word] = 0
    m[Word.FIRST_OUTAGE] = FOREVER
    for hop in range(of_hops.shape[1]):
        if outages.shape[2] > 0:
            m[Word.FIRST_OUTAGE] = min(m[Word.FIRST_OUTAGE], outages[0, hop, 0, 0])
    for lane in range(LANES):
        m[lane_at(lane) + Lane.BEGIN] = free
        free += Entry.SIZE * p[RowP.RING]
    association.prepare(p, m[ASSOCIATION:], g, p[RowP.LIMIT], np.int64(0), 0, free - ASSOCIATION)


@noinline
def next_event(p: Any, m: Any) -> Any:
    """Return the time of the next event [ns] and its number."""
    now, event = np.int64(FOREVER), np.int64(END_OF_RUN)
    for direction in range(2):
        order = np.int64(0)
        for path in range(PATHS):
            lane = path + PATHS * direction
            if m[lane_at(lane) + Lane.HEAD] < m[lane_at(lane) + Lane.TAIL]:
                at = entry_at(p, m, lane, m[lane_at(lane) + Lane.HEAD])
                t, sent = m[at + Entry.ARRIVES], m[at + Entry.ORDER]
                tie = t == now and event == lane - 1 and sent < order
                if t < now or tie:
                    now, event, order = t, np.int64(lane), sent
    s = m[ASSOCIATION:]
    if association.due_at_receiver(s) < now:
        now, event = association.due_at_receiver(s), np.int64(RECEIVER_TIMERS)
    if association.due(s) < now:
        now, event = association.due(s), np.int64(SENDER_TIMERS)
    return now, event


def transmit(
    p: Any, outages: Any, losses: Any, m: Any, path: Any, direction: Any, now: Any, number: Any, size: Any
) -> Any:
    """Send a packet over a path; return its fate and the time of its arrival or loss, as `hops.transmit`."""
    fate, t = hops.transmit(p, outages, losses, m, path, direction, now, size)
    lane = path + PATHS * direction
    w = lane_at(lane)
    if fate == ARRIVED:
        at = entry_at(p, m, lane, m[w + Lane.TAIL])
        m[at + Entry.ARRIVES] = t
        m[at + Entry.NUMBER] = number
        m[at + Entry.SENT] = now
        m[at + Entry.ORDER] = m[Word.SENT]
        m[w + Lane.TAIL] += 1
        if m[w + Lane.TAIL] - m[w + Lane.HEAD] >= p[RowP.RING]:
            m[Path.OVERFLOW] = 1
    m[Word.SENT] += 1
    return fate, t


def pop(p: Any, m: Any, lane: Any) -> Any:
    """Remove the first packet in flight of a lane; return the word where it begins."""
    w = lane_at(lane)
    m[w + Lane.HEAD] += 1
    return entry_at(p, m, lane, m[w + Lane.HEAD] - 1)


@noinline
def send_waiting(
    p: Any, outages: Any, losses: Any, m: Any, s: Any, g: Any, out: Any, trace: Any, now: Any
) -> None:
    """Send the packets that the sender may send."""
    while association.may_send(p, s):
        packet = association.next_segment(p, s, g, now, False)
        if packet < 0:
            m[Path.OVERFLOW] = 1
            return
        path, counts = association.path_of(p, s, packet), association.is_data(p, s, packet)
        size = association.size_of(p, s, packet)
        fate, t = transmit(p, outages, losses, m, path, FORWARD, now, packet, size)
        if counts:
            note(p, m, s, g, out, trace, now, EVENT_SEND, packet, path)
            out[Out.SENT_ALTERNATE] += path
            if fate > ARRIVED and t <= p[RowP.END]:
                out[Out.DROPS_QUEUE - QUEUE_FULL + fate] += 1
                note(p, m, s, g, out, trace, t, EVENT_LOST, packet, path)


@noinline
def send_answer(p: Any, outages: Any, losses: Any, m: Any, s: Any, out: Any, now: Any, ack_id: Any) -> None:
    """Send a packet of the receiver, if there is one."""
    if ack_id < 0:
        return
    path, size = association.path_of_answer(p, s, ack_id), association.size_of_ack(p, s, ack_id)
    fate, t = transmit(p, outages, losses, m, path, BACKWARD, now, ack_id, size)
    if fate != ARRIVED and t <= p[RowP.END] and association.is_ack(p, s, ack_id):
        out[Out.ACK_DROPS] += 1


@noinline
def count_arrival(m: Any, out: Any, t: Any, sent: Any) -> None:
    """Count the arrival at time t of data sent at `sent` [ns]."""
    if out[Out.FIRST_RX] == NEVER:
        out[Out.FIRST_RX] = t
    else:
        out[Out.SILENCE] = max(out[Out.SILENCE], t - m[Path.LAST_RX])
    m[Path.LAST_RX] = t
    if out[Out.RESUME_RX] == NEVER and t > m[Word.FIRST_OUTAGE]:
        out[Out.RESUME_RX] = t
        out[Out.RESUME_TX] = sent


@noinline
def arrive_at_receiver(
    p: Any, outages: Any, losses: Any, m: Any, s: Any, g: Any, out: Any, trace: Any, now: Any, path: Any
) -> None:
    """Process the arrival of the first packet in flight of a path at the receiver, after timers due now."""
    while association.due_at_receiver(s) <= now:
        send_answer(p, outages, losses, m, s, out, now, association.on_delay(p, s))
    at = pop(p, m, path)
    packet, sent = m[at + Entry.NUMBER], m[at + Entry.SENT]
    association.note_path(s, path)
    ack_id, fresh = association.on_data(p, s, now, packet, False)
    if association.is_data(p, s, packet):
        count_arrival(m, out, now, sent)
        m[Path.DUPLICATES] += 0 if fresh else 1
        note(p, m, s, g, out, trace, now, EVENT_RECEIVE, packet, path)
    if association.complete(p, s) and out[Out.COMPLETED] == NEVER:
        out[Out.COMPLETED] = now
    send_answer(p, outages, losses, m, s, out, now, ack_id)


@noinline
def act_at_sender(
    p: Any, constants: Any, m: Any, s: Any, g: Any, out: Any, trace: Any, now: Any, event: Any
) -> None:
    """Process an event at the sender: a packet of the receiver or a timer."""
    if event < RECEIVER_TIMERS:
        ack_id = m[pop(p, m, event) + Entry.NUMBER]
        association.on_ack(p, s, g, constants, now, ack_id)
        if association.is_ack(p, s, ack_id):
            add_row(
                m, s, g, out, trace, now, EVENT_ACK, association.cumulative_ack(p, s, ack_id), event - PATHS
            )
        return
    timeouts = s[association.Counter.TIMEOUTS]
    association.on_timeout(p, s, g, constants, now)
    if s[association.Counter.TIMEOUTS] > timeouts:
        add_row(m, s, g, out, trace, now, EVENT_TIMEOUT, s[association.Counter.ACKED] + 1, np.int64(0))


def note(
    p: Any, m: Any, s: Any, g: Any, out: Any, trace: Any, t: Any, event: Any, packet: Any, path: Any
) -> None:
    """Add an event of a data packet to the trace, if there is one."""
    if trace.shape[0] > 0:
        add_row(m, s, g, out, trace, t, event, association.sequence_of(p, s, packet), path)


@noinline
def add_row(
    m: Any, s: Any, g: Any, out: Any, trace: Any, t: Any, event: Any, sequence: Any, path: Any
) -> None:
    """Add a row to the trace, if there is one, unless it is full."""
    if trace.shape[0] == 0:
        return
    n = m[Word.TRACED]
    if begin(trace, n, t * 1e-9, event, sequence, path):
        association.show(s, g, trace, n)
        m[Word.TRACED] = n + 1
    else:
        out[Out.STATUS] = STATUS_TRACE_FULL


def simulate(
    p: Any, constants: Any, of_hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; return the number of trace rows. `base.model.Model` describes the arguments."""
    init(p, of_hops, outages, losses, m, g, out)
    s, now, end = m[ASSOCIATION:], p[RowP.START], p[RowP.END]
    engine.sample(p, m, s, g, min(now, end))
    if now <= end:
        association.start(p, s, g, now)
        send_waiting(p, outages, losses, m, s, g, out, trace, now)
    now, event = next_event(p, m)
    while now <= end and m[Path.OVERFLOW] == 0 and out[Out.STATUS] == STATUS_OK:
        engine.sample(p, m, s, g, now)
        if event < PATHS:
            arrive_at_receiver(p, outages, losses, m, s, g, out, trace, now, event)
        elif event == RECEIVER_TIMERS:
            send_answer(p, outages, losses, m, s, out, now, association.on_delay(p, s))
        else:
            act_at_sender(p, constants, m, s, g, out, trace, now, event)
            send_waiting(p, outages, losses, m, s, g, out, trace, now)
        now, event = next_event(p, m)
    if m[Path.OVERFLOW] != 0 or association.overfull(s):
        out[Out.STATUS] = STATUS_RING_FULL
        return np.int64(0)
    if out[Out.STATUS] == STATUS_OK:
        engine.sample(p, m, s, g, end)
        engine.finish(p, m, s, out)
        out[len(out) - Failover.COLUMNS + Failover.LONGEST] = association.longest_failover(s)
    return m[Word.TRACED]
