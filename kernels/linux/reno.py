"""Reno: a packet more per window of packets acknowledged, half the window after a loss (RFC 5681).

What a control of this sender has: `prepare` at the start, `every`, of how many packets acknowledged beyond
slow start one lets the window grow, `ssthresh`, the threshold after a loss, `lose` after a timeout, `wake`
after a pause of the application, and `measured` at every ACK of something new, with the round trip of the
newest packet [us] or NONE.
"""

from typing import Any

from netcarlo.kernels.linux import clocks, slow_start
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.linux.state import Tcp


def prepare(s: Any) -> None:
    """Before the start."""


def every(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """A window's worth."""
    return s[Tcp.CWND]


def ssthresh(s: Any) -> Any:
    """Half the window, at least 2 packets."""
    return max(s[Tcp.CWND] >> 1, 2)


def wake(p: Any, s: Any, now: Any, idle: Any) -> None:
    """Packets leave again after nothing did for so long [jiffy]."""


def lose(s: Any, now: Any) -> None:
    """After a timeout."""
    slow_start.begin(s, clocks.us_of(now))


def measured(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """A round trip [us]: slow start may heed it."""
    if rtt >= 0:
        slow_start.measured(p, s, now, max(rtt, 1), SlowStart.STANDARD)
