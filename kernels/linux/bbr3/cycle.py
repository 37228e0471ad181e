"""Probing for bandwidth: down, cruise, refill, up; and what losses while probing do.

Source: draft-ietf-ccwg-bbr, 5.3.3 and 5.5.10.  The clock of a cycle shows when packets were delivered last.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.linux import rate
from netcarlo.kernels.linux.bbr.words import UNIT
from netcarlo.kernels.linux.bbr3 import model
from netcarlo.kernels.linux.bbr3.words import BETA, LOSSES, UNBOUNDED, Acks, State, Word
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import NONE, Tcp, in_flight
from netcarlo.kernels.linux.state import State as Recovery

LEAST_WAIT, MORE_WAIT = 2_000_000, 1_000_000  # [us]
RENO_ROUNDS = 63


def is_probe_bw(s: Any) -> Any:
    """Whether it is in one of the four states."""
    return State.DOWN <= s[Word.STATE] <= State.UP


@noinline
def down(p: Any, s: Any) -> None:
    """Drain what was too much."""
    model.reset_congestion_signals(s)
    s[Word.PROBE_UP_ACKED_PER_INC] = UNBOUNDED
    word, more, _, _ = draw(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], s[Word.STREAM], s[Word.DRAWS])
    s[Word.DRAWS] += 1
    s[Word.ROUNDS_SINCE_PROBE] = np.int64(word) >> 31
    s[Word.BW_PROBE_WAIT] = LEAST_WAIT + (np.int64(more) * MORE_WAIT >> 32)
    s[Word.CYCLE_STAMP] = s[Rate.DELIVERED_AT]
    s[Word.ACK_PHASE] = Acks.PROBE_STOPPING
    model.start_round(s)
    s[Word.STATE] = State.DOWN


@noinline
def refill(s: Any) -> None:
    """Fill the pipe before it is probed."""
    model.reset_short_term(s)
    s[Word.PROBE_UP_ROUNDS] = s[Word.PROBE_UP_ACKED] = s[Word.PROBE_PRECAUTIONARY] = 0
    s[Word.ACK_PHASE] = Acks.REFILLING
    model.start_round(s)
    s[Word.STATE] = State.REFILL


@noinline
def _up(s: Any) -> None:
    s[Word.ACK_PHASE] = Acks.PROBE_STARTING
    model.start_round(s)
    model.reset_full_bw(s)
    s[Word.FULL_BW] = model.delivery_rate(s)
    s[Word.STATE] = State.UP
    _raise_slope(s)


def _raise_slope(s: Any) -> None:
    growth = np.int64(1) << s[Word.PROBE_UP_ROUNDS]
    s[Word.PROBE_UP_ROUNDS] = min(s[Word.PROBE_UP_ROUNDS] + 1, 30)
    s[Word.PROBE_UP_ACKED_PER_INC] = max(s[Tcp.CWND] // growth, 1)


def update(p: Any, s: Any, acked: Any) -> None:
    """The next state, if it is time."""
    if s[Word.FULL_BW_REACHED] == 0 or _adapt_long_term(p, s, acked) or not is_probe_bw(s):
        return
    state = s[Word.STATE]
    if state == State.DOWN or state == State.CRUISE:
        if _is_time_to_probe(s):
            refill(s)
        elif state == State.DOWN and _is_time_to_cruise(p, s):
            s[Word.STATE] = State.CRUISE
    elif state == State.REFILL:
        if s[Word.ROUND_START] != 0:
            s[Word.IS_PROBE_SAMPLE] = 1
            _up(s)
    elif _is_time_to_go_down(s):
        s[Word.PROBE_TOO_HIGH] = 0
        down(p, s)


def _is_time_to_probe(s: Any) -> Any:
    waited = s[Rate.DELIVERED_AT] > s[Word.CYCLE_STAMP] + s[Word.BW_PROBE_WAIT]
    return waited or s[Word.ROUNDS_SINCE_PROBE] >= min(model.target_inflight(s), RENO_ROUNDS)


def _is_time_to_cruise(p: Any, s: Any) -> Any:
    flight = in_flight(s)
    if flight > model.with_headroom(s):
        return False
    return flight <= model.with_budget(p, s, model.product(s, model.max_bw(s), np.int64(UNIT)))


def _is_time_to_go_down(s: Any) -> Any:
    bound = s[Word.INFLIGHT_LONGTERM]
    if s[Word.PROBE_TOO_HIGH] != 0 and in_flight(s) >= bound:
        s[Word.PROBE_PRECAUTIONARY] = 1
        return True
    if s[Tcp.LIMITED] != 0 and s[Tcp.CWND] >= bound:
        model.reset_full_bw(s)
        s[Word.FULL_BW] = model.delivery_rate(s)
        return False
    return s[Word.FULL_BW_NOW] != 0


def _adapt_long_term(p: Any, s: Any, acked: Any) -> Any:
    """Follow the ACKs of a probe, raise the bound of the long term; whether the state has changed."""
    if s[Word.ACK_PHASE] == Acks.PROBE_STARTING and s[Word.ROUND_START] != 0:
        s[Word.ACK_PHASE] = Acks.PROBE_FEEDBACK
    if s[Word.ACK_PHASE] == Acks.PROBE_STOPPING and s[Word.ROUND_START] != 0:
        s[Word.IS_PROBE_SAMPLE] = 0
        s[Word.ACK_PHASE] = Acks.INIT
        if is_probe_bw(s):
            if s[Rate.IS_LIMITED] == 0 and s[Word.MAX_BW] > 0:
                s[Word.LAST_MAX_BW] = s[Word.MAX_BW]
                s[Word.MAX_BW] = 0
            if s[Word.PROBE_PRECAUTIONARY] != 0 and s[Word.PROBE_TOO_HIGH] == 0:
                refill(s)
                return True
    if s[Rate.COUNT] == NONE or model.is_too_high(s[Word.LOST], s[Word.TX_IN_FLIGHT]):
        return False
    if s[Word.INFLIGHT_LONGTERM] < UNBOUNDED:
        s[Word.INFLIGHT_LONGTERM] = max(s[Word.INFLIGHT_LONGTERM], s[Word.TX_IN_FLIGHT])
        if s[Word.STATE] == State.UP:
            _probe_upward(s, acked)
    return False


def _probe_upward(s: Any, acked: Any) -> None:
    if s[Tcp.LIMITED] == 0 or s[Tcp.CWND] < s[Word.INFLIGHT_LONGTERM]:
        return
    s[Word.PROBE_UP_ACKED] += acked
    if s[Word.PROBE_UP_ACKED] >= s[Word.PROBE_UP_ACKED_PER_INC]:
        more = s[Word.PROBE_UP_ACKED] // s[Word.PROBE_UP_ACKED_PER_INC]
        s[Word.PROBE_UP_ACKED] -= more * s[Word.PROBE_UP_ACKED_PER_INC]
        s[Word.INFLIGHT_LONGTERM] += more
    if s[Word.ROUND_START] != 0:
        _raise_slope(s)


def save_cwnd(s: Any) -> None:
    """For after a recovery, or a probe for the round trip."""
    cwnd = s[Tcp.CWND]
    if s[Tcp.STATE] >= Recovery.RECOVERY or s[Word.STATE] == State.PROBE_RTT:
        cwnd = max(cwnd, s[Word.PRIOR_CWND])
    s[Word.PRIOR_CWND] = cwnd


@noinline
def note_loss(s: Any) -> None:
    """The first loss of a round: what may be taken back is kept."""
    if s[Word.LOSS_IN_ROUND] == 0:
        s[Word.LOSS_ROUND_DELIVERED] = s[Tcp.DELIVERED]
        save_cwnd(s)
        s[Word.UNDO_STATE] = NONE
        s[Word.UNDO_BW_SHORTTERM] = s[Word.BW_SHORTTERM]
        s[Word.UNDO_INFLIGHT_SHORTTERM] = s[Word.INFLIGHT_SHORTTERM]
        s[Word.UNDO_INFLIGHT_LONGTERM] = s[Word.INFLIGHT_LONGTERM]
    s[Word.LOSS_IN_ROUND] = 1


@noinline
def lost(p: Any, s: Any, packet: Any) -> None:
    """A packet has been found lost; if it was sent while probing, too much may have been in flight."""
    note_loss(s)
    if s[Word.IS_PROBE_SAMPLE] == 0:
        return
    flight, losses = rate.around(p, s, packet)
    if not model.is_too_high(losses, flight):
        return
    before, lost_before = flight - 1, losses - 1
    prefix = max(LOSSES * before - 100 * lost_before, 0) // (100 - LOSSES)
    s[Word.PROBE_TOO_HIGH] = 1
    s[Word.IS_PROBE_SAMPLE] = 0
    if not rate.was_limited(p, s, packet):
        s[Word.INFLIGHT_LONGTERM] = max(before + prefix, model.target_inflight(s) * BETA // 100)
    if s[Word.STATE] == State.UP:
        s[Word.UNDO_STATE] = State.UP
        down(p, s)
