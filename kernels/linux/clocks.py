"""Clocks of the kernel: microseconds, timestamps in milliseconds, and a timer wheel in jiffies."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.base.parameters import TcpP
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.state import Tcp

US = 1000
"""Nanoseconds of a microsecond."""

_LEVEL_RANGE = 63
"""Jiffies below which a timer is exact; each further level of the wheel reaches eight times as far."""


def us_of(now: Any) -> Any:
    """Return a time in microseconds, rounded down."""
    return quotient(now, US)


def timestamp_of(s: Any, now: Any) -> Any:
    """Return the TCP timestamp at `now` [ns], in whole milliseconds (RFC 7323)."""
    return quotient(now + s[Tcp.CLOCK_PHASE], MS)


def jiffies_of(p: Any, s: Any, now: Any) -> Any:
    """Return the kernel's tick count at `now` [ns]."""
    return quotient(now + s[Tcp.CLOCK_PHASE], p[TcpP.TICK])


def start_of_jiffy(p: Any, s: Any, jiffy: Any) -> Any:
    """Return the time at which a tick count is reached [ns]."""
    return jiffy * p[TcpP.TICK] - s[Tcp.CLOCK_PHASE]


def to_jiffies(s: Any, us: Any) -> Any:
    """Return a duration [us] in jiffies, rounded up (`usecs_to_jiffies`)."""
    tick = s[Tcp.JIFFY_US]
    return quotient(us + tick - 1, tick)


def timer_expiry(p: Any, s: Any, now: Any, jiffies: Any) -> Any:
    """Return the time at which a timer expires that is set at `now` for so many jiffies [ns].

    It expires at the next edge of its level of the timer wheel, never early: the granularity is one jiffy
    up to 62 jiffies, 8 up to 503, and so on (T. Gleixner, "Reinventing the timer wheel", 2015).
    """
    expires = jiffies_of(p, s, now) + jiffies
    shift, reach = np.int64(0), np.int64(_LEVEL_RANGE)
    while jiffies >= reach and shift < 24:
        shift += 3
        reach <<= np.int64(3)
    return ((((expires >> shift) + 1) << shift) * p[TcpP.TICK]) - s[Tcp.CLOCK_PHASE]
