"""PROBE_RTT: every 5 s the packets in flight are halved to measure the minimum RTT, which is that of 10 s.

Source: draft-ietf-ccwg-bbr, section 5.3.4.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux import rate
from netcarlo.kernels.linux.bbr.state import BBR_UNIT
from netcarlo.kernels.linux.bbr3 import model, probe_bw
from netcarlo.kernels.linux.bbr3.state import AckPhase, Mode, State
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import Tcp, in_flight

MIN_RTT_FILTER_LEN, PROBE_RTT_INTERVAL, PROBE_RTT_DURATION = 10_000_000, 5_000_000, 200_000
"""Age at which the minimum RTT expires (BBR.MinRTTFilterLen), interval between PROBE_RTT states
(BBR.ProbeRTTInterval) and their duration (BBR.ProbeRTTDuration) [us]."""


def update_min_rtt(p: Any, s: Any, now_us: Any, rtt: Any) -> None:
    """Update the minimum RTT with a sample [us] or NONE, and begin PROBE_RTT when due (BBRUpdateMinRTT,
    BBRCheckProbeRTT)."""
    expired = now_us > s[State.PROBE_RTT_MIN_STAMP] + PROBE_RTT_INTERVAL
    s[State.PROBE_RTT_EXPIRED] = 1 if expired else 0
    if rtt >= 0 and (rtt < s[State.PROBE_RTT_MIN] or expired):
        s[State.PROBE_RTT_MIN] = rtt
        s[State.PROBE_RTT_MIN_STAMP] = now_us
    if s[State.PROBE_RTT_MIN] < s[State.MIN_RTT] or now_us > s[State.MIN_RTT_STAMP] + MIN_RTT_FILTER_LEN:
        s[State.MIN_RTT] = s[State.PROBE_RTT_MIN]
        s[State.MIN_RTT_STAMP] = s[State.PROBE_RTT_MIN_STAMP]
    if s[State.MODE] != Mode.PROBE_RTT and expired and s[State.IDLE_RESTART] == 0:
        s[State.MODE] = Mode.PROBE_RTT
        probe_bw.save_cwnd(s)
        s[State.PROBE_RTT_DONE_STAMP] = 0
        s[State.ACK_PHASE] = AckPhase.PROBE_STOPPING
        model.start_round(s)
    if s[State.MODE] == Mode.PROBE_RTT:
        _handle(p, s, now_us)
    if s[Rate.DELIVERED] > 0:
        s[State.IDLE_RESTART] = 0


def probe_rtt_cwnd(s: Any) -> Any:
    """Return the window during PROBE_RTT [packets] (BBRProbeRTTCwnd)."""
    return max(model.bdp(s, s[State.BW], np.int64(BBR_UNIT // 2)), model.MIN_PIPE_CWND)


@noinline
def _handle(p: Any, s: Any, now_us: Any) -> None:
    """Process an ACK in PROBE_RTT (BBRHandleProbeRTT)."""
    rate.mark_app_limited(s)
    if s[State.PROBE_RTT_DONE_STAMP] == 0:
        if in_flight(s) <= probe_rtt_cwnd(s):
            s[State.PROBE_RTT_DONE_STAMP] = now_us + PROBE_RTT_DURATION
            s[State.PROBE_RTT_ROUND_DONE] = 0
            model.start_round(s)
        return
    if s[State.ROUND_START] != 0:
        s[State.PROBE_RTT_ROUND_DONE] = 1
    if s[State.PROBE_RTT_ROUND_DONE] != 0:
        check_probe_rtt_done(p, s, now_us)


@noinline
def check_probe_rtt_done(p: Any, s: Any, now_us: Any) -> None:
    """End PROBE_RTT if its time is over (BBRCheckProbeRTTDone)."""
    if s[State.PROBE_RTT_DONE_STAMP] == 0 or now_us <= s[State.PROBE_RTT_DONE_STAMP]:
        return
    s[State.PROBE_RTT_MIN_STAMP] = now_us
    s[Tcp.CWND] = max(s[Tcp.CWND], s[State.PRIOR_CWND])
    model.reset_short_term_model(s)
    if s[State.FULL_BW_REACHED] != 0:
        probe_bw.start_down(p, s)
        s[State.MODE] = Mode.PROBE_BW_CRUISE
    else:
        s[State.MODE] = Mode.STARTUP
