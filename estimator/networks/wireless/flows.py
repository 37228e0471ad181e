"""Flows of an 802.11 scenario: their ends, routes and traffic."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, FOREVER, NS
from netcarlo.kernels.base.parameters import RowP, TcpP, UdpP
from netcarlo.kernels.wireless.layout import NOBODY, Flow, Leg, Link, Radio, WifiRows
from netcarlo.networks.flows import fill, jitter_of
from netcarlo.networks.run import ROW
from netcarlo.networks.sources import Source
from netcarlo.networks.wireless import geometry
from netcarlo.networks.wireless.description import Flows, FlowSpec, LegSpec, Wireless
from netcarlo.networks.wireless.geometry import Network
from netcarlo.networks.wireless.phy.tables import CATEGORIES
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws
from netcarlo.transport import columns, kinds

GATEWAY = -1
"""Stands for the gateway as the end of a flow; its number differs between rows."""


PASSED = (Flow.BEFORE, Flow.AFTER, Flow.ACK_BEFORE, Flow.ACK_AFTER)
"""Columns with the legs of a flow."""


class End(NamedTuple):
    """A flow that rows may have; `name` is its field."""

    name: str
    spec: FlowSpec
    phase: str
    """Name under which the phase of the flow in its interval is drawn."""
    item: int = 0
    """Item of the list that describes the flow, from 1; 0 without a list."""
    station: Any = GATEWAY
    """Number that `station` refers to in each row [n]."""
    present: Any = True
    """Mask of the rows [n] that have the flow, provided that its stations exist."""

    def numbers(self) -> tuple[Any, Any]:
        """Return source and sink: station numbers, in each row [n] or in all, or GATEWAY."""
        meant: dict[Any, Any] = {"gateway": GATEWAY, "station": self.station}
        source, sink = (meant.get(end, end) for end in (self.spec.source, self.spec.sink))
        return source, sink


def flows(wireless: Wireless, draws: Draws, net: Network) -> list[End]:
    """Return the flows of an 802.11 network."""
    if isinstance(wireless.flows, list):
        found: list[End] = []
        for g, item in enumerate(wireless.flows):
            name = f"wireless.flows.{g}"
            if isinstance(item, Flows):
                found += _several(item, name, g + 1, draws, net.nodes - 1)
            else:
                found.append(End(name, item, f"{name}.phase", g + 1))
        return found
    sources = range(1 if wireless.chain else net.parent.shape[1] - 1)
    up = [FlowSpec(source=k) for k in sources] if wireless.flows in ("up", "both") else []
    down = [FlowSpec(source="gateway", sink=k) for k in sources] if wireless.flows in ("down", "both") else []
    return [End("transport", spec, f"wireless.flows.{k}.phase") for k, spec in enumerate([*up, *down])]


def _several(item: Flows, name: str, number: int, draws: Draws, stations: Ints) -> Iterator[End]:
    """Yield the flows of one item of a list, in networks with these numbers of stations [n]."""
    count = stations if item.count is None else draws.whole(f"{name}.count", item.count)
    for k in range(int(count.max(initial=0))):
        of_flow = f"{name}.each.{k}"
        place: Any = k
        if item.arrivals is not None and item.arrivals.poisson is not None:
            place = k * np.minimum(count, stations) // np.maximum(count, 1)  # its slots are contiguous
        station = (item.first + place) % stations
        yield End(of_flow, item.flow(k), f"{of_flow}.phase", number, station, count > k)


def transports(transport: Any, draws: Draws, parameters: Ints, ends: list[End]) -> list[Ints]:
    """Return the columns of `P` [n, len(P)] of each flow: those of the row, unless it has its own TCP."""
    return [_own(transport, draws, parameters, end) if end.spec.has_own_tcp else parameters for end in ends]


def _own(transport: Any, draws: Draws, parameters: Ints, end: End) -> Ints:
    tcp = kinds.sender_of(transport, end.spec)
    table = np.zeros_like(parameters)
    table[:, ROW] = parameters[:, ROW]
    columns.fill(table, tcp, draws, override=end.spec, name=end.name)
    if tcp.clock_phase is None:  # as for all flows of a row; the engine offsets each by its number
        table[:, TcpP.CLOCK_PHASE] = table[:, TcpP.TICK] * tcp.phases * draws.uniform("transport.clock_phase")
    return table


def legs(
    wireless: Wireless, transport: Any, draws: Draws, ends: list[End], own: list[Ints]
) -> tuple[Ints, list[dict[Flow, Any]]]:
    """Return legs [n, L, len(Leg)], and the legs that each flow passes in each row, by column; `own` are
    `transports`.

    All flows share the two legs of the wire; each has its own sender's and receiver's leg, numbered in the
    order of the flows of a row.
    """
    n, made = len(draws.replications), []
    numbers: list[Ints] = []
    there = np.stack([np.broadcast_to(end.present, n) for end in ends], axis=1)
    rank = np.argsort(np.argsort(~there, axis=1, kind="stable"), axis=1)

    def add(leg: Ints, number: Any) -> Ints:
        made.append(leg)
        numbers.append(np.broadcast_to(number, n))
        return numbers[-1]

    spec = {name: getattr(wireless, name) for name in ("wire", "sender_delay", "receiver")}
    leg = {name: _leg(each, f"wireless.{name}", draws) for name, each in spec.items() if each is not None}
    out: Any = NOBODY
    back: Any = NOBODY
    if "wire" in leg:
        out, back = add(leg["wire"], 0), add(leg["wire"], 1)
    shared, each = len(made), len({"sender_delay", "receiver"} & set(leg))
    passed = []
    for f, (end, parameters) in enumerate(zip(ends, own, strict=True)):
        mine: dict[Flow, Any] = dict.fromkeys(PASSED, NOBODY)
        if end.spec.sink == "gateway":
            mine |= {Flow.AFTER: out, Flow.ACK_BEFORE: back}
        if end.spec.source == "gateway":
            mine |= {Flow.BEFORE: back, Flow.ACK_AFTER: out}
        first = shared + each * rank[:, f]
        if "sender_delay" in leg:
            mine[Flow.BEFORE] = add(leg["sender_delay"], first)
        if "receiver" in leg:
            mine[Flow.AFTER] = add(leg["receiver"].copy(), first + each - 1)
            if not kinds.sender_of(transport, end.spec).datagrams:
                _read(made[-1], wireless, draws, parameters)
        passed.append(mine)
    if not made:
        return np.zeros((n, 0, len(Leg)), np.int64), passed
    table = np.zeros((n, len(made), len(Leg)), np.int64)
    np.put_along_axis(table, np.stack(numbers, axis=1)[:, :, None], np.stack(made, axis=1), axis=1)
    return table, passed


def _read(leg: Ints, wireless: Wireless, draws: Draws, parameters: Ints) -> None:
    """Configure the reading application in the leg of a TCP receiver."""
    receiver = wireless.receiver
    assert receiver is not None
    if receiver.read is None:
        return
    leg[:, Leg.READ] = draws.whole("wireless.receiver.read", receiver.read)
    leg[:, Leg.READ_TIME] = draws.whole("wireless.receiver.read_time", receiver.read_time, NS)
    leg[:, Leg.SIZE] = parameters[:, RowP.DATA]
    short = np.flatnonzero(leg[:, Leg.READ] < leg[:, Leg.SIZE])
    if short.size:
        row = short[0]
        raise InputError(
            f"wireless.receiver.read can be {leg[row, Leg.READ]} B, less than a segment; expected "
            f"transport.payload, {leg[row, Leg.SIZE]} B, or more"
        )


def _leg(leg: LegSpec, name: str, draws: Draws) -> Ints:
    """Return the columns of a leg [n, len(Leg)]."""
    table = np.zeros((len(draws.replications), len(Leg)), np.int64)
    rate = draws.floats(f"{name}.rate", leg.rate)
    table[:, Leg.BYTE_TIME] = np.rint(8e9 * 2**BYTE_TIME_BITS / rate)
    draws.fill(table, leg, name)
    if leg.phase is None:
        table[:, Leg.PHASE] = table[:, Leg.TICK] * draws.uniform(f"{name}.phase")
    else:
        table[:, Leg.PHASE] = draws.whole(f"{name}.phase", leg.phase, NS)
    return table


def table(
    wireless: Wireless,
    transport: Any,
    draws: Draws,
    net: Network,
    *,
    ends: list[End],
    own: list[Ints],
    legs: list[dict[Flow, Any]],
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return flows [n, F, len(Flow)], their transports [n, F, len(P)], their number [n], paths [n, F, 2, W],
    and the stations of several flows [n, F].

    `own` are the transports and `legs` the legs of each flow.
    """
    n, gateway = len(net.nodes), net.nodes - 1
    classes = wireless.class_names(transport)
    found: list[Ints] = []
    routes: list[tuple[Ints, Ints]] = []
    present = np.zeros((n, len(ends)), bool)
    for f, end in enumerate(ends):
        numbers = end.numbers()
        source, sink = (np.where(number == GATEWAY, gateway, number) for number in numbers)
        present[:, f] = (np.maximum(*numbers) < gateway) & end.present
        # A flow that a row does not have is moved to the end, without a route.
        source, sink = (np.where(present[:, f], each, gateway) for each in (source, sink))
        routes.append(_route(net, source, sink))
        mine = _traffic(transport, wireless, draws, own[f], end)
        for column, value in legs[f].items():
            mine[:, column] = value
        columns = Flow.DELAY_CLASS, Flow.BOUND
        fill(mine, columns, end.spec, end.name, draws, transport=transport, of=classes)
        found.append(mine)
    width = max(int(length.max(initial=1)) for _, length in routes)
    paths = np.zeros((n, len(ends), 2, width), np.int64)
    for f, (route, length) in enumerate(routes):
        w = min(width, route.shape[1])
        paths[:, f, 0, :w] = route[:, :w]
        back = np.clip(length[:, None] - 1 - np.arange(width), 0, None)
        reverse = np.take_along_axis(paths[:, f, 0], back, axis=1) ^ 1
        paths[:, f, 1] = np.where(np.arange(width) < length[:, None], reverse, 0)
        found[f][:, Flow.FORTH_AT], found[f][:, Flow.FORTH] = 2 * f * width, length
        found[f][:, Flow.BACK_AT] = (2 * f + 1) * width
        found[f][:, Flow.BACK] = np.where(found[f][:, Flow.TCP] == 1, length, 0)
    order = np.argsort(~present, axis=1, kind="stable")
    every, sending = (
        np.take_along_axis(np.stack(each, axis=1), order[:, :, None], axis=1) for each in (found, own)
    )
    stations = np.stack([np.broadcast_to(end.station, n) for end in ends], axis=1)
    stations = np.take_along_axis(stations, order, axis=1)
    count = present.sum(axis=1)
    every[np.arange(len(ends)) >= count[:, None]] = 0
    return every, sending, count, paths, stations


