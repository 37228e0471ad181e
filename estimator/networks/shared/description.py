"""Description of a network of shared links: many flows over the links between routers.

Routers are numbered 0, 1, ..., or have names if all links are listed one by one. A link is one direction of
a cable between two routers and has its own queue: links 2 k and 2 k + 1 are the two directions of cable k,
unless all links are listed one by one.
"""

from collections import Counter
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.shared import layout
from netcarlo.kernels.shared.layout import MAX_HOPS, MAX_LINKS
from netcarlo.networks import flows
from netcarlo.networks.aqm import Managed, Red
from netcarlo.networks.arrivals import ArrivingFlows, Classes, arriving
from netcarlo.networks.outages import AVAILABILITY
from netcarlo.networks.service import Service
from netcarlo.networks.shared import backups
from netcarlo.networks.shared.failures import Failure
from netcarlo.networks.shared.routers import Router, reverse_links, router_names
from netcarlo.schema import units
from netcarlo.schema.json_schema import NUMBERS, or_file
from netcarlo.schema.limit import Queue
from netcarlo.schema.quantity import (
    Correlation,
    Delay,
    Number,
    Probability,
    Quantity,
    Rate,
    Time,
    bounds,
)
from netcarlo.schema.record import Record
from netcarlo.schema.unsupported import LINE_WORDS, LINK_LAYER
from netcarlo.transport.udp import Datagrams

MAX_ROUTERS = MAX_HOPS + 1
"""Maximum number of routers of a parking lot, tree or graph: no route is then longer than MAX_HOPS."""
MAX_CABLES = MAX_LINKS // 2
MAX_LISTED = 10_000
"""Maximum number of links in a list; in a simulation by packets, flows may use up to MAX_LINKS of them."""

Routers = Annotated[Number, Quantity(units.PLAIN, 2, MAX_ROUTERS, whole=True)]
Cables = Annotated[Number, Quantity(units.PLAIN, 1, MAX_CABLES, whole=True)]
Hops = Annotated[Number, Quantity(units.PLAIN, 1, MAX_HOPS, whole=True)]
Degree = Annotated[Number, Quantity(units.PLAIN, 1, MAX_ROUTERS)]
FlowCount = Annotated[Number, Quantity(units.PLAIN, 0, 65536, whole=True)]
Period = Annotated[Number, Quantity(units.TIME, 1e-3, 3600.0)]


class Reverse(Service, Managed):
    """Properties of the reverse direction of a cable. Default: those of the forward direction.

    Rate and delay of a trace apply to both directions. The loss of a trace, jitter and policers apply only to
    the direction for which they are given.
    """

    rate: Rate | None = None
    """Bit rate. Default: that of the forward direction."""
    delay: Delay | None = None
    """One-way propagation delay. Default: that of the forward direction."""
    queue: Queue | None = None
    """Queue limit, including the packet in transmission. Default: that of the forward direction."""
    loss: Probability | None = None
    """Probability that a packet is lost at the far end. Default: that of the forward direction."""
    loss_correlation: Correlation | None = None
    """Correlation of losses as with `netem loss P% R%`. Default: that of the forward direction."""
    red: Red | None = None
    """Random early detection. Default: that of the forward direction."""

    words: ClassVar = {**Managed.words, "overhead": Service.names}


class Line(Service, Managed):
    """A link with a drop-tail queue, or with active queue management.

    `queue` includes the packet in transmission. Packets are lost at random at the far end. Time-varying
    properties: see `Service`.
    """

    rate: Rate
    """Bit rate. Omit it if a `trace` has rates."""
    delay: Delay
    """One-way propagation delay. Omit it if a `trace` has delays."""
    queue: Queue = 50.0
    """Queue limit, including the packet in transmission; or `codel`, `pie`, `fq_codel`."""
    loss: Probability = 0.0
    """Probability that a packet is lost at the far end of the link."""
    loss_correlation: Correlation | None = None
    """Correlation of losses as with `netem loss P% R%`, which lowers the share of lost packets. Default:
    none."""
    red: Red | None = None
    """Random early detection in place of drop-tail. Default: drop-tail."""

    words: ClassVar = {**Managed.words, "overhead": Service.names}


