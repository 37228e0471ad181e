"""A wireless network of a scenario: an 802.11 cell, chain, tree or scattered stations on one channel.

Stations are numbered 0, 1, ...; the last node is the gateway (in a cell the access point or sink).
Frames go from node to node along a tree whose root is the gateway.
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
    """Stations around one access point."""

    stations: Stations
    """How many, besides the access point."""


class Chain(Record):
    """Nodes in a line: station 0, relays, the gateway; `spacing` where distances matter."""

    hops: Stations
    """Links from station 0 to the gateway."""
    spacing: Length | None = None
    """Distance of neighbours; needed where distances matter."""


class Tree(Record):
    """Each node has `children` next to it, the gateway too; `spacing` where distances matter."""

    stations: Stations
    """How many, besides the gateway."""
    children: Stations = 2.0
    """So many nodes are below each."""
    spacing: Length | None = None
    """Distance of neighbours; needed where distances matter."""


class Area(Record):
    """Stations at random places of a square with the gateway in the middle, or in a corner."""

    stations: Stations
    """How many, besides the gateway."""
    side: Length
    """Side of the square."""
    gateway: Literal["middle", "corner"] = "middle"
    """Where the gateway is."""


class Place(Record):
    """Where a node is."""

    x: Coordinate
    """First coordinate."""
    y: Coordinate = 0.0
    """Second coordinate."""


class Node(Record):
    """A node by what it hears: numbers of other nodes.  The last one is the gateway and has no `next`.

    `decode` are the nodes whose data frames it decodes, `disturb` those whose transmissions destroy a
    data frame that it receives; the same for control frames.
    """

    next: int | None = None
    """Number of the next node on the way to the gateway, which alone has none."""
    sense: list[int]
    """Nodes whose transmissions it waits for."""
    decode: list[int] | None = None
    """Nodes whose data frames it decodes; its neighbours unless given."""
    control: list[int] | None = None
    """Nodes whose control frames it decodes; those of `sense` unless given."""
    disturb: list[int] | None = None
    """Nodes whose transmissions destroy a data frame that it receives; those of `sense` unless given."""
    disturb_control: list[int] | None = None
    """Nodes whose transmissions destroy a control frame that it receives; those of `disturb` unless given."""


class Reach(Record):
    """Who hears whom, in hops along the tree: `unlimited` is everybody.

    Unless given: `decode` is 1, or unlimited where `sense` is; `control` and `disturb` are `sense`, and
    `disturb_control` is `disturb`.
    """

    sense: Reaches = math.inf
    """Hops over which a node waits for others."""
    decode: Reaches | None = None
    """Hops over which data frames are decoded; 1, or unlimited where `sense` is, unless given."""
    control: Reaches | None = None
    """Hops over which control frames are decoded; `sense` unless given."""
    disturb: Reaches | None = None
    """Hops from which a data frame is destroyed; `sense` unless given."""
    disturb_control: Reaches | None = None
    """Hops from which a control frame is destroyed; `disturb` unless given."""


class Ranges(Record):
    """Who hears whom, in metres.

    Unless given: `control` is `decode`, `sense` and `disturb` are `control`, and `disturb_control` is
    `disturb`.
    """

    decode: Length
    """Distance up to which data frames are decoded."""
    control: Length | None = None
    """Distance up to which control frames are decoded; `decode` unless given."""
    sense: Length | None = None
    """Distance up to which a node waits for others; `control` unless given."""
    disturb: Length | None = None
    """Distance from which a data frame is destroyed; `control` unless given."""
    disturb_control: Length | None = None
    """Distance from which a control frame is destroyed; `disturb` unless given."""


class PathLoss(Record):
    """Who hears whom by received power: log-distance path loss, log-normal shadowing of every pair.

    A transmission destroys a frame unless it is weaker than the weakest neighbour's by `capture_db`.
    """

    power_dbm: Decibel = 16.0
    """Transmitted power [dBm]."""
    reference_db: Decibel = 40.0
    """Loss over the first metre [dB]."""
    exponent: Annotated[Number, Quantity(units.PLAIN, 1, 8)] = 3.0
    """The loss grows by ten times this for each tenfold distance [dB]."""
    shadowing_db: Annotated[Number, Quantity(units.PLAIN, 0, 20)] = 0.0
    """Standard deviation of the normal shadowing of every pair [dB]."""
    decode_dbm: Decibel = -72.0
    """Power from which data frames are decoded [dBm]."""
    control_dbm: Decibel = -82.0
    """Power from which control frames are decoded [dBm]."""
    sense_dbm: Decibel = -85.0
    """Power from which a node waits for others [dBm]."""
    capture_db: Decibel = 22.0
    """A data frame survives a transmission that is weaker by this than the weakest neighbour's [dB]."""
    control_capture_db: Decibel = 10.0
    """The same of a control frame [dB]."""


