"""Estimated cost of an 802.11 network: packets that its flows send, times the links of each."""

import numpy as np

from netcarlo.kernels.base.cost import Floats
from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless.layout import Flow, Radio, WifiRows

OF_TCP = MS
"""Assumed time between packets of a flow other than UDP [ns]; collisions matter more than its value."""


def cost(rows: WifiRows) -> Floats:
    """Return the approximate number of frames of each row, float64[n]."""
    p, row = rows.parameters, np.arange(len(rows.parameters))
    total = np.zeros(len(row))
    for k in range(rows.most_flows):
        at = np.where(k < p[:, Radio.FLOWS], p[:, Radio.FLOWS_AT] + k * len(Flow), 0)
        flow = rows.network[row[:, None], at[:, None] + np.arange(len(Flow))]
        span = np.maximum(np.minimum(flow[:, Flow.STOP], p[:, RowP.END]) - flow[:, Flow.START], 0)
        unlimited = (flow[:, Flow.TCP] == 1) | (flow[:, Flow.BACKLOG] > 0)
        every = np.where(unlimited, OF_TCP, np.maximum(flow[:, Flow.INTERVAL], 1))
        links = flow[:, Flow.FORTH] + flow[:, Flow.BACK]
        packets = np.minimum(span / every, flow[:, Flow.LIMIT]) * links
        total += np.where(k < p[:, Radio.FLOWS], packets, 0.0)
    return total
