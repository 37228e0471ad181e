"""BBR as a control of the sender: at every ACK it sets the rate and the window.

Source: Cardwell et al., "BBR: congestion-based congestion control" (ACM Queue 14(5), 2016);
draft-cardwell-iccrg-bbr-congestion-control-00, 4.1 and 4.2; in the form of Linux 6, with room for packets
that are acknowledged beyond the bandwidth.

What a control has that paces, beside what `reno` lists: `connect` when the first round trip is known,
`take` at every ACK instead of all that sets the window otherwise, `restart` when packets leave after there
were none, `time_out` instead of `lose`, and `undo` when a reduction is taken back.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, STREAM_CYCLE
from netcarlo.kernels.linux import clocks, rate
from netcarlo.kernels.linux.bbr import inflight, maximum, modes, policer, words
from netcarlo.kernels.linux.bbr.words import BANDWIDTH_BITS, HIGH_GAIN, UNIT, Bbr, Mode
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import NONE, State, Tcp, in_flight

ROUNDS = 10
"""Of the largest bandwidth."""
STREAMS = 512
"""Random streams of a flow."""
WITHOUT_RTT = 1000
"""What stands for a round trip before one is known [us]."""
FIRST = 10
"""Packets delivered until which the window grows whatever its target."""


def prepare(s: Any) -> None:
    """Before the start."""
    s[Pacing.TIMER] = FOREVER
    s[Bbr.STREAM] = STREAM_CYCLE + STREAMS * s[Tcp.FLOW]


@noinline
def connect(p: Any, s: Any, now: Any) -> None:
    """The handshake is over: the model is empty."""
    rate.prepare(s)
    s[Bbr.ROUND_END] = s[Tcp.DELIVERED]
    s[Bbr.LEAST_RTT] = s[Tcp.LEAST_RTT]
    s[Bbr.LEAST_RTT_AT] = clocks.jiffies_of(p, s, now)
    s[Bbr.PROBE_DONE] = NONE
    policer.forget(s)
    inflight.begin_epoch(s, clocks.us_of(now))
    modes.set_gains(s)
    _begin_pacing(p, s)


def _begin_pacing(p: Any, s: Any) -> None:
    """The rate of the start: the window in a round trip, or in a millisecond."""
    rtt = np.int64(WITHOUT_RTT)
    if s[Tcp.SRTT] > 0:
        rtt = max(s[Tcp.SRTT] >> np.int64(3), np.int64(1))
        s[Bbr.SEEN_RTT] = 1
    s[Pacing.RATE] = words.rate_of(p, (s[Tcp.CWND] << BANDWIDTH_BITS) // rtt, HIGH_GAIN)


def take(p: Any, s: Any, now: Any, acked: Any, losses: Any, rtt: Any) -> None:
    """An ACK that told of so many packets delivered and lost, with a round trip [us] or NONE."""
    _take_sample(p, s, losses)
    inflight.note_extra(s, acked, s[Tcp.CWND])
    modes.cycle(p, s, now, losses)
    modes.look_whether_full(s)
    modes.drain(p, s, now)
    modes.look_for_round_trip(p, s, now, rtt)
    modes.set_gains(s)
    _set_rate(p, s, s[Bbr.PACING_GAIN])
    _set_window(p, s, acked, losses)


def _take_sample(p: Any, s: Any, losses: Any) -> None:
    """Rounds and bandwidth (4.1.1)."""
    s[Bbr.ROUND_START] = 0
    if s[Rate.INTERVAL] <= 0:
        return
    if s[Rate.PRIOR] >= s[Bbr.ROUND_END]:
        s[Bbr.ROUND_END] = s[Tcp.DELIVERED]
        s[Bbr.ROUND] += 1
        s[Bbr.ROUND_START] = 1
        s[Bbr.CONSERVES] = 0
    if s[Bbr.POLICED] == 0:
        policer.sample(p, s, losses, s[Rate.IS_LIMITED] != 0)
    elif s[Bbr.MODE] == Mode.PROBE_BW and s[Bbr.ROUND_START] != 0 and not policer.believed(s):
        policer.forget(s)
        modes.probe_bandwidth(p, s)
    bandwidth = (s[Rate.COUNT] << BANDWIDTH_BITS) // s[Rate.INTERVAL]
    if s[Rate.IS_LIMITED] == 0 or bandwidth >= words.most_bandwidth(s):
        maximum.update(s, np.int64(words.BANDWIDTH), ROUNDS, s[Bbr.ROUND], bandwidth)


def _set_rate(p: Any, s: Any, gain: Any) -> None:
    """The rate; it does not fall before the pipe was full (4.2.1)."""
    found = words.rate_of(p, words.bandwidth(s), gain)
    if s[Bbr.SEEN_RTT] == 0 and s[Tcp.SRTT] > 0:
        _begin_pacing(p, s)
    if s[Bbr.FULL] != 0 or found > s[Pacing.RATE]:
        s[Pacing.RATE] = found


def _set_window(p: Any, s: Any, acked: Any, losses: Any) -> None:
    """The window (4.2.3)."""
    if acked > 0:
        cwnd, conserves = _window_of_recovery(s, acked, losses)
        if not conserves:
            target = inflight.product(s, words.bandwidth(s), s[Bbr.CWND_GAIN]) + inflight.extra(s)
            target = inflight.with_bursts(p, s, target)
            if s[Bbr.FULL] != 0:
                cwnd = min(cwnd + acked, target)
            elif cwnd < target or s[Tcp.DELIVERED] < FIRST:
                cwnd += acked
            cwnd = max(cwnd, modes.LEAST_CWND)
        s[Tcp.CWND] = cwnd
    if s[Bbr.MODE] == Mode.PROBE_RTT:
        s[Tcp.CWND] = min(s[Tcp.CWND], modes.LEAST_CWND)


def _window_of_recovery(s: Any, acked: Any, losses: Any) -> Any:
    """The window less what is lost: conserved as a recovery begins, restored as it ends.

    Returns it, and whether it is conserved.
    """
    cwnd, state, before = s[Tcp.CWND], s[Tcp.STATE], s[Bbr.PRIOR_STATE]
    if losses > 0:
        cwnd = max(cwnd - losses, 1)
    if state == State.RECOVERY and before != State.RECOVERY:
        s[Bbr.CONSERVES] = 1
        s[Bbr.ROUND_END] = s[Tcp.DELIVERED]
        cwnd = in_flight(s) + acked
    elif before >= State.RECOVERY and state < State.RECOVERY:
        cwnd = max(cwnd, s[Bbr.PRIOR_CWND])
        s[Bbr.CONSERVES] = 0
    s[Bbr.PRIOR_STATE] = state
    if s[Bbr.CONSERVES] != 0:
        return max(cwnd, in_flight(s) + acked), True
    return cwnd, False


@noinline
def ssthresh(s: Any) -> Any:
    """A loss: the threshold plays no part, the window is kept for later."""
    modes.save_window(s)
    return s[Tcp.SSTHRESH]


@noinline
def time_out(p: Any, s: Any) -> None:
    """The retransmission timer has gone off, which ends a round."""
    s[Bbr.PRIOR_STATE] = State.LOSS
    s[Bbr.FULL_BANDWIDTH] = 0
    s[Bbr.ROUND_START] = 1
    if s[Bbr.POLICED] == 0:
        policer.sample(p, s, np.int64(1), False)
    elif s[Bbr.MODE] == Mode.PROBE_BW and not policer.believed(s):
        policer.forget(s)
        modes.probe_bandwidth(p, s)


@noinline
def undo(s: Any) -> None:
    """There was no loss."""
    s[Bbr.FULL_BANDWIDTH] = 0
    s[Bbr.FULL_ROUNDS] = 0
    policer.forget(s)


@noinline
def restart(p: Any, s: Any, now: Any) -> None:
    """Packets leave where there were none and the application had been the limit."""
    s[Bbr.IDLE] = 1
    inflight.begin_epoch(s, clocks.us_of(now))
    if s[Bbr.MODE] == Mode.PROBE_BW:
        _set_rate(p, s, UNIT)
    elif s[Bbr.MODE] == Mode.PROBE_RTT:
        modes.look_whether_probed(p, s, clocks.jiffies_of(p, s, now))


def every(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """It does not grow by counting."""
    return s[Tcp.CWND]


def measured(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """See `take`."""
