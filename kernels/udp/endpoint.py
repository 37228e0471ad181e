"""Endpoint of UDP."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.udp import association


@dataclass(frozen=True, kw_only=True)
class UdpSlots(Slots):
    """Slots of a stream of datagrams."""

    association: Any = association
    """Functions that an engine calls."""
    overtakes: bool
    """True if datagrams may overtake each other or arrive twice."""


def of(address: Address, own: ModuleType | None = None) -> Endpoint:
    """Return the endpoint of a stream of datagrams in the network of an address."""
    overtakes = address.family != "wireless"
    words = association.scratch_words if overtakes else _words_in_order
    filled = UdpSlots(overtakes=overtakes)
    blocks = (RowP, UdpP) if overtakes else (RowP,)  # flows of 802.11 have columns of their own
    return Endpoint(
        blocks=blocks,
        slots=lambda step: filled, words=words, state_words=association.WORDS, floats=association.FLOATS,
        one_way=True,
    )  # fmt: skip


def _words_in_order(window: Any, ring: Any) -> Any:
    return association.WORDS
