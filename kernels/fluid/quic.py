"""Fluid model of QUIC over one path: the windows of its congestion control, round trip by round trip.

Source: RFC 9000, RFC 9002 and RFC 9438 as in the packet model (`docs/models/quic.md`). Slow start, NewReno
and reductions are those of today's Linux (`linux`), in packets. CUBIC grows by the equations of RFC 9438; the
growth of NewReno gives the number of packets acknowledged. Loss recovery is that of RFC 9002: lost data are
sent in new packets, a probe timeout does not change the window, and persistent congestion reduces it to its
minimum.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import ENDLESS, MS, NEVER, Hop, Out, Rows
from netcarlo.kernels.base.parameters import QuicP, ReliableP, RowP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.fluid import arrivals, linux, loss, path, window
from netcarlo.kernels.fluid.path import PATH, Row, complete, lose, next_loss, through
from netcarlo.kernels.fluid.report import report, sample
from netcarlo.kernels.fluid.round import Cause, Span, advance, send_window, until_event, window_left
from netcarlo.kernels.fluid.round import prepare as prepare_flow
from netcarlo.kernels.fluid.route import RouteWord, find_outage, is_down, prepare, words
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, UNIT_BITS, FlowFloat, FlowWord, State, is_waiting
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.quic.acks import PACKET_THRESHOLD
from netcarlo.kernels.quic.control import ALPHA, ALPHA_ONE, MAX_OFFSET, MINIMUM_WINDOW, SCALE, cube_root
from netcarlo.kernels.quic.state import Control, rounds
from netcarlo.kernels.quic.timers import ONE as PACING_ONE
from netcarlo.kernels.senders import LINUX_CUBIC, LINUX_RENO
from netcarlo.kernels.shared.layout import FlowOut

__all__ = [
    "carry", "complete", "drop", "interrupt", "look_ahead", "lose", "next_loss", "scratch_words", "simulate",
    "through",
]  # fmt: skip

PERSISTENT = 2
"""Consecutive probe timeouts with lost probes that make congestion persistent.

