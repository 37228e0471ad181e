"""What BBR is about: filling the pipe, draining it, probing for bandwidth, probing for the round trip.

Source: draft-cardwell-iccrg-bbr-congestion-control-00, 4.3.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import MS, P
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.linux import clocks, rate
from netcarlo.kernels.linux.bbr import inflight, words
from netcarlo.kernels.linux.bbr.words import CWND_GAIN, DRAIN_GAIN, HIGH_GAIN, UNIT, Bbr, Mode
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import NONE, State, Tcp, in_flight

PHASES = 8
"""Of a cycle: 5/4 of the bandwidth, 3/4, and 1 for the rest."""
GROWTH = UNIT * 5 // 4
"""As long as the bandwidth grows so in a round the pipe is not full;"""
FULL_ROUNDS = 3
"""it is after so many rounds in which it has not."""
RTT_WINDOW = 10_000 * MS
"""A least round trip older than that [ns] is probed for"""
PROBE = 200 * MS
"""in such a time, and a round at least,"""
LEAST_CWND = 4
"""with so many packets in flight."""


def save_window(s: Any) -> None:
    """The window as it is, or was before a recovery, will be restored."""
    s[Bbr.PRIOR_CWND] = (
        s[Tcp.CWND]
        if s[Bbr.PRIOR_STATE] < State.RECOVERY and s[Bbr.MODE] != Mode.PROBE_RTT
        else max(s[Bbr.PRIOR_CWND], s[Tcp.CWND])
    )


def _next_phase(s: Any) -> None:
    s[Bbr.PHASE] = s[Bbr.PHASE] + 1 & PHASES - 1
    s[Bbr.PHASE_AT] = s[Rate.DELIVERED_AT]


@noinline
def probe_bandwidth(p: Any, s: Any) -> None:
    """A cycle begins at any of its phases but that of 3/4."""
    word, _, _, _ = draw(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], s[Bbr.STREAM], s[Bbr.DRAWS])
    s[Bbr.DRAWS] += 1
    s[Bbr.MODE] = Mode.PROBE_BW
    s[Bbr.PHASE] = PHASES - 1 - (np.int64(word) * (PHASES - 1) >> 32)
    _next_phase(s)


def cycle(p: Any, s: Any, now: Any, losses: Any) -> None:
    """Go on to the next phase when it is time."""
    if s[Bbr.MODE] != Mode.PROBE_BW:
        return
    gain = s[Bbr.PACING_GAIN]
    over = s[Rate.DELIVERED_AT] - s[Bbr.PHASE_AT] > s[Bbr.LEAST_RTT]
    if gain > UNIT and over and losses == 0:
        over = inflight.at_departure(p, s, now, s[Rate.FLIGHT]) >= inflight.target(p, s, gain)
    elif gain < UNIT and not over:
        over = inflight.at_departure(p, s, now, s[Rate.FLIGHT]) <= inflight.target(p, s, UNIT)
    if over:
        _next_phase(s)


def look_whether_full(s: Any) -> None:
    """At the start of a round: has the bandwidth grown?"""
    if s[Bbr.FULL] != 0 or s[Bbr.ROUND_START] == 0 or s[Rate.IS_LIMITED] != 0:
        return
    if words.most_bandwidth(s) >= s[Bbr.FULL_BANDWIDTH] * GROWTH >> words.GAIN_BITS:
        s[Bbr.FULL_BANDWIDTH] = words.most_bandwidth(s)
        s[Bbr.FULL_ROUNDS] = 0
    else:
        s[Bbr.FULL_ROUNDS] += 1
        s[Bbr.FULL] = 1 if s[Bbr.FULL_ROUNDS] >= FULL_ROUNDS else 0


def drain(p: Any, s: Any, now: Any) -> None:
    """After the start the queue is drained until as much is in flight as the path holds."""
    if s[Bbr.MODE] == Mode.STARTUP and s[Bbr.FULL] != 0:
        s[Bbr.MODE] = Mode.DRAIN
        s[Tcp.SSTHRESH] = inflight.target(p, s, UNIT)
    if s[Bbr.MODE] == Mode.DRAIN:
        flight = inflight.at_departure(p, s, now, in_flight(s))
        if flight <= inflight.target(p, s, UNIT):
            probe_bandwidth(p, s)


def look_for_round_trip(p: Any, s: Any, now: Any, rtt: Any) -> None:
    """A round trip [us] or NONE: the least of 10 s; when it has grown old, it is probed for."""
    jiffies = clocks.jiffies_of(p, s, now)
    old = jiffies > s[Bbr.LEAST_RTT_AT] + RTT_WINDOW // p[P.TICK]
    if rtt >= 0 and (rtt < s[Bbr.LEAST_RTT] or old):
        s[Bbr.LEAST_RTT] = rtt
        s[Bbr.LEAST_RTT_AT] = jiffies
    if old and s[Bbr.IDLE] == 0 and s[Bbr.MODE] != Mode.PROBE_RTT:
        s[Bbr.MODE] = Mode.PROBE_RTT
        save_window(s)
        s[Bbr.PROBE_DONE] = NONE
    if s[Bbr.MODE] == Mode.PROBE_RTT:
        _probe_round_trip(p, s, jiffies)
    if s[Rate.COUNT] > 0:
        s[Bbr.IDLE] = 0


@noinline
def _probe_round_trip(p: Any, s: Any, jiffies: Any) -> None:
    rate.limit(s)
    if s[Bbr.PROBE_DONE] == NONE:
        if in_flight(s) <= LEAST_CWND:
            s[Bbr.PROBE_DONE] = jiffies + (PROBE + p[P.TICK] - 1) // p[P.TICK]
            s[Bbr.PROBE_ROUND] = 0
            s[Bbr.ROUND_END] = s[Tcp.DELIVERED]
        return
    if s[Bbr.ROUND_START] != 0:
        s[Bbr.PROBE_ROUND] = 1
    if s[Bbr.PROBE_ROUND] != 0:
        look_whether_probed(p, s, jiffies)


@noinline
def look_whether_probed(p: Any, s: Any, jiffies: Any) -> None:
    """Probing for the round trip ends when its time is over."""
    if s[Bbr.PROBE_DONE] == NONE or jiffies <= s[Bbr.PROBE_DONE]:
        return
    s[Bbr.LEAST_RTT_AT] = jiffies
    s[Tcp.CWND] = max(s[Tcp.CWND], s[Bbr.PRIOR_CWND])
    if s[Bbr.FULL] != 0:
        probe_bandwidth(p, s)
    else:
        s[Bbr.MODE] = Mode.STARTUP


def set_gains(s: Any) -> None:
    """Of rate and window."""
    mode = s[Bbr.MODE]
    pacing, window = UNIT, UNIT
    if mode == Mode.STARTUP:
        pacing, window = HIGH_GAIN, HIGH_GAIN
    elif mode == Mode.DRAIN:
        pacing, window = DRAIN_GAIN, HIGH_GAIN
    elif mode == Mode.PROBE_BW:
        window = CWND_GAIN
        if s[Bbr.POLICED] == 0 and s[Bbr.PHASE] < 2:
            pacing = UNIT * 5 // 4 if s[Bbr.PHASE] == 0 else UNIT * 3 // 4
    s[Bbr.PACING_GAIN] = pacing
    s[Bbr.CWND_GAIN] = window
