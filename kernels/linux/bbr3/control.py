"""BBR v3 as a control of the sender: at every ACK it sets the rate and the window.

Source: draft-ietf-ccwg-bbr, 5.2, 5.3.1, 5.3.2, 5.6.  The functions are those of `bbr.control`, and
`on_loss`, which is called for each packet that is marked lost.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, STREAM_CYCLE
from netcarlo.kernels.base.parameters import TcpP
from netcarlo.kernels.linux import clocks, rate
from netcarlo.kernels.linux.bbr.control import DEFAULT_RTT_US, STREAMS
from netcarlo.kernels.linux.bbr.state import BBR_UNIT, BW_SCALE, bw_to_pacing_rate
from netcarlo.kernels.linux.bbr3 import model, probe_bw, probe_rtt
from netcarlo.kernels.linux.bbr3.probe_bw import on_loss
from netcarlo.kernels.linux.bbr3.state import EXTRA_ACKED, UNBOUNDED, Mode, State
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import INFINITE, NONE, CaState, Tcp, in_flight

__all__ = ["on_loss"]

STARTUP_GAIN, DRAIN_GAIN, DOWN_GAIN, UP_GAIN = 709, 128, 230, 320
"""Pacing gains of STARTUP (2.77), DRAIN (0.5), DOWN (0.9) and UP (1.25)."""
CWND_GAIN, UP_CWND_GAIN = 512, 576
"""Window gains in general (2) and in UP (2.25)."""
FULL_LOSS_COUNT = 6
"""ACKs with losses in a round that end STARTUP (BBR.StartupFullLossCnt)."""
MAX_DRAIN_ROUNDS = 3
"""Rounds after which DRAIN ends."""
INITIAL_DELIVERED = 10
"""Packets delivered up to which the window grows regardless of its target."""


def prepare(s: Any) -> None:
    """Stop the pacing timer, and choose the random stream, before the start."""
    s[Pacing.TIMER] = FOREVER
    s[State.STREAM] = STREAM_CYCLE + STREAMS * s[Tcp.FLOW]


@noinline
def init(p: Any, s: Any, now: Any) -> None:
    """Initialise the model when the handshake ends (BBROnInit)."""
    now_us = clocks.us_of(now)
    rate.prepare(s)
    known = s[Tcp.MIN_RTT_US] < INFINITE
    s[State.MIN_RTT] = s[State.PROBE_RTT_MIN] = s[Tcp.MIN_RTT_US] if known else UNBOUNDED
    s[State.MIN_RTT_STAMP] = s[State.PROBE_RTT_MIN_STAMP] = s[State.EXTRA_ACKED_INTERVAL_START] = now_us
    s[State.INFLIGHT_LONGTERM] = s[State.PROBE_UP_ACKED_PER_INC] = UNBOUNDED
    s[State.UNDO_STATE] = NONE
    model.reset_short_term_model(s)
    _init_pacing_rate(p, s, s[Tcp.CWND])


def _init_pacing_rate(p: Any, s: Any, initial: Any) -> None:
    """Set the pacing rate that sends the initial window [packets] in a round trip (BBRInitPacingRate)."""
    rtt = np.int64(DEFAULT_RTT_US)
    if s[Tcp.SRTT_US] > 0:
        rtt = max(s[Tcp.SRTT_US] >> np.int64(3), np.int64(1))
        s[State.HAS_SEEN_RTT] = 1
    s[Pacing.RATE] = bw_to_pacing_rate(p, (initial << BW_SCALE) // rtt, STARTUP_GAIN)


def cong_control(p: Any, s: Any, now: Any, acked: Any, losses: Any, rtt: Any) -> None:
    """Process an ACK with its packets delivered and lost, and its RTT [us] or NONE (BBRUpdateOnACK)."""
    now_us = clocks.us_of(now)
    s[State.TX_IN_FLIGHT] = s[State.LOST] = 0
    if s[Rate.DELIVERED] != NONE:
        s[State.TX_IN_FLIGHT], s[State.LOST] = rate.tx_in_flight_and_lost(p, s, s[Rate.LAST_PACKET])
    model.update_latest_delivery_signals(s)
    model.update_congestion_signals(s)
    model.update_ack_aggregation(s, now_us, acked)
    model.check_full_bw_reached(s)
    _check_startup_done(s, losses)
    _check_drain(p, s)
    probe_bw.update_cycle_phase(p, s, acked)
    probe_rtt.update_min_rtt(p, s, now_us, rtt)
    model.advance_latest_delivery_signals(s)
    s[State.BW] = min(model.max_bw(s), s[State.BW_SHORTTERM])
    _set_pacing_rate(p, s, _pacing_gain(s))
    _set_cwnd(p, s, acked)


def _check_startup_done(s: Any, losses: Any) -> None:
    """End STARTUP when the pipe is full, or after a round of recovery with too many losses
    (BBRCheckStartupDone)."""
    if s[State.FULL_BW_REACHED] == 0:
        if losses > 0:
            s[State.LOSS_EVENTS_IN_ROUND] += 1
        if s[State.LOSS_ROUND_START] != 0:
            in_recovery = (
                s[Tcp.CA_STATE] == CaState.RECOVERY and s[Rate.PRIOR_DELIVERED] >= s[State.RECOVERY_DELIVERED]
            )
            too_high = model.is_inflight_too_high(s[State.LOST], s[State.TX_IN_FLIGHT])
            if in_recovery and too_high and s[State.LOSS_EVENTS_IN_ROUND] >= FULL_LOSS_COUNT:
                s[State.UNDO_STATE] = Mode.STARTUP
                s[State.FULL_BW_REACHED] = 1
                bdp = model.bdp(s, s[State.BW], np.int64(BBR_UNIT))
                s[State.INFLIGHT_LONGTERM] = max(bdp, s[State.INFLIGHT_LATEST])
            s[State.LOSS_EVENTS_IN_ROUND] = 0
    if s[State.MODE] == Mode.STARTUP and s[State.FULL_BW_REACHED] != 0:
        s[State.MODE] = Mode.DRAIN
        s[State.DRAIN_START_ROUND] = s[State.ROUND_COUNT]


def _check_drain(p: Any, s: Any) -> None:
    """End DRAIN when no more packets are in flight than the path holds, or after MAX_DRAIN_ROUNDS
    (BBRCheckDrainDone)."""
    if s[State.MODE] == Mode.DRAIN:
        bound = model.quantization_budget(p, s, model.bdp(s, s[State.BW], np.int64(BBR_UNIT)))
        if in_flight(s) <= bound or s[State.ROUND_COUNT] > s[State.DRAIN_START_ROUND] + MAX_DRAIN_ROUNDS:
            probe_bw.start_down(p, s)


def _pacing_gain(s: Any) -> Any:
    """Return the pacing gain of the state."""
    state = s[State.MODE]
    if state == Mode.STARTUP:
        return np.int64(STARTUP_GAIN)
    if state == Mode.DRAIN:
        return np.int64(DRAIN_GAIN)
    if state == Mode.PROBE_BW_DOWN:
        return np.int64(DOWN_GAIN)
    return np.int64(UP_GAIN if state == Mode.PROBE_BW_UP else BBR_UNIT)


def _set_pacing_rate(p: Any, s: Any, gain: Any) -> None:
    """Set the pacing rate; it does not decrease before the pipe is full (BBRSetPacingRateWithGain)."""
    found = bw_to_pacing_rate(p, s[State.BW], gain)
    if s[State.HAS_SEEN_RTT] == 0 and s[Tcp.SRTT_US] > 0:
        _init_pacing_rate(p, s, p[TcpP.INITIAL_WINDOW])
    if s[State.FULL_BW_REACHED] != 0 or found > s[Pacing.RATE]:
        s[Pacing.RATE] = found


def _set_cwnd(p: Any, s: Any, acked: Any) -> None:
    """Set the window (BBRSetCwnd, BBRBoundCwndForModel)."""
    state, before = s[Tcp.CA_STATE], s[State.PREV_CA_STATE]
    s[State.PREV_CA_STATE] = state
    cwnd = s[Tcp.CWND]
    if before >= CaState.RECOVERY > state:
        cwnd = max(cwnd, s[State.PRIOR_CWND])
    own = s[State.MODE]
    gain = np.int64(UP_CWND_GAIN if own == Mode.PROBE_BW_UP else CWND_GAIN)
    if own == Mode.PROBE_RTT:
        gain = np.int64(BBR_UNIT // 2)
    limit = model.quantization_budget(p, s, model.bdp(s, s[State.BW], gain) + s[EXTRA_ACKED])
    if s[State.FULL_BW_REACHED] != 0:
        cwnd = min(cwnd + acked, limit)
    elif cwnd < limit or s[Tcp.DELIVERED] < INITIAL_DELIVERED:
        cwnd += acked
    cwnd = max(cwnd, model.MIN_PIPE_CWND)
    if own == Mode.PROBE_RTT:
        cwnd = min(cwnd, probe_rtt.probe_rtt_cwnd(s))
    bound = np.int64(UNBOUNDED)
    if own == Mode.PROBE_RTT or own == Mode.PROBE_BW_CRUISE:
        bound = model.inflight_with_headroom(s)
    elif probe_bw.is_probe_bw(s):
        bound = s[State.INFLIGHT_LONGTERM]
    s[Tcp.CWND] = min(cwnd, max(min(bound, s[State.INFLIGHT_SHORTTERM]), model.MIN_PIPE_CWND))


@noinline
def ssthresh(s: Any) -> Any:
    """Save the window at the beginning of a recovery or a timeout; the threshold has no effect."""
    probe_bw.save_cwnd(s)
    probe_bw.note_loss(s)
    s[State.RECOVERY_DELIVERED] = s[Tcp.DELIVERED]
    return s[Tcp.SSTHRESH]


@noinline
def on_rto(p: Any, s: Any, now: Any) -> None:
    """Note a retransmission timeout."""
    s[State.PREV_CA_STATE] = CaState.LOSS


@noinline
def undo_cwnd(s: Any) -> None:
    """Restore window, bounds and state after an unnecessary reduction (BBRHandleSpuriousLossDetection)."""
    s[Tcp.CWND] = max(s[Tcp.CWND], s[State.PRIOR_CWND])
    s[State.LOSS_IN_ROUND] = 0
    model.reset_full_bw(s)
    for now, then in (
        (State.BW_SHORTTERM, State.UNDO_BW_SHORTTERM),
        (State.INFLIGHT_SHORTTERM, State.UNDO_INFLIGHT_SHORTTERM),
        (State.INFLIGHT_LONGTERM, State.UNDO_INFLIGHT_LONGTERM),
    ):
        s[now] = max(s[now], s[then])
    if s[State.UNDO_STATE] == Mode.STARTUP and s[State.MODE] != Mode.STARTUP:
        s[State.FULL_BW_REACHED] = 0
        if s[State.MODE] != Mode.PROBE_RTT:
            s[State.MODE] = Mode.STARTUP
    elif (
        s[State.UNDO_STATE] == Mode.PROBE_BW_UP
        and s[State.MODE] != Mode.PROBE_BW_UP
        and s[State.MODE] != Mode.PROBE_RTT
    ):
        probe_bw.start_refill(s)
    s[State.UNDO_STATE] = NONE


@noinline
def on_tx_start(p: Any, s: Any, now: Any) -> None:
    """Process a restart from idle while the application limited the rate (BBRHandleRestartFromIdle)."""
    s[State.IDLE_RESTART] = 1
    s[State.EXTRA_ACKED_INTERVAL_START] = clocks.us_of(now)
    if probe_bw.is_probe_bw(s):
        _set_pacing_rate(p, s, np.int64(BBR_UNIT))
    elif s[State.MODE] == Mode.PROBE_RTT:
        probe_rtt.check_probe_rtt_done(p, s, clocks.us_of(now))


def acked_per_increase(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """Return the window; BBR does not grow it by counting ACKs."""
    return s[Tcp.CWND]


def pkts_acked(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """Do nothing: `cong_control` receives the round-trip time."""
