"""The record of an 802.11 network."""

from typing import Any, Self

from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.wireless.layout import MOST_FLOWS
from netcarlo.networks import flows
from netcarlo.networks.arrivals import Classes, arriving
from netcarlo.networks.outages import OutagesInRun
from netcarlo.networks.wireless.description.edca import Aggregating
from netcarlo.networks.wireless.description.flows import AnyFlows, Flows, FlowSpec
from netcarlo.networks.wireless.description.hosts import LegSpec, Receiver
from netcarlo.networks.wireless.description.layouts import Layout
from netcarlo.networks.wireless.description.rates import Rates
from netcarlo.networks.wireless.description.standards import above, misplaced
from netcarlo.schema.quantity import Interval, Number


class Wireless(Layout, Aggregating, Rates, flows.ManyFlows):
    """An 802.11 network: exactly one of `cell`, `chain`, `tree`, `area`, `places` and `nodes`.

    One of `reach` (hops), `ranges` (distances) and `path_loss` defines reception and carrier sensing; without
    it all nodes hear each other. Each station has a link to its next node. `rate` and `frame_error` apply to
    all links, and `each` describes what every link draws independently (or a list with one item per link).
    With `redraw: false` random positions are those of the scenario's `topology`, not of each replication.
    """

    wire: LegSpec | None = None
    """Wire between the gateway and the end host behind it, in both directions. Default: none."""
    sender_delay: LegSpec | None = None
    """Delay element between the sender and its radio. Default: none."""
    receiver: Receiver | None = None
    """Slow host at the receiver. Default: none."""
    outages: OutagesInRun | None = None
    """Outages of the gateway: given times, or random with given means. Default: none."""
    flows: AnyFlows = "up"
    """Flows: from every station to the gateway (`up`), the other way (`down`), both; or a list of flows."""
    best_interval: Interval | None = None
    """Length of the interval for the outcome `best_bps`, the most payload in one interval. Default: not
    measured."""

    @model_validator(mode="after")
    def _fits_standard(self) -> Self:
        found = [*misplaced(self)]
        if self.has_edca:
            found += [*self.mode_errors(), *above(self)]
        if found:
            raise InputError(*found)
        return self

    @model_validator(mode="after")
    def _flows_exist(self) -> Self:
        if isinstance(self.flows, list):
            if not self.flows:
                raise InputError("flows are empty; write flows: up")
            self._check_stations(self.flows)
            if self.flow_bounds[0] < 1:
                raise InputError("flows can be empty; raise a count")
            if self.flow_bounds[1] > MOST_FLOWS:
                most = f"expected 1 to {MOST_FLOWS}"
                raise InputError(f"flows can be up to {self.flow_bounds[1]}; {most}; lower a count")
            up = any(flow.sink == "gateway" for _, flow in self.each_flow())
            down = any(flow.source == "gateway" for _, flow in self.each_flow())
        else:
            up, down = self.flows != "down", self.flows != "up"
        if self.wire is not None and self.sender_delay is not None and down:
            raise InputError("wire and sender_delay both precede flows from the gateway; remove one")
        if self.wire is not None and self.receiver is not None and up:
            raise InputError("wire and receiver both follow flows to the gateway; remove one")
        return self

    def _check_stations(self, flows: list[FlowSpec | Flows]) -> None:
        numbered: list[tuple[str, Any]] = []
        for name, flow in self.each_flow():
            numbered += [(f"{name}.source", flow.source), (f"{name}.sink", flow.sink)]
        for k, item in enumerate(flows):
            if isinstance(item, Flows):
                numbered.append((f"flows.{k}.first", item.first))
            elif item.of_station:
                end = "source" if item.source == "station" else "sink"
                remedy = f"write each: {{{end}: station}}"
                raise InputError(f"flows.{k}.{end} = station is supported only for several flows; {remedy}")
        for name, number in numbered:
            if isinstance(number, int) and not 0 <= number < self.least_stations:
                allowed = f"expected 0 to {self.least_stations - 1}"
                other = "" if name.endswith("first") else ", or gateway"
                raise InputError(f"{name} = {number} is not a station; {allowed}{other}")

    def count_of(self, item: Any) -> Number:
        """Return the number of flows that an item describes; by default one per station."""
        several = isinstance(item, Flows) and item.count is None
        return self.stations if several else super().count_of(item)

    @property
    def classes(self) -> Classes:
        """Arriving flows, by the full name of their field."""
        return arriving("wireless", self.flows) if isinstance(self.flows, list) else []

    @property
    def has_own_tcps(self) -> bool:
        """True if flows define their own TCPs."""
        return any(flow.has_own_tcp for _, flow in self.each_flow())

    def has_mixed_tcps(self, transport: Any) -> bool:
        """Return True if each flow has its own transport: some define their own, or flows arrive and depart
        with another TCP than linux."""
        return self.has_own_tcps or (bool(self.classes) and transport.protocol != "linux")

    @property
    def flow_bounds(self) -> tuple[int, int]:
        """Minimum and maximum number of flows."""
        if isinstance(self.flows, str):
            each = 2 if self.flows == "both" else 1
            stations = (1, 1) if self.chain else (self.least_stations, self.most_stations)
            return each * stations[0], each * stations[1]
        return super().flow_bounds
