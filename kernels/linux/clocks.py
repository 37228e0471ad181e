"""The clocks of a kernel: microseconds, milliseconds of timestamps, and a timer wheel that counts jiffies."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import MS, P
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.state import Tcp

US = 1000
"""A microsecond [ns]."""

_LEVEL_RANGE = 63
"""Jiffies below which a timer is exact; each level of the wheel reaches eight times as far."""


def us_of(now: Any) -> Any:
    """[us]"""
    return quotient(now, US)


def timestamp_of(s: Any, now: Any) -> Any:
    """What a timestamp shows at `now` [ns]: whole ms."""
    return quotient(now + s[Tcp.CLOCK_PHASE], MS)


def jiffies_of(p: Any, s: Any, now: Any) -> Any:
    """The kernel's count of ticks, as many as have passed."""
    return quotient(now + s[Tcp.CLOCK_PHASE], p[P.TICK])


def start_of_jiffy(p: Any, s: Any, jiffy: Any) -> Any:
    """When so many ticks will have passed [ns]."""
    return jiffy * p[P.TICK] - s[Tcp.CLOCK_PHASE]


def to_jiffies(s: Any, us: Any) -> Any:
    """A duration [us] in jiffies, rounded up."""
    tick = s[Tcp.JIFFY_US]
    return quotient(us + tick - 1, tick)


def timer_expiry(p: Any, s: Any, now: Any, jiffies: Any) -> Any:
    """When a timer that is set at `now` to go off after so many jiffies does so [ns].

    At the next edge of its level of the wheel, which is a jiffy up to 62 jiffies, 8 up to 503, and so on: so
    it never goes off early (T. Gleixner, "Reinventing the timer wheel", 2015).
    """
    expires = jiffies_of(p, s, now) + jiffies
    shift, reach = np.int64(0), np.int64(_LEVEL_RANGE)
    while jiffies >= reach and shift < 24:
        shift += 3
        reach <<= np.int64(3)
    return ((((expires >> shift) + 1) << shift) * p[P.TICK]) - s[Tcp.CLOCK_PHASE]
