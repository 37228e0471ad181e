"""Description of an 802.11 network: a cell, chain, tree or scattered stations on one channel.

Stations are numbered 0, 1, ...; the last node is the gateway (the access point of a cell). Frames are
forwarded along a tree whose root is the gateway.
"""

import math
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.wireless import layout
from netcarlo.kernels.wireless.layout import AARF, ARF, FIXED, MOST_FLOWS, MOST_NODES
from netcarlo.networks import flows
from netcarlo.networks.outages import Outages
from netcarlo.networks.radio import Frames, Slots, Times
from netcarlo.networks.wireless import dot11
from netcarlo.schema import units
from netcarlo.schema.quantity import (
    Delay,
    Interval,
    Length,
    Number,
    Probability,
    Quantity,
    Rate,
    Size,
    Time,
    bounds,
)
from netcarlo.schema.record import Record

MAX_STATIONS = MOST_NODES - 1
RATE_CONTROLS = {"fixed": FIXED, "arf": ARF, "aarf": AARF}

PhyRate = Annotated[float, Quantity(units.RATE, 1e6, 54e6, random=False)]
FirstRate = Annotated[Number, Quantity(units.RATE, 1e6, 54e6)]
FlowCount = Annotated[Number, Quantity(units.PLAIN, 0, MOST_FLOWS, whole=True)]
Stations = Annotated[Number, Quantity(units.PLAIN, 1, MAX_STATIONS, whole=True)]
Reaches = Annotated[Number, Quantity(units.PLAIN, 1, 64, whole=True, unlimited=True)]
Threshold = Annotated[Number, Quantity(units.SIZE, 0, 65535, whole=True, unlimited=True)]
Coordinate = Annotated[Number, Quantity(units.LENGTH, -1e7, 1e7)]
Decibel = Annotated[Number, Quantity(units.PLAIN, -200, 200)]


class Cell(Record):
    """A cell: stations around one access point."""

    stations: Stations
    """Number of stations, without the access point."""


class Chain(Record):
    """A chain of nodes: station 0, relays, and the gateway. `spacing` is required if distances are used."""

    hops: Stations
    """Number of hops from station 0 to the gateway."""
    spacing: Length | None = None
    """Distance between neighbours; required if distances are used."""


class Tree(Record):
    """A tree in which the gateway and each node have `children`. `spacing` is required if distances are
    used."""

    stations: Stations
    """Number of stations, without the gateway."""
    children: Stations = 2.0
    """Number of children of each node."""
    spacing: Length | None = None
    """Distance between neighbours; required if distances are used."""


class Area(Record):
    """Stations at random positions in a square, with the gateway in the middle or in a corner."""

    stations: Stations
    """Number of stations, without the gateway."""
    side: Length
    """Side of the square."""
    gateway: Literal["middle", "corner"] = "middle"
    """Position of the gateway."""


class Place(Record):
    """Position of a node."""

    x: Coordinate
    """First coordinate of the node."""
    y: Coordinate = 0.0
    """Second coordinate of the node."""


class Node(Record):
    """A node described by the nodes that it hears, given by number. The last node is the gateway and has no
    `next`.

    `decode` are the nodes whose data frames it can decode, `disturb` those whose transmissions destroy a data
    frame that it is receiving; likewise for control frames.
    """

    next: int | None = None
    """Number of the next node on the path to the gateway; only the gateway has none."""
    sense: list[int]
    """Nodes whose transmissions this node senses and defers to."""
    decode: list[int] | None = None
    """Nodes whose data frames this node can decode. Default: those of `sense`."""
    control: list[int] | None = None
    """Nodes whose control frames this node can decode. Default: those of `decode`."""
    disturb: list[int] | None = None
    """Nodes whose transmissions destroy a data frame for this node. Default: those of `sense`."""
    disturb_control: list[int] | None = None
    """Nodes whose transmissions destroy a control frame for this node. Default: those of `disturb`."""


