"""Sender of a flow, which may differ from the scenario's transport, and its sender type."""

from collections.abc import Iterable
from typing import Any

from netcarlo.kernels.senders import ALONE, KINDS, LINUX_FLUID, NUMBERS, OWN, UDP, WITH_FLUID
from netcarlo.transport.capabilities import Capabilities
from netcarlo.transport.congestion import BUILT_IN
from netcarlo.transport.linux import Linux
from netcarlo.transport.quic import Quic
from netcarlo.transport.sctp import Sctp
from netcarlo.transport.tcp import Tcp, Vegas

TCPS = tuple(name for name in KINDS if NUMBERS[name] != UDP)
"""TCPs of ns-2 that can be mixed in one network."""

FLUID_TCPS = tuple(name for name in TCPS if name in WITH_FLUID)
"""TCPs of ns-2 with fluid models and formulae in every kind of network."""

FLUID_KINDS = (*FLUID_TCPS, *LINUX_FLUID)
"""TCPs with fluid models of paths, shared links and 802.11, today's Linux included."""


def number(tcp: Capabilities) -> int:
    """Return the number of a sender type in networks with heterogeneous flows, see `kernels.senders`."""
    return NUMBERS.get(tcp.kind, ALONE)


def sender_of(transport: Any, flow: Any) -> Any:
    """Return the record of the sender of a flow: its own UDP or TCP, or the scenario's `transport`.

    A TCP of the flow's own takes every field given in `transport` that it has. A protocol that is a
    congestion control means sack with that control. The single flow of a network is described by the
    transport itself.
    """
    if flow is transport:
        return transport
    if flow.udp is not None:
        return flow.udp
    protocol, control = flow.protocol, flow.congestion_control
    if isinstance(transport, Linux) and protocol in (None, "linux"):
        return transport if control is None else transport.model_copy(update={"congestion_control": control})
    if protocol is None or (isinstance(transport, Tcp) and protocol == transport.kind):
        return transport
    records: dict[str, type[Tcp]] = {"vegas": Vegas, "linux": Linux}
    record = records.get(protocol, Tcp)
    names: dict[str, Any] = {"protocol": protocol}
    if protocol in BUILT_IN:
        names = {"protocol": "sack", "congestion_control": protocol}
    elif control is not None:
        names["congestion_control"] = control
    written = transport.model_fields_set - {"protocol", "congestion_control", "constants"}
    written -= set(getattr(record, "not_applicable", ()))
    common = written & set(record.model_fields) if isinstance(transport, Tcp) else set()
    return record.check({**transport.model_dump(mode="json", include=common), **names})


def kinds(flows: Iterable[Any], transport: Any) -> dict[str, Tcp | Sctp | Quic]:
    """Return the TCP, SCTP or QUIC records of these flows by sender type."""
    different = {(flow.protocol, flow.congestion_control): flow for flow in flows if flow.udp is None}
    senders = [sender_of(transport, flow) for flow in different.values()]
    return {sender.kind: sender for sender in senders if not sender.datagrams}


def own_association(tcps: Iterable[Any]) -> str:
    """Return the congestion control in the address of a model with these TCPs, see `Capabilities`."""
    return next((tcp.own_association for tcp in tcps if tcp.own_association), "")


def not_mixed(kinds: Iterable[str], where: str, *, own: bool = True) -> str:
    """Return why one of these sender types cannot be combined with others, and which can; empty if all can.

    `where` describes the place. With `own` false, users' congestion controls are excluded as well.
    """
    wrong = sorted(set(kinds) - {name for name in NUMBERS if own or name != OWN})
    if not wrong:
        return ""
    text = f"transport cannot be {wrong[0]} {where}; expected one of {', '.join(TCPS)}, linux"
    remedy = "; for your own congestion control write protocol: linux, and return a window and a rate"
    return text + remedy if own and wrong[0].endswith(".py") else text
