"""A stream of datagrams over a path: nothing comes back, so it is put out as if nobody were there.

To a mobile host datagrams can overtake each other and come twice, over hops that reorder they overtake only;
see `engine`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base import one_flow as delays
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
    P,
    Rows,
)
from netcarlo.kernels.path import hops, overtaking, waiting
from netcarlo.kernels.path.engine import OUT, begin, note, observe, put_on_path, took
from netcarlo.kernels.path.hops import ARRIVED, WAITS
from netcarlo.kernels.path.mobility import access
from netcarlo.kernels.path.state import ASSOCIATION, Path
from netcarlo.kernels.tcp.state import NONE
from netcarlo.kernels.udp import sink
from netcarlo.kernels.udp.source import first, following, size_of

MOBILE: Any = slot("mobile")
REORDERS: Any = slot("reorders")
OVERTAKES: Any = slot("overtakes")
DELAYS: Any = slot("delays")
way: Any = slot("way")
"""See `engine`."""


def scratch_words(rows: Rows, *, mobile: bool, reorders: bool) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    words = hops.scratch_words(rows) + ASSOCIATION
    ring, planned = (int(rows.parameters[:, column].max()) for column in (P.RING, P.HANDOVERS))
    if reorders:
        words += waiting.scratch_words(ring)
    if mobile:
        words += access.scratch_words(ring, planned) + sink.scratch_words(ring)
    return words, 1


def count(p: Any, m: Any, out: Any, t: Any, number: Any, sent: Any) -> None:
    """A datagram put out at `sent` has arrived at time t [ns]."""
    what = np.int64(sink.NEW)
    if MOBILE:
        what = sink.arrive(m, p, m[Path.RING], number)
        if what == sink.OLD:
            m[Path.FULL] = 1
    out[Out.RECEIVED] += 1
    observe(m, out, t, sent)
    if what == sink.NEW:
        out[Out.DELIVERED] += 1
        if DELAYS:
            took(p, m, t - sent)
        if out[Out.DELIVERED] == p[P.LIMIT]:
            out[Out.COMPLETED] = t


def simulate(
    p: Any, constants: Any, of_hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments.  Returns the number of rows of the trace."""
    free = begin(p, of_hops, outages, losses, m, out)
    traced, end, events = trace.shape[0] > 0, p[P.END], np.int64(0)
    number, upcoming, due = np.int64(0), first(p), np.int64(FOREVER)
    if MOBILE:
        m[Path.RING] = free
        sink.prepare(m, p, free)
    while m[Path.FULL] == 0 and min(upcoming, due) <= end:
        packet, sent, fate, tag = number, upcoming, np.int64(ARRIVED), np.int64(NONE)
        if OVERTAKES and due <= upcoming:
            t, packet, tag, sent = way.pop(p, m)
        else:
            out[Out.SENT] += 1
            if traced:
                events = note(trace, events, sent, EVENT_SEND, packet)
            fate, t, tag = put_on_path(p, outages, losses, m, out, sent, packet, True, size_of(p, packet))
            upcoming = following(p, number, sent)
            number += 1
        if MOBILE and tag != NONE:
            wire = size_of(p, packet)
            fate, t = access.step(p, outages, losses, m, out, t, packet, tag, sent, wire)
        elif REORDERS and tag != NONE:
            wire = size_of(p, packet)
            fate, t = overtaking.step(p, outages, losses, m, out, t, packet, tag, sent, wire, True)
        if traced and t <= end and fate != WAITS:
            events = note(trace, events, t, EVENT_RECEIVE if fate == ARRIVED else EVENT_LOST, packet)
        if t <= end and fate == ARRIVED:
            count(p, m, out, t, packet, sent)
        if OVERTAKES:
            due = way.due(p, m)
            if way.overfull(m):
                m[Path.FULL] = 1
    out[Out.LAST_RX] = m[Path.LAST_RX] if out[Out.RECEIVED] > 0 else NEVER
    if MOBILE:
        out[Out.IN_FLIGHT] += access.under_way(p, m)
    if DELAYS:
        delays.report(m, m[Path.DELAYS], out, np.int64(OUT))
    if m[Path.FULL] != 0:
        out[Out.STATUS] = STATUS_RING_FULL
        events = np.int64(0)
    elif traced and events > trace.shape[0]:
        out[Out.STATUS] = STATUS_TRACE_FULL
    return events
