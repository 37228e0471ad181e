"""Fluid model of one TCP connection over a path with outages, round trip by round trip.

Outages of the hops are given, or drawn as a two-state Markov chain. Packets on a hop at the beginning of an
outage are lost; the sender resumes at the first backed-off timeout after the end. A step is a round trip, or
the time to the next loss (`round`), so a run of minutes takes microseconds.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import ENDLESS, FOREVER, NEVER, Out, Rows
from netcarlo.kernels.base.parameters import MobileP, ReliableP, RowP, TcpP
from netcarlo.kernels.fluid import (
    arrivals,
    bbr,
    bbr3,
    delays,
    gaps,
    handovers,
    linux,
    loss,
    probing,
    timer,
    window,
)
from netcarlo.kernels.fluid.report import report, sample
from netcarlo.kernels.fluid.responses import LossResponse
from netcarlo.kernels.fluid.round import (
    Cause,
    Span,
    advance,
    detect,
    lose_retransmission,
    send,
    send_window,
    to_send,
    until_event,
    window_left,
)
from netcarlo.kernels.fluid.round import prepare as prepare_flow
from netcarlo.kernels.fluid.route import Route, RouteWord, burst_room, find_outage, is_down, prepare, words
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, UNIT_BITS, FlowFloat, FlowWord, State, is_waiting
from netcarlo.kernels.senders import LINUX_BBR, LINUX_BBR3, VEGAS
from netcarlo.kernels.shared.layout import FlowOut

KIND: Any = slot("kind")
"""Number of the TCP variant, see `senders`."""
RESPONSE: Any = slot("response")
"""Reaction to losses, one of `LossResponse`."""
MOBILE: Any = slot("mobile")
"""True if the last hop is the radio link of a mobile host."""
DELAYS: Any = slot("delays")
"""True if delays of data are measured."""

OUT = len(Out)
PATH = np.int64(0)
"""Number of the only path."""
WAY = int(FlowWord.SIZE)
"""First word of the path, following those of the flow."""


class Row(NamedTuple):
    """Arrays of a row."""

    p: Any
    """Columns of the scenario (`P`)."""
    s: Any
    """Words of the flow (`FlowWord`), with which the scratch begins."""
    g: Any
    """Floats of the flow (`FlowFloat`)."""
    w: Any
    """Words of the path (`RouteWord`)."""
    j: Any
    """Words of the handovers of a mobile host (`handovers.Word`)."""
    hops: Any
    """Columns of the hops (`Hop`), [path, hop, column]."""
    losses: Any
    """Loss table, see `base.loss`."""
    outages: Any
    """Start and end of each outage [ns], [path, hop, outage, 2]."""
    out: Any
    """Outcomes (`Out`)."""
    route: Route
    """Path while no hop has an outage."""
    burst: Any
    """Window at which bursts of slow start overflow a queue [packet]; ENDLESS if they do not."""
    probe_rtt: Any
    """RTT of a probe without queues [ns]; 0 for senders that send none."""


def scratch_words(rows: Rows, *, mobile: bool) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    journey = handovers.scratch_words(rows) if mobile else 0
    return WAY + words(rows.hops.shape[2]) + journey, int(FlowFloat.SIZE)


def simulate(
    p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    end = WAY + words(hops.shape[1])
    for word in range(end):
        m[word] = 0
    for column in range(len(out)):
        out[column] = 0
    out[Out.COMPLETED] = NEVER
    w, j, size = m[WAY:], m[end:], p[RowP.DATA] + p[RowP.HEADER]
    probe_rtt = np.int64(0)
    if RESPONSE != LossResponse.PLAIN:
        probe_rtt = prepare(p, hops, losses, w, PATH, p[RowP.HEADER]).base_rtt
    route = prepare(p, hops, losses, w, PATH, size)
    probe_rtt -= route.base_rtt
    if MOBILE:
        route = handovers.prepare(p, hops, outages, w, j, out, route)
        gaps.prepare(p, hops, losses, w, PATH, np.int64(1 if p[TcpP.HANDSHAKE] > 0 and KIND != VEGAS else 0))
    prepare_flow(p, m, g)
    if linux.has(KIND):
        linux.begin(g, p, route.service, float(route.base_rtt))
        bbr.begin(g, 0, 1.0)
        bbr3.begin(g)
    loss.draw_first(m, p)
    if DELAYS:
        delays.prepare_path(hops, m, np.int64(end), size)
    burst = np.int64(ENDLESS)
    if linux.has(KIND):
        burst = burst_room(hops, PATH, size, route.service / 2.0)
    elif RESPONSE != LossResponse.PLAIN:
        burst = burst_room(hops, PATH, size, 0.0)
    row = Row(p, m, g, w, j, hops, losses, outages, out, route, burst, route.base_rtt + probe_rtt)
    t = _connect(row)
    while t < p[RowP.END] and out[Out.COMPLETED] == NEVER:
        t = _step(row, t)
    report(p, m, out)
    if DELAYS:
        delays.report_path(m, out[OUT:])
    return 0


def _connect(row: Row) -> Any:
    """Perform the handshake, if there is one; return when the first data are sent [ns]."""
    p, w, s = row.p, row.w, row.s
    t = p[RowP.START]
    _find_outage(row, t)
    if p[TcpP.HANDSHAKE] > 0 and KIND != VEGAS:
        rto = p[ReliableP.INITIAL_RTO]
        while is_down(w, t) and t < p[RowP.END]:
            t += rto
            rto = min(2 * rto, p[ReliableP.MAX_RTO])
            _find_outage(row, t)
        t += row.route.base_rtt
        if t == p[RowP.START] + row.route.base_rtt:
            timer.measure(s, p, p[RowP.START], t)
    return t


def _find_outage(row: Row, t: Any) -> None:
    """Find the next outage after `t` [ns]; outages of a mobile host's radio link are handovers."""
    if MOBILE:
        find_outage(row.hops[:, : row.j[handovers.Word.RADIO]], row.outages, row.w, PATH, t)
    else:
        find_outage(row.hops, row.outages, row.w, PATH, t)


