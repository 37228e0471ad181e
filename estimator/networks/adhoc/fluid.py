"""Transports that the fluid model of ad hoc networks knows."""

from typing import Any

from netcarlo.kernels.senders import WITH_FLUID


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
