"""Table of senders of flows, and lists that follow from it.

A congestion control is a file in `congestion/` (for today's Linux in `linux/`) and a line here. A TCP variant
is a file in `tcp/` and a line here. Both are then available in every kind of network, and, with a number,
among heterogeneous flows. A transport is a folder with a module `endpoint` and a line here.
"""

from typing import NamedTuple


class Sender(NamedTuple):
    """A kind of flow."""

    name: str
    """Name in outcomes, in messages and of classes of flows."""
    dialect: str
    """Implementation: the folder with its association, or ns2 or linux26, which are both in `tcp/`."""
    recovery: str = ""
    """Loss recovery, a module of `tcp/`."""
    control: str = ""
    """Congestion control, a module of `congestion/`, or of `linux/` for today's Linux."""
    number: int | None = None
    """Number among heterogeneous flows; None if they cannot include it. It never changes; new ones
    increase."""
    handshake: bool = True
    """True if a SYN is sent before the data, which then begin with packet 1."""
    sack: bool = False
    """True if ACKs carry SACK blocks."""
    fluid: str = ""
    """Sender whose window the fluid models use; empty if there is no fluid model.

    Among heterogeneous flows it is the sender itself or `sack` (additive increase, multiplicative decrease).
    """
    alone: bool = False
    """True if there is a fluid model only of a flow that is alone on a path between fixed hosts."""
    takes_controls: bool = True
    """True if other congestion controls can replace its own."""
    network: str = ""
    """Only kind of network that gives this sender the signals it needs; empty if all do."""
    linux26: str = ""
    """Module of the congestion control for linux26, if it differs."""
    slow_start: bool = False
    """Today's Linux: True if slow start may end before a loss (HyStart)."""


SENDERS = (
    Sender("tahoe", "ns2", "tahoe", "aimd", 1, fluid="tahoe"),
    Sender("reno", "ns2", "reno", "aimd", 2, fluid="reno"),
    Sender("newreno", "ns2", "newreno", "aimd", 3, fluid="newreno"),
    Sender("sack", "ns2", "sack", "aimd", 4, sack=True, fluid="sack"),
    Sender("bic", "ns2", "sack", "bic", 6, sack=True, fluid="bic"),
    Sender("cubic", "ns2", "sack", "cubic", 7, sack=True, fluid="cubic"),
    Sender("westwood", "ns2", "sack", "westwood", 8, sack=True, fluid="westwood", linux26="linux_westwood"),
    Sender("vegas", "ns2", "vegas", "aimd", 5, handshake=False, fluid="vegas", takes_controls=False),
    Sender("linux_reno", "linux", "", "reno", 10, sack=True, fluid="linux_reno", slow_start=True),
    Sender("linux_cubic", "linux", "", "cubic", 11, sack=True, fluid="linux_cubic", slow_start=True),
    Sender("linux_bbr", "linux", control="bbr.control", number=12, sack=True, fluid="linux_bbr"),
    Sender(
        "linux_bbr3", "linux", control="bbr3.control", number=13, sack=True, fluid="linux_bbr3", alone=True
    ),
    Sender("linux_own", "linux", number=14, sack=True),
    Sender("linux26", "linux26", "linux26", "linux_reno", sack=True, fluid="sack"),
    Sender("probing", "ns2", "probing", "aimd", fluid="newreno"),
    Sender("new_probing", "ns2", "new_probing", "aimd", sack=True, fluid="sack"),
    Sender("elfn", "ns2", "elfn", "aimd", fluid="newreno", network="adhoc"),
    Sender("eln", "ns2", "eln", "aimd", fluid="newreno", network="adhoc"),
    Sender("sctp", "sctp", sack=True),
    Sender("mptcp", "mptcp", sack=True, network="path"),
    Sender("quic", "quic", sack=True),
    Sender("udp", "udp", number=0, handshake=False, fluid="udp"),
)
"""All senders. The order is that of lists in messages and in documentation."""

BY_NAME = {sender.name: sender for sender in SENDERS}
MIXABLE = sorted((sender for sender in SENDERS if sender.number is not None), key=lambda s: s.number or 0)
"""Senders for heterogeneous flows, by number."""
NAMES: dict[int, str] = {number: s.name for s in MIXABLE if (number := s.number) is not None}
NUMBERS: dict[str, int] = {name: number for number, name in NAMES.items()}

