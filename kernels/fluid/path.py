"""One TCP over a path whose links go down and come back, round trip by round trip.

The rate of the path is switched by the outages of its hops, given or drawn as a two-state Markov chain: what
is under way when one begins is lost, and the sender meets it again when its timer, backed off, runs out
after the end.  A step is a round trip, or the time to the next loss; so a run of minutes takes microseconds.

`m` and `g` begin with the words and floats of the flow (`FlowWord`, `FlowFloat`).
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import ENDLESS, FOREVER, NEVER, STATUS_OK, Hop, Out, P, Rows
from netcarlo.kernels.base.sums import add_times
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.fluid import loss, window
from netcarlo.kernels.fluid.chance import survival
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, PACKET, UNIT_BITS, FlowFloat, FlowWord, State
from netcarlo.kernels.shared.layout import TAHOE, VEGAS, FlowOut

KIND: Any = slot("kind")  # of the TCP, one of `shared.layout.KINDS`


class PathWord(IntEnum):
    """Words of the path, behind those of the flow."""

    DOWN = FlowWord.SIZE  # packets put out from then on are lost in the next outage [ns]
    UP = FlowWord.SIZE + 1  # and no longer from then on [ns]
    HOPS = FlowWord.SIZE + 2  # the words of the hops


class HopWord(IntEnum):
    """Words of a hop."""

    ENTERS = 0  # delay from the sender to its queue [ns]
    LEAVES = 1  # delay from the sender to its far end [ns]
    OUTAGE = 2  # its next outage
    SIZE = 3


class Way(NamedTuple):
    """The path while it is up."""

    base: Any  # round trip without queues [ns]
    each: Any  # a packet at the slowest hop, float [ns]
    room: Any  # packets that fit on it and into the queue of that hop
    chance: Any  # probability of random loss, ONE_BITS


class Cause(IntEnum):
    """Why a round trip ends early, or badly."""

    NOTHING = 0
    RANDOM = 1
    OUTAGE = 2
    OVERFLOW = 3


def scratch_words(rows: Rows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    return PathWord.HOPS + HopWord.SIZE * rows.hops.shape[2], int(FlowFloat.SIZE)


def simulate(
    p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Integrate one row; see `models` for the arguments."""
    for word in range(len(m)):
        m[word] = 0
    for column in range(len(out)):
        out[column] = 0
    out[Out.COMPLETED] = NEVER
    way = _prepare_path(p, hops, losses, m)
    _prepare_flow(p, m, g)
    t = _connect(p, hops, outages, m, way.base)
    while t < p[P.END] and out[Out.COMPLETED] == NEVER:
        t = _advance(p, hops, outages, way, m, g, out, t)
    _report(m, out)
    return 0


def _prepare_path(p: Any, hops: Any, losses: Any, m: Any) -> Way:
    base = np.int64(0)
    slowest = 1.0  # [ns / packet]
    limit = np.int64(0)
    survive = np.int64(ONE)
    for hop in range(hops.shape[1]):
        h = hops[0, hop]
        if h[Hop.PRESENT] != 0:
            times = m[PathWord.HOPS + HopWord.SIZE * hop :]
            tx = on_wire(p[P.DATA] + p[P.HEADER], h[Hop.BYTE_TIME])
            times[HopWord.ENTERS] = base
            base += tx + h[Hop.DELAY]
            times[HopWord.LEAVES] = base
            left = 1.0  # by cross traffic
            if h[Hop.CROSS_EVERY] > 0:
                left = 1.0 - float(on_wire(h[Hop.CROSS_SIZE], h[Hop.BYTE_TIME])) / float(h[Hop.CROSS_EVERY])
            each = float(tx) / max(left, 0.01)
            if each > slowest:
                slowest = each
                limit = h[Hop.QUEUE]
            survive = (survive * np.int64(survival(losses, h[Hop.LOSS]) * ONE)) >> ONE_BITS
    for hop in range(hops.shape[1]):
        h = hops[0, hop]
        if h[Hop.PRESENT] != 0:
            base += h[Hop.R_DELAY] + on_wire(p[P.ACK], h[Hop.R_BYTE_TIME])
    room = np.int64(float(base) / slowest) + limit if limit > 0 else np.int64(ENDLESS)
    return Way(base, slowest, room, ONE - survive)


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
    _find_outage(hops, outages, m, t)
    if p[P.HANDSHAKE] > 0 and KIND != VEGAS:
        timer = p[P.INITIAL_RTO]
        while m[PathWord.DOWN] <= t < m[PathWord.UP] and t < p[P.END]:
            t += timer
            timer = min(2 * timer, p[P.MAX_RTO])
            _find_outage(hops, outages, m, t)
        t += base
    return t


