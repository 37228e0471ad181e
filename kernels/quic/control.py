"""Congestion control in bytes: NewReno of RFC 9002, section 7, and CUBIC of RFC 9438.

CUBIC computes with integers: times in s / 1024 and windows in packets / 1024 in the cubic function, bytes
elsewhere. What a division leaves over is kept for the next ACK.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import QuicP
from netcarlo.kernels.quic import hystart
from netcarlo.kernels.quic.state import NONE, Control, Word

MINIMUM_WINDOW = 2
"""Minimum window [packets] (`kMinimumWindow`)."""
SCALE = 410
"""Constant C of CUBIC [packets / 1024 / s^3] (0.4)."""
BETA_TENTHS = 7
"""Share of the window that CUBIC keeps, in tenths."""
ALPHA, ALPHA_ONE = 9, 17
"""Growth of Reno with this share: alpha = 3 (1 - beta) / (1 + beta) = 9 / 17 (RFC 9438, section 4.3)."""
ROOT_BITS = 18
"""Bits of K [s / 1024]."""
MAX_OFFSET = 1 << ROOT_BITS
"""Largest |t - K| of the cubic function [s / 1024]."""
NS_PER_S = 1_000_000_000
"""Nanoseconds of a second."""


@noinline
def reduce(p: Any, s: Any) -> None:
    """Reduce the window at the start of a recovery period (RFC 9002, section 7.3.2; RFC 9438, 4.6)."""
    cwnd = s[Word.CWND]
    s[Word.HYSTART] = 0
    if p[QuicP.CONTROL] == Control.CUBIC:
        s[Word.CWND_PRIOR] = cwnd
        s[Word.W_MAX] = cwnd * (10 + BETA_TENTHS) // 20 if cwnd < s[Word.W_MAX] else cwnd
        s[Word.EPOCH] = NONE
        cwnd = cwnd * BETA_TENTHS // 10
    else:
        cwnd = cwnd // 2
    s[Word.STASH] = 0
    s[Word.SSTHRESH] = max(cwnd, MINIMUM_WINDOW * s[Word.DATAGRAM])
    s[Word.CWND] = s[Word.SSTHRESH]


@noinline
def collapse(p: Any, s: Any) -> None:
    """Reduce the window to its minimum in persistent congestion (RFC 9002, section 7.6.2)."""
    s[Word.CWND] = MINIMUM_WINDOW * s[Word.DATAGRAM]
    s[Word.STASH] = 0
    s[Word.W_MAX] = 0
    s[Word.EPOCH] = NONE


@noinline
def grow(p: Any, s: Any, now: Any, acked: Any) -> None:
    """Grow the window for newly acknowledged bytes (RFC 9002, sections 7.3.1 and 7.3.3)."""
    if s[Word.CWND] < s[Word.SSTHRESH]:
        s[Word.CWND] += hystart.growth(p, s, acked)
    elif p[QuicP.CONTROL] == Control.CUBIC:
        _grow_cubic(p, s, now, acked)
    else:
        s[Word.STASH] += acked
        packets = s[Word.STASH] // s[Word.CWND]
        s[Word.STASH] -= packets * s[Word.CWND]
        s[Word.CWND] += packets * s[Word.DATAGRAM]


def cube_root(cube: Any) -> Any:
    """Return the integer part of a cube root of at most ROOT_BITS bits."""
    root, step = np.int64(0), np.int64(MAX_OFFSET >> 1)
    while step > 0:
        more = root + step
        if more * more * more <= cube:
            root = more
        step >>= np.int64(1)
    return root


def cubic_window(p: Any, s: Any, elapsed: Any) -> Any:
    """Return W_cubic at a time since the epoch [ns] (RFC 9438, section 4.2) [bytes]."""
    offset = (elapsed << np.int64(10)) // NS_PER_S - s[Word.K]
    away = min(abs(offset), np.int64(MAX_OFFSET))
    rise = (SCALE * away * away * away >> np.int64(30)) * s[Word.DATAGRAM] >> np.int64(10)
    return s[Word.W_MAX] + (rise if offset >= 0 else -rise)


@noinline
def _grow_cubic(p: Any, s: Any, now: Any, acked: Any) -> None:
    """Grow the window in congestion avoidance (RFC 9438, sections 4.2 to 4.5)."""
    cwnd = s[Word.CWND]
    if s[Word.EPOCH] == NONE:
        s[Word.EPOCH] = now
        s[Word.W_MAX] = max(s[Word.W_MAX], cwnd)
        missing = ((s[Word.W_MAX] - cwnd) << np.int64(10)) // s[Word.DATAGRAM]
        s[Word.K] = cube_root(missing * ((1 << 30) // SCALE))
        s[Word.W_EST] = cwnd
        s[Word.W_EST_STASH] = 0
    reno, ones = np.int64(ALPHA), np.int64(ALPHA_ONE)
    if s[Word.W_EST] >= s[Word.CWND_PRIOR]:
        reno, ones = np.int64(1), np.int64(1)
    s[Word.W_EST_STASH] += reno * acked * s[Word.DATAGRAM]
    more = s[Word.W_EST_STASH] // (ones * cwnd)
    s[Word.W_EST_STASH] -= more * ones * cwnd
    s[Word.W_EST] += more
    elapsed = now - s[Word.EPOCH]
    if cubic_window(p, s, elapsed) < s[Word.W_EST]:
        s[Word.CWND] = max(cwnd, s[Word.W_EST])
        s[Word.STASH] = 0
        return
    target = cubic_window(p, s, elapsed + s[Word.SMOOTHED_RTT])
    target = min(max(target, cwnd), cwnd + cwnd // 2)
    s[Word.STASH] += (target - cwnd) * acked
    more = s[Word.STASH] // cwnd
    s[Word.STASH] -= more * cwnd
    s[Word.CWND] = cwnd + more
