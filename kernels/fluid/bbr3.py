"""BBR v3 in the fluid of a path: bandwidth and bounds of the window, round trip by round trip.

Source: draft-ietf-ccwg-bbr, sections 5.3 and 5.5, and the packet model (`kernels/linux/bbr3`). The flow is
alone on its path, so the window is what its pacing rate keeps in flight. The time between bandwidth probes is
the mean of the random one.

`g` are the floats of a flow (`FlowFloat`). As in `window`, no product of floats is added to anything.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.fluid.bbr import BURSTS, NO_BANDWIDTH, UNLIMITED
from netcarlo.kernels.fluid.state import FlowFloat

MARGIN = 0.99
"""Share of the bandwidth at which packets are paced (BBR.PacingMarginPercent)."""
CWND_GAIN, UP_CWND_GAIN = 2.0, 2.25
DOWN_ROUNDS, UP_ROUNDS = 10.0, 4.0
"""Round trips in which ProbeBW_DOWN (gain 0.9) drains, and ProbeBW_UP (1.25) adds, one BDP."""
LEAST = 4.0
"""Minimum window [packet] (BBR.MinPipeCwnd)."""
FULL_GROWTH, FULL_ROUNDS = 1.25, 3.0
FULL_LOSS_COUNT = 6.0
"""Losses in a round trip that end STARTUP (BBR.StartupFullLossCnt)."""
LOSS_THRESH = 0.02
"""Share of lost packets above which too much data were in flight (BBR.LossThresh)."""
BETA = 0.7
"""Factor on a bound after losses (BBR.Beta)."""
HEADROOM = 0.85
"""Share of the long-term bound that is used between probes (1 - BBR.Headroom)."""
PROBE_WAIT_S = 2.5
"""Mean time between probes of the bandwidth [s] (BBRPickProbeWait)."""
MAX_ROUNDS = 63.0
"""Round trips after which the bandwidth is probed at the latest (BBRIsRenoCoexistenceProbeTime)."""
PROBE_RTT_INTERVAL_S, PROBE_RTT_S = 5.0, 0.2


class Mode(IntEnum):
    """State of BBR."""

    STARTUP = 0
    DRAIN = 1
    DOWN = 2
    CRUISE = 3
    REFILL = 4
    UP = 5
    PROBE_RTT = 6


def begin(g: Any) -> None:
    """Initialise a flow whose window no losses have bounded yet."""
    g[FlowFloat.SHORT_TERM] = UNLIMITED
    g[FlowFloat.LONG_TERM] = UNLIMITED


def grow(g: Any, acked: Any, rtt: Any, rounds: Any) -> None:
    """Update the window after `acked` packets, delivered in `rounds` round trips of length `rtt`."""
    if rounds <= 0.0:
        return
    elapsed = rtt / (1.0 / rounds)
    rate, second = acked / elapsed, g[FlowFloat.MS] * 1000.0
    g[FlowFloat.BW] = max(g[FlowFloat.BW], rate)
    g[FlowFloat.MIN_RTT] = min(g[FlowFloat.MIN_RTT], rtt)
    for word in (FlowFloat.AGE, FlowFloat.MODE_TIME, FlowFloat.SINCE_PROBE):
        g[word] += elapsed
    g[FlowFloat.ROUND] += rounds
    g[FlowFloat.SINCE_LOSS] += rounds
    full = _pipe(g)
    _change_mode(g, rate, rtt, full, second)
    if Mode.DRAIN < g[FlowFloat.MODE] < Mode.PROBE_RTT and g[FlowFloat.AGE] > PROBE_RTT_INTERVAL_S * second:
        _enter(g, Mode.PROBE_RTT)
    _set_window(g, full, acked, rounds)


def _pipe(g: Any) -> Any:
    """Return the bandwidth-delay product at the largest delivery rate of this and the previous cycle
    [packet]."""
    bandwidth = max(max(g[FlowFloat.BW], g[FlowFloat.BW_BEFORE]), NO_BANDWIDTH)
    return max(g[FlowFloat.MIN_RTT] / (1.0 / bandwidth), 1.0)


def _change_mode(g: Any, rate: Any, rtt: Any, full: Any, second: Any) -> None:
    """Enter the next state if its condition holds.

    Source: BBRUpdateProbeBWCyclePhase, BBRCheckStartupDone and BBRCheckDrainDone of draft-ietf-ccwg-bbr.
    """
    mode, cwnd = g[FlowFloat.MODE], g[FlowFloat.CWND]
    if mode == Mode.STARTUP:
        if _has_full_pipe(g, rate):
            _enter(g, Mode.DRAIN)
    elif mode == Mode.DRAIN:
        if cwnd <= full + 1.0:
            _start_down(g)
    elif mode == Mode.DOWN or mode == Mode.CRUISE:
        if _is_probe_due(g, full, second):
            _enter(g, Mode.REFILL)
            g[FlowFloat.SHORT_TERM] = UNLIMITED
        elif mode == Mode.DOWN and cwnd <= min(full + 1.0, _with_headroom(g)):
            _enter(g, Mode.CRUISE)
    elif mode == Mode.REFILL:
        if g[FlowFloat.ROUND] >= 1.0:
            _enter(g, Mode.UP)
            g[FlowFloat.FULL_BW] = rate
            g[FlowFloat.FULL_COUNT] = 0.0
            g[FlowFloat.SLOPE] = 1.0
    elif mode == Mode.UP:
        if g[FlowFloat.ROUND] >= 1.0 and cwnd >= g[FlowFloat.LONG_TERM]:
            g[FlowFloat.ROUND] = 0.0
            g[FlowFloat.FULL_COUNT] = 0.0
            g[FlowFloat.LONG_TERM] += g[FlowFloat.SLOPE]
            g[FlowFloat.SLOPE] *= 2.0
        elif _has_full_pipe(g, rate):
            _start_down(g)
    elif g[FlowFloat.MODE_TIME] >= PROBE_RTT_S * second + rtt:
        _start_down(g)
        _enter(g, Mode.CRUISE)
        g[FlowFloat.AGE] = 0.0
        g[FlowFloat.SHORT_TERM] = UNLIMITED


def _enter(g: Any, mode: Any) -> None:
    """Enter a state and restart its time and its count of round trips."""
    g[FlowFloat.MODE] = float(mode)
    g[FlowFloat.MODE_TIME] = 0.0
    g[FlowFloat.ROUND] = 0.0


def _start_down(g: Any) -> None:
    """Enter ProbeBW_DOWN, which starts a cycle (BBRStartProbeBW_DOWN)."""
    _enter(g, Mode.DOWN)
    g[FlowFloat.BW_BEFORE] = g[FlowFloat.BW]
    g[FlowFloat.BW] = 0.0
    g[FlowFloat.SINCE_PROBE] = 0.0


def _has_full_pipe(g: Any, rate: Any) -> Any:
    """Return whether the delivery rate has not grown by 25 % in three round trips (BBRCheckFullBWReached)."""
    if g[FlowFloat.ROUND] >= 1.0:
        g[FlowFloat.ROUND] = 0.0
        if rate >= FULL_GROWTH * g[FlowFloat.FULL_BW]:
            g[FlowFloat.FULL_BW] = rate
            g[FlowFloat.FULL_COUNT] = 0.0
        else:
            g[FlowFloat.FULL_COUNT] += 1.0
    return g[FlowFloat.FULL_COUNT] >= FULL_ROUNDS


def _is_probe_due(g: Any, full: Any, second: Any) -> Any:
    """Return whether it is time to probe the bandwidth (BBRIsTimeToProbeBW)."""
    rounds = g[FlowFloat.SINCE_PROBE] / g[FlowFloat.MIN_RTT]
    limit = min(min(full, g[FlowFloat.CWND]), MAX_ROUNDS)
    return g[FlowFloat.SINCE_PROBE] > PROBE_WAIT_S * second or rounds >= limit


def _with_headroom(g: Any) -> Any:
    """Return the long-term bound between probes (BBRInflightWithHeadroom) [packet]."""
    return max(g[FlowFloat.LONG_TERM] * HEADROOM, LEAST)


def _set_window(g: Any, full: Any, acked: Any, rounds: Any) -> None:
    """Set the window to what the pacing rate of the state keeps in flight, within the bounds."""
    mode, cwnd = g[FlowFloat.MODE], g[FlowFloat.CWND]
    if mode == Mode.STARTUP:
        g[FlowFloat.CWND] = min(cwnd + acked, max(full * CWND_GAIN + BURSTS, cwnd))
        return
    bound = g[FlowFloat.LONG_TERM]
    found = full * MARGIN + 1.0
    if mode == Mode.DRAIN:
        found = max(cwnd / 2.0, found)
    elif mode == Mode.DOWN:
        found = max(cwnd - full * rounds / DOWN_ROUNDS, found)
    elif mode == Mode.UP:
        found = min(cwnd + full * rounds / UP_ROUNDS, full * UP_CWND_GAIN)
    elif mode == Mode.PROBE_RTT:
        found = max(full / 2.0, LEAST)
    if mode == Mode.CRUISE or mode == Mode.PROBE_RTT:
        bound = _with_headroom(g)
    found = min(found, cwnd + acked)
    g[FlowFloat.CWND] = max(min(found, min(bound, g[FlowFloat.SHORT_TERM])), LEAST)


def on_losses(g: Any, hits: Any) -> None:
    """React to a round trip in which `hits` packets were lost (draft-ietf-ccwg-bbr, sections 5.5.10.2 and
    5.5.10.3).

    A bound falls to the largest amount delivered in a round trip since the previous loss. If the previous
    round trip also had losses, no round trip without losses lies between them.
    """
    mode, cwnd, lost = g[FlowFloat.MODE], g[FlowFloat.CWND], float(hits)
    full, too_many = _pipe(g), lost > cwnd * LOSS_THRESH
    if mode == Mode.STARTUP:
        if too_many and lost >= FULL_LOSS_COUNT:
            g[FlowFloat.LONG_TERM] = max(full, cwnd - lost)
            _enter(g, Mode.DRAIN)
    elif mode == Mode.UP:
        if too_many:
            g[FlowFloat.LONG_TERM] = max(cwnd - lost, min(full, cwnd) * BETA)
            _start_down(g)
    elif mode != Mode.REFILL:
        before = min(g[FlowFloat.SHORT_TERM], full)
        left = min(before, cwnd)
        if g[FlowFloat.SINCE_LOSS] < 2.0:
            left -= lost
        g[FlowFloat.SHORT_TERM] = max(left * MARGIN, before * BETA)
    g[FlowFloat.SINCE_LOSS] = 0.0


def on_timeout(g: Any) -> None:
    """React to a retransmission timeout: set the window to one packet, the short-term bound to the minimum.

    A bandwidth probe ends, and its window becomes the long-term bound.
    """
    mode = g[FlowFloat.MODE]
    if mode == Mode.UP:
        g[FlowFloat.LONG_TERM] = g[FlowFloat.CWND]
        _start_down(g)
    if mode != Mode.STARTUP and mode != Mode.REFILL:
        g[FlowFloat.SHORT_TERM] = LEAST
    g[FlowFloat.CWND] = 1.0
    g[FlowFloat.SINCE_LOSS] = 0.0
