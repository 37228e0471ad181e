"""What the fluid model of 802.11 networks knows, and what it writes."""

from typing import Any

from netcarlo.kernels.senders import WITH_FLUID
from netcarlo.kernels.wireless.layout import FlowOut, NodeOut
from netcarlo.networks.wireless.description import Wireless
from netcarlo.transport.kinds import FLUID_TCPS

NO_TIME = (FlowOut.FIRST_RX, FlowOut.LAST_RX, FlowOut.SOURCE_DONE, FlowOut.DELAY_SUM)
"""Times of a flow that it does not know."""

NO_FLOW = (
    *(FlowOut.RETRANSMITTED, FlowOut.TIMEOUTS, FlowOut.FAST_RETRANSMITS, FlowOut.CWND_CUTS),
    *(FlowOut.ACKS_LOST, FlowOut.IN_FLIGHT, FlowOut.IN_FLIGHT_BEFORE, FlowOut.BEST),
    *range(FlowOut.DELAYS, FlowOut.COLUMNS),
)
"""What it does not know of a flow beside these."""

NO_NODE = (
    *(NodeOut.RECEIVED, NodeOut.DUPLICATES, NodeOut.COLLIDED, NodeOut.NOISE, NodeOut.AIR_FAILED),
    *(NodeOut.AIR_CONTROL, NodeOut.BUSY, NodeOut.QUEUE_SUM, NodeOut.QUEUE_MOST),
    *(NodeOut.IN_QUEUE, NodeOut.IN_QUEUE_BEFORE),
)
"""What it does not know of a node."""


KNOWN = tuple(name for name in WITH_FLUID if name in FLUID_TCPS)
"""TCPs that it knows."""


def unknown(wireless: Wireless, transport: Any) -> str:
    """What it does not know of a network; empty if nothing."""
    if not transport.datagrams and transport.protocol not in KNOWN:
        return f"there is no fluid model of {transport.protocol}, but of {', '.join(KNOWN)} and udp"
    if wireless.rate_control == "aarf":
        return "the fluid model has fixed rates and ARF, and rate_control is aarf"
    if wireless.rate_control == "arf" and not transport.datagrams:
        return f"the fluid model has ARF with udp only, and not with {transport.protocol}"
    return ""
