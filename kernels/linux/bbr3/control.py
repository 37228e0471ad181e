"""BBR v3 as a control of the sender: at every ACK it sets the rate and the window.

Source: draft-ietf-ccwg-bbr, 5.2, 5.3.1, 5.3.2, 5.6.  What a control has that paces: see `bbr.control`; this
one has `lost`, too, which hears of each packet found lost.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, STREAM_CYCLE, P
from netcarlo.kernels.linux import clocks, rate
from netcarlo.kernels.linux.bbr.control import STREAMS, WITHOUT_RTT
from netcarlo.kernels.linux.bbr.words import BANDWIDTH_BITS, UNIT, rate_of
from netcarlo.kernels.linux.bbr3 import cycle, model, trip
from netcarlo.kernels.linux.bbr3.cycle import lost
from netcarlo.kernels.linux.bbr3.words import EXTRA_ACKED, UNBOUNDED, State, Word
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import INFINITE, NONE, Tcp, in_flight
from netcarlo.kernels.linux.state import State as Recovery

__all__ = ["lost"]

STARTUP_GAIN, DRAIN_GAIN, DOWN_GAIN, UP_GAIN = 709, 128, 230, 320  # 2.77, 0.5, 0.9, 1.25
CWND_GAIN, UP_CWND_GAIN = 512, 576  # 2, 2.25
LOSS_EVENTS = 6  # of a round that end startup
DRAIN_ROUNDS = 3
FIRST = 10


def prepare(s: Any) -> None:
    """Before the start."""
    s[Pacing.TIMER] = FOREVER
    s[Word.STREAM] = STREAM_CYCLE + STREAMS * s[Tcp.FLOW]


@noinline
def connect(p: Any, s: Any, now: Any) -> None:
    """The handshake is over: the model is empty."""
    now_us = clocks.us_of(now)
    rate.prepare(s)
    known = s[Tcp.LEAST_RTT] < INFINITE
    s[Word.MIN_RTT] = s[Word.PROBE_RTT_MIN] = s[Tcp.LEAST_RTT] if known else UNBOUNDED
    s[Word.MIN_RTT_STAMP] = s[Word.PROBE_RTT_MIN_STAMP] = s[Word.EXTRA_START] = now_us
    s[Word.INFLIGHT_LONGTERM] = s[Word.PROBE_UP_ACKED_PER_INC] = UNBOUNDED
    s[Word.UNDO_STATE] = NONE
    model.reset_short_term(s)
    _begin_pacing(p, s, s[Tcp.CWND])


def _begin_pacing(p: Any, s: Any, initial: Any) -> None:
    """Set the pacing rate that sends the initial window [packets] in a round trip (BBRInitPacingRate)."""
    rtt = np.int64(WITHOUT_RTT)
    if s[Tcp.SRTT] > 0:
        rtt = max(s[Tcp.SRTT] >> np.int64(3), np.int64(1))
        s[Word.SEEN_RTT] = 1
    s[Pacing.RATE] = rate_of(p, (initial << BANDWIDTH_BITS) // rtt, STARTUP_GAIN)


def take(p: Any, s: Any, now: Any, acked: Any, losses: Any, rtt: Any) -> None:
    """An ACK that told of so many packets delivered and lost, with a round trip [us] or NONE."""
    now_us = clocks.us_of(now)
    s[Word.TX_IN_FLIGHT] = s[Word.LOST] = 0
    if s[Rate.COUNT] != NONE:
        s[Word.TX_IN_FLIGHT], s[Word.LOST] = rate.around(p, s, s[Rate.PACKET])
    model.update_latest_delivery_signals(s)
    model.update_congestion_signals(s)
    model.update_ack_aggregation(s, now_us, acked)
    model.check_full_bw(s)
    _check_startup(s, losses)
    _check_drain(p, s)
    cycle.update(p, s, acked)
    trip.update(p, s, now_us, rtt)
    model.advance_latest_delivery_signals(s)
    s[Word.BW] = min(model.max_bw(s), s[Word.BW_SHORTTERM])
    _set_rate(p, s, _gain(s))
    _set_window(p, s, acked)


def _check_startup(s: Any, losses: Any) -> None:
    """Startup is over when the pipe is full, or when too much is lost for a round of a recovery."""
    if s[Word.FULL_BW_REACHED] == 0:
        if losses > 0:
            s[Word.LOSS_EVENTS] += 1
        if s[Word.LOSS_ROUND_START] != 0:
            in_recovery = s[Tcp.STATE] == Recovery.RECOVERY and s[Rate.PRIOR] >= s[Word.RECOVERY_DELIVERED]
            too_high = model.is_too_high(s[Word.LOST], s[Word.TX_IN_FLIGHT])
            if in_recovery and too_high and s[Word.LOSS_EVENTS] >= LOSS_EVENTS:
                s[Word.UNDO_STATE] = State.STARTUP
                s[Word.FULL_BW_REACHED] = 1
                bdp = model.product(s, s[Word.BW], np.int64(UNIT))
                s[Word.INFLIGHT_LONGTERM] = max(bdp, s[Word.INFLIGHT_LATEST])
            s[Word.LOSS_EVENTS] = 0
    if s[Word.STATE] == State.STARTUP and s[Word.FULL_BW_REACHED] != 0:
        s[Word.STATE] = State.DRAIN
        s[Word.DRAIN_START_ROUND] = s[Word.ROUND_COUNT]


def _check_drain(p: Any, s: Any) -> None:
    if s[Word.STATE] == State.DRAIN:
        bound = model.with_budget(p, s, model.product(s, s[Word.BW], np.int64(UNIT)))
        if in_flight(s) <= bound or s[Word.ROUND_COUNT] > s[Word.DRAIN_START_ROUND] + DRAIN_ROUNDS:
            cycle.down(p, s)


def _gain(s: Any) -> Any:
    state = s[Word.STATE]
    if state == State.STARTUP:
        return np.int64(STARTUP_GAIN)
    if state == State.DRAIN:
        return np.int64(DRAIN_GAIN)
    if state == State.DOWN:
        return np.int64(DOWN_GAIN)
    return np.int64(UP_GAIN if state == State.UP else UNIT)


def _set_rate(p: Any, s: Any, gain: Any) -> None:
    found = rate_of(p, s[Word.BW], gain)
    if s[Word.SEEN_RTT] == 0 and s[Tcp.SRTT] > 0:
        _begin_pacing(p, s, p[P.INITIAL_WINDOW])
    if s[Word.FULL_BW_REACHED] != 0 or found > s[Pacing.RATE]:
        s[Pacing.RATE] = found


def _set_window(p: Any, s: Any, acked: Any) -> None:
    state, before = s[Tcp.STATE], s[Word.PRIOR_STATE]
    s[Word.PRIOR_STATE] = state
    cwnd = s[Tcp.CWND]
    if before >= Recovery.RECOVERY > state:
        cwnd = max(cwnd, s[Word.PRIOR_CWND])
    own = s[Word.STATE]
    gain = np.int64(UP_CWND_GAIN if own == State.UP else CWND_GAIN)
    if own == State.PROBE_RTT:
        gain = np.int64(UNIT // 2)
    most = model.with_budget(p, s, model.product(s, s[Word.BW], gain) + s[EXTRA_ACKED])
    if s[Word.FULL_BW_REACHED] != 0:
        cwnd = min(cwnd + acked, most)
    elif cwnd < most or s[Tcp.DELIVERED] < FIRST:
        cwnd += acked
    cwnd = max(cwnd, model.MIN_PIPE_CWND)
    if own == State.PROBE_RTT:
        cwnd = min(cwnd, trip.cwnd(s))
    bound = np.int64(UNBOUNDED)
    if own == State.PROBE_RTT or own == State.CRUISE:
        bound = model.with_headroom(s)
    elif cycle.is_probe_bw(s):
        bound = s[Word.INFLIGHT_LONGTERM]
    s[Tcp.CWND] = min(cwnd, max(min(bound, s[Word.INFLIGHT_SHORTTERM]), model.MIN_PIPE_CWND))


@noinline
def ssthresh(s: Any) -> Any:
    """A recovery begins, or the timer has gone off; the threshold plays no part."""
    cycle.save_cwnd(s)
    cycle.note_loss(s)
    s[Word.RECOVERY_DELIVERED] = s[Tcp.DELIVERED]
    return s[Tcp.SSTHRESH]


@noinline
def time_out(p: Any, s: Any) -> None:
    """The retransmission timer has gone off."""
    s[Word.PRIOR_STATE] = Recovery.LOSS


@noinline
def undo(s: Any) -> None:
    """There was no loss."""
    s[Tcp.CWND] = max(s[Tcp.CWND], s[Word.PRIOR_CWND])
    s[Word.LOSS_IN_ROUND] = 0
    model.reset_full_bw(s)
    for now, then in (
        (Word.BW_SHORTTERM, Word.UNDO_BW_SHORTTERM),
        (Word.INFLIGHT_SHORTTERM, Word.UNDO_INFLIGHT_SHORTTERM),
        (Word.INFLIGHT_LONGTERM, Word.UNDO_INFLIGHT_LONGTERM),
    ):
        s[now] = max(s[now], s[then])
    if s[Word.UNDO_STATE] == State.STARTUP and s[Word.STATE] != State.STARTUP:
        s[Word.FULL_BW_REACHED] = 0
        if s[Word.STATE] != State.PROBE_RTT:
            s[Word.STATE] = State.STARTUP
    elif s[Word.UNDO_STATE] == State.UP and s[Word.STATE] != State.UP and s[Word.STATE] != State.PROBE_RTT:
        cycle.refill(s)
    s[Word.UNDO_STATE] = NONE


@noinline
def restart(p: Any, s: Any, now: Any) -> None:
    """Packets leave where there were none and the application had been the limit."""
    s[Word.IDLE_RESTART] = 1
    s[Word.EXTRA_START] = clocks.us_of(now)
    if cycle.is_probe_bw(s):
        _set_rate(p, s, np.int64(UNIT))
    elif s[Word.STATE] == State.PROBE_RTT:
        trip.check_done(p, s, clocks.us_of(now))


def every(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """It does not grow by counting."""
    return s[Tcp.CWND]


def measured(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """See `take`."""
