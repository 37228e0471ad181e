"""Pauses in which the sender sends probe segments instead of data.

In a pause no data are sent and the window is kept. After enough consecutive replies to probes the sender
resumes with its earlier window, or does what it would have done without the pause. A recovery scheme with
pauses (`probing`, `new_probing`, `elfn`) has

    REQUIRED_REPLIES, COMPARES_RTT, PROBE_INTERVAL, PAUSES_ON_ROUTE_FAILURE
        Constants, see `probing`.
    timeout_action(estimate, previous, backoff) -> TimeoutAction
        Return the action at a timeout, by the last two estimates [ns] and the back-off factor.
    on_ack_in_pause(m, p, at, ack, highest_ack)
        Process an ACK of `ack` >= `highest_ack` in a pause.
    repair_after_pause(m, p, highest_ack, snd_max, dupacks) -> (forced, back)
        Start the retransmission of missing packets; `back`: continue from `highest_ack` + 1.
    reduced_after_pause(row, clock, cwnd) -> (cwnd, ssthresh)
        Reduce the window after a pause in which the RTT had grown.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import ENDLESS, FOREVER
from netcarlo.kernels.base.parameters import ReliableP, TcpP
from netcarlo.kernels.tcp.recovery import SEND
from netcarlo.kernels.tcp.rto import timeout_of
from netcarlo.kernels.tcp.state import NONE, PauseCause, Phase, Tcp
from netcarlo.kernels.tcp.timer import clock, fall_back
from netcarlo.kernels.tcp.window import allow, clock_of, row_of

RTT_TOLERANCE = 2
"""Tolerated excess of a probe's round trip over the smoothed RTT, in eighths."""

PAUSES: Any = slot("pauses")

variant: Any = slot("variant")


def request_probe(p: Any, s: Any, now: Any) -> None:
    """Start a round trip of probes."""
    s[Tcp.PROBE_WANTED] = 1
    wait = timeout_of(s[Tcp.RTO_ESTIMATE], 1, p[ReliableP.MIN_RTO], p[ReliableP.MAX_RTO], p[TcpP.TICK])
    s[Tcp.TIMER_EXPIRY] = now + (variant.PROBE_INTERVAL if variant.PROBE_INTERVAL > 0 else wait)
    if variant.COMPARES_RTT:
        s[Tcp.OLDEST_PROBE] = s[Tcp.PROBES]


@noinline
def begin_pause(p: Any, s: Any, now: Any, cause: Any) -> None:
    """Stop sending data, and request the first probe."""
    s[Tcp.PROBING] = 1
    s[Tcp.PROBING_SINCE] = now
    s[Tcp.PROBE_CYCLES] += 1
    s[Tcp.PAUSE_CAUSE] = cause
    s[Tcp.PROBE_REPLIES] = 0
    s[Tcp.RTT_WORSE] = 0
    s[Tcp.OLDEST_PROBE] = s[Tcp.PROBES]
    s[Tcp.RTT_SEQ] = ENDLESS
    s[Tcp.FORCED] = NONE
    s[Tcp.SEND_LIMIT] = NONE
    s[Tcp.RECOVERY_MAY_SEND] = 0
    request_probe(p, s, now)


def end_pause(s: Any, now: Any) -> None:
    """End the pause."""
    s[Tcp.PROBING] = 0
    s[Tcp.PROBE_TIME] += now - s[Tcp.PROBING_SINCE]


@noinline
def resume_sending(p: Any, s: Any, g: Any, now: Any) -> None:
    """Retransmit what is missing, with the earlier window."""
    forced, back = variant.repair_after_pause(s, p, s[Tcp.HIGHEST_ACK], s[Tcp.SND_MAX], s[Tcp.DUPACKS])
    recovers = s[Tcp.PHASE] == Phase.RECOVERY
    s[Tcp.DUPACKS] = max(s[Tcp.DUPACKS], p[ReliableP.DUPACKS]) if recovers else 0
    s[Tcp.RTT_SEQ] = ENDLESS
    s[Tcp.TIMER_EXPIRY] = now + s[Tcp.RTO]
    s[Tcp.SND_NXT] = s[Tcp.HIGHEST_ACK] + 1 if back else max(s[Tcp.SND_NXT], forced + 1)
    s[Tcp.FORCED] = NONE
    allow(p, s, g[0], SEND, forced)


@noinline
def note_ack_in_pause(p: Any, s: Any, now: Any, at: Any, ack: Any) -> None:
    """Process an ACK in a pause; it releases no data."""
    highest_ack, last = s[Tcp.HIGHEST_ACK], s[Tcp.LAST_PACKET]
    if ack < highest_ack:
        return
    variant.on_ack_in_pause(s, p, at, ack, highest_ack)
    if ack == highest_ack:
        s[Tcp.DUPACKS] += 1
        return
    s[Tcp.HIGHEST_ACK] = ack
    s[Tcp.DUPACKS] = 0
    s[Tcp.SND_NXT] = max(s[Tcp.SND_NXT], ack + 1)
    if s[Tcp.LAST_WRITTEN] - ack <= p[TcpP.SEND_WAKE] and p[TcpP.SEND_BUFFER] > 0:
        s[Tcp.LAST_WRITTEN] = min(last, ack + p[TcpP.SEND_BUFFER])
    if ack == last:
        end_pause(s, now)
        s[Tcp.PROBE_WANTED] = 0
        s[Tcp.TIMER_EXPIRY] = FOREVER


def probe(p: Any, s: Any, now: Any) -> Any:
    """Return the number of the probe segment to send, or NONE. Call it once after `next_segment`."""
    if not PAUSES or s[Tcp.PROBE_WANTED] == 0:
        return np.int64(NONE)
    s[Tcp.PROBE_WANTED] = 0
    s[Tcp.PROBE_SENT_AT] = now
    s[Tcp.PROBES] += 1
    return s[Tcp.PROBES] - 1


@noinline
def on_probe(p: Any, s: Any, g: Any, constants: Any, now: Any, number: Any) -> None:
    """Process the reply to a probe segment."""
    if PAUSES and s[Tcp.PROBING] != 0 and number >= s[Tcp.OLDEST_PROBE]:
        if variant.COMPARES_RTT:
            ticks = clock.measure(s[Tcp.PROBE_SENT_AT], now, s[Tcp.CLOCK_PHASE], p[TcpP.TICK])
            if ticks * 64 > s[Tcp.SRTT] * (8 + RTT_TOLERANCE):
                s[Tcp.RTT_WORSE] = 1
        s[Tcp.PROBE_REPLIES] += 1
        if s[Tcp.PROBE_REPLIES] < variant.REQUIRED_REPLIES:
            request_probe(p, s, now)
            return
        end_pause(s, now)
        if s[Tcp.RTT_WORSE] == 0:
            s[Tcp.AVOIDED] += 1
        elif s[Tcp.PAUSE_CAUSE] == PauseCause.TIMER:
            fall_back(p, s, g, constants, now)
            return
        else:
            s[Tcp.REDUCTIONS] += 1
            row = row_of(p, s, g, constants)
            g[0], s[Tcp.SSTHRESH] = variant.reduced_after_pause(row, clock_of(s, now), g[0])
        resume_sending(p, s, g, now)


def on_notice(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Process the notice that a link of the route is broken."""
    if PAUSES:
        under_way = s[Tcp.HIGHEST_ACK] >= 0 and s[Tcp.HIGHEST_ACK] < s[Tcp.LAST_PACKET]
        if variant.PAUSES_ON_ROUTE_FAILURE and s[Tcp.PROBING] == 0 and under_way:
            begin_pause(p, s, now, PauseCause.NOTICE)