class Reach(Record):
    """Reception and carrier sensing in hops along the tree; `unlimited` includes all nodes.

    Defaults: `decode` is 1, or unlimited if `sense` is; `control` and `disturb` equal `sense`, and
    `disturb_control` equals `disturb`.
    """

    sense: Reaches = math.inf
    """Number of hops over which a node senses transmissions and defers to them."""
    decode: Reaches | None = None
    """Number of hops over which data frames are decoded. Default: 1, or unlimited if `sense` is."""
    control: Reaches | None = None
    """Number of hops over which control frames are decoded. Default: `sense`."""
    disturb: Reaches | None = None
    """Number of hops within which a transmission destroys a data frame. Default: `sense`."""
    disturb_control: Reaches | None = None
    """Number of hops within which a transmission destroys a control frame. Default: `disturb`."""


class Ranges(Record):
    """Reception and carrier sensing by distance.

    Defaults: `control` equals `decode`, `sense` equals `control`, `disturb` equals `sense`, and
    `disturb_control` equals `disturb`.
    """

    decode: Length
    """Distance up to which data frames are decoded."""
    control: Length | None = None
    """Distance up to which control frames are decoded. Default: `decode`."""
    sense: Length | None = None
    """Distance up to which a node senses transmissions and defers to them. Default: `control`."""
    disturb: Length | None = None
    """Distance within which a transmission destroys a data frame. Default: that of `sense`."""
    disturb_control: Length | None = None
    """Distance within which a transmission destroys a control frame. Default: `disturb`."""


class PathLoss(Record):
    """Reception and carrier sensing by received power: log-distance path loss with log-normal shadowing per
    pair.

    A transmission destroys a frame unless it is weaker than the weakest neighbour's signal by `capture_db`.
    """

    power_dbm: Decibel = 16.0
    """Transmitted power [dBm]."""
    reference_db: Decibel = 40.0
    """Path loss over the first metre [dB]."""
    exponent: Annotated[Number, Quantity(units.PLAIN, 1, 8)] = 3.0
    """Path loss exponent: the loss grows by ten times this per decade of distance [dB]."""
    shadowing_db: Annotated[Number, Quantity(units.PLAIN, 0, 20)] = 0.0
    """Standard deviation of the normally distributed shadowing of every pair [dB]."""
    decode_dbm: Decibel = -72.0
    """Minimum power at which data frames are decoded [dBm]."""
    control_dbm: Decibel = -82.0
    """Minimum power at which control frames are decoded [dBm]."""
    sense_dbm: Decibel = -85.0
    """Minimum power at which a node senses transmissions and defers to them [dBm]."""
    capture_db: Decibel = 22.0
    """Capture threshold: a data frame survives a transmission that is weaker by this than the weakest
    neighbour's [dB]."""
    control_capture_db: Decibel = 10.0
    """Capture threshold of control frames, see `capture_db` [dB]."""


class Link(Record):
    """Own properties of the link from a station to its next hop, in both directions."""

    spacing: Length | None = None
    """Length of the link, if distances are used. Default: that of all links."""
    rate: FirstRate | None = None
    """Initial rate of the link. Default: that of all links."""
    frame_error: Probability | None = None
    """Probability that noise destroys a data frame. Default: that of all links."""


