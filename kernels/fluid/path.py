"""One TCP over a path whose links go down and come back, round trip by round trip.

The rate of the path is switched by the outages of its hops, given or drawn as a two-state Markov chain: what
is under way when one begins is lost, and the sender meets it again when its timer, backed off, runs out
after the end.  A step is a round trip, or the time to the next loss; so a run of minutes takes microseconds.

`m` and `g` begin with the words and floats of the flow (`FlowWord`, `FlowFloat`).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import ENDLESS, NEVER, Out, P, Rows
from netcarlo.kernels.fluid import arrivals, delays, gaps, handovers, loss, timer, window
from netcarlo.kernels.fluid.report import report, sample
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, PACKET, UNIT_BITS, FlowFloat, FlowWord, State
from netcarlo.kernels.fluid.trouble import Cause, until_trouble
from netcarlo.kernels.fluid.way import Way, WayWord, find_outage, is_down, prepare, words
from netcarlo.kernels.senders import TAHOE, VEGAS
from netcarlo.kernels.shared.layout import FlowOut

KIND: Any = slot("kind")  # number of the TCP, see `senders`
MOBILE: Any = slot("mobile")  # the last hop is the radio link of a host that moves
DELAYS: Any = slot("delays")


OUT = len(Out)
WAY = int(FlowWord.SIZE)
"""The words of the path, behind those of the flow."""


def scratch_words(rows: Rows, *, mobile: bool) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    journey = handovers.scratch_words(rows) if mobile else 0
    return WAY + words(rows.hops.shape[2]) + journey, int(FlowFloat.SIZE)


def _journey(hops: Any) -> Any:
    # Where the words of the journey begin.
    return WAY + words(hops.shape[1])


def simulate(
    p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Integrate one row; see `models` for the arguments."""
    for word in range(_journey(hops)):
        m[word] = 0
    for column in range(len(out)):
        out[column] = 0
    out[Out.COMPLETED] = NEVER
    way = prepare(p, hops, losses, m[WAY:], np.int64(0), p[P.DATA] + p[P.HEADER])
    if MOBILE:
        way = handovers.prepare(p, hops, outages, m[WAY:], m[_journey(hops) :], out, way)
        before = 1 if p[P.HANDSHAKE] > 0 and KIND != VEGAS else 0
        gaps.prepare(p, hops, losses, m[WAY:], np.int64(0), np.int64(before))
    _prepare_flow(p, m, g)
    if DELAYS:
        delays.prepare_path(hops, m, np.int64(_journey(hops)), p[P.DATA] + p[P.HEADER])
    t = _connect(p, hops, outages, m, way.base)
    if p[P.HANDSHAKE] > 0 and KIND != VEGAS and t == p[P.START] + way.base:
        timer.measure(m, p, p[P.START], t)
    while t < p[P.END] and out[Out.COMPLETED] == NEVER:
        wait = np.int64(_round_trip(way, g)) - way.base
        t = _advance(p, hops, outages, losses, way, m, g, out, t)
        if DELAYS:
            delays.passed(p, m, min(_through(m, out) - m[FlowWord.LATE], m[FlowWord.LIMIT]) >> ONE_BITS, wait)
    report(p, m, out)
    if DELAYS:
        delays.report_path(m, out[OUT:])
    return 0


def _prepare_flow(p: Any, m: Any, g: Any) -> None:
    m[FlowWord.KIND] = KIND
    m[FlowWord.MIN_RTO] = p[P.MIN_RTO]
    m[FlowWord.STATE] = State.OPEN
    m[FlowWord.LIMIT] = p[P.LIMIT] << ONE_BITS if p[P.LIMIT] < ENDLESS else ENDLESS
    m[FlowWord.DELAYED] = 1 if p[P.ACK_EVERY] > 1 else 0
    window.begin(g, p, 1)
    timer.begin(m, p)
    loss.draw_first(m, p)


def _look_out(hops: Any, outages: Any, m: Any, t: Any) -> None:
    # The next outage; those of a radio link are handovers.
    if MOBILE:
        radio = m[_journey(hops) + handovers.Word.RADIO]
        find_outage(hops[:, :radio], outages, m[WAY:], np.int64(0), t)
    else:
        find_outage(hops, outages, m[WAY:], np.int64(0), t)


def _connect(p: Any, hops: Any, outages: Any, m: Any, base: Any) -> Any:
    # The handshake, if there is one: when the first data are put out [ns].
    t = p[P.START]
    _look_out(hops, outages, m, t)
    if p[P.HANDSHAKE] > 0 and KIND != VEGAS:
        timer = p[P.INITIAL_RTO]
        while is_down(m[WAY:], t) and t < p[P.END]:
            t += timer
            timer = min(2 * timer, p[P.MAX_RTO])
            _look_out(hops, outages, m, t)
        t += base
    return t


def _find(p: Any, hops: Any, outages: Any, m: Any, way: Way, t: Any, rtt: Any, packets: Any) -> None:
    # The next interruption.
    if MOBILE or m[WAY + WayWord.UP] <= t:
        _look_out(hops, outages, m, t)
    if MOBILE:
        length = np.int64(rtt)
        wait = max(length - way.base, np.int64(0))
        handovers.find(p, m[WAY:], m[_journey(hops) :], t, length, wait, packets)