class Cable(Line):
    """A cable: two links, one in each direction."""

    absent: ClassVar = LINK_LAYER | AVAILABILITY
    meant: ClassVar = LINE_WORDS

    reverse: Reverse = Reverse()
    """Properties that differ in the reverse direction."""


class LinkSpec(Line):
    """A link given by its routers; the list also contains the link in the reverse direction."""

    absent: ClassVar = LINK_LAYER | AVAILABILITY
    meant: ClassVar = LINE_WORDS | dict.fromkeys(("between", "routers", "nodes", "from", "to"), "ends")

    ends: tuple[Router, Router]
    """Names or numbers of the routers at the start and at the end of the link."""


Numbers = Annotated[list[int], Field(min_length=1, max_length=MAX_HOPS), NUMBERS]
AnyCables = Annotated[
    Annotated[Cable, Tag("<cable>")] | Annotated[list[Cable], Tag("<cables>")],
    Discriminator(lambda data: "<cables>" if isinstance(data, list) else "<cable>"),
]


class ParkingLot(Record):
    """A parking lot: routers in a row with `links` cables between them, each drawn independently from
    `each` (or a list)."""

    links: Hops
    """Number of cables between the routers."""
    each: AnyCables
    """Description of each cable, drawn independently; or a list with one item per cable."""

    @property
    def most_each(self) -> int:
        """Maximum number of cables."""
        return int(bounds(self.links)[1])


class Tree(Record):
    """A random tree of `routers`, all trees equally likely; each cable is drawn independently from `each`."""

    routers: Routers
    """Number of routers."""
    each: AnyCables
    """Description of each cable, drawn independently; or a list with one item per cable."""

    @property
    def most_each(self) -> int:
        """Maximum number of cables."""
        return int(bounds(self.routers)[1]) - 1


class Graph(Record):
    """A random connected graph: a random tree, and additional cables between random routers.

    Its size is given by `cables`, or by the mean `degree` of a router. It has at least the cables of the
    tree, and at most one cable between two routers.
    """

    routers: Routers
    """Number of routers."""
    cables: Cables | None = None
    """Total number of cables; this or `degree`."""
    degree: Degree | None = None
    """Mean number of cables at a router; this or `cables`."""
    each: AnyCables
    """Description of each cable, drawn independently; or a list with one item per cable."""

    @model_validator(mode="after")
    def _has_a_size(self) -> Self:
        if (self.cables is None) == (self.degree is None):
            found = "both missing" if self.cables is None else "both given"
            raise InputError(f"cables and degree are {found}; write one of them, such as degree: 3")
        return self

    @property
    def most_each(self) -> int:
        """Maximum number of cables."""
        routers = bounds(self.routers)[1]
        wanted = bounds(self.cables)[1] if self.cables is not None else 0.0
        if self.degree is not None:
            wanted = routers * bounds(self.degree)[1] / 2
        return int(min(max(round(wanted), routers - 1), routers * (routers - 1) / 2, MAX_CABLES))


class Access(Record):
    """Access cables between the hosts of a flow and its routers; they have unlimited queues and no loss.

    `rate` applies to both cables, unless `source_rate` or `sink_rate` is given.
    """

    rate: Rate = 1e9
    """Bit rate of both cables."""
    source_rate: Rate | None = None
    """Bit rate of the sender's cable. Default: `rate`."""
    sink_rate: Rate | None = None
    """Bit rate of the receiver's cable. Default: `rate`."""
    source_delay: Delay = 0.0
    """One-way delay of the sender's cable."""
    sink_delay: Delay = 0.0
    """One-way delay of the receiver's cable."""

    fills: ClassVar = {
        "source_delay": (layout.Flow.SOURCE_DELAY, NS),
        "sink_delay": (layout.Flow.SINK_DELAY, NS),
    }


