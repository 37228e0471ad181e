"""Endpoint of SCTP."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots, stacked
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.parameters import ReliableP, Rfc9260P, RowP, SctpP
from netcarlo.kernels.endpoints import defaults
from netcarlo.kernels.sctp import association

WHOLE = stacked("sctp", defaults, association)
"""The association with defaults for what SCTP does not have."""


@dataclass(frozen=True, kw_only=True)
class SctpSlots(Slots):
    """Slots of an SCTP association."""

    association: Any = WHOLE
    """Functions that an engine calls."""


def of(address: Address, own: ModuleType | None) -> Endpoint:
    """Return the endpoint of SCTP, which is the same for all addresses."""
    return Endpoint(
        blocks=(RowP, ReliableP, SctpP, Rfc9260P),
        slots=lambda step: SctpSlots(), words=association.scratch_words, state_words=association.WORDS,
        floats=association.FLOATS, window=_window, typed_packets=True,
    )  # fmt: skip


def _window(parameters: Any) -> Any:
    return parameters[:, SctpP.RWND] // (parameters[:, RowP.DATA] + parameters[:, RowP.CHUNK_HEADER])
