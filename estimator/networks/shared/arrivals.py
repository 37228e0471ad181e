"""Arriving flows over shared links: the time of an ideal transfer."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.senders import LINUX, VEGAS
from netcarlo.kernels.shared.layout import NOWHERE, Flow, Link, SharedRows, routes_of
from netcarlo.numerics.arrays import Ints


def fill_ideal_times(rows: SharedRows) -> None:
    """Fill in the time of an ideal transfer without competition and queueing, for the slots of classes.

    A handshake, if there is one, takes one round trip of its packets. The first data packet takes its one-way
    delay, and each further one its transmission time on the slowest link or cable of the route.
    """
    flows = rows.flows
    if not (flows[:, :, Flow.CLASS] > 0).any():
        return
    for k in range(flows.shape[1]):
        flow = flows[:, k]
        data = flow[:, RowP.DATA] + flow[:, RowP.HEADER]
        times, delay = _wire_times(rows, flow, data, (Flow.ACCESS, Flow.SINK))
        connects = (flow[:, TcpP.HANDSHAKE] > 0) & (flow[:, Flow.KIND] != VEGAS)
        reply = np.where(np.isin(flow[:, Flow.KIND], LINUX), flow[:, TcpP.HANDSHAKE], flow[:, ReliableP.ACK])
        forth, _ = _wire_times(rows, flow, flow[:, TcpP.HANDSHAKE], (Flow.ACCESS, Flow.SINK))
        ends = Flow.SINK_BACK, Flow.ACCESS_BACK
        back, delay_back = _wire_times(rows, flow, reply, ends, back=True)
        handshake = np.where(connects, forth.sum(axis=1) + delay + back.sum(axis=1) + delay_back, 0)
        slots = flow[:, Flow.CLASS] > 0
        flow[slots, Flow.LATENCY] = np.maximum(handshake + times.sum(axis=1) + delay, 1)[slots]
        flow[slots, Flow.PACKET_TIME] = times.max(axis=1)[slots]


def _wire_times(
    rows: SharedRows, flow: Ints, size: Ints, ends: tuple[int, int], *, back: bool = False
) -> tuple[Ints, Ints]:
    """Return the transmission times [n, H + 2] of a packet of `size` [n] on a route of up to H links, and its
    total delay [n].

    `ends` are the columns of the access cables of the two hosts; `back` selects the route of the
    acknowledgements.
    """
    route = routes_of(flow, back=back)
    each = np.arange(len(route))[:, None]
    links, there = rows.links[each, np.maximum(route, 0)], route != NOWHERE
    times = np.where(there, on_wire(size[:, None], links[:, :, Link.BYTE_TIME]), 0)
    cables: list[Any] = [on_wire(size, flow[:, column])[:, None] for column in ends]
    delay = np.where(there, links[:, :, Link.DELAY], 0).sum(axis=1)
    hosts = flow[:, Flow.SOURCE_DELAY] + flow[:, Flow.SINK_DELAY]
    return np.concatenate([times, *cables], axis=1), np.asarray(delay + hosts)
