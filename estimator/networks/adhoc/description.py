"""An ad hoc network of a scenario: nodes that move, 802.11 frames between those in range, and routing."""

import math
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from netcarlo.errors import InputError, suggest
from netcarlo.kernels.adhoc.layout import MOST_NODES, Manet
from netcarlo.kernels.base.layout import NS
from netcarlo.networks.adhoc import start as adhoc_start
from netcarlo.networks.adhoc.start import Apart, Start
from netcarlo.networks.radio import Frames, Slots, Times
from netcarlo.schema import units
from netcarlo.schema.problems import Wrong, brief
from netcarlo.schema.quantity import Delay, Interval, Number, Probability, Quantity, Size, Time, bounds
from netcarlo.schema.record import Record

MAX_SPEED = 300.0
"""Most speed of a node [m/s].  This and the limits below keep every product of the engine below 2**63."""

Nodes = Annotated[Number, Quantity(units.PLAIN, 2, MOST_NODES, whole=True)]
Span = Annotated[Number, Quantity(units.LENGTH, 1.0, 10e3)]
Range = Annotated[Number, Quantity(units.LENGTH, 1.0, 10e3)]
Sense = Annotated[Number, Quantity(units.LENGTH, 1.0, 22e3)]
Coordinate = Annotated[Number, Quantity(units.LENGTH, -10e3, 10e3)]
Speed = Annotated[Number, Quantity(units.SPEED, 1e-3, MAX_SPEED)]
Pause = Annotated[Number, Quantity(units.TIME, 0.0, 2000.0)]
Leg = Annotated[Number, Quantity(units.TIME, 1e-3, 1000.0)]
Ratio = Annotated[Number, Quantity(units.PLAIN, 1.0, 1000.0)]
Memory = Annotated[Number, Quantity(units.PLAIN, 0.0, 0.9999)]
RadioRate = Annotated[Number, Quantity(units.RATE, 1e4, 1e9)]
Power = Annotated[Number, Quantity(units.POWER, 0.0, 1000.0)]
Energy_ = Annotated[Number, Quantity(units.ENERGY, 1e-3, 1e9)]


class Area(Record):
    """Where the nodes are: a square of this `side`, or a rectangle of `width` and `height`."""

    side: Span | None = None
    """Side of a square."""
    width: Span | None = None
    """Width of a rectangle."""
    height: Span | None = None
    """Height of a rectangle."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        square, rectangle = self.side is not None, (self.width is not None) + (self.height is not None)
        if rectangle != (0 if square else 2):
            raise InputError("needs either side or both width and height; write {side: 400 m}")
        return self


class _Between(Record):
    """Anything from `min` to `max`, drawn evenly for each leg of a node."""

    min: Any
    """The least of what is drawn for each leg."""
    max: Any
    """The most of what is drawn for each leg."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if bounds(self.min)[1] > bounds(self.max)[0]:
            raise InputError("min can be above max; lower min or raise max")
        return self


class SpeedRange(_Between):
    """A speed for each leg."""

    min: Speed
    max: Speed


class TimeRange(_Between):
    """A time for each leg."""

    min: Pause
    max: Pause


def _whether_range(data: Any) -> str:
    between = {"min", "max"} & set(data) if isinstance(data, dict) else isinstance(data, _Between)
    return "<range>" if between else "<number>"


AnySpeed = Annotated[
    Annotated[SpeedRange, Tag("<range>")] | Annotated[Speed, Tag("<number>")], Discriminator(_whether_range)
]
AnyPause = Annotated[
    Annotated[TimeRange, Tag("<range>")] | Annotated[Pause, Tag("<number>")], Discriminator(_whether_range)
]


class Static(Record):
    """Nodes stay where they are, at random places."""

    model: Literal["static"]
    """Nodes stay where they are."""
    start: Start | None = None
    """What holds when the transfer starts; anything unless given."""


class RandomWaypoint(Record):
    """Straight to a random place, a pause, and on to the next.

    Nodes have been on the way for `warm_up` at time 0: they start evenly spread and gather in the middle.
    """

    model: Literal["random_waypoint"]
    """Straight to a random place, a pause, and on."""
    speed: AnySpeed
    """Of a leg: one number, drawn once a replication, or for each leg from `min` to `max`."""
    pause: AnyPause = 0.0
    """At each place: one number, drawn once a replication, or for each leg from `min` to `max`."""
    warm_up: Time = 1000.0
    """Nodes have moved for so long at time 0, as they gather in the middle."""
    start: Start | None = None
    """What holds when the transfer starts; anything unless given."""


class RandomDirection(Record):
    """A random direction for a random time, `leg` on average; walls reflect."""

    model: Literal["random_direction"]
    """A random direction for a random time; walls reflect."""
    speed: AnySpeed
    """Of a leg: one number, drawn once a replication, or for each leg from `min` to `max`."""
    leg: Leg = 20.0
    """Mean of the exponential time of a leg."""
    warm_up: Time = 0.0
    """Nodes have moved for so long at time 0."""
    start: Start | None = None
    """What holds when the transfer starts; anything unless given."""


