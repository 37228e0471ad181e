"""Links of an 802.11 network."""

from typing import Annotated

from pydantic import Discriminator, Tag

from netcarlo.schema import units
from netcarlo.schema.quantity import Length, Number, Probability, Quantity
from netcarlo.schema.record import Record

FirstRate = Annotated[Number, Quantity(units.RATE, 1e6, 54e6)]
Mcs = Annotated[Number, Quantity(units.PLAIN, 0, 31, whole=True)]
Streams = Annotated[Number, Quantity(units.PLAIN, 1, 8, whole=True)]
Generation = Annotated[Number, Quantity(units.PLAIN, 2, 7, whole=True)]


class Direction(Record):
    """Own rate and losses of a link in one direction."""

    rate: FirstRate | None = None
    """Initial rate of the link. Default: that of all links."""
    mcs: Mcs | None = None
    """MCS of the link (802.11n, ac, ax, be). Default: that of all links."""
    streams: Streams | None = None
    """Number of spatial streams of the link (802.11n, ac, ax, be). Default: that of all links."""
    frame_error: Probability | None = None
    """Probability that noise destroys a data frame. Default: that of all links."""


class Link(Direction):
    """Own properties of the link from a station to its next hop, in both directions."""

    spacing: Length | None = None
    """Length of the link, if distances are used. Default: that of all links."""
    generation: Generation | None = None
    """Wi-Fi generation of the station: 2 (802.11a), 3 (g), 4 (n), 5 (ac), 6 (ax) or 7 (be). The link uses the
    older of this and `standard`. Default: that of `standard`."""
    downlink: Direction = Direction()
    """Properties of the direction to the station that differ from those of the link."""


AnyLinks = Annotated[
    Annotated[Link, Tag("<link>")] | Annotated[list[Link], Tag("<links>")],
    Discriminator(lambda data: "<links>" if isinstance(data, list) else "<link>"),
]
