"""PROBE_BW: the states DOWN, CRUISE, REFILL and UP, and the reaction to losses while probing.

Source: draft-ietf-ccwg-bbr, sections 5.3.3 and 5.5.10. The clock of a cycle is the time of the latest
delivery.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.linux import rate
from netcarlo.kernels.linux.bbr.state import BBR_UNIT
from netcarlo.kernels.linux.bbr3 import model
from netcarlo.kernels.linux.bbr3.state import BETA, LOSS_THRESH, UNBOUNDED, AckPhase, Mode, State
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import NONE, CaState, Tcp, in_flight

MIN_PROBE_WAIT, PROBE_WAIT_JITTER = 2_000_000, 1_000_000
"""Minimum time between probes of the bandwidth, and the range of a random addition [us] (BBRPickProbeWait).
"""
MAX_RENO_ROUNDS = 63
"""Rounds after which bandwidth is probed at the latest, to coexist with Reno (BBRIsRenoCoexistenceProbeTime).
"""


def is_probe_bw(s: Any) -> Any:
    """Return True in one of the four states of PROBE_BW (BBRIsInAProbeBWState)."""
    return Mode.PROBE_BW_DOWN <= s[State.MODE] <= Mode.PROBE_BW_UP


@noinline
def start_down(p: Any, s: Any) -> None:
    """Begin the state DOWN, which drains the queue (BBRStartProbeBW_DOWN)."""
    model.reset_congestion_signals(s)
    s[State.PROBE_UP_ACKED_PER_INC] = UNBOUNDED
    word, more, _, _ = draw(
        p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], s[State.STREAM], s[State.DRAWS]
    )
    s[State.DRAWS] += 1
    s[State.ROUNDS_SINCE_PROBE] = np.int64(word) >> 31
    s[State.BW_PROBE_WAIT] = MIN_PROBE_WAIT + (np.int64(more) * PROBE_WAIT_JITTER >> 32)
    s[State.CYCLE_STAMP] = s[Rate.DELIVERED_MSTAMP]
    s[State.ACK_PHASE] = AckPhase.PROBE_STOPPING
    model.start_round(s)
    s[State.MODE] = Mode.PROBE_BW_DOWN


@noinline
def start_refill(s: Any) -> None:
    """Begin the state REFILL, which fills the pipe before it is probed (BBRStartProbeBW_REFILL)."""
    model.reset_short_term_model(s)
    s[State.PROBE_UP_ROUNDS] = s[State.PROBE_UP_ACKED] = s[State.PROBE_PRECAUTIONARY] = 0
    s[State.ACK_PHASE] = AckPhase.REFILLING
    model.start_round(s)
    s[State.MODE] = Mode.PROBE_BW_REFILL


@noinline
def _start_up(s: Any) -> None:
    """Begin the state UP (BBRStartProbeBW_UP)."""
    s[State.ACK_PHASE] = AckPhase.PROBE_STARTING
    model.start_round(s)
    model.reset_full_bw(s)
    s[State.FULL_BW] = model.delivery_rate(s)
    s[State.MODE] = Mode.PROBE_BW_UP
    _raise_inflight_longterm_slope(s)


def _raise_inflight_longterm_slope(s: Any) -> None:
    """Double the growth per round of INFLIGHT_LONGTERM (BBRRaiseInflightLongtermSlope)."""
    growth = np.int64(1) << s[State.PROBE_UP_ROUNDS]
    s[State.PROBE_UP_ROUNDS] = min(s[State.PROBE_UP_ROUNDS] + 1, 30)
    s[State.PROBE_UP_ACKED_PER_INC] = max(s[Tcp.CWND] // growth, 1)


def update_cycle_phase(p: Any, s: Any, acked: Any) -> None:
    """Enter the next state of the cycle if it is time (BBRUpdateProbeBWCyclePhase)."""
    if s[State.FULL_BW_REACHED] == 0 or _adapt_longterm_model(p, s, acked) or not is_probe_bw(s):
        return
    state = s[State.MODE]
    if state == Mode.PROBE_BW_DOWN or state == Mode.PROBE_BW_CRUISE:
        if _is_time_to_probe(s):
            start_refill(s)
        elif state == Mode.PROBE_BW_DOWN and _is_time_to_cruise(p, s):
            s[State.MODE] = Mode.PROBE_BW_CRUISE
    elif state == Mode.PROBE_BW_REFILL:
        if s[State.ROUND_START] != 0:
            s[State.IS_PROBE_SAMPLE] = 1
            _start_up(s)
    elif _is_time_to_go_down(s):
        s[State.PROBE_TOO_HIGH] = 0
        start_down(p, s)


def _is_time_to_probe(s: Any) -> Any:
    """Return True if bandwidth is to be probed again (BBRIsTimeToProbeBW)."""
    waited = s[Rate.DELIVERED_MSTAMP] > s[State.CYCLE_STAMP] + s[State.BW_PROBE_WAIT]
    return waited or s[State.ROUNDS_SINCE_PROBE] >= min(model.target_inflight(s), MAX_RENO_ROUNDS)


def _is_time_to_cruise(p: Any, s: Any) -> Any:
    """Return True if the queue has been drained (BBRIsTimeToCruise)."""
    flight = in_flight(s)
    if flight > model.inflight_with_headroom(s):
        return False
    return flight <= model.quantization_budget(p, s, model.bdp(s, model.max_bw(s), np.int64(BBR_UNIT)))


def _is_time_to_go_down(s: Any) -> Any:
    """Return True if probing has reached the bandwidth or the long-term bound (BBRIsTimeToGoDown)."""
    bound = s[State.INFLIGHT_LONGTERM]
    if s[State.PROBE_TOO_HIGH] != 0 and in_flight(s) >= bound:
        s[State.PROBE_PRECAUTIONARY] = 1
        return True
    if s[Tcp.IS_CWND_LIMITED] != 0 and s[Tcp.CWND] >= bound:
        model.reset_full_bw(s)
        s[State.FULL_BW] = model.delivery_rate(s)
        return False
    return s[State.FULL_BW_NOW] != 0


def _adapt_longterm_model(p: Any, s: Any, acked: Any) -> Any:
    """Follow the ACKs of a probe, raise the long-term bound, and return True if the state has changed
    (BBRAdaptLongTermModel)."""
    if s[State.ACK_PHASE] == AckPhase.PROBE_STARTING and s[State.ROUND_START] != 0:
        s[State.ACK_PHASE] = AckPhase.PROBE_FEEDBACK
    if s[State.ACK_PHASE] == AckPhase.PROBE_STOPPING and s[State.ROUND_START] != 0:
        s[State.IS_PROBE_SAMPLE] = 0
        s[State.ACK_PHASE] = AckPhase.INIT
        if is_probe_bw(s):
            if s[Rate.IS_APP_LIMITED] == 0 and s[State.MAX_BW] > 0:
                s[State.LAST_MAX_BW] = s[State.MAX_BW]
                s[State.MAX_BW] = 0
            if s[State.PROBE_PRECAUTIONARY] != 0 and s[State.PROBE_TOO_HIGH] == 0:
                start_refill(s)
                return True
    if s[Rate.DELIVERED] == NONE or model.is_inflight_too_high(s[State.LOST], s[State.TX_IN_FLIGHT]):
        return False
    if s[State.INFLIGHT_LONGTERM] < UNBOUNDED:
        s[State.INFLIGHT_LONGTERM] = max(s[State.INFLIGHT_LONGTERM], s[State.TX_IN_FLIGHT])
        if s[State.MODE] == Mode.PROBE_BW_UP:
            _probe_inflight_longterm_upward(s, acked)
    return False


def _probe_inflight_longterm_upward(s: Any, acked: Any) -> None:
    """Raise INFLIGHT_LONGTERM if it limits the sender (BBRProbeInflightLongtermUpward)."""
    if s[Tcp.IS_CWND_LIMITED] == 0 or s[Tcp.CWND] < s[State.INFLIGHT_LONGTERM]:
        return
    s[State.PROBE_UP_ACKED] += acked
    if s[State.PROBE_UP_ACKED] >= s[State.PROBE_UP_ACKED_PER_INC]:
        more = s[State.PROBE_UP_ACKED] // s[State.PROBE_UP_ACKED_PER_INC]
        s[State.PROBE_UP_ACKED] -= more * s[State.PROBE_UP_ACKED_PER_INC]
        s[State.INFLIGHT_LONGTERM] += more
    if s[State.ROUND_START] != 0:
        _raise_inflight_longterm_slope(s)


def save_cwnd(s: Any) -> None:
    """Save the window to restore it after a recovery or PROBE_RTT (BBRSaveCwnd)."""
    cwnd = s[Tcp.CWND]
    if s[Tcp.CA_STATE] >= CaState.RECOVERY or s[State.MODE] == Mode.PROBE_RTT:
        cwnd = max(cwnd, s[State.PRIOR_CWND])
    s[State.PRIOR_CWND] = cwnd


@noinline
def note_loss(s: Any) -> None:
    """Note a loss; at the first one of a round, save the state that an undo restores (BBRNoteLoss)."""
    if s[State.LOSS_IN_ROUND] == 0:
        s[State.LOSS_ROUND_DELIVERED] = s[Tcp.DELIVERED]
        save_cwnd(s)
        s[State.UNDO_STATE] = NONE
        s[State.UNDO_BW_SHORTTERM] = s[State.BW_SHORTTERM]
        s[State.UNDO_INFLIGHT_SHORTTERM] = s[State.INFLIGHT_SHORTTERM]
        s[State.UNDO_INFLIGHT_LONGTERM] = s[State.INFLIGHT_LONGTERM]
    s[State.LOSS_IN_ROUND] = 1


@noinline
def on_loss(p: Any, s: Any, packet: Any) -> None:
    """Process a packet that is found lost: if it was sent while probing, too many may have been in flight
    (BBRHandleLostPacket)."""
    note_loss(s)
    if s[State.IS_PROBE_SAMPLE] == 0:
        return
    flight, losses = rate.tx_in_flight_and_lost(p, s, packet)
    if not model.is_inflight_too_high(losses, flight):
        return
    before, lost_before = flight - 1, losses - 1
    prefix = max(LOSS_THRESH * before - 100 * lost_before, 0) // (100 - LOSS_THRESH)
    s[State.PROBE_TOO_HIGH] = 1
    s[State.IS_PROBE_SAMPLE] = 0
    if not rate.was_app_limited(p, s, packet):
        s[State.INFLIGHT_LONGTERM] = max(before + prefix, model.target_inflight(s) * BETA // 100)
    if s[State.MODE] == Mode.PROBE_BW_UP:
        s[State.UNDO_STATE] = Mode.PROBE_BW_UP
        start_down(p, s)
