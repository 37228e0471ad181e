"""What a TCP makes of losses and of silences: by duplicate ACKs, its timer, or what it asks or is told.

Repair and timers are those of the fluid of a path (`fluid.loss`).  `MANNER` is how a sender that pauses or is
told differs: see docs/models/probing.md.

`m` and `s` are scratch, `g` the floats of the flow, see `state`.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.discovery import JITTER
from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.state import COUNTS, Word
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.fluid import loss, window
from netcarlo.kernels.fluid.adhoc import chain, exchange, ways
from netcarlo.kernels.fluid.adhoc.errors import lose
from netcarlo.kernels.fluid.adhoc.state import AirFloat, AirWord
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowFloat, FlowWord, State
from netcarlo.kernels.fluid.trouble import Cause
from netcarlo.kernels.shared.layout import NEWRENO, RENO, FlowOut

KIND: Any = slot("kind")  # of the TCP, one of `shared.layout.KINDS`
MANNER: Any = slot("manner")  # one of `Manner`

PROBE_INTERVAL = 2_000_000_000
"""ELFN's [ns]."""


class Manner(IntEnum):
    """What a sender makes of a loss, or of a broken route."""

    PLAIN = 0
    PROBING = 1  # pauses for two round trips of probes, keeps the window
    NEW_PROBING = 2  # keeps the window
    ELFN = 3  # stands still while there is no route
    ELN = 4  # keeps the window if the host of the sink has seen the error


def trip(m: Any, size: Any) -> Any:
    """The round trip of a lone packet without data [ns]."""
    there, back = exchange.on_air(m, size), exchange.on_air(m, m[P.ACK])
    return exchange.lone_trip(m, max(chain.hops_of(m), np.int64(1)), there, back)


def round_trip(m: Any, g: Any) -> Any:
    """A round trip with the window that is out [ns]."""
    packets = min(np.int64(g[FlowFloat.CWND]), m[Manet.QUEUE] + 1 + chain.hops_of(m))
    return max(g[AirFloat.TRIP], float(packets) * g[AirFloat.EACH])


