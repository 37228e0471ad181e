"""The TCP of a flow that may differ from the scenario's transport, and what kind of TCP it is."""

from collections.abc import Iterable
from typing import Any

from netcarlo.kernels.senders import ALONE, KINDS, NUMBERS, UDP, WITH_FLUID
from netcarlo.transport.answers import Answers
from netcarlo.transport.congestion import BUILT_IN
from netcarlo.transport.tcp import Linux, Sctp, Tcp, Vegas

TCPS = tuple(name for name in KINDS if NUMBERS[name] != UDP)
"""TCPs of ns-2 that flows of one network can be."""

FLUID_TCPS = tuple(name for name in TCPS if name in WITH_FLUID)
"""TCPs of ns-2 of which there are fluid models and formulae in every kind of network."""


def number(tcp: Answers) -> int:
    """Return the number of a TCP in mixtures, see `kernels.senders`."""
    return NUMBERS.get(tcp.kind, ALONE)


def tcp_of(transport: Any, flow: Any) -> Any:
    """The TCP of a flow: its protocol (or that congestion control on the loss recovery of sack) with all that
    is written of another `transport`, as far as it has that; without a name, or with its own, that transport
    itself.
    """
    protocol, control = flow.protocol, getattr(flow, "congestion_control", None)
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
    written -= set(getattr(record, "not_told", ()))
    common = written & set(record.model_fields) if isinstance(transport, Tcp) else set()
    return record.check({**transport.model_dump(mode="json", include=common), **names})


def kinds(flows: Iterable[Any], transport: Any) -> dict[str, Tcp | Sctp]:
    """The kinds of TCP, or SCTP, that these flows can be."""
    different = {
        (flow.protocol, getattr(flow, "congestion_control", None)): flow for flow in flows if flow.udp is None
    }
    tcps = [tcp_of(transport, flow) for flow in different.values()]
    return {tcp.kind: tcp for tcp in tcps if isinstance(tcp, Tcp | Sctp)}


def own_association(tcps: Iterable[Any]) -> str:
    """Return the congestion control in the address of a mixture of these TCPs, see `Answers`."""
    return next((tcp.own_association for tcp in tcps if tcp.own_association), "")


def of_own(kind: str) -> str:
    """Return how a user's control of this kind is written beside other TCPs; empty for other kinds."""
    remedy = "; for a control of your own write protocol: linux, and let it return a window and a rate"
    return remedy if kind.endswith(".py") else ""