def _step(row: Row, t: Any) -> Any:
    """Simulate a round from `t` on; return when the next round begins [ns]."""
    p, s, route = row.p, row.s, row.route
    begin, rtt = t, _round_trip(row)
    t = settle(row, begin, advance(row, t))
    sample(p, row.g[FlowFloat.CWND], row.out, begin, min(t, p[RowP.END]), rtt)
    if is_waiting(s):
        t = max(t, s[FlowWord.UNTIL])
        s[FlowWord.STATE] = State.OPEN
    if DELAYS:
        arrived = min(through(row) - s[FlowWord.AFTER_END], s[FlowWord.LIMIT]) >> ONE_BITS
        delays.passed(p, s, arrived, np.int64(rtt) - route.base_rtt)
    return t


def settle(row: Row, begin: Any, until: Any) -> Any:
    """Count as in flight what arrives after the end of the run; see `arrivals`."""
    return arrivals.settle(row.p, row.s, row.out, row.route.service, row.route.one_way, begin, until)


def _round_trip(row: Row) -> Any:
    """Return the RTT with the window in flight, including the queueing delay at the slowest hop [ns]."""
    packets = np.int64(row.g[FlowFloat.CWND])
    return max(float(row.route.base_rtt), float(min(packets, row.route.capacity)) * row.route.service)


def _room(row: Row) -> Any:
    """Return the number of packets in flight that path and queues hold.

    In slow start ACKs release bursts at twice the rate of the slowest hop, and a sender may resume with its
    whole window at once; then queues overflow with fewer packets.
    """
    room, g = row.route.capacity, row.g
    if RESPONSE != LossResponse.PLAIN and row.s[FlowWord.BURST] == 1:
        return min(room, row.burst)
    if linux.has(KIND) and KIND not in (LINUX_BBR, LINUX_BBR3) and g[FlowFloat.CWND] < g[FlowFloat.SSTHRESH]:
        room = min(room, row.burst)
    return room


