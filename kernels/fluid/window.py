"""Growth and reduction of a congestion window per round trip, instead of per packet.

Source: Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP flows with
an application to RED" (SIGCOMM 2000). Constants are those of the packet engine (`bic`, `cubic`).

`g` are the floats of a flow (`FlowFloat`), `kind` is the number of a sender; round trips may have any unit,
the same for all. No product of floats is added to anything unless one factor is a power of two, so compilers
that fuse multiplication and addition change no bit.
"""

import math
from typing import Any

from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.congestion import bic, cubic, westwood
from netcarlo.kernels.fluid import bbr, bbr3, linux
from netcarlo.kernels.fluid.state import FlowFloat
from netcarlo.kernels.senders import BIC, CUBIC, LINUX_BBR, LINUX_BBR3, TAHOE, VEGAS, WESTWOOD

FLOOR = 2.0
"""Minimum of ssthresh [packet]."""
VEGAS_LEAST = 3
"""Largest window that Vegas reduces to FLOOR [packet]."""
_NO_RTT = 1e18  # longer than any RTT
_CUT = bic.BETA_ONE / bic.BETA  # divisor of the window after a loss
_FRIENDLY = cubic.BETA_SCALE / 8.0
_HURRY = 31.0 / 16.0  # BIC, CUBIC: effect of their rounded count of packets per ACK on growth
_E_FOLD = 1.0 / math.log(2.0)  # slow start doubles the window per round trip and does not grow faster
_PER_ROUND = 1.0 / (_E_FOLD - 1.0)
_MOST_ROUNDS = 2.0  # limit of the round trips of a step, above which `_doubled` would be far too large
_SHORT = 1e-9  # lower limit of the round trips of a step
_LEAST_GROWTH = 0.01  # as in `cubic`: a packet per hundred windows of ACKs [packet]


def begin(g: Any, p: Any, unit: Any) -> None:
    """Initialise the floats of a flow with the columns `p`; round trips have a unit of `unit` ns."""
    for word in range(FlowFloat.SIZE):
        g[word] = 0.0
    g[FlowFloat.CWND] = float(min(p[TcpP.INITIAL_WINDOW], p[RowP.WINDOW]))
    g[FlowFloat.SSTHRESH] = float(p[ReliableP.INITIAL_SSTHRESH])
    g[FlowFloat.RECEIVE_WINDOW] = float(p[RowP.WINDOW])
    g[FlowFloat.MIN_RTT] = _NO_RTT
    g[FlowFloat.TICK] = float(max(p[TcpP.TICK], 1)) / float(unit)
    g[FlowFloat.MS] = float(MS) / float(unit)
    g[FlowFloat.ALPHA] = float(p[TcpP.VEGAS_ALPHA])
    g[FlowFloat.BETA] = float(p[TcpP.VEGAS_BETA])
    g[FlowFloat.GAMMA] = float(p[TcpP.VEGAS_GAMMA])


