"""BALIA: balanced linked adaptation.

Source: Peng, Walid, Hwang and Low, "Multipath TCP: analysis, design, and implementation" (IEEE/ACM
Transactions on Networking 24(1), 2016), and draft-walid-mptcp-congestion-control-04.

With rates x = w / rtt and alpha = max x_k / x, a window grows for each packet acknowledged by
(x / rtt) / (sum x_k)^2 * (1 + alpha) / 2 * (4 + alpha) / 5, and a loss takes min(alpha, 1.5) / 2 of it.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.state import Tcp
from netcarlo.kernels.mptcp.coupled.peers import SCALE_BITS, largest, total


@noinline
def acked_per_increase(s: Any) -> Any:
    """Return the packets that must be acknowledged for the window to grow by one."""
    cwnd, rtt = s[Tcp.CWND], max(s[Tcp.SRTT_US], 1)
    own, most, sum_of_all = cwnd << SCALE_BITS, largest(s, rtt), total(s, rtt)
    share = quotient(sum_of_all * sum_of_all, own + most)
    return max(quotient(share * 10 * cwnd, 4 * own + most), 1)


@noinline
def ssthresh(s: Any) -> Any:
    """Return the threshold after a loss, rounded down, at least 2 packets (RFC 5681, equation 4)."""
    round_up = (np.int64(2) << SCALE_BITS) - 1
    half_of_most = (largest(s, max(s[Tcp.SRTT_US], 1)) + round_up) >> (SCALE_BITS + 1)
    return max(s[Tcp.CWND] - min(half_of_most, quotient(3 * s[Tcp.CWND] + 3, 4)), 2)
