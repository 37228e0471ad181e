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
MAX_OFFSET = 1 << ROOT_BITS  # |t - K| beyond it counts as this [s / 1024]: the cube fits in 63 bits
BETA_SCALE = 8 * (ONE + BETA) // 3 // (ONE - BETA)  # standard TCP grows a packet per FRIENDLY / 8 windows
MAX_INITIAL_CNT = 20  # most packets acknowledged per packet of growth before the first loss
MIN_CNT = 2  # and fewest, ever
CNT_UPDATES_PER_S = 32  # the growth rate holds for 1/32 s while the window stays
US_PER_S = 1_000_000


class Cubic(IntEnum):
    """Own words, behind those of slow start."""

    CNT = FREE
    """The window grows by one packet per so many acknowledged."""
    LAST_MAX_CWND = FREE + 1
    """Where packets were lost last, or a little less [packet]; 0 before."""
    LAST_CWND = FREE + 2
    """For which window,"""
    LAST_TIME = FREE + 3
    """and when EVERY was found [jiffy]."""
    ORIGIN_POINT = FREE + 4
    """Plateau of the cubic [packet]."""
    K = FREE + 5
    """From the epoch to the plateau [s / 1024]."""
    EPOCH_START = FREE + 6
    """When growth began after a loss [jiffy], NONE: not yet."""
    ACK_CNT = FREE + 7
    """Packets acknowledged that STANDARD has not seen."""
    TCP_CWND = FREE + 8
    """The window that standard TCP would have [packet]."""
    HZ = FREE + 9
    """A second [jiffy]."""
    CNT_VALID_UNTIL = FREE + 10
    """Until when EVERY holds while the window stays [ns]."""
    IGNORE_RTT_UNTIL = FREE + 11
    """When the epoch is a second old [ns], 0 if there is none."""


def prepare(s: Any) -> None:
    """Before the start."""
    s[Cubic.HZ] = US_PER_S // s[Tcp.JIFFY_US]
    _reset(s, np.int64(0))


def _reset(s: Any, now_us: Any) -> None:
    for word in (
        Cubic.CNT, Cubic.LAST_MAX_CWND, Cubic.LAST_CWND, Cubic.LAST_TIME, Cubic.ORIGIN_POINT, Cubic.K,
        Cubic.ACK_CNT, Cubic.TCP_CWND, Cubic.CNT_VALID_UNTIL, Cubic.IGNORE_RTT_UNTIL,
    ):  # fmt: skip
        s[word] = 0
    s[Cubic.EPOCH_START] = NONE
    slow_start.reset(s, now_us)


@noinline
def on_rto(p: Any, s: Any, now: Any) -> None:
    """After a timeout all is forgotten."""
    _reset(s, clocks.us_of(now))


@noinline
def on_idle_restart(p: Any, s: Any, now: Any, idle: Any) -> None:
    """Nothing was out for so long [jiffy], which does not count as time since the loss (RFC 9438, 4.2)."""
    if s[Cubic.EPOCH_START] != NONE:
        _set_epoch_start(p, s, min(s[Cubic.EPOCH_START] + idle, clocks.jiffies_of(p, s, now)))


def _set_epoch_start(p: Any, s: Any, jiffies: Any) -> None:
    # YOUNG: before, fewer jiffies have passed than a second has.
    s[Cubic.EPOCH_START] = jiffies
    s[Cubic.IGNORE_RTT_UNTIL] = clocks.start_of_jiffy(p, s, jiffies + s[Cubic.HZ])


@noinline
def ssthresh(s: Any) -> Any:
    """0.7 of the window; the plateau is lower if others take their share (fast convergence)."""
    cwnd = s[Tcp.CWND]
    s[Cubic.EPOCH_START] = NONE
    s[Cubic.IGNORE_RTT_UNTIL] = 0
    lower = cwnd < s[Cubic.LAST_MAX_CWND]
    s[Cubic.LAST_MAX_CWND] = cwnd * (ONE + BETA) // (2 * ONE) if lower else cwnd
    return max(cwnd * BETA // ONE, 2)


def pkts_acked(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """A round trip [us]: for HyStart, and for the least one; not within a second after growth began."""
    if rtt >= 0 and now >= s[Cubic.IGNORE_RTT_UNTIL]:
        slow_start.on_rtt_sample(p, s, now, max(rtt, 1), SlowStart.HYSTART)


def acked_per_increase(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """Of how many packets acknowledged one lets the window grow, of which `acked` are new."""
    s[Cubic.ACK_CNT] += acked
    if s[Tcp.CWND] == s[Cubic.LAST_CWND] and now < s[Cubic.CNT_VALID_UNTIL]:
        return max(s[Cubic.CNT], 1)
    return _update(p, s, now, acked)


@noinline
def _update(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """The same, found anew."""
    jiffies, cwnd = clocks.jiffies_of(p, s, now), s[Tcp.CWND]
    second = s[Cubic.HZ]
    if s[Cubic.EPOCH_START] == NONE or jiffies != s[Cubic.LAST_TIME]:
        s[Cubic.LAST_CWND] = cwnd
        s[Cubic.LAST_TIME] = jiffies
        s[Cubic.CNT_VALID_UNTIL] = clocks.start_of_jiffy(
            p, s, jiffies + quotient(second, CNT_UPDATES_PER_S) + 1
        )
        if s[Cubic.EPOCH_START] == NONE:
            _start_epoch(p, s, jiffies, acked)
        past = jiffies - s[Cubic.EPOCH_START] + clocks.to_jiffies(s, hystart.delay_min(s))
        target = _target(s, quotient(past * ONE, second))
        s[Cubic.CNT] = quotient(cwnd, target - cwnd) if target > cwnd else 100 * cwnd
        if s[Cubic.LAST_MAX_CWND] == 0:
            s[Cubic.CNT] = min(s[Cubic.CNT], MAX_INITIAL_CNT)
    share = cwnd * BETA_SCALE >> 3
    if s[Cubic.ACK_CNT] > share:
        steps = quotient(s[Cubic.ACK_CNT] - 1, share)
        s[Cubic.ACK_CNT] -= steps * share
        s[Cubic.TCP_CWND] += steps
    behind = s[Cubic.TCP_CWND] - cwnd
    if behind > 0:
        s[Cubic.CNT] = min(s[Cubic.CNT], quotient(cwnd, behind))
    s[Cubic.CNT] = max(s[Cubic.CNT], MIN_CNT)
    return s[Cubic.CNT]


def _start_epoch(p: Any, s: Any, jiffies: Any, acked: Any) -> None:
    """Growth begins after a loss, or at all."""
    cwnd = s[Tcp.CWND]
    _set_epoch_start(p, s, jiffies)
    s[Cubic.ACK_CNT] = acked
    s[Cubic.TCP_CWND] = cwnd
    cube = max(s[Cubic.LAST_MAX_CWND] - cwnd, 0) * ROOT_FACTOR
    root = np.int64(0)
    for bit in range(ROOT_BITS):
        more = root + (MAX_OFFSET >> (bit + 1))
        if more * more * more <= cube:
            root = more
    s[Cubic.K] = root
    s[Cubic.ORIGIN_POINT] = max(s[Cubic.LAST_MAX_CWND], cwnd)


def _target(s: Any, past: Any) -> Any:
    """The cubic at a time [s / 1024] after the epoch [packet]."""
    away = min(abs(past - s[Cubic.K]), MAX_OFFSET)
    rise = (SCALE * away * away * away) >> 40
    return s[Cubic.ORIGIN_POINT] + (rise if past >= s[Cubic.K] else -rise)
