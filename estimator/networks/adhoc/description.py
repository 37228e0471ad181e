"""Description of an ad hoc network: moving nodes, 802.11 frames between nodes in range, and routing."""

import math
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from netcarlo.errors import InputError, suggest
from netcarlo.kernels.adhoc.layout import MOST_NODES, Manet
from netcarlo.kernels.base.layout import NS
from netcarlo.networks.adhoc import start as adhoc_start
from netcarlo.networks.adhoc.start import Apart, Start
from netcarlo.networks.radio import Frames, Slots, Times
from netcarlo.schema import units
from netcarlo.schema.json_schema import or_file
from netcarlo.schema.problems import Wrong, brief
from netcarlo.schema.quantity import Delay, Interval, Number, Probability, Quantity, Size, Time, bounds
from netcarlo.schema.record import Record

MAX_SPEED = 300.0
"""Maximum speed of a node [m/s]. With this limit and those below, products in the engine stay below 2**63."""

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
    """Area of the nodes: a square with this `side`, or a rectangle with `width` and `height`."""

    side: Span | None = None
    """Side of a square area."""
    width: Span | None = None
    """Width of a rectangular area."""
    height: Span | None = None
    """Height of a rectangular area."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        square, rectangle = self.side is not None, (self.width is not None) + (self.height is not None)
        if rectangle != (0 if square else 2):
            raise InputError("needs either side or both width and height; write {side: 400 m}")
        return self


class _Between(Record):
    """Range from `min` to `max`; a value is drawn uniformly for each leg of a node."""

    min: Any
    """Minimum of the values drawn for each leg."""
    max: Any
    """Maximum of the values drawn for each leg."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if bounds(self.min)[1] > bounds(self.max)[0]:
            raise InputError("min can be above max; lower min or raise max")
        return self


class SpeedRange(_Between):
    """Range of speeds; one is drawn for each leg."""

    min: Speed
    max: Speed


class TimeRange(_Between):
    """Range of times; one is drawn for each leg."""

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
    """Static nodes at random positions."""

    model: Literal["static"]
    """Static nodes at random positions."""
    start: Start | None = None
    """Condition at the start of the transfer. Default: none."""


class RandomWaypoint(Record):
    """Random waypoint: a node moves straight to a random position, pauses, and continues to the next.

    At time 0 nodes have moved for `warm_up`: they start uniformly distributed and concentrate in the middle.
    """

    model: Literal["random_waypoint"]
    """Random waypoint: straight moves to random positions, with pauses."""
    speed: AnySpeed
    """Speed of a leg: one number per replication, or drawn for each leg from `min` to `max`."""
    pause: AnyPause = 0.0
    """Pause at each position: one number per replication, or drawn for each leg from `min` to `max`."""
    warm_up: Time = 1000.0
    """Time for which nodes have moved at time 0, so that they concentrate in the middle."""
    start: Start | None = None
    """Condition at the start of the transfer. Default: none."""


class RandomDirection(Record):
    """Random direction: a node moves in a random direction for a random time with mean `leg`; walls
    reflect it."""

    model: Literal["random_direction"]
    """Random direction: moves in random directions for random times; walls reflect."""
    speed: AnySpeed
    """Speed of a leg: one number per replication, or drawn for each leg from `min` to `max`."""
    leg: Leg = 20.0
    """Mean duration of a leg; durations are uniform from 0 to twice the mean."""
    warm_up: Time = 0.0
    """Time for which nodes have moved at time 0."""
    start: Start | None = None
    """Condition at the start of the transfer. Default: none."""


class GaussMarkov(Record):
    """Gauss-Markov mobility: the velocity changes every `step` and keeps the share `memory` of the last one;
    walls reflect.

    Both components of the velocity are normally distributed; `speed` is its mean magnitude.
    """

    model: Literal["gauss_markov"]
    """Gauss-Markov: a velocity with memory that changes every step; walls reflect."""
    speed: Speed
    """Mean magnitude of the velocity."""
    memory: Memory = 0.75
    """Share of the velocity that is kept in a step."""
    step: Leg = 1.0
    """Interval between changes of the velocity."""
    warm_up: Time = 0.0
    """Time for which nodes have moved at time 0."""
    start: Start | None = None
    """Condition at the start of the transfer. Default: none."""


