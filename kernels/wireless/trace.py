"""Rows of a trace of the 802.11 engine: what becomes of frames, and how their senders stand.

What ends a frame's journey or a sender's timer is noted where it happens and written after the event.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_SEND, Trace
from netcarlo.kernels.base.trace import begin
from netcarlo.kernels.wireless.frame import (
    BACKWARD,
    CONTROL,
    FLOW_MASK,
    PACKET_SHIFT,
    PROBE,
    head_of,
)
from netcarlo.kernels.wireless.layout import Flow, Radio
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

senders: Any = slot("senders")
ONE_WAY: Any = slot("one_way")


@noinline
def record(m: Any, f: Any, trace: Any, t: Any, event: Any, frame: Any, node: Any) -> None:
    """Write what happens to a frame at a node, and count it even where the trace is full; no probes.

    Of a timeout the frame names the flow only: the sequence is that of the first packet not acknowledged.
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
def record_sent(m: Any, f: Any, trace: Any, t: Any, first_node: Any) -> None:
    """Write the data frames that nodes from the first one on have put on the air at time t."""
    for j in range(first_node, m[Radio.NODES]):
        at = node_at(m, j)
        sends = m[Word.ON_AIR] >> j & 1 != 0 and m[at + Mac.FRAME] == Frame.DATA
        if sends and m[at + Mac.END] - m[at + Mac.AIR] == t:
            record(m, f, trace, t, EVENT_SEND, head_of(m, at), j)


def note(m: Any, event: Any, frame: Any, node: Any) -> None:
    """Note for the trace what has happened to a frame at a node."""
    at = FIRST_NOTE + m[Word.NOTES] % NOTE_ROOM * NOTE_WORDS
    m[Word.NOTES] += 1
    m[at] = event
    m[at + 1] = frame
    m[at + 2] = node


@noinline
def record_notes(m: Any, f: Any, trace: Any, t: Any) -> None:
    """Write what was noted in the event at time t."""
    for i in range(max(m[Word.NOTES] - NOTE_ROOM, 0), m[Word.NOTES]):
        at = FIRST_NOTE + i % NOTE_ROOM * NOTE_WORDS
        record(m, f, trace, t, m[at], m[at + 1], m[at + 2])
    m[Word.NOTES] = 0