def look_ahead(row: Row, t: Any) -> Any:
    """Return the `Span` that begins at `t` [ns]; see `round`."""
    p, s, w, route = row.p, row.s, row.w, row.route
    packets, rtt = np.int64(row.g[FlowFloat.CWND]), _round_trip(row)
    if RESPONSE != LossResponse.PLAIN:
        if window_left(s, row.g, through(row)) > _room(row) + 1 - s[FlowWord.BURST]:
            return Span(packets, rtt, np.int64(0), 0.0, Cause.OVERFLOW)
        s[FlowWord.BURST] = 0
    if MOBILE or w[RouteWord.UP] <= t:
        _find_outage(row, t)
    if MOBILE:
        length = np.int64(rtt)
        handovers.find(p, w, row.j, t, length, max(length - route.base_rtt, np.int64(0)), packets)
        expected, hazard = packets << ONE_BITS, next_loss(row)
    else:
        expected, hazard = _expected(route, packets), s[FlowWord.HAZARD] if route.loss < ONE else np.int64(0)
    repaired = s[FlowWord.UNTIL] if s[FlowWord.STATE] == State.RECOVERY else np.int64(0)
    return until_event(p, _room(row), w[RouteWord.DOWN], t, packets, rtt, expected, hazard, repaired)


def _expected(route: Route, packets: Any) -> Any:
    """Return the expected number of random losses in a window [UNIT_BITS]."""
    return min(packets * route.loss_odds, np.int64(loss.MOST_EXPECTED)) << (UNIT_BITS - ONE_BITS)


def through(row: Row) -> Any:
    """Return the distinct packets delivered so far [packet, ONE_BITS]."""
    s = row.s
    return s[FlowWord.SENT] - (arrivals.lost(row.out) << ONE_BITS) - s[FlowWord.DUPLICATES]


def complete(row: Row, span: Span, flow: Any, left: Any, t: Any) -> Any:
    """Record the end of a finite transfer; see `round`."""
    return arrivals.complete(row.out, row.route, span.length, flow, left, t)


def carry(row: Row, span: Span, flow: Any) -> None:
    """Count the random losses of `flow` [packet, ONE_BITS]; see `round`."""
    if MOBILE:
        lose(row, max(flow, 0))
    else:
        row.s[FlowWord.HAZARD] -= np.int64(float(_expected(row.route, span.packets)) * span.part)


def next_loss(row: Row) -> Any:
    """Return the packets that are delivered until the next random loss [packet, ONE_BITS]."""
    return gaps.until_loss(row.hops, row.w, PATH)


def lose(row: Row, flow: Any) -> Any:
    """Send `flow` [packet, ONE_BITS]; count and return its random losses."""
    lost = gaps.lose(row.p, row.hops, row.losses, row.w, PATH, flow)
    row.out[Out.DROPS_RANDOM] += lost
    return lost


def interrupt(row: Row, span: Span, t: Any) -> Any:
    """React to the losses or the handover that end a span at `t` [ns]; see `round`."""
    g, route = row.g, row.route
    if MOBILE and span.cause == Cause.OUTAGE and row.j[handovers.Word.KEPT] == 1:
        return _hand_over(row, t, span.rtt)
    if span.cause == Cause.OVERFLOW:
        most = 1 if RESPONSE == LossResponse.PLAIN else route.capacity
        g[FlowFloat.CWND] = min(g[FlowFloat.CWND], float(_room(row) + most))
    packets = window_left(row.s, g, through(row))
    if span.cause == Cause.OVERFLOW and packets <= _room(row):
        return t  # the remaining packets fit into the queue
    rtt = max(span.rtt, float(min(packets, route.capacity)) * route.service)
    if RESPONSE != LossResponse.PLAIN and row.s[FlowWord.BURST] == 1:  # retransmissions are sent first
        row.s[FlowWord.RECOVER] = max(row.s[FlowWord.RECOVER] - (_room(row) << ONE_BITS), np.int64(0))
    cwnd = g[FlowFloat.CWND]
    send_window(row, span.cause, packets, rtt, t)
    if RESPONSE != LossResponse.PLAIN:
        g[FlowFloat.CWND] = cwnd
    return _detect(row, t + np.int64(rtt), rtt)