def clock(t: Any) -> Any:
    """Convert a time [ns] to the clock of CUBIC [s / 1024]."""
    return float((t << 10) // 1_000_000_000)


def grow(g: Any, kind: Any, acked: Any, rtt: Any, rounds: Any, now: Any, frozen: Any) -> None:
    """Grow the window by `acked` ACKs of `rounds` round trips of length `rtt`, the last at `now` [s / 1024].

    The window does not grow during fast recovery (`frozen`).
    """
    least = rtt
    if kind == LINUX_BBR:
        bbr.grow(g, acked, rtt, rounds)
        g[FlowFloat.CWND] = min(g[FlowFloat.CWND], g[FlowFloat.RECEIVE_WINDOW])
        return
    if kind == LINUX_BBR3:
        bbr3.grow(g, acked, rtt, rounds)
        g[FlowFloat.CWND] = min(g[FlowFloat.CWND], g[FlowFloat.RECEIVE_WINDOW])
        return
    if kind == WESTWOOD:
        least = max(float(int(rtt / g[FlowFloat.TICK])), 1.0) * g[FlowFloat.TICK]  # measured in ticks
        _measure_bandwidth(g, acked, rtt, rounds)
    g[FlowFloat.MIN_RTT] = min(g[FlowFloat.MIN_RTT], least)
    if not frozen:
        if linux.has(kind):
            cwnd = linux.opened(g, kind, acked, rtt, rounds, _doubled(acked, rounds), now)
        else:
            cwnd = _vegas(g, acked, rtt, rounds) if kind == VEGAS else _opened(g, kind, acked, rounds, now)
        g[FlowFloat.CWND] = min(cwnd, g[FlowFloat.RECEIVE_WINDOW])


def _opened(g: Any, kind: Any, acked: Any, rounds: Any, now: Any) -> Any:
    """Return the window after slow start up to ssthresh, and congestion avoidance with the remaining ACKs
    [packet].

    Senders with whole windows leave slow start one packet above ssthresh.
    """
    cwnd = g[FlowFloat.CWND]
    end = g[FlowFloat.SSTHRESH] + 1.0 if _counts_whole(kind) else g[FlowFloat.SSTHRESH]
    if cwnd < end:
        more = _doubled(acked, rounds)
        if cwnd + more <= end:
            return cwnd + more
        acked -= acked / (more / (end - cwnd))
        cwnd = end
    if kind == BIC and cwnd >= bic.LOW_WINDOW + 1:
        return cwnd + acked / (cwnd / _bic(g, cwnd) / _HURRY + 1.0)
    if kind == BIC:
        return cwnd + acked / (float(int(cwnd)) + 1.0)
    if kind == CUBIC:
        return cwnd + acked / (cwnd / _cubic(g, cwnd, acked, now) / _HURRY + 1.0)
    return cwnd + acked / cwnd


def _doubled(acked: Any, rounds: Any) -> Any:
    """Return the growth of the window by slow start in `rounds` round trips r: about acked (2^r - 1) / r
    [packet]."""
    return acked / (_E_FOLD - min(rounds, _MOST_ROUNDS) / _PER_ROUND)


def _counts_whole(kind: Any) -> Any:
    """Return whether windows are whole packets (Linux); those of ns-2 have fractions."""
    return kind in (BIC, CUBIC, WESTWOOD)


def reduced(g: Any, kind: Any, rtt: Any) -> Any:
    """Return the window after a loss [packet]."""
    cwnd = g[FlowFloat.CWND]
    whole = float(int(cwnd))
    if kind == VEGAS:
        return whole - float(int(whole / 4.0)) if whole > VEGAS_LEAST else FLOOR
    if kind == WESTWOOD:
        known = g[FlowFloat.MIN_RTT] < _NO_RTT
        least = float(int(g[FlowFloat.MIN_RTT] / g[FlowFloat.MS])) if known else 0.0
        return max(float(int(g[FlowFloat.BANDWIDTH] * least / westwood.SEGMENT)), FLOOR)
    if kind == CUBIC or (kind == BIC and cwnd >= bic.LOW_WINDOW + 1):
        return max(float(int(whole / _CUT)), FLOOR)
    if kind == BIC:
        return max(float(int(whole / 2.0)), FLOOR)
    return cwnd / 2.0


def open_to(g: Any, cwnd: Any) -> Any:
    """Return `cwnd` limited to at least one packet and at most the receive window [packet]."""
    return min(max(cwnd, 1.0), g[FlowFloat.RECEIVE_WINDOW])


def on_fast_retransmit(g: Any, kind: Any, rtt: Any) -> None:
    """Reduce the window at a fast retransmit."""
    whole = float(int(g[FlowFloat.CWND]))
    left = reduced(g, kind, rtt)
    lower = whole < g[FlowFloat.W_MAX]
    g[FlowFloat.W_MAX] = float(int((whole + whole / _CUT) / 2.0)) if lower else whole
    g[FlowFloat.EPOCH] = 0.0
    g[FlowFloat.SSTHRESH] = max(float(int(left)), FLOOR)
    g[FlowFloat.CWND] = 1.0 if kind == TAHOE else open_to(g, left)


def on_timeout(g: Any, kind: Any, rtt: Any) -> None:
    """Reduce the window at a retransmission timeout."""
    left = g[FlowFloat.CWND] / 2.0 if kind == VEGAS else reduced(g, kind, rtt)
    g[FlowFloat.W_MAX] = 0.0
    g[FlowFloat.EPOCH] = 0.0
    g[FlowFloat.SSTHRESH] = max(float(int(left)), FLOOR)
    g[FlowFloat.CWND] = open_to(g, FLOOR if kind == VEGAS else 1.0)
    if kind == WESTWOOD:
        g[FlowFloat.MIN_RTT] = _NO_RTT


def _vegas(g: Any, acked: Any, rtt: Any, rounds: Any) -> Any:
    """Return the next window of Vegas, from its packets in queues [packet]."""
    cwnd = g[FlowFloat.CWND]
    waiting = cwnd - cwnd / (rtt / g[FlowFloat.MIN_RTT])
    if cwnd < g[FlowFloat.SSTHRESH]:
        if waiting <= g[FlowFloat.GAMMA] + 0.5:  # counts are rounded
            more = _doubled(acked, rounds) / 2.0  # grows in every other round trip
            return min(cwnd + more, g[FlowFloat.SSTHRESH])
        g[FlowFloat.SSTHRESH] = FLOOR
        return max(cwnd - cwnd / 8.0, FLOOR)
    if waiting > g[FlowFloat.BETA] + 0.5:
        return max(cwnd - rounds, FLOOR)
    if waiting < g[FlowFloat.ALPHA] - 0.5:
        return cwnd + rounds
    return cwnd


def _bic(g: Any, cwnd: Any) -> Any:
    """Return the growth of BIC's window per round trip, in excess of standard TCP [packet]."""
    below = g[FlowFloat.W_MAX] - cwnd
    step = min(float(int(below / bic.BICTCP_B)), float(bic.MAX_INCREMENT))
    if below > -bic.BICTCP_B and step <= 1.0:
        step = bic.BICTCP_B / bic.SMOOTH_PART
    elif below <= 0.0:
        step = min(-below / (bic.BICTCP_B - 1), float(bic.MAX_INCREMENT))
    return max(step, cwnd / bic.INITIAL_MAX_CNT) if g[FlowFloat.W_MAX] == 0.0 else step


def _cubic(g: Any, cwnd: Any, acked: Any, now: Any) -> Any:
    """Return the growth of CUBIC's window per round trip [packet]."""
    if g[FlowFloat.EPOCH] == 0.0:
        g[FlowFloat.EPOCH] = now
        g[FlowFloat.W_EST] = cwnd
        g[FlowFloat.ORIGIN] = max(g[FlowFloat.W_MAX], cwnd)
        cube = int(g[FlowFloat.ORIGIN] - cwnd) * cubic.CUBE_FACTOR
        root = 0
        for bit in range(cubic.CUBE_ROOT_BITS):
            more = root + (cubic.MAX_OFFSET >> (bit + 1))
            if more * more * more <= cube:
                root = more
        g[FlowFloat.K] = float(root)
    past = int(now - g[FlowFloat.EPOCH] - g[FlowFloat.K])
    away = min(abs(past), cubic.MAX_OFFSET)
    rise = float((cubic.CUBE_RTT_SCALE * away * away * away) >> 40)
    missing = g[FlowFloat.ORIGIN] + (rise if past >= 0 else -rise) - cwnd
    g[FlowFloat.W_EST] += acked / (cwnd * _FRIENDLY)
    packets = max(max(missing, g[FlowFloat.W_EST] - cwnd), _LEAST_GROWTH)
    if g[FlowFloat.W_MAX] == 0.0:  # before the first loss the cubic function is not used
        packets = max(cwnd / cubic.INITIAL_MAX_CNT, g[FlowFloat.W_EST] - cwnd)
    return packets


def _measure_bandwidth(g: Any, acked: Any, rtt: Any, rounds: Any) -> None:
    """Update Westwood's bandwidth estimate.

    A sample covers at least a round trip and 50 ms; it passes two filters in whole bytes per ms.
    """
    g[FlowFloat.ACKED] += acked
    g[FlowFloat.SAMPLE_TIME] += rtt / (1.0 / max(rounds, _SHORT))
    if g[FlowFloat.SAMPLE_TIME] >= max(rtt, westwood.WESTWOOD_RTT_MIN_MS * g[FlowFloat.MS]):
        time_ms = g[FlowFloat.SAMPLE_TIME] / g[FlowFloat.MS]
        sample = float(int(g[FlowFloat.ACKED] * westwood.SEGMENT / time_ms))
        if g[FlowFloat.BANDWIDTH] == 0.0 and g[FlowFloat.RAW_BANDWIDTH] == 0.0:
            g[FlowFloat.RAW_BANDWIDTH] = sample
            g[FlowFloat.BANDWIDTH] = sample
        else:
            g[FlowFloat.RAW_BANDWIDTH] = _filtered(g[FlowFloat.RAW_BANDWIDTH], sample)
            g[FlowFloat.BANDWIDTH] = _filtered(g[FlowFloat.BANDWIDTH], g[FlowFloat.RAW_BANDWIDTH])
        g[FlowFloat.ACKED] = 0.0
        g[FlowFloat.SAMPLE_TIME] = 0.0


def _filtered(value: Any, sample: Any) -> Any:
    """Return `value` moved towards `sample` by an eighth of the difference, rounded down."""
    return float((7 * int(value) + int(sample)) >> 3)