UDP, TAHOE, RENO, NEWRENO = (NUMBERS[name] for name in ("udp", "tahoe", "reno", "newreno"))
SACK, VEGAS, BIC, CUBIC, WESTWOOD = (NUMBERS[name] for name in ("sack", "vegas", "bic", "cubic", "westwood"))
"""Numbers of senders that kernels treat in a way that the table does not describe."""
ALONE = 9
"""Number of any sender that heterogeneous flows cannot include; all flows except UDP are then of
that sender."""

KINDS = tuple(sender.name for sender in MIXABLE if sender.dialect in ("udp", "ns2"))
"""UDP and the TCPs of ns-2 for heterogeneous flows, by number."""
OWN = "linux_own"
"""Name of today's Linux with the congestion control of a user's file."""
LINUX_OWN = NUMBERS[OWN]
LINUX_KINDS = tuple(sender.name for sender in MIXABLE if sender.dialect == "linux" and sender.name != OWN)
"""Today's Linux with each of its own congestion controls, by number."""
LINUX = tuple(number for number, name in NAMES.items() if BY_NAME[name].dialect == "linux")
"""Numbers of today's Linux with any congestion control."""
LINUX_RENO, LINUX_CUBIC, LINUX_BBR, LINUX_BBR3 = (
    NUMBERS[f"linux_{name}"] for name in ("reno", "cubic", "bbr", "bbr3")
)

WINDOWS = tuple(sender.name for sender in SENDERS if sender.dialect == "ns2" and sender.control != "aimd")
"""Congestion controls of ns-2 besides the standard one."""
OF_LINUX = tuple(name.removeprefix("linux_") for name in LINUX_KINDS)
"""Congestion controls of today's Linux."""
STANDING = tuple(s for s in SENDERS if s.dialect == "ns2" and s.name == s.recovery)
"""TCPs of ns-2, by loss recovery."""
SCHEMES = tuple(s.name for s in STANDING if s.takes_controls and s.number is not None)
"""Senders for heterogeneous flows that accept any congestion control."""
PROBING = tuple(s.name for s in STANDING if s.number is None and not s.network)
"""Senders that send probe segments."""
NOTIFIED = tuple(s.name for s in STANDING if s.network)
"""Senders that need signals of one kind of network only: broken routes, corruption."""
WITH_FLUID = tuple(sender.name for sender in SENDERS if sender.fluid and sender.dialect != "linux")
"""Senders, without today's Linux, whose window a fluid model has, at least in ad hoc networks."""
_LINUX_FLUID = [sender for sender in SENDERS if sender.fluid and sender.dialect == "linux"]
LINUX_FLUID = tuple(sender.name for sender in _LINUX_FLUID if not sender.alone)
"""Today's Linux with fluid models of paths, shared links and 802.11, by congestion control."""
LINUX_FLUID_ALONE = tuple(sender.name for sender in _LINUX_FLUID if sender.alone)
"""Today's Linux with a fluid model of paths only."""


def named(protocol: str, control: str) -> Sender:
    """Return the sender of a protocol with a congestion control; "" is its own one."""
    return BY_NAME[f"linux_{control}" if protocol == "linux" else control or protocol]


def protocol(sender: Sender) -> str:
    """Return the value of the field `protocol` for a sender; a congestion control may accompany it."""
    if sender.dialect == "linux":
        return "linux"
    return sender.recovery if sender.dialect == "ns2" else sender.name


FOLDERS = {
    protocol(sender): "tcp" if sender.dialect in ("ns2", "linux26") else sender.dialect for sender in SENDERS
}
"""Folder of the kernels whose `endpoint` is that of a protocol."""


def control_of(protocol: str, control: str) -> str:
    """Return the module of a congestion control with a protocol, within `netcarlo.kernels`; "" is its own."""
    if protocol == "linux":
        return f"linux.{named(protocol, control).control}"
    sender = named(protocol, control)
    special = sender.linux26 if protocol == "linux26" else ""
    return f"congestion.{special or sender.control}"
