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

    TAKEN = pacing.FREE
    """1: an ACK of data has been dealt with,"""
    DELIVERED = auto()
    """which told of so many packets delivered"""
    LOSSES = auto()
    """and lost."""
    ASKED = auto()
    """1: the window is to be reduced."""
    REDUCING = auto()
    """1: a reduction is under way, or has just ended."""


def prepare(s: Any) -> None:
    """Before the start."""
    s[Pacing.TIMER] = FOREVER


def connect(p: Any, s: Any, now: Any) -> None:
    """The handshake is over."""
    rate.prepare(s)


def take(p: Any, s: Any, now: Any, acked: Any, losses: Any, rtt: Any) -> None:
    """An ACK that told of so many packets delivered and lost."""
    s[Own.TAKEN] = 1
    s[Own.DELIVERED] = acked
    s[Own.LOSSES] = losses


def ssthresh(s: Any) -> Any:
    """A loss, or a timeout."""
    s[Own.ASKED] = 1
    return s[Tcp.SSTHRESH]


def time_out(p: Any, s: Any) -> None:
    """The retransmission timer has gone off."""
    s[Own.REDUCING] = 0


def undo(s: Any) -> None:
    """There was no loss."""
    s[Tcp.CWND] = max(s[Tcp.CWND], s[Tcp.PRIOR_WINDOW])
    s[Own.REDUCING] = 0


def restart(p: Any, s: Any, now: Any) -> None:
    """Packets leave where there were none."""


def every(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """It does not grow by counting."""
    return s[Tcp.CWND]


def measured(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """Round trips are in `Tcp.RTT`."""