The lost packets then span three probe timeouts, because the second timeout is twice as long as the first (RFC
9002, section 7.6.1).
"""
_MOST_GROWTH = 1.5  # largest growth factor of a window per round trip (RFC 9438, section 4.2)
_RENO = ALPHA_ONE / ALPHA  # acknowledged windows by which W_est grows by one packet (RFC 9438, section 4.3)
_LATE_SHARE = 8.0  # inverse of the time threshold's excess over the RTT (RFC 9002, section 6.1.2)


class Word(IntEnum):
    """Words of the connection, following those of the path."""

    LOST_PROBES = 0  # consecutive probe timeouts whose probes were lost or are not yet acknowledged [n]
    SIZE = 1


class Float(IntEnum):
    """Floats of the connection, following those of the flow."""

    BEFORE = FlowFloat.SIZE  # window before the latest growth [packet]
    PRIOR = FlowFloat.SIZE + 1  # CUBIC: window before the latest reduction (cwnd_prior) [packet]
    SIZE = FlowFloat.SIZE + 2


def scratch_words(rows: Rows) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    return FlowWord.SIZE + words(rows.hops.shape[2]) + Word.SIZE, int(Float.SIZE)


def simulate(
    p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    end = FlowWord.SIZE + words(hops.shape[1])
    for word in range(end + Word.SIZE):
        m[word] = 0
    for column in range(len(out)):
        out[column] = 0
    out[Out.COMPLETED] = NEVER
    w = m[FlowWord.SIZE :]
    size = p[RowP.DATA] + p[RowP.CHUNK_HEADER] + p[RowP.HEADER]
    route = prepare(p, hops, losses, w, PATH, size)
    prepare_flow(p, m, g)
    linux.begin(g, p, route.service, float(route.base_rtt))
    g[FlowFloat.SLOW_START] = float(SlowStart.HYSTARTPP if p[QuicP.HYSTART] == 1 else SlowStart.STANDARD)
    g[FlowFloat.CWND] = float(min(p[QuicP.INITIAL_PACKETS] + rounds(p), p[RowP.WINDOW]))
    m[FlowWord.MIN_RTO] = MS  # of four deviations (kGranularity)
    m[FlowWord.RTO] = 3 * p[QuicP.INITIAL_RTT]
    g[Float.PRIOR] = 0.0
    loss.draw_first(m, p)
    burst = _burst_room(p, hops, route, size)
    row = Row(p, m, g, w, m[end:], hops, losses, outages, out, route, burst, np.int64(0))
    t = _connect(row)
    while t < p[RowP.END] and out[Out.COMPLETED] == NEVER:
        t = _step(row, t)
    report(p, m, out)
    return 0


def _burst_room(p: Any, hops: Any, route: Any, size: Any) -> Any:
    """Return the window at which a paced window of slow start overflows a queue [packet]; ENDLESS if it does
    not.

    A window is sent in 1 / N of a round trip (RFC 9002, section 7.7), in which a hop serves only that part of
    its bandwidth-delay product.
    """
    room = np.int64(ENDLESS)
    if p[QuicP.PACING] <= PACING_ONE:
        return room
    for hop in range(hops.shape[1]):
        h = hops[PATH, hop]
        if h[Hop.PRESENT] != 0 and h[Hop.QUEUE] > 0:
            each = float(max(on_wire(size, h[Hop.BYTE_TIME]), 1))
            served = float(route.base_rtt) / each / (float(p[QuicP.PACING]) / PACING_ONE)
            room = min(room, np.int64(served) + h[Hop.QUEUE])
    return room


def _connect(row: Row) -> Any:
    """Perform the handshake; return when the first data are sent [ns]."""
    p, w = row.p, row.w
    t = p[RowP.START]
    _find_outage(row, t)
    if p[QuicP.ZERO_RTT] == 1 and not is_down(w, t):
        return t
    timeout = 3 * p[QuicP.INITIAL_RTT]
    while is_down(w, t) and t < p[RowP.END]:
        t += timeout
        timeout = min(2 * timeout, p[ReliableP.MAX_RTO])
        _find_outage(row, t)
    return t + rounds(p) * row.route.base_rtt


def _find_outage(row: Row, t: Any) -> None:
    """Find the next outage for packets sent at `t` [ns] or later."""
    find_outage(row.hops, row.outages, row.w, PATH, t)


def _step(row: Row, t: Any) -> Any:
    """Simulate a round from `t` on; return when the next round begins [ns]."""
    p, s, route = row.p, row.s, row.route
    begin, rtt = t, _round_trip(row)
    row.g[Float.BEFORE] = row.g[FlowFloat.CWND]
    t = arrivals.settle(p, s, row.out, route.service, route.one_way, begin, advance(row, t))
    _grow(row, t)
    sample(p, row.g[FlowFloat.CWND], row.out, begin, min(t, p[RowP.END]), rtt)
    if is_waiting(s):
        t = max(t, s[FlowWord.UNTIL])
        s[FlowWord.STATE] = State.OPEN
    elif row.j[Word.LOST_PROBES] > 0:
        _answer_probe(row, t, rtt)
    return t


def _round_trip(row: Row) -> Any:
    """Return the RTT with the window in flight, including the queueing delay at the slowest hop [ns]."""
    packets = np.int64(row.g[FlowFloat.CWND])
    return max(float(row.route.base_rtt), float(min(packets, row.route.capacity)) * row.route.service)


def _room(row: Row) -> Any:
    """Return the number of packets in flight that path and queues hold, fewer in slow start."""
    in_slow_start = row.g[FlowFloat.CWND] < row.g[FlowFloat.SSTHRESH]
    return min(row.route.capacity, row.burst) if in_slow_start else row.route.capacity


def look_ahead(row: Row, t: Any) -> Any:
    """Return the `Span` that begins at `t` [ns]; see `round`."""
    p, s, w, route = row.p, row.s, row.w, row.route
    packets, rtt = np.int64(row.g[FlowFloat.CWND]), _round_trip(row)
    if w[RouteWord.UP] <= t:
        _find_outage(row, t)
    answered = _answered(p, route, packets)
    hazard = s[FlowWord.HAZARD] if route.loss < ONE else np.int64(0)
    repaired = s[FlowWord.UNTIL] if s[FlowWord.STATE] == State.RECOVERY else np.int64(0)
    span = until_event(
        p, _room(row), w[RouteWord.DOWN], t, packets, rtt, _expected(route, answered), hazard, repaired
    )
    return Span(answered, span.rtt, span.length, span.part, span.cause)


def _answered(p: Any, route: Any, packets: Any) -> Any:
    """Return the number of packets of a window that are acknowledged within the round trip.

    If an ACK acknowledges two packets and the path becomes idle, the first waits for the second, so that half
    a packet of the window is not used.
    """
    idle = float(packets) * route.service < float(route.base_rtt)
    return float(packets) - (0.5 if p[ReliableP.ACK_EVERY] > 1 and packets > 1 and idle else 0.0)


def _expected(route: Any, packets: Any) -> Any:
    """Return the expected number of random losses among `packets` packets [UNIT_BITS]."""
    most = min(np.int64(packets * float(route.loss_odds)), np.int64(loss.MOST_EXPECTED))
    return most << (UNIT_BITS - ONE_BITS)


def carry(row: Row, span: Span, flow: Any) -> None:
    """Count the random losses of `flow` [packet, ONE_BITS]; see `round`."""
    row.s[FlowWord.HAZARD] -= np.int64(float(_expected(row.route, span.packets)) * span.part)


def drop(row: Row, cause: Any, packets: Any, t: Any, rtt: Any) -> Any:
    """Count and return the losses in a window of `packets` packets; see `round`."""
    _grow(row, t)
    return path.drop(row, cause, packets, t, rtt)


def interrupt(row: Row, span: Span, t: Any) -> Any:
    """React to the losses that end a span at `t` [ns]; see `round`."""
    g, route = row.g, row.route
    _grow(row, t)
    if span.cause == Cause.OVERFLOW:
        g[FlowFloat.CWND] = min(g[FlowFloat.CWND], float(_room(row) + 1))
    packets = window_left(row.s, g, through(row))
    if span.cause == Cause.OVERFLOW and packets <= _room(row):
        return t  # the remaining packets fit into the queue
    rtt = max(span.rtt, float(min(packets, route.capacity)) * route.service)
    send_window(row, span.cause, packets, rtt, t)
    t += np.int64(rtt)
    _detect(row, packets, t, rtt)
    g[Float.BEFORE] = g[FlowFloat.CWND]
    return t


def _grow(row: Row, t: Any) -> None:
    """Grow the window of CUBIC by the packets acknowledged since the latest call, as NewReno's growth
    shows."""
    g = row.g
    before, growth = g[Float.BEFORE], g[FlowFloat.CWND] - g[Float.BEFORE]
    g[Float.BEFORE] = g[FlowFloat.CWND]
    if row.p[QuicP.CONTROL] != Control.CUBIC or growth <= 0.0 or before < g[FlowFloat.SSTHRESH]:
        return
    acked, now = growth / (1.0 / float(int(before))), int(window.clock(t))
    if g[FlowFloat.EPOCH] == 0.0:
        g[FlowFloat.EPOCH] = float(max(now, 1))
        g[FlowFloat.W_MAX] = max(g[FlowFloat.W_MAX], before)
        g[FlowFloat.K] = float(cube_root(int((g[FlowFloat.W_MAX] - before) * 1024.0) * ((1 << 30) // SCALE)))
        g[FlowFloat.W_EST] = before
    alike = g[FlowFloat.W_EST] >= g[Float.PRIOR]
    g[FlowFloat.W_EST] += acked / (before / (1.0 if alike else 1.0 / _RENO))
    if _cubic_window(g, now) < g[FlowFloat.W_EST]:
        cwnd = max(before, g[FlowFloat.W_EST])
    else:
        target = _cubic_window(g, now + int(window.clock(np.int64(_round_trip(row)))))
        target = min(max(target, before), before * _MOST_GROWTH)
        cwnd = before + (target - before) / (before / acked)
    g[FlowFloat.CWND] = min(cwnd, g[FlowFloat.RECEIVE_WINDOW])
    g[Float.BEFORE] = g[FlowFloat.CWND]


def _cubic_window(g: Any, now: Any) -> Any:
    """Return W_cubic at time `now` [s / 1024] (RFC 9438, section 4.2) [packet]."""
    offset = now - int(g[FlowFloat.EPOCH]) - int(g[FlowFloat.K])
    away = min(abs(offset), MAX_OFFSET)
    rise = float((SCALE * away * away * away) >> 30) / 1024.0
    return g[FlowFloat.W_MAX] + (rise if offset >= 0 else -rise)


def _reduce(row: Row) -> None:
    """Reduce the window at the start of a recovery period (RFC 9002, section 7.3.2)."""
    g = row.g
    g[Float.PRIOR] = g[FlowFloat.CWND]
    linux.on_recovery(g, LINUX_CUBIC if row.p[QuicP.CONTROL] == Control.CUBIC else LINUX_RENO)
    row.s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1


def _detect(row: Row, packets: Any, t: Any, rtt: Any) -> None:
    """Detect at `t` [ns] the losses in the sender's window of `packets` packets."""
    s = row.s
    follow = packets - min(s[FlowWord.LOST_IN_ROUND], packets)
    lost_before = row.j[Word.LOST_PROBES]
    if follow > 0 and lost_before == 0:
        _reduce(row)
        s[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
        late = np.int64(0 if follow >= PACKET_THRESHOLD else rtt / _LATE_SHARE)
        s[FlowWord.STATE] = State.RECOVERY
        s[FlowWord.UNTIL] = t + late + np.int64(rtt)
    elif follow > 0:
        _answer_probe(row, t, rtt)
    else:
        _wait_for_probe(row, t, rtt)


def _wait_for_probe(row: Row, t: Any, rtt: Any) -> None:
    """Wait for the probe timeout, which sends two packets, because no packet is acknowledged (RFC 9002,
    section 6.2.4).

    The timer started with the last packet sent, a round trip before `t` [ns].
    """
    p, s, g = row.p, row.s, row.g
    timeout = s[FlowWord.RTO] + p[ReliableP.ACK_DELAY]
    timeout = min(timeout * s[FlowWord.BACKOFF], p[ReliableP.MAX_RTO])
    s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
    s[FlowWord.BACKOFF] = min(2 * s[FlowWord.BACKOFF], np.int64(loss.MOST_BACKOFF << 10))
    s[FlowWord.STATE] = State.RTO_WAIT
    s[FlowWord.UNTIL] = max(t - np.int64(rtt) + timeout, t)
    if row.j[Word.LOST_PROBES] == 0:
        _reduce(row)
    row.j[Word.LOST_PROBES] += 1
    g[FlowFloat.CWND] = min(float(MINIMUM_WINDOW), g[FlowFloat.RECEIVE_WINDOW])


def _answer_probe(row: Row, t: Any, rtt: Any) -> None:
    """Process the ACK of a probe at `t` [ns]: all earlier packets are lost.

    The window becomes the reduced one, or the minimum in persistent congestion (RFC 9002, section 7.6).
    """
    s, g = row.s, row.g
    if row.j[Word.LOST_PROBES] > PERSISTENT:
        g[FlowFloat.W_MAX] = 0.0
        g[FlowFloat.EPOCH] = 0.0
        g[FlowFloat.MIN_RTT] = rtt
        s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
    else:
        g[FlowFloat.CWND] = min(max(g[FlowFloat.CWND], g[FlowFloat.SSTHRESH]), g[FlowFloat.RECEIVE_WINDOW])
    s[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
    s[FlowWord.BACKOFF] = 1
    s[FlowWord.STATE] = State.RECOVERY
    s[FlowWord.UNTIL] = t
    row.j[Word.LOST_PROBES] = 0