def _round_trip(way: Way, g: Any) -> Any:
    # Of a window, with what waits of it.
    packets = np.int64(g[FlowFloat.CWND])
    return max(float(way.base), float(min(packets, way.room)) * way.each)


def _through(m: Any, out: Any) -> Any:
    # Distinct packets that got through.
    return m[FlowWord.SENT] - (arrivals.lost(out) << ONE_BITS) - m[FlowWord.REPEATED]


def _advance(
    p: Any, hops: Any, outages: Any, losses: Any, way: Way, m: Any, g: Any, out: Any, t: Any
) -> Any:  # fmt: skip
    # A round trip, or the time to the next loss, from `t` on; when the next begins [ns].
    if m[FlowWord.STATE] == State.REPAIR and t >= m[FlowWord.UNTIL]:
        m[FlowWord.STATE] = State.OPEN
    before = t
    packets, rtt = np.int64(g[FlowFloat.CWND]), _round_trip(way, g)
    _find(p, hops, outages, m, way, t, rtt, packets)
    expected = min(packets * way.odds, np.int64(loss.MOST_EXPECTED))  # losses in a round trip
    expected <<= UNIT_BITS - ONE_BITS
    hazard = m[FlowWord.HAZARD] if way.chance < ONE else np.int64(0)
    if MOBILE:  # those of the packets
        expected, hazard = packets << ONE_BITS, gaps.least(hops, m[WAY:], np.int64(0))
    repaired = m[FlowWord.UNTIL] if m[FlowWord.STATE] == State.REPAIR else np.int64(0)
    length, part, cause = until_trouble(
        p, way, m[WAY + WayWord.DOWN], t, packets, rtt, expected, hazard, repaired
    )
    flow: Any = np.int64(float(packets) * part * ONE)
    left = m[FlowWord.LIMIT] - _through(m, out)
    if flow >= left:
        length = np.int64(float(length) * (float(max(left, 0)) / float(max(flow, 1))))
        length = max(length, arrivals.served(left, way.each))
        out[Out.COMPLETED] = t + length + way.forth
        flow = left
        cause = Cause.NOTHING
    twice = max(min(m[FlowWord.TWICE], flow), 0)
    m[FlowWord.TWICE] -= twice
    m[FlowWord.REPEATED] += twice
    if MOBILE:
        out[Out.DROPS_RANDOM] += gaps.lose(p, hops, losses, m[WAY:], np.int64(0), max(flow, 0))
    else:
        m[FlowWord.HAZARD] -= np.int64(float(expected) * part)
    frozen = m[FlowWord.STATE] == State.REPAIR and KIND != TAHOE
    _put_out(p, m, g, flow, rtt, part, t, frozen, np.int64(0))
    t += length
    if cause != Cause.NOTHING:
        if MOBILE and cause == Cause.OUTAGE and m[_journey(hops) + handovers.Word.KEPT] == 1:
            t = _move(p, hops, losses, way, m, g, out, t, rtt)
        else:
            t = _suffer(p, hops, losses, way, m, g, out, cause, t, rtt)
    t = arrivals.settle(p, m, out, way.each, way.forth, before, t)
    sample(p, g[FlowFloat.CWND], out, before, min(t, p[P.END]), rtt)
    if m[FlowWord.STATE] == State.SILENCE:
        t = max(t, m[FlowWord.UNTIL])
        m[FlowWord.STATE] = State.OPEN
    return t


def _put_out(
    p: Any, m: Any, g: Any, flow: Any, rtt: Any, rounds: Any, t: Any, frozen: Any, unanswered: Any
) -> None:  # fmt: skip
    # `flow` is put out and acknowledged, but for so many packets, in so many round trips.
    m[FlowWord.SENT] += flow
    m[FlowWord.GUARDED] = max(m[FlowWord.GUARDED] - flow, np.int64(0))
    timer.pass_rounds(m, g, p, t, rtt, rounds)
    answered = max(flow - (unanswered << ONE_BITS), np.int64(0))
    acked = float(answered >> m[FlowWord.DELAYED]) * PACKET
    window.grow(g, KIND, acked, rtt, rounds, window.clock(t), frozen)


