"""Measurements of an SCTP association: arrivals, losses, trace, samples of window and RTT."""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_HEARTBEAT_ACK,
    EVENT_HEARTBEAT_RECEIVE,
    EVENT_RECEIVE,
    EVENT_TIMEOUT,
    NEVER,
    PATHS,
    STATUS_TRACE_FULL,
    Out,
    Trace,
)
from netcarlo.kernels.base.parameters import SctpP
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.base.trace import begin
from netcarlo.kernels.path.hops import DESTROYED, LINK_DOWN, QUEUE_FULL
from netcarlo.kernels.sctp.state import (
    OUTCOMES,
    SENDER,
    WAYS,
    End,
    Event,
    Kind,
    Packet,
    Way,
    Word,
    end_at,
    packet_at,
    way_at,
)


@noinline
def count_loss(s: Any, kind: Any, fate: Any) -> None:
    """Count a packet lost on a path."""
    if kind == Kind.SACK:
        s[OUTCOMES + Out.ACK_DROPS] += 1
    elif kind == Kind.DATA:
        if fate == QUEUE_FULL:
            s[OUTCOMES + Out.DROPS_QUEUE] += 1
        elif fate == LINK_DOWN:
            s[OUTCOMES + Out.DROPS_OUTAGE] += 1
        elif fate == DESTROYED:
            s[OUTCOMES + Out.DESTROYED] += 1
        else:
            s[OUTCOMES + Out.DROPS_RANDOM] += 1


def count_arrival(s: Any, now: Any, sent: Any) -> None:
    """Count the arrival of a DATA chunk sent at `sent` [ns]."""
    s[OUTCOMES + Out.RECEIVED] += 1
    if s[OUTCOMES + Out.FIRST_RX] == NEVER:
        s[OUTCOMES + Out.FIRST_RX] = now
        s[OUTCOMES + Out.LAST_RX] = now
    s[OUTCOMES + Out.SILENCE] = max(s[OUTCOMES + Out.SILENCE], now - s[OUTCOMES + Out.LAST_RX])
    s[OUTCOMES + Out.LAST_RX] = now
    if s[OUTCOMES + Out.RESUME_RX] == NEVER and now > s[Word.FIRST_OUTAGE]:
        s[OUTCOMES + Out.RESUME_RX] = now
        s[OUTCOMES + Out.RESUME_TX] = sent


@noinline
def note(s: Any, rows: Any, time: Any, event: Any, sequence: Any, path: Any) -> None:
    """Add a row to the trace `rows`, or end the simulation if it is full."""
    length = s[Word.TRACED]
    if not begin(rows, length, time / 1e9, event, sequence, path):
        s[OUTCOMES + Out.STATUS] = STATUS_TRACE_FULL
        return
    w = way_at(path)
    rows[length, Trace.CWND] = s[w + Way.CWND] / s[Word.CHUNK]
    rows[length, Trace.SSTHRESH] = s[w + Way.SSTHRESH] / s[Word.CHUNK]
    rows[length, Trace.RTO] = s[w + Way.RTO] / 1e9
    rows[length, Trace.ACKED] = s[Word.CUM]
    s[Word.TRACED] = length + 1


@noinline
def note_event(p: Any, s: Any, rows: Any, now: Any, event: Any) -> None:
    """Add the row of a processed event; a packet that arrived is still before the head of its ring."""
    if Event.T3 <= event < Event.T3 + PATHS:
        note(s, rows, now, EVENT_TIMEOUT, s[Word.CUM] + 1, event - Event.T3)
    elif event < Event.ARRIVAL + WAYS:
        at = packet_at(p, s, event, s[way_at(event) + Way.OLDEST] - 1)
        kind = s[at + Packet.KIND]
        if kind == Kind.DATA:
            note(s, rows, now, EVENT_RECEIVE, s[at + Packet.NUMBER], event)
        elif kind == Kind.SACK:
            note(s, rows, now, EVENT_ACK, s[at + Packet.NUMBER], event - PATHS)
        elif kind == Kind.HEARTBEAT:
            note(s, rows, now, EVENT_HEARTBEAT_RECEIVE, event // PATHS, event % PATHS)
        elif kind == Kind.HEARTBEAT_ACK:
            note(s, rows, now, EVENT_HEARTBEAT_ACK, 1 - event // PATHS, event % PATHS)


def sample(p: Any, s: Any) -> None:
    """Take a sample of the window and the RTT."""
    w = way_at(s[end_at(SENDER) + End.CURRENT])
    cwnd = 1024 * min(s[w + Way.CWND], p[SctpP.RWND]) // s[Word.CHUNK]
    add(s, OUTCOMES + Out.CWND_SUM, OUTCOMES + Out.CWND_SUM_HIGH, cwnd)
    if s[w + Way.RTT] > 0:
        add(s, OUTCOMES + Out.RTT_SUM, OUTCOMES + Out.RTT_SUM_HIGH, s[w + Way.RTT])
        s[OUTCOMES + Out.RTT_SAMPLES] += 1
    s[OUTCOMES + Out.SAMPLES] += 1
