"""Address of a model: the fields that identify it."""

from typing import NamedTuple

_ENGINES = {"path": "tcp", "wireless": "wifi", "adhoc": "manet"}
"""Names of kinds of networks in the names of models, if different."""


class Address(NamedTuple):
    """Address of a model."""

    family: str
    """Kind of network: path, wireless, adhoc, shared."""
    sender: str
    """Transport; `mixed` for heterogeneous flows of shared and 802.11 networks."""
    control: str = ""
    """Congestion control, if it is not the sender's own."""
    mobile: bool = False
    """True if the receiver is a mobile host."""
    fluid: bool = False
    """True for a fluid model."""
    aqm: bool = False
    """Shared networks: True if links may have active queue management other than RED."""
    arrivals: bool = False
    """True if flows arrive and depart."""
    varying: bool = False
    """True for time-varying networks.

    Hops and links may have a trace, jitter or a policer; the gateway of an 802.11 network may fail.
    """
    messages: bool = False
    """Paths: True if the application writes messages and pauses."""
    autotuning: bool = False
    """Paths: True if the receive window is autotuned."""
    traced: bool = False
    """Shared networks: True if a trace is written."""
    delays: bool = False
    """True if delays of classes of flows are measured."""
    edca: bool = False
    """802.11: True for EDCA with A-MPDU and Block Ack (802.11n, ac, ax), False for the DCF (a, b, g)."""
    reordering: bool = False
    """Paths: True if hops may be time-varying and may also reorder packets."""
    large: bool = False
    """Ad hoc networks: True for more than 64 nodes."""
    migration: bool = False
    """Paths: True for QUIC over two paths."""

    @property
    def engine(self) -> str:
        """Name of the kind of network in the names of models."""
        return _ENGINES.get(self.family, self.family)

    @property
    def name(self) -> str:
        """Name of the model in messages and files."""
        if self.fluid:
            of = self.control or self.sender
            if self.control and self.sender in ("linux", "linux26", "mptcp"):
                of = f"{self.sender}_{of}"
            if self.family != "path":
                of = f"manet_{of}" if self.family == "adhoc" else _ENGINES.get(self.family, "")
            return "_".join(["fluid", *([of] if of else []), *self._endings])
        if self.family == "path" and self.sender in ("sctp", "quic", "udp", "mptcp"):
            return "_".join([self.sender, *([self.control] if self.control else []), *self._endings])
        kind = self.control or self.sender
        if self.control and (self.family, self.sender) != ("shared", "sack"):
            kind = f"{self.sender}_{self.control}"
        return "_".join([self.engine, kind, *self._endings])

    @property
    def _endings(self) -> list[str]:
        endings = {
            "mobile": self.mobile, "aqm": self.aqm, "arrivals": self.arrivals, "varying": self.varying,
            "messages": self.messages, "tuned": self.autotuning, "delays": self.delays, "traced": self.traced,
            "edca": self.edca, "reordering": self.reordering, "large": self.large,
            "migration": self.migration,
        }  # fmt: skip
        return [name for name, there in endings.items() if there]
