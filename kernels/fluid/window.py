"""How a congestion window grows and shrinks, by the round trip instead of by the packet.

Source: Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP flows with
an application to RED" (SIGCOMM 2000).  Constants are those of the packet engine (`bic`, `cubic`).

`g` are the floats of a flow (`FlowFloat`), `kind` is one of `shared.layout.KINDS`; round trips may have any
unit, the same for all.  No product of floats is added to anything unless one factor is a power of two: so
compilers that fuse multiplication and addition change no bit.
"""

import math
from typing import Any

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.congestion import bic, cubic
from netcarlo.kernels.fluid.state import FlowFloat
from netcarlo.kernels.shared.layout import BIC, CUBIC, TAHOE, VEGAS, WESTWOOD

FLOOR = 2.0
"""Least ssthresh [packet]."""
_NO_RTT = 1e18  # longer than any
_CUT = bic.ONE / bic.BETA  # a window is divided by it
_FRIENDLY = cubic.FRIENDLY / 8.0
_HURRY = 31.0 / 16.0  # BIC, CUBIC: what their rounded count of packets per ACK does to the growth
_E_FOLD = 1.0 / math.log(2.0)  # slow start doubles the window in a round trip, not more
_PER_ROUND = 1.0 / (_E_FOLD - 1.0)
_FILTER = 8.0  # round trips of Westwood's filters
_LEAST_GROWTH = 0.01  # as `cubic`: a packet per hundred windows of ACKs [packet]


def begin(g: Any, p: Any, unit: Any) -> None:
    """Before the start of a flow with the columns `p`; round trips are counted in units of so many ns."""
    for word in range(FlowFloat.BASE):
        g[word] = 0.0
    g[FlowFloat.CWND] = float(min(p[P.INITIAL_WINDOW], p[P.WINDOW]))
    g[FlowFloat.SSTHRESH] = float(p[P.INITIAL_SSTHRESH])
    g[FlowFloat.RECEIVER] = float(p[P.WINDOW])
    g[FlowFloat.LEAST_RTT] = _NO_RTT
    g[FlowFloat.TICK] = float(max(p[P.TICK], 1)) / float(unit)
    g[FlowFloat.ALPHA] = float(p[P.VEGAS_ALPHA])
    g[FlowFloat.BETA] = float(p[P.VEGAS_BETA])
    g[FlowFloat.GAMMA] = float(p[P.VEGAS_GAMMA])


