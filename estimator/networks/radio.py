"""Quantities of 802.11 radios, for several kinds of networks."""

from typing import Annotated

from netcarlo.schema import units
from netcarlo.schema.quantity import Number, Quantity

Slots = Annotated[Number, Quantity(units.PLAIN, 0, 32767, whole=True)]
Times = Annotated[Number, Quantity(units.PLAIN, 1, 10_000, whole=True)]
Frames = Annotated[Number, Quantity(units.PACKETS, 1, 4096, whole=True)]
