"""802.11 networks that the fluid model supports."""

from typing import Any

from netcarlo.networks.wireless.description import Wireless
from netcarlo.transport.kinds import FLUID_KINDS


def unknown(wireless: Wireless, transport: Any) -> str:
    """Return the feature of a network that the fluid model lacks; empty if there is none."""
    if transport.protocol == "sctp":
        if text := _unknown_with_sctp(wireless, transport):
            return text
    elif not transport.datagrams and transport.kind not in FLUID_KINDS:
        known = f"{', '.join(FLUID_KINDS)}, sctp, udp"
        return f"the fluid model does not support {transport.kind}; it supports {known}"
    if wireless.has_edca:
        return _unknown_with_edca(wireless)
    if wireless.rate_control == "aarf":
        return "the fluid model supports fixed rates and arf, but rate_control is aarf"
    if wireless.rate_control == "arf" and not transport.datagrams:
        return f"the fluid model supports arf with udp only, not with {transport.protocol}"
    return ""


def _unknown_with_sctp(wireless: Wireless, transport: Any) -> str:
    """Return the feature of a network or of SCTP that the fluid model lacks; empty if there is none."""
    if wireless.cell is None:
        why = "in meshes it was 7 to 13 % above packets, and the cause is not known"
        return f"the fluid model supports sctp only in a cell, not in other 802.11 networks: {why}"
    return str(transport.unknown_to_fluid(("sctp",)))


def _unknown_with_edca(wireless: Wireless) -> str:
    """Return the feature of a network with EDCA that the fluid model lacks; empty if there is none."""
    standard = wireless.standard
    if wireless.cell is None:
        return (
            f"the fluid model of {standard} supports only a cell, because relays share PPDUs of other flows"
        )
    for field in ("reach", "ranges", "path_loss"):
        if getattr(wireless, field) is not None:
            return f"the fluid model of {standard} does not support hidden stations (wireless.{field})"
    if wireless.rate_control != "fixed":
        why = "the rate follows the losses of single MPDUs"
        return f"the fluid model of {standard} supports only fixed rates: with {wireless.rate_control} {why}"
    if wireless.scheduler not in (None, "fifo"):
        why = "it serves packets in the order of arrival"
        return f"the fluid model of {standard} does not support scheduler: {wireless.scheduler}; {why}"
    if wireless.fq_codel is not None:
        return f"the fluid model of {standard} does not support fq_codel, whose delay limits the windows"
    if any(flow.saturated for _, flow in wireless.described()):
        return "the fluid model does not support saturated flows, which have no rate; write a high rate"
    return ""
