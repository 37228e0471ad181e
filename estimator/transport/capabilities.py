"""Answers of a transport to networks: which of them it goes over, options of its model, what it refuses.

The defaults are those of a transport without an association. A new transport overrides what differs.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from netcarlo.errors import suggest
from netcarlo.kernels.senders import NOTIFIED, PROBING, SCHEMES, WINDOWS, WITH_FLUID
from netcarlo.kernels.space import protocols
from netcarlo.schema import unsupported

TCPS = (*SCHEMES, *PROBING, *NOTIFIED)
"""TCPs of ns-2 by their loss recovery, with every congestion control."""

PROTOCOLS = (*TCPS, *WINDOWS, "vegas", "linux", "linux26", "sctp", "udp")
"""All protocols; a congestion control of ns-2 is sack with that control."""


class NetworkKind(Protocol):
    """What a transport asks a network."""

    key: ClassVar[str]
    """Its field of a scenario."""
    family: ClassVar[str]
    """Its name in the kernels."""
    of_hosts: ClassVar[tuple[str, ...]]
    """Fields about applications and receivers that it knows."""


def allowed(network: type[NetworkKind] | NetworkKind) -> tuple[str, ...]:
    """Return the protocols that go over a kind of network."""
    return protocols(network.family)


def refused(protocol: str, network: type[NetworkKind] | NetworkKind) -> str:
    """Return what is wrong with a protocol over a kind of network, and what is allowed; empty if nothing."""
    known = allowed(network)
    if protocol in known:
        return ""
    some = f"allowed with {network.key} is {', '.join(known)}"
    if protocol in PROTOCOLS:
        return f"is not for {network.key}; {some}"
    if found := unsupported.known(protocol):
        longer = {"linux": "linux (CUBIC, BBR)"}
        names = ", ".join(longer.get(name, name) for name in known)
        return f"is not supported: {found.what}; {found.remedy}. Supported with {network.key}: {names}"
    remedy = suggest(protocol, known)
    return f"is an unknown protocol; {some if remedy.startswith('known') else f'{remedy} {some}'}"


class Capabilities:
    """Base of the transports of a scenario."""

    if TYPE_CHECKING:
        protocol: Any

    datagrams: ClassVar[bool] = False
    """True if it sends at times of its own, and nobody acknowledges or retransmits its packets (UDP)."""
    two_paths: ClassVar[bool] = False
    """True if it uses a second path."""
    marked: ClassVar[bool] = False
    """True if routers may mark its packets (ECN) on paths."""
    reads_late: ClassVar[bool] = False
    """True if its receiver can wait for the application before it answers."""
    own_association: ClassVar[str] = ""
    """Congestion control in the address of a mixture of the model that has this association."""
    stamped: ClassVar[bool] = False
    """True if each copy of a packet has a timestamp, which leaves less room for packet numbers."""
    queues_measured: ClassVar[bool] = False
    """True if its models of paths to fixed hosts measure how long packets are held in queues."""
    not_of_flows: ClassVar[Mapping[str, str]] = {}
    """Fields of flows of shared links that are not for it, each with what is wrong and the remedy."""

    def supports(self, network: type[NetworkKind] | NetworkKind) -> str:
        """Return why it does not go over a kind of network, and what is allowed; empty if it does."""
        text = refused(str(self.protocol), network)
        return f"transport.protocol = {self.protocol} {text}" if text else ""

    @property
    def control(self) -> str:
        """Congestion control in the address of its model: a name or the path of a file; "" for its own."""
        return ""

    @property
    def own_control(self) -> Path | None:
        """The user's file with its congestion control, if it has one."""
        return None

    @property
    def kind(self) -> str:
        """Name of its flows in outcomes: its congestion control where that is not the standard one."""
        return str(self.protocol)

    @property
    def growth(self) -> str:
        """Name of what makes its window grow: its congestion control, or the protocol itself."""
        return self.control or str(self.protocol)

    @property
    def only_packets(self) -> str:
        """Congestion control that fluid models and formulae do not know with it; empty if they do."""
        return "" if self.protocol == "sack" and self.control in WITH_FLUID else self.control

    def unknown_to_fluid(self, known: Sequence[str], model: str = "the fluid model") -> str:
        """Return what a fluid model, which has these protocols, does not know of it; empty if nothing."""
        if self.protocol not in known:
            return f"there is no fluid model of {self.protocol}, but of {', '.join(known)}"
        control = self.only_packets
        return f"{model} knows the congestion controls of sack only, and not {control}" if control else ""

    @property
    def receiver_bytes(self) -> Any:
        """Size of the receiver's buffer [byte], drawn or not; None where windows are counted in packets."""
        return None

    def buffered(self, low: float, high: float) -> tuple[float, float] | None:
        """Return the least and most packets in that buffer, of payloads from `low` to `high` [byte]."""
        return None

    def given(self, field: str) -> Any:
        """Return the value of a field that only some transports have; None where there is none."""
        return getattr(self, field, None)

    def all_constants(self) -> dict[str, Any]:
        """Return the constants of the user's congestion control in the order of its file."""
        return {}

    def refuses(self, payload: Any) -> str:
        """Return what is wrong with packets of this payload, with the remedy; empty if nothing is."""
        return ""
