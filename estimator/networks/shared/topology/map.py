"""A map: routers, cables between them, and demands, as files of other programs describe them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from netcarlo.networks.shared.topology import places, rates


class Edge(NamedTuple):
    """A cable between two routers, or one direction of it."""

    a: str
    b: str
    """Identifiers of the routers at the start and at the end."""
    rate_bps: float | None = None
    """Bit rate in each direction; None if the file does not state it."""
    module_bps: float | None = None
    """Bit rate of the first module that can be added, which is assumed if there is no other rate; or None."""
    delay_s: float | None = None
    """One-way delay; None if the file does not state it."""
    label: str = ""
    """Label that was not understood as a rate; empty if there is none."""
    both: bool = True
    """True for a cable with two directions."""
    line: int = 0
    """Number of its line in the file, from 1; 0 if unknown."""


class Demand(NamedTuple):
    """Traffic from one router to another."""

    source: str
    sink: str
    rate_bps: float


class Map(NamedTuple):
    """Routers by identifier, edges and demands."""

    names: dict[str, str]
    """Label of each router by its identifier; empty if it has none."""
    edges: list[Edge]
    demands: list[Demand]
    notes: list[str]
    """Sentences about what was assumed while the file was read."""
    positions: dict[str, places.Position]
    """Positions of the routers that have one."""


def edge(a: str, b: str, data: Mapping[str, Any], *, unit: str, both: bool, line: int) -> Edge:
    """Return an edge from the attributes of a file, in any order and in any case of their names."""
    rate, label = rates.of_attributes(data, unit=unit)
    return Edge(a, b, rate, None, places.delay_of(data), label, both, line)