def _suffer(
    p: Any, hops: Any, losses: Any, way: Way, m: Any, g: Any, out: Any, cause: Any, t: Any, rtt: Any
) -> Any:
    # Packets are lost at `t`; returns when the sender knows: a round trip later [ns].
    if cause == Cause.OVERFLOW:
        g[FlowFloat.CWND] = min(g[FlowFloat.CWND], float(way.room + 1))
    packets, guarded = np.int64(g[FlowFloat.CWND]), m[FlowWord.GUARDED] > 0
    rtt = max(rtt, float(min(packets, way.room)) * way.each)
    _put_out(p, m, g, packets << ONE_BITS, rtt, 1.0, t, False, np.int64(1))
    hits = np.int64(1)
    if cause == Cause.OVERFLOW:
        hits = max(np.int64(g[FlowFloat.CWND]) - way.room - 1, hits)
        out[Out.DROPS_QUEUE] += min(hits, packets)
    elif cause == Cause.OUTAGE:
        share = min(float(m[WAY + WayWord.UP] - t) / rtt, 1.0)
        hits = max(np.int64(g[FlowFloat.CWND] * share), hits)
        out[Out.DROPS_OUTAGE] += min(hits, packets)
    else:
        if MOBILE:
            lost = gaps.lose(p, hops, losses, m[WAY:], np.int64(0), packets << ONE_BITS)
            hits += lost - 1
            out[Out.DROPS_RANDOM] += lost
        else:
            hits = loss.draw_hits(m, p, packets, way.odds)
            out[Out.DROPS_RANDOM] += min(hits, packets)
    t += np.int64(rtt)
    m[FlowWord.HITS] = hits + (loss.BEYOND_REPAIR if guarded else 0)
    _conclude(p, hops, losses, way, m, g, out, t, rtt)
    return t


def _conclude(
    p: Any, hops: Any, losses: Any, way: Way, m: Any, g: Any, out: Any, t: Any, rtt: Any
) -> None:  # fmt: skip
    # At `t` the sender knows of HITS losses.
    chance = way.chance * loss.at_stake(m, g)
    if MOBILE:  # whether a packet of the repair is lost is known
        needed = loss.at_stake(m, g) << ONE_BITS
        chance = np.int64(0)
        repairs = float(m[FlowWord.HITS]) < g[FlowFloat.CWND]
        if repairs and gaps.least(hops, m[WAY:], np.int64(0)) < needed:
            chance = np.int64(ONE)
            lost = gaps.lose(p, hops, losses, m[WAY:], np.int64(0), needed)
            m[FlowWord.SENT] += lost << ONE_BITS
            out[Out.DROPS_RANDOM] += lost
    loss.conclude(m, g, p, t, rtt, np.int64(1), chance, timer.length(m, p))
    if m[FlowWord.STATE] == State.SILENCE or KIND == VEGAS:  # Vegas doubles it at a fast retransmit, too
        timer.back_off(m, p)


def _move(p: Any, hops: Any, losses: Any, way: Way, m: Any, g: Any, out: Any, t: Any, rtt: Any) -> Any:
    # The host changes its router: a window from `t` on is lost in part, and the rest comes late; when the
    # sender knows [ns].
    packets = np.int64(g[FlowFloat.CWND])
    alone = m[WAY + WayWord.DOWN] < t  # nothing is out that could be acknowledged
    if alone:
        m[FlowWord.SENT] += packets << ONE_BITS
    else:
        _put_out(p, m, g, packets << ONE_BITS, rtt, 1.0, t, False, np.int64(0))
    share = min(max(float(m[WAY + WayWord.UP] - t) / rtt, 0.0), 1.0)
    hits = min((np.int64(2.0 * (g[FlowFloat.CWND] * share)) + 1) >> 1, packets)
    if m[WAY + WayWord.UP] > t:
        hits = max(hits, np.int64(1))
    room = m[_journey(hops) + handovers.Word.ROOM]
    out[Out.DROPS_BUFFER if room == 0 and p[P.BUFFER] > 0 else Out.DROPS_HANDOVER] += hits
    resume = m[WAY + WayWord.RESUME]
    over = np.int64(0)
    if resume > t + np.int64(rtt):  # the others wait
        over = max(packets - hits - room, np.int64(0))
        out[Out.DROPS_BUFFER] += over
    lost = gaps.lose(p, hops, losses, m[WAY:], np.int64(0), (packets - hits - over) << ONE_BITS)
    out[Out.DROPS_RANDOM] += lost
    hits += over + lost
    if not alone:
        t += np.int64(rtt)
    if hits < packets:
        expires = t + timer.length(m, p)
        if expires < resume:  # too late: the timer has gone off, for nothing
            window.collapse(g, KIND, rtt)
            while expires < resume:
                m[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
                m[FlowWord.SENT] += ONE
                m[FlowWord.REPEATED] += ONE
                timer.back_off(m, p)
                expires += timer.length(m, p)
            m[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
            if hits == 0:  # what was kept comes at once, and opens the window
                g[FlowFloat.CWND] = window.open_to(g, min(1.0 + float(packets), g[FlowFloat.SSTHRESH]))
            if KIND == VEGAS:  # by the spacing of what comes at once
                g[FlowFloat.LEAST_RTT] = min(g[FlowFloat.LEAST_RTT], way.each)
            m[FlowWord.GUARDED] = packets << ONE_BITS
        elif resume > t and not alone:  # the silence is part of a round trip that is measured
            timer.measure(m, p, t - np.int64(rtt), resume)
        t = max(t, resume)
    if hits > 0:
        m[FlowWord.HITS] = hits
        _conclude(p, hops, losses, way, m, g, out, t, rtt)
        if alone and m[FlowWord.STATE] == State.REPAIR:  # duplicate ACKs need a round trip
            t += np.int64(rtt)
    return t
