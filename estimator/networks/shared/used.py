"""Links of a long list that flows can use: rows have only these."""

from collections.abc import Iterable

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.shared.detours import Backup
from netcarlo.kernels.shared.layout import MAX_LINKS, NOWHERE, Flow
from netcarlo.networks.shared.description import MAX_LISTED, SharedSpec
from netcarlo.networks.shared.routers import parallel
from netcarlo.networks.shared.topologies import Topology, routes
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.quantity import bounds

ALL_LINKS = 256
"""Number of links up to which rows have all links of a list."""


def check(shared: SharedSpec, *, packets: bool) -> None:
    """Raise InputError if flows can use more links than a simulation may have."""
    if shared.links is None or len(shared.links) <= ALL_LINKS:
        return
    most, count = MAX_LINKS if packets else MAX_LISTED, len(numbers(shared))
    if count > most:
        remedy = "write fewer flows, or fidelity: fluid"
        raise InputError(f"shared.flows can use {count} links; expected 1 to {most}; {remedy}")


def numbers(shared: SharedSpec) -> list[int]:
    """Return the numbers of the links of rows.

    These are all links, unless there are more than ALL_LINKS. Then they are those that flows can use, in both
    directions: all links if the ends of flows are random.
    """
    count = shared.most_links
    if shared.links is None or count <= ALL_LINKS:
        return list(range(count))
    pairs, used = set[tuple[int, int]](), set[int]()
    places = shared.numbers
    for _, flow in shared.each_flow():
        if flow.route is not None:
            used.update(flow.route, flow.backup or ())
        elif flow.source is not None and flow.sink is not None:
            pairs.add((places[flow.source], places[flow.sink]))
        elif shared.placement(flow) == "ends":
            pairs.add((0, shared.most_routers - 1))
        else:
            return list(range(count))
    used |= _of_pairs(shared, sorted(pairs))
    back = shared.reverse
    return sorted(used | {back[link] for link in used})


def _of_pairs(shared: SharedSpec, pairs: list[tuple[int, int]]) -> set[int]:
    """Return the links of the shortest paths between pairs of routers."""
    if not pairs or shared.links is None:
        return set()
    ends = np.array(shared.ends)
    spans = np.array([bounds(line.delay) for line in shared.links])
    if shared.multipath or (spans[:, 0] != spans[:, 1]).any():
        found = _equal(shared, ends, spans, pairs)
    else:
        net = Topology(*(np.array([each]) for each in (shared.most_routers, len(ends), ends, shared.reverse)))
        delay = np.rint(spans[None, :, 0] * NS).astype(np.int64)
        source, sink = (np.array([side]) for side in zip(*pairs, strict=True))
        each = routes(net, delay, source, sink, routing=shared.routing).links
        found = np.unique(each[each != NOWHERE]).tolist()
    groups = parallel(shared.ends)
    return {link for one in found for link in groups[tuple(ends[one].tolist())]}


def _equal(shared: SharedSpec, ends: Ints, spans: Ints, pairs: list[tuple[int, int]]) -> Iterable[int]:
    """Return the links of all shortest paths by number of hops, or of all paths that may be the shortest by
    delay."""
    import networkx  # the import takes 0.1 s

    fixed = (spans[:, 0] == spans[:, 1]).all()
    if shared.routing == "delay" and not fixed:
        return range(len(ends))
    weight = np.ones(len(ends)) if shared.routing == "hops" else np.rint(spans[:, 0] * NS)
    graph = networkx.DiGraph()
    for (a, b), cost in zip(ends.tolist(), weight.tolist(), strict=True):
        known = graph.get_edge_data(a, b, {"weight": cost})["weight"]
        graph.add_edge(a, b, weight=min(known, cost))
    back, count = graph.reverse(copy=False), shared.most_routers

    def distances(of: networkx.DiGraph, router: int) -> Ints:
        found = networkx.single_source_dijkstra_path_length(of, router)
        return np.array([found[k] for k in range(count)])

    here = {a: distances(graph, a) for a in {a for a, _ in pairs}}
    there = {b: distances(back, b) for b in {b for _, b in pairs}}
    used = np.zeros(len(ends), bool)
    for a, b in pairs:
        used |= here[a][ends[:, 0]] + weight + there[b][ends[:, 1]] <= here[a][b]
    return np.flatnonzero(used).tolist()


def renumbered(flows: Ints, kept: Ints, count: int) -> Ints:
    """Return flows [n, F, ...] whose routes have the positions of their links in `kept`, of `count` links."""
    place = np.zeros(count, np.int64)
    place[kept] = np.arange(len(kept))
    flows = flows.copy()
    hops = flows[:, :, [Flow.HOPS, Flow.BACK_HOPS]].sum(axis=2)
    _renumber(flows, np.full_like(hops, Flow.ROUTE), hops, place)
    at = flows[:, :, [Flow.BACKUP]]
    lengths = at + np.array([Backup.HOPS, Backup.REVERSE_HOPS])
    hops = np.take_along_axis(flows, lengths, axis=2).sum(axis=2)
    _renumber(flows, at[:, :, 0] + Backup.ROUTE, np.where(at[:, :, 0] > 0, hops, 0), place)
    return flows


def _renumber(flows: Ints, begin: Ints, count: Ints, place: Ints) -> None:
    """Replace `count` links of each flow [n, F], from column `begin` on, by their `place`."""
    columns = np.arange(flows.shape[2])
    links = (columns >= begin[:, :, None]) & (columns < (begin + count)[:, :, None])
    flows[links] = place[flows[links]]