class Link(Record):
    """What the link from a station to its next hop has of its own, in both directions."""

    spacing: Length | None = None
    """Length of the link, where distances matter; that of all unless given."""
    rate: FirstRate | None = None
    """First rate of the link; that of all unless given."""
    frame_error: Probability | None = None
    """Probability that noise destroys a data frame; that of all unless given."""


class LegSpec(Record):
    """A FIFO server beside the radio: a wire, a delay element, a slow host.

    A packet takes its bytes (and `overhead` more) at `rate`, and `packet_time`, then `delay`; with `tick`
    it leaves at the next tick of a clock whose phase is drawn unless given.  `swing` is the standard
    deviation of its relative slowness, which is drawn anew every `swing_every`.  Packets that find `queue`
    others are lost.
    """

    rate: Rate = math.inf
    """Bit rate of a wire."""
    overhead: Size = 0.0
    """Bytes that a packet has on it besides its own."""
    packet_time: Delay = 0.0
    """Time to serve a packet, whatever its size."""
    delay: Delay = 0.0
    """Delay behind the server."""
    tick: Time = 0.0
    """A packet leaves at the next tick of a clock with this period; 0 is none."""
    phase: Time | None = None
    """How far that clock is into a tick at time 0; drawn unless given."""
    queue: Annotated[Number, Quantity(units.PACKETS, 1, 65536, whole=True)] = 1000.0
    """A packet that finds so many others is lost."""
    swing: Annotated[Number, Quantity(units.FRACTION, 0.0, 0.2)] = 0.0
    """Standard deviation of the relative slowness of the server."""
    swing_every: Interval = 1.0
    """How often that slowness is drawn anew."""

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
    """The receiving host; making an acknowledgement takes it `ack_time`.

    With `read` TCP has what the application has read: at most so much at once, in `read_time` for a packet,
    while no packet is served (interrupts come first).  A delayed acknowledgement waits until a read ends.
    """

    ack_time: Delay = 0.0
    """Making an acknowledgement takes so long."""
    read: Size | None = None
    """The application reads at most so much at once; at once whatever has arrived unless given."""
    read_time: Delay = 0.0
    """Reading takes so long for a packet."""


