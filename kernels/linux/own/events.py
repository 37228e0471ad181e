"""What the sender tells its control at an event, noted until the user's functions are asked (`association`).

Between the two nothing looks at what they would have said: no packet leaves before.
"""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.linux import pacing, rate
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.state import Tcp


class Own(IntEnum):
    """Own words, behind those of pacing."""

    ACK_PROCESSED = pacing.FREE
    """1: an ACK of data has been dealt with,"""
    DELIVERED = auto()
    """which told of so many packets delivered"""
    LOST = auto()
    """and lost."""
    REDUCTION_REQUESTED = auto()
    """1: the window is to be reduced."""
    IN_REDUCTION = auto()
    """1: a reduction is under way, or has just ended."""


def prepare(s: Any) -> None:
    """Before the start."""
    s[Pacing.TIMER] = FOREVER


def init(p: Any, s: Any, now: Any) -> None:
    """The handshake is over."""
    rate.prepare(s)


def cong_control(p: Any, s: Any, now: Any, acked: Any, losses: Any, rtt: Any) -> None:
    """An ACK that told of so many packets delivered and lost."""
    s[Own.ACK_PROCESSED] = 1
    s[Own.DELIVERED] = acked
    s[Own.LOST] = losses


def ssthresh(s: Any) -> Any:
    """A loss, or a timeout."""
    s[Own.REDUCTION_REQUESTED] = 1
    return s[Tcp.SSTHRESH]


def on_rto(p: Any, s: Any, now: Any) -> None:
    """The retransmission timer has gone off."""
    s[Own.IN_REDUCTION] = 0


def undo_cwnd(s: Any) -> None:
    """There was no loss."""
    s[Tcp.CWND] = max(s[Tcp.CWND], s[Tcp.PRIOR_CWND])
    s[Own.IN_REDUCTION] = 0


def on_tx_start(p: Any, s: Any, now: Any) -> None:
    """Packets leave where there were none."""


def acked_per_increase(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """It does not grow by counting."""
    return s[Tcp.CWND]


def pkts_acked(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """Round trips are in `Tcp.RTT`."""
