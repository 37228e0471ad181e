"""Flows of an 802.11 network."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Discriminator, Tag, model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.wireless.layout import MOST_FLOWS
from netcarlo.networks import flows
from netcarlo.networks.arrivals import ArrivingFlows
from netcarlo.networks.wireless.description.edca import AccessCategory
from netcarlo.networks.wireless.description.layouts import MAX_STATIONS
from netcarlo.schema import units
from netcarlo.schema.quantity import Number, Quantity, Time

FlowCount = Annotated[Number, Quantity(units.PLAIN, 0, MOST_FLOWS, whole=True)]


class FlowSpec(flows.FlowSpec):
    """A flow from `source` to `sink` (node numbers or `gateway`), with the scenario's transport or `udp`.

    Fields given here replace those of the transport. One end of several flows (`Flows`) may be `station`:
    each flow then has another one. If any flow names a `class`, delays are measured by class; packets with a
    delay above `late` are late.
    """

    source: int | Literal["gateway", "station"] = 0
    """Number of the sending node, or `gateway`; `station` is a different one for each of several flows."""
    sink: int | Literal["gateway", "station"] = "gateway"
    """Number of the receiving node, or `gateway`; `station` is a different one for each of several flows."""
    stop: Time | None = None
    """End time of a UDP flow. Default: that of `transport`."""
    access: AccessCategory | None = None
    """Access category of its packets (802.11n, ac, ax, be). Default: `best_effort`."""
    saturated: bool = False
    """True if a UDP flow always has packets to send: it keeps two Block Ack windows of packets in the queue,
    six times as many with an A-MSDU, whatever its rate (802.11n, ac, ax, be)."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.source == self.sink:
            raise InputError(f"source and sink are both {self.source}; change one of them")
        if "station" in (self.source, self.sink) and "gateway" not in (self.source, self.sink):
            other = "sink" if self.source == "station" else "source"
            raise InputError(
                f"{other} = {getattr(self, other)} cannot be combined with station; write {other}: gateway"
            )
        return self

    @property
    def of_station(self) -> bool:
        """True if one end is the station that the number of the flow determines."""
        return "station" in (self.source, self.sink)


class Flows(ArrivingFlows):
    """Several flows: `count` of them (default: one per station), each drawn independently from `each` (or a
    list).

    `station` refers to a different station for each flow: `first`, the next one, and so on, then again from
    0. With `arrivals`, flows of random `size` arrive and end, at most `count` at the same time; Poisson
    arrivals are spread evenly over the stations, each with its share of the slots.
    """

    count: FlowCount | None = None
    """Number of flows; with `arrivals`, the maximum number at the same time. Default: one per station."""
    first: int = 0
    """Number of the station of the first flow; further flows use the next stations in turn."""
    each: Annotated[
        Annotated[FlowSpec, Tag("<flow>")] | Annotated[list[FlowSpec], Tag("<flows>")],
        Discriminator(lambda data: "<flows>" if isinstance(data, list) else "<flow>"),
    ] = FlowSpec()
    """Description of each flow, drawn independently; or a list with one item per flow."""

    of_each: ClassVar = FlowSpec
    not_of_arrivals: ClassVar = (*ArrivingFlows.not_of_arrivals, "saturated", "stop")

    @property
    def most_each(self) -> int:
        """Maximum number of flows."""
        return MAX_STATIONS if self.count is None else super().most_each


AnyFlow = Annotated[
    Annotated[FlowSpec, Tag("<flow>")] | Annotated[Flows, Tag("<flows>")],
    Discriminator(flows.one_or_several(Flows)),
]
AnyFlows = Annotated[
    Annotated[Literal["up", "down", "both"], Tag("<word>")] | Annotated[list[AnyFlow], Tag("<list>")],
    Discriminator(lambda data: "<list>" if isinstance(data, list) else "<word>"),
]
