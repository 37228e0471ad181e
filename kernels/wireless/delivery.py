"""Delivery of a frame after a hop, and notification of sources that wait for room in a queue."""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.forwarding import to_leg, to_queue
from netcarlo.kernels.wireless.frame import BACKWARD, FLOW_BITS, FLOW_MASK, HOP_MASK, ONE_HOP
from netcarlo.kernels.wireless.layout import NOBODY, Flow, Radio
from netcarlo.kernels.wireless.state import flow_at

hosts: Any = slot("hosts")
senders: Any = slot("senders")


@noinline
def forward(m: Any, f: Any, constants: Any, t: Any, frame: Any) -> None:
    """Forward a frame that has crossed a link: to the next link, to the leg after the radio, or to its end
    host."""
    frame += ONE_HOP
    at = flow_at(m, frame & FLOW_MASK)
    backward = frame & BACKWARD
    if frame >> FLOW_BITS & HOP_MASK < (m[at + Flow.BACK] if backward else m[at + Flow.FORTH]):
        to_queue(m, t, frame)
    else:
        leg = m[at + Flow.ACK_AFTER] if backward else m[at + Flow.AFTER]
        if leg != NOBODY:
            to_leg(m, leg, t, frame)
        else:
            hosts.arrive(m, frame & FLOW_MASK, f, constants, t, frame, False)


@noinline
def on_room(m: Any, f: Any, constants: Any, t: Any, node: Any) -> None:
    """Let sources continue that wait for room in the queue of a node, which a frame has left."""
    for flow in range(m[Radio.FLOWS]):
        at = flow_at(m, flow)
        if m[at + Flow.TCP] != 0 and m[at + Flow.BEFORE] == NOBODY:
            senders.on_room(m, flow, f, constants, t, node)
