"""Retransmission timer of an association: timeout, RTT measurement, and the reaction to its expiry."""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import ENDLESS
from netcarlo.kernels.base.parameters import ReliableP, TcpP
from netcarlo.kernels.tcp.recovery import SEND
from netcarlo.kernels.tcp.rto import back_off, timeout_of
from netcarlo.kernels.tcp.state import NONE, Tcp
from netcarlo.kernels.tcp.window import allow, clock_of, row_of, set_window, window_of

PAUSES: Any = slot("pauses")
TIMESTAMPS: Any = slot("timestamps")

variant: Any = slot("variant")
clock: Any = slot("clock")
"""RTT measurement, functions `measure` and `smooth` (`rto` or `linux26`)."""


def length(p: Any, s: Any) -> Any:
    """Return the current retransmission timeout [ns]."""
    return timeout_of(
        s[Tcp.RTO_ESTIMATE], s[Tcp.BACKOFF], p[ReliableP.MIN_RTO], p[ReliableP.MAX_RTO], p[TcpP.TICK]
    )


def measure_rtt(p: Any, s: Any, now: Any) -> None:
    """Take an RTT sample: the timed packet is acknowledged."""
    tick = p[TcpP.TICK]
    ticks = clock.measure(s[Tcp.RTT_TS], now, s[Tcp.CLOCK_PHASE], tick)
    s[Tcp.SRTT], s[Tcp.RTTVAR] = clock.smooth(ticks, s[Tcp.SRTT], s[Tcp.RTTVAR])
    s[Tcp.RTT] = ticks * tick
    if PAUSES:
        s[Tcp.PREVIOUS_RTO_ESTIMATE] = s[Tcp.RTO_ESTIMATE]
    s[Tcp.RTO_ESTIMATE] = (s[Tcp.RTTVAR] + (s[Tcp.SRTT] >> 3)) * tick
    s[Tcp.BACKOFF] = 1
    s[Tcp.RTO] = length(p, s)


@noinline
def back_off_timer(p: Any, s: Any) -> None:
    """Double the timeout (exponential back-off)."""
    s[Tcp.BACKOFF], s[Tcp.SRTT], s[Tcp.RTTVAR] = back_off(
        s[Tcp.BACKOFF], s[Tcp.SRTT], s[Tcp.RTTVAR], s[Tcp.RTO], p[ReliableP.MAX_RTO]
    )
    s[Tcp.RTO] = length(p, s)


def fall_back(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """React to a timeout: reduce the window, back off, continue from the first unacknowledged packet."""
    s[Tcp.REDUCTIONS] += 1
    row = row_of(p, s, g, constants)
    set_window(s, g, variant.on_timeout(row, clock_of(s, now), s[Tcp.SND_MAX], window_of(s, g)))
    back_off_timer(p, s)
    s[Tcp.TIMER_EXPIRY] = now + s[Tcp.RTO]
    s[Tcp.RTT_SEQ] = ENDLESS
    if not TIMESTAMPS:
        s[Tcp.SND_NXT] = s[Tcp.HIGHEST_ACK] + 1
    s[Tcp.FORCED] = NONE
    allow(p, s, g[0], SEND, NONE)
