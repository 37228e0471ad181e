"""What the 802.11 engine asks of the two ends of a flow, beside events: sizes, counters, rows of a trace.

`at` is the word where the flow begins.  UDP has no such ends.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_TIMEOUT, P, Trace
from netcarlo.kernels.wireless.frame import BACKWARD, CONTROL, FLOW_MASK, PACKET_SHIFT, PROBE, is_data
from netcarlo.kernels.wireless.layout import Flow, FlowOut
from netcarlo.kernels.wireless.state import FLOW_COUNTS, FlowState, transport_at

association: Any = slot("association")


def size_of(m: Any, at: Any, frame: Any) -> Any:
    """The size of a frame's packet, with the headers of transport and network layer [byte]."""
    if frame & PROBE:
        return m[at + Flow.HEADER]
    packet, p, s = frame >> PACKET_SHIFT, m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :]
    if frame & BACKWARD:
        return association.size_of_ack(p, s, packet)
    if frame & CONTROL:
        return association.size_of(p, s, packet)
    short = m[at + Flow.SHORT] if association.is_last(p, s, packet) else np.int64(0)
    return m[at + Flow.SIZE] + m[at + Flow.HEADER] - short


@noinline
def prepare(m: Any, at: Any, f: Any, flow: Any, shift: Any) -> Any:
    """Before the start of a flow, whose clock is so much ahead of its transport's [ns]; returns how many
    words it takes."""
    p, s = m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :]
    g, phase = f[flow * association.FLOATS :], p[P.CLOCK_PHASE] + shift
    return association.prepare(p, s, g, m[at + Flow.LIMIT], phase, flow, association.WORDS)


@noinline
def data_waiting(m: Any, at: Any) -> Any:
    """Data packets that are put out, but wait for room."""
    return association.data_waiting(m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :])


@noinline
def add_counters(m: Any, at: Any, sign: Any) -> None:
    """Add the counters of a sender, which are its own, to the outcomes of its flow, or take away what they
    were when the warm-up ended.
    """
    s = m[m[at + FlowState.ASSOCIATION] :]
    counts = at + FLOW_COUNTS
    m[counts + FlowOut.SENT] += sign * s[association.Counter.SENT]
    m[counts + FlowOut.RETRANSMITTED] += sign * s[association.Counter.RETRANSMITTED]
    m[counts + FlowOut.TIMEOUTS] += sign * s[association.Counter.TIMEOUTS]
    m[counts + FlowOut.FAST_RETRANSMITS] += sign * s[association.Counter.FAST_RETRANSMITS]
    m[counts + FlowOut.CWND_CUTS] += sign * s[association.Counter.REDUCTIONS]


@noinline
def overfull(m: Any, at: Any) -> Any:
    """More was out than there was room for."""
    return association.overfull(m[m[at + FlowState.ASSOCIATION] :])


@noinline
def show(m: Any, at: Any, f: Any, trace: Any, n: Any, frame: Any, number: Any) -> None:
    """The state of the sender in row n of a trace, and what packet `number` is called there."""
    s = m[m[at + FlowState.ASSOCIATION] :]
    association.show(s, f[(frame & FLOW_MASK) * association.FLOATS :], trace, n)
    if trace[n, Trace.EVENT] == EVENT_TIMEOUT:
        trace[n, Trace.SEQUENCE] = trace[n, Trace.ACKED] + 1
    elif is_data(frame):
        trace[n, Trace.SEQUENCE] = association.sequence_of(m[transport_at(m, at) :], s, number)
