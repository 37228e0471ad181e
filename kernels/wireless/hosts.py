"""Events and packets of a flow as the engine passes them to its source and its sink.

Functions begin with the scratch `m` and the number of a flow, so that `base.by_kind` can look up its kind.
`f` are the floats of all senders, `constants` those of a user's congestion control, `t` is the time [ns].
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_TIMEOUT, FOREVER, Trace
from netcarlo.kernels.base.parameters import P, RowP, TcpP
from netcarlo.kernels.endpoints import host
from netcarlo.kernels.wireless.forwarding import inject
from netcarlo.kernels.wireless.frame import (
    BACKWARD,
    CONTROL,
    HOPS,
    PACKET_SHIFT,
    PROBE,
    is_ack,
    is_data,
    transmission_id,
)
from netcarlo.kernels.wireless.layout import Flow, Radio
from netcarlo.kernels.wireless.port import event, first_node, schedule, transport_at
from netcarlo.kernels.wireless.state import FLOW_COUNTS, OWN, OWN_WORDS, FlowState, Word, flow_at

ONE_WAY: Any = slot("one_way")
"""True if nothing is acknowledged or retransmitted."""
association: Any = slot("association")

_TRANSPORT = len(P)
_CLOCK_STEP = 7919  # difference of the clock phases of consecutive senders [ns]


def kind_of(m: Any, flow: Any, *others: Any) -> Any:
    """Return the number of the sender of a flow (`senders`)."""
    return m[flow_at(m, flow) + Flow.KIND]


@noinline
def prepare(m: Any, flow: Any, f: Any, network: Any, free: Any) -> Any:
    """Set up the association of a flow from word `free` on, before the run; returns the next free word."""
    at = flow_at(m, flow)
    if OWN:  # its transport, with the rings of the row, and its kind
        for column in range(_TRANSPORT):
            m[free + column] = network[m[Radio.TRANSPORTS_AT] + flow * _TRANSPORT + column]
        m[free + RowP.RING] = m[RowP.RING]
        m[free + _TRANSPORT] = m[at + Flow.KIND]
        free += OWN_WORDS
    m[at + FlowState.ASSOCIATION] = free
    p, s, g = m[transport_at(m, at) :], m[free:], f[flow * association.FLOATS :]
    phase = p[TcpP.CLOCK_PHASE] + _CLOCK_STEP * flow
    words = association.prepare(p, s, g, m[at + Flow.LIMIT], phase, flow, association.WORDS)
    if ONE_WAY:
        saturated = m[at + Flow.BACKLOG] > 0  # the next datagram waits for room, not for a time
        association.describe(
            s, m[at + Flow.START], m[at + Flow.STOP], FOREVER if saturated else m[at + Flow.INTERVAL],
            0 if saturated else m[at + Flow.SPREAD],
        )  # fmt: skip
    return free + words


@noinline
def restart(m: Any, flow: Any, f: Any) -> None:
    """Set up the association of a flow again, for the next one in its slot."""
    add_counters(m, flow, np.int64(1))
    at = flow_at(m, flow)
    p, s, g = m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :], f[flow * association.FLOATS :]
    phase = p[TcpP.CLOCK_PHASE] + _CLOCK_STEP * flow
    association.prepare(p, s, g, m[at + Flow.LIMIT], phase, flow, association.WORDS)


@noinline
def reschedule(m: Any, flow: Any, f: Any, constants: Any, t: Any) -> None:
    """Set the key of a flow to its next event."""
    schedule(event(m, flow, f, constants, t))


@noinline
def on_event(m: Any, flow: Any, f: Any, constants: Any, t: Any) -> None:
    """Process the due event of a flow: its start, or the expiry of a timer."""
    at = flow_at(m, flow)
    starts = m[at + FlowState.NEXT] == t
    if starts:
        m[at + FlowState.NEXT] = FOREVER
    host.on_event(event(m, flow, f, constants, t), starts)
    if ONE_WAY and starts:
        for _ in range(1, m[at + Flow.BACKLOG]):
            refill(m, flow, f, constants, t)


@noinline
def refill(m: Any, flow: Any, f: Any, constants: Any, t: Any) -> None:
    """Send the next datagram of a saturated source, if there is one, after another has left its queue."""
    e = event(m, flow, f, constants, t)
    if t < m[e.at + Flow.STOP] and not association.all_sent(e.s):
        host.on_event(e, False)


@noinline
def on_room(m: Any, flow: Any, f: Any, constants: Any, t: Any, node: Any) -> None:
    """Let the source continue if it waited for room in the queue of this node."""
    if first_node(m, flow_at(m, flow)) == node:
        host.on_room(event(m, flow, f, constants, t))


@noinline
def arrive(m: Any, flow: Any, f: Any, constants: Any, t: Any, frame: Any, more: Any) -> None:
    """Process a packet that reaches its end host; `more` packets arrive there at the same time."""
    e, number = event(m, flow, f, constants, t), frame >> PACKET_SHIFT
    if ONE_WAY or frame & (BACKWARD | PROBE) == 0:
        host.on_data(e, number, transmission_id(frame), is_data(frame), more)
    elif frame & BACKWARD == 0:
        inject(m, t, frame & ~HOPS | BACKWARD)
    elif frame & PROBE:
        host.on_reply(e, number)
    else:
        host.on_ack(e, number, is_ack(frame))


def size_of(m: Any, flow: Any, frame: Any) -> Any:
    """Return the size of a frame's packet, with the headers of transport and network layer [byte]."""
    at, packet = flow_at(m, flow), frame >> PACKET_SHIFT
    p, s = m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :]
    if not ONE_WAY:
        if frame & PROBE:
            return m[at + Flow.HEADER]
        if frame & BACKWARD:
            return association.size_of_ack(p, s, packet)
        if frame & CONTROL:
            return association.size_of(p, s, packet)
    short = m[at + Flow.SHORT] if association.is_last(p, s, packet) else np.int64(0)
    return m[at + Flow.SIZE] + m[at + Flow.HEADER] - short


@noinline
def data_waiting(m: Any, flow: Any) -> Any:
    """Return how many data packets wait at the source for room in the queue of its node."""
    at = flow_at(m, flow)
    return association.data_waiting(m[transport_at(m, at) :], m[m[at + FlowState.ASSOCIATION] :])


@noinline
def add_counters(m: Any, flow: Any, sign: Any) -> None:
    """Add the counters of a sender times `sign` to its outcomes: -1 when the warm-up ends, 1 at the end."""
    at = flow_at(m, flow)
    s = m[m[at + FlowState.ASSOCIATION] :]
    host.add_counters(m, at + FLOW_COUNTS, s, sign)
    if not ONE_WAY and association.overfull(s):
        m[Word.FULL] = 1


@noinline
def show(m: Any, flow: Any, f: Any, trace: Any, n: Any, frame: Any, number: Any) -> None:
    """Write the state of the sender and the sequence number of packet `number` to row n of a trace."""
    at = flow_at(m, flow)
    s = m[m[at + FlowState.ASSOCIATION] :]
    association.show(s, f[flow * association.FLOATS :], trace, n)
    if trace[n, Trace.EVENT] == EVENT_TIMEOUT:
        trace[n, Trace.SEQUENCE] = trace[n, Trace.ACKED] + 1
    elif is_data(frame):
        trace[n, Trace.SEQUENCE] = association.sequence_of(m[transport_at(m, at) :], s, number)
