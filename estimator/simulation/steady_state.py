"""Outcomes of networks in the steady state, by formulae, from the rows that the engines read.

A path is PFTK capped by the sawtooth of its bottleneck, a cell Bianchi's model, shared links max-min shares.
What these leave out, and how far off they are, is in docs/models/formulas.md.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, Hop, P, Rows
from netcarlo.kernels.base.loss import DIGITS
from netcarlo.kernels.shared.layout import MOST_HOPS, NOWHERE, UDP, Flow, Link, Shared, SharedRows
from netcarlo.kernels.wireless import layout as wifi
from netcarlo.kernels.wireless.layout import Radio, WifiRows
from netcarlo.networks.wireless import bianchi, dot11
from netcarlo.networks.wireless.rows import air_ns
from netcarlo.numerics.formulas import max_min, pftk, sawtooth

NS = 1e9

CHUNK = 1024
"""Shared networks at a time: bounds memory and decides nothing else."""

ROUNDS = 3
"""Of shares and queues that follow from each other."""

UDP_WEIGHT = 1e12
"""UDP beside TCP: it takes what it sends."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Found = dict[str, Floats]
"""Outcomes of rows by name, [n] each; the names are those of `netcarlo.simulation.outcomes.MEANING`."""


def path(rows: Rows) -> Found:
    """Outcomes of endless TCP transfers over the first path of `rows`: PFTK, capped by the sawtooth."""
    p, hops = rows.parameters, rows.hops[:, 0]
    there = hops[..., Hop.PRESENT] == 1
    wire = p[:, P.DATA] + p[:, P.HEADER]
    data_s = wire[:, None] * _byte_s(hops[..., Hop.BYTE_TIME])
    ack_s = p[:, P.ACK, None] * _byte_s(hops[..., Hop.R_BYTE_TIME])
    delay_s = (hops[..., Hop.DELAY] + hops[..., Hop.R_DELAY]) / NS
    rtt_s = np.where(there, data_s + ack_s + delay_s, 0.0).sum(axis=1)
    every = np.where(hops[..., Hop.CROSS_EVERY] > 0, hops[..., Hop.CROSS_EVERY] / NS, np.inf)
    taken = hops[..., Hop.CROSS_SIZE] * _byte_s(hops[..., Hop.BYTE_TIME]) / every
    with np.errstate(divide="ignore"):
        rate = np.where(there, np.maximum(1 - taken, 0.0) / data_s, np.inf)
    slowest = rate.argmin(axis=1)[:, None]
    capacity = np.take_along_axis(rate, slowest, axis=1)[:, 0]
    queue = np.take_along_axis(hops[..., Hop.QUEUE], slowest, axis=1)[:, 0]
    survive = np.where(there, 1 - probability(rows.losses)[hops[..., Hop.LOSS]], 1.0).prod(axis=1)
    most = _most_in_flight(p)
    alone = _lossy(p, rtt_s, 1 - survive, most)
    full = sawtooth(rtt_s, capacity, queue=np.where(queue == 0, np.inf, queue - 1.0), window=most)
    sent = np.minimum(alone, full)
    # Where the queue is what limits, the window is that of the sawtooth on average.
    held = np.minimum(most, 0.75 * (capacity * rtt_s + queue))
    cwnd = np.where(alone > full, np.maximum(held, sent * rtt_s), sent * rtt_s)
    return {
        "goodput_bps": sent * survive * p[:, P.DATA] * 8.0,
        "mean_cwnd_packets": cwnd,
        "mean_rtt_s": cwnd / np.maximum(sent, 1e-12),
    }


def cell(rows: WifiRows) -> Found:
    """Outcomes of 802.11 cells whose stations send UDP to the access point: Bianchi's model, or what is
    offered if that is less."""
    p, net = rows.parameters, rows.network
    each = np.arange(len(p))
    flow = net[:, : len(wifi.Flow)]  # that of the first station; all are alike
    packet = flow[:, wifi.Flow.SIZE] + flow[:, wifi.Flow.HEADER]
    frame = packet + p[:, Radio.MAC_OVERHEAD]
    row = net[each, p[:, Radio.LINKS_AT] + wifi.Link.RATE]
    data, answer, protection = (
        p[:, Radio.RATES_AT] + number * len(wifi.Rate)
        for number in (
            row,
            net[each, p[:, Radio.RATES_AT] + row * len(wifi.Rate) + wifi.Rate.ANSWER],
            np.maximum(p[:, Radio.PROTECTION], 0),
        )
    )
    protected = (p[:, Radio.PROTECTION] != wifi.NOBODY) & (net[each, data + wifi.Rate.DSSS] == 0)
    ack, rts = np.full(len(p), dot11.ACK_BYTES), np.full(len(p), bianchi.RTS_BYTES)
    announced = frame > p[:, Radio.RTS_THRESHOLD]
    access = bianchi.cost(
        slot_s=p[:, Radio.SLOT] / NS,
        sifs_s=p[:, Radio.SIFS] / NS,
        data_s=air_ns(net, data, frame) / NS,
        ack_s=air_ns(net, answer, ack) / NS,
        rts_s=np.where(announced, air_ns(net, answer, rts) / NS, 0.0),
        cts_to_self_s=np.where(protected, air_ns(net, protection, ack) / NS, 0.0),
        answer_preamble_s=net[each, answer + wifi.Rate.PREAMBLE] / NS,
        cw_min=p[:, Radio.CW_MIN],
        cw_max=p[:, Radio.CW_MAX],
        attempts=p[:, Radio.SHORT_RETRY],
    )
    stations = p[:, Radio.FLOWS]
    full = bianchi.solve_all(access, stations=stations, payload=flow[:, wifi.Flow.SIZE])
    offered = stations * 8.0 * flow[:, wifi.Flow.SIZE] * NS / flow[:, wifi.Flow.INTERVAL]
    saturated = offered >= full.throughput_bps
    return {
        "goodput_bps": np.minimum(offered, full.throughput_bps),
        "loss_ratio": np.maximum(1 - full.throughput_bps / offered, 0.0),
        "failed_attempt_ratio": np.where(saturated, full.failed_attempt_ratio, 0.0),
    }


