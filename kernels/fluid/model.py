"""Fluid models of each kind of network."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from netcarlo.kernels.adhoc import size
from netcarlo.kernels.adhoc.engine import outcomes as outcomes_of_adhoc
from netcarlo.kernels.base import one_flow
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import UNFILLED, Slots, bind
from netcarlo.kernels.base.layout import Out, Subflows
from netcarlo.kernels.base.model import Model, failovers
from netcarlo.kernels.base.parameters import Block, LinuxP, MobileP, ReliableP, RowP, SctpP, TcpP, UdpP
from netcarlo.kernels.fluid import cost, datagrams, mptcp, path, quic, responses, sctp, shared
from netcarlo.kernels.fluid.adhoc import association, sender
from netcarlo.kernels.fluid.adhoc import datagrams as adhoc_datagrams
from netcarlo.kernels.fluid.adhoc import engine as adhoc
from netcarlo.kernels.fluid.wireless import engine as wireless
from netcarlo.kernels.path.subflows.engine import further_columns
from netcarlo.kernels.senders import ALONE, LINUX_RENO, NUMBERS, named
from netcarlo.kernels.shared.layout import outcomes as outcomes_of_shared
from netcarlo.kernels.wireless.engine import outcomes as outcomes_of_wireless

TCP: tuple[Block, ...] = RowP, ReliableP, TcpP
"""Blocks of parameters of TCP."""


@dataclass(frozen=True, kw_only=True)
class FluidPathSlots(Slots):
    """Slots of the fluid model of a path."""

    network: Any
    """Module of the network, see `round`."""
    kind: int
    """Number of the kind of TCP."""
    response: int
    """Reaction to losses, one of `responses.LossResponse`."""
    mobile: bool
    """True if the last hop is the radio link of a mobile host."""
    delays: bool
    """True if delays of data are measured."""


@dataclass(frozen=True, kw_only=True)
class FluidHostSlots(Slots):
    """Slots of the fluid models of SCTP and UDP over paths."""

    mobile: bool
    """True if the last hop is the radio link of a mobile host."""


@dataclass(frozen=True, kw_only=True)
class FluidFixedSlots(Slots):
    """Slots of the fluid models of QUIC and MPTCP, whose hosts are fixed."""

    network: Any
    """Module of the network, see `round`."""
    kind: int
    """Number of the variant of today's Linux TCP by which windows grow."""
    response: int = responses.LossResponse.PLAIN
    """PLAIN: losses are processed as by TCP."""
    mobile: bool = False
    """False: hosts are fixed."""


@dataclass(frozen=True, kw_only=True)
class FluidSharedSlots(Slots):
    """Slots of the fluid model of shared links."""

    aqm: bool
    """True if links may have CoDel or FQ-CoDel."""
    delays: bool
    """True if delays of classes of flows are measured."""


@dataclass(frozen=True, kw_only=True)
class FluidWifiSlots(Slots):
    """Slots of the fluid model of 802.11."""

    edca: bool
    """True for EDCA, False for the DCF."""


@dataclass(frozen=True, kw_only=True)
class FluidAdhocSlots(Slots):
    """Slots of the fluid model of ad hoc networks."""

    source: Any
    """Module of the source: `sender`, `adhoc.association` or `adhoc.datagrams`."""
    kind: int
    """Number of the kind of TCP, of UDP, or ALONE for SCTP."""
    network: Any = UNFILLED
    """Module of the network, see `round`; UNFILLED for UDP."""
    response: Any = UNFILLED
    """Reaction to losses and broken routes, one of `responses.LossResponse`; UNFILLED for UDP."""


def model(address: Address) -> Model:
    """Return the fluid model of an address."""
    if address.family == "path":
        of_path = {"sctp": _sctp, "quic": _quic, "mptcp": _mptcp, "udp": _udp}
        return of_path.get(address.sender, _path)(address)
    of: dict[str, Callable[[Address], Model]] = {
        "shared": _shared, "wireless": _wireless, "adhoc": _adhoc
    }  # fmt: skip
    return of[address.family](address)


def _window(address: Address) -> int:
    """Return the number of the sender whose window the model uses."""
    return NUMBERS[named(address.sender, address.control).fluid]


def _of_path(blocks: tuple[Block, ...], address: Address) -> tuple[Block, ...]:
    """Return blocks of parameters, with those of the receiver's mobility if it is mobile."""
    return (*blocks, MobileP) if address.mobile else blocks


