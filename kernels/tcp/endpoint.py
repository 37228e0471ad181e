"""Endpoints of the TCPs of ns-2, of one kind or of any kind."""

import functools
from importlib import import_module
from types import ModuleType

from netcarlo.kernels import senders
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.tcp import acks, association, heterogeneous, sender, slots, state, timer
from netcarlo.kernels.tcp.transmissions import TRANSMISSION_BITS

BLOCKS = RowP, ReliableP, TcpP
"""Blocks of parameters of a TCP of ns-2."""

IN_ORDER = "path", "shared"
"""Networks in which packets of a flow do not overtake each other."""

INLINED = sender, acks, timer
"""Modules whose functions become part of the engine."""


def of(address: Address, own: ModuleType | None) -> Endpoint:
    """Return the endpoint with the loss recovery of an address, and its congestion control or the user's
    `own`."""
    scheme = _module(f"tcp.{senders.BY_NAME[address.sender].recovery}")
    control = own or _module(senders.control_of(address.sender, address.control))
    found = slots.of_sender(
        scheme, control, in_order=address.family in IN_ORDER, delays=_delays(address),
        has_transmission_ids=address.family != "path",
    )  # fmt: skip
    hot_words = state.hot_words(found.variant.HOT_WORDS, acks=bool(found.sack or found.loss_marks))
    return Endpoint(
        blocks=BLOCKS,
        slots=lambda step: found, words=functools.partial(slots.scratch_words, scheme),
        state_words=association.WORDS, floats=association.FLOATS, hot_words=hot_words,
        transmission_bits=TRANSMISSION_BITS, first=found.first, pauses=found.pauses,
        has_fast_path=not found.timestamps, lookahead=not found.timestamps, inlined=INLINED,
    )  # fmt: skip


def of_any_sender(address: Address) -> Endpoint:
    """Return the endpoint of flows of any kind in `heterogeneous`."""
    scheme = heterogeneous.LARGEST
    return Endpoint(
        blocks=BLOCKS,
        slots=lambda step: heterogeneous.of_senders(step, delays=_delays(address)),
        words=functools.partial(slots.scratch_words, scheme), state_words=association.WORDS,
        floats=association.FLOATS, transmission_bits=TRANSMISSION_BITS, lookahead=True, inlined=INLINED,
    )  # fmt: skip


def _module(name: str) -> ModuleType:
    return import_module(f"netcarlo.kernels.{name}")


def _delays(address: Address) -> bool:
    # The 802.11 engine always asks for the delay of packets.
    return address.delays or address.family == "wireless"
