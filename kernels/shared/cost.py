"""Computing cost of a network of shared links: the packets that its flows request, or that its links can
carry."""

import numpy as np

from netcarlo.kernels.base.cost import Floats, datagrams, transfer
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.shared.layout import Flow, Link, Shared, SharedRows


def cost(rows: SharedRows) -> Floats:
    """Return the approximate number of packets of each row on all of its links, float64[n]."""
    p, flows, links = rows.parameters, rows.flows, rows.links
    used = np.arange(flows.shape[1]) < p[:, Shared.FLOWS, None]
    there = np.arange(links.shape[1]) < p[:, Shared.LINKS, None]
    count = np.maximum(there.sum(axis=1), 1)
    size = flows[..., RowP.DATA] + flows[..., RowP.HEADER]
    end = p[:, RowP.END, None]
    span = np.maximum(end - flows[..., RowP.START], 0)
    access = np.maximum(on_wire(size, flows[..., Flow.ACCESS]), on_wire(size, flows[..., Flow.SINK]))
    delay = (links[..., Link.DELAY] * there).sum(axis=1) / count  # mean delay of a link
    hops = flows[..., Flow.HOPS] + flows[..., Flow.BACK_HOPS]
    rtt = 2 * (flows[..., Flow.SOURCE_DELAY] + flows[..., Flow.SINK_DELAY] + access) + hops * delay[:, None]
    window = flows[..., RowP.WINDOW]
    asked = hops * transfer(span, flows[..., RowP.LIMIT], packet=access, rtt=rtt, window=window)
    sending = flows[..., Flow.ON] / np.maximum(flows[..., Flow.ON] + flows[..., Flow.OFF], 1)
    sending = np.where(flows[..., Flow.ON] > 0, sending, 1.0)
    sent = flows[..., Flow.HOPS] * sending * datagrams(span, flows[..., UdpP.INTERVAL])
    total = (np.where(flows[..., UdpP.INTERVAL] > 0, sent, asked) * used).sum(axis=1)
    mean = (size * used).sum(axis=1, keepdims=True) // np.maximum(used.sum(axis=1, keepdims=True), 1)
    carried = end / np.maximum(on_wire(mean, links[..., Link.BYTE_TIME]), 1.0)
    acknowledged = 2 * (carried * there).sum(axis=1)  # a packet and its acknowledgement
    return np.minimum(total, acknowledged)  # type: ignore[no-any-return]
