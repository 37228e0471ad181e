"""Endpoint of stop-and-wait."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots, stacked
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.endpoints import defaults
from tests.toy_transport import association

WHOLE = stacked("stop_and_wait", defaults, association)
"""The association with defaults for what the transport does not have."""


@dataclass(frozen=True, kw_only=True)
class ToySlots(Slots):
    """Slots of stop-and-wait."""

    association: Any = WHOLE
    """Functions that an engine calls."""


def of(address: Address, own: ModuleType | None) -> Endpoint:
    """Return the endpoint of stop-and-wait, which is the same in every network."""
    return Endpoint(
        blocks=(RowP, ReliableP),
        slots=lambda step: ToySlots(), words=lambda window, ring: association.WORDS,
        state_words=association.WORDS, floats=association.FLOATS, typed_packets=True,
    )  # fmt: skip
