"""Quantities of 802.11 radios, for several kinds of networks."""

from typing import Annotated

from netcarlo.schema import units
from netcarlo.schema.limit import Limit
from netcarlo.schema.quantity import Number, Quantity

Slots = Annotated[Number, Quantity(units.PLAIN, 0, 32767, whole=True)]
Times = Annotated[Number, Quantity(units.PLAIN, 1, 10_000, whole=True)]
_VARIES = "the rate at which a station sends is not constant"
Frames = Annotated[Number, Limit(units.PACKETS, 1, 4096, whole=True, others=(units.SIZE,), reason=_VARIES)]
"""Queue limit of a node, which counts packets; a size is converted with the size of a data packet."""