@cold
def react(m: Any, s: Any, g: Any, losses: Any, cause: Any, t: Any, rtt: Any) -> Any:
    """At `t` the sender knows of HITS losses; until it goes on [ns]."""
    again = _lost_again(m, s, g, losses)
    if MANNER == Manner.PLAIN or MANNER == Manner.ELFN:
        return _conclude(m, s, g, again, t, rtt)
    if MANNER != Manner.ELN and g[FlowFloat.CWND] < g[FlowFloat.RECEIVER]:
        again = np.int64(0)  # new packets tell of a repair that is lost
    quick = loss.is_repaired(s, g, m, t, np.int64(1), again)
    if MANNER == Manner.ELN and not (quick and cause == Cause.RANDOM):
        return _conclude(m, s, g, again, t, rtt)
    m[COUNTS + ManetOut.SPARED] += 1
    if MANNER != Manner.NEW_PROBING:
        s[AirWord.GUARDED] = ONE
    if quick:
        s[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
        s[FlowWord.STATE] = State.REPAIR
        s[FlowWord.UNTIL] = t + np.int64(rtt + 0.5)
    else:
        s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
        t += _timer(m, s, rtt) * s[FlowWord.BACKOFF]
        if MANNER == Manner.NEW_PROBING:
            s[FlowWord.BACKOFF] = min(2 * s[FlowWord.BACKOFF], np.int64(loss.MOST_BACKOFF))
    if MANNER == Manner.PROBING:
        t = _probe(m, s, g, t, t, rtt)
    return t


def _lost_again(m: Any, s: Any, g: Any, losses: Any) -> Any:
    # Whether a retransmission is lost, or a packet that limited transmit sends for want of duplicate ACKs:
    # ONE or 0.
    packets = np.int64(g[FlowFloat.CWND])
    hits = min(s[FlowWord.HITS], packets)
    needed = hits + max(loss.DUPACKS - (packets - hits), np.int64(0))
    if s[AirWord.GAP] >= needed << ONE_BITS or hits == packets:
        return np.int64(0)
    lost = lose(m, s, losses, needed << ONE_BITS)
    s[FlowWord.SENT] += lost << ONE_BITS
    m[COUNTS + ManetOut.DROPS_RANDOM] += lost
    return np.int64(ONE)


def _conclude(m: Any, s: Any, g: Any, again: Any, t: Any, rtt: Any) -> Any:
    # As any TCP: duplicate ACKs, or the timer.  Of what is sent again after it, and of the first new packet
    # after a repair, no duplicates tell.
    loss.conclude(s, g, m, t, rtt, np.int64(1), again)
    if KIND in (NEWRENO, RENO):
        s[AirWord.GUARDED] = ONE
    if s[FlowWord.STATE] == State.SILENCE:
        s[AirWord.GUARDED] = (s[FlowWord.HITS] % loss.BEYOND_REPAIR + 1) << ONE_BITS
        s[FlowWord.STATE] = State.OPEN
        t = s[FlowWord.UNTIL]
    return t


def _timer(m: Any, s: Any, rtt: Any) -> Any:
    # The retransmission timeout, not backed off [ns]; the first, before there was a round trip.
    if rtt == 0.0:
        return max(m[P.INITIAL_RTO], np.int64(1))
    return max(np.int64(rtt * loss.RTO_PER_RTT), s[FlowWord.MIN_RTO])


def _probe(m: Any, s: Any, g: Any, since: Any, t: Any, rtt: Any) -> Any:
    # A pause, which ends two round trips of probes after `t`; one that is lost costs a timer, on average.
    t += 2 * trip(m, m[P.HEADER]) + np.int64(g[AirFloat.PROBES] * float(_timer(m, s, rtt)))
    m[COUNTS + ManetOut.PROBES] += 2
    m[COUNTS + ManetOut.PROBE_CYCLES] += 1
    m[COUNTS + ManetOut.PROBE_TIME] += t - since
    return t


@cold
def cross(m: Any, s: Any, g: Any, times: Any, places: Any, losses: Any, t: Any) -> Any:
    """A link of the route is gone at `t`; until there is another route and the sender goes on [ns]."""
    rtt = round_trip(m, g) if m[Word.ROUTE] != 0 else g[AirFloat.TRIP]
    relayed = s[AirWord.BROKEN] > 1
    told = t + (exchange.patience(m) if m[Word.ROUTE] != 0 else np.int64(0))
    again = ways.find(m, s, times, places, told)
    if relayed and again > told + JITTER:  # what the relays have is dropped
        packets = np.int64(g[FlowFloat.CWND])
        hits = min(packets, 1 + exchange.patience(m) // exchange.of_data(m))
        s[FlowWord.SENT] += hits << ONE_BITS
        m[COUNTS + ManetOut.DROPS_ROUTE] += hits
        s[FlowWord.HITS] = hits
        if again < t + _timer(m, s, rtt) * s[FlowWord.BACKOFF]:
            return react(m, s, g, losses, Cause.OUTAGE, again, rtt)
    return silence(m, s, g, t, again, rtt)


@cold
def silence(m: Any, s: Any, g: Any, t: Any, again: Any, rtt: Any) -> Any:
    """Nothing gets through from `t` until `again`, and the timer runs; when the sender goes on [ns]."""
    if MANNER == Manner.ELFN:
        m[COUNTS + ManetOut.PROBES] += 1 + (again - t) // PROBE_INTERVAL
        m[COUNTS + ManetOut.PROBE_CYCLES] += 1
        m[COUNTS + ManetOut.PROBE_TIME] += again - t
        return again
    timer = _timer(m, s, rtt)
    expires = t + timer * s[FlowWord.BACKOFF]
    if expires >= again:
        return again
    s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
    if MANNER != Manner.NEW_PROBING:
        s[AirWord.GUARDED] = np.int64(g[FlowFloat.CWND]) << ONE_BITS
    if MANNER == Manner.PROBING or MANNER == Manner.NEW_PROBING:
        m[COUNTS + ManetOut.SPARED] += 1
        return _probe(m, s, g, expires, again, rtt)
    window.collapse(g, KIND, rtt)
    s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
    s[FlowWord.BACKOFF] = min(2 * s[FlowWord.BACKOFF], np.int64(loss.MOST_BACKOFF))
    expires += timer * s[FlowWord.BACKOFF]
    while expires < again:
        s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
        g[FlowFloat.SSTHRESH] = window.FLOOR
        s[FlowWord.BACKOFF] = min(2 * s[FlowWord.BACKOFF], np.int64(loss.MOST_BACKOFF))
        expires += timer * s[FlowWord.BACKOFF]
    return again