class Stream(Datagrams):
    """UDP over shared links.

    With `on` and `off` the source alternates between sending and silence; both times are exponential with
    these means.
    """

    on: Period | None = None
    """Mean of the exponential times in which the source sends. Default: it always sends."""
    off: Period | None = None
    """Mean of the exponential times in which the source is silent; required with `on`."""

    @model_validator(mode="after")
    def _can_vary(self) -> Self:
        if (self.on is None) != (self.off is None):
            raise InputError("on and off belong together; give both, or remove one")
        return self


class FlowSpec(flows.FlowSpec):
    """A flow from router `source` to router `sink`, with the scenario's transport or `udp`.

    Fields given here replace those of the transport; `congestion_control` is for linux. If any flow names a
    `class`, delays are measured by class; packets with a delay above `late` are late. A `route` lists the
    numbers of links: `0 2 4`. While a cable of it is down, packets take the `backup` route, from `detection`
    after the failure until as long after the return. Without `route`, `source` and `sink`, the flow runs
    `between` the `ends` of the network (router 0 and the last one), over one of its `hops` (the first flow of
    a list over cable 0 or the first of the `links`, and so on), or between two `random` routers.
    """

    meant: ClassVar = {
        "from": "source", "src": "source", "to": "sink", "destination": "sink", "dst": "sink",
        "cnt": "count", "number": "count", "times": "count",  # of `Flows`
    }  # fmt: skip

    udp: Stream | None = None
    """UDP in place of the transport. Default: none."""
    ecn: bool = False
    """True if routers may mark its data (ECN)."""
    access: Access | None = None
    """Access cables of its hosts. Default: those of the network."""
    between: Literal["ends", "hops", "random"] | None = None
    """Position of the flow: from router 0 to the last (`ends`), over one cable each in turn (`hops`), or
    between two random routers (`random`). Default: `ends`; `random` in trees and graphs."""
    source: Router | None = None
    """Name or number of the router at which the flow starts."""
    sink: Router | None = None
    """Name or number of the router at which the flow ends."""
    route: Numbers | None = None
    """Numbers of its links in order: `0 2 4`, where 2 k and 2 k + 1 are the directions of cable k.
    Default: the shortest path."""
    backup: Numbers | None = None
    """Backup route, used while a cable of the route is down. Default: none."""
    detection: Time | None = None
    """Time from the failure or return of a cable to the change of the route. Default: 0."""

    not_of_udp: ClassVar = (*flows.OF_TCP, "start", "bytes", "packets")

    @field_validator("between", mode="before")
    @classmethod
    def _no_numbers(cls, between: Any) -> Any:
        if isinstance(between, list) and len(between) == 2:
            source, sink = between
            raise InputError(
                f"is not 'ends', 'hops' or 'random'; for given routers write source: {source}, sink: {sink}"
            )
        return between

    @field_validator("route", "backup", mode="before")
    @classmethod
    def _as_list(cls, route: Any) -> Any:
        return str(route).split() if isinstance(route, str | int) else route

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.source is None) != (self.sink is None):
            raise InputError("source and sink belong together; give both, or remove one")
        ends = {"between": self.between, "source": self.source, "route": self.route}
        given = [name for name, value in ends.items() if value is not None]
        if len(given) > 1:
            raise InputError(f"{given[0]} and {given[1]} are both given; keep one")
        for name, needed in (("backup", "route"), ("detection", "backup")):
            if getattr(self, name) is not None and getattr(self, needed) is None:
                raise InputError(f"{name} needs a {needed}; add {needed}, or remove {name}")
        if self.source is not None and self.source == self.sink:
            raise InputError(f"source and sink are both {self.source}; change one of them")
        return self


