"""BBR as a control of the sender: at every ACK it sets the rate and the window.

Source: Cardwell et al., "BBR: congestion-based congestion control" (ACM Queue 14(5), 2016);
draft-cardwell-iccrg-bbr-congestion-control-00, 4.1 and 4.2; in the form of Linux 6, with room for packets
that are acknowledged beyond the bandwidth.

A congestion control that sets a pacing rate has further functions, beside those listed in `reno`: `init` is
called when the handshake ends, `cong_control` at every ACK instead of the functions that set the window
otherwise, `on_tx_start` when packets leave after none were in flight, and `undo_cwnd` when a reduction of the
window turns out to be unnecessary.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, STREAM_CYCLE
from netcarlo.kernels.linux import clocks, rate
from netcarlo.kernels.linux.bbr import inflight, lt_bw, modes, state, windowed_max
from netcarlo.kernels.linux.bbr.state import BBR_UNIT, BW_SCALE, HIGH_GAIN, Mode, State
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import NONE, CaState, Tcp, in_flight

BW_RTTS = 10
"""Rounds of the window of the maximum bandwidth (bbr_bw_rtts)."""
STREAMS = 512
"""Random streams reserved per flow."""
DEFAULT_RTT_US = 1000
"""RTT assumed before one is measured [us]."""
INITIAL_DELIVERED = 10
"""Packets delivered up to which the window grows regardless of its target (TCP_INIT_CWND)."""


def prepare(s: Any) -> None:
    """Stop the pacing timer, and choose the random stream, before the start."""
    s[Pacing.TIMER] = FOREVER
    s[State.STREAM] = STREAM_CYCLE + STREAMS * s[Tcp.FLOW]


@noinline
def init(p: Any, s: Any, now: Any) -> None:
    """Initialise the model when the handshake ends (`bbr_init`)."""
    rate.prepare(s)
    s[State.NEXT_ROUND_DELIVERED] = s[Tcp.DELIVERED]
    s[State.MIN_RTT_US] = s[Tcp.MIN_RTT_US]
    s[State.MIN_RTT_STAMP] = clocks.jiffies_of(p, s, now)
    s[State.PROBE_RTT_DONE_STAMP] = NONE
    lt_bw.reset_sampling(s)
    inflight.start_ack_epoch(s, clocks.us_of(now))
    modes.update_gains(s)
    _init_pacing_rate(p, s)


def _init_pacing_rate(p: Any, s: Any) -> None:
    """Set the initial pacing rate: a window per RTT, or per millisecond
    (`bbr_init_pacing_rate_from_rtt`)."""
    rtt = np.int64(DEFAULT_RTT_US)
    if s[Tcp.SRTT_US] > 0:
        rtt = max(s[Tcp.SRTT_US] >> np.int64(3), np.int64(1))
        s[State.HAS_SEEN_RTT] = 1
    s[Pacing.RATE] = state.bw_to_pacing_rate(p, (s[Tcp.CWND] << BW_SCALE) // rtt, HIGH_GAIN)


def cong_control(p: Any, s: Any, now: Any, acked: Any, losses: Any, rtt: Any) -> None:
    """Process an ACK with its packets delivered and lost, and its RTT [us] or NONE (`bbr_main`)."""
    _update_bw(p, s, losses)
    inflight.update_ack_aggregation(s, acked, s[Tcp.CWND])
    modes.update_cycle_phase(p, s, now, losses)
    modes.check_full_bw_reached(s)
    modes.check_drain(p, s, now)
    modes.update_min_rtt(p, s, now, rtt)
    modes.update_gains(s)
    _set_pacing_rate(p, s, s[State.PACING_GAIN])
    _set_cwnd(p, s, acked, losses)


def _update_bw(p: Any, s: Any, losses: Any) -> None:
    """Update the rounds and the bandwidth (`bbr_update_bw`; draft, section 4.1.1)."""
    s[State.ROUND_START] = 0
    if s[Rate.INTERVAL_US] <= 0:
        return
    if s[Rate.PRIOR_DELIVERED] >= s[State.NEXT_ROUND_DELIVERED]:
        s[State.NEXT_ROUND_DELIVERED] = s[Tcp.DELIVERED]
        s[State.ROUND_COUNT] += 1
        s[State.ROUND_START] = 1
        s[State.PACKET_CONSERVATION] = 0
    if s[State.LT_USE_BW] == 0:
        lt_bw.sampling(p, s, losses, s[Rate.IS_APP_LIMITED] != 0)
    elif s[State.MODE] == Mode.PROBE_BW and s[State.ROUND_START] != 0 and not lt_bw.keeps_using_bw(s):
        lt_bw.reset_sampling(s)
        modes.reset_probe_bw_mode(p, s)
    bandwidth = (s[Rate.DELIVERED] << BW_SCALE) // s[Rate.INTERVAL_US]
    if s[Rate.IS_APP_LIMITED] == 0 or bandwidth >= state.max_bw(s):
        windowed_max.running_max(s, np.int64(state.BW), BW_RTTS, s[State.ROUND_COUNT], bandwidth)


def _set_pacing_rate(p: Any, s: Any, gain: Any) -> None:
    """Set the pacing rate; it does not decrease before the pipe is full (`bbr_set_pacing_rate`; section
    4.2.1)."""
    found = state.bw_to_pacing_rate(p, state.bw(s), gain)
    if s[State.HAS_SEEN_RTT] == 0 and s[Tcp.SRTT_US] > 0:
        _init_pacing_rate(p, s)
    if s[State.FULL_BW_REACHED] != 0 or found > s[Pacing.RATE]:
        s[Pacing.RATE] = found


def _set_cwnd(p: Any, s: Any, acked: Any, losses: Any) -> None:
    """Set the window (`bbr_set_cwnd`; section 4.2.3)."""
    if acked > 0:
        cwnd, conserves = _recover_or_restore_cwnd(s, acked, losses)
        if not conserves:
            target = inflight.bdp(s, state.bw(s), s[State.CWND_GAIN]) + inflight.ack_aggregation_cwnd(s)
            target = inflight.quantization_budget(p, s, target)
            if s[State.FULL_BW_REACHED] != 0:
                cwnd = min(cwnd + acked, target)
            elif cwnd < target or s[Tcp.DELIVERED] < INITIAL_DELIVERED:
                cwnd += acked
            cwnd = max(cwnd, modes.CWND_MIN_TARGET)
        s[Tcp.CWND] = cwnd
    if s[State.MODE] == Mode.PROBE_RTT:
        s[Tcp.CWND] = min(s[Tcp.CWND], modes.CWND_MIN_TARGET)


def _recover_or_restore_cwnd(s: Any, acked: Any, losses: Any) -> Any:
    """Reduce the window by losses, conserve packets as a recovery begins, and restore the window as it
    ends.

    Returns the window, and True while packets are conserved (`bbr_set_cwnd_to_recover_or_restore`).
    """
    cwnd, state, before = s[Tcp.CWND], s[Tcp.CA_STATE], s[State.PREV_CA_STATE]
    if losses > 0:
        cwnd = max(cwnd - losses, 1)
    if state == CaState.RECOVERY and before != CaState.RECOVERY:
        s[State.PACKET_CONSERVATION] = 1
        s[State.NEXT_ROUND_DELIVERED] = s[Tcp.DELIVERED]
        cwnd = in_flight(s) + acked
    elif before >= CaState.RECOVERY and state < CaState.RECOVERY:
        cwnd = max(cwnd, s[State.PRIOR_CWND])
        s[State.PACKET_CONSERVATION] = 0
    s[State.PREV_CA_STATE] = state
    if s[State.PACKET_CONSERVATION] != 0:
        return max(cwnd, in_flight(s) + acked), True
    return cwnd, False


@noinline
def ssthresh(s: Any) -> Any:
    """Save the window at the beginning of a recovery; the threshold has no effect (`bbr_ssthresh`)."""
    modes.save_cwnd(s)
    return s[Tcp.SSTHRESH]


@noinline
def on_rto(p: Any, s: Any, now: Any) -> None:
    """Process a retransmission timeout, which ends a round (`bbr_set_state`)."""
    s[State.PREV_CA_STATE] = CaState.LOSS
    s[State.FULL_BW] = 0
    s[State.ROUND_START] = 1
    if s[State.LT_USE_BW] == 0:
        lt_bw.sampling(p, s, np.int64(1), False)
    elif s[State.MODE] == Mode.PROBE_BW and not lt_bw.keeps_using_bw(s):
        lt_bw.reset_sampling(s)
        modes.reset_probe_bw_mode(p, s)


@noinline
def undo_cwnd(s: Any) -> None:
    """Restart the search for the full bandwidth after an unnecessary reduction (`bbr_undo_cwnd`)."""
    s[State.FULL_BW] = 0
    s[State.FULL_BW_CNT] = 0
    lt_bw.reset_sampling(s)


@noinline
def on_tx_start(p: Any, s: Any, now: Any) -> None:
    """Process a restart from idle while the application limited the rate (`bbr_cwnd_event` with
    CA_EVENT_TX_START)."""
    s[State.IDLE_RESTART] = 1
    inflight.start_ack_epoch(s, clocks.us_of(now))
    if s[State.MODE] == Mode.PROBE_BW:
        _set_pacing_rate(p, s, BBR_UNIT)
    elif s[State.MODE] == Mode.PROBE_RTT:
        modes.check_probe_rtt_done(p, s, clocks.jiffies_of(p, s, now))


def acked_per_increase(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """Return the window; BBR does not grow it by counting ACKs."""
    return s[Tcp.CWND]


def pkts_acked(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """Do nothing: `cong_control` receives the round-trip time."""