def _route(net: Network, source: Ints, sink: Ints) -> tuple[Ints, Ints]:
    """Return the links along the tree from `source` to `sink` [n]: [n, W], and their number [n]."""
    n, rows = len(source), np.arange(len(source))
    width = 2 * int(net.depth.max(initial=1))
    up, down = np.zeros((n, width), np.int64), np.zeros((n, width), np.int64)
    ups, downs = np.zeros(n, np.int64), np.zeros(n, np.int64)
    x, y = source, sink
    while (apart := x != y).any():
        dx, dy = net.depth[rows, x], net.depth[rows, y]
        climb, descend = apart & (dx >= dy), apart & (dy >= dx)
        up[rows[climb], ups[climb]] = 2 * x[climb]
        down[rows[descend], downs[descend]] = 2 * y[descend] + 1
        ups, downs = ups + climb, downs + descend
        x = np.where(climb, net.parent[rows, x], x)
        y = np.where(descend, net.parent[rows, y], y)
    length = ups + downs
    k = np.arange(width)
    from_down = np.take_along_axis(down, np.clip(length[:, None] - 1 - k, 0, width - 1), axis=1)
    route = np.where(k < ups[:, None], up, np.where(k < length[:, None], from_down, 0))
    return route, length


def _traffic(transport: Any, wireless: Wireless, draws: Draws, parameters: Ints, end: End) -> Ints:
    """Return the columns of a flow without its route [n, len(Flow)]."""
    n, spec = len(parameters), end.spec
    table = np.zeros((n, len(Flow)), np.int64)
    sender = kinds.sender_of(transport, spec)
    table[:, Flow.STOP], table[:, Flow.ITEM] = parameters[:, RowP.END], end.item
    if sender is spec.udp:
        parameters = np.zeros_like(parameters)
        columns.fill(parameters, sender, draws, at=f"{end.name}.udp")
    table[:, Flow.SIZE] = parameters[:, RowP.DATA]
    table[:, Flow.HEADER] = parameters[:, RowP.HEADER] + parameters[:, RowP.CHUNK_HEADER]
    table[:, Flow.START], table[:, Flow.LIMIT] = parameters[:, RowP.START], parameters[:, RowP.LIMIT]
    table[:, Flow.SHORT] = parameters[:, RowP.SHORT]
    if not sender.datagrams:
        table[:, Flow.TCP] = 1
        table[:, Flow.KIND] = kinds.number(sender)
        if wireless.receiver is not None:
            table[:, Flow.ACK_COST] = draws.whole(
                "wireless.receiver.ack_time", wireless.receiver.ack_time, NS
            )
    elif sender.stop is not None:
        table[:, Flow.STOP] = parameters[:, UdpP.STOP]
    if spec.start is not None:
        table[:, Flow.START] = draws.whole(f"{end.name}.start", spec.start, NS)
    if spec.stop is not None:
        table[:, Flow.STOP] = draws.whole(f"{end.name}.stop", spec.stop, NS)
    if spec.bytes is not None or spec.packets is not None:
        table[:, Flow.LIMIT] = draws.limit(end.name, spec, table[:, Flow.SIZE])
        table[:, Flow.SHORT] = draws.short(end.name, spec, table[:, Flow.SIZE])
    if sender.datagrams:
        table[:, Flow.INTERVAL], table[:, Flow.SPREAD] = (
            parameters[:, UdpP.INTERVAL],
            parameters[:, UdpP.SPREAD],
        )
        table[:, Flow.START] += (table[:, Flow.INTERVAL] * draws.uniform(end.phase)).astype(np.int64)
        table[:, Flow.BACKLOG] = int(spec.saturated)
        if spec.saturated:
            table[:, Flow.INTERVAL], table[:, Flow.SPREAD] = FOREVER, 0
    for number, (name, _) in enumerate(wireless.classes, 1):
        if end.name.startswith(f"{name}.each"):
            table[:, Flow.CLASS], table[:, Flow.LIMIT], table[:, Flow.SHORT] = number, ENDLESS, 0
    if wireless.has_edca:
        table[:, Flow.CATEGORY] = CATEGORIES.index(spec.access or "best_effort")
    return table


