"""Construction of rows of the engine of shared links."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.delays import MOST_CLASSES, DelayOut
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, NS
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import P, ReliableP, RowP, UdpP
from netcarlo.kernels.senders import LINUX, UDP
from netcarlo.kernels.shared.layout import (
    FIFO,
    MAX_HOPS,
    NO_AQM,
    NOWHERE,
    PERIOD,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedRows,
    routes_of,
    with_routes,
)
from netcarlo.networks import aqm
from netcarlo.networks.arrivals import WORDS as CLASS_WORDS
from netcarlo.networks.arrivals import fill as fill_sources
from netcarlo.networks.flows import fill, jitter_of
from netcarlo.networks.outages import from_start
from netcarlo.networks.pairs import correlated
from netcarlo.networks.queue_limits import Limit, byte_limit, counted, drawn
from netcarlo.networks.ring_sizes import flow_rings, link_rings, links_of_route
from netcarlo.networks.run import PACKET, ROW
from netcarlo.networks.shared import arrivals, backups, failures, used, varying
from netcarlo.networks.shared.description import (
    Access,
    Cable,
    Flows,
    FlowSpec,
    Line,
    LinkSpec,
    Reverse,
    SharedSpec,
    Stream,
)
from netcarlo.networks.shared.routers import parallel
from netcarlo.networks.shared.topologies import (
    Routes,
    Topology,
    distributed,
    redrawn,
    replaced,
    reverse_routes,
    routes,
    topology,
)
from netcarlo.networks.sources import Source
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import units
from netcarlo.schema.draws import Draws
from netcarlo.transport import columns as transports
from netcarlo.transport import kinds


class Member(NamedTuple):
    """A flow that a row may have: the `name` of its field, and the rows [n] that have it."""

    name: str
    spec: FlowSpec
    number: int
    """Index of the flow in its list."""
    present: Any
    group: int = 0
    """Number of the class of arriving flows, from 1; 0 for other flows."""


def build(
    shared: SharedSpec, transport: Any, draws: Draws, parameters: Ints, *, warm_up: Ints, in_bytes: bool
) -> SharedRows:  # fmt: skip
    """Build rows [n]; `parameters` [n, len(P)] are those of the row, `warm_up` [n] is in ns.

    Limits of queues in bytes, times or BDPs become limits in bytes with `in_bytes`, otherwise in packets.
    """
    n = len(parameters)
    net = topology(shared, draws)
    columns = np.zeros((n, len(P)), np.int64)
    transports.fill(columns, transport, draws)
    links, loss, waiting = _links(shared, draws, net, columns[:, PACKET].sum(axis=1))
    if shared.failures:
        before_s = backups.before_s(shared.each_flow())
        times = failures.times(shared.failures, draws, parameters, net.links // 2, before_s=before_s)
        cables = failures.cables_of(net.back[0])
        links = failures.placed(links, from_start(times), cables)
    members = _members(shared, draws)
    flows, count = _flows(shared, transport, draws, parameters, net, links[:, :, Link.DELAY], members)
    rows = np.unique(np.append(loss, PERIOD))
    links[:, :, Link.LOSS] = np.searchsorted(rows, loss)
    flows[:, :, Flow.PERIODS] = np.searchsorted(rows, PERIOD)
    absent = np.arange(links.shape[1]) >= net.links[:, None]
    links[absent] = 0
    flows[np.arange(flows.shape[1]) >= count[:, None]] = 0
    if shared.failures:
        flows = backups.placed(flows, members, draws, times, net.back[0], cables)
    table = np.zeros((n, Shared.COLUMNS), np.int64)
    table[:, : len(P)] = parameters
    table[:, Shared.FLOWS], table[:, Shared.WARM_UP] = count, warm_up
    table[:, Shared.CLASSES] = len(shared.classes)
    table[:, Shared.DELAY_CLASSES] = len(shared.class_names(transport))
    kept, every = np.array(used.numbers(shared)), links.shape[1]
    if len(kept) < every:
        links, flows = links[:, kept], used.renumbered(flows, kept, every)
        net = net._replace(links=np.full(n, len(kept)))
        waiting = [waiting[k] for k in kept]
    present = np.arange(links.shape[1]) < net.links[:, None]
    _fill_queues(links, flows, waiting, transport, draws, present=present, in_bytes=in_bytes)
    links[:, :, Link.ROOM] = link_rings(flows, links)
    table[:, Shared.LINKS] = net.links
    nothing = np.zeros((n, 0))
    constants = fill_sources(flows, Flow.PERIODS, draws, shared.classes, constants=nothing)
    flows[flows[:, :, Flow.CLASS] > 0, RowP.LIMIT] = np.int64(1) << 62
    found = SharedRows(table, constants, flows, links, thresholds(rows))
    arrivals.fill_ideal_times(found)
    linux = np.isin(flows[:, :, Flow.KIND], LINUX)
    if linux.any():
        flows[:, :, RowP.RING] = np.where(linux, flow_rings(found), 0)
    return found


# Links.


def _links(
    shared: SharedSpec, draws: Draws, net: Topology, size: Ints
) -> tuple[Ints, Floats, list[Limit]]:  # fmt: skip
    """Return links [n, L, Link.COLUMNS] without the rows of the loss table and the limits of their queues,
    their loss probability [n, L], and these limits.

    `size` is that of data packets of the transport [n] [byte].
    """
    n, most = net.ends.shape[:2]
    table = np.zeros((n, most, Link.COLUMNS), np.int64)
    loss, tables, waiting = np.zeros((n, most)), [], []
    for k in range(most):
        if shared.links is not None:
            line: LinkSpec | Cable = shared.links[k]
            loss[:, k], pairs = _line(table[:, k], line, f"shared.links.{k}", draws, size)
            tables.append(pairs)
            waiting.append(_limit(line, f"shared.links.{k}", draws))
            continue
        cable = shared.cable(k // 2)
        name = f"shared.{shared.layout}"
        if shared.dumbbell is None:
            name += f".each.{k // 2}"
        reverse = cable.reverse if k % 2 else None
        loss[:, k], pairs = _line(table[:, k], cable, name, draws, size, reverse=reverse)
        tables.append(pairs)
        waiting.append(_limit(cable, name, draws, reverse=reverse))
    return varying.placed(table, tables), loss, waiting


def _limit(line: Line, name: str, draws: Draws, *, reverse: Reverse | None = None) -> Limit:
    """Return the limit of the queue of a link, or of the `reverse` of a cable."""
    own = None if reverse is None else reverse.queue
    at, limit = (f"{name}.queue", line.queue) if own is None else (f"{name}.reverse.queue", own)
    shaper, where = (line.shaper, name) if reverse is None else (reverse.shaper, f"{name}.reverse")
    burst = 0.0 if shaper is None else draws.floats(f"{where}.shaper.burst", shaper.burst)
    return drawn(draws, at, limit)._replace(burst=burst)


def _fill_queues(
    links: Ints, flows: Ints, limits: list[Limit], transport: Any, draws: Draws, *, present: Any,
    in_bytes: bool,
) -> None:  # fmt: skip
    """Set the limits of the queues of the links that are `present` [n, L]: packets, or bytes with `in_bytes`.

    The BDP of a link is its rate times the mean round-trip time of the flows that use it, without queues.
    Packets are those of the transport: data, or acknowledgements if no data use the link.
    """
    bdp = np.zeros(links.shape[:2])
    if any(limit.dimension is units.BDP for limit in limits):
        bdp = _bdp(links, flows)
    carries_data = _users(links, routes_of(flows)) > 0
    columns = np.zeros((len(links), len(P)), np.int64)
    transports.fill(columns, transport, draws)
    size = columns[:, PACKET].sum(axis=1)
    for k, limit in enumerate(limits):
        held = limit.bytes(links[:, k, Link.BYTE_TIME], bdp[:, k])
        if in_bytes and not limit.counts_packets and not links[:, k, Link.RED].any():
            found = -byte_limit(limit, held, size, draws)
            links[present[:, k] & (links[:, k, Link.AQM] == NO_AQM), k, Link.AQM] = FIFO
        else:
            one = np.where(carries_data[:, k], size, columns[:, ReliableP.ACK])
            found = counted(limit, held, one, draws, back=not carries_data[:, k].any())
        links[:, k, Link.QUEUE] = np.where(present[:, k], found, 0)


def _users(links: Ints, routes: Ints, weights: Floats | None = None) -> Floats:
    """Return the number of flows, or the sum of their `weights` [n, F], whose routes [n, F, H] have each link
    [n, L]."""
    found = np.zeros(links.shape[:2])
    row, flow, hop = np.nonzero(routes != NOWHERE)
    np.add.at(found, (row, routes[row, flow, hop]), 1.0 if weights is None else weights[row, flow])
    return found


def _bdp(links: Ints, flows: Ints) -> Floats:
    """Return the bandwidth-delay product of each link [n, L] [byte]."""
    rtt_ns = np.stack([_round_trip(links, flows[:, f])[0] for f in range(flows.shape[1])], axis=1)
    each = routes_of(flows), routes_of(flows, back=True)
    users = np.add(*(_users(links, of) for of in each))
    total = np.add(*(_users(links, of, rtt_ns) for of in each))
    byte_time = links[:, :, Link.BYTE_TIME]
    if ((byte_time == 0) & (users > 0)).any():
        raise InputError("a queue in BDP needs links of finite rates; write it in packets, or write a rate")
    return np.asarray(total / np.maximum(users, 1) * 2**BYTE_TIME_BITS / np.maximum(byte_time, 1))


def _line(
    table: Ints, line: Line, name: str, draws: Draws, size: Ints, *, reverse: Reverse | None = None
) -> tuple[Floats, Ints]:
    """Fill in the columns of a link [n, Link.COLUMNS]. Returns its loss probability [n], which is 0 if
    losses are correlated, and the pairs of its service."""

    def values(field: str) -> Floats:
        given = getattr(line, field)
        forth = draws.floats(f"{name}.{field}", 0.0 if given is None else given)
        return draws.either(f"{name}.reverse.{field}", getattr(reverse, field, None), forth)

    byte_time = 8e9 * 2**BYTE_TIME_BITS / values("rate")
    table[:, Link.BYTE_TIME] = np.rint(byte_time)
    table[:, Link.DELAY] = np.rint(values("delay") * NS)
    lost, losses = values("loss"), None
    if line.loss_correlation is not None or getattr(reverse, "loss_correlation", None) is not None:
        lost, losses = np.zeros(len(lost)), correlated(lost, values("loss_correlation"))
    pairs = varying.fill(table, line, name, draws, reverse=reverse, size=size, loss=losses)
    managed: Line | Reverse = line
    if reverse is not None and reverse.decides:
        managed, name = reverse, f"{name}.reverse"
    aqm.fill(table, managed, name, draws)
    return lost, pairs


# Flows.


def _members(shared: SharedSpec, draws: Draws) -> list[Member]:
    n = len(draws.replications)
    found = []
    groups = {name: k for k, (name, _) in enumerate(shared.classes, 1)}
    for g, item in enumerate(shared.flows):
        name = f"shared.flows.{g}"
        if not isinstance(item, Flows):
            found.append(Member(name, item, 0, np.ones(n, bool)))
            continue
        count = draws.whole(f"{name}.count", item.count)
        for k in range(int(count.max(initial=0))):
            group = groups.get(name, 0)
            found.append(Member(f"{name}.each.{k}", item.flow(k), k, count > k, group))
    return found


def _flows(
    shared: SharedSpec,
    transport: Any,
    draws: Draws,
    parameters: Ints,
    net: Topology,
    delay: Ints,
    members: list[Member],
) -> tuple[Ints, Ints]:
    """Return flows with their routes [n, F, columns], and their number [n]; the flows of a row are stored
    without gaps."""
    n, f = len(parameters), len(members)
    table = np.zeros((n, f, Flow.COLUMNS), np.int64)
    ends = np.zeros((n, f, 2), np.int64)
    numbers = shared.numbers
    for k, member in enumerate(members):
        _traffic(table[:, k], kinds.sender_of(transport, member.spec), draws, member)
        _access(table[:, k], shared, draws, member)
        table[:, k, Flow.CLASS] = member.group
        table[:, k, Flow.BACKUP] = k + 1 if member.spec.backup is not None else 0
        ends[:, k] = _ends(shared, draws, net, member, numbers)
    _classes(table, shared, transport, draws, members)
    present = np.stack([member.present for member in members], axis=1)
    choice = None
    if shared.multipath:
        drawn = [redrawn(shared, draws).uniform(f"{member.name}.path") for member in members]
        choice = np.stack(drawn, axis=1)
    forth = routes(net, delay, ends[:, :, 0], ends[:, :, 1], routing=shared.routing, choice=choice)
    if shared.links is not None:
        groups = [links for links in parallel(shared.ends).values() if len(links) > 1]
        free = present & np.array([member.spec.route is None for member in members])
        forth = distributed(forth, groups, delay, routing=shared.routing, present=free)
    for k, member in enumerate(members):
        if member.spec.route is None:
            _check_route_length(shared, net, forth, ends[:, k, 1], k, member.name)
    given = {k: member.spec.route for k, member in enumerate(members) if member.spec.route is not None}
    forth = replaced(forth, given)
    table[:, :, Flow.HOPS] = forth.hops
    table[:, :, Flow.BACK_HOPS] = np.where(table[:, :, Flow.KIND] != UDP, forth.hops, 0)
    table = with_routes(table, forth.links, reverse_routes(net, forth).links)
    table[:, :, ROW] = parameters[:, None, ROW]
    count = present.sum(axis=1)
    if not present.all():
        order = np.argsort(~present, axis=1, kind="stable")
        table = np.take_along_axis(table, order[:, :, None], axis=1)[:, : int(count.max(initial=1))]
    return table, count


def _check_route_length(
    shared: SharedSpec, net: Topology, forth: Routes, sink: Ints, k: int, name: str
) -> None:  # fmt: skip
    """Raise InputError if the shortest path of flow `k` has too many links."""
    if shared.links is None:
        return  # these have too few routers for longer routes
    hops = forth.hops[:, k]
    last = forth.links[np.arange(len(hops)), k, np.maximum(hops - 1, 0)]
    beyond = (forth.links[:, k] != NOWHERE).sum(axis=1) < hops
    if (beyond | (net.ends[np.arange(len(hops)), last, 1] != sink)).any():
        remedy = "choose a source and sink that are closer"
        raise InputError(
            f"the shortest path of {name} has too many links; expected 1 to {MAX_HOPS}; {remedy}"
        )


def _ends(
    shared: SharedSpec, draws: Draws, net: Topology, member: Member, numbers: Mapping[int | str, int]
) -> Ints:
    """Return the routers at which a flow starts and ends [n, 2]; `numbers` are those of the routers."""
    n, flow = len(net.routers), member.spec
    if flow.source is not None and flow.sink is not None:
        return np.tile([numbers[flow.source], numbers[flow.sink]], (n, 1))
    if flow.route is not None or shared.placement(flow) == "ends":
        return np.stack([np.zeros(n, np.int64), net.routers - 1], axis=1)
    if flow.between == "hops":
        step = 1 if shared.links is not None else 2
        return np.asarray(net.ends[np.arange(n), step * member.number % net.links])
    again = redrawn(shared, draws)
    source = np.floor(again.uniform(f"{member.name}.source") * net.routers)
    sink = np.floor(again.uniform(f"{member.name}.sink") * (net.routers - 1))
    return np.stack([source, sink + (sink >= source)], axis=1).astype(np.int64)


def _traffic(table: Ints, sender: Any, draws: Draws, member: Member) -> None:
    """Fill in the sender of a flow [n, Flow.COLUMNS]."""
    name, flow = member.name, member.spec
    at = f"{name}.udp" if sender is flow.udp else "transport"
    transports.fill(table, sender, draws, at=at, override=flow, name=name)
    table[:, Flow.KIND] = kinds.number(sender)
    if not sender.datagrams:
        table[:, Flow.ECN] = int(flow.ecn)
        return
    table[:, RowP.START] += (table[:, UdpP.INTERVAL] * draws.uniform(f"{name}.phase")).astype(np.int64)
    if isinstance(sender, Stream) and sender.on is not None:
        table[:, Flow.ON] = draws.whole(f"{at}.on", sender.on, NS)
        table[:, Flow.OFF] = draws.whole(f"{at}.off", sender.off, NS)


def _classes(table: Ints, shared: SharedSpec, transport: Any, draws: Draws, members: list[Member]) -> None:
    """Fill in the classes and delay limits of flows [n, F, Flow.COLUMNS]."""
    words = shared.class_names(transport)
    for k, member in enumerate(members):
        columns, mine = (Flow.DELAY_CLASS, Flow.BOUND), (member.spec, member.name)
        fill(table[:, k], columns, *mine, draws, transport=transport, of=words)


def _access(table: Ints, shared: SharedSpec, draws: Draws, member: Member) -> None:
    access: Access = member.spec.access or shared.access
    at = "shared.access" if member.spec.access is None else f"{member.name}.access"
    rate = draws.floats(f"{at}.rate", access.rate)
    for name, columns in (
        ("source_rate", (Flow.ACCESS, Flow.ACCESS_BACK)), ("sink_rate", (Flow.SINK, Flow.SINK_BACK))
    ):  # fmt: skip
        cable = draws.either(f"{at}.{name}", getattr(access, name), rate)
        byte_time = np.rint(8e9 * 2**BYTE_TIME_BITS / cable)
        for column in columns:
            table[:, column] = byte_time
    draws.fill(table, access, at)


# Features and sizes of rows.


def sources(shared: SharedSpec, draws: Draws, rows: SharedRows) -> list[Source]:
    """Return the datagram flows of the first row without jitter and silent periods."""
    found = []
    present = [member for member in _members(shared, draws) if member.present[0]]
    for member, flow in zip(present, rows.flows[0], strict=False):
        if flow[Flow.KIND] == UDP and flow[UdpP.SPREAD] == 0 and flow[Flow.ON] == 0:
            field = jitter_of(shared.described(), member.spec)
            start, interval, limit = (int(flow[column]) for column in (RowP.START, UdpP.INTERVAL, RowP.LIMIT))
            route = flow[Flow.ROUTE : Flow.ROUTE + flow[Flow.HOPS]]
            end = min(int(flow[UdpP.STOP]), start + limit * interval)
            found.append(Source(member.name, field, interval, start, end, frozenset(route.tolist())))
    return found


def features(rows: SharedRows) -> dict[str, Floats]:
    """Return features of the route of the first flow, see `ensemble.features`."""
    flow = rows.flows[:, 0]
    packet = (flow[:, RowP.DATA] + flow[:, RowP.HEADER]).astype(np.float64)
    forth, there = links_of_route(rows.links, routes_of(flow))
    survive = rows.losses[:, 0] / (2.0**32 - rows.losses[:, 0])  # see `loss.thresholds`
    rtt_ns, slowest = _round_trip(rows.links, flow)
    return {
        "n_hops": flow[:, Flow.HOPS].astype(np.float64),
        "bottleneck_bps": 8e9 / slowest,
        "base_rtt_s": rtt_ns / NS,
        "path_loss": 1.0 - np.where(there, survive[forth[:, :, Link.LOSS]], 1.0).prod(axis=1),
        "bdp_packets": rtt_ns / (packet * slowest),
    }


def _round_trip(links: Ints, flow: Ints) -> tuple[Floats, Floats]:
    """Return the round-trip time without queues [n] [ns] of a flow [n, Flow.COLUMNS], and the time per byte
    on the slowest link of its route [n] [ns]."""
    packet = (flow[:, RowP.DATA] + flow[:, RowP.HEADER]).astype(np.float64)
    forth, there = links_of_route(links, routes_of(flow))
    back, here = links_of_route(links, routes_of(flow, back=True))
    access = flow[:, [Flow.ACCESS, Flow.SINK]]
    byte_time = np.where(there, forth[:, :, Link.BYTE_TIME], 0)
    slowest = np.maximum(byte_time.max(axis=1), access.max(axis=1)) / 2**BYTE_TIME_BITS
    data_ns = packet * (byte_time.sum(axis=1) + access.sum(axis=1)) / 2**BYTE_TIME_BITS
    ack_byte_time = np.where(here, back[:, :, Link.BYTE_TIME], 0).sum(axis=1)
    ack_byte_time += flow[:, [Flow.ACCESS_BACK, Flow.SINK_BACK]].sum(axis=1)
    ack_ns = np.where(
        flow[:, Flow.KIND] == UDP, 0, flow[:, ReliableP.ACK] * ack_byte_time / 2**BYTE_TIME_BITS
    )
    delay = np.where(there, forth[:, :, Link.DELAY], 0).sum(axis=1)
    delay += np.where(here, back[:, :, Link.DELAY], 0).sum(axis=1)
    hosts = flow[:, [Flow.SOURCE_DELAY, Flow.SINK_DELAY]].sum(axis=1)
    delay += np.where(flow[:, Flow.KIND] == UDP, hosts, 2 * hosts)
    return data_ns + ack_ns + delay, slowest


def row_bytes(shared: SharedSpec) -> int:
    """Return the memory of one row and its outcomes [byte]."""
    flows = shared.flow_bounds[1] * (Flow.COLUMNS + 2 * shared.most_hops + FlowOut.COLUMNS)
    pairs = max(varying.most_pairs(line) for _, line in shared.each_line())
    pairs += failures.most_pairs(shared.failures)
    links = shared.most_links * (Link.COLUMNS + LinkOut.COLUMNS + 2 * pairs)
    gauges = MOST_CLASSES * DelayOut.COLUMNS if shared.asks_for_delays else 0
    return 8 * (Shared.COLUMNS + flows + links + len(shared.classes) * CLASS_WORDS + gauges)