def drop(row: Row, cause: Any, packets: Any, t: Any, rtt: Any) -> Any:
    """Count and return the losses in a window of `packets` packets; see `round`."""
    s, out, route, cwnd = row.s, row.out, row.route, row.g[FlowFloat.CWND]
    hits = np.int64(0)
    if cause == Cause.OVERFLOW:
        sent = packets if RESPONSE != LossResponse.PLAIN else np.int64(cwnd)
        hits = min(max(sent - _room(row) - 1, np.int64(1)), packets)
        out[Out.DROPS_QUEUE] += hits
    elif cause == Cause.OUTAGE:
        share = min(float(row.w[RouteWord.UP] - t) / rtt, 1.0)
        hits = min(max(np.int64(cwnd * share), np.int64(1)), packets)
        out[Out.DROPS_OUTAGE] += hits
    if MOBILE:  # the other packets may be lost at random
        return hits + lose(row, (packets - hits) << ONE_BITS)
    lost = loss.lose_first(s, row.p) if cause == Cause.RANDOM else np.int64(0)
    lost += loss.lose(s, row.p, packets - hits - lost, route.loss_odds)
    out[Out.DROPS_RANDOM] += lost
    return hits + lost


def _detect(row: Row, t: Any, rtt: Any) -> Any:
    """Detect the losses at `t`; return when the sender resumes, unless it waits for its timer [ns].

    With a mobile host random losses are those of the packet engine.
    """
    if RESPONSE != LossResponse.PLAIN:
        return probing.react(row, t, rtt)
    chance = lose_retransmission(row) if MOBILE else row.route.loss * loss.at_risk(row.s, row.g)
    if linux.has(KIND) and is_down(row.w, t + np.int64(2.0 * rtt)):  # a tail loss probe is lost
        chance = np.int64(ONE) * loss.at_risk(row.s, row.g)
    detect(row, t, rtt, chance)
    return t


def answered(row: Row, t: Any) -> Any:
    """Return when a probe sent at `t` is answered [ns]; FOREVER if an outage or a handover loses it."""
    w, told = row.w, t + row.probe_rtt
    _find_outage(row, t)
    if MOBILE:
        handovers.find(row.p, w, row.j, t, row.probe_rtt, np.int64(0), np.int64(1))
        if row.j[handovers.Word.KEPT] == 1 and t >= w[RouteWord.UP]:
            return max(told, w[RouteWord.RESUME])
    return np.int64(FOREVER) if is_down(w, t) else told


def few(row: Row, packets: Any, holes: Any) -> Any:
    """Return `packets`, or what a finite transfer has left beside `holes` losses, if less [packet]."""
    left = to_send(row.s, through(row))
    return min(packets, max(((left + ONE - 1) >> ONE_BITS) - holes, np.int64(0)))


def repair(row: Row, repairs: Any, packets: Any, burst: Any) -> Any:
    """Send `repairs` retransmissions and then `packets` new packets, in a `burst` at once.

    Returns the losses among the new packets, among the retransmissions, and those of the new packets that a
    queue drops.
    """
    s, out, route = row.s, row.out, row.route
    s[FlowWord.SENT] += (packets + repairs) << ONE_BITS
    room = min(row.burst, route.capacity) if burst else route.capacity
    over = max(repairs + packets - room, np.int64(0))
    again, lost = max(over - packets, np.int64(0)), min(over, packets)
    out[Out.DROPS_QUEUE] += over
    if MOBILE:
        again += lose(row, (repairs - again) << ONE_BITS)
        return lost + lose(row, (packets - lost) << ONE_BITS), again, lost
    first = loss.lose(s, row.p, repairs - again, route.loss_odds)
    second = loss.lose(s, row.p, packets - lost, route.loss_odds)
    out[Out.DROPS_RANDOM] += first + second
    return lost + second, again + first, lost


