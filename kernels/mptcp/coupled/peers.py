"""Windows, round-trip times and loss intervals of the other subflows, as a subflow's control reads them."""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import MPTCP_PATHS
from netcarlo.kernels.base.parameters import MptcpP
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.hystartpp import FREE
from netcarlo.kernels.linux.state import CaState, Tcp
from netcarlo.kernels.mptcp.reinjection import is_busy
from netcarlo.kernels.mptcp.state import Sub, is_backup, subflow_at

SCALE_BITS = np.int64(10)
"""Fraction bits of windows converted to the round-trip time of another subflow [packets]."""
MAX_TOTAL = np.int64((1 << 31) - 1)
"""Limit of a sum of such windows, whose square then fits in 62 bits."""


class Coupled(IntEnum):
    """State words of coupled controls, following those of slow start."""

    ALGORITHM = FREE
    """Algorithm, one of `control.Algorithm`."""
    COUNT = FREE + 1
    """Number of other subflows that count."""
    GROWTH = FREE + 2
    """OLIA: growth that is not yet part of the window [packets / 2**20]."""
    LOSS_1 = FREE + 3
    """OLIA: packet acknowledged at the loss before the latest one."""
    LOSS_2 = FREE + 4
    """OLIA: packet acknowledged at the latest loss."""


PEERS = FREE + len(Coupled)
"""First word of the other subflows."""


class Peer(IntEnum):
    """Words of another subflow."""

    CWND = 0
    """Congestion window [packets]."""
    SRTT = 1
    """Smoothed round-trip time [us / 8]."""
    INTERVAL = 2
    """OLIA: packets between losses, see `loss_interval`."""
    SIZE = 3
    """Words of a subflow."""


END = PEERS + (MPTCP_PATHS - 1) * Peer.SIZE
"""First word after those of coupled controls."""


@noinline
def note(p: Any, m: Any, path: Any) -> None:
    """Store the state of the other subflows at the subflow of a path.

    A subflow counts while it may carry data and has measured its RTT, a backup only while it has data.
    """
    s, count = m[subflow_at(path) :], np.int64(0)
    for other in range(p[MptcpP.SUBFLOWS]):
        o = m[subflow_at(other) :]
        known = o[Sub.USABLE] != 0 and o[Tcp.SRTT_US] > 0
        if other != path and known and (not is_backup(p, other) or is_busy(o)):
            at = PEERS + Peer.SIZE * count
            s[at + Peer.CWND] = window(o)
            s[at + Peer.SRTT] = o[Tcp.SRTT_US]
            s[at + Peer.INTERVAL] = loss_interval(o)
            count += 1
    s[Coupled.COUNT] = count
    s[Coupled.ALGORITHM] = p[MptcpP.COUPLING]


def window(s: Any) -> Any:
    """Return the window of a subflow [packets]: during fast recovery the one that it leads to."""
    return max(s[Tcp.SSTHRESH] if s[Tcp.CA_STATE] == CaState.RECOVERY else s[Tcp.CWND], 1)


def loss_interval(s: Any) -> Any:
    """Return the packets acknowledged between the latest two losses, or since the latest one if more."""
    return max(s[Tcp.SND_UNA] - s[Coupled.LOSS_2], s[Coupled.LOSS_2] - s[Coupled.LOSS_1])


def converted(cwnd: Any, srtt: Any, to: Any) -> Any:
    """Return the window that has the same rate with the round-trip time `to` [packets / 2**10]."""
    return min(quotient((cwnd << SCALE_BITS) * to, srtt), MAX_TOTAL)


@noinline
def total(s: Any, to: Any) -> Any:
    """Return the sum of the windows of all subflows, converted to the round-trip time `to`
    [packets / 2**10]."""
    found = converted(s[Tcp.CWND], max(s[Tcp.SRTT_US], 1), to)
    for k in range(s[Coupled.COUNT]):
        at = PEERS + Peer.SIZE * k
        found += converted(s[at + Peer.CWND], s[at + Peer.SRTT], to)
    return min(found, MAX_TOTAL)


@noinline
def largest(s: Any, to: Any) -> Any:
    """Return the largest of the converted windows [packets / 2**10]."""
    found = converted(s[Tcp.CWND], max(s[Tcp.SRTT_US], 1), to)
    for k in range(s[Coupled.COUNT]):
        at = PEERS + Peer.SIZE * k
        found = max(found, converted(s[at + Peer.CWND], s[at + Peer.SRTT], to))
    return found
