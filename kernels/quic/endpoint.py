"""Endpoint of QUIC."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots, stacked
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP
from netcarlo.kernels.endpoints import defaults
from netcarlo.kernels.quic import association, state

WHOLE = stacked("quic", defaults, association)
"""The association with defaults for what QUIC does not have."""


@dataclass(frozen=True, kw_only=True)
class QuicSlots(Slots):
    """Slots of a QUIC connection."""

    association: Any = WHOLE
    """Functions that an engine calls."""


def of(address: Address, own: ModuleType | None) -> Endpoint:
    """Return the endpoint of QUIC, which is the same for all addresses."""
    return Endpoint(
        blocks=(RowP, ReliableP, SctpP),
        slots=lambda step: QuicSlots(), words=state.scratch_words, state_words=association.WORDS,
        floats=association.FLOATS, typed_packets=True,
    )  # fmt: skip