class Flows(ArrivingFlows):
    """Several flows: `count` of them, each drawn independently from `each` (or a list with one item per
    flow).

    With `arrivals`, flows of random `size` arrive and end, at most `count` at the same time.
    """

    count: FlowCount
    """Number of flows; with `arrivals`, the maximum number at the same time."""
    each: Annotated[
        Annotated[FlowSpec, Tag("<flow>")] | Annotated[list[FlowSpec], Tag("<flows>")],
        Discriminator(lambda data: "<flows>" if isinstance(data, list) else "<flow>"),
    ] = FlowSpec()
    """Description of each flow, drawn independently; or a list with one item per flow."""

    of_each: ClassVar = FlowSpec


AnyFlow = Annotated[
    Annotated[FlowSpec, Tag("<flow>")] | Annotated[Flows, Tag("<flows>")],
    Discriminator(flows.one_or_several(Flows)),
]

LAYOUTS = ("dumbbell", "parking_lot", "tree", "graph", "links")


class SharedSpec(flows.ManyFlows):
    """A network of shared links: exactly one of `dumbbell`, `parking_lot`, `tree`, `graph` and `links`.

    Data take the shortest path by number of `hops` or by `delay`; ties are resolved by the other criterion,
    then by lower router numbers. Acknowledgements take the same path back. Flows are distributed over
    parallel links in turn. Random trees, graphs and flow ends are drawn for every replication; with
    `redraw: false` they are those of the scenario's `topology`.
    """

    dumbbell: Cable | None = None
    """One cable between two routers."""
    parking_lot: ParkingLot | None = None
    """Routers in a row."""
    tree: Tree | None = None
    """A random tree."""
    graph: Graph | None = None
    """A random connected graph."""
    links: list[LinkSpec] | None = Field(
        default=None, min_length=2, max_length=MAX_LISTED, json_schema_extra=or_file
    )
    """All links, listed one by one in both directions. Links with the same ends are parallel links. Or the
    name of a file with a table of links."""
    redraw: bool = True
    """True if random trees, graphs and flow ends are drawn for every replication; otherwise they are those
    of the `topology`."""
    routing: Literal["hops", "delay"] = "hops"
    """Routing metric: number of hops, or delay."""
    multipath: bool = False
    """True if each flow takes one of all shortest paths by `routing`, drawn for every replication
    (equal-cost multipath by flow). Otherwise all flows between two routers take the same path."""
    access: Access = Access()
    """Access cables between the hosts of a flow and its routers."""
    failures: list[Failure] = Field(default_factory=list)
    """Failures: cables that go down together, and when. Default: none."""
    flows: list[AnyFlow] = Field(min_length=1, json_schema_extra=or_file)
    """Flows; an item describes one flow, or several that are drawn alike. Or the name of a file with a list
    of flows."""

    @model_validator(mode="after")
    def _has_one_layout(self) -> Self:
        given = [name for name in LAYOUTS if getattr(self, name) is not None]
        if not given:
            example = "dumbbell: {rate: 10 Mbit/s, delay: 20 ms}"
            raise InputError(f"{', '.join(LAYOUTS)} are all missing; write {example}")
        if len(given) > 1:
            raise InputError(f"{given[0]} and {given[1]} are both given; keep one")
        if self.multipath and given[0] not in ("graph", "links"):
            raise InputError(f"multipath is for graph and links; a {given[0]} has one path; remove multipath")
        return self

    @model_validator(mode="after")
    def _links_fit(self) -> Self:
        ends = self.ends if self.links is not None else []
        count, seen = Counter(ends), Counter[tuple[int, int]]()
        for k, (a, b) in enumerate(ends):
            if a == b:
                raise InputError(f"links.{k}.ends are both {self.router(a)}; change one of them")
            seen[a, b] += 1
            if seen[a, b] <= count[b, a]:
                continue
            found, first = f"links.{k} ({self.hop(a, b)}) has no reverse link", ends.index((a, b))
            remedy = f"add one with ends: [{self.router(b)}, {self.router(a)}]"
            if first != k:
                found += f", because it is parallel to links.{first}"
                remedy += ", or write one link with the sum of their rates"
            raise InputError(f"{found}; {remedy}")
        if ends:
            import networkx  # the import takes 0.1 s

            parts = list(networkx.connected_components(networkx.Graph(ends)))
            if len(parts) > 1:
                one, other = (self.router(min(part)) for part in parts[:2])
                found = f"links do not connect all routers: there are {len(parts)} parts"
                raise InputError(f"{found}; add links, such as between {one} and {other}")
        return self

    @model_validator(mode="after")
    def _flows_exist(self) -> Self:
        if self.flow_bounds[0] < 1:
            raise InputError("flows can be empty; raise a count")
        numbers, links = self.numbers, self.least_links
        for name, flow in self.each_flow():
            for end in ("source", "sink"):
                router = getattr(flow, end)
                if router is not None and router not in numbers:
                    allowed = f"expected {self._allowed_routers(str(router))}"
                    raise InputError(f"{name}.{end} = {router} is not a router; {allowed}")
            for link in flow.route or []:
                if not 0 <= link < links:
                    allowed = f"expected 0 to {links - 1}"
                    raise InputError(f"{name}.route has {link}, which is not a link; {allowed}")
            if flow.route is not None:
                self._check_route(name, flow.route)
                if flow.backup is not None:
                    backups.check(name, flow.route, flow.backup, self.ends, self.reverse)
            if flow.backup is not None and not self.failures:
                raise InputError(f"{name}.backup needs failures of cables; add failures, or remove it")
        return self

    def _check_route(self, name: str, route: list[int]) -> None:
        if self.random_cables:
            raise InputError(f"{name}.route is not supported in random networks; write source and sink")
        ends = self.ends
        at = [ends[link] for link in route]
        for (_, b), (c, _), link in zip(at, at[1:], route, strict=False):
            if b != c:
                raise InputError(
                    f"{name}.route is interrupted after link {link}; the next link must start at router {b}"
                )

    @property
    def ends(self) -> list[tuple[int, int]]:
        """Routers at the start and end of each link that always exists, if cables are not random."""
        if self.links is not None:
            numbers = self.numbers
            return [(numbers[link.ends[0]], numbers[link.ends[1]]) for link in self.links]
        return [pair for k in range(self.least_cables) for pair in ((k, k + 1), (k + 1, k))]

    @property
    def reverse(self) -> list[int]:
        """Number of the reverse link of each link that always exists, if cables are not random."""
        return reverse_links(self.ends)

    @property
    def routers(self) -> list[int | str]:
        """Names of the routers that always exist, in the order of their numbers; numbers without names."""
        if self.links is not None:
            return router_names(link.ends for link in self.links)
        return list(range(self.least_routers))

    @property
    def numbers(self) -> dict[int | str, int]:
        """Number of each router by its name."""
        return {name: number for number, name in enumerate(self.routers)}

    def router(self, number: int) -> int | str:
        """Return the name of a router."""
        return self.routers[number]

    def hop(self, a: int, b: int) -> str:
        """Return the name of a link between two routers: `Zürich to Bern`."""
        return f"{self.router(a)} to {self.router(b)}"

    def _allowed_routers(self, router: str) -> str:
        """Return which routers there are, those that resemble `router` first."""
        names = self.routers
        if names == list(range(len(names))):
            return f"0 to {len(names) - 1}"
        like = get_close_matches(router, map(str, names), 3) or [*map(str, names[:3])]
        return ", ".join(like) + (", ..." if len(names) > len(like) else "")

    @property
    def classes(self) -> Classes:
        """Arriving flows, by the full name of their field."""
        return arriving("shared", self.flows)

    @property
    def random_cables(self) -> bool:
        """True if the topology is random."""
        return self.tree is not None or self.graph is not None

    @property
    def random_places(self) -> bool:
        """True if the topology or the ends of flows are random."""
        return self.random_cables or any(
            self.placement(flow) == "random"
            for _, flow in self.each_flow()
            if flow.source is None and flow.route is None
        )

    def placement(self, flow: FlowSpec) -> str:
        """Return the value of `between` for a flow that names no routers."""
        return flow.between or ("random" if self.random_cables else "ends")

    @property
    def least_routers(self) -> int:
        """Minimum number of routers."""
        return self._routers(0)

    @property
    def most_routers(self) -> int:
        """Maximum number of routers."""
        return self._routers(1)

    def _routers(self, bound: int) -> int:
        if self.parking_lot is not None:
            return int(bounds(self.parking_lot.links)[bound]) + 1
        if (layout := self.tree or self.graph) is not None:
            return int(bounds(layout.routers)[bound])
        return len(self.routers) if self.links else 2

    @property
    def least_cables(self) -> int:
        """Minimum number of cables; for `links`, the number of pairs of links."""
        return len(self.links) // 2 if self.links else self.least_routers - 1

    @property
    def most_cables(self) -> int:
        """Maximum number of cables."""
        if self.links:
            return len(self.links) // 2
        layout = self.parking_lot or self.tree or self.graph
        return 1 if layout is None else layout.most_each

    @property
    def least_links(self) -> int:
        """Minimum number of links."""
        return 2 * self.least_cables

    @property
    def most_links(self) -> int:
        """Maximum number of links."""
        return 2 * self.most_cables

    @property
    def most_hops(self) -> int:
        """Maximum number of links of a route, without loops."""
        given = [len(flow.route) for _, flow in self.each_flow() if flow.route is not None]
        return max(min(MAX_HOPS, self.most_routers - 1), *given, 1)

    @property
    def aqm(self) -> list[str]:
        """Names of the AQM algorithms other than RED, each once."""
        return list(dict.fromkeys(line.aqm for _, line in self.each_line() if line.aqm))

    @property
    def varying_fields(self) -> list[str]:
        """Fields of links that are time-varying."""
        return [f"{name}.{line.varies}" for name, line in self.each_line() if line.varies]

    @property
    def unlike_fluid(self) -> list[str]:
        """Fields of links that fluid models do not know, of those that make the service vary."""
        return [f"{name}.{line.unlike_fluid}" for name, line in self.each_line() if line.unlike_fluid]

    @model_serializer(mode="wrap")
    def _without_failures(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        if not self.failures:
            written.pop("failures", None)
        if not self.multipath:
            written.pop("multipath", None)
        return written

    def each_line(self) -> list[tuple[str, Line | Reverse]]:
        """Return all possible links with the names of their fields; links of one record occur once."""
        lines: list[tuple[str, Line]] = [(f"links.{k}", line) for k, line in enumerate(self.links or [])]
        layout = self.parking_lot or self.tree or self.graph
        if self.dumbbell is not None:
            lines = [("dumbbell", self.dumbbell)]
        elif layout is not None:
            name = f"{self.layout}.each"
            several = isinstance(layout.each, list)
            each = layout.each if isinstance(layout.each, list) else [layout.each]
            lines = [(f"{name}.{k}" if several else name, line) for k, line in enumerate(each)]
        back = [(f"{name}.reverse", line.reverse) for name, line in lines if isinstance(line, Cable)]
        return [*lines, *back]

    def link_name(self, k: int) -> str:
        """Return the name of link `k` for messages: its field, or its cable in a layout with several."""
        if self.links:
            return f"shared.links.{k}"
        return "shared.dumbbell" if self.dumbbell else f"cable {k // 2} of shared.{self.layout}"

    @property
    def layout(self) -> str:
        """Field of the layout that is given."""
        return next(name for name in LAYOUTS if getattr(self, name) is not None)

    def cable(self, k: int) -> Cable:
        """Return the description of cable `k`, if links are not listed one by one."""
        layout = self.parking_lot or self.tree or self.graph
        if layout is None:
            assert self.dumbbell is not None
            return self.dumbbell
        if isinstance(layout.each, Cable):
            return layout.each
        return layout.each[min(k, len(layout.each) - 1)]
