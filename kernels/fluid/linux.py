"""Windows of today's Linux in the fluid: Reno and CUBIC, and the end of slow start by HyStart or HyStart++.

Source: the packet model (`kernels/linux`) and its sources: tcp_cubic.c, RFC 9438, RFC 9406. Windows grow by
packets acknowledged, not by ACKs, so delayed ACKs do not slow their growth (RFC 3465 without its limit).

`g` are the floats of a flow (`FlowFloat`) and `kind` the number of its sender. As in `window`, no product of
floats is added to anything.
"""

from typing import Any

from netcarlo.kernels.base.parameters import LinuxP, ReliableP
from netcarlo.kernels.fluid.state import FlowFloat
from netcarlo.kernels.linux import cubic, hystart, hystartpp
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.senders import LINUX_BBR, LINUX_BBR3, LINUX_CUBIC, LINUX_RENO

UNLIMITED = 1e18
"""Slow start threshold before the first loss [packet]."""
LEAST = 2.0
"""Minimum of ssthresh [packet]."""
_US_PER_MS = 1000.0
_CLOCK_PER_MS = 1.024  # [s / 1024]
_ROUND = 1.0 - 1e-9  # a whole round trip, allowing for rounding


def has(kind: Any) -> Any:
    """Return whether a kind of sender is today's Linux with a fluid model."""
    return kind in (LINUX_RENO, LINUX_CUBIC, LINUX_BBR, LINUX_BBR3)


def begin(g: Any, p: Any, service: Any, base_rtt: Any) -> None:
    """Initialise a flow.

    `service` is the transmission time of a packet at its slowest link, `base_rtt` its RTT without queues
    [unit of the RTT].
    """
    g[FlowFloat.SSTHRESH] = UNLIMITED
    g[FlowFloat.MIN_RTT] = base_rtt
    g[FlowFloat.SERVICE] = service
    g[FlowFloat.ACK_EVERY] = float(max(p[ReliableP.ACK_EVERY], 1))
    g[FlowFloat.SLOW_START] = float(p[LinuxP.SLOW_START])


def opened(g: Any, kind: Any, acked: Any, rtt: Any, rounds: Any, doubled: Any, now: Any) -> Any:
    """Return the window after `acked` packets were acknowledged in `rounds` round trips of length `rtt`
    [packet].

    Slow start would increase it by `doubled` packets. `now` is the time [s / 1024].
    """
    cwnd = g[FlowFloat.CWND]
    if g[FlowFloat.ROUND] >= _ROUND or g[FlowFloat.ROUND_CWND] == 0.0:
        _start_round(g, cwnd, rtt)
    g[FlowFloat.ROUND] += rounds
    if cwnd < g[FlowFloat.SSTHRESH]:
        _end_slow_start(g, kind, cwnd, rtt)
        if g[FlowFloat.CSS_ROUND] > 0.0:
            doubled /= hystartpp.CSS_GROWTH_DIVISOR
        left = g[FlowFloat.SSTHRESH] - cwnd
        if doubled <= left:
            return cwnd + doubled
        acked -= acked / (doubled / left) if left > 0.0 else 0.0
        cwnd = max(g[FlowFloat.SSTHRESH], cwnd)
    whole = float(int(cwnd))
    if kind == LINUX_CUBIC:
        return cwnd + acked / _acked_per_increase(g, whole, acked, now)
    return cwnd + acked / whole


def _start_round(g: Any, cwnd: Any, rtt: Any) -> None:
    """Start a round trip, which ends after one window of `cwnd` packets."""
    g[FlowFloat.ROUND] = 0.0
    g[FlowFloat.ROUND_CWND] = cwnd
    g[FlowFloat.RTT_BEFORE_LAST] = g[FlowFloat.LAST_RTT]
    g[FlowFloat.LAST_RTT] = g[FlowFloat.ROUND_RTT]
    g[FlowFloat.ROUND_RTT] = rtt
    if g[FlowFloat.CSS_ROUND] > 0.0:
        g[FlowFloat.CSS_ROUND] += 1.0
        if g[FlowFloat.CSS_ROUND] > hystartpp.CSS_ROUNDS:
            g[FlowFloat.SSTHRESH] = min(cwnd, g[FlowFloat.SSTHRESH])