class GaussMarkov(Record):
    """A velocity that changes every `step` and keeps so much of the last one; walls reflect.

    Both of its parts are normal; `speed` is its mean size.
    """

    model: Literal["gauss_markov"]
    """A velocity that keeps a part of itself every step; walls reflect."""
    speed: Speed
    """Mean size of the velocity."""
    memory: Memory = 0.75
    """The part of the velocity that is kept in a step."""
    step: Leg = 1.0
    """How often the velocity changes."""
    warm_up: Time = 0.0
    """Nodes have moved for so long at time 0."""
    start: Start | None = None
    """What holds when the transfer starts; anything unless given."""


class Stop(Record):
    """Where a node is at a time; it moves straight to the next of them."""

    time: Time
    """When the node is here; it moves straight to the next place."""
    x: Coordinate
    """First coordinate."""
    y: Coordinate = 0.0
    """Second coordinate."""


class Given(Record):
    """Every node's trajectory; before the first and after the last of its places it stands still."""

    model: Literal["given"]
    """Trajectories as given."""
    nodes: list[Annotated[list[Stop], Field(min_length=1)]] = Field(min_length=2, max_length=MOST_NODES)
    """A list of places in order of time for each node."""

    @model_validator(mode="after")
    def _can_be_walked(self) -> Self:
        for n, stops in enumerate(self.nodes):
            for k, (a, b) in enumerate(pairwise(stops), 1):
                time = bounds(b.time)[0] - bounds(a.time)[1]
                if time < 1e-6:
                    raise InputError(
                        f"nodes.{n}.{k}.time can be at or before the one before it; allowed is 1 us later or "
                        "more; write times in rising order"
                    )
                displacement = [
                    max(abs(p - q) for p in bounds(u) for q in bounds(v)) for u, v in ((a.x, b.x), (a.y, b.y))
                ]
                if (speed := math.hypot(*displacement) / time) > MAX_SPEED:
                    raise InputError(
                        f"nodes.{n}.{k} needs {speed:.4g} m/s to be reached; allowed is {MAX_SPEED:.0f} m/s "
                        "or less; give it more time"
                    )
        return self


MODELS = {
    "static": Static,
    "random_waypoint": RandomWaypoint,
    "random_direction": RandomDirection,
    "gauss_markov": GaussMarkov,
    "given": Given,
}


def _model(data: Any) -> str:
    return f"<{data['model'] if isinstance(data, dict) else getattr(data, 'model', '')}>"


AnyMobility = Annotated[
    Annotated[Static, Tag("<static>")]
    | Annotated[RandomWaypoint, Tag("<random_waypoint>")]
    | Annotated[RandomDirection, Tag("<random_direction>")]
    | Annotated[GaussMarkov, Tag("<gauss_markov>")]
    | Annotated[Given, Tag("<given>")],
    Discriminator(_model),
]


class Radio(Record):
    """The 802.11 radio of every node; every frame to one node is announced by an RTS."""

    rate: RadioRate = 2e6
    """Rate of data frames to one node."""
    basic_rate: RadioRate = 1e6
    """Rate of RTS, CTS, ACK and route requests."""
    preamble: Delay = 192e-6
    """Preamble and header of the physical layer, before every frame."""
    slot: Interval = 20e-6
    """A slot of the backoff."""
    sifs: Interval = 10e-6
    """Space before an answer."""
    eifs: Interval = 364e-6
    """Wait after a frame that could not be decoded."""
    cw_min: Slots = 31.0
    """Largest backoff at the first attempt, in slots."""
    cw_max: Slots = 1023.0
    """Largest backoff after many attempts, in slots."""
    short_retry: Times = 7.0
    """Attempts of an RTS."""
    long_retry: Times = 4.0
    """Attempts of a data frame after it."""
    queue: Frames = 50.0
    """Packets that wait at a node, at most."""
    overhead: Size = 54.0
    """Bytes that a data frame has besides its packet: 20 of the network and 34 of the MAC."""

    fills: ClassVar = {
        "preamble": (Manet.PREAMBLE, NS),
        "slot": (Manet.SLOT, NS),
        "sifs": (Manet.SIFS, NS),
        "eifs": (Manet.EIFS, NS),
        "cw_min": (Manet.CW_MIN, 1),
        "cw_max": (Manet.CW_MAX, 1),
        "short_retry": (Manet.SHORT_RETRY, 1),
        "long_retry": (Manet.LONG_RETRY, 1),
        "queue": (Manet.QUEUE, 1),
        "overhead": (Manet.OVERHEAD, 1),
    }

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if bounds(self.cw_min)[1] > bounds(self.cw_max)[0]:
            raise InputError("cw_min can be above cw_max; lower cw_min or raise cw_max")
        return self


class Energy(Record):
    """What a radio draws; `overhear`, for frames that are for others, is `receive` unless given."""

    transmit: Power = 1.327
    """Power while it transmits."""
    receive: Power = 0.967
    """Power while it receives."""
    idle: Power = 0.843
    """Power while it waits."""
    overhear: Power | None = None
    """Power while it receives frames for others; `receive` unless given."""
    battery: Energy_ | None = None
    """What every node's battery holds, from which `network_life_s` follows; no limit unless given."""


