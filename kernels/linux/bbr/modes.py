"""Modes of BBR: STARTUP, DRAIN, PROBE_BW and PROBE_RTT.

Source: draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3; tcp_bbr.c.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.linux import clocks, rate
from netcarlo.kernels.linux.bbr import inflight, state
from netcarlo.kernels.linux.bbr.state import BBR_UNIT, CWND_GAIN, DRAIN_GAIN, HIGH_GAIN, Mode, State
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import NONE, CaState, Tcp, in_flight

CYCLE_LEN = 8
"""Phases of a cycle: pacing gain 5/4, then 3/4, then 1 in the others (CYCLE_LEN)."""
FULL_BW_THRESH = BBR_UNIT * 5 // 4
"""Growth of the bandwidth in a round below which the pipe may be full, as a gain (bbr_full_bw_thresh)."""
FULL_BW_CNT = 3
"""Consecutive rounds without such growth after which the pipe is full (bbr_full_bw_cnt)."""
MIN_RTT_WIN = 10_000 * MS
"""Age of the minimum RTT at which PROBE_RTT begins [ns] (bbr_min_rtt_win_sec)."""
PROBE_RTT_TIME = 200 * MS
"""Minimum duration of PROBE_RTT [ns], which also lasts at least one round (bbr_probe_rtt_mode_ms)."""
CWND_MIN_TARGET = 4
"""Window in PROBE_RTT [packets] (bbr_cwnd_min_target)."""


def save_cwnd(s: Any) -> None:
    """Save the window, or the one before a recovery, to restore it later (`bbr_save_cwnd`)."""
    s[State.PRIOR_CWND] = (
        s[Tcp.CWND]
        if s[State.PREV_CA_STATE] < CaState.RECOVERY and s[State.MODE] != Mode.PROBE_RTT
        else max(s[State.PRIOR_CWND], s[Tcp.CWND])
    )


def _advance_cycle_phase(s: Any) -> None:
    """Begin the next phase of the cycle (`bbr_advance_cycle_phase`)."""
    s[State.CYCLE_IDX] = s[State.CYCLE_IDX] + 1 & CYCLE_LEN - 1
    s[State.CYCLE_MSTAMP] = s[Rate.DELIVERED_MSTAMP]


@noinline
def reset_probe_bw_mode(p: Any, s: Any) -> None:
    """Begin PROBE_BW in a random phase other than that of gain 3/4 (`bbr_reset_probe_bw_mode`)."""
    word, _, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], s[State.STREAM], s[State.DRAWS])
    s[State.DRAWS] += 1
    s[State.MODE] = Mode.PROBE_BW
    s[State.CYCLE_IDX] = CYCLE_LEN - 1 - (np.int64(word) * (CYCLE_LEN - 1) >> 32)
    _advance_cycle_phase(s)


def update_cycle_phase(p: Any, s: Any, now: Any, losses: Any) -> None:
    """Begin the next phase if it is due (`bbr_update_cycle_phase`)."""
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
    """Check at the start of a round whether the bandwidth has stopped growing
    (`bbr_check_full_bw_reached`)."""
    if s[State.FULL_BW_REACHED] != 0 or s[State.ROUND_START] == 0 or s[Rate.IS_APP_LIMITED] != 0:
        return
    if state.max_bw(s) >= s[State.FULL_BW] * FULL_BW_THRESH >> state.BBR_SCALE:
        s[State.FULL_BW] = state.max_bw(s)
        s[State.FULL_BW_CNT] = 0
    else:
        s[State.FULL_BW_CNT] += 1
        s[State.FULL_BW_REACHED] = 1 if s[State.FULL_BW_CNT] >= FULL_BW_CNT else 0


def check_drain(p: Any, s: Any, now: Any) -> None:
    """Begin DRAIN after STARTUP, and end it when no more packets are in flight than the path holds
    (`bbr_check_drain`)."""
    if s[State.MODE] == Mode.STARTUP and s[State.FULL_BW_REACHED] != 0:
        s[State.MODE] = Mode.DRAIN
        s[Tcp.SSTHRESH] = inflight.inflight_at(p, s, BBR_UNIT)
    if s[State.MODE] == Mode.DRAIN:
        flight = inflight.packets_in_net_at_edt(p, s, now, in_flight(s))
        if flight <= inflight.inflight_at(p, s, BBR_UNIT):
            reset_probe_bw_mode(p, s)


def update_min_rtt(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """Update the minimum RTT of 10 s with a sample [us] or NONE, and begin PROBE_RTT when it expires
    (`bbr_update_min_rtt`)."""
    jiffies = clocks.jiffies_of(p, s, now)
    old = jiffies > s[State.MIN_RTT_STAMP] + MIN_RTT_WIN // p[TcpP.TICK]
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
    """Process an ACK in PROBE_RTT, which ends after 200 ms and one round with few packets in flight."""
    rate.mark_app_limited(s)
    if s[State.PROBE_RTT_DONE_STAMP] == NONE:
        if in_flight(s) <= CWND_MIN_TARGET:
            s[State.PROBE_RTT_DONE_STAMP] = jiffies + (PROBE_RTT_TIME + p[TcpP.TICK] - 1) // p[TcpP.TICK]
            s[State.PROBE_RTT_ROUND_DONE] = 0
            s[State.NEXT_ROUND_DELIVERED] = s[Tcp.DELIVERED]
        return
    if s[State.ROUND_START] != 0:
        s[State.PROBE_RTT_ROUND_DONE] = 1
    if s[State.PROBE_RTT_ROUND_DONE] != 0:
        check_probe_rtt_done(p, s, jiffies)


@noinline
def check_probe_rtt_done(p: Any, s: Any, jiffies: Any) -> None:
    """End PROBE_RTT if its time is over (`bbr_check_probe_rtt_done`)."""
    if s[State.PROBE_RTT_DONE_STAMP] == NONE or jiffies <= s[State.PROBE_RTT_DONE_STAMP]:
        return
    s[State.MIN_RTT_STAMP] = jiffies
    s[Tcp.CWND] = max(s[Tcp.CWND], s[State.PRIOR_CWND])
    if s[State.FULL_BW_REACHED] != 0:
        reset_probe_bw_mode(p, s)
    else:
        s[State.MODE] = Mode.STARTUP


def update_gains(s: Any) -> None:
    """Set the gains of pacing rate and window for the mode (`bbr_update_gains`)."""
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