def _find_outage(hops: Any, outages: Any, m: Any, t: Any) -> None:
    # DOWN and UP of the first outage, to a packet put out at `t` [ns] or later.
    m[PathWord.DOWN] = FOREVER
    m[PathWord.UP] = FOREVER
    for hop in range(hops.shape[1]):
        if hops[0, hop, Hop.PRESENT] != 0:
            times = m[PathWord.HOPS + HopWord.SIZE * hop :]
            enters, k = times[HopWord.ENTERS], times[HopWord.OUTAGE]
            while k < outages.shape[2] and outages[0, hop, k, 1] - enters <= t:
                k += 1
            times[HopWord.OUTAGE] = k
            if k < outages.shape[2]:
                down = outages[0, hop, k, 0] - times[HopWord.LEAVES]
                if down < m[PathWord.DOWN]:
                    m[PathWord.DOWN] = down
                    m[PathWord.UP] = outages[0, hop, k, 1] - enters


def _advance(
    p: Any, hops: Any, outages: Any, way: Way, m: Any, g: Any, out: Any, t: Any
) -> Any:  # fmt: skip
    # A round trip, or the time to the next loss, from `t` on; when the next begins [ns].
    if m[FlowWord.STATE] == State.REPAIR and t >= m[FlowWord.UNTIL]:
        m[FlowWord.STATE] = State.OPEN
    if g[FlowFloat.CWND] >= loss.DUPACKS:
        m[FlowWord.BACKOFF] = 1
    if m[PathWord.UP] <= t:
        _find_outage(hops, outages, m, t)
    before = t
    packets = np.int64(g[FlowFloat.CWND])
    rtt: Any = max(float(way.base), float(min(packets, way.room)) * way.each)
    expected = packets * way.chance << (UNIT_BITS - ONE_BITS)  # losses in a round trip
    length, part, cause = _until_trouble(p, way, m, t, packets, rtt, expected)
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
    _sample(p, g, out, before, min(t, p[P.END]), rtt)
    if m[FlowWord.STATE] == State.SILENCE:
        t = m[FlowWord.UNTIL]
        m[FlowWord.STATE] = State.OPEN
    return t


def _until_trouble(
    p: Any, way: Way, m: Any, t: Any, packets: Any, rtt: Any, expected: Any
) -> tuple[Any, Any, Any]:
    # How long all goes well [ns], which part of a round trip that is, and the cause of its end.
    length = np.int64(rtt)
    repairs = m[FlowWord.STATE] == State.REPAIR
    if repairs:
        length = min(length, m[FlowWord.UNTIL] - t)
    cause = Cause.OVERFLOW if packets > way.room and not repairs else Cause.NOTHING
    part = float(length) / rtt
    if float(m[FlowWord.HAZARD]) < float(expected) * part:
        part = float(m[FlowWord.HAZARD]) / float(expected)
        length = np.int64(part * rtt)
        cause = Cause.RANDOM
    if m[PathWord.DOWN] < t + length:
        length = max(m[PathWord.DOWN] - t, np.int64(0))
        part = float(length) / rtt
        cause = Cause.OUTAGE
    if t + length > p[P.END]:
        length = p[P.END] - t
        part = float(length) / rtt
        cause = Cause.NOTHING
    return length, part, cause


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
        share = min(float(m[PathWord.UP] - t) / rtt, 1.0)
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


def _sample(p: Any, g: Any, out: Any, before: Any, now: Any, rtt: Any) -> None:
    # Samples are due at (k + 1/2) of their interval: those from `before` to `now` [ns].
    half = p[P.SAMPLE] >> 1
    count = (now + half) // p[P.SAMPLE] - (before + half) // p[P.SAMPLE]
    out[Out.SAMPLES] += count
    add_times(out, Out.CWND_SUM, Out.CWND_SUM_HIGH, count, np.int64(g[FlowFloat.CWND] * 1024.0))
    add_times(out, Out.RTT_SUM, Out.RTT_SUM_HIGH, count, np.int64(rtt))


def _report(m: Any, out: Any) -> None:
    dropped = out[Out.DROPS_QUEUE] + out[Out.DROPS_RANDOM] + out[Out.DROPS_OUTAGE]
    received = (m[FlowWord.SENT] - (dropped << ONE_BITS)) >> ONE_BITS
    distinct = received - (m[FlowWord.REPEATED] >> ONE_BITS)
    counts = m[FlowWord.COUNTS :]
    out[Out.STATUS] = STATUS_OK
    out[Out.RECEIVED] = received
    out[Out.DELIVERED] = distinct
    out[Out.IN_ORDER] = distinct
    out[Out.ACKED] = distinct
    out[Out.SENT] = received + dropped
    out[Out.RETRANSMITTED] = out[Out.SENT] - distinct
    out[Out.TIMEOUTS] = counts[FlowOut.TIMEOUTS]
    out[Out.FAST_RETRANSMITS] = counts[FlowOut.FAST_RETRANSMITS]
    out[Out.CWND_CUTS] = counts[FlowOut.CWND_CUTS]
    out[Out.FIRST_RX] = NEVER
    out[Out.LAST_RX] = NEVER
    out[Out.RESUME_TX] = NEVER
    out[Out.RESUME_RX] = NEVER
    out[Out.RTT_SAMPLES] = out[Out.SAMPLES]
