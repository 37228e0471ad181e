"""Probing for the round trip: every 5 s with half of the product in flight; the least is that of 10 s.

Source: draft-ietf-ccwg-bbr, 5.3.4.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux import rate
from netcarlo.kernels.linux.bbr.words import UNIT
from netcarlo.kernels.linux.bbr3 import cycle, model
from netcarlo.kernels.linux.bbr3.words import Acks, State, Word
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import Tcp, in_flight

FILTER, INTERVAL, DURATION = 10_000_000, 5_000_000, 200_000  # [us]


def update(p: Any, s: Any, now_us: Any, rtt: Any) -> None:
    """An ACK with a round trip [us] or NONE."""
    expired = now_us > s[Word.PROBE_RTT_MIN_STAMP] + INTERVAL
    s[Word.PROBE_RTT_EXPIRED] = 1 if expired else 0
    if rtt >= 0 and (rtt < s[Word.PROBE_RTT_MIN] or expired):
        s[Word.PROBE_RTT_MIN] = rtt
        s[Word.PROBE_RTT_MIN_STAMP] = now_us
    if s[Word.PROBE_RTT_MIN] < s[Word.MIN_RTT] or now_us > s[Word.MIN_RTT_STAMP] + FILTER:
        s[Word.MIN_RTT] = s[Word.PROBE_RTT_MIN]
        s[Word.MIN_RTT_STAMP] = s[Word.PROBE_RTT_MIN_STAMP]
    if s[Word.STATE] != State.PROBE_RTT and expired and s[Word.IDLE_RESTART] == 0:
        s[Word.STATE] = State.PROBE_RTT
        cycle.save_cwnd(s)
        s[Word.PROBE_RTT_DONE_STAMP] = 0
        s[Word.ACK_PHASE] = Acks.PROBE_STOPPING
        model.start_round(s)
    if s[Word.STATE] == State.PROBE_RTT:
        _handle(p, s, now_us)
    if s[Rate.COUNT] > 0:
        s[Word.IDLE_RESTART] = 0


def cwnd(s: Any) -> Any:
    """While it probes [packet]."""
    return max(model.product(s, s[Word.BW], np.int64(UNIT // 2)), model.MIN_PIPE_CWND)


@noinline
def _handle(p: Any, s: Any, now_us: Any) -> None:
    rate.limit(s)
    if s[Word.PROBE_RTT_DONE_STAMP] == 0:
        if in_flight(s) <= cwnd(s):
            s[Word.PROBE_RTT_DONE_STAMP] = now_us + DURATION
            s[Word.PROBE_RTT_ROUND_DONE] = 0
            model.start_round(s)
        return
    if s[Word.ROUND_START] != 0:
        s[Word.PROBE_RTT_ROUND_DONE] = 1
    if s[Word.PROBE_RTT_ROUND_DONE] != 0:
        check_done(p, s, now_us)


@noinline
def check_done(p: Any, s: Any, now_us: Any) -> None:
    """Is its time over?"""
    if s[Word.PROBE_RTT_DONE_STAMP] == 0 or now_us <= s[Word.PROBE_RTT_DONE_STAMP]:
        return
    s[Word.PROBE_RTT_MIN_STAMP] = now_us
    s[Tcp.CWND] = max(s[Tcp.CWND], s[Word.PRIOR_CWND])
    model.reset_short_term(s)
    if s[Word.FULL_BW_REACHED] != 0:
        cycle.down(p, s)
        s[Word.STATE] = State.CRUISE
    else:
        s[Word.STATE] = State.STARTUP
