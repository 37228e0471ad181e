"""Retransmission timer of a fluid sender: the timer of the packet engine, with one RTT sample per round trip.

Source: RFC 6298 as implemented by `tcp.rto`, in clock ticks. Retransmissions are not timed (Karn's
algorithm), so a back-off lasts until new data are acknowledged.

`s` and `g` are the words and floats of a flow, `p` the columns of its row; times are in ns.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import ReliableP, TcpP
from netcarlo.kernels.fluid import linux
from netcarlo.kernels.fluid.state import FlowFloat, FlowWord
from netcarlo.kernels.tcp import rto


def begin(s: Any, p: Any) -> None:
    """Initialise the timer."""
    s[FlowWord.RTO] = p[ReliableP.INITIAL_RTO]
    s[FlowWord.PREVIOUS_RTO] = p[ReliableP.INITIAL_RTO]
    s[FlowWord.BACKOFF] = 1


def length(s: Any, p: Any) -> Any:
    """Return the current retransmission timeout, including the back-off [ns]."""
    return rto.timeout_of(
        s[FlowWord.RTO], s[FlowWord.BACKOFF], s[FlowWord.MIN_RTO], p[ReliableP.MAX_RTO], p[TcpP.TICK]
    )


@noinline
def measure(s: Any, p: Any, sent: Any, now: Any) -> None:
    """Measure the RTT of a packet sent at `sent` and acknowledged at `now` [ns]."""
    tick = max(p[TcpP.TICK], np.int64(1))
    ticks = rto.measure(sent, now, p[TcpP.CLOCK_PHASE], tick)
    s[FlowWord.SRTT], s[FlowWord.RTTVAR] = rto.smooth(ticks, s[FlowWord.SRTT], s[FlowWord.RTTVAR])
    s[FlowWord.PREVIOUS_RTO] = s[FlowWord.RTO]
    s[FlowWord.RTO] = (s[FlowWord.RTTVAR] + (s[FlowWord.SRTT] >> 3)) * tick
    if linux.has(s[FlowWord.KIND]):  # the minimum is that of the deviation
        s[FlowWord.RTO] = max(s[FlowWord.RTTVAR] * tick, s[FlowWord.MIN_RTO]) + (s[FlowWord.SRTT] >> 3) * tick
    s[FlowWord.BACKOFF] = 1


def pass_rounds(s: Any, g: Any, p: Any, t: Any, rtt: Any, rounds: Any) -> None:
    """Process the ACKs of `rounds` round trips of `rtt` from `t` on [ns]; measure the first whole one."""
    g[FlowFloat.TIMED] += rounds
    if s[FlowWord.RECOVER] > 0:
        g[FlowFloat.TIMED] = 0.0
    elif g[FlowFloat.TIMED] >= 1.0:
        g[FlowFloat.TIMED] = 0.0
        measure(s, p, t, t + np.int64(rtt))


@noinline
def back_off(s: Any, p: Any) -> None:
    """Back off the timer after a timeout: double its length."""
    s[FlowWord.BACKOFF], s[FlowWord.SRTT], s[FlowWord.RTTVAR] = rto.back_off(
        s[FlowWord.BACKOFF], s[FlowWord.SRTT], s[FlowWord.RTTVAR], length(s, p), p[ReliableP.MAX_RTO]
    )
