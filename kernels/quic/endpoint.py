"""Endpoint of QUIC."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots, stacked
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP
from netcarlo.kernels.endpoints import defaults
from netcarlo.kernels.quic import association, migration, state

WHOLE = stacked("quic", defaults, association)
"""The association with defaults for what QUIC does not have."""
MIGRATING = stacked("quic_migration", defaults, association, migration)
"""The association over two paths."""


@dataclass(frozen=True, kw_only=True)
class QuicSlots(Slots):
    """Slots of a QUIC connection."""

    association: Any = WHOLE
    """Functions that an engine calls."""


def of(address: Address, own: ModuleType | None) -> Endpoint:
    """Return the endpoint of QUIC, over one path or two."""
    of_two = address.migration
    return Endpoint(
        blocks=(RowP, ReliableP, SctpP),
        slots=lambda step: QuicSlots(association=MIGRATING if of_two else WHOLE),
        words=migration.scratch_words if of_two else state.scratch_words,
        state_words=migration.WORDS if of_two else association.WORDS,
        floats=association.FLOATS, typed_packets=True,
    )  # fmt: skip