class FlowSpec(flows.FlowSpec):
    """A flow from `source` to `sink`, node numbers or `gateway`; of the scenario's transport, or `udp`.

    What is given here replaces the field of the transport.  Of several flows (`Flows`) an end may be a
    `station`: each has another one.  If any flow names a `class`, delays are measured by class; packets that
    take longer than `late` are late.
    """

    source: int | Literal["gateway", "station"] = 0
    """Number of the node that sends, or `gateway`; `station` is another one for each of several flows."""
    sink: int | Literal["gateway", "station"] = "gateway"
    """Number of the node that receives, or `gateway`; `station` is another one for each of several flows."""
    stop: Time | None = None
    """When UDP ends; as `transport` unless given."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.source == self.sink:
            raise InputError(f"source and sink are both {self.source}; change one of them")
        if "station" in (self.source, self.sink) and "gateway" not in (self.source, self.sink):
            other = "sink" if self.source == "station" else "source"
            raise InputError(
                f"{other} = {getattr(self, other)} is for numbered stations; write {other}: gateway"
            )
        return self

    @property
    def of_station(self) -> bool:
        """Whether one end is a station that the number of the flow decides."""
        return "station" in (self.source, self.sink)


class Flows(flows.Flows):
    """`count` flows (unless given one for each station), each drawn on its own from `each` (or a list, one of
    each flow).

    What `station` means there is another one for each: `first`, the next one, and so on, then again from 0.
    """

    count: FlowCount | None = None
    """How many flows; one for each station unless given."""
    first: int = 0
    """The station of the first flow; the others take the next ones in turn."""
    each: Annotated[
        Annotated[FlowSpec, Tag("<flow>")] | Annotated[list[FlowSpec], Tag("<flows>")],
        Discriminator(lambda data: "<flows>" if isinstance(data, list) else "<flow>"),
    ] = FlowSpec()
    """Every flow draws its own numbers from these; or a list, an item for each flow."""

    of_each: ClassVar = FlowSpec

    @property
    def most_each(self) -> int:
        """The most flows there can be."""
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

    Who hears whom is said by one of `reach` (hops), `ranges` (metres) and `path_loss`; unless it is,
    everybody hears everybody.  Each station has a link to the next node; `rate` and `frame_error` are
    those of all links, `each` what every link draws on its own (or a list, one of each link).
    With `redraw: false` random places are those of the scenario's `topology`, not of each replication.
    """

    standard: Literal["802.11a", "802.11b", "802.11g"] = "802.11g"
    """Which 802.11 gives the timing and rates."""
    slot: Interval
    """A slot of the backoff; that of the standard unless given."""
    sifs: Interval
    """Space before an answer; that of the standard unless given."""
    eifs: Interval | None = None
    """Wait after a frame that could not be decoded; SIFS, DIFS and an ACK at the lowest rate unless given."""
    cw_min: Slots
    """Largest backoff at the first attempt, in slots; that of the standard unless given."""
    cw_max: Slots = 1023.0
    """Largest backoff after many attempts, in slots."""
    short_retry: Times = 7.0
    """Attempts of a frame without an RTS, and of an RTS."""
    long_retry: Times = 7.0
    """Attempts of a frame after an RTS."""
    preamble: Literal["long", "short"] = "long"
    """Preamble of 2, 5.5 and 11 Mbit/s."""
    protection: PhyRate | None = None
    """Rate of a CTS to self before OFDM frames; none unless given."""
    rts_threshold: Threshold = math.inf
    """Frames longer than this on the air are announced by an RTS."""
    burst: Times = 1.0
    """Data frames per access to the channel."""
    gateway_burst: Times | None = None
    """The same for the gateway, whose driver may be another; `burst` unless given."""
    mac_overhead: Size = 36.0
    """Bytes of LLC, MAC header and FCS."""
    queue: Frames = 50.0
    """Packets that wait at a node, at most."""
    back_pressure: bool = False
    """Whether a full queue stops the TCP or SCTP of its own node instead of dropping."""

    rates: list[PhyRate] | None = Field(default=None, min_length=1, max_length=32)
    """Rates that rate control moves in; all of the standard unless given."""
    rate: FirstRate
    """The first rate of every link; 54 Mbit/s, of 802.11b 11 Mbit/s, unless given."""
    answer_rate: PhyRate | None = None
    """Rate of ACK, CTS and RTS; the highest mandatory one unless given."""
    rate_control: Literal["fixed", "arf", "aarf"] = "fixed"
    """Whether rates are fixed, or follow successes and failures."""
    arf_up: Times = 10.0
    """Successes in a row after which ARF tries the next rate."""
    arf_down: Times = 2.0
    """Failures in a row after which ARF goes back a rate."""
    arf_timer: Times = 15.0
    """Frames after which ARF tries the next rate anyway."""
    aarf_factor: Times = 2.0
    """AARF: a trial that fails multiplies `arf_up` by this."""
    aarf_most: Times = 60.0
    """AARF: the most that `arf_up` grows to."""
    frame_error: Probability = 0.0
    """Probability that noise destroys a data frame."""
    survival: Time = 0.0
    """How long a disturbed data frame lasts on average; with 0 it is destroyed at once."""
    each: AnyLinks = Link()
    """What every link draws on its own; or a list, an item for each link."""

    cell: Cell | None = None
    """Stations around one access point."""
    chain: Chain | None = None
    """Nodes in a line."""
    tree: Tree | None = None
    """A tree below the gateway."""
    area: Area | None = None
    """Stations at random places."""
    places: list[Place] | None = Field(default=None, min_length=2, max_length=MOST_NODES)
    """Where each node is; the last is the gateway."""
    nodes: list[Node] | None = Field(default=None, min_length=2, max_length=MOST_NODES)
    """What each node hears; the last is the gateway."""
    redraw: bool = True
    """Random places and shadowing are new in every replication; otherwise they are those of the
    `topology`."""
    reach: Reach | None = None
    """Who hears whom, in hops; everybody hears everybody unless this, `ranges` or `path_loss` is given."""
    ranges: Ranges | None = None
    """Who hears whom, in metres."""
    path_loss: PathLoss | None = None
    """Who hears whom, by received power."""

    wire: LegSpec | None = None
    """A wire between the gateway and the end host behind it, in both directions; none unless given."""
    sender_delay: LegSpec | None = None
    """What the sender's packets pass before its radio: a delay element; none unless given."""
    receiver: Receiver | None = None
    """What they pass last: a slow host; none unless given."""
    outages: Outages | None = None
    """When the gateway is down, given or random; never unless given."""
    flows: AnyFlows = "up"
    """Who sends: every station to the gateway, the other way, both; or a list of flows."""
    best_interval: Interval | None = None
    """The outcome `best_bps` is the most in an interval of this length; not measured unless given."""

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
            raise InputError(f"nodes say themselves who hears whom; remove {hearing[0]}")
        if given[0] == "cell" and metres:
            raise InputError(f"{hearing[0]} needs places, and a cell has none; write area or places instead")
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
                    f"rates have {dot11.mbps(rate)}, which {self.standard} has not; allowed are {some} Mbit/s"
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
                raise InputError(f"nodes.{k}.next is wrong; all nodes but the last, the gateway, need one")
            for name in ("next", "sense", "decode", "control", "disturb", "disturb_control"):
                value = getattr(node, name)
                others = value if isinstance(value, list) else [] if value is None else [value]
                if wrong := [other for other in others if not 0 <= other < len(nodes) or other == k]:
                    allowed = f"allowed is 0 to {len(nodes) - 1} without {k}"
                    raise InputError(f"nodes.{k}.{name} has {wrong[0]}, which is no other node; {allowed}")
        for k in range(len(nodes)):
            at: int | None = k
            for _ in nodes:
                at = None if at is None else nodes[at].next
            if at is not None:
                raise InputError(f"nodes.{k}.next leads round in a circle; let it lead to the last node")
        return self

    @model_validator(mode="after")
    def _flows_exist(self) -> Self:
        if isinstance(self.flows, list):
            if not self.flows:
                raise InputError("flows are none; write flows: up")
            self._check_stations(self.flows)
            if self.flow_bounds[0] < 1:
                raise InputError("flows can be none at all; raise a count")
            if self.flow_bounds[1] > MOST_FLOWS:
                most = f"allowed is 1 to {MOST_FLOWS}"
                raise InputError(f"flows can be {self.flow_bounds[1]}; {most}; lower a count")
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
                raise InputError(f"flows.{k}.{end} = station is for several flows; {remedy}")
        for name, number in numbered:
            if isinstance(number, int) and not 0 <= number < self.least_stations:
                allowed = f"allowed is 0 to {self.least_stations - 1}"
                other = "" if name.endswith("first") else ", or gateway"
                raise InputError(f"{name} = {number} is no station; {allowed}{other}")

    def count_of(self, item: Any) -> Number:
        """Return how many flows an item describes: unless it says how many, one for each station."""
        several = isinstance(item, Flows) and item.count is None
        return self.stations if several else super().count_of(item)

    @property
    def has_own_tcps(self) -> bool:
        """Whether flows are TCPs of their own."""
        return any(flow.has_own_tcp for _, flow in self.each_flow())

    @property
    def flow_bounds(self) -> tuple[int, int]:
        """The fewest and the most flows there can be."""
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
        """The rates that rate control moves in, in order."""
        return dot11.RATES[self.standard] if self.rates is None else tuple(self.rates)

    def rate_index(self, rate: float, field: str = "rate") -> int:
        """The first row of a rate in the table.  Raises InputError."""
        if rate not in self.known_rates:
            some = ", ".join(f"{each / 1e6:g}" for each in self.known_rates)
            raise InputError(f"{field} can be {dot11.mbps(rate)}; allowed are {some} Mbit/s")
        return self.known_rates.index(rate)

    def rate_table(self) -> Any:
        """The rates as the engine reads them, int64[rates, len(Rate)]."""
        return dot11.table(
            self.known_rates, self.standard,
            short_preamble=self.preamble == "short", answer_rate=self.answer_rate,
        )  # fmt: skip

    @property
    def stations(self) -> Number:
        """How many nodes there are beside the gateway."""
        if self.chain is not None:
            return self.chain.hops
        layout = self.cell or self.tree or self.area
        return float(len(self.places or self.nodes or []) - 1) if layout is None else layout.stations

    @property
    def least_stations(self) -> int:
        """The fewest there can be."""
        return int(bounds(self.stations)[0])

    @property
    def most_stations(self) -> int:
        """The most there can be."""
        return int(bounds(self.stations)[1])

    @property
    def random_places(self) -> bool:
        """Whether places are drawn beside the fields: of an area, the directions of a tree, shadowing."""
        directions = self.tree is not None and (self.ranges is not None or self.path_loss is not None)
        shadowing = self.path_loss is not None and bounds(self.path_loss.shadowing_db)[1] > 0
        return self.area is not None or directions or shadowing

    def link(self, k: int) -> Link:
        """What link `k`, that of station `k`, has of its own."""
        if isinstance(self.each, Link):
            return self.each
        return self.each[k] if k < len(self.each) else Link()


def values(rate: Number) -> list[float]:
    """The values that a rate can take.  Raises InputError for a distribution that is not a choice."""
    if isinstance(rate, float):
        return [rate]
    if rate.kind != "choice":
        raise InputError("rate is drawn from between rates; write {choice: [...]}")
    return list(rate.values)
