"""BBR v1 in the fluid: pacing rate and window from the bottleneck bandwidth and the minimum RTT.

Source: the packet model (`kernels/linux/bbr`). Differential equations: Scherrer, Legner, Perrig and Schmid,
"Model-based insights on the performance, fairness, and stability of BBR" (IMC 2022). Competing flows are
limited by the window of two bandwidth-delay products rather than by their pacing rate: Ware, Mukerjee, Seshan
and Sherry, "Modeling BBR's interactions with loss-based congestion control" (IMC 2019).

`g` are the floats of a flow (`FlowFloat`). As in `window`, no product of floats is added to anything.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.fluid.state import FlowFloat

UNLIMITED = 1e18
"""Pacing rate before the first sample [packet / unit of the RTT]."""
NO_BANDWIDTH = 1e-18
"""Lower limit of the bandwidth as a divisor [packet / unit of the RTT]."""
HIGH_GAIN = 739.0 / 256.0
DRAIN_GAIN = 88.0 / 256.0
UP, DOWN = 1.25, 0.75
PHASES = 8
"""Phases of a cycle of bandwidth probing; each lasts a minimum RTT."""
CWND_GAIN = 2.0
LEAST = 4.0
"""Minimum window [packet]."""
BURSTS = 3.0
FILTER_ROUNDS = 7.0
"""Round trips of each half of the bandwidth filter, which covers 7 to 14 round trips (BBR: 10)."""
FULL_GROWTH = 1.25
FULL_ROUNDS = 3.0
DRAIN_ROUNDS = 6.0
MIN_RTT_S = 10.0
PROBE_RTT_S = 0.2


class Mode(IntEnum):
    """Modes of BBR."""

    STARTUP = 0
    DRAIN = 1
    PROBE_BW = 2
    PROBE_RTT = 3


def begin(g: Any, number: Any, alone: Any) -> None:
    """Initialise a flow, whose `number` determines the phase of its cycle.

    If the flow is `alone` on a path, its cycle has no mean effect on the queue and is left out.
    """
    g[FlowFloat.ALONE] = alone
    g[FlowFloat.PACE] = UNLIMITED
    g[FlowFloat.PHASE] = float((5 * number) % PHASES)


def grow(g: Any, acked: Any, rtt: Any, rounds: Any) -> None:
    """Update rate and window after `acked` packets, delivered in `rounds` round trips of length `rtt`."""
    if rounds <= 0.0:
        return
    elapsed = rtt / (1.0 / rounds)
    second = g[FlowFloat.MS] * 1000.0
    bandwidth = _filter(g, acked / elapsed, rounds)
    g[FlowFloat.AGE] += elapsed
    g[FlowFloat.MODE_TIME] += elapsed
    g[FlowFloat.ROUND] += rounds
    mode = g[FlowFloat.MODE]
    if rtt < g[FlowFloat.MIN_RTT]:
        g[FlowFloat.MIN_RTT] = rtt
        g[FlowFloat.AGE] = 0.0
    if mode == Mode.STARTUP:
        if g[FlowFloat.ROUND] >= 1.0:
            g[FlowFloat.ROUND] = 0.0
            if bandwidth >= FULL_GROWTH * g[FlowFloat.FULL_BW]:
                g[FlowFloat.FULL_BW] = bandwidth
                g[FlowFloat.FULL_COUNT] = 0.0
            else:
                g[FlowFloat.FULL_COUNT] += 1.0
            if g[FlowFloat.FULL_COUNT] >= FULL_ROUNDS:
                _enter(g, Mode.DRAIN)
    elif mode == Mode.DRAIN:
        if rtt <= g[FlowFloat.MIN_RTT] * UP or g[FlowFloat.ROUND] > DRAIN_ROUNDS:
            _enter(g, Mode.PROBE_BW)
    elif mode == Mode.PROBE_BW:
        if g[FlowFloat.MODE_TIME] >= g[FlowFloat.MIN_RTT]:
            g[FlowFloat.MODE_TIME] = 0.0
            g[FlowFloat.PHASE] = g[FlowFloat.PHASE] + 1.0 if g[FlowFloat.PHASE] < PHASES - 1 else 0.0
        if g[FlowFloat.AGE] > MIN_RTT_S * second:
            _enter(g, Mode.PROBE_RTT)
            g[FlowFloat.MIN_RTT] = rtt
    elif g[FlowFloat.MODE_TIME] >= PROBE_RTT_S * second and g[FlowFloat.ROUND] >= 1.0:
        g[FlowFloat.AGE] = 0.0
        _enter(g, Mode.PROBE_BW)
    _apply(g, bandwidth, acked)


def _enter(g: Any, mode: Any) -> None:
    """Enter a mode and restart its time and its count of round trips."""
    g[FlowFloat.MODE] = float(mode)
    g[FlowFloat.MODE_TIME] = 0.0
    g[FlowFloat.ROUND] = 0.0


def _filter(g: Any, rate: Any, rounds: Any) -> Any:
    """Return the largest delivery rate of the latest 7 to 14 round trips, `rate` included."""
    g[FlowFloat.BW_ROUNDS] += rounds
    if g[FlowFloat.BW_ROUNDS] >= FILTER_ROUNDS:
        g[FlowFloat.BW_ROUNDS] = 0.0
        g[FlowFloat.BW_BEFORE] = g[FlowFloat.BW]
        g[FlowFloat.BW] = rate
    g[FlowFloat.BW] = max(g[FlowFloat.BW], rate)
    return max(g[FlowFloat.BW], g[FlowFloat.BW_BEFORE])


def _apply(g: Any, bandwidth: Any, acked: Any) -> None:
    """Set pacing rate and window for the current mode."""
    mode = g[FlowFloat.MODE]
    pace, window = 1.0, CWND_GAIN
    if mode == Mode.STARTUP:
        pace, window = HIGH_GAIN, HIGH_GAIN
    elif mode == Mode.DRAIN:
        pace, window = DRAIN_GAIN, HIGH_GAIN
    elif mode == Mode.PROBE_BW:
        pace = UP if g[FlowFloat.PHASE] == 0.0 else DOWN if g[FlowFloat.PHASE] == 1.0 else 1.0
    g[FlowFloat.PACE] = bandwidth * pace * 0.99
    burst = max(bandwidth * g[FlowFloat.MS] / 1.024, 2.0)
    target = max((bandwidth * g[FlowFloat.MIN_RTT] / (1.0 / window) / burst + BURSTS) / (1.0 / burst), LEAST)
    cwnd = g[FlowFloat.CWND]
    if mode == Mode.PROBE_RTT:
        g[FlowFloat.CWND] = LEAST
    elif mode == Mode.STARTUP:
        g[FlowFloat.CWND] = min(cwnd + acked, max(target, cwnd))
    elif g[FlowFloat.ALONE] > 0.0:
        full = g[FlowFloat.MIN_RTT] / (1.0 / max(bandwidth, NO_BANDWIDTH))
        g[FlowFloat.CWND] = min(cwnd + acked, max(full + 1.0, LEAST))
    else:
        g[FlowFloat.CWND] = min(cwnd + acked, target)
