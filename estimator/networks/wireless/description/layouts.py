"""Layouts of an 802.11 network: a cell, chain, tree, or scattered stations."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.wireless.layout import MOST_NODES
from netcarlo.networks.wireless.description.hearing import PathLoss, Ranges, Reach
from netcarlo.schema import units
from netcarlo.schema.quantity import Length, Number, Quantity, bounds
from netcarlo.schema.record import Record

MAX_STATIONS = MOST_NODES - 1
Stations = Annotated[Number, Quantity(units.PLAIN, 1, MAX_STATIONS, whole=True)]
LAYOUTS = ("cell", "chain", "tree", "area", "places", "nodes")
HEARING = ("reach", "ranges", "path_loss")

Coordinate = Annotated[Number, Quantity(units.LENGTH, -1e7, 1e7)]


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
    """Position of a node.

    With several cells each station has its access point as `next`, and each access point the gateway, which
    may be an access point itself.
    """

    x: Coordinate
    """First coordinate of the node."""
    y: Coordinate = 0.0
    """Second coordinate of the node."""
    next: int | None = None
    """Number of the next node on the path to the gateway. Default: see `relays`."""
    channel: Annotated[int, Field(ge=0, le=255)] = 0
    """Index of the channel; those of adjacent channels differ by 1. Nodes on other channels are not decoded.
    With `path_loss` they are sensed and disturb as if weaker by the rejection of adjacent (16 dB) or other
    channels (32 dB); with `ranges` not at all."""


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


class Layout(Record):
    """Fields of the layout, and of reception and carrier sensing."""

    if TYPE_CHECKING:
        links: Any

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
    relays: bool | None = None
    """True if stations in an `area` or at `places` forward frames of others, on routes with the fewest hops;
    otherwise each sends to the gateway. Default: true; false with 802.11n and later."""
    reach: Reach | None = None
    """Reception and carrier sensing in hops. Default: all nodes hear each other, unless `ranges` or
    `path_loss` is given."""
    ranges: Ranges | None = None
    """Reception and carrier sensing by distance."""
    path_loss: PathLoss | None = None
    """Reception and carrier sensing by received power."""

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
    def _places_exist(self) -> Self:
        places = self.places or []
        for k, place in enumerate(places):
            if place.next is not None and (not 0 <= place.next < len(places) or place.next == k):
                allowed = f"expected 0 to {len(places) - 1} except {k}"
                raise InputError(f"places.{k}.next = {place.next} is not another node; {allowed}")
            at = k
            for _ in places:
                following = places[at].next
                at = len(places) - 1 if following is None else following
            if at != len(places) - 1:
                raise InputError(f"places.{k}.next forms a loop; routes must end at the last node")
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

    def _spaced(self) -> bool:
        layout = self.chain or self.tree
        return (layout is not None and layout.spacing is not None) or all(
            link.spacing is not None for link in self.links
        )

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
