"""LIA: linked increases (RFC 6356, section 3).

A subflow grows for each packet acknowledged by min(alpha / total window, 1 / window) with
alpha = total window * max(w_k / rtt_k^2) / (sum w_k / rtt_k)^2. So a packet of growth needs
max(w, min over k of (sum w_j rtt_k / rtt_j)^2 / w_k) packets acknowledged.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.state import Tcp
from netcarlo.kernels.mptcp.coupled.peers import PEERS, SCALE_BITS, Coupled, Peer, total


def _by(s: Any, cwnd: Any, srtt: Any) -> Any:
    """Return the packets per packet of growth if the subflow with this window and RTT has the largest
    w / rtt^2."""
    sum_of_all = total(s, srtt)
    return quotient(sum_of_all * sum_of_all, cwnd) >> (2 * SCALE_BITS)


@noinline
def acked_per_increase(s: Any) -> Any:
    """Return the packets that must be acknowledged for the window to grow by one."""
    found = _by(s, s[Tcp.CWND], max(s[Tcp.SRTT_US], 1))
    for k in range(s[Coupled.COUNT]):
        at = PEERS + Peer.SIZE * k
        found = min(found, _by(s, s[at + Peer.CWND], s[at + Peer.SRTT]))
    return max(found, s[Tcp.CWND])