def clock(t: Any) -> Any:
    """The time [ns] as CUBIC counts it [s / 1024]."""
    return float((t << 10) // 1_000_000_000)


def grow(g: Any, kind: Any, acked: Any, rtt: Any, rounds: Any, now: Any, frozen: Any) -> None:
    """`acked` ACKs have come in so many round trips of length `rtt`, the last at `now` [s / 1024].

    In a repair the window is `frozen`.
    """
    cwnd = g[FlowFloat.CWND]
    least = rtt
    if kind == WESTWOOD:  # measured in ticks
        least = max(float(int(rtt / g[FlowFloat.TICK])), 1.0) * g[FlowFloat.TICK]
    g[FlowFloat.LEAST_RTT] = min(g[FlowFloat.LEAST_RTT], least)
    if kind == WESTWOOD and rounds > 0.0:
        _measure_bandwidth(g, acked, rtt, rounds)
    if not frozen:
        if kind == VEGAS:
            cwnd = _vegas(g, acked, rtt, rounds)
        elif cwnd < g[FlowFloat.SSTHRESH]:
            cwnd += acked / (_E_FOLD - rounds / _PER_ROUND)
        elif kind == BIC and cwnd > bic.LOW_WINDOW:
            cwnd += acked / (cwnd / _bic(g) / _HURRY + 1.0)
        elif kind == CUBIC:
            cwnd += acked / (cwnd / _cubic(g, acked, now) / _HURRY + 1.0)
        else:
            cwnd += acked / cwnd
        g[FlowFloat.CWND] = min(cwnd, g[FlowFloat.RECEIVER])


def kept(g: Any, kind: Any, rtt: Any) -> Any:
    """What a loss leaves of the window [packet]."""
    cwnd = g[FlowFloat.CWND]
    if kind == VEGAS:
        return cwnd - cwnd / 4.0
    if kind == WESTWOOD:
        return g[FlowFloat.BANDWIDTH] * g[FlowFloat.LEAST_RTT]
    if kind == CUBIC or (kind == BIC and cwnd > bic.LOW_WINDOW):
        return cwnd / _CUT
    return cwnd / 2.0


def cut(g: Any, kind: Any, rtt: Any) -> None:
    """Duplicate ACKs told of losses."""
    cwnd = g[FlowFloat.CWND]
    left = kept(g, kind, rtt)
    g[FlowFloat.MAXIMUM] = (cwnd + cwnd / _CUT) / 2.0 if cwnd < g[FlowFloat.MAXIMUM] else cwnd
    g[FlowFloat.EPOCH] = 0.0
    g[FlowFloat.SSTHRESH] = max(left, FLOOR)
    g[FlowFloat.CWND] = 1.0 if kind == TAHOE else max(left, 1.0)


def collapse(g: Any, kind: Any, rtt: Any) -> None:
    """The timer ran out."""
    left = g[FlowFloat.CWND] / 2.0 if kind == VEGAS else kept(g, kind, rtt)
    g[FlowFloat.MAXIMUM] = 0.0
    g[FlowFloat.EPOCH] = 0.0
    g[FlowFloat.SSTHRESH] = max(left, FLOOR)
    g[FlowFloat.CWND] = FLOOR if kind == VEGAS else 1.0


def _vegas(g: Any, acked: Any, rtt: Any, rounds: Any) -> Any:
    # The window that Vegas has next, from its packets that wait in queues.
    cwnd = g[FlowFloat.CWND]
    waiting = cwnd - cwnd / (rtt / g[FlowFloat.LEAST_RTT])
    if cwnd < g[FlowFloat.SSTHRESH]:
        if waiting <= g[FlowFloat.GAMMA] + 0.5:  # counts are rounded
            return cwnd + acked / (_E_FOLD - rounds / _PER_ROUND) / 2.0  # grows in every other round trip
        g[FlowFloat.SSTHRESH] = FLOOR
        return max(cwnd - cwnd / 8.0, FLOOR)
    if waiting > g[FlowFloat.BETA] + 0.5:
        return max(cwnd - rounds, FLOOR)
    if waiting < g[FlowFloat.ALPHA] - 0.5:
        return cwnd + rounds
    return cwnd


def _bic(g: Any) -> Any:
    # Packets by which BIC's window grows in a round trip, beyond the window of standard TCP.
    cwnd = g[FlowFloat.CWND]
    below = g[FlowFloat.MAXIMUM] - cwnd
    step = min(float(int(below / bic.SEARCH)), float(bic.MAX_INCREMENT))
    if below > -bic.SEARCH and step <= 1.0:
        step = bic.SEARCH / bic.SMOOTH
    elif below <= 0.0:
        step = min(-below / (bic.SEARCH - 1), float(bic.MAX_INCREMENT))
    return max(step, cwnd / bic.HASTE) if g[FlowFloat.MAXIMUM] == 0.0 else step


def _cubic(g: Any, acked: Any, now: Any) -> Any:
    # Packets by which CUBIC's window grows in a round trip.
    cwnd = g[FlowFloat.CWND]
    if g[FlowFloat.EPOCH] == 0.0:
        g[FlowFloat.EPOCH] = now
        g[FlowFloat.STANDARD] = cwnd
        g[FlowFloat.ORIGIN] = max(g[FlowFloat.MAXIMUM], cwnd)
        cube = int(g[FlowFloat.ORIGIN] - cwnd) * cubic.ROOT_FACTOR
        root = 0
        for bit in range(cubic.ROOT_BITS):
            more = root + (cubic.LONGEST >> (bit + 1))
            if more * more * more <= cube:
                root = more
        g[FlowFloat.PLATEAU] = float(root)
    past = int(now - g[FlowFloat.EPOCH] - g[FlowFloat.PLATEAU])
    away = min(abs(past), cubic.LONGEST)
    rise = float((cubic.SCALE * away * away * away) >> 40)
    missing = g[FlowFloat.ORIGIN] + (rise if past >= 0 else -rise) - cwnd
    g[FlowFloat.STANDARD] += acked / (cwnd * _FRIENDLY)
    packets = max(max(missing, g[FlowFloat.STANDARD] - cwnd), _LEAST_GROWTH)
    return max(packets, cwnd / cubic.HASTE) if g[FlowFloat.MAXIMUM] == 0.0 else packets


def _measure_bandwidth(g: Any, acked: Any, rtt: Any, rounds: Any) -> None:
    # Westwood's estimate, from the ACKs of so many round trips.
    rate = acked / (rtt * rounds)
    if g[FlowFloat.BANDWIDTH] == 0.0:
        g[FlowFloat.RAW] = rate
        g[FlowFloat.BANDWIDTH] = rate
    g[FlowFloat.RAW] += (rate - g[FlowFloat.RAW]) / (_FILTER / rounds)
    g[FlowFloat.BANDWIDTH] += (g[FlowFloat.RAW] - g[FlowFloat.BANDWIDTH]) / (_FILTER / rounds)
