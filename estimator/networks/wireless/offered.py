"""Offered load of 802.11 networks, and the capacity that the time on air allows."""

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import ENDLESS, NS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless.layout import FIXED, Flow, Link, Node, Radio, WifiRows
from netcarlo.networks.offered import Offered
from netcarlo.networks.wireless.channel_time import packet_ns


def of_radio(rows: WifiRows, gateway: str) -> Offered:
    """Return the load of each node, and of the channel if all nodes sense each other, by endless UDP streams.

    `gateway` is the name of the last node. A node is busy while it sends or receives a data frame and its ACK
    (with EDCA: A-MPDUs of an endless backlog); a channel that all nodes sense carries one frame at a time.
    Backoff, collisions, and RTS and protection frames of DCF are left out: a network may lose packets below
    this capacity, and must lose some above it. Under a rate control the capacity is that of the fastest
    rate, and a burst of frames waits for one DIFS.
    """
    p, net, each = rows.parameters, rows.network, np.arange(len(rows.parameters))
    nodes = rows.nodes.shape[1]
    burst = np.maximum(p[:, Radio.BURST], p[:, Radio.GATEWAY_BURST])
    saved = 2 * p[:, Radio.SLOT] * (1 - 1 / np.maximum(burst, 1))  # part of the DIFS that a burst saves
    load, share = np.zeros((2, len(p), nodes + 1))  # the gateway is the last node, whatever their number
    channel = np.full(len(p), nodes)
    for k in range(rows.most_flows):
        flow = net[:, k * len(Flow) : (k + 1) * len(Flow)]
        stop = flow[:, Flow.STOP]
        endless = (flow[:, Flow.LIMIT] >= ENDLESS) & ((stop == 0) | (stop >= p[:, RowP.END]))
        sent = (k < p[:, Radio.FLOWS]) & (flow[:, Flow.TCP] == 0) & endless & (flow[:, Flow.INTERVAL] > 0)
        per_s = np.where(sent, NS / np.maximum(flow[:, Flow.INTERVAL], 1), 0.0)
        size = flow[:, Flow.SIZE] + flow[:, Flow.HEADER]
        hops = np.where(sent, flow[:, Flow.FORTH], 0)
        for hop in range(int(hops.max(initial=0))):
            there = hop < hops
            at_hop = np.where(there, hop, 0)
            link = net[each, p[:, Radio.PATHS_AT] + flow[:, Flow.FORTH_AT] + at_hop]
            at = p[:, Radio.LINKS_AT] + link * len(Link)
            fastest = p[:, Radio.RATES] - 1
            rate = np.where(p[:, Radio.RATE_CONTROL] == FIXED, net[each, at + Link.RATE], fastest)
            bits = np.where(there, 8.0 * size * per_s, 0.0)
            busy = np.where(there, (packet_ns(rows, flow, at_hop, rate) - saved) * per_s / NS, 0.0)
            ends = (net[each, at + column] for column in (Link.FROM, Link.TO))
            for node in (*(np.where(end == p[:, Radio.NODES] - 1, nodes - 1, end) for end in ends), channel):
                load[each, node] += bits
                share[each, node] += busy
    share[~_one_channel(rows), nodes] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        capacity = np.where(share > 0, load / share, np.nan)
        usual = np.nansum(capacity, axis=0) / np.count_nonzero(share > 0, axis=0)  # mean of rows with load
    capacity = np.where(np.isnan(capacity), np.where(np.isnan(usual), np.inf, usual), capacity)
    names = [f"node {k} of the 802.11 network" for k in range(nodes - 1)]
    return Offered(load, capacity, [*names, gateway, "the 802.11 channel"])


def _one_channel(rows: WifiRows) -> NDArray[np.bool_]:
    """Return True where every node senses every other, bool[n]."""
    number = np.arange(rows.nodes.shape[1])
    count = rows.parameters[:, Radio.NODES, None]
    present = number < count
    everybody = (np.left_shift(np.int64(1), number) * present).sum(axis=1)[:, None]
    others = everybody & ~np.left_shift(np.int64(1), number)
    sensed = (rows.nodes[:, :, Node.SENSE] & others) == others
    return np.asarray((sensed | ~present).all(axis=1))
