"""UDP source over a path. There is no feedback, so datagrams are sent on a fixed schedule.

To a mobile host datagrams may be reordered and duplicated; hops that reorder only reorder them (`engine`).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import (
    EVENT_LOST,
    EVENT_RECEIVE,
    EVENT_SEND,
    FOREVER,
    NEVER,
    STATUS_RING_FULL,
    STATUS_TRACE_FULL,
    Out,
    Rows,
)
from netcarlo.kernels.base.parameters import MobileP, RowP
from netcarlo.kernels.path import hops, reordering, timed_queue
from netcarlo.kernels.path.engine import OUT, init, note, record_arrival, send_packet
from netcarlo.kernels.path.hops import ARRIVED, IN_QUEUE
from netcarlo.kernels.path.mobility import access
from netcarlo.kernels.path.state import ASSOCIATION, Path
from netcarlo.kernels.tcp.state import NONE
from netcarlo.kernels.udp import sink
from netcarlo.kernels.udp.source import first, following, size_of

MOBILE: Any = slot("mobile")
REORDERS: Any = slot("reorders")
OUT_OF_ORDER: Any = slot("out_of_order")
forwarding: Any = slot("forwarding")
"""Module that forwards reordered packets, see `engine`."""
observer: Any = slot("observer")
"""Functions that record what happens (`observers.events`)."""


def scratch_words(rows: Rows, *, mobile: bool, reorders: bool) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    words = hops.scratch_words(rows) + ASSOCIATION
    ring, planned = (int(rows.parameters[:, column].max()) for column in (RowP.RING, MobileP.HANDOVERS))
    if reorders:
        words += timed_queue.scratch_words(ring)
    if mobile:
        words += access.scratch_words(ring, planned) + sink.scratch_words(ring)
    return words, 1


def count(p: Any, m: Any, out: Any, t: Any, number: Any, sent: Any) -> None:
    """Count the arrival at time t [ns] of a datagram sent at `sent`."""
    what = np.int64(sink.NEW)
    if MOBILE:
        what = sink.arrive(m, p, m[Path.ACK_RING], number)
        if what == sink.OLD:
            m[Path.OVERFLOW] = 1
    out[Out.RECEIVED] += 1
    record_arrival(m, out, t, sent)
    if what == sink.NEW:
        out[Out.DELIVERED] += 1
        observer.on_delay(p, m, t - sent)
        if out[Out.DELIVERED] == p[RowP.LIMIT]:
            out[Out.COMPLETED] = t


def simulate(
    p: Any, constants: Any, of_hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; return the number of trace rows. `base.model.Model` describes the arguments."""
    free = init(p, of_hops, outages, losses, m, out)
    traced, end, events = trace.shape[0] > 0, p[RowP.END], np.int64(0)
    number, upcoming, due = np.int64(0), first(p), np.int64(FOREVER)
    if MOBILE:
        m[Path.ACK_RING] = free
        sink.prepare(m, p, free)
    while m[Path.OVERFLOW] == 0 and min(upcoming, due) <= end:
        packet, sent, fate, tag = number, upcoming, np.int64(ARRIVED), np.int64(NONE)
        if OUT_OF_ORDER and due <= upcoming:
            t, packet, tag, sent = forwarding.pop(p, m)
        else:
            out[Out.SENT] += 1
            if traced:
                events = note(trace, events, sent, EVENT_SEND, packet)
            fate, t, tag = send_packet(p, outages, losses, m, out, sent, packet, True, size_of(p, packet))
            upcoming = following(p, number, sent)
            number += 1
        if MOBILE and tag != NONE:
            wire = size_of(p, packet)
            fate, t = access.step(p, outages, losses, m, out, t, packet, tag, sent, wire)
        elif REORDERS and tag != NONE:
            wire = size_of(p, packet)
            fate, t = reordering.step(p, outages, losses, m, out, t, packet, tag, sent, wire, True)
        if traced and t <= end and fate != IN_QUEUE:
            events = note(trace, events, t, EVENT_RECEIVE if fate == ARRIVED else EVENT_LOST, packet)
        if t <= end and fate == ARRIVED:
            count(p, m, out, t, packet, sent)
        if OUT_OF_ORDER:
            due = forwarding.due(p, m)
            if forwarding.overfull(m):
                m[Path.OVERFLOW] = 1
    out[Out.LAST_RX] = m[Path.LAST_RX] if out[Out.RECEIVED] > 0 else NEVER
    if MOBILE:
        out[Out.IN_FLIGHT] += access.in_flight(p, m)
    observer.report(m, out, np.int64(OUT))
    if m[Path.OVERFLOW] != 0:
        out[Out.STATUS] = STATUS_RING_FULL
        events = np.int64(0)
    elif traced and events > trace.shape[0]:
        out[Out.STATUS] = STATUS_TRACE_FULL
    return events