class LegSpec(Record):
    """A FIFO server before or after the radio: a wire, a delay element, a slow host.

    A packet takes the transmission time of its size plus `overhead` at `rate`, then `packet_time`, then
    `delay`. With `tick` it leaves at the next tick of a clock. `swing` is the standard deviation of the
    relative service time, drawn every `swing_every`. Packets that find `queue` others are dropped.
    """

    rate: Rate = math.inf
    """Bit rate of the wire."""
    overhead: Size = 0.0
    """Number of bytes added to each packet on the wire."""
    packet_time: Delay = 0.0
    """Service time of a packet, independent of its size."""
    delay: Delay = 0.0
    """Constant delay after the server."""
    tick: Time = 0.0
    """Period of a clock at whose ticks packets leave; 0 means no clock."""
    phase: Time | None = None
    """Phase of that clock at time 0. Default: drawn for each replication."""
    queue: Annotated[Number, Quantity(units.PACKETS, 1, 65536, whole=True)] = 1000.0
    """Queue limit: a packet that finds this many others is dropped."""
    swing: Annotated[Number, Quantity(units.FRACTION, 0.0, 0.2)] = 0.0
    """Standard deviation of the relative service time of the server."""
    swing_every: Interval = 1.0
    """Interval at which the relative service time is drawn."""

    fills: ClassVar = {
        "overhead": (layout.Leg.OVERHEAD, 1),
        "packet_time": (layout.Leg.PACKET_TIME, NS),
        "delay": (layout.Leg.DELAY, NS),
        "tick": (layout.Leg.TICK, NS),
        "queue": (layout.Leg.ROOM, 1),
        "swing": (layout.Leg.SWING, 2**20),
        "swing_every": (layout.Leg.SWING_EVERY, NS),
    }


class Receiver(LegSpec):
    """The receiving host; it takes `ack_time` to create an acknowledgement.

    With `read`, TCP acknowledges what the application has read: at most this many bytes at once, taking
    `read_time` per packet, while no packet is being served (interrupts have priority). A delayed
    acknowledgement waits until a read ends.
    """

    ack_time: Delay = 0.0
    """Time to create an acknowledgement."""
    read: Size | None = None
    """Maximum number of bytes that the application reads at once. Default: it reads all data immediately."""
    read_time: Delay = 0.0
    """Time to read a packet."""


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


class Flows(flows.Flows):
    """Several flows: `count` of them (default: one per station), each drawn independently from `each` (or a
    list).

    `station` refers to a different station for each flow: `first`, the next one, and so on, then again from
    0.
    """

    count: FlowCount | None = None
    """Number of flows. Default: one per station."""
    first: int = 0
    """Number of the station of the first flow; further flows use the next stations in turn."""
    each: Annotated[
        Annotated[FlowSpec, Tag("<flow>")] | Annotated[list[FlowSpec], Tag("<flows>")],
        Discriminator(lambda data: "<flows>" if isinstance(data, list) else "<flow>"),
    ] = FlowSpec()
    """Description of each flow, drawn independently; or a list with one item per flow."""

    of_each: ClassVar = FlowSpec

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
AnyLinks = Annotated[
    Annotated[Link, Tag("<link>")] | Annotated[list[Link], Tag("<links>")],
    Discriminator(lambda data: "<links>" if isinstance(data, list) else "<link>"),
]

LAYOUTS = ("cell", "chain", "tree", "area", "places", "nodes")
HEARING = ("reach", "ranges", "path_loss")