def sources(wireless: Wireless, draws: Draws, rows: WifiRows) -> list[Source]:
    """Return the datagram flows of the first row without jitter; their queues are those of nodes and legs.

    Stations that share only the medium do not stay synchronised, because each transmission waits for a random
    backoff.
    """
    p, network = rows.parameters[0], rows.network[0]
    specs, links = (
        network[p[at] : p[at] + p[count] * len(columns)].reshape(-1, len(columns))
        for at, count, columns in (
            (Radio.FLOWS_AT, Radio.FLOWS, Flow), (Radio.LINKS_AT, Radio.LINKS, Link)
        )
    )  # fmt: skip
    net = geometry.network(wireless, draws)
    present = [end for end in flows(wireless, draws, net) if _is_present(end, int(net.nodes[0]) - 1)]
    found = []
    for k, (end, flow) in enumerate(zip(present, specs, strict=True)):
        if flow[Flow.TCP] == 0 and flow[Flow.SPREAD] == 0:
            at = p[Radio.PATHS_AT] + flow[Flow.FORTH_AT]
            nodes = links[network[at : at + flow[Flow.FORTH]], Link.FROM].tolist()
            passed = [("leg", int(flow[leg])) for leg in (Flow.BEFORE, Flow.AFTER) if flow[leg] != NOBODY]
            start, every = int(flow[Flow.START]), int(flow[Flow.INTERVAL])
            name = end.name if end.item else f"flow {k}"
            field = jitter_of(wireless.described(), end.spec)
            last = min(int(flow[Flow.STOP]), start + int(flow[Flow.LIMIT]) * every)
            found.append(Source(name, field, every, start, last, frozenset([*nodes, *passed])))
    return found


def _is_present(end: End, stations: int) -> bool:
    """Return True if a flow exists in the first row, which has this many stations."""
    numbers = (int(np.broadcast_to(number, 1)[0]) for number in end.numbers())
    return max(numbers) < stations and bool(np.broadcast_to(end.present, 1)[0])
