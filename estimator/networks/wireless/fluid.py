"""802.11 networks that the fluid model supports."""

from typing import Any

from netcarlo.kernels.senders import WITH_FLUID
from netcarlo.networks.wireless.description import Wireless
from netcarlo.transport.kinds import FLUID_TCPS

KNOWN = tuple(name for name in WITH_FLUID if name in FLUID_TCPS)
"""TCPs that the fluid model supports."""


def unknown(wireless: Wireless, transport: Any) -> str:
    """Return the feature of a network that the fluid model lacks; empty if there is none."""
    if wireless.has_edca:
        return f"the fluid model does not support {wireless.standard}; it supports 802.11a, b and g"
    if not transport.datagrams and transport.protocol not in KNOWN:
        return f"the fluid model does not support {transport.protocol}; it supports {', '.join(KNOWN)}, udp"
    if wireless.rate_control == "aarf":
        return "the fluid model supports fixed rates and arf, but rate_control is aarf"
    if wireless.rate_control == "arf" and not transport.datagrams:
        return f"the fluid model supports arf with udp only, not with {transport.protocol}"
    return ""
