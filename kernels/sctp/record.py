"""What is recorded of an SCTP association: losses, the trace, samples of window and RTT."""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_HEARTBEAT_ACK,
    EVENT_HEARTBEAT_RECEIVE,
    EVENT_RECEIVE,
    EVENT_TIMEOUT,
    PATHS,
    STATUS_TRACE_FULL,
    Out,
    P,
    Trace,
)
from netcarlo.kernels.base.sums import make_add
from netcarlo.kernels.path.hops import DESTROYED, DOWN, FULL_QUEUE
from netcarlo.kernels.sctp import state as st


def make_record(dev: Callable[[Any], Any]) -> tuple[Any, Any, Any, Any]:
    """Compile `(count_loss, note, note_event, sample)` for a target; `rows` are those of a trace.

    `count_loss(s, kind, fate)` counts a packet that a path lost.
    `note(s, rows, length, time, event, sequence, path) -> int` adds a row at `length`.
    `note_event(p, s, rows, length, now, event) -> int` adds the row of an event that is over.
    Both return the new length.  `sample(p, s)` takes a sample.
    """
    packet = dev(st.packet)
    add = make_add(dev)

    @cold
    def count_loss(s: Any, kind: Any, fate: Any) -> None:
        if kind == st.SACK:
            s[st.COUNT + Out.ACK_DROPS] += 1
        elif kind == st.DATA:
            if fate == FULL_QUEUE:
                s[st.COUNT + Out.DROPS_QUEUE] += 1
            elif fate == DOWN:
                s[st.COUNT + Out.DROPS_OUTAGE] += 1
            elif fate == DESTROYED:
                s[st.COUNT + Out.DESTROYED] += 1
            else:
                s[st.COUNT + Out.DROPS_RANDOM] += 1

    count_loss = dev(count_loss)

    @cold
    def note(s: Any, rows: Any, length: Any, time: Any, event: Any, sequence: Any, path: Any) -> Any:
        if length == rows.shape[0]:
            s[st.COUNT + Out.STATUS] = STATUS_TRACE_FULL
            return length
        w = st.WAY + path * st.WAY_SIZE
        rows[length, Trace.TIME] = time / 1e9
        rows[length, Trace.EVENT] = event
        rows[length, Trace.SEQUENCE] = sequence
        rows[length, Trace.PATH] = path
        rows[length, Trace.CWND] = s[w + st.CWND] / s[st.CHUNK]
        rows[length, Trace.SSTHRESH] = s[w + st.SSTHRESH] / s[st.CHUNK]
        rows[length, Trace.RTO] = s[w + st.RTO] / 1e9
        rows[length, Trace.ACKED] = s[st.CUM]
        return length + 1

    note = dev(note)

    @cold
    def note_event(p: Any, s: Any, rows: Any, length: Any, now: Any, event: Any) -> Any:
        # The row of an event that is over; a packet that arrived still lies before its ring.
        if st.T3 <= event < st.T3 + PATHS:
            return note(s, rows, length, now, EVENT_TIMEOUT, s[st.CUM] + 1, event - st.T3)
        if event >= st.ARRIVAL + st.WAYS:
            return length
        at = packet(p, s, event, s[st.WAY + event * st.WAY_SIZE + st.OLDEST] - 1)
        if s[at + st.KIND] == st.DATA:
            return note(s, rows, length, now, EVENT_RECEIVE, s[at + st.NUMBER], event)
        if s[at + st.KIND] == st.SACK:
            return note(s, rows, length, now, EVENT_ACK, s[at + st.NUMBER], event - PATHS)
        if s[at + st.KIND] == st.HEARTBEAT:
            return note(s, rows, length, now, EVENT_HEARTBEAT_RECEIVE, event // PATHS, event % PATHS)
        if s[at + st.KIND] == st.HEARTBEAT_ACK:
            return note(s, rows, length, now, EVENT_HEARTBEAT_ACK, 1 - event // PATHS, event % PATHS)
        return length

    note_event = dev(note_event)

    def sample(p: Any, s: Any) -> None:
        w = st.WAY + s[st.ENDPOINT + st.CURRENT] * st.WAY_SIZE
        cwnd = 1024 * min(s[w + st.CWND], p[P.RWND]) // s[st.CHUNK]
        add(s, st.COUNT + Out.CWND_SUM, st.COUNT + Out.CWND_SUM_HIGH, cwnd)
        if s[w + st.RTT] > 0:
            add(s, st.COUNT + Out.RTT_SUM, st.COUNT + Out.RTT_SUM_HIGH, s[w + st.RTT])
            s[st.COUNT + Out.RTT_SAMPLES] += 1
        s[st.COUNT + Out.SAMPLES] += 1

    sample = dev(sample)

    return count_loss, note, note_event, sample
