"""Topologies of shared networks for the rows of an ensemble, and routes through them.

NetworkX draws trees and graphs from a seed per row; routes are computed for all rows at once.
"""

from typing import NamedTuple

import numpy as np

from netcarlo.kernels.shared.layout import MAX_HOPS, NOWHERE
from netcarlo.networks.shared.description import MAX_CABLES, Graph, SharedSpec
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws

_FAR = 1 << 60
_HOP = 1 << 52
"""Cost of a hop that outweighs delays of up to an hour [ns]: fewest hops first, then lowest delay."""
_DELAY = 32
"""Cost of a nanosecond that outweighs up to MAX_HOPS hops: lowest delay first, then fewest hops."""


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
        pairs = [link.ends for link in shared.links]
        links, routers = np.full(n, len(pairs)), np.full(n, shared.most_routers)
    else:
        cables = np.ones(n, np.int64)
        if shared.parking_lot is not None:
            cables = draws.whole("shared.parking_lot.links", shared.parking_lot.links)
        links, routers = 2 * cables, cables + 1
        pairs = [ends for k in range(int(cables.max(initial=1))) for ends in ((k, k + 1), (k + 1, k))]
    ends = np.tile(np.array(pairs), (n, 1, 1))
    ends[np.arange(len(pairs)) >= links[:, None]] = 0
    back = np.array([pairs.index((b, a)) for a, b in pairs])
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
    """Routes of flows [n, F]: link numbers [n, F, MAX_HOPS], padded with NOWHERE, and numbers of hops."""

    links: Ints
    hops: Ints


def routes(net: Topology, delay_ns: Ints, source: Ints, sink: Ints, *, routing: str) -> Routes:
    """Return the shortest paths from `source` to `sink` [n, F]; `delay_ns` [n, L] is the delay of the
    links."""
    n, most = len(net.routers), int(net.routers.max(initial=2))
    rows = np.arange(n)[:, None]
    cost = np.full((n, most, most), _FAR)
    link = np.full((n, most, most), NOWHERE)
    row, k = np.nonzero(np.arange(net.ends.shape[1]) < net.links[:, None])
    a, b = net.ends[row, k].T
    delay = delay_ns[row, k]
    cost[row, a, b] = delay + _HOP if routing == "hops" else delay * _DELAY + 1
    link[row, a, b] = k
    total = np.swapaxes(_distances(cost), 1, 2)
    found = np.full((*source.shape, MAX_HOPS), NOWHERE)
    hops = np.zeros(source.shape, np.int64)
    some = max(1, _AT_ONCE // (n * most))
    for lo in range(0, source.shape[1], some):
        at, end = source[:, lo : lo + some], sink[:, lo : lo + some]
        for step in range(MAX_HOPS):
            under_way = at != end
            if not under_way.any():
                break
            following = (cost[rows, at] + total[rows, end]).argmin(axis=2)
            found[:, lo : lo + some, step] = np.where(under_way, link[rows, at, following], NOWHERE)
            hops[:, lo : lo + some] += under_way
            at = np.where(under_way, following, at)
    return Routes(found, hops)


def reverse_routes(net: Topology, forth: Routes) -> Routes:
    """Return the routes in the reverse direction."""
    length = forth.hops[:, :, None]
    k = np.arange(MAX_HOPS)
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
