"""What the fluid model of ad hoc networks knows, and what it writes."""

from typing import Any

from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.senders import WITH_FLUID

NO_TIME = (ManetOut.FIRST_RX, ManetOut.LAST_RX)
"""Times that it does not know."""

NO_COUNT = (
    *(ManetOut.EXCHANGES, ManetOut.HANDSHAKES, ManetOut.ACKS_SENT, ManetOut.ACK_DROPS, ManetOut.IN_FLIGHT),
    *(ManetOut.BREAKS, ManetOut.DISCOVERIES, ManetOut.ROUTING_FRAMES, ManetOut.ROUTE_ERRORS),
    *(ManetOut.SALVAGED, ManetOut.SHORTENED),
)
"""What it does not count, beside all of the nodes: their radios, and so energy."""


def unknown(transport: Any) -> str:
    """What it does not know of a transport; empty if nothing."""
    known = WITH_FLUID
    if transport.protocol not in known:
        return f"there is no fluid model of {transport.protocol}, but of {', '.join(known)}"
    if control := transport.only_packets:
        return f"the fluid model knows the congestion controls of sack only, and not {control}"
    if transport.given("send_buffer"):
        return "the fluid model has no send_buffer"
    return ""
