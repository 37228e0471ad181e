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
from netcarlo.kernels.fluid import loss, window
from netcarlo.kernels.fluid.report import report, sample
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, PACKET, UNIT_BITS, FlowFloat, FlowWord, State
from netcarlo.kernels.fluid.trouble import Cause, until_trouble
from netcarlo.kernels.fluid.way import Way, WayWord, find_outage, is_down, prepare, words
from netcarlo.kernels.shared.layout import TAHOE, VEGAS

KIND: Any = slot("kind")  # of the TCP, one of `shared.layout.KINDS`


WAY = int(FlowWord.SIZE)
"""The words of the path, behind those of the flow."""


def scratch_words(rows: Rows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    return WAY + words(rows.hops.shape[2]), int(FlowFloat.SIZE)


def simulate(
    p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Integrate one row; see `models` for the arguments."""
    for word in range(len(m)):
        m[word] = 0
    for column in range(len(out)):
        out[column] = 0
    out[Out.COMPLETED] = NEVER
    way = prepare(p, hops, losses, m[WAY:], np.int64(0), p[P.DATA] + p[P.HEADER])
    _prepare_flow(p, m, g)
    t = _connect(p, hops, outages, m, way.base)
    while t < p[P.END] and out[Out.COMPLETED] == NEVER:
        t = _advance(p, hops, outages, way, m, g, out, t)
    report(m, out)
    return 0


def _prepare_flow(p: Any, m: Any, g: Any) -> None:
    m[FlowWord.KIND] = KIND
    m[FlowWord.BACKOFF] = 1
    m[FlowWord.MIN_RTO] = p[P.MIN_RTO]
    m[FlowWord.STATE] = State.OPEN
    m[FlowWord.LIMIT] = p[P.LIMIT] << ONE_BITS if p[P.LIMIT] < ENDLESS else ENDLESS
    m[FlowWord.DELAYED] = 1 if p[P.ACK_EVERY] > 1 else 0
    window.begin(g, p, 1)
    loss.draw_first(m, p)


def _connect(p: Any, hops: Any, outages: Any, m: Any, base: Any) -> Any:
    # The handshake, if there is one: when the first data are put out [ns].
    t = p[P.START]
    find_outage(hops, outages, m[WAY:], np.int64(0), t)
    if p[P.HANDSHAKE] > 0 and KIND != VEGAS:
        timer = p[P.INITIAL_RTO]
        while is_down(m[WAY:], t) and t < p[P.END]:
            t += timer
            timer = min(2 * timer, p[P.MAX_RTO])
            find_outage(hops, outages, m[WAY:], np.int64(0), t)
        t += base
    return t


def _advance(
    p: Any, hops: Any, outages: Any, way: Way, m: Any, g: Any, out: Any, t: Any
) -> Any:  # fmt: skip
    # A round trip, or the time to the next loss, from `t` on; when the next begins [ns].
    if m[FlowWord.STATE] == State.REPAIR and t >= m[FlowWord.UNTIL]:
        m[FlowWord.STATE] = State.OPEN
    if g[FlowFloat.CWND] >= loss.DUPACKS:
        m[FlowWord.BACKOFF] = 1
    if m[WAY + WayWord.UP] <= t:
        find_outage(hops, outages, m[WAY:], np.int64(0), t)
    before = t
    packets = np.int64(g[FlowFloat.CWND])
    rtt: Any = max(float(way.base), float(min(packets, way.room)) * way.each)
    expected = packets * way.chance << (UNIT_BITS - ONE_BITS)  # losses in a round trip
    repaired = m[FlowWord.UNTIL] if m[FlowWord.STATE] == State.REPAIR else np.int64(0)
    length, part, cause = until_trouble(
        p, way, m[WAY + WayWord.DOWN], t, packets, rtt, expected, m[FlowWord.HAZARD], repaired
    )
    flow: Any = np.int64(float(packets) * part * ONE)
    gone = out[Out.DROPS_QUEUE] + out[Out.DROPS_RANDOM] + out[Out.DROPS_OUTAGE]
    left = m[FlowWord.LIMIT] - (m[FlowWord.SENT] - (gone << ONE_BITS) - m[FlowWord.REPEATED])
    if flow >= left:
        more = float(left) / float(max(flow, 1))
        out[Out.COMPLETED] = t + np.int64(float(length) * more) + (way.base >> 1)
        flow = left
        cause = Cause.NOTHING
    twice = min(m[FlowWord.TWICE], flow)
    m[FlowWord.TWICE] -= twice
    m[FlowWord.REPEATED] += twice
    m[FlowWord.HAZARD] -= np.int64(float(expected) * part)
    frozen = m[FlowWord.STATE] == State.REPAIR and KIND != TAHOE
    _put_out(m, g, flow, rtt, part, t, frozen)
    t += length
    if cause != Cause.NOTHING:
        if cause == Cause.RANDOM:
            m[FlowWord.HAZARD] -= expected
        t = _suffer(p, way, m, g, out, cause, t, rtt)
    sample(p, g[FlowFloat.CWND], out, before, min(t, p[P.END]), rtt)
    if m[FlowWord.STATE] == State.SILENCE:
        t = m[FlowWord.UNTIL]
        m[FlowWord.STATE] = State.OPEN
    return t


def _put_out(m: Any, g: Any, flow: Any, rtt: Any, rounds: Any, t: Any, frozen: Any) -> None:
    # `flow` is put out and acknowledged; the window grows as in `rounds` round trips.
    m[FlowWord.SENT] += flow
    acked = float(flow >> m[FlowWord.DELAYED]) * PACKET
    window.grow(g, KIND, acked, rtt, rounds, window.clock(t), frozen)


def _suffer(p: Any, way: Way, m: Any, g: Any, out: Any, cause: Any, t: Any, rtt: Any) -> Any:
    # Packets are lost at `t`; returns when the sender knows: a round trip later [ns].
    if cause == Cause.OVERFLOW:
        g[FlowFloat.CWND] = min(g[FlowFloat.CWND], float(way.room + 1))
    packets = np.int64(g[FlowFloat.CWND])
    _put_out(m, g, packets << ONE_BITS, rtt, 1.0, t, False)
    hits = np.int64(1)
    if cause == Cause.OVERFLOW:
        hits = max(np.int64(g[FlowFloat.CWND]) - way.room - 1, hits)
        out[Out.DROPS_QUEUE] += min(hits, packets)
    elif cause == Cause.OUTAGE:
        share = min(float(m[WAY + WayWord.UP] - t) / rtt, 1.0)
        hits = max(np.int64(g[FlowFloat.CWND] * share), hits)
        out[Out.DROPS_OUTAGE] += min(hits, packets)
    else:
        if KIND == TAHOE and m[FlowWord.STATE] == State.REPAIR:
            hits = np.int64(loss.BEYOND_REPAIR)
        loss.draw_next(m, p)
        while m[FlowWord.HAZARD] < 0:
            hits += 1
            loss.draw_next(m, p)
        out[Out.DROPS_RANDOM] += min(hits, packets)
    t += np.int64(rtt)
    m[FlowWord.HITS] = hits
    loss.conclude(m, g, p, t, rtt, 1, way.chance)
    return t
