"""Which model is meant: the fields by which `models` knows it."""

from typing import NamedTuple

_ENGINES = {"path": "tcp", "wireless": "wifi", "adhoc": "manet"}
"""Of kinds of networks that have another word in the names of models."""


class Address(NamedTuple):
    """A model by what it simulates."""

    family: str
    """The kind of network: path, wireless, adhoc, shared."""
    sender: str
    """The transport; of shared networks `mixed` is any of them in each flow."""
    control: str = ""
    """The congestion control where that is not the sender's own."""
    mobile: bool = False
    """Whether the receiver is a mobile host."""
    fluid: bool = False
    """Whether a fluid stands for its packets."""
    aqm: bool = False
    """Of shared networks: whether links may have active queue management beside RED."""
    arrivals: bool = False
    """Whether flows come and go."""
    varying: bool = False
    """Of paths and shared networks: whether hops or links may follow a trace, jitter packets or police; of
    802.11 networks: whether the gateway may go down."""
    messages: bool = False
    """Of paths: whether the application writes messages, and pauses."""
    autotuning: bool = False
    """Of paths: whether the receiver's window grows with what is read."""
    traced: bool = False
    """Of shared networks: whether a trace is written."""
    delays: bool = False
    """Whether delays of classes of flows are measured."""
    reordering: bool = False
    """Of paths: whether hops may besides let packets overtake each other."""

    @property
    def engine(self) -> str:
        """What the names of models call its kind of network."""
        return _ENGINES.get(self.family, self.family)

    @property
    def name(self) -> str:
        """The name of the model in messages and files."""
        if self.fluid:
            mobile = "_mobile" if self.mobile else ""
            of = self.control or self.sender
            if self.family != "path":
                of = f"manet_{of}" if self.family == "adhoc" else _ENGINES.get(self.family, "")
            return (f"fluid_{of}{mobile}" if of else "fluid") + ("_delays" if self.delays else "")
        if self.family == "path" and self.sender in ("sctp", "udp"):
            return "_".join([self.sender, *self._endings])
        kind = self.control or self.sender
        if self.control and (self.family, self.sender) != ("shared", "sack"):
            kind = f"{self.sender}_{self.control}"
        return "_".join([self.engine, kind, *self._endings])

    @property
    def _endings(self) -> list[str]:
        endings = {
            "mobile": self.mobile, "aqm": self.aqm, "arrivals": self.arrivals, "varying": self.varying,
            "messages": self.messages, "tuned": self.autotuning, "delays": self.delays, "traced": self.traced,
            "reordering": self.reordering,
        }  # fmt: skip
        return [name for name, there in endings.items() if there]
