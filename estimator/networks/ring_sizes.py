"""Ring buffer sizes in rows of the engine of shared links: packets expected on links and in flight."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import BYTE_TIME_BITS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.shared.layout import FIFO, NO_AQM, NOWHERE, Flow, Link, SharedRows, routes_of
from netcarlo.numerics.arrays import Ints

FEW_FLOWS = 64
"""Number of flows up to which each may fill a link completely."""
USUAL_PACKET = 1000
"""Size of a packet with which limits in bytes are converted for the size of rings [byte]."""
FAIR_SHARES = 16
"""Maximum number of fair shares that one of more flows has on a link."""


def link_rings(flows: Ints, links: Ints) -> Ints:
    """Return the maximum number of packets expected on each link [n, L], a power of two. It determines
    memory only."""
    smallest = np.where(
        flows[:, :, RowP.DATA] > 0, flows[:, :, [RowP.DATA, RowP.HEADER]].sum(axis=2), 1 << 16
    )
    packet_ns = smallest.min(axis=1)[:, None] * links[:, :, Link.BYTE_TIME] / 2**BYTE_TIME_BITS
    wire = links[:, :, Link.DELAY] / np.maximum(packet_ns, 1.0)
    expected = np.clip(_held(links) + wire + 64, 64, 1 << 14)
    return np.asarray(2 ** np.ceil(np.log2(expected)), np.int64)


def flow_rings(rows: SharedRows) -> Ints:
    """Return the ring size for the packets in flight of each flow [n, F], a power of two.

    It is twice what the links of the route hold or, if smaller, the window. Linux windows are large, and
    rings that are too small grow. Where many flows share a link, none is therefore expected to have more than
    `FAIR_SHARES` fair shares of it.
    """
    flows = rows.flows
    held, share = np.zeros(flows.shape[:2]), _share(rows)
    for k in range(flows.shape[1]):
        flow = flows[:, k]
        route = routes_of(flow)
        links, there = links_of_route(rows.links, route)
        most = np.take_along_axis(share, np.maximum(route, 0), axis=1)
        size = (flow[:, RowP.DATA] + flow[:, RowP.HEADER])[:, None]
        packet_ns = np.where(there, size * links[:, :, Link.BYTE_TIME] / 2**BYTE_TIME_BITS, 1.0)
        slowest = packet_ns.max(axis=1, initial=1.0)
        hosts = flow[:, [Flow.SOURCE_DELAY, Flow.SINK_DELAY]].sum(axis=1)
        delay = np.where(there, links[:, :, Link.DELAY], 0).sum(axis=1) + hosts
        held[:, k] = np.where(there, _held(links) * most, 0).sum(axis=1)
        held[:, k] += 2 * delay / slowest * np.where(there, most, 1.0).min(axis=1)
    least = np.minimum(2 * held, 2 * flows[:, :, RowP.WINDOW]) + 64
    return np.asarray(2 ** np.ceil(np.log2(least)), np.int64)


def _share(rows: SharedRows) -> Any:
    # Maximum share of the packets on a link [n, L] that one flow is expected to have.
    route = routes_of(rows.flows)
    n = np.zeros(rows.links.shape[:2])
    row, flow, hop = np.nonzero(route != NOWHERE)
    np.add.at(n, (row, route[row, flow, hop]), 1)
    return np.where(n > FEW_FLOWS, FAIR_SHARES / np.maximum(n, 1), 1.0)


def _held(links: Ints) -> Ints:
    """Return the number of packets that queues [n, L] are expected to hold; queues with AQM are expected
    to stay short."""
    limit, kind = links[:, :, Link.QUEUE], links[:, :, Link.AQM]
    queue = np.where(limit > 0, limit, np.where(limit < 0, -limit // USUAL_PACKET, 1024))
    return np.where((kind == NO_AQM) | (kind == FIFO), queue, np.minimum(queue, 256))


def links_of_route(links: Ints, route: Ints) -> tuple[Ints, Any]:
    """Return the links [n, H, Link.COLUMNS] of a route [n, H], and which of them exist."""
    each = np.arange(len(route))[:, None]
    links = links[:, :, : Link.COLUMNS]  # without time-varying pairs, which may be hundreds of columns
    return links[each, np.maximum(route, 0)], route != NOWHERE