def probe_loss(row: Row) -> Any:
    """Return the probability that a probe is lost at random; answers are not lost."""
    return float(row.route.loss) / float(ONE)


def _hand_over(row: Row, t: Any, rtt: Any) -> Any:
    """Simulate a handover in which part of a window sent from `t` on is lost and the rest arrives late.

    Returns when the sender detects that [ns].
    """
    p, s, g, w, out, route = row.p, row.s, row.g, row.w, row.out, row.route
    packets = window_left(s, g, through(row))
    alone = w[RouteWord.DOWN] < t  # no packet is in flight that could be acknowledged
    if alone:
        s[FlowWord.SENT] += packets << ONE_BITS
    else:
        send(row, packets << ONE_BITS, packets << ONE_BITS, rtt, 1.0, t, False)
    share = min(max(float(w[RouteWord.UP] - t) / rtt, 0.0), 1.0)
    hits = min((np.int64(2.0 * (g[FlowFloat.CWND] * share)) + 1) >> 1, packets)
    if w[RouteWord.UP] > t:
        hits = max(hits, np.int64(1))
    room = row.j[handovers.Word.ROOM]
    out[Out.DROPS_BUFFER if room == 0 and p[MobileP.BUFFER] > 0 else Out.DROPS_HANDOVER] += hits
    resume = w[RouteWord.RESUME]
    over = np.int64(0)
    if resume > t + np.int64(rtt):  # the other packets are buffered
        over = max(packets - hits - room, np.int64(0))
        out[Out.DROPS_BUFFER] += over
    hits += over + lose(row, (packets - hits - over) << ONE_BITS)
    if not alone:
        t += np.int64(rtt)
    late = False
    if hits < packets:
        expires = t + timer.length(s, p)
        late = expires < resume
        if RESPONSE != LossResponse.PLAIN and late:
            s[FlowWord.LOST_IN_ROUND] = hits
            return probing.on_timeout(row, expires, rtt)
        if late:  # spurious timeout
            if linux.has(KIND):
                linux.on_spurious_timeout(g, KIND)
            else:
                window.on_timeout(g, KIND, rtt)
            while expires < resume:
                s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
                s[FlowWord.SENT] += ONE
                s[FlowWord.DUPLICATES] += ONE
                timer.back_off(s, p)
                expires += timer.length(s, p)
            s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
            if linux.has(KIND):  # timestamps measure the interruption (RFC 7323, section 4.1)
                timer.measure(s, p, t if alone else t - np.int64(rtt), resume)
            else:
                if hits == 0:  # buffered packets arrive at once and increase the window
                    g[FlowFloat.CWND] = window.open_to(g, min(1.0 + float(packets), g[FlowFloat.SSTHRESH]))
                s[FlowWord.RECOVER] = packets << ONE_BITS
            if KIND == VEGAS:  # measured from the spacing of packets that arrive at once
                g[FlowFloat.MIN_RTT] = min(g[FlowFloat.MIN_RTT], route.service)
        elif resume > t and not alone:  # the interruption is part of a measured RTT
            timer.measure(s, p, t - np.int64(rtt), resume)
        t = max(t, resume)
    if hits > 0:
        s[FlowWord.LOST_IN_ROUND] = hits
        t = _detect(row, t, rtt)
        if late and KIND == LINUX_BBR:  # conserves packets (`bbr_set_cwnd_to_recover_or_restore`)
            g[FlowFloat.CWND] = min(g[FlowFloat.CWND], float(packets - hits))
        if alone and s[FlowWord.STATE] == State.RECOVERY:  # duplicate ACKs need a round trip
            t += np.int64(rtt)
    return t
