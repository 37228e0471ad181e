"""Capabilities of a transport: networks that it supports, options of its kernel model, and invalid values.

The defaults are those of a transport without an association. A new transport overrides what differs.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from netcarlo.errors import suggest
from netcarlo.kernels.senders import NOTIFIED, PROBING, SCHEMES, SENDERS, WINDOWS, WITH_FLUID
from netcarlo.kernels.senders import protocol as protocol_of
from netcarlo.kernels.space import protocols
from netcarlo.schema import unsupported
from netcarlo.schema.readable import quantity
from netcarlo.transport.spelling import spelt

TCPS = (*SCHEMES, *PROBING, *NOTIFIED)
"""TCPs of ns-2, named by their loss recovery; each accepts every congestion control of ns-2."""

PROTOCOLS = tuple(dict.fromkeys((*TCPS, *WINDOWS, *map(protocol_of, SENDERS))))
"""All protocols. A congestion control of ns-2 is short for `sack` with that control."""


class NetworkKind(Protocol):
    """Properties of a kind of network that a transport needs."""

    key: ClassVar[str]
    """Field of the network in a scenario."""
    family: ClassVar[str]
    """Name of the network in the kernels."""
    of_hosts: ClassVar[tuple[str, ...]]
    """Fields of transports about applications and receivers that the network supports."""


def allowed(network: type[NetworkKind] | NetworkKind) -> tuple[str, ...]:
    """Return the protocols that a kind of network supports."""
    return protocols(network.family)


def refused(protocol: str, network: type[NetworkKind] | NetworkKind) -> str:
    """Return why a protocol cannot be used with a kind of network, and which can; empty if it can."""
    known = allowed(network)
    if protocol in known:
        return ""
    some = f"supported with {network.key}: {', '.join(known)}"
    if protocol in PROTOCOLS:
        return f"is not supported; {some}"
    if found := unsupported.known(protocol):
        longer = {"linux": "linux (CUBIC, BBR)"}
        names = ", ".join(longer.get(name, name) for name in known)
        return f"is not supported: {found.what}; {found.remedy}. Supported with {network.key}: {names}"
    remedy = suggest(protocol, known)
    return f"is an unknown protocol; {some if remedy.startswith('known') else f'{remedy} S{some[1:]}'}"


class Capabilities:
    """Base class of the transports of a scenario."""

    if TYPE_CHECKING:
        protocol: Any

    rtt: ClassVar[str] = ""
    """Meaning of the RTT that its sender holds, for the reference; empty if it measures none."""
    datagrams: ClassVar[bool] = False
    """True for UDP: datagrams are sent on a schedule, without acknowledgements and retransmissions."""
    two_paths: ClassVar[bool] = False
    """True if the transport can use a second path."""
    subflows: ClassVar[bool] = False
    """True if it has a subflow per path (MPTCP)."""
    migrates: ClassVar[bool] = False
    """True if it uses one path at a time and moves to the other one (QUIC)."""
    marked: ClassVar[bool] = False
    """True if routers can mark its packets (ECN) on paths."""
    reads_late: ClassVar[bool] = False
    """True if its receiver can delay acknowledgements until the application has read the data."""
    own_association: ClassVar[str] = ""
    """Congestion control in the address of a model with heterogeneous flows that includes this
    association."""
    stamped: ClassVar[bool] = False
    """True if each transmission of a packet has a timestamp, which leaves fewer bits for packet numbers."""
    captured: ClassVar[bool] = True
    """False if its packets cannot be written as a capture (pcapng)."""
    queues_measured: ClassVar[bool] = False
    """True if its models of paths to fixed hosts measure queueing delay."""
    not_of_flows: ClassVar[Mapping[str, str]] = {}
    """Fields of flows of shared links that it does not support, each with the reason and the remedy."""

    def supports(self, network: type[NetworkKind] | NetworkKind) -> str:
        """Return why the transport cannot be used with a kind of network, and which can; empty if it can."""
        text = refused(str(self.protocol), network)
        return f"transport.protocol = {self.protocol} {text}" if text else ""

    @property
    def control(self) -> str:
        """Congestion control in the address of its model: a name or the path of a file; "" for the
        protocol's own."""
        return ""

    @property
    def own_control(self) -> Path | None:
        """File of the user's congestion control; None if there is none."""
        return None

    @property
    def kind(self) -> str:
        """Name of its flows in outcomes: the congestion control if that is not the standard one, else the
        protocol."""
        return str(self.protocol)

    @property
    def compared_as(self) -> str:
        """Name of the protocol in the data of validated ranges."""
        return self.kind

    @property
    def biased_as(self) -> str:
        """Name of the protocol in the data of measured bias."""
        return self.kind

    @property
    def title(self) -> str:
        """Name of its senders in text: `NewReno`, `Linux CUBIC`, `SCTP`."""
        name, control = str(self.protocol), self.given("congestion_control")
        if control is None:
            return spelt(name)
        if name == "sack":
            return spelt(control)
        return (
            f"{spelt(name)} {spelt(control)}" if name == "linux" else f"{spelt(name)} with {spelt(control)}"
        )

    @property
    def traffic(self) -> str:
        """Senders of the scenario with their load in text: `UDP at 1 Mbit/s`, `NewReno transfer of 1 MB`."""
        text = self.title
        for field, unit in (("bytes", "B"), ("packets", "packets")):
            if self.given(field) is not None:
                text += f" transfer of {quantity(self.given(field), unit)}"
        if self.given("rate") is not None:
            text += f" at {quantity(self.given('rate'), 'bit/s')}"
        if self.given("messages") is not None:
            text += f" with messages of {quantity(self.given('messages').size, 'B')}"
        return text

    @property
    def growth(self) -> str:
        """Name of the algorithm that grows its window: the congestion control, or the protocol itself."""
        return self.control or str(self.protocol)

    @property
    def only_packets(self) -> str:
        """Congestion control that fluid models and formulae do not support with it; empty if they do."""
        if self.protocol == "linux26" and self.control == "westwood":
            return self.control
        return "" if self.protocol in ("sack", "linux26") and self.control in WITH_FLUID else self.control

    def unknown_to_fluid(self, known: Sequence[str], model: str = "the fluid model") -> str:
        """Return what a fluid model that supports the protocols `known` lacks for this transport; empty if
        nothing."""
        if self.protocol not in known:
            return f"the fluid model does not support {self.protocol}; it supports {', '.join(known)}"
        control = self.only_packets
        if self.protocol == "linux26" and control == "westwood":
            return "the fluid of linux26 with westwood is 10 % below packets in the median"
        of = "sack and linux26" if "linux26" in known else "sack"
        return f"{model} supports congestion controls of {of} only, not {control}" if control else ""

    def unknown_to_formula(self, known: Sequence[str]) -> str:
        """Return what the formulae, which support the protocols `known`, lack for this transport; empty if
        nothing."""
        if self.protocol not in known:
            return f"the formulae do not support {self.protocol}"
        control = f"{self.only_packets} of {self.protocol}" if self.only_packets else ""
        return f"the formulae support congestion controls of sack only, not {control}" if control else ""

    @property
    def receiver_bytes(self) -> Any:
        """Size of the receive buffer [byte], possibly a distribution; None if windows count packets."""
        return None

    def buffered(self, low: float, high: float) -> tuple[float, float] | None:
        """Return the minimum and maximum number of packets in that buffer, for payloads from `low` to
        `high` [byte]."""
        return None

    def given(self, field: str) -> Any:
        """Return the value of a field that only some transports have; None for others."""
        return getattr(self, field, None)

    def short_form(self) -> dict[str, Any]:
        """Return the fields that differ if the transport is written in its short form, None for those left
        out."""
        return {}

    def all_constants(self) -> dict[str, Any]:
        """Return the constants of the user's congestion control in the order of its file."""
        return {}

    def refuses(self, payload: Any) -> str:
        """Return why packets with this payload cannot be sent, with the remedy; empty if they can."""
        return ""
