"""Phrase that describes an ad hoc network: `50 moving nodes (1000 m x 1000 m, range 250 m, DSR)`."""

import math

from netcarlo.networks.adhoc.description import Adhoc
from netcarlo.schema.quantity import bounds
from netcarlo.schema.readable import quantity


def phrase(adhoc: Adhoc) -> str:
    """Return number and mobility of the nodes, area, range and routing of an ad hoc network in a phrase."""
    number = quantity(adhoc.all_nodes, "")
    moves = "fixed" if adhoc.mobility.model == "static" else "moving"
    width, height = adhoc.sides
    area = ""
    if not any(math.isnan(bounds(side)[0]) for side in (width, height)):
        area = f"{quantity(width, 'm')} x {quantity(height, 'm')}, "
    return f"{number} {moves} nodes ({area}range {quantity(adhoc.range, 'm')}, {adhoc.routing.upper()})"