class Stop(Record):
    """Position of a node at a time; the node moves straight to the next position."""

    time: Time
    """Time at which the node is at this position."""
    x: Coordinate
    """First coordinate of the position."""
    y: Coordinate = 0.0
    """Second coordinate of the position."""


class Given(Record):
    """Given trajectory of every node; a node does not move before its first and after its last position."""

    model: Literal["given"]
    """Trajectories given by positions and times."""
    nodes: list[Annotated[list[Stop], Field(min_length=1)]] = Field(
        min_length=2, max_length=MOST_NODES, json_schema_extra=or_file
    )
    """List of positions in order of time, for each node; or the name of a movement file of BonnMotion or of
    ns-2 (setdest)."""

    @field_validator("nodes", mode="before")
    @classmethod
    def _are_not_too_many(cls, nodes: Any) -> Any:
        if isinstance(nodes, list) and len(nodes) > MOST_NODES:
            remedy = f"keep {MOST_NODES} lines of what netcarlo import movement FILE --out NEW writes"
            raise InputError(f"has {len(nodes)} nodes; expected at most {MOST_NODES} nodes; {remedy}")
        return nodes

    @model_validator(mode="after")
    def _can_be_walked(self) -> Self:
        for n, stops in enumerate(self.nodes):
            for k, (a, b) in enumerate(pairwise(stops), 1):
                time = bounds(b.time)[0] - bounds(a.time)[1]
                if time < 1e-6:
                    raise InputError(
                        f"nodes.{n}.{k}.time can be at or before the previous time; expected 1 us later or "
                        "more; write times in ascending order"
                    )
                displacement = [
                    max(abs(p - q) for p in bounds(u) for q in bounds(v)) for u, v in ((a.x, b.x), (a.y, b.y))
                ]
                if (speed := math.hypot(*displacement) / time) > MAX_SPEED:
                    raise InputError(
                        f"nodes.{n}.{k} needs a speed of {speed:.4g} m/s; expected {MAX_SPEED:.0f} m/s "
                        "or less; write a later time"
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
    """The 802.11 radio of every node; an RTS precedes every unicast frame."""

    rate: RadioRate = 2e6
    """Rate of unicast data frames."""
    basic_rate: RadioRate = 1e6
    """Rate of RTS, CTS, ACK and route requests."""
    preamble: Delay = 192e-6
    """Duration of the preamble and header of the physical layer of every frame."""
    slot: Interval = 20e-6
    """Duration of a backoff slot."""
    sifs: Interval = 10e-6
    """Short interframe space (SIFS)."""
    eifs: Interval = 364e-6
    """Extended interframe space (EIFS) after a frame that could not be decoded."""
    cw_min: Slots = 31.0
    """Contention window of the first attempt [slots]."""
    cw_max: Slots = 1023.0
    """Maximum contention window [slots]."""
    short_retry: Times = 7.0
    """Maximum number of attempts of an RTS."""
    long_retry: Times = 4.0
    """Maximum number of attempts of a data frame after an RTS."""
    queue: Frames = 50.0
    """Queue limit of each node."""
    overhead: Size = 54.0
    """Size of the headers of a data frame besides its packet: 20 B of the network layer and 34 B of the
    MAC."""

    fills: ClassVar = {
        "preamble": (Manet.PREAMBLE, NS),
        "slot": (Manet.SLOT, NS),
        "sifs": (Manet.SIFS, NS),
        "eifs": (Manet.EIFS, NS),
        "cw_min": (Manet.CW_MIN, 1),
        "cw_max": (Manet.CW_MAX, 1),
        "short_retry": (Manet.SHORT_RETRY, 1),
        "long_retry": (Manet.LONG_RETRY, 1),
        "overhead": (Manet.OVERHEAD, 1),
    }

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if bounds(self.cw_min)[1] > bounds(self.cw_max)[0]:
            raise InputError("cw_min can be above cw_max; lower cw_min or raise cw_max")
        return self


class Energy(Record):
    """Power consumption of a radio."""

    transmit: Power = 1.327
    """Power while the radio transmits."""
    receive: Power = 0.967
    """Power while the radio receives."""
    idle: Power = 0.843
    """Power while the radio is idle."""
    overhear: Power | None = None
    """Power while the radio receives frames for other nodes. Default: `receive`."""
    battery: Energy_ | None = None
    """Energy of every node's battery, from which `network_life_s` follows. Default: no limit."""


class Adhoc(Record):
    """An ad hoc network of nodes 0, 1, ... with one flow from `source` to `sink`.

    Nodes up to `range` apart decode each other's frames, and sense them up to `sense` (default: 2.2 times
    `range`). A frame survives another one that is weaker by the power ratio `capture`; power decreases with
    the fourth power of the distance.
    """

    nodes: Nodes | None = None
    """Number of nodes; required unless trajectories are given."""
    area: Area | None = None
    """Area of the nodes; required unless trajectories are given."""
    range: Range
    """Distance up to which frames are decoded."""
    sense: Sense | None = None
    """Distance up to which nodes sense each other and defer. Default: 2.2 times `range`."""
    capture: Ratio = 10.0
    """Capture threshold: a frame survives another one that is weaker by this power ratio (fourth power of
    the distance)."""
    mobility: AnyMobility
    """Mobility model of the nodes."""
    routing: Literal["dsr", "ideal"] = "dsr"
    """Routing: DSR, or always the shortest path without control traffic (`ideal`)."""
    frame_error: Probability = 0.0
    """Probability that noise destroys a frame at its receiver; 802.11 retransmits it."""
    residual_error: Probability = 0.0
    """Probability that a segment with data is lost at the receiving host."""
    ack_error: Probability = 0.0
    """Probability that a segment without data (an acknowledgement, a probe) is lost at either host."""
    radio: Radio = Radio()
    """The 802.11 radio of every node."""
    energy: Energy = Energy()
    """Power consumption of the radio, and energy of the battery."""
    source: Annotated[int, Field(ge=0, lt=MOST_NODES)] = 0
    """Number of the sending node."""
    sink: Annotated[int, Field(ge=0, lt=MOST_NODES)] = 1
    """Number of the receiving node."""
    observe: Literal["completion", "end"] = "completion"
    """End of the run: at the completion of a finite transfer, or at `duration`."""

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
            raise InputError(f"nodes differs from the number of mobility.nodes, {count}; remove it")
        if self.area is None and not given:
            raise InputError("area is missing; write area: {side: 400 m}")
        for name in ("source", "sink"):
            if getattr(self, name) >= (least := int(bounds(self.all_nodes)[0])):
                raise InputError(
                    f"{name} = {getattr(self, name)} is not a node; expected 0 to {least - 1}; lower it or "
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
        """Number of nodes."""
        if self.nodes is None:
            return float(len(self.mobility.nodes)) if isinstance(self.mobility, Given) else math.nan
        return self.nodes

    @property
    def sides(self) -> tuple[Number, Number]:
        """Width and height of the area [m]."""
        area = self.area
        if area is None or area.width is None or area.height is None:
            side = math.nan if area is None or area.side is None else area.side
            return side, side
        return area.width, area.height

    @property
    def apart(self) -> Apart | None:
        """Required distance between source and sink at the start of the transfer; None if not given."""
        start = getattr(self.mobility, "start", None)
        return start.apart if isinstance(start, Start) else None

    @property
    def redrawn(self) -> float:
        """Maximum mean number of trajectories drawn until source and sink have the required distance."""
        if self.apart is None:
            return 0.0
        gathers = isinstance(self.mobility, RandomWaypoint)
        return 2 / adhoc_start.min_share(self.apart, *self.sides, gathers=gathers)

    @property
    def random_places(self) -> bool:
        """True if positions are random."""
        return not isinstance(self.mobility, Given)

    @property
    def most_nodes(self) -> int:
        """Maximum number of nodes."""
        return int(bounds(self.all_nodes)[1])
