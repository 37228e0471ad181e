"""Reactions of a TCP sender over an ad hoc network to losses and route breaks.

Loss recovery and timers are those of the fluid of a path (`fluid.loss`). `RESPONSE` says how a sender with
probing or with notifications (ELFN, ELN) differs: see docs/models/probing.md.

`m` and `s` are the scratch of the row and the words of the flow, `g` its floats, see `state`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.discovery import JITTER, WAIT_MOST
from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.adhoc.state import COUNTS, Word
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.fluid import association, loss, timer, window
from netcarlo.kernels.fluid.adhoc import chain, exchange, flight, route
from netcarlo.kernels.fluid.adhoc.state import AirFloat, AirWord, Row
from netcarlo.kernels.fluid.responses import LossResponse
from netcarlo.kernels.fluid.round import Cause, detect, lose_retransmission, to_send
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowFloat, FlowWord, State
from netcarlo.kernels.senders import ALONE
from netcarlo.kernels.shared.layout import FlowOut
from netcarlo.kernels.tcp.pausing import RTT_TOLERANCE
from netcarlo.kernels.tcp.rto import measure, timeout_of

KIND: Any = slot("kind")  # number of the TCP, see `senders`
RESPONSE: Any = slot("response")  # one of `LossResponse`
network: Any = slot("network")  # module of the network, see `round`

PROBE_INTERVAL = 2_000_000_000
"""Interval between the probes of ELFN [ns]."""


def trip(m: Any, size: Any) -> Any:
    """Return the round trip of a lone packet of `size` bytes and its ACK [ns]."""
    there, back = exchange.on_air(m, size), exchange.on_air(m, m[ReliableP.ACK])
    return exchange.lone_trip(m, max(chain.hops_of(m), np.int64(1)), there, back)


@noinline
def react(row: Row, cause: Any, t: Any, rtt: Any) -> Any:
    """React to FlowWord.LOST_IN_ROUND losses detected at `t` [ns]; return when the sender resumes [ns]."""
    m, s, g = row.p, row.s, row.g
    again = lose_retransmission(row)
    if RESPONSE == LossResponse.PLAIN or RESPONSE == LossResponse.ELFN:
        return _conclude(row, again, t, rtt)
    if RESPONSE != LossResponse.ELN and g[FlowFloat.CWND] < g[FlowFloat.RECEIVE_WINDOW]:
        again = np.int64(0)  # new packets report a lost retransmission
    quick = loss.is_recovered(s, g, m, t, np.int64(1), again)
    if RESPONSE == LossResponse.ELN and not (quick and cause == Cause.RANDOM):
        return _conclude(row, again, t, rtt)
    if RESPONSE != LossResponse.NEW_PROBING:
        s[FlowWord.RECOVER] = ONE
    if not quick:
        return _on_timeout(m, s, g, t + timer.length(s, m), t, rtt)
    s[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
    s[FlowWord.STATE] = State.RECOVERY
    s[FlowWord.UNTIL] = t + np.int64(rtt + 0.5)
    if RESPONSE == LossResponse.PROBING:
        return _pause(m, s, g, t, t, rtt)
    m[COUNTS + ManetOut.SPARED] += 1
    return t


def _conclude(row: Row, again: Any, t: Any, rtt: Any) -> Any:
    """Recover as standard TCP, by duplicate ACKs or the timer; return when the sender resumes [ns]."""
    m, s, g = row.p, row.s, row.g
    packets, hits = flight.in_flight(m, s, g, t), s[FlowWord.LOST_IN_ROUND]
    if KIND == ALONE and again > 0:
        _send_beyond(row, packets, hits)
    detect(row, t, rtt, again)
    if s[FlowWord.STATE] == State.RTO_WAIT:
        s[FlowWord.STATE] = State.OPEN
        t = s[FlowWord.UNTIL]
    elif KIND == ALONE:
        flight.recover(m, s, g, (packets - hits) // hits, t)
    return t


def _send_beyond(row: Row, packets: Any, hits: Any) -> None:
    """Send new chunks of SCTP while T3-rtx runs for a lost retransmission, until the receive window is full.

    Chunks that gap ack blocks report are not outstanding (RFC 4960, section 6.2.1). `hits` of the `packets`
    packets in flight are lost.
    """
    m, s, g = row.p, row.s, row.g
    room = np.int64(g[FlowFloat.RECEIVE_WINDOW]) - packets
    room = min(room, np.int64(float(timer.length(s, m)) / g[AirFloat.SERVICE]))
    left = to_send(s, network.through(row)) - (hits << ONE_BITS)
    flow = max(min(room << ONE_BITS, left), np.int64(0))
    s[FlowWord.SENT] += flow
    m[COUNTS + ManetOut.HOPS] += flow * chain.hops_of(m)
    network.lose(row, flow)


def _on_timeout(m: Any, s: Any, g: Any, expires: Any, again: Any, rtt: Any) -> Any:
    """Process a timeout of a probing sender at `expires`; a route exists from `again` on [ns].

    Returns when the sender resumes [ns].
    """
    s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
    risen = s[FlowWord.RTO] > s[FlowWord.PREVIOUS_RTO] or s[FlowWord.BACKOFF] > 1
    if RESPONSE == LossResponse.NEW_PROBING and not risen:  # taken for an error of the link
        m[COUNTS + ManetOut.SPARED] += 1
        timer.back_off(s, m)
        following = expires + timer.length(s, m)
        if following >= again:
            return max(expires, again)
        s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
        expires = following
    return _pause(m, s, g, expires, again, rtt)


def _pause(m: Any, s: Any, g: Any, since: Any, again: Any, rtt: Any) -> Any:
    """Send probes from `since` on until one is answered; return when the sender resumes [ns].

    A probe is sent after each timeout. The last one waits for the route that exists from `again` on; its
    answer and the answer to a second probe end the cycle. The mean delay by lost probes, which the timer
    detects, is added.
    """
    every = timeout_of(s[FlowWord.RTO], np.int64(1), s[FlowWord.MIN_RTO], m[ReliableP.MAX_RTO], m[TcpP.TICK])
    asked = since + max(again - since, np.int64(0)) // every * every
    length = trip(m, m[RowP.HEADER])
    told = max(asked, again) + length
    ticks = measure(asked, told, m[TcpP.CLOCK_PHASE], max(m[TcpP.TICK], np.int64(1)))
    t = told + length + np.int64(g[AirFloat.PROBES] * float(every))
    m[COUNTS + ManetOut.PROBES] += 2 + (asked - since) // every
    m[COUNTS + ManetOut.PROBE_CYCLES] += 1
    m[COUNTS + ManetOut.PROBE_TIME] += t - since
    if ticks * 64 <= s[FlowWord.SRTT] * (8 + RTT_TOLERANCE):
        m[COUNTS + ManetOut.SPARED] += 1
    else:  # the RTT has grown: react as without probes
        _fall_back(m, s, g, rtt)
        s[FlowWord.STATE] = State.OPEN
    return t


def _fall_back(m: Any, s: Any, g: Any, rtt: Any) -> None:
    """Reduce the window and back off the timer as after a retransmission timeout."""
    cwnd, ssthresh = g[FlowFloat.CWND], g[FlowFloat.SSTHRESH]
    s[FlowWord.RECOVER] = max(s[FlowWord.RECOVER], np.int64(g[FlowFloat.CWND]) << ONE_BITS)
    window.on_timeout(g, KIND, rtt)
    if KIND == ALONE:
        association.react(g, m, cwnd, ssthresh, False)
    s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
    timer.back_off(s, m)


@noinline
def on_route_break(row: Row, t: Any) -> Any:
    """Process a route break at `t`; return when another route exists and the sender resumes [ns]."""
    m, s, g = row.p, row.s, row.g
    rtt = flight.round_trip(m, s, g, t) if m[Word.ROUTE] != 0 else g[AirFloat.TRIP]
    relayed = s[AirWord.BROKEN] > 1
    told = t + (exchange.patience(m) if m[Word.ROUTE] != 0 else np.int64(0))
    again = route.discover(m, s, row.times, row.places, told)
    if relayed and again > told + JITTER:  # packets at the relays are dropped
        packets = flight.in_flight(m, s, g, t)
        hits = min(packets, 1 + exchange.patience(m) // exchange.of_data(m))
        s[FlowWord.SENT] += hits << ONE_BITS
        m[COUNTS + ManetOut.DROPS_ROUTE] += hits
        s[FlowWord.LOST_IN_ROUND] = hits
        if again < t + timer.length(s, m):
            return react(row, Cause.OUTAGE, again, rtt)
    return on_silence(row, t, again, rtt)


@noinline
def on_silence(row: Row, t: Any, again: Any, rtt: Any) -> Any:
    """Deliver nothing from `t` until `again` while the timer runs. Return when the sender continues [ns]."""
    m, s, g = row.p, row.s, row.g
    if RESPONSE == LossResponse.ELFN:
        m[COUNTS + ManetOut.PROBES] += 1 + (again - t) // PROBE_INTERVAL
        m[COUNTS + ManetOut.PROBE_CYCLES] += 1
        m[COUNTS + ManetOut.PROBE_TIME] += again - t
        return again
    expires = t + timer.length(s, m)
    if expires >= again:
        if s[FlowWord.RECOVER] == 0:  # the interruption is part of a measured RTT
            timer.measure(s, m, t, again + np.int64(rtt))
        return again
    if RESPONSE == LossResponse.PROBING or RESPONSE == LossResponse.NEW_PROBING:
        return _on_timeout(m, s, g, expires, again, rtt)
    last = t
    while expires < again:
        s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
        _fall_back(m, s, g, rtt)
        last = expires
        expires += timer.length(s, m)
    return again if again - last < WAIT_MOST else expires  # packets that have waited too long are dropped
