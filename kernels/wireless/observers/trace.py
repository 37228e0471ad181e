"""Observer that writes the trace of a run: events of frames, with the state of their senders.

Losses and timeouts are noted where they happen and written after the event.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_DROP,
    EVENT_LOST,
    EVENT_RECEIVE,
    EVENT_SEND,
    EVENT_TIMEOUT,
    Trace,
)
from netcarlo.kernels.base.trace import begin
from netcarlo.kernels.wireless.frame import (
    BACKWARD,
    CONTROL,
    FLOW_MASK,
    PACKET_SHIFT,
    PROBE,
)
from netcarlo.kernels.wireless.layout import NOBODY, Flow, FlowOut, Radio
from netcarlo.kernels.wireless.state import (
    FIRST_NOTE,
    NOTE_ROOM,
    NOTE_WORDS,
    Frame,
    Mac,
    Word,
    flow_at,
    node_at,
)

queues: Any = slot("queues")
senders: Any = slot("senders")
ONE_WAY: Any = slot("one_way")


def on_transmission(m: Any, f: Any, trace: Any, t: Any, first_node: Any) -> None:
    """Write the data frames that nodes, from `first_node` on, begin to transmit."""
    if trace.shape[0] > 0:
        _write_sent(m, f, trace, t, first_node)


def on_received(m: Any, f: Any, trace: Any, t: Any, frame: Any, node: Any) -> None:
    """Write that a node has received a frame with data or an acknowledgement."""
    if trace.shape[0] > 0:
        _write(m, f, trace, t, EVENT_ACK if frame & BACKWARD else EVENT_RECEIVE, frame, node)


def on_lost(m: Any, frame: Any, node: Any, cause: Any) -> None:
    """Note that a frame is lost at a node."""
    _note(m, EVENT_LOST if cause == FlowOut.RETRY_LOST else EVENT_DROP, frame, node)


def on_timeout(m: Any, flow: Any, node: Any) -> None:
    """Note a retransmission timeout."""
    _note(m, EVENT_TIMEOUT, flow, node)


def on_event_end(m: Any, f: Any, trace: Any, t: Any) -> None:
    """Write what was noted."""
    if trace.shape[0] > 0 and m[Word.NOTES] > 0:
        _write_notes(m, f, trace, t)


@noinline
def _write(m: Any, f: Any, trace: Any, t: Any, event: Any, frame: Any, node: Any) -> None:
    """Write an event of a frame at a node, unless it is a probe; count it even if the trace is full.

    The `frame` of a timeout is the number of the flow; its sequence is the first packet not acknowledged.
    """
    if frame & PROBE:
        return
    n = m[Word.TRACED]
    number = np.int64(0) if frame & CONTROL else frame >> PACKET_SHIFT
    if begin(trace, n, t * 1e-9, event, number, node):
        flow = frame & FLOW_MASK
        trace[n, Trace.FLOW] = 2 * flow + (1 if frame & BACKWARD else 0)
        if not ONE_WAY and m[flow_at(m, flow) + Flow.TCP] != 0:
            senders.show(m, flow, f, trace, n, frame, number)
    m[Word.TRACED] = n + 1


@noinline
def _write_sent(m: Any, f: Any, trace: Any, t: Any, first_node: Any) -> None:
    """Write the data frames that nodes, from `first_node` on, begin to transmit at time t."""
    for j in range(first_node, m[Radio.NODES]):
        at = node_at(m, j)
        sends = m[Word.ON_AIR] >> j & 1 != 0 and m[at + Mac.FRAME] == Frame.DATA
        if sends and m[at + Mac.END] - m[at + Mac.AIR] == t:
            k = np.int64(0)
            frame = queues.sent_frame(m, at, k)
            while frame != NOBODY:
                _write(m, f, trace, t, EVENT_SEND, frame, j)
                k += 1
                frame = queues.sent_frame(m, at, k)


def _note(m: Any, event: Any, frame: Any, node: Any) -> None:
    """Note an event of a frame at a node."""
    at = FIRST_NOTE + m[Word.NOTES] % NOTE_ROOM * NOTE_WORDS
    m[Word.NOTES] += 1
    m[at] = event
    m[at + 1] = frame
    m[at + 2] = node


@noinline
def _write_notes(m: Any, f: Any, trace: Any, t: Any) -> None:
    """Write what was noted in the event at time t [ns]."""
    for i in range(max(m[Word.NOTES] - NOTE_ROOM, 0), m[Word.NOTES]):
        at = FIRST_NOTE + i % NOTE_ROOM * NOTE_WORDS
        _write(m, f, trace, t, m[at], m[at + 1], m[at + 2])
    m[Word.NOTES] = 0