def shared(rows: SharedRows) -> Found:
    """Outcomes of endless flows over shared links: max-min shares of what windows and PFTK ask for."""
    parts = []
    for at in range(0, max(len(rows.parameters), 1), CHUNK):
        here = slice(at, at + CHUNK)
        part = rows._replace(
            parameters=rows.parameters[here], constants=rows.constants[here],
            flows=rows.flows[here], links=rows.links[here],
        )  # fmt: skip
        parts.append(_shared(part))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _shared(rows: SharedRows) -> Found:
    p, flows = rows.parameters, rows.flows
    ways = _ways(rows)
    rates = _shares(rows, ways)  # [byte/s]
    payload = flows[:, :, P.DATA] / np.maximum(ways.wire, 1)
    goodput = 8.0 * np.where(ways.present, rates * ways.survive * payload, 0.0)
    offered = 8.0 * np.where(ways.udp, _udp(flows) * payload, 0.0).sum(axis=1)
    tcp = ways.present & ~ways.udp
    count = np.where(tcp.any(axis=1), tcp.sum(axis=1), np.nan)
    mine = np.where(tcp, goodput, 0.0)
    begin = np.maximum(flows[:, :, P.START], p[:, Shared.WARM_UP, None])
    stop = np.where(ways.udp, np.minimum(flows[:, :, Flow.STOP], p[:, P.END, None]), p[:, P.END, None])
    active = np.maximum(stop - begin, 0) / np.maximum(p[:, P.END] - p[:, Shared.WARM_UP], 1)[:, None]
    load = np.einsum("nfl,nf->nl", ways.uses, rates) * ways.byte_s
    arrived = 8.0 * np.where(ways.udp, rates * ways.survive * payload, 0.0).sum(axis=1)
    total = (mine * active).sum(axis=1) * np.sign(count)
    return {
        "goodput_bps": (goodput * active).sum(axis=1),
        "tcp_goodput_bps": total,
        "acked_bps": total,
        "fairness": mine.sum(axis=1) ** 2 / (count * _positive((mine * mine).sum(axis=1))),
        "worst_flow_bps": np.where(tcp, goodput, np.inf).min(axis=1, initial=np.inf) * np.sign(count),
        "mean_flow_bps": mine.sum(axis=1) / count,
        "best_flow_bps": mine.max(axis=1, initial=0.0) * np.sign(count),
        "utilisation": load.max(axis=1, initial=0.0),
        "loss_ratio": 1 - arrived / _positive(offered),
    }


class _Ways(NamedTuple):
    """What the flows of `SharedRows` pass: arrays [n, F], unless said otherwise."""

    present: NDArray[np.bool_]
    udp: NDArray[np.bool_]
    wire: Floats  # a data packet [byte]
    uses: Floats  # [n, F, L]: bytes on a link for each byte of data, acknowledgements included
    rtt_s: Floats  # of a lone packet
    survive: Floats  # probability that random loss spares a data packet
    most: Floats  # what the access links carry [byte/s]
    byte_s: Floats  # [n, L]