class Wireless(flows.ManyFlows):
    """An 802.11 network: exactly one of `cell`, `chain`, `tree`, `area`, `places` and `nodes`.

    One of `reach` (hops), `ranges` (distances) and `path_loss` defines reception and carrier sensing; without
    it all nodes hear each other. Each station has a link to its next node. `rate` and `frame_error` apply to
    all links, and `each` describes what every link draws independently (or a list with one item per link).
    With `redraw: false` random positions are those of the scenario's `topology`, not of each replication.
    """

    standard: Literal["802.11a", "802.11b", "802.11g"] = "802.11g"
    """Standard that defines timing and rates."""
    slot: Interval
    """Duration of a backoff slot. Default: that of the standard."""
    sifs: Interval
    """Short interframe space (SIFS). Default: that of the standard."""
    eifs: Interval | None = None
    """Extended interframe space (EIFS) after a frame that could not be decoded. Default: SIFS, DIFS and an
    ACK at the lowest rate."""
    cw_min: Slots
    """Contention window of the first attempt [slots]. Default: that of the standard."""
    cw_max: Slots = 1023.0
    """Maximum contention window [slots]."""
    short_retry: Times = 7.0
    """Maximum number of attempts of a frame without RTS, and of an RTS."""
    long_retry: Times = 7.0
    """Maximum number of attempts of a frame after an RTS."""
    preamble: Literal["long", "short"] = "long"
    """Preamble of the rates 2, 5.5 and 11 Mbit/s."""
    protection: PhyRate | None = None
    """Rate of a CTS-to-self frame before OFDM frames. Default: no protection."""
    rts_threshold: Threshold = math.inf
    """Frame size above which an RTS is sent first."""
    burst: Times = 1.0
    """Number of data frames per channel access."""
    gateway_burst: Times | None = None
    """Number of data frames per channel access of the gateway. Default: `burst`."""
    mac_overhead: Size = 36.0
    """Size of LLC, MAC header and FCS."""
    queue: Frames = 50.0
    """Queue limit of each node."""
    back_pressure: bool = False
    """True if a full queue pauses the TCP or SCTP sender on the same node instead of dropping packets."""

    rates: list[PhyRate] | None = Field(default=None, min_length=1, max_length=32)
    """Rates available to rate control. Default: all rates of the standard."""
    rate: FirstRate
    """Initial rate of every link. Default: 54 Mbit/s; 11 Mbit/s with 802.11b."""
    answer_rate: PhyRate | None = None
    """Rate of ACK, CTS and RTS. Default: the highest mandatory rate that is not above that of the data
    frame."""
    rate_control: Literal["fixed", "arf", "aarf"] = "fixed"
    """Rate control: fixed rates, ARF or AARF."""
    arf_up: Times = 10.0
    """Number of consecutive successes after which ARF tries the next higher rate."""
    arf_down: Times = 2.0
    """Number of consecutive failures after which ARF returns to the next lower rate."""
    arf_timer: Times = 15.0
    """Number of frames after which ARF tries the next higher rate in any case."""
    aarf_factor: Times = 2.0
    """Factor by which a failed trial multiplies `arf_up` (AARF)."""
    aarf_most: Times = 60.0
    """Maximum value of `arf_up` after failed trials (AARF)."""
    frame_error: Probability = 0.0
    """Probability that noise destroys a data frame."""
    survival: Time = 0.0
    """Mean time that a data frame survives interference; with 0 it is destroyed at once."""
    each: AnyLinks = Link()
    """Own properties of each link, drawn independently; or a list with one item per link."""

    cell: Cell | None = None
    """Stations around one access point."""
    chain: Chain | None = None
    """Nodes in a line."""
    tree: Tree | None = None
    """A tree below the gateway."""
    area: Area | None = None
    """Stations at random positions."""
    places: list[Place] | None = Field(default=None, min_length=2, max_length=MOST_NODES)
    """Position of each node; the last is the gateway."""
    nodes: list[Node] | None = Field(default=None, min_length=2, max_length=MOST_NODES)
    """Nodes that each node hears; the last node is the gateway."""
    redraw: bool = True
    """True if random positions and shadowing are drawn for every replication; otherwise they are those of
    the `topology`."""
    reach: Reach | None = None
    """Reception and carrier sensing in hops. Default: all nodes hear each other, unless `ranges` or
    `path_loss` is given."""
    ranges: Ranges | None = None
    """Reception and carrier sensing by distance."""
    path_loss: PathLoss | None = None
    """Reception and carrier sensing by received power."""

    wire: LegSpec | None = None
    """Wire between the gateway and the end host behind it, in both directions. Default: none."""
    sender_delay: LegSpec | None = None
    """Delay element between the sender and its radio. Default: none."""
    receiver: Receiver | None = None
    """Slow host at the receiver. Default: none."""
    outages: Outages | None = None
    """Outages of the gateway: given times, or random with given means. Default: none."""
    flows: AnyFlows = "up"
    """Flows: from every station to the gateway (`up`), the other way (`down`), both; or a list of flows."""
    best_interval: Interval | None = None
    """Length of the interval for the outcome `best_bps`, the most payload in one interval. Default: not
    measured."""

    fills: ClassVar = {
        "slot": (layout.Radio.SLOT, NS),
        "sifs": (layout.Radio.SIFS, NS),
        "cw_min": (layout.Radio.CW_MIN, 1),
        "cw_max": (layout.Radio.CW_MAX, 1),
        "short_retry": (layout.Radio.SHORT_RETRY, 1),
        "long_retry": (layout.Radio.LONG_RETRY, 1),
        "burst": (layout.Radio.BURST, 1),
        "mac_overhead": (layout.Radio.MAC_OVERHEAD, 1),
        "arf_up": (layout.Radio.ARF_UP, 1),
        "arf_down": (layout.Radio.ARF_DOWN, 1),
        "arf_timer": (layout.Radio.ARF_TIMER, 1),
        "aarf_factor": (layout.Radio.AARF_FACTOR, 1),
        "aarf_most": (layout.Radio.AARF_MOST, 1),
    }

    implied: ClassVar = frozenset(dot11.DEFAULTS["802.11g"])

    @model_validator(mode="before")
    @classmethod
    def _follow_standard(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {**dot11.DEFAULTS.get(str(data.get("standard")), dot11.DEFAULTS["802.11g"]), **data}
        return data

    @model_validator(mode="after")
    def _has_one_layout(self) -> Self:
        given = [name for name in LAYOUTS if getattr(self, name) is not None]
        if not given:
            raise InputError(f"{', '.join(LAYOUTS)} are all missing; write cell: {{stations: 5}}")
        if len(given) > 1:
            raise InputError(f"{given[0]} and {given[1]} are both given; keep one")
        hearing = [name for name in HEARING if getattr(self, name) is not None]
        if len(hearing) > 1:
            raise InputError(f"{hearing[0]} and {hearing[1]} are both given; keep one")
        metres = bool({"ranges", "path_loss"} & set(hearing))
        if given[0] in ("area", "places") and not metres:
            raise InputError(f"{given[0]} needs ranges or path_loss; write ranges: {{decode: 100 m}}")
        if given[0] == "nodes" and hearing:
            raise InputError(f"nodes define themselves which nodes they hear; remove {hearing[0]}")
        if given[0] == "cell" and metres:
            raise InputError(
                f"{hearing[0]} needs positions, which a cell does not have; write area or places instead"
            )
        if given[0] in ("chain", "tree") and metres and not self._spaced():
            raise InputError(f"{given[0]} needs a spacing with {hearing[0]}; write spacing: 50 m")
        return self

    @model_validator(mode="after")
    def _rates_known(self) -> Self:
        known = self.known_rates
        for rate in known:
            if rate not in dot11.RATES[self.standard]:
                some = ", ".join(f"{each / 1e6:g}" for each in dot11.RATES[self.standard])
                raise InputError(
                    f"rates contain {dot11.mbps(rate)}, no rate of {self.standard}; expected {some} Mbit/s"
                )
        links = self.each if isinstance(self.each, list) else [self.each]
        first = [self.rate, *(link.rate for link in links if link.rate is not None)]
        for number in first:
            for value in values(number):
                self.rate_index(value)
        if self.protection is not None:
            self.rate_index(self.protection, "protection")
        self.rate_table()
        if bounds(self.cw_min)[1] > bounds(self.cw_max)[0]:
            raise InputError("cw_min can be above cw_max; lower cw_min or raise cw_max")
        return self

    @model_validator(mode="after")
    def _nodes_exist(self) -> Self:
        nodes = self.nodes or []
        for k, node in enumerate(nodes):
            if (node.next is None) != (k == len(nodes) - 1):
                what = "is missing" if node.next is None else "must be left out"
                raise InputError(f"nodes.{k}.next {what}; all nodes except the last (the gateway) need one")
            for name in ("next", "sense", "decode", "control", "disturb", "disturb_control"):
                value = getattr(node, name)
                others = value if isinstance(value, list) else [] if value is None else [value]
                if wrong := [other for other in others if not 0 <= other < len(nodes) or other == k]:
                    allowed = f"expected 0 to {len(nodes) - 1} except {k}"
                    raise InputError(f"nodes.{k}.{name} has {wrong[0]}, which is not another node; {allowed}")
        for k in range(len(nodes)):
            at: int | None = k
            for _ in nodes:
                at = None if at is None else nodes[at].next
            if at is not None:
                raise InputError(f"nodes.{k}.next forms a loop; routes must end at the last node")
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
    def has_own_tcps(self) -> bool:
        """True if flows define their own TCPs."""
        return any(flow.has_own_tcp for _, flow in self.each_flow())

    @property
    def flow_bounds(self) -> tuple[int, int]:
        """Minimum and maximum number of flows."""
        if isinstance(self.flows, str):
            each = 2 if self.flows == "both" else 1
            stations = (1, 1) if self.chain else (self.least_stations, self.most_stations)
            return each * stations[0], each * stations[1]
        return super().flow_bounds

    def _spaced(self) -> bool:
        layout = self.chain or self.tree
        links = self.each if isinstance(self.each, list) else [self.each]
        return (layout is not None and layout.spacing is not None) or all(
            link.spacing is not None for link in links
        )

    @property
    def known_rates(self) -> tuple[float, ...]:
        """Rates available to rate control, in order."""
        return dot11.RATES[self.standard] if self.rates is None else tuple(self.rates)

    def rate_index(self, rate: float, field: str = "rate") -> int:
        """Return the first row of a rate in the rate table. Raises InputError."""
        if rate not in self.known_rates:
            some = ", ".join(f"{each / 1e6:g}" for each in self.known_rates)
            raise InputError(f"{field} can be {dot11.mbps(rate)}; expected one of {some} Mbit/s")
        return self.known_rates.index(rate)

    def rate_table(self) -> Any:
        """Return the rate table of the engine, int64[rates, len(Rate)]."""
        return dot11.table(
            self.known_rates, self.standard,
            short_preamble=self.preamble == "short", answer_rate=self.answer_rate,
        )  # fmt: skip

    @property
    def stations(self) -> Number:
        """Number of nodes without the gateway."""
        if self.chain is not None:
            return self.chain.hops
        layout = self.cell or self.tree or self.area
        return float(len(self.places or self.nodes or []) - 1) if layout is None else layout.stations

    @property
    def least_stations(self) -> int:
        """Minimum number of stations."""
        return int(bounds(self.stations)[0])

    @property
    def most_stations(self) -> int:
        """Maximum number of stations."""
        return int(bounds(self.stations)[1])

    @property
    def random_places(self) -> bool:
        """True if positions or shadowing are random: in an area, by the directions of a tree, or with
        shadowing."""
        directions = self.tree is not None and (self.ranges is not None or self.path_loss is not None)
        shadowing = self.path_loss is not None and bounds(self.path_loss.shadowing_db)[1] > 0
        return self.area is not None or directions or shadowing

    def link(self, k: int) -> Link:
        """Return the own properties of link `k`, that of station `k`."""
        if isinstance(self.each, Link):
            return self.each
        return self.each[k] if k < len(self.each) else Link()


def values(rate: Number) -> list[float]:
    """Return the possible values of a rate. Raises InputError for a distribution other than a choice."""
    if isinstance(rate, float):
        return [rate]
    if rate.kind != "choice":
        raise InputError("rate can be drawn only from a list of rates; write {choice: [...]}")
    return list(rate.values)
