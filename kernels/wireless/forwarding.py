"""Forwarding of a frame from its end host: through a leg, or into the queue of the node that sends it
next."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless import leg as legs
from netcarlo.kernels.wireless.frame import (
    BACKWARD,
    FLOW_BITS,
    FLOW_MASK,
    HOP_MASK,
    PACKET_SHIFT,
    is_ack,
    is_data,
    link_of,
    size_of,
)
from netcarlo.kernels.wireless.layout import NOBODY, Flow, FlowOut, Link
from netcarlo.kernels.wireless.state import FLOW_COUNTS, FlowState, flow_at

queues: Any = slot("queues")
observer: Any = slot("observer")


@noinline
def inject(m: Any, t: Any, frame: Any) -> None:
    """Send a packet from its end host."""
    at = flow_at(m, frame & FLOW_MASK)
    leg = m[at + Flow.ACK_BEFORE] if frame & BACKWARD else m[at + Flow.BEFORE]
    if leg != NOBODY:
        to_leg(m, leg, t, frame)
    else:
        to_queue(m, t, frame)


@noinline
def to_leg(m: Any, leg: Any, t: Any, frame: Any) -> None:
    """Add a frame to a leg, or drop it if there is no room."""
    if not legs.enter(m, leg, t, size_of(m, frame), frame):
        lose(m, frame, np.int64(FlowOut.DROPS_LEG), np.int64(NOBODY))


@noinline
def to_queue(m: Any, t: Any, frame: Any) -> None:
    """Enqueue a frame at the node where its next hop begins, or drop it if the queue is full."""
    j = m[link_of(m, frame) + Link.FROM]
    if not queues.enqueue(m, j, t, frame):
        drop(m, frame)


@noinline
def drop(m: Any, frame: Any) -> None:
    """Count a frame dropped at the queue where its next hop begins."""
    relay = frame >> FLOW_BITS & HOP_MASK != 0
    cause = np.int64(FlowOut.DROPS_RELAY) if relay else np.int64(FlowOut.DROPS_SOURCE)
    lose(m, frame, cause, m[link_of(m, frame) + Link.FROM])


@noinline
def lose(m: Any, frame: Any, cause: Any, node: Any) -> None:
    """Count a frame lost at a node, or NOBODY; `cause`: column of `FlowOut` that counts it if it is data."""
    observer.on_lost(m, frame, node, cause)
    at = flow_at(m, frame & FLOW_MASK)
    if is_ack(frame):
        m[at + FLOW_COUNTS + FlowOut.ACKS_LOST] += 1
    elif is_data(frame):
        m[at + FLOW_COUNTS + cause] += 1
        if m[at + Flow.TCP] == 0 and frame >> PACKET_SHIFT >= m[at + FlowState.UNCOUNTED]:
            m[at + FLOW_COUNTS + FlowOut.LOST] += 1
