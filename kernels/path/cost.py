"""Estimated cost of a path: packets of its sender and of cross traffic."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.cost import Floats, datagrams, transfer
from netcarlo.kernels.base.layout import ENDLESS, Hop, Rows
from netcarlo.kernels.base.loss import probabilities
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP, UdpP
from netcarlo.kernels.base.wire import on_wire

MIN_SHARE = 0.01
"""Minimum share of a hop's capacity that cross traffic leaves to the sender."""

SAMPLES = 10
"""Number of samples that cost as much as a packet."""


def cost(rows: Rows, window: Any) -> Floats:
    """Return the approximate number of packets of each row, float64[n], by its first path.

    `window` [n] is the maximum number of packets in flight.
    """
    p, hops = rows.parameters, rows.hops[:, 0]
    wire = on_wire((p[:, RowP.DATA] + p[:, RowP.HEADER])[:, None], hops[..., Hop.BYTE_TIME])
    rtt = (wire + hops[..., Hop.DELAY] + hops[..., Hop.R_DELAY]).sum(axis=1)
    crossing = on_wire(hops[..., Hop.CROSS_SIZE], hops[..., Hop.BYTE_TIME])
    taken = datagrams(crossing, hops[..., Hop.CROSS_EVERY])  # share of the capacity of a hop
    packet = (wire / np.maximum(1.0 - taken, MIN_SHARE)).max(axis=1, initial=1.0)
    queue = np.where(hops[..., Hop.QUEUE] > 0, hops[..., Hop.QUEUE], ENDLESS).min(axis=1, initial=ENDLESS)
    buffer = np.where(p[:, TcpP.SEND_BUFFER] > 0, p[:, TcpP.SEND_BUFFER], ENDLESS)
    window = np.minimum(np.minimum(window, buffer), rtt / packet + queue)
    lost = np.where(hops[..., Hop.PRESENT] == 1, probabilities(rows.losses)[hops[..., Hop.LOSS]], 0.0)
    packets = transfer(
        p[:, RowP.END] - p[:, RowP.START], p[:, RowP.LIMIT], packet=packet, rtt=rtt, window=window,
        loss=1.0 - (1.0 - lost).prod(axis=1), rto=np.maximum(2 * rtt, p[:, ReliableP.MIN_RTO]),
    )  # fmt: skip
    sent = datagrams(np.minimum(p[:, UdpP.STOP], p[:, RowP.END]) - p[:, RowP.START], p[:, UdpP.INTERVAL])
    cross = datagrams(p[:, RowP.END, None], hops[..., Hop.CROSS_EVERY]).sum(axis=1)
    samples = p[:, RowP.END] / (SAMPLES * np.maximum(p[:, RowP.SAMPLE], 1))
    return np.where(p[:, UdpP.INTERVAL] > 0, sent, packets) + cross + samples  # type: ignore[no-any-return]