def _path(address: Address) -> Model:
    filled = FluidPathSlots(
        network=path, kind=_window(address), response=responses.of(address.sender), mobile=address.mobile,
        delays=address.delays,
    )  # fmt: skip

    def scratch(rows: Any) -> tuple[int, int]:
        words, floats = path.scratch_words(rows, mobile=address.mobile)
        return words + one_flow.WORDS * address.delays, floats

    return Model(
        blocks=_of_path((*TCP, LinuxP) if address.sender == "linux" else TCP, address),
        address=address, make=lambda step: bind(path.simulate, step, filled), scratch=scratch,
        outcomes=lambda rows: len(Out) + one_flow.WORDS * address.delays, cost=cost.of_path,
    )  # fmt: skip


def _sctp(address: Address) -> Model:
    filled = FluidHostSlots(mobile=address.mobile)
    return Model(
        blocks=_of_path((RowP, ReliableP, SctpP), address),
        address=address, make=lambda step: bind(sctp.simulate, step, filled),
        scratch=lambda rows: sctp.scratch_words(rows, mobile=address.mobile),
        outcomes=lambda rows: len(Out) + failovers(rows), cost=cost.of_path,
    )  # fmt: skip


def _udp(address: Address) -> Model:
    filled = FluidHostSlots(mobile=address.mobile)
    return Model(
        blocks=_of_path((RowP, UdpP), address),
        address=address, make=lambda step: bind(datagrams.simulate, step, filled),
        scratch=lambda rows: datagrams.scratch_words(rows, mobile=address.mobile), cost=cost.of_path,
    )  # fmt: skip


def _quic(address: Address) -> Model:
    filled = FluidFixedSlots(network=quic, kind=LINUX_RENO)
    return Model(
        blocks=(*TCP, LinuxP, SctpP),
        address=address, make=lambda step: bind(quic.simulate, step, filled), scratch=quic.scratch_words,
        cost=cost.of_path,
    )  # fmt: skip


def _mptcp(address: Address) -> Model:
    kind = named("linux", address.control)
    filled = FluidFixedSlots(network=path, kind=NUMBERS[kind.fluid])
    return Model(
        blocks=(*TCP, LinuxP, SctpP),
        address=address, make=lambda step: bind(mptcp.simulate, step, filled), scratch=mptcp.scratch_words,
        outcomes=lambda rows: len(Out) + Subflows.COLUMNS + further_columns(rows), cost=cost.of_path,
    )  # fmt: skip


def _shared(address: Address) -> Model:
    filled = FluidSharedSlots(aqm=address.aqm, delays=address.delays)
    return Model(
        blocks=(*TCP, LinuxP, SctpP, UdpP),
        address=address, make=lambda step: bind(shared.simulate, step, filled),
        scratch=lambda rows: shared.scratch_words(rows, delays=address.delays, aqm=address.aqm),
        outcomes=outcomes_of_shared, dimensions=(2, 2, 3, 3, 2), cost=cost.of_shared,
    )  # fmt: skip


def _wireless(address: Address) -> Model:
    filled = FluidWifiSlots(edca=address.edca)
    return Model(
        blocks=TCP,
        address=address, make=lambda step: bind(wireless.simulate, step, filled),
        scratch=wireless.scratch_words, outcomes=outcomes_of_wireless, dimensions=(2, 2, 3, 2, 2),
        cost=cost.of_wireless,
    )  # fmt: skip


_SOURCES = {"udp": adhoc_datagrams, "sctp": association}
"""Source of a flow in an ad hoc network, by protocol; that of all others is `sender`."""


def _adhoc(address: Address) -> Model:
    udp, sctp_ = address.sender == "udp", address.sender == "sctp"
    filled = FluidAdhocSlots(
        source=_SOURCES.get(address.sender, sender), network=UNFILLED if udp else sender,
        response=UNFILLED if udp else responses.of(address.sender),
        kind=ALONE if sctp_ else _window(address),
    )  # fmt: skip
    return Model(
        blocks=(RowP, UdpP) if udp else (*TCP, SctpP) if sctp_ else TCP,
        address=address, make=lambda step: bind(adhoc.simulate, step, filled, size.slots(address)),
        scratch=lambda rows: adhoc.scratch_words(rows, size.slots(address)), outcomes=outcomes_of_adhoc,
        dimensions=(2, 2, 3, 4, 2),
    )  # fmt: skip
