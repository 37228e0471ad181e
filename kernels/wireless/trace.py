"""Rows of a trace of the 802.11 engine: what becomes of frames, and how their TCP senders stand."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import EVENT_SEND, EVENT_TIMEOUT, Trace
from netcarlo.kernels.tcp import sender
from netcarlo.kernels.wireless.layout import Flow, Link, Radio
from netcarlo.kernels.wireless.state import (
    AIR,
    BACKWARD,
    DATA,
    END,
    F_STATE,
    FLOW_MASK,
    FRAME,
    HEAD,
    LINK_WORDS,
    LINKS,
    LOST,
    LOST_ROOM,
    LOST_WORDS,
    NODE_WORDS,
    NODES,
    ON_AIR,
    PACKET_SHIFT,
    PATHS,
    RING,
)


class Recorder(NamedTuple):
    """The compiled functions that write rows of a trace; they return how many there are then."""

    record: Any
    """`(m, f, rows, n, t, event, frame, node)`: what happens to a frame."""
    sent: Any
    """`(m, f, rows, n, t, first_node)`: the data frames that are put on the air at time t."""
    lost: Any
    """`(m, f, rows, n, t)`: the frames that were lost in the event at time t."""
    timeouts: Any
    """`(m, flow)`: how often the timer of a TCP sender has gone off."""
    timed_out: Any
    """`(m, f, rows, n, t, flow)`: it has."""


def make_recorder(dev: Callable[[Any], Any], place: Any, *, tcp: bool) -> Recorder:
    """Compile `Recorder` for a target."""

    @cold
    def record(m: Any, f: Any, rows: Any, n: Any, t: Any, event: Any, frame: Any, node: Any) -> Any:
        # What happens to a frame, and how its TCP sender stands.
        if n < rows.shape[0]:
            flow = frame & FLOW_MASK
            rows[n, Trace.TIME] = t * 1e-9
            rows[n, Trace.EVENT] = event
            rows[n, Trace.SEQUENCE] = frame >> PACKET_SHIFT
            rows[n, Trace.PATH] = node
            rows[n, Trace.FLOW] = 2 * flow + (1 if frame & BACKWARD else 0)
            at = place(m, flow)
            if tcp and m[at + Flow.TCP] != 0:
                s = m[m[at + F_STATE] :]
                rows[n, Trace.CWND] = f[flow * sender.FLOATS]
                rows[n, Trace.SSTHRESH] = s[sender.SSTHRESH]
                rows[n, Trace.RTO] = s[sender.RTO] * 1e-9
                rows[n, Trace.ACKED] = s[sender.ACKED]
        return n + 1

    record = dev(record)

    @cold
    def sent(m: Any, f: Any, rows: Any, events: Any, t: Any, first_node: Any) -> Any:
        # The data frames that are put on the air at time t.
        for j in range(first_node, m[Radio.NODES]):
            at = m[NODES] + j * NODE_WORDS
            if m[ON_AIR] >> j & 1 and m[at + FRAME] == DATA and m[at + END] - m[at + AIR] == t:
                events = record(m, f, rows, events, t, EVENT_SEND, m[m[at + RING] + m[at + HEAD]], j)
        return events

    sent = dev(sent)

    @cold
    def lost(m: Any, f: Any, rows: Any, events: Any, t: Any) -> Any:
        # The frames that were lost in the event at time t.
        for i in range(max(m[LOST] - LOST_ROOM, 0), m[LOST]):
            at = LOST + 1 + i % LOST_ROOM * LOST_WORDS
            events = record(m, f, rows, events, t, m[at], m[at + 1], m[at + 2])
        m[LOST] = 0
        return events

    lost = dev(lost)

    @cold
    def timeouts(m: Any, flow: Any) -> Any:
        at = place(m, flow)
        if tcp and m[at + Flow.TCP] != 0:
            return m[m[at + F_STATE] + sender.TIMEOUTS]
        return np.int64(0)

    timeouts = dev(timeouts)

    @cold
    def timed_out(m: Any, f: Any, rows: Any, events: Any, t: Any, flow: Any) -> Any:
        # The timer of a TCP sender has gone off.
        at = place(m, flow)
        packet = m[m[at + F_STATE] + sender.ACKED] + 1
        link = m[LINKS] + m[m[PATHS] + m[at + Flow.FORTH_AT]] * LINK_WORDS
        frame = packet << PACKET_SHIFT | flow
        return record(m, f, rows, events, t, EVENT_TIMEOUT, frame, m[link + Link.FROM])

    timed_out = dev(timed_out)

    return Recorder(record, sent, lost, timeouts, timed_out)
