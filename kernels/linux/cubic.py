"""CUBIC in the integer arithmetic of Linux: the window is a cubic function of the time since the last loss.

Source: RFC 9438; tcp_cubic.c; Ha, Rhee and Xu, "CUBIC: a new TCP-friendly high-speed TCP variant" (ACM SIGOPS
Operating Systems Review 42(5), 2008). A window of whole packets grows by one packet per so many acknowledged;
time is measured in jiffies and in 1/1024 s. The cube root is exact; the kernel's has an error of 0.2 %.
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

BETA, ONE = 717, 1024
"""Window kept after a loss, in 1/1024 (0.7)."""
SCALE = 410
"""Constant C in packets / 1024 per cubic second (0.4)."""
ROOT_FACTOR = (1 << 40) // SCALE
"""K^3 per packet below the maximum [(s / 1024)^3]."""
ROOT_BITS = 18
"""Bits of K [s / 1024], which is shorter than 256 s."""
MAX_OFFSET = 1 << ROOT_BITS
"""Largest |t - K| that the cubic takes into account [s / 1024], so that its cube fits in 63 bits."""
BETA_SCALE = 8 * (ONE + BETA) // 3 // (ONE - BETA)
"""Eightfold windows that standard TCP sends per packet of growth, to match CUBIC's multiplicative decrease.
"""
MAX_INITIAL_CNT = 20
"""Largest number of packets acknowledged per packet of growth before the first loss."""
MIN_CNT = 2
"""Smallest number of packets acknowledged per packet of growth."""
CNT_UPDATES_PER_S = 32
"""Updates of CNT per second while the window does not change."""
US_PER_S = 1_000_000
"""Microseconds of a second."""


class Cubic(IntEnum):
    """State words of CUBIC (`struct bictcp`), following those of slow start."""

    CNT = FREE
    """Packets that must be acknowledged for the window to grow by one packet."""
    LAST_MAX_CWND = FREE + 1
    """Window at the latest loss, or less with fast convergence [packets]; 0 before the first loss."""
    LAST_CWND = FREE + 2
    """Window for which CNT was computed [packets]."""
    LAST_TIME = FREE + 3
    """Time at which CNT was computed [jiffies]."""
    ORIGIN_POINT = FREE + 4
    """Plateau of the cubic function [packets]."""
    K = FREE + 5
    """Time from the epoch to the plateau [s / 1024]."""
    EPOCH_START = FREE + 6
    """Time at which growth began after a loss [jiffies]; NONE if it has not begun."""
    ACK_CNT = FREE + 7
    """Packets acknowledged that are not yet counted in TCP_CWND."""
    TCP_CWND = FREE + 8
    """Window that standard TCP would have [packets] (W_est in RFC 9438)."""
    HZ = FREE + 9
    """Jiffies of a second."""
    CNT_VALID_UNTIL = FREE + 10
    """Time until which CNT holds while the window does not change [ns]."""
    IGNORE_RTT_UNTIL = FREE + 11
    """Time until which RTT samples are ignored, one second after the epoch [ns]; 0 if there is no epoch."""


def prepare(s: Any) -> None:
    """Clear the state before the start."""
    s[Cubic.HZ] = US_PER_S // s[Tcp.JIFFY_US]
    _reset(s, np.int64(0))


def _reset(s: Any, now_us: Any) -> None:
    """Clear the state and restart slow start."""
    for word in (
        Cubic.CNT, Cubic.LAST_MAX_CWND, Cubic.LAST_CWND, Cubic.LAST_TIME, Cubic.ORIGIN_POINT, Cubic.K,
        Cubic.ACK_CNT, Cubic.TCP_CWND, Cubic.CNT_VALID_UNTIL, Cubic.IGNORE_RTT_UNTIL,
    ):  # fmt: skip
        s[word] = 0
    s[Cubic.EPOCH_START] = NONE
    slow_start.reset(s, now_us)


@noinline
def on_rto(p: Any, s: Any, now: Any) -> None:
    """Forget everything after a retransmission timeout."""
    _reset(s, clocks.us_of(now))


@noinline
def on_idle_restart(p: Any, s: Any, now: Any, idle: Any) -> None:
    """Move the epoch by an idle time [jiffies], which does not count as time since the loss (RFC 9438,
    section 4.2)."""
    if s[Cubic.EPOCH_START] != NONE:
        _set_epoch_start(p, s, min(s[Cubic.EPOCH_START] + idle, clocks.jiffies_of(p, s, now)))


def _set_epoch_start(p: Any, s: Any, jiffies: Any) -> None:
    """Set the epoch, and the time until which RTT samples are ignored."""
    s[Cubic.EPOCH_START] = jiffies
    s[Cubic.IGNORE_RTT_UNTIL] = clocks.start_of_jiffy(p, s, jiffies + s[Cubic.HZ])


@noinline
def ssthresh(s: Any) -> Any:
    """Return 0.7 of the window, and lower the plateau if other flows need bandwidth (fast convergence)."""
    cwnd = s[Tcp.CWND]
    s[Cubic.EPOCH_START] = NONE
    s[Cubic.IGNORE_RTT_UNTIL] = 0
    lower = cwnd < s[Cubic.LAST_MAX_CWND]
    s[Cubic.LAST_MAX_CWND] = cwnd * (ONE + BETA) // (2 * ONE) if lower else cwnd
    return max(cwnd * BETA // ONE, 2)


def pkts_acked(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """Process an RTT sample [us], unless growth began less than a second ago (`cubictcp_acked`)."""
    if rtt >= 0 and now >= s[Cubic.IGNORE_RTT_UNTIL]:
        slow_start.on_rtt_sample(p, s, now, max(rtt, 1), SlowStart.HYSTART)


def acked_per_increase(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """Return the packets that must be acknowledged for the window to grow by one, after `acked` further
    ones."""
    s[Cubic.ACK_CNT] += acked
    if s[Tcp.CWND] == s[Cubic.LAST_CWND] and now < s[Cubic.CNT_VALID_UNTIL]:
        return max(s[Cubic.CNT], 1)
    return _update(p, s, now, acked)


@noinline
def _update(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """Recompute CNT from the cubic function and from the window of standard TCP (`bictcp_update`)."""
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
    """Begin an epoch of growth: set the plateau and K."""
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
    """Return the value of the cubic function [packets] at a time after the epoch [s / 1024]."""
    away = min(abs(past - s[Cubic.K]), MAX_OFFSET)
    rise = (SCALE * away * away * away) >> 40
    return s[Cubic.ORIGIN_POINT] + (rise if past >= s[Cubic.K] else -rise)
