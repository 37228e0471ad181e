"""TCP sender over the route in use of an ad hoc network, round trip by round trip.

Its rounds are those of a path (`fluid.round`); `reactions` describes its reaction to losses.

`m` and `s` are the scratch of the row and the words of the flow, `g` its floats, see `state`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.state import COUNTS, Word
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, NEVER
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.kernels.fluid import round as rounds
from netcarlo.kernels.fluid import timer
from netcarlo.kernels.fluid.adhoc import chain, errors, exchange, flight, route
from netcarlo.kernels.fluid.adhoc.reactions import on_route_break, on_silence, react, trip
from netcarlo.kernels.fluid.adhoc.state import AirFloat, AirWord, Row
from netcarlo.kernels.fluid.round import Cause, Span, send_window, until_event
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowFloat, FlowWord, State
from netcarlo.kernels.senders import VEGAS
from netcarlo.kernels.shared.layout import FlowOut

KIND: Any = slot("kind")
"""Number of the TCP variant, see `senders`."""


@noinline
def prepare(m: Any, s: Any, g: Any) -> None:
    """Initialise the words and floats of the flow."""
    rounds.prepare(m, s, g)


@noinline
def begin(m: Any, s: Any, g: Any, times: Any, places: Any) -> Any:
    """Find the first route and perform the handshake; return when the first data are sent [ns]."""
    t = route.discover(m, s, times, places, m[RowP.START])
    if m[TcpP.HANDSHAKE] > 0 and KIND != VEGAS and t < m[RowP.END]:
        t += trip(m, m[TcpP.HANDSHAKE])
        expires = m[RowP.START] + timer.length(s, m)
        if expires >= t:
            timer.measure(s, m, m[RowP.START], t)
        while expires < t:  # a lost SYN: start with one packet
            s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
            g[FlowFloat.CWND] = 1.0
            timer.back_off(s, m)
            expires += timer.length(s, m)
    return t


@noinline
def advance(m: Any, s: Any, g: Any, times: Any, places: Any, losses: Any, t: Any) -> Any:
    """Simulate a round of the flow from `t` [ns] on; return its end [ns]."""
    row = Row(m, s, g, times, places, losses)
    route.move_nodes(m, s, times, places, t)
    if m[Word.ROUTE] == 0 or s[AirWord.BROKEN] > 0:
        return on_route_break(row, t)
    if s[AirWord.CHANGED] == 1:
        s[AirWord.CHANGED] = 0
        chain.weigh(m, g, 1.0)
    return rounds.advance(row, t)


def _room(m: Any) -> Any:
    """Return the number of packets that fit into the queue of the source and on the route."""
    return m[Manet.QUEUE] + 1 + chain.hops_of(m)


@noinline
def look_ahead(row: Row, t: Any) -> Any:
    """Return the `Span` that begins at `t` [ns]; see `fluid.round`."""
    m, s, g = row.p, row.s, row.g
    packets = flight.in_flight(m, s, g, t)
    rtt: Any = flight.round_trip(m, s, g, t)
    repaired = s[FlowWord.UNTIL] if s[FlowWord.STATE] == State.RECOVERY else np.int64(0)
    span = until_event(
        m, _room(m), np.int64(FOREVER), t, packets, rtt, packets << ONE_BITS, s[AirWord.GAP], repaired
    )
    length, part, cause = span.length, span.part, span.cause
    breaks = float(packets) * _breaks(m, g, packets)
    if g[AirFloat.HAZARD] < breaks * part:
        part = g[AirFloat.HAZARD] / breaks
        length = np.int64(part * rtt)
        cause = Cause.GIVEN_UP
    flow: Any = np.int64(float(packets) * part * ONE)
    ends = _until_left(flow, rounds.to_send(s, through(row)), length)  # latest time to which nodes move
    until = route.move_until(m, s, row.times, row.places, t + ends)
    if until < t + ends:
        length = until - t
        part = float(length) / rtt
        cause = Cause.NOTHING
    g[AirFloat.HAZARD] -= breaks * part
    return Span(packets, rtt, length, part, cause)


def _until_left(flow: Any, left: Any, length: Any) -> Any:
    """Return the time to send the `left` packets of a flow [ns].

    The whole `flow` takes `length` ns, which is the upper limit.
    """
    if flow < left:
        return length
    return min(np.int64(float(length) * (float(max(left, 0)) / float(max(flow, 1)))), length)


def _breaks(m: Any, g: Any, packets: Any) -> Any:
    """Return the expected number of links given up per packet, with a window of `packets` packets.

    Hidden nodes count only if sending the window takes longer than the MAC's failed attempts
    (`exchange.patience`).
    """
    lasts = packets * exchange.of_data(m)
    return g[AirFloat.NOISE] + (g[AirFloat.HIDDEN] if lasts > exchange.patience(m) else 0.0)


def through(row: Row) -> Any:
    """Return the distinct packets delivered so far [packet, ONE_BITS]."""
    m, s = row.p, row.s
    return s[FlowWord.SENT] - (_dropped(m) << ONE_BITS) - s[FlowWord.DUPLICATES]


def _dropped(m: Any) -> Any:
    """Return the number of packets dropped or lost so far [packet]."""
    dropped = m[COUNTS + ManetOut.DROPS_RANDOM] + m[COUNTS + ManetOut.DROPS_QUEUE]
    return dropped + m[COUNTS + ManetOut.DROPS_ROUTE]


def complete(row: Row, span: Span, flow: Any, left: Any, t: Any) -> Any:
    """Record the end of a finite transfer; see `fluid.round`."""
    trip = np.int64(row.g[AirFloat.TRIP])
    t += _until_left(flow, left, span.length)
    row.p[COUNTS + ManetOut.COMPLETED] = t + (trip >> 1)
    row.p[COUNTS + ManetOut.FINISHED] = t + trip
    return span.length


def carry(row: Row, span: Span, flow: Any) -> None:
    """Count hops and random losses of `flow` [packet, ONE_BITS]; see `fluid.round`."""
    row.p[COUNTS + ManetOut.HOPS] += flow * chain.hops_of(row.p)
    lose(row, max(flow, 0))


def next_loss(row: Row) -> Any:
    """Return the packets that are delivered until the next random loss [packet, ONE_BITS]."""
    return row.s[AirWord.GAP]


def lose(row: Row, flow: Any) -> Any:
    """Send `flow` [packet, ONE_BITS]; count and return its random losses."""
    lost = errors.lose(row.p, row.s, row.losses, flow)
    row.p[COUNTS + ManetOut.DROPS_RANDOM] += lost
    return lost


@noinline
def interrupt(row: Row, span: Span, t: Any) -> Any:
    """React to the losses or the link failure that end a span at `t` [ns]; see `fluid.round`."""
    m, s, g = row.p, row.s, row.g
    if span.cause == Cause.GIVEN_UP:
        return on_silence(row, t, errors.give_up(m, s, g, t), span.rtt)
    if span.cause == Cause.OVERFLOW:
        g[FlowFloat.CWND] = min(g[FlowFloat.CWND], float(_room(m) + 1))
    packets = min(rounds.window_left(s, g, through(row)), flight.in_flight(m, s, g, t))
    send_window(row, span.cause, packets, span.rtt, t)
    return react(row, span.cause, t + np.int64(span.rtt), span.rtt)


def drop(row: Row, cause: Any, packets: Any, t: Any, rtt: Any) -> Any:
    """Count and return the losses in a window of `packets` packets; see `fluid.round`."""
    m, hits = row.p, np.int64(0)
    m[COUNTS + ManetOut.HOPS] += (packets << ONE_BITS) * chain.hops_of(m)
    if cause == Cause.OVERFLOW:
        hits = min(max(packets - _room(m) - 1, np.int64(1)), packets)
        m[COUNTS + ManetOut.DROPS_QUEUE] += hits
    return hits + lose(row, (packets - hits) << ONE_BITS)


@noinline
def is_done(m: Any) -> Any:
    """Return whether a finite transfer is complete."""
    return m[COUNTS + ManetOut.COMPLETED] != NEVER


@noinline
def report(m: Any, s: Any, out: Any) -> None:
    """Write the outcomes of the sender to `out`."""
    counts = s[FlowWord.COUNTS :]
    dropped = _dropped(m)
    received = max(s[FlowWord.SENT] - (dropped << ONE_BITS), np.int64(0)) >> ONE_BITS
    distinct = max(s[FlowWord.SENT] - (dropped << ONE_BITS) - s[FlowWord.DUPLICATES], np.int64(0)) >> ONE_BITS
    out[ManetOut.SENT] = received + dropped
    out[ManetOut.RECEIVED] = received
    out[ManetOut.DELIVERED] = distinct
    out[ManetOut.IN_ORDER] = distinct
    out[ManetOut.ACKED] = distinct
    out[ManetOut.RETRANSMITTED] = out[ManetOut.SENT] - distinct
    out[ManetOut.TIMEOUTS] = counts[FlowOut.TIMEOUTS]
    out[ManetOut.FAST_RETRANSMITS] = counts[FlowOut.FAST_RETRANSMITS]
    out[ManetOut.CWND_CUTS] = counts[FlowOut.CWND_CUTS]
    out[ManetOut.HOPS] = m[COUNTS + ManetOut.HOPS] >> ONE_BITS
    out[ManetOut.ARRIVED] = received
    out[ManetOut.FALSE_BREAKS] = s[AirWord.GIVEN_UP] - 1