def _end_slow_start(g: Any, kind: Any, cwnd: Any, rtt: Any) -> None:
    """End slow start, by setting ssthresh, as the algorithm of the sender does."""
    method = g[FlowFloat.SLOW_START]
    if method == SlowStart.OF_CONTROL:
        method = float(SlowStart.HYSTART if kind == LINUX_CUBIC else SlowStart.STANDARD)
    if method == SlowStart.HYSTART:
        found = min(_end_of_train(g, rtt), _end_by_delay(g))
        if found < UNLIMITED:
            g[FlowFloat.SSTHRESH] = max(max(float(int(found)), float(int(cwnd))), LEAST)
    elif method == SlowStart.HYSTARTPP and g[FlowFloat.SSTHRESH] == UNLIMITED:
        _slow_down(g)


def _end_of_train(g: Any, rtt: Any) -> Any:
    """Return the window at which a train of ACKs has lasted half a minimum RTT (HyStart) [packet].

    UNLIMITED if this does not happen in the current round trip.
    """
    us = g[FlowFloat.MS] / _US_PER_MS
    first = g[FlowFloat.ROUND_CWND]
    spacing = g[FlowFloat.SERVICE]
    if rtt - g[FlowFloat.MIN_RTT] > spacing * first:  # packets of other flows lie between those of this flow
        spacing = rtt / first
    every = g[FlowFloat.ACK_EVERY] if first >= hystart.LOW_WINDOW else 1.0
    until_watched = max(hystart.LOW_WINDOW - first, every)  # packets until HyStart becomes active
    if spacing * until_watched > hystart.ACK_DELTA * us:
        return UNLIMITED
    length = (g[FlowFloat.MIN_RTT] / us + hystart.MAX_ACK_DELAY) / 2.0 * us / spacing
    # Only the elapsed part of the round trip, at most a whole one, has produced ACKs.
    if length > first * min(g[FlowFloat.ROUND], 1.0):
        return UNLIMITED
    return max(first + length, float(hystart.LOW_WINDOW))


def _end_by_delay(g: Any) -> Any:
    """Return the window at which the first RTTs of the round exceed HyStart's delay threshold [packet].

    UNLIMITED if they do not.
    """
    us = g[FlowFloat.MS] / _US_PER_MS
    samples = hystart.MIN_SAMPLES * g[FlowFloat.ACK_EVERY]
    first = g[FlowFloat.ROUND_CWND]
    if g[FlowFloat.LAST_RTT] <= g[FlowFloat.MIN_RTT] + _rise(g[FlowFloat.MIN_RTT], us) or samples > first:
        return UNLIMITED
    return max(first + samples, float(hystart.LOW_WINDOW))


def _rise(rtt: Any, us: Any) -> Any:
    """Return the RTT increase that ends slow start: RTT / 8, within 4 to 16 ms; `us` is one microsecond."""
    return min(max(rtt / 8.0, hystart.DELAY_MIN * us), hystart.DELAY_MAX * us)


def _slow_down(g: Any) -> None:
    """Enter conservative slow start of HyStart++, or leave it if the delay has fallen (RFC 9406, section
    4.2)."""
    us = g[FlowFloat.MS] / _US_PER_MS
    last, before = g[FlowFloat.LAST_RTT], g[FlowFloat.RTT_BEFORE_LAST]
    if g[FlowFloat.CSS_ROUND] > 0.0:
        if last < g[FlowFloat.CSS_RTT]:
            g[FlowFloat.CSS_ROUND] = 0.0
    elif before > 0.0 and last >= before + _rise(before, us):
        g[FlowFloat.CSS_ROUND] = 1.0
        g[FlowFloat.CSS_RTT] = last


