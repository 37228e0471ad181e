"""CUBIC in the whole numbers of Linux: the window is a cubic function of the time since the last loss.

Source: RFC 9438; Ha, Rhee and Xu, "CUBIC: a new TCP-friendly high-speed TCP variant" (ACM SIGOPS Operating
Systems Review 42(5), 2008).  A window of whole packets grows by one every so many packets acknowledged; time
in jiffies and in 1/1024 s.  The cube root is exact, where Linux takes one with an error of 0.2 %.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux import clocks, hystart, slow_start
from netcarlo.kernels.linux.hystartpp import FREE
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.linux.state import NONE, Tcp

BETA, ONE = 717, 1024  # share of the window kept after a loss
SCALE = 410  # C = 410 / 1024 packets / s^3
ROOT_FACTOR = (1 << 40) // SCALE  # K^3 [(s / 1024)^3] of a packet below the maximum
ROOT_BITS = 18  # K is shorter than 256 s
LONGEST = 1 << ROOT_BITS  # |t - K| beyond it counts as this [s / 1024]: the cube fits in 63 bits
FRIENDLY = 8 * (ONE + BETA) // 3 // (ONE - BETA)  # standard TCP grows a packet per FRIENDLY / 8 windows
HASTE = 20  # most packets acknowledged per packet of growth before the first loss
LEAST = 2  # and fewest, ever
CACHED = 32  # the growth rate holds for 1/32 s while the window stays
SECOND_US = 1_000_000


class Cubic(IntEnum):
    """Own words, behind those of slow start."""

    EVERY = FREE
    """The window grows by one packet per so many acknowledged."""
    MAXIMUM = FREE + 1
    """Where packets were lost last, or a little less [packet]; 0 before."""
    WINDOW = FREE + 2
    """For which window,"""
    TIME = FREE + 3
    """and when EVERY was found [jiffy]."""
    ORIGIN = FREE + 4
    """Plateau of the cubic [packet]."""
    K = FREE + 5
    """From the epoch to the plateau [s / 1024]."""
    EPOCH = FREE + 6
    """When growth began after a loss [jiffy], NONE: not yet."""
    ACKED = FREE + 7
    """Packets acknowledged that STANDARD has not seen."""
    STANDARD = FREE + 8
    """The window that standard TCP would have [packet]."""
    SECOND = FREE + 9
    """A second [jiffy]."""
    UNTIL = FREE + 10
    """Until when EVERY holds while the window stays [ns]."""
    YOUNG = FREE + 11
    """When the epoch is a second old [ns], 0 if there is none."""


def prepare(s: Any) -> None:
    """Before the start."""
    s[Cubic.SECOND] = SECOND_US // s[Tcp.TICK_US]
    _forget(s, np.int64(0))


def _forget(s: Any, now_us: Any) -> None:
    for word in (Cubic.EVERY, Cubic.MAXIMUM, Cubic.WINDOW, Cubic.TIME, Cubic.ORIGIN, Cubic.K, Cubic.ACKED,
                 Cubic.STANDARD, Cubic.UNTIL, Cubic.YOUNG):  # fmt: skip
        s[word] = 0
    s[Cubic.EPOCH] = NONE
    slow_start.begin(s, now_us)


@noinline
def lose(s: Any, now: Any) -> None:
    """After a timeout all is forgotten."""
    _forget(s, clocks.us_of(now))


@noinline
def wake(p: Any, s: Any, now: Any, idle: Any) -> None:
    """Nothing was out for so long [jiffy], which does not count as time since the loss (RFC 9438, 4.2)."""
    if s[Cubic.EPOCH] != NONE:
        _set_epoch(p, s, min(s[Cubic.EPOCH] + idle, clocks.jiffies_of(p, s, now)))


def _set_epoch(p: Any, s: Any, jiffies: Any) -> None:
    # YOUNG: before, fewer jiffies have passed than a second has.
    s[Cubic.EPOCH] = jiffies
    s[Cubic.YOUNG] = clocks.begin_of(p, s, jiffies + s[Cubic.SECOND])


@noinline
def ssthresh(s: Any) -> Any:
    """0.7 of the window; the plateau is lower if others take their share (fast convergence)."""
    cwnd = s[Tcp.CWND]
    s[Cubic.EPOCH] = NONE
    s[Cubic.YOUNG] = 0
    lower = cwnd < s[Cubic.MAXIMUM]
    s[Cubic.MAXIMUM] = cwnd * (ONE + BETA) // (2 * ONE) if lower else cwnd
    return max(cwnd * BETA // ONE, 2)


def measured(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """A round trip [us]: for HyStart, and for the least one; not within a second after growth began."""
    if rtt >= 0 and now >= s[Cubic.YOUNG]:
        slow_start.measured(p, s, now, max(rtt, 1), SlowStart.HYSTART)


def every(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """Of how many packets acknowledged one lets the window grow, of which `acked` are new."""
    s[Cubic.ACKED] += acked
    if s[Tcp.CWND] == s[Cubic.WINDOW] and now < s[Cubic.UNTIL]:
        return max(s[Cubic.EVERY], 1)
    return _renewed(p, s, now, acked)


@noinline
def _renewed(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """The same, found anew."""
    jiffies, cwnd = clocks.jiffies_of(p, s, now), s[Tcp.CWND]
    second = s[Cubic.SECOND]
    if s[Cubic.EPOCH] == NONE or jiffies != s[Cubic.TIME]:
        s[Cubic.WINDOW] = cwnd
        s[Cubic.TIME] = jiffies
        s[Cubic.UNTIL] = clocks.begin_of(p, s, jiffies + quotient(second, CACHED) + 1)
        if s[Cubic.EPOCH] == NONE:
            _begin(p, s, jiffies, acked)
        past = jiffies - s[Cubic.EPOCH] + clocks.to_jiffies(s, hystart.least_rtt(s))
        target = _target(s, quotient(past * ONE, second))
        s[Cubic.EVERY] = quotient(cwnd, target - cwnd) if target > cwnd else 100 * cwnd
        if s[Cubic.MAXIMUM] == 0:
            s[Cubic.EVERY] = min(s[Cubic.EVERY], HASTE)
    share = cwnd * FRIENDLY >> 3
    if s[Cubic.ACKED] > share:
        steps = quotient(s[Cubic.ACKED] - 1, share)
        s[Cubic.ACKED] -= steps * share
        s[Cubic.STANDARD] += steps
    behind = s[Cubic.STANDARD] - cwnd
    if behind > 0:
        s[Cubic.EVERY] = min(s[Cubic.EVERY], quotient(cwnd, behind))
    s[Cubic.EVERY] = max(s[Cubic.EVERY], LEAST)
    return s[Cubic.EVERY]


def _begin(p: Any, s: Any, jiffies: Any, acked: Any) -> None:
    """Growth begins after a loss, or at all."""
    cwnd = s[Tcp.CWND]
    _set_epoch(p, s, jiffies)
    s[Cubic.ACKED] = acked
    s[Cubic.STANDARD] = cwnd
    cube = max(s[Cubic.MAXIMUM] - cwnd, 0) * ROOT_FACTOR
    root = np.int64(0)
    for bit in range(ROOT_BITS):
        more = root + (LONGEST >> (bit + 1))
        if more * more * more <= cube:
            root = more
    s[Cubic.K] = root
    s[Cubic.ORIGIN] = max(s[Cubic.MAXIMUM], cwnd)


def _target(s: Any, past: Any) -> Any:
    """The cubic at a time [s / 1024] after the epoch [packet]."""
    away = min(abs(past - s[Cubic.K]), LONGEST)
    rise = (SCALE * away * away * away) >> 40
    return s[Cubic.ORIGIN] + (rise if past >= s[Cubic.K] else -rise)
