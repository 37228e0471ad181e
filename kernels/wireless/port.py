"""Connection of the hosts of a flow with the network, see `endpoints.contract.Port`."""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import NEVER
from netcarlo.kernels.endpoints import host
from netcarlo.kernels.wireless import arrivals, arriving
from netcarlo.kernels.wireless import leg as legs
from netcarlo.kernels.wireless.forwarding import inject
from netcarlo.kernels.wireless.frame import BACKWARD, CONTROL, PACKET_SHIFT, PROBE, frame_of
from netcarlo.kernels.wireless.layout import NOBODY, Flow, FlowOut, Link, Radio
from netcarlo.kernels.wireless.state import (
    FLOW_COUNTS,
    OWN,
    OWN_WORDS,
    FlowState,
    Word,
    flow_at,
    link_at,
    set_key,
)

ONE_WAY: Any = slot("one_way")
association: Any = slot("association")
queues: Any = slot("queues")
observer: Any = slot("observer")
ARRIVALS: Any = slot("arrivals")

Count = FlowOut


class Event(NamedTuple):
    """An event of a flow, see `endpoints.contract.Event`."""

    m: Any
    p: Any
    s: Any
    g: Any
    constants: Any
    t: Any
    counts: Any
    flow: Any
    """Number of the flow."""
    at: Any
    """First word of the flow."""


def event(m: Any, flow: Any, f: Any, constants: Any, t: Any) -> Any:
    """Return an event of a flow at time t [ns]."""
    at = flow_at(m, flow)
    s, g = m[m[at + FlowState.ASSOCIATION] :], f[flow * association.FLOATS :]
    return Event(m, m[transport_at(m, at) :], s, g, constants, t, at + FLOW_COUNTS, flow, at)


def transport_at(m: Any, at: Any) -> Any:
    """Return where the columns of `P` of the flow at word `at` begin: its own, or those of the row."""
    return m[at + FlowState.ASSOCIATION] - OWN_WORDS if OWN else 0


def first_node(m: Any, at: Any) -> Any:
    """Return the first node on the path of the data of the flow at word `at`."""
    return m[link_at(m, m[m[Word.PATHS] + m[at + Flow.FORTH_AT]]) + Link.FROM]


@noinline
def schedule(e: Any) -> None:
    """Set the key of the flow to its next event."""
    due = min(e.m[e.at + FlowState.NEXT], host.due(e.s))
    if ARRIVALS:
        due = min(due, e.m[e.at + FlowState.NEXT_ARRIVAL])
    set_key(e.m, e.flow, due)


def is_blocked(e: Any) -> Any:
    """Return whether the queue of the source's node is full and stops the sender."""
    if e.m[Radio.BACK_PRESSURE] == 0 or e.m[e.at + Flow.BEFORE] != NOBODY:
        return False
    return queues.is_full(e.m, e.at, frame_of(e.flow, np.int64(0), np.int64(0)))


def put_data(e: Any, packet: Any, copy: Any, is_data: Any) -> None:
    """Send a packet of the sender."""
    frame = frame_of(e.flow, packet, copy)
    if ONE_WAY and e.t < e.m[Radio.WARM_UP]:
        e.m[e.at + FlowState.UNCOUNTED] = packet + 1
    inject(e.m, e.t, frame if is_data else frame | CONTROL)


def put_probe(e: Any, number: Any) -> None:
    """Send a probe segment."""
    inject(e.m, e.t, number << PACKET_SHIFT | PROBE | e.flow)


def put_answer(e: Any, answer: Any, is_ack: Any) -> None:
    """Send a packet of the receiver; an acknowledgement may occupy the leg behind the radio first."""
    frame = answer << PACKET_SHIFT | BACKWARD | e.flow
    if is_ack:
        if e.m[e.at + Flow.ACK_COST] > 0 and e.m[e.at + Flow.AFTER] != NOBODY:
            legs.occupy(e.m, e.m[e.at + Flow.AFTER], e.t, e.m[e.at + Flow.ACK_COST])
    else:
        frame |= CONTROL
    inject(e.m, e.t, frame)


def on_overflow(e: Any) -> None:
    """End the run: it is repeated with larger rings."""
    e.m[Word.FULL] = 1


def on_sent(e: Any) -> None:
    """Note when the last packet is sent for the first time."""
    if e.m[e.counts + FlowOut.SOURCE_DONE] == NEVER and association.all_sent(e.s):
        e.m[e.counts + FlowOut.SOURCE_DONE] = e.t


def on_retransmission_timeout(e: Any) -> None:
    """Let observers record a retransmission timeout."""
    observer.on_timeout(e.m, e.flow, first_node(e.m, e.at))


def on_acknowledged(e: Any, is_ack: Any) -> None:
    """Note when the sender knows that all data have arrived, in a slot of arriving flows."""
    if ARRIVALS:
        waits = e.m[e.at + Flow.CLASS] > 0 and e.m[e.at + FlowState.FINISHED] == NEVER
        if waits and association.finished(e.s):
            arriving.on_finished(e.m, e.at, e.t)


def on_delivered(e: Any, packet: Any) -> None:
    """Record the delay of a packet that has arrived for the first time."""
    delay = np.int64(0)  # of a saturated source
    if not ONE_WAY or e.m[e.at + Flow.BACKLOG] == 0:
        delay = association.delay_of(e.p, e.s, e.t, packet) - queues.early(e.m)
    if ONE_WAY and packet >= e.m[e.at + FlowState.UNCOUNTED]:
        e.m[e.counts + FlowOut.ARRIVED] += 1
    arrivals.count(e.m, e.at, e.t, delay)


def on_complete(e: Any) -> None:
    """Process the arrival of the last missing packet of a flow."""
    if ARRIVALS:
        arriving.on_completion(e.m, e.at, e.t)
