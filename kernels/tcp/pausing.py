"""Pauses: a sender that stops sending data and asks with probe segments whether the network is in order.

In a pause no data goes out and the window stays.  When enough probes have come back, one after the other, the
sender goes on with the window that it had, or does what it would have done without the pause.  A scheme
of recovery that pauses (`probing`, `new_probing`, `elfn`) has

    REPLIES, JUDGED, INTERVAL, NOTICED                 see `probing`
    decide(current, before, backoff) -> Then           at a timeout, from those that the estimator found last
                                                       and before [ns] and the factor of the back-off
    on_paused_ack(m, p, at, ack, acked)                an ACK of `ack` >= `acked` arrives in a pause
    repair(m, p, acked, snd_max, dupacks) -> (forced, back)
                                                       after it: what is missing; `back`: go back to acked
    lowered(row, clock, cwnd) -> (cwnd, ssthresh)      after one that found the network worse
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import ENDLESS, FOREVER, P
from netcarlo.kernels.tcp.recovery import SEND
from netcarlo.kernels.tcp.rto import timeout_of
from netcarlo.kernels.tcp.state import NONE, PauseCause, Phase, Tcp
from netcarlo.kernels.tcp.timer import clock, fall_back
from netcarlo.kernels.tcp.window import allow, clock_of, row_of

RTT_TOLERANCE = 2
"""Eighths by which a probe's round trip may exceed the smoothed RTT."""

PAUSES: Any = slot("pauses")

variant: Any = slot("variant")


def request_probe(p: Any, s: Any, now: Any) -> None:
    """A round trip of probes begins."""
    s[Tcp.PROBE_WANTED] = 1
    wait = timeout_of(s[Tcp.RTO_ESTIMATE], 1, p[P.MIN_RTO], p[P.MAX_RTO], p[P.TICK])
    s[Tcp.TIMER_EXPIRY] = now + (variant.PROBE_INTERVAL if variant.PROBE_INTERVAL > 0 else wait)
    if variant.COMPARES_RTT:
        s[Tcp.OLDEST_PROBE] = s[Tcp.PROBES]


@noinline
def begin_pause(p: Any, s: Any, now: Any, cause: Any) -> None:
    """Data stops, and the first probe is to be put out."""
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
    """Data goes on."""
    s[Tcp.PROBING] = 0
    s[Tcp.PROBE_TIME] += now - s[Tcp.PROBING_SINCE]


@noinline
def resume_sending(p: Any, s: Any, g: Any, now: Any) -> None:
    """Repair what is missing, with the window as it is."""
    forced, back = variant.repair_after_pause(s, p, s[Tcp.HIGHEST_ACK], s[Tcp.SND_MAX], s[Tcp.DUPACKS])
    recovers = s[Tcp.PHASE] == Phase.RECOVERY
    s[Tcp.DUPACKS] = max(s[Tcp.DUPACKS], p[P.DUPACKS]) if recovers else 0
    s[Tcp.RTT_SEQ] = ENDLESS
    s[Tcp.TIMER_EXPIRY] = now + s[Tcp.RTO]
    s[Tcp.SND_NXT] = s[Tcp.HIGHEST_ACK] + 1 if back else max(s[Tcp.SND_NXT], forced + 1)
    s[Tcp.FORCED] = NONE
    allow(p, s, g[0], SEND, forced)


@noinline
def note_ack_in_pause(p: Any, s: Any, now: Any, at: Any, ack: Any) -> None:
    """An acknowledgement arrives in a pause: nothing is sent for it."""
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
    if s[Tcp.LAST_WRITTEN] - ack <= p[P.SEND_WAKE] and p[P.SEND_BUFFER] > 0:
        s[Tcp.LAST_WRITTEN] = min(last, ack + p[P.SEND_BUFFER])
    if ack == last:
        end_pause(s, now)
        s[Tcp.PROBE_WANTED] = 0
        s[Tcp.TIMER_EXPIRY] = FOREVER


def probe(p: Any, s: Any, now: Any) -> Any:
    """The number of a probe segment to put out, or NONE; asked once after `next_segment`."""
    if not PAUSES or s[Tcp.PROBE_WANTED] == 0:
        return np.int64(NONE)
    s[Tcp.PROBE_WANTED] = 0
    s[Tcp.PROBE_SENT_AT] = now
    s[Tcp.PROBES] += 1
    return s[Tcp.PROBES] - 1


@noinline
def on_probe(p: Any, s: Any, g: Any, constants: Any, now: Any, number: Any) -> None:
    """The reply to a probe segment arrives at the sender."""
    if PAUSES and s[Tcp.PROBING] != 0 and number >= s[Tcp.OLDEST_PROBE]:
        if variant.COMPARES_RTT:
            ticks = clock.measure(s[Tcp.PROBE_SENT_AT], now, s[Tcp.CLOCK_PHASE], p[P.TICK])
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
    """A notice that a link of the route is broken reaches the sender."""
    if PAUSES:
        under_way = s[Tcp.HIGHEST_ACK] >= 0 and s[Tcp.HIGHEST_ACK] < s[Tcp.LAST_PACKET]
        if variant.PAUSES_ON_ROUTE_FAILURE and s[Tcp.PROBING] == 0 and under_way:
            begin_pause(p, s, now, PauseCause.NOTICE)