class Adhoc(Record):
    """Nodes 0, 1, ... without any other network; one flow goes from `source` to `sink`.

    Nodes up to `range` apart decode each other's frames, and sense them up to `sense`, 2.2 times that
    unless given.  A frame survives another one that is weaker by `capture`, a ratio of powers which fall
    with the fourth power of the distance.
    """

    nodes: Nodes | None = None
    """How many nodes there are; given unless their trajectories are."""
    area: Area | None = None
    """Where they are; given unless their trajectories are."""
    range: Range
    """Frames are decoded up to here."""
    sense: Sense | None = None
    """Nodes this near wait for each other; 2.2 times `range` unless given."""
    capture: Ratio = 10.0
    """A frame survives another one that is weaker by this ratio of powers (fourth power of the distance)."""
    mobility: AnyMobility
    """How nodes move."""
    routing: Literal["dsr", "ideal"] = "dsr"
    """How routes are found: by DSR; or the shortest way there is, without any control traffic."""
    frame_error: Probability = 0.0
    """Probability that noise destroys a frame at the radio it is for; 802.11 repeats it."""
    residual_error: Probability = 0.0
    """Probability that a segment with data is lost at the sink's host."""
    ack_error: Probability = 0.0
    """Probability that a segment without data (an acknowledgement, a probe) is lost at either host."""
    radio: Radio = Radio()
    """The 802.11 radio of every node."""
    energy: Energy = Energy()
    """What a radio draws, and what its battery holds."""
    source: Annotated[int, Field(ge=0, lt=MOST_NODES)] = 0
    """Number of the node that sends."""
    sink: Annotated[int, Field(ge=0, lt=MOST_NODES)] = 1
    """Number of the node that receives."""
    observe: Literal["completion", "end"] = "completion"
    """Whether a finite transfer ends the run, or it goes on to `duration`."""

    @model_validator(mode="before")
    @classmethod
    def _know_mobility(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "mobility" not in data:
            return data
        mobility = data["mobility"]
        if not isinstance(mobility, dict | Record):
            text = "has no fields; write {model: static}"
            return {**data, "mobility": Wrong(text, f" = {brief(mobility)}")}
        if isinstance(mobility, dict) and str(model := mobility.get("model")) not in MODELS:
            text = (
                "is missing; write model: random_waypoint"
                if model is None
                else f"is an unknown model; {suggest(str(model), MODELS)}"
            )
            value = "" if model is None else f" = {brief(model)}"
            return {**data, "mobility": Wrong(text, value, ("model",))}
        return data

    @model_validator(mode="after")
    def _fits(self) -> Self:
        given = isinstance(self.mobility, Given)
        if self.nodes is None and not given:
            raise InputError("nodes is missing; write nodes: 10")
        if isinstance(self.mobility, Given) and bounds(self.all_nodes) != (len(self.mobility.nodes),) * 2:
            count = len(self.mobility.nodes)
            raise InputError(f"nodes is not that of mobility.nodes, {count}; remove it")
        if self.area is None and not given:
            raise InputError("area is missing; write area: {side: 400 m}")
        for name in ("source", "sink"):
            if getattr(self, name) >= (least := int(bounds(self.all_nodes)[0])):
                raise InputError(
                    f"{name} = {getattr(self, name)} is no node; allowed is 0 to {least - 1}; lower it or "
                    "raise nodes"
                )
        if self.source == self.sink:
            raise InputError(f"source and sink are both {self.source}; change one of them")
        if self.sense is not None and bounds(self.sense)[0] < bounds(self.range)[1]:
            raise InputError("sense can be below range; raise sense or lower range")
        if self.apart is not None:
            adhoc_start.check(self.apart, *self.sides, gathers=isinstance(self.mobility, RandomWaypoint))
        return self

    @property
    def all_nodes(self) -> Number:
        """How many nodes there are."""
        if self.nodes is None:
            return float(len(self.mobility.nodes)) if isinstance(self.mobility, Given) else math.nan
        return self.nodes

    @property
    def sides(self) -> tuple[Number, Number]:
        """Width and height of the area."""
        area = self.area
        if area is None or area.width is None or area.height is None:
            side = math.nan if area is None or area.side is None else area.side
            return side, side
        return area.width, area.height

    @property
    def apart(self) -> Apart | None:
        """How far source and sink are apart when the transfer starts, where that is asked."""
        start = getattr(self.mobility, "start", None)
        return start.apart if isinstance(start, Start) else None

    @property
    def redrawn(self) -> float:
        """Ways that are drawn until source and sink are as far apart as asked, at most on average."""
        if self.apart is None:
            return 0.0
        gathers = isinstance(self.mobility, RandomWaypoint)
        return 2 / adhoc_start.min_share(self.apart, *self.sides, gathers=gathers)

    @property
    def random_places(self) -> bool:
        """Whether places are drawn beside the fields."""
        return not isinstance(self.mobility, Given)

    @property
    def most_nodes(self) -> int:
        """The most there can be."""
        return int(bounds(self.all_nodes)[1])
