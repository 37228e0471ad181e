"""OLIA: opportunistic linked increases.

Source: Khalili, Gast, Popovic and Le Boudec, "MPTCP is not Pareto-optimal: performance issues and a possible
solution" (IEEE/ACM Transactions on Networking 21(5), 2013), and draft-khalili-mptcp-congestion-control-05.

For each packet acknowledged a window grows by (w / rtt^2) / (sum w_k / rtt_k)^2 + alpha / w. The second term
moves windows to paths with few losses: with n subflows, alpha is 1 / (n |C|) for the set C of the best
subflows whose window is not the largest, and -1 / (n |M|) for the set M of those with the largest window, if
C is not empty. The best ones have the largest l / rtt^2, l being packets between losses.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.state import Tcp
from netcarlo.kernels.mptcp.coupled.peers import PEERS, SCALE_BITS, Coupled, Peer, loss_interval, total

GROWTH_BITS = np.int64(20)
"""Fraction bits of the growth [packets]."""
QUALITY_BITS = np.int64(42)
"""Fraction bits of the quality of a path."""
MAX_INTERVAL = np.int64((1 << 20) - 1)
"""Limit of the packets between losses."""


def _quality(interval: Any, srtt: Any) -> Any:
    """Return l / rtt^2 [2**-42 packets / us^2]."""
    rtt = max(srtt >> np.int64(3), 1)
    return quotient(min(interval, MAX_INTERVAL) << QUALITY_BITS, rtt * rtt)


@noinline
def _alpha(s: Any) -> Any:
    """Return alpha [2**-20]."""
    own, count, cwnd = _quality(loss_interval(s), s[Tcp.SRTT_US]), s[Coupled.COUNT], s[Tcp.CWND]
    best, most = own, cwnd
    for k in range(count):
        at = PEERS + Peer.SIZE * k
        best = max(best, _quality(s[at + Peer.INTERVAL], s[at + Peer.SRTT]))
        most = max(most, s[at + Peer.CWND])
    largest, collected = np.int64(cwnd == most), np.int64(cwnd < most and own == best)
    for k in range(count):
        at = PEERS + Peer.SIZE * k
        if s[at + Peer.CWND] == most:
            largest += 1
        elif _quality(s[at + Peer.INTERVAL], s[at + Peer.SRTT]) == best:
            collected += 1
    one = np.int64(1) << GROWTH_BITS
    if collected > 0 and cwnd == most:
        return -quotient(one, (count + 1) * largest)
    if cwnd < most and own == best:
        return quotient(one, (count + 1) * collected)
    return np.int64(0)


@noinline
def grow(s: Any, acked: Any) -> None:
    """Change the window for `acked` packets in congestion avoidance, by whole packets.

    A window that shrinks takes the slow start threshold with it, so that slow start does not begin again.
    """
    cwnd = s[Tcp.CWND]
    sum_of_all, alpha = total(s, max(s[Tcp.SRTT_US], 1)), _alpha(s)
    linked = quotient(cwnd << (2 * SCALE_BITS + GROWTH_BITS), sum_of_all * sum_of_all)
    moved = quotient(alpha, cwnd) if alpha >= 0 else -quotient(-alpha, cwnd)
    s[Coupled.GROWTH] += acked * (linked + moved)
    one = np.int64(1) << GROWTH_BITS
    while s[Coupled.GROWTH] >= one:
        s[Coupled.GROWTH] -= one
        s[Tcp.CWND] += 1
    while s[Coupled.GROWTH] <= -one:
        s[Coupled.GROWTH] += one
        s[Tcp.CWND] = max(s[Tcp.CWND] - 1, 1)
        s[Tcp.SSTHRESH] = min(s[Tcp.SSTHRESH], s[Tcp.CWND])


def on_loss(s: Any) -> None:
    """Begin an interval between losses, unless nothing was acknowledged in the present one."""
    if s[Tcp.SND_UNA] != s[Coupled.LOSS_2]:
        s[Coupled.LOSS_1] = s[Coupled.LOSS_2]
        s[Coupled.LOSS_2] = s[Tcp.SND_UNA]
