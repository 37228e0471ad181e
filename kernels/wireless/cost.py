"""What an 802.11 network costs: frames, or datagrams that find none of them free, times what is looked through."""

import numpy as np

from netcarlo.kernels.base.cost import Floats, datagrams
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.wireless.layout import Flow, Link, Radio, Rate, WifiRows


def cost(rows: WifiRows) -> Floats:
    """About the events of each row, float64[n], times the nodes, flows and legs that each looks at."""
    p, n = rows.parameters, np.arange(len(rows.parameters))

    def of(at: Radio, column: int) -> Floats:
        """A column of the first entry of a table."""
        return rows.network[n, np.minimum(p[:, at] + column, rows.network.shape[1] - 1)].astype(float)

    rate = p[:, Radio.RATES_AT] + of(Radio.LINKS_AT, Link.RATE).astype(int) * len(Rate)
    symbol, bits = (rows.network[n, rate + column] for column in (Rate.SYMBOL, Rate.HALF_BITS))
    size = of(Radio.FLOWS_AT, Flow.SIZE) + of(Radio.FLOWS_AT, Flow.HEADER) + p[:, Radio.MAC_OVERHEAD]
    spaces = p[:, Radio.SIFS] + p[:, Radio.SLOT] * (2 + p[:, Radio.CW_MIN] // 4)
    frame = 16 * size / np.maximum(bits, 1) * symbol + spaces + rows.network[n, rate + Rate.PREAMBLE]
    carried = p[:, P.END] / np.maximum(frame, 1.0)
    span = np.minimum(of(Radio.FLOWS_AT, Flow.STOP), p[:, P.END]) - of(Radio.FLOWS_AT, Flow.START)
    offered = p[:, Radio.FLOWS] * datagrams(span, of(Radio.FLOWS_AT, Flow.INTERVAL))
    udp = of(Radio.FLOWS_AT, Flow.TCP) == 0
    events = np.where(udp, np.minimum(offered, carried) + offered / 4, carried)
    return events * (p[:, Radio.NODES] + p[:, Radio.FLOWS] + p[:, Radio.LEGS])  # type: ignore[no-any-return]
