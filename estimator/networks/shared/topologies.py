"""Topologies of shared networks for the rows of an ensemble, and routes through them.

NetworkX draws trees and graphs from a seed per row; routes are computed for all rows at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from netcarlo.kernels.shared.layout import MAX_HOPS, NOWHERE
from netcarlo.networks.shared.description import MAX_CABLES, Graph, SharedSpec
from netcarlo.networks.shared.routers import reverse_links
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.schema.draws import Draws

_FAR = 1 << 60
_HOP = 1 << 52
"""Cost of a hop that outweighs delays of up to an hour [ns]: fewest hops first, then lowest delay."""
_DELAY = 128
"""Cost of a nanosecond that outweighs up to MAX_HOPS hops: lowest delay first, then fewest hops."""

_DENSE = 64
"""Number of routers above which only the costs to the sinks of flows are computed, if networks are equal."""

_AT_ONCE = 1 << 22
"""Maximum size of a temporary array [numbers]; limits how many flows are routed at a time."""


class Topology(NamedTuple):
    """Routers and links of the rows."""

    routers: Ints
    """Number of routers [n]."""
    links: Ints
    """Number of links [n]; the first ones exist."""
    ends: Ints
    """Routers at the start and end of each link [n, L, 2]; 0 for links that a row does not have."""
    back: Ints
    """Reverse link of each link [n, L]."""


def topology(shared: SharedSpec, draws: Draws) -> Topology:
    """Return the topologies of the rows [n]; random ones are drawn for each row, or by `topology` alone."""
    if shared.random_cables:
        return _random(shared, draws)
    n = len(draws.replications)
    if shared.links is not None:
        pairs = shared.ends
        links, routers = np.full(n, len(pairs)), np.full(n, shared.most_routers)
    else:
        cables = np.ones(n, np.int64)
        if shared.parking_lot is not None:
            cables = draws.whole("shared.parking_lot.links", shared.parking_lot.links)
        links, routers = 2 * cables, cables + 1
        pairs = [ends for k in range(int(cables.max(initial=1))) for ends in ((k, k + 1), (k + 1, k))]
    ends = np.tile(np.array(pairs), (n, 1, 1))
    ends[np.arange(len(pairs)) >= links[:, None]] = 0
    back = np.array(reverse_links(pairs))
    return Topology(routers, links, ends, np.tile(back, (n, 1)))


def redrawn(shared: SharedSpec, draws: Draws) -> Draws:
    """Return the draws for random topologies: those of the replication, or of the `topology` alone."""
    if shared.redraw:
        return draws
    return Draws(draws.seed, np.zeros_like(draws.replications), draws.topology)


def _random(shared: SharedSpec, draws: Draws) -> Topology:
    layout = shared.tree or shared.graph
    assert layout is not None
    name = "shared.tree" if shared.tree else "shared.graph"
    routers = draws.whole(f"{name}.routers", layout.routers)
    cables = routers - 1
    if isinstance(layout, Graph):
        if layout.cables is not None:
            wanted = draws.whole(f"{name}.cables", layout.cables)
        else:
            wanted = np.rint(routers * draws.floats(f"{name}.degree", layout.degree) / 2).astype(np.int64)
        cables = np.minimum(np.maximum(wanted, cables), routers * (routers - 1) // 2)
        cables = np.minimum(cables, MAX_CABLES)
    seeds = (redrawn(shared, draws).uniform("shared.network") * 2.0**53).astype(np.int64)
    wanted, which = np.unique(np.stack([seeds, routers, cables], axis=1), axis=0, return_inverse=True)
    ends = np.zeros((len(wanted), 2 * int(cables.max(initial=1)), 2), np.int64)
    for i, (seed, size, count) in enumerate(wanted.tolist()):
        pairs = np.array(draw_graph(size, cables=count, seed=seed))
        ends[i, 0 : 2 * count : 2] = pairs
        ends[i, 1 : 2 * count : 2] = pairs[:, ::-1]
    back = np.tile(np.arange(ends.shape[1]) ^ 1, (len(seeds), 1))
    return Topology(routers, 2 * cables, ends[which.reshape(-1)], back)


def draw_graph(routers: int, *, cables: int, seed: int) -> list[tuple[int, int]]:
    """Return a random tree of `routers`, with additional random cables up to `cables`; sorted by routers.

    All trees are equally likely, and so are all sets of additional cables.
    """
    import networkx  # the import takes 0.1 s

    numbers = networkx.utils.create_py_random_state(seed)
    graph = networkx.random_labeled_tree(routers, seed=numbers)
    pairs = {(min(pair), max(pair)) for pair in graph.edges}
    others = [(a, b) for a in range(routers) for b in range(a + 1, routers) if (a, b) not in pairs]
    return sorted(pairs.union(numbers.sample(others, cables - len(pairs))))


class Routes(NamedTuple):
    """Routes of flows [n, F]: link numbers [n, F, H], padded with NOWHERE, and numbers of hops."""

    links: Ints
    hops: Ints


def routes(
    net: Topology, delay_ns: Ints, source: Ints, sink: Ints, *, routing: str, choice: Floats | None = None
) -> Routes:
    """Return the shortest paths from `source` to `sink` [n, F]; `delay_ns` [n, L] is the delay of the
    links.

    With a `choice` in [0, 1) for each flow [n, F], a flow takes one of all paths with the lowest number of
    hops, or with the lowest delay and then the fewest hops. Of parallel links the first one
    is taken, see `distributed`.
    """
    n, most = len(net.routers), int(net.routers.max(initial=2))
    rows = np.arange(n)[:, None]
    if n > 1 and (net.ends == net.ends[:1]).all() and (delay_ns == delay_ns[:1]).all():
        net, delay_ns = Topology(*(each[:1] for each in net)), delay_ns[:1]
        rows = np.zeros((n, 1), np.int64)
    cost = np.full((len(net.routers), most, most), _FAR)
    link = np.full(cost.shape, _FAR)
    row, k = np.nonzero(np.arange(net.ends.shape[1]) < net.links[:, None])
    a, b = net.ends[row, k].T
    delay = delay_ns[row, k]
    if routing == "hops":
        np.minimum.at(cost, (row, a, b), _HOP + (delay if choice is None else 0))
    else:
        np.minimum.at(cost, (row, a, b), delay * _DELAY + 1)
    np.minimum.at(link, (row, a, b), k)
    link[link == _FAR] = NOWHERE
    total = _to_sinks(cost, sink) if len(cost) == 1 and most > _DENSE else np.swapaxes(_distances(cost), 1, 2)
    found = np.full((*source.shape, 1), NOWHERE)
    hops = np.zeros(source.shape, np.int64)
    some = max(1, _AT_ONCE // (n * most))
    for lo in range(0, source.shape[1], some):
        at, end = source[:, lo : lo + some], sink[:, lo : lo + some]
        rest = None if choice is None else choice[:, lo : lo + some]
        for step in range(MAX_HOPS):
            under_way = at != end
            if not under_way.any():
                break
            costs = cost[rows, at] + total[rows, end]
            if rest is None:
                following = costs.argmin(axis=2)
            else:
                following, rest = _drawn(costs == costs.min(axis=2, keepdims=True), rest)
            if step == found.shape[2]:
                found = np.pad(found, [(0, 0), (0, 0), (0, step)], constant_values=NOWHERE)
            found[:, lo : lo + some, step] = np.where(under_way, link[rows, at, following], NOWHERE)
            hops[:, lo : lo + some] += under_way
            at = np.where(under_way, following, at)
    return Routes(found, hops)


def _drawn(equal: Bools, choice: Floats) -> tuple[Ints, Floats]:
    """Return one of the `equal` routers [n, F, R] for each flow, and a choice for the next step."""
    scaled = choice * equal.sum(axis=2)
    rank = np.floor(scaled)
    return (np.cumsum(equal, axis=2) > rank[:, :, None]).argmax(axis=2), scaled - rank


def distributed(
    found: Routes, groups: Iterable[Sequence[int]], delay_ns: Ints, *, routing: str, present: Bools
) -> Routes:
    """Return routes in which flows take parallel links in turn.

    Each of the `groups` has the numbers of parallel links. With routing by delay, only those with the lowest
    delay are used. Only flows that are `present` [n, F] count.
    """
    links = found.links.copy()
    for group in groups:
        mine = found.links == group[0]
        uses = mine.any(axis=2) & present
        delay = delay_ns[:, list(group)]
        allowed = (delay == delay.min(axis=1, keepdims=True)) | (routing == "hops")
        turn = (np.cumsum(uses, axis=1) - 1) % allowed.sum(axis=1, keepdims=True)
        which = (np.cumsum(allowed, axis=1)[:, None] > turn[:, :, None]).argmax(axis=2)
        links = np.where(mine & uses[:, :, None], np.asarray(group)[which][:, :, None], links)
    return Routes(links, found.hops)


def replaced(found: Routes, given: Mapping[int, Sequence[int]]) -> Routes:
    """Return routes in which flow k of all rows has the links `given[k]`."""
    longest = max(map(len, given.values()), default=0)
    missing = max(longest - found.links.shape[2], 0)
    links = np.pad(found.links, [(0, 0), (0, 0), (0, missing)], constant_values=NOWHERE)
    hops = found.hops.copy()
    for k, route in given.items():
        links[:, k] = NOWHERE
        links[:, k, : len(route)] = route
        hops[:, k] = len(route)
    return Routes(links, hops)


def reverse_routes(net: Topology, forth: Routes) -> Routes:
    """Return the routes in the reverse direction."""
    length = forth.hops[:, :, None]
    k = np.arange(forth.links.shape[2])
    turned = np.take_along_axis(forth.links, np.maximum(length - 1 - k, 0), axis=2)
    rows = np.arange(len(turned))[:, None, None]
    return Routes(np.where(k < length, net.back[rows, np.maximum(turned, 0)], NOWHERE), forth.hops)


def _distances(cost: Ints) -> Ints:
    """Return the cost of the shortest paths [n, R, R] (Floyd, Warshall)."""
    total = cost.copy()
    each = np.arange(total.shape[1])
    total[:, each, each] = 0
    for k in each:
        np.minimum(total, np.minimum(total[:, :, k, None] + total[:, None, k], _FAR), out=total)
    return total


def _to_sinks(cost: Ints, sink: Ints) -> Ints:
    """Return the cost [1, R, R] of the shortest paths in one network to each of the routers `sink` (second
    axis), and _FAR to other routers (Dijkstra)."""
    from scipy.sparse import csr_array  # the imports take 0.1 s
    from scipy.sparse.csgraph import dijkstra

    count = cost.shape[1]
    a, b = np.nonzero(cost[0] < _FAR)
    hops, rest = np.divmod(cost[0, a, b], _HOP)
    base = 1 << int(count * rest.max()).bit_length()  # a hop outweighs the rest of any path
    if count * (hops.max() * base + rest.max()) >= 1 << 53:  # not exact as a float
        return _to_sinks_exactly(cost, sink)
    ends = np.unique(sink)
    graph = csr_array(((hops * base + rest).astype(np.float64), (b, a)), shape=(count, count))
    found = dijkstra(graph, indices=ends)
    found[found >= _FAR // _HOP * base] = np.inf  # beyond the cost of a path that is used
    known = np.isfinite(found)
    far, left = np.divmod(found[known].astype(np.int64), base)
    total = np.full(cost.shape, _FAR)
    row = np.full(found.shape, _FAR)
    row[known] = far * _HOP + left
    total[0, ends] = row
    return total


def _to_sinks_exactly(cost: Ints, sink: Ints) -> Ints:
    """Return what `_to_sinks` returns, for costs whose sums are not exact as floats."""
    import networkx  # the import takes 0.1 s

    a, b = np.nonzero(cost[0] < _FAR)
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(zip(b.tolist(), a.tolist(), cost[0, a, b].tolist(), strict=True))
    total = np.full(cost.shape, _FAR)
    for end in np.unique(sink).tolist():
        found = networkx.single_source_dijkstra_path_length(graph, end, cutoff=_FAR - 1)
        total[0, end, list(found)] = list(found.values())
    return total
