"""Slots for sets of nodes and for routes, which need more words in networks of more than 64 nodes."""

from dataclasses import dataclass
from typing import Any

from netcarlo.kernels.adhoc.large import routes as large_routes
from netcarlo.kernels.adhoc.large import sets as large_sets
from netcarlo.kernels.adhoc.layout import MOST_SMALL
from netcarlo.kernels.adhoc.small import routes as small_routes
from netcarlo.kernels.adhoc.small import sets as small_sets
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Slots


@dataclass(frozen=True, kw_only=True)
class SizeSlots(Slots):
    """Slots of the size of ad hoc networks."""

    sets: Any
    """Functions for sets of nodes."""
    routes: Any
    """Functions for routes."""

    def check(self, most_nodes: int) -> None:
        """Raise ValueError if sets have too few bits for networks of `most_nodes` nodes."""
        if most_nodes > MOST_SMALL * self.sets.WORDS:
            raise ValueError(f"{most_nodes} nodes are too many for sets of {self.sets.WORDS} words")


def slots(address: Address) -> SizeSlots:
    """Return the slots of a model."""
    if address.large:
        return SizeSlots(sets=large_sets, routes=large_routes)
    return SizeSlots(sets=small_sets, routes=small_routes)
