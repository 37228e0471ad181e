"""Events of the sender, noted until the user's functions are called (`association`).

No packet leaves between an event and the call.
"""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.linux import pacing, rate
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.state import Tcp


class Own(IntEnum):
    """State words of a user's congestion control, following those of pacing."""

    ACK_PROCESSED = pacing.FREE
    """1 if an ACK of data has been processed."""
    DELIVERED = auto()
    """Packets delivered by that ACK."""
    LOST = auto()
    """Packets found lost by that ACK."""
    REDUCTION_REQUESTED = auto()
    """1 if the window is to be reduced."""
    IN_REDUCTION = auto()
    """1 if a reduction is in progress or has just ended."""


def prepare(s: Any) -> None:
    """Stop the pacing timer before the start."""
    s[Pacing.TIMER] = FOREVER


def init(p: Any, s: Any, now: Any) -> None:
    """Prepare delivery rate samples when the handshake ends."""
    rate.prepare(s)


def cong_control(p: Any, s: Any, now: Any, acked: Any, losses: Any, rtt: Any) -> None:
    """Note an ACK that delivered and lost so many packets."""
    s[Own.ACK_PROCESSED] = 1
    s[Own.DELIVERED] = acked
    s[Own.LOST] = losses


def ssthresh(s: Any) -> Any:
    """Note that the window is to be reduced, and return the present threshold."""
    s[Own.REDUCTION_REQUESTED] = 1
    return s[Tcp.SSTHRESH]


def on_rto(p: Any, s: Any, now: Any) -> None:
    """Note a retransmission timeout."""
    s[Own.IN_REDUCTION] = 0


def undo_cwnd(s: Any) -> None:
    """Restore the window after an unnecessary reduction."""
    s[Tcp.CWND] = max(s[Tcp.CWND], s[Tcp.PRIOR_CWND])
    s[Own.IN_REDUCTION] = 0


def on_tx_start(p: Any, s: Any, now: Any) -> None:
    """Do nothing when packets leave after an idle time."""


def acked_per_increase(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """Return the window: it grows by one packet per window, where the sender lets it grow."""
    return s[Tcp.CWND]


def pkts_acked(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """Do nothing: the smoothed RTT is in `Tcp.SRTT_NS`."""
