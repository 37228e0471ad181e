"""What BBR is about: filling the pipe, draining it, probing for bandwidth, probing for the round trip.

Source: draft-cardwell-iccrg-bbr-congestion-control-00, 4.3.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import MS, P
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.linux import clocks, rate
from netcarlo.kernels.linux.bbr import inflight, state
from netcarlo.kernels.linux.bbr.state import BBR_UNIT, CWND_GAIN, DRAIN_GAIN, HIGH_GAIN, Mode, State
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import NONE, CaState, Tcp, in_flight

CYCLE_LEN = 8
"""Of a cycle: 5/4 of the bandwidth, 3/4, and 1 for the rest."""
FULL_BW_THRESH = BBR_UNIT * 5 // 4
"""As long as the bandwidth grows so in a round the pipe is not full;"""
FULL_BW_CNT = 3
"""it is after so many rounds in which it has not."""
MIN_RTT_WIN = 10_000 * MS
"""A least round trip older than that [ns] is probed for"""
PROBE_RTT_TIME = 200 * MS
"""in such a time, and a round at least,"""
CWND_MIN_TARGET = 4
"""with so many packets in flight."""


def save_cwnd(s: Any) -> None:
    """The window as it is, or was before a recovery, will be restored."""
    s[State.PRIOR_CWND] = (
        s[Tcp.CWND]
        if s[State.PREV_CA_STATE] < CaState.RECOVERY and s[State.MODE] != Mode.PROBE_RTT
        else max(s[State.PRIOR_CWND], s[Tcp.CWND])
    )


def _advance_cycle_phase(s: Any) -> None:
    s[State.CYCLE_IDX] = s[State.CYCLE_IDX] + 1 & CYCLE_LEN - 1
    s[State.CYCLE_MSTAMP] = s[Rate.DELIVERED_MSTAMP]


@noinline
def reset_probe_bw_mode(p: Any, s: Any) -> None:
    """A cycle begins at any of its phases but that of 3/4."""
    word, _, _, _ = draw(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], s[State.STREAM], s[State.DRAWS])
    s[State.DRAWS] += 1
    s[State.MODE] = Mode.PROBE_BW
    s[State.CYCLE_IDX] = CYCLE_LEN - 1 - (np.int64(word) * (CYCLE_LEN - 1) >> 32)
    _advance_cycle_phase(s)


def update_cycle_phase(p: Any, s: Any, now: Any, losses: Any) -> None:
    """Go on to the next phase when it is time."""
    if s[State.MODE] != Mode.PROBE_BW:
        return
    gain = s[State.PACING_GAIN]
    over = s[Rate.DELIVERED_MSTAMP] - s[State.CYCLE_MSTAMP] > s[State.MIN_RTT_US]
    if gain > BBR_UNIT and over and losses == 0:
        over = inflight.packets_in_net_at_edt(p, s, now, s[Rate.PRIOR_IN_FLIGHT]) >= inflight.inflight_at(
            p, s, gain
        )
    elif gain < BBR_UNIT and not over:
        over = inflight.packets_in_net_at_edt(p, s, now, s[Rate.PRIOR_IN_FLIGHT]) <= inflight.inflight_at(
            p, s, BBR_UNIT
        )
    if over:
        _advance_cycle_phase(s)


def check_full_bw_reached(s: Any) -> None:
    """At the start of a round: has the bandwidth grown?"""
    if s[State.FULL_BW_REACHED] != 0 or s[State.ROUND_START] == 0 or s[Rate.IS_APP_LIMITED] != 0:
        return
    if state.max_bw(s) >= s[State.FULL_BW] * FULL_BW_THRESH >> state.BBR_SCALE:
        s[State.FULL_BW] = state.max_bw(s)
        s[State.FULL_BW_CNT] = 0
    else:
        s[State.FULL_BW_CNT] += 1
        s[State.FULL_BW_REACHED] = 1 if s[State.FULL_BW_CNT] >= FULL_BW_CNT else 0


def check_drain(p: Any, s: Any, now: Any) -> None:
    """After the start the queue is drained until as much is in flight as the path holds."""
    if s[State.MODE] == Mode.STARTUP and s[State.FULL_BW_REACHED] != 0:
        s[State.MODE] = Mode.DRAIN
        s[Tcp.SSTHRESH] = inflight.inflight_at(p, s, BBR_UNIT)
    if s[State.MODE] == Mode.DRAIN:
        flight = inflight.packets_in_net_at_edt(p, s, now, in_flight(s))
        if flight <= inflight.inflight_at(p, s, BBR_UNIT):
            reset_probe_bw_mode(p, s)


def update_min_rtt(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """A round trip [us] or NONE: the least of 10 s; when it has grown old, it is probed for."""
    jiffies = clocks.jiffies_of(p, s, now)
    old = jiffies > s[State.MIN_RTT_STAMP] + MIN_RTT_WIN // p[P.TICK]
    if rtt >= 0 and (rtt < s[State.MIN_RTT_US] or old):
        s[State.MIN_RTT_US] = rtt
        s[State.MIN_RTT_STAMP] = jiffies
    if old and s[State.IDLE_RESTART] == 0 and s[State.MODE] != Mode.PROBE_RTT:
        s[State.MODE] = Mode.PROBE_RTT
        save_cwnd(s)
        s[State.PROBE_RTT_DONE_STAMP] = NONE
    if s[State.MODE] == Mode.PROBE_RTT:
        _probe_rtt(p, s, jiffies)
    if s[Rate.DELIVERED] > 0:
        s[State.IDLE_RESTART] = 0


@noinline
def _probe_rtt(p: Any, s: Any, jiffies: Any) -> None:
    rate.mark_app_limited(s)
    if s[State.PROBE_RTT_DONE_STAMP] == NONE:
        if in_flight(s) <= CWND_MIN_TARGET:
            s[State.PROBE_RTT_DONE_STAMP] = jiffies + (PROBE_RTT_TIME + p[P.TICK] - 1) // p[P.TICK]
            s[State.PROBE_RTT_ROUND_DONE] = 0
            s[State.NEXT_ROUND_DELIVERED] = s[Tcp.DELIVERED]
        return
    if s[State.ROUND_START] != 0:
        s[State.PROBE_RTT_ROUND_DONE] = 1
    if s[State.PROBE_RTT_ROUND_DONE] != 0:
        check_probe_rtt_done(p, s, jiffies)


@noinline
def check_probe_rtt_done(p: Any, s: Any, jiffies: Any) -> None:
    """Probing for the round trip ends when its time is over."""
    if s[State.PROBE_RTT_DONE_STAMP] == NONE or jiffies <= s[State.PROBE_RTT_DONE_STAMP]:
        return
    s[State.MIN_RTT_STAMP] = jiffies
    s[Tcp.CWND] = max(s[Tcp.CWND], s[State.PRIOR_CWND])
    if s[State.FULL_BW_REACHED] != 0:
        reset_probe_bw_mode(p, s)
    else:
        s[State.MODE] = Mode.STARTUP


def update_gains(s: Any) -> None:
    """Of rate and window."""
    mode = s[State.MODE]
    pacing, window = BBR_UNIT, BBR_UNIT
    if mode == Mode.STARTUP:
        pacing, window = HIGH_GAIN, HIGH_GAIN
    elif mode == Mode.DRAIN:
        pacing, window = DRAIN_GAIN, HIGH_GAIN
    elif mode == Mode.PROBE_BW:
        window = CWND_GAIN
        if s[State.LT_USE_BW] == 0 and s[State.CYCLE_IDX] < 2:
            pacing = BBR_UNIT * 5 // 4 if s[State.CYCLE_IDX] == 0 else BBR_UNIT * 3 // 4
    s[State.PACING_GAIN] = pacing
    s[State.CWND_GAIN] = window