def _acked_per_increase(g: Any, whole: Any, acked: Any, now: Any) -> Any:
    """Return the packets to be acknowledged per packet of CUBIC's window growth (`bictcp_update`).

    `acked` packets have just been acknowledged; `whole` is the window.
    """
    if g[FlowFloat.EPOCH] == 0.0:
        _start_epoch(g, whole, now)
    ahead = int(g[FlowFloat.MIN_RTT] / g[FlowFloat.MS] * _CLOCK_PER_MS)
    past = int(now - g[FlowFloat.EPOCH] - g[FlowFloat.K]) + ahead
    away = min(abs(past), cubic.MAX_OFFSET)
    rise = float((cubic.SCALE * away * away * away) >> 40)
    missing = g[FlowFloat.ORIGIN] + (rise if past >= 0 else -rise) - whole
    packets = 100.0 * whole
    if missing > 0.0:
        packets = float(int(whole / missing))
    if g[FlowFloat.W_MAX] == 0.0:
        packets = min(packets, float(cubic.MAX_INITIAL_CNT))
    g[FlowFloat.W_EST] += acked / float((int(whole) * cubic.BETA_SCALE) >> 3)
    behind = float(int(g[FlowFloat.W_EST])) - whole
    if behind > 0.0:
        packets = min(packets, float(int(whole / behind)))
    return max(packets, float(cubic.MIN_CNT))


def _start_epoch(g: Any, whole: Any, now: Any) -> None:
    """Start an epoch of CUBIC: set the plateau and K."""
    g[FlowFloat.EPOCH] = max(now, 1.0)  # 0 means no epoch
    g[FlowFloat.W_EST] = whole
    g[FlowFloat.ORIGIN] = max(g[FlowFloat.W_MAX], whole)
    cube = int(g[FlowFloat.ORIGIN] - whole) * cubic.ROOT_FACTOR
    root = 0
    for bit in range(cubic.ROOT_BITS):
        more = root + (cubic.MAX_OFFSET >> (bit + 1))
        if more * more * more <= cube:
            root = more
    g[FlowFloat.K] = float(root)


def reduced(g: Any, kind: Any) -> Any:
    """Return the slow start threshold after a loss [packet]: half the window, 0.7 of it for CUBIC."""
    whole = int(g[FlowFloat.CWND])
    left = (whole * cubic.BETA) // cubic.ONE if kind == LINUX_CUBIC else whole >> 1
    return max(float(left), LEAST)


def on_recovery(g: Any, kind: Any) -> None:
    """Reduce the window at the start of loss recovery.

    CUBIC remembers the window before the loss, or less by fast convergence (RFC 9438, section 4.7).
    """
    if kind == LINUX_BBR:  # it does not reduce its window
        return
    whole, left = float(int(g[FlowFloat.CWND])), reduced(g, kind)
    lower = whole < g[FlowFloat.W_MAX]
    kept = float((int(whole) * (cubic.ONE + cubic.BETA)) // (2 * cubic.ONE))
    g[FlowFloat.W_MAX] = kept if lower else whole
    g[FlowFloat.EPOCH] = 0.0
    g[FlowFloat.SSTHRESH] = left
    g[FlowFloat.CWND] = left


def on_timeout(g: Any, kind: Any, again: Any) -> None:
    """Restart slow start with one packet after a retransmission timeout.

    If the timer expires `again`, ssthresh is not reduced further.
    """
    if not again:
        g[FlowFloat.SSTHRESH] = reduced(g, kind)
    g[FlowFloat.W_MAX] = 0.0
    g[FlowFloat.EPOCH] = 0.0
    g[FlowFloat.CWND] = 1.0
    g[FlowFloat.ROUND_CWND] = 0.0
    g[FlowFloat.CSS_ROUND] = 0.0
    g[FlowFloat.ROUND_RTT] = 0.0
    g[FlowFloat.LAST_RTT] = 0.0


def on_spurious_timeout(g: Any, kind: Any) -> None:
    """Process a timeout and undo it when ACKs of the original packets show that they were only late.

    Sources: Eifel detection (RFC 3522), F-RTO (RFC 5682), `tcp_undo_cwnd_reduction`. The window is restored.
    CUBIC loses its plateau and HyStart its RTTs: the kernel does not restore them (`bictcp_reset`).
    """
    cwnd, threshold = g[FlowFloat.CWND], g[FlowFloat.SSTHRESH]
    on_timeout(g, kind, False)
    g[FlowFloat.CWND] = cwnd
    g[FlowFloat.SSTHRESH] = max(threshold, cwnd - cwnd / 4.0)  # `tcp_current_ssthresh`
    if kind == LINUX_BBR:  # its search for the full bandwidth begins again (`bbr_undo_cwnd`)
        g[FlowFloat.FULL_BW] = 0.0
        g[FlowFloat.FULL_COUNT] = 0.0