def _ways(rows: SharedRows) -> _Ways:
    p, flows, links = rows.parameters, rows.flows, rows.links
    n, count, _ = flows.shape
    present = np.arange(count) < p[:, Shared.FLOWS, None]
    udp = present & (flows[:, :, Flow.KIND] == UDP)
    wire = (flows[:, :, P.DATA] + flows[:, :, P.HEADER]).astype(np.float64)
    ack = np.where(udp, 0.0, flows[:, :, P.ACK])
    byte_s, delay_s = _byte_s(links[:, :, Link.BYTE_TIME]), links[:, :, Link.DELAY] / NS
    passes = np.log1p(-np.minimum(probability(rows.losses), 1 - 1e-12))[links[:, :, Link.LOSS]]
    uses, rtt_s, survive = np.zeros((n, count, links.shape[1])), np.zeros((n, count)), np.zeros((n, count))
    for column, size in ((Flow.ROUTE, wire), (Flow.BACK, ack)):
        for k in range(MOST_HOPS):
            route = flows[:, :, column + k]
            i, f = np.nonzero(present & (route != NOWHERE) & (size > 0))
            link = route[i, f]
            uses[i, f, link] += size[i, f] / wire[i, f]
            rtt_s[i, f] += size[i, f] * byte_s[i, link] + delay_s[i, link]
            if column == Flow.ROUTE:
                survive[i, f] += passes[i, link]
    ends = ((Flow.ACCESS, wire), (Flow.SINK, wire), (Flow.ACCESS_BACK, ack), (Flow.SINK_BACK, ack))
    rtt_s += sum(size * _byte_s(flows[:, :, column]) for column, size in ends)
    rtt_s += 2 * (flows[:, :, Flow.SOURCE_DELAY] + flows[:, :, Flow.SINK_DELAY]) / NS
    slowest = np.maximum(_byte_s(flows[:, :, Flow.ACCESS]), _byte_s(flows[:, :, Flow.SINK]))
    with np.errstate(divide="ignore"):
        most = 1 / slowest
    return _Ways(present, udp, wire, uses, np.where(present, rtt_s, 1.0), np.exp(survive), most, byte_s)


def _shares(rows: SharedRows, ways: _Ways) -> Floats:
    """Bytes put on the way per second [n, F].  A share is as the window over the round trip, queues included;
    UDP does not give way."""
    flows, links = rows.flows, rows.links
    with np.errstate(divide="ignore"):
        capacity = 1 / ways.byte_s
    queue_s = np.zeros_like(capacity)
    window = np.maximum(_most_in_flight(flows), 1)
    rates = np.zeros_like(ways.wire)
    for _ in range(ROUNDS):
        rtt_s = ways.rtt_s + np.einsum("nfl,nl->nf", ways.uses > 0, queue_s)
        asks = _lossy(flows, rtt_s, 1 - ways.survive, window) * ways.wire
        asks = np.where(ways.present, np.minimum(np.where(ways.udp, _udp(flows), asks), ways.most), 0.0)
        weight = np.where(ways.udp, UDP_WEIGHT, ways.wire / rtt_s)
        rates = max_min(ways.uses, capacity, most=asks, weight=np.where(ways.present, weight, 1.0))
        # The queue of a link that is full stands at three quarters on average.
        load = ways.uses * rates[:, :, None]
        packet = (load * ways.wire[:, :, None]).sum(axis=1) / np.maximum(load.sum(axis=1), 1e-9)
        full = load.sum(axis=1) * ways.byte_s > 0.999
        queue_s = np.where(full, 0.75 * links[:, :, Link.QUEUE] * packet * ways.byte_s, 0.0)
    return rates


def _udp(flows: Ints) -> Floats:
    """Bytes that UDP flows put out per second [n, F], silences included."""
    wire, interval = flows[:, :, P.DATA] + flows[:, :, P.HEADER], flows[:, :, Flow.INTERVAL]
    on, off = flows[:, :, Flow.ON], flows[:, :, Flow.OFF]
    duty = np.where(on > 0, on / np.maximum(on + off, 1), 1.0)
    return np.where(interval > 0, wire * NS / np.maximum(interval, 1) * duty, 0.0)


def probability(losses: NDArray[np.uint32]) -> Floats:
    """The loss probabilities [m] that digit thresholds [m, 32] stand for, to about 1e-9."""
    one = losses[:, 0] / 2.0**32
    lossless = losses[:, DIGITS - 1] == 0xFFFFFFFF
    return np.where(lossless, 0.0, (1 - 2 * one) / (1 - one))


def _lossy(p: Ints, rtt_s: Floats, loss: Floats, most: Floats) -> Floats:
    """PFTK for transports by the columns of `P` [..., len(P)]."""
    rto_s = np.maximum(p[..., P.MIN_RTO], rtt_s * NS + 2 * p[..., P.TICK]) / NS
    return pftk(rtt_s, loss, window=most, rto_s=rto_s, ack_every=np.maximum(p[..., P.ACK_EVERY], 1))


def _most_in_flight(p: Ints) -> Floats:
    buffer = np.where(p[..., P.SEND_BUFFER] > 0, p[..., P.SEND_BUFFER], np.inf)
    return np.minimum(p[..., P.WINDOW], buffer)


def _byte_s(byte_time: Ints) -> Floats:
    return byte_time / (2.0**BYTE_TIME_BITS * NS)


def _positive(values: Floats) -> Floats:
    """The values as divisors: NaN where they are not positive."""
    return np.where(values > 0, values, np.nan)
