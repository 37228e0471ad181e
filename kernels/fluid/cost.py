"""Cost of a fluid: the number of its steps, which last a round trip or a fixed part of the shortest one."""

import numpy as np

from netcarlo.kernels.base.cost import Floats
from netcarlo.kernels.base.layout import Hop, Rows
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.shared.layout import Flow, Shared, SharedRows
from netcarlo.kernels.wireless.layout import Radio, WifiRows


def of_path(rows: Rows) -> Floats:
    """Return the approximate number of steps of each row, float64[n]."""
    p, hops = rows.parameters, rows.hops[:, 0]
    rtt = (hops[..., Hop.DELAY] + hops[..., Hop.R_DELAY]).sum(axis=1)
    return (p[:, RowP.END] - p[:, RowP.START]) / np.maximum(rtt, 1)  # type: ignore[no-any-return]


def of_shared(rows: SharedRows) -> Floats:
    """Return the approximate number of steps of each row times its flows and links, float64[n]."""
    p, flows = rows.parameters, rows.flows
    used = np.arange(flows.shape[1]) < p[:, Shared.FLOWS, None]
    hosts = np.where(used, flows[..., Flow.SOURCE_DELAY] + flows[..., Flow.SINK_DELAY], p[:, RowP.END, None])
    rtt = 2.0 * hosts.min(axis=1, initial=1 << 62) + 1e6
    return p[:, RowP.END] / rtt * (p[:, Shared.FLOWS] + p[:, Shared.LINKS])  # type: ignore[no-any-return]


def of_wireless(rows: WifiRows) -> Floats:
    """Return the approximate number of pairs of each row, float64[n].

    A pair is a node or EDCA function with another one, or with a flow.
    """
    p = rows.parameters
    servers = np.maximum(p[:, Radio.NODES], p[:, Radio.FUNCTIONS])
    pairs = servers * (servers + p[:, Radio.FLOWS])
    return pairs.astype(np.float64)
