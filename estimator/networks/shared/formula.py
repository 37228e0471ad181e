"""Steady-state outcomes of shared links from their rows: max-min fair shares of the demands of flows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP, UdpP
from netcarlo.kernels.base.rows import take
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.layout import NOWHERE, Flow, Link, Shared, SharedRows, routes_of
from netcarlo.networks.formula import Found, byte_s, loss_limited, max_in_flight, probability
from netcarlo.numerics.arrays import Floats, Ints, divisors
from netcarlo.numerics.formulas import max_min

CHUNK = 1024
"""Number of networks computed at a time. It limits memory and does not affect results."""

ROUNDS = 3
"""Number of iterations between shares and queueing delays."""

UDP_WEIGHT = 1e12
"""Weight of UDP relative to TCP: UDP does not yield."""


def formula(rows: SharedRows) -> Found:
    """Return the outcomes of endless flows over shared links: max-min shares of demands by windows and
    PFTK."""
    parts = []
    for at in range(0, max(len(rows.parameters), 1), CHUNK):
        parts.append(_shared(take(rows, slice(at, at + CHUNK))))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _shared(rows: SharedRows) -> Found:
    p, flows = rows.parameters, rows.flows
    routes = _routes(rows)
    rates = _shares(rows, routes)  # [byte/s]
    payload = flows[:, :, RowP.DATA] / np.maximum(routes.wire, 1)
    goodput = 8.0 * np.where(routes.present, rates * routes.survive * payload, 0.0)
    offered = 8.0 * np.where(routes.udp, _udp(flows) * payload, 0.0).sum(axis=1)
    tcp = routes.present & ~routes.udp
    count = np.where(tcp.any(axis=1), tcp.sum(axis=1), np.nan)
    mine = np.where(tcp, goodput, 0.0)
    # Nothing arrives before the handshake and the one-way delay of the first packet.
    first = np.where(flows[:, :, TcpP.HANDSHAKE] > 0, 1.5, 0.5) * routes.rtt_s * NS
    begin = np.maximum(flows[:, :, RowP.START] + first, p[:, Shared.WARM_UP, None])
    stop = np.where(
        routes.udp, np.minimum(flows[:, :, UdpP.STOP], p[:, RowP.END, None]), p[:, RowP.END, None]
    )
    active = np.maximum(stop - begin, 0) / np.maximum(p[:, RowP.END] - p[:, Shared.WARM_UP], 1)[:, None]
    load = np.einsum("nfl,nf->nl", routes.uses, rates) * routes.byte_s
    arrived = 8.0 * np.where(routes.udp, rates * routes.survive * payload, 0.0).sum(axis=1)
    total = (mine * active).sum(axis=1) * np.sign(count)
    return {
        "goodput_bps": (goodput * active).sum(axis=1),
        "tcp_goodput_bps": total,
        "acked_bps": total,
        "fairness": mine.sum(axis=1) ** 2 / (count * divisors((mine * mine).sum(axis=1))),
        "worst_flow_bps": np.where(tcp, goodput, np.inf).min(axis=1, initial=np.inf) * np.sign(count),
        "mean_flow_bps": mine.sum(axis=1) / count,
        "best_flow_bps": mine.max(axis=1, initial=0.0) * np.sign(count),
        "utilisation": load.max(axis=1, initial=0.0),
        "loss_ratio": 1 - arrived / divisors(offered),
    }


class _Routes(NamedTuple):
    """Properties of the flows of `SharedRows`: arrays [n, F], unless noted otherwise."""

    present: NDArray[np.bool_]
    udp: NDArray[np.bool_]
    wire: Floats  # size of a data packet [byte]
    uses: Floats  # [n, F, L]: bytes on a link for each byte of data, acknowledgements included
    rtt_s: Floats  # of a single packet
    survive: Floats  # probability that a data packet is not lost at random
    most: Floats  # capacity of the access cables [byte/s]
    byte_s: Floats  # [n, L]


def _routes(rows: SharedRows) -> _Routes:
    p, flows, links = rows.parameters, rows.flows, rows.links
    n, count, _ = flows.shape
    present = np.arange(count) < p[:, Shared.FLOWS, None]
    udp = present & (flows[:, :, Flow.KIND] == UDP)
    wire = flows[:, :, [RowP.DATA, RowP.CHUNK_HEADER, RowP.HEADER]].sum(axis=2).astype(np.float64)
    ack = np.where(udp, 0.0, flows[:, :, ReliableP.ACK])
    line_s, delay_s = byte_s(links[:, :, Link.BYTE_TIME]), links[:, :, Link.DELAY] / NS
    passes = np.log1p(-np.minimum(probability(rows.losses), 1 - 1e-12))[links[:, :, Link.LOSS]]
    uses, rtt_s, survive = np.zeros((n, count, links.shape[1])), np.zeros((n, count)), np.zeros((n, count))
    for back, size in ((False, wire), (True, ack)):
        for route in np.moveaxis(routes_of(flows, back=back), 2, 0):
            i, f = np.nonzero(present & (route != NOWHERE) & (size > 0))
            link = route[i, f]
            uses[i, f, link] += size[i, f] / wire[i, f]
            rtt_s[i, f] += size[i, f] * line_s[i, link] + delay_s[i, link]
            if not back:
                survive[i, f] += passes[i, link]
    ends = ((Flow.ACCESS, wire), (Flow.SINK, wire), (Flow.ACCESS_BACK, ack), (Flow.SINK_BACK, ack))
    rtt_s += sum(size * byte_s(flows[:, :, column]) for column, size in ends)
    rtt_s += 2 * (flows[:, :, Flow.SOURCE_DELAY] + flows[:, :, Flow.SINK_DELAY]) / NS
    slowest = np.maximum(byte_s(flows[:, :, Flow.ACCESS]), byte_s(flows[:, :, Flow.SINK]))
    with np.errstate(divide="ignore"):
        most = 1 / slowest
    return _Routes(present, udp, wire, uses, np.where(present, rtt_s, 1.0), np.exp(survive), most, line_s)


def _shares(rows: SharedRows, routes: _Routes) -> Floats:
    """Return the bytes sent per second [n, F].

    Shares are proportional to the window over the round-trip time, including queueing delay; UDP does not
    yield.
    """
    flows, links = rows.flows, rows.links
    with np.errstate(divide="ignore"):
        capacity = 1 / routes.byte_s
    queue_s = np.zeros_like(capacity)
    window = np.maximum(max_in_flight(flows), 1)
    rates = np.zeros_like(routes.wire)
    for _ in range(ROUNDS):
        rtt_s = routes.rtt_s + np.einsum("nfl,nl->nf", routes.uses > 0, queue_s)
        asks = loss_limited(flows, rtt_s, 1 - routes.survive, window, kind=flows[:, :, Flow.KIND])
        asks = asks * routes.wire
        asks = np.where(routes.present, np.minimum(np.where(routes.udp, _udp(flows), asks), routes.most), 0.0)
        weight = np.where(routes.udp, UDP_WEIGHT, routes.wire / rtt_s)
        rates = max_min(routes.uses, capacity, most=asks, weight=np.where(routes.present, weight, 1.0))
        # The queue of a saturated link is three quarters full on average.
        load = routes.uses * rates[:, :, None]
        packet = (load * routes.wire[:, :, None]).sum(axis=1) / np.maximum(load.sum(axis=1), 1e-9)
        full = load.sum(axis=1) * routes.byte_s > 0.999
        queue_s = np.where(full, 0.75 * links[:, :, Link.QUEUE] * packet * routes.byte_s, 0.0)
    return rates


def _udp(flows: Ints) -> Floats:
    """Return the bytes that UDP flows send per second [n, F], averaged over silent periods."""
    wire, interval = flows[:, :, RowP.DATA] + flows[:, :, RowP.HEADER], flows[:, :, UdpP.INTERVAL]
    on, off = flows[:, :, Flow.ON], flows[:, :, Flow.OFF]
    duty = np.where(on > 0, on / np.maximum(on + off, 1), 1.0)
    return np.where(interval > 0, wire * NS / np.maximum(interval, 1) * duty, 0.0)
