"""One TCP over a path whose links go down and come back, round trip by round trip.

The rate of the path is switched by the outages of its hops, given or drawn as a two-state Markov chain: what
is under way when one begins is lost, and the sender meets it again when its timer, backed off, runs out
after the end.  A step is a round trip, or the time to the next loss; so a run of minutes takes microseconds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import (
    BYTE_TIME_BITS,
    ENDLESS,
    FOREVER,
    NEVER,
    STATUS_OK,
    Hop,
    Out,
    P,
    Rows,
)
from netcarlo.kernels.base.loss import DIGITS
from netcarlo.kernels.base.sums import make_add_times
from netcarlo.kernels.fluid.loss import BEYOND_REPAIR, make_loss
from netcarlo.kernels.fluid.state import (
    BACKOFF,
    FLOW_COUNTS,
    FLOW_FLOATS,
    FLOW_WORDS,
    HAZARD,
    HITS,
    KIND,
    MIN_RTO,
    ONE,
    ONE_BITS,
    OPEN,
    REPAIR,
    REPEATED,
    SILENCE,
    STATE,
    TWICE,
    UNIT_BITS,
    UNTIL,
)
from netcarlo.kernels.fluid.window import (
    ALPHA,
    BETA,
    GAMMA,
    LEAST_RTT,
    MOST,
    SSTHRESH,
    TICK,
    W,
    make_window,
)
from netcarlo.kernels.fluid.window import FOREVER as NO_RTT
from netcarlo.kernels.shared.layout import TAHOE, VEGAS, FlowOut

_UNIT = 2.0**-ONE_BITS

# Why a round trip ends early, or badly.
_NOTHING = 0
_RANDOM = 1
_OUTAGE = 2
_OVERFLOW = 3


def scratch_words(rows: Rows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    return FLOW_WORDS + 3 * rows.hops.shape[2], FLOW_FLOATS


def make(dev: Callable[[Any], Any], kind: int) -> Any:
    """Compile the integration of one row for a target and a TCP, one of `shared.layout.KINDS`."""
    grow = make_window(dev).grow
    losing = make_loss(dev)
    first, draw_next, conclude = losing.first, losing.draw, losing.conclude
    add_times = make_add_times(dev)

    def on_wire(byte_time: Any, size: Any) -> Any:
        return (size * byte_time + (1 << (BYTE_TIME_BITS - 1))) >> BYTE_TIME_BITS

    on_wire = dev(on_wire)

    def next_outage(m: Any, hops: Any, outages: Any, t: Any) -> tuple[Any, Any]:
        # When packets begin to be sent in vain, and when no longer: the earliest time that ends after t [ns].
        lo = np.int64(FOREVER)
        hi = np.int64(FOREVER)
        for hop in range(hops.shape[1]):
            if hops[0, hop, Hop.PRESENT] == 0:
                continue
            at = FLOW_WORDS + 3 * hop
            enters, leaves = m[at], m[at + 1]
            while m[at + 2] < outages.shape[2] and outages[0, hop, m[at + 2], 1] - enters <= t:
                m[at + 2] += 1
            if m[at + 2] < outages.shape[2] and outages[0, hop, m[at + 2], 0] - leaves < lo:
                lo = outages[0, hop, m[at + 2], 0] - leaves
                hi = outages[0, hop, m[at + 2], 1] - enters
        return lo, hi

    next_outage = dev(next_outage)

    def simulate(
        p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
    ) -> Any:
        size, ack = p[P.DATA] + p[P.HEADER], p[P.ACK]
        for word in range(len(m)):
            m[word] = 0
        for word in range(len(g)):
            g[word] = 0.0

        # The path: its round trip, and the hop that takes longest for a packet.
        base = np.int64(0)
        slowest = 1.0  # [ns / packet]
        limit = np.int64(0)
        survive = np.int64(ONE)
        for hop in range(hops.shape[1]):
            h = hops[0, hop]
            if h[Hop.PRESENT] == 0:
                continue
            at = FLOW_WORDS + 3 * hop
            tx = on_wire(h[Hop.BYTE_TIME], size)
            m[at] = base  # a packet enters the hop so long after it is sent, and leaves it
            base += tx + h[Hop.DELAY]
            m[at + 1] = base
            left = 1.0
            if h[Hop.CROSS_EVERY] > 0:
                left = 1.0 - float(on_wire(h[Hop.BYTE_TIME], h[Hop.CROSS_SIZE])) / float(h[Hop.CROSS_EVERY])
            each = float(tx) / max(left, 0.01)
            if each > slowest:
                slowest = each
                limit = h[Hop.QUEUE]
            if losses[h[Hop.LOSS], DIGITS - 1] != np.uint32(0xFFFFFFFF):
                odd = float(losses[h[Hop.LOSS], 0]) / 2.0**32
                survive = (survive * np.int64(odd / (1.0 - odd) * ONE)) >> ONE_BITS
        for hop in range(hops.shape[1]):
            if hops[0, hop, Hop.PRESENT] != 0:
                base += hops[0, hop, Hop.R_DELAY] + on_wire(hops[0, hop, Hop.R_BYTE_TIME], ack)
        chance = ONE - survive
        pipe = np.int64(float(base) / slowest)
        room = pipe + limit if limit > 0 else np.int64(ENDLESS)

        g[W] = float(min(p[P.INITIAL_WINDOW], p[P.WINDOW]))
        g[SSTHRESH] = float(p[P.INITIAL_SSTHRESH])
        g[MOST] = float(p[P.WINDOW])
        g[LEAST_RTT] = NO_RTT * NO_RTT
        g[TICK] = float(max(p[P.TICK], 1))
        g[ALPHA] = float(p[P.VEGAS_ALPHA])
        g[BETA] = float(p[P.VEGAS_BETA])
        g[GAMMA] = float(p[P.VEGAS_GAMMA])
        m[KIND] = kind
        m[BACKOFF] = 1
        m[MIN_RTO] = p[P.MIN_RTO]
        m[STATE] = OPEN
        first(m, 0, p, 0)

        t = p[P.START]
        lo, hi = next_outage(m, hops, outages, t)
        if p[P.HANDSHAKE] > 0 and kind != VEGAS:
            timer = p[P.INITIAL_RTO]
            while lo <= t < hi and t < p[P.END]:
                t += timer
                timer = min(2 * timer, p[P.MAX_RTO])
                lo, hi = next_outage(m, hops, outages, t)
            t += base
        end = p[P.END]
        sent = np.int64(0)  # [packet, ONE_BITS], as all that follow
        dropped = np.int64(0)
        lost = np.int64(0)
        vain = np.int64(0)
        completed = np.int64(NEVER)
        total = p[P.LIMIT] << ONE_BITS if p[P.LIMIT] < ENDLESS else np.int64(ENDLESS)
        half = p[P.SAMPLE] >> 1
        samples = np.int64(0)
        for column in range(len(out)):
            out[column] = 0
        delayed = 1 if p[P.ACK_EVERY] > 1 else 0
        rounds = np.int64(0)
        while t < end and completed == NEVER:
            rounds += 1
            if m[STATE] == SILENCE:
                t = m[UNTIL]
                if t >= end:
                    break
                m[STATE] = OPEN
            if m[STATE] == REPAIR and t >= m[UNTIL]:
                m[STATE] = OPEN
            if g[W] >= 3.0:
                m[BACKOFF] = 1
            if hi <= t:
                lo, hi = next_outage(m, hops, outages, t)
            packets = np.int64(g[W])
            rtt: Any = max(float(base), float(min(packets, room)) * slowest)
            length = np.int64(rtt)
            if m[STATE] == REPAIR:
                length = min(length, m[UNTIL] - t)
            cause = _OVERFLOW if packets > room and m[STATE] != REPAIR else _NOTHING
            need = packets * chance << (UNIT_BITS - ONE_BITS)
            part = float(length) / rtt
            if float(m[HAZARD]) < float(need) * part:
                part = float(m[HAZARD]) / float(need)
                length = np.int64(part * rtt)
                cause = _RANDOM
            if lo < t + length:
                length = max(lo - t, np.int64(0))
                part = float(length) / rtt
                cause = _OUTAGE
            if t + length > end:
                length = end - t
                part = float(length) / rtt
                cause = _NOTHING
            flow: Any = np.int64(float(packets) * part * ONE)
            through = sent - dropped - lost - vain - m[REPEATED]
            if through + flow >= total:
                more = float(total - through) / float(max(flow, 1))
                completed = t + np.int64(float(length) * more) + (base >> 1)
                flow = total - through
                cause = _NOTHING
            sent += flow
            twice = min(m[TWICE], flow)
            m[TWICE] -= twice
            m[REPEATED] += twice
            m[HAZARD] -= np.int64(float(need) * part)
            acked = float(flow >> delayed) * _UNIT
            frozen = m[STATE] == REPAIR and kind != TAHOE
            grow(g, 0, kind, acked, rtt, part, float((t << 10) // 1_000_000_000), frozen)
            before = t
            t += length
            if cause != _NOTHING:
                # A round trip until the sender knows.
                if cause == _OVERFLOW:
                    g[W] = min(g[W], float(room + 1))
                packets = np.int64(g[W])
                flow = packets << ONE_BITS
                acked = float(flow >> delayed) * _UNIT
                grow(g, 0, kind, acked, rtt, 1.0, float((t << 10) // 1_000_000_000), False)
                hits = np.int64(1)
                if cause == _OVERFLOW:
                    hits = max(np.int64(g[W]) - room - 1, hits)
                    dropped += min(hits, packets) << ONE_BITS
                elif cause == _OUTAGE:
                    hits = max(np.int64(g[W] * min(float(hi - t) / rtt, 1.0)), hits)
                    vain += min(hits, packets) << ONE_BITS
                else:
                    if kind == TAHOE and m[STATE] == REPAIR:
                        hits = np.int64(BEYOND_REPAIR)
                    draw_next(m, 0, p, 0)
                    m[HAZARD] -= need
                    while m[HAZARD] < 0:
                        hits += 1
                        draw_next(m, 0, p, 0)
                    lost += min(hits, packets) << ONE_BITS
                sent += flow
                t += np.int64(rtt)
                m[HITS] = hits
                conclude(m, g, 0, 0, p, 0, t, rtt, 1, chance)
            now = min(t, end)
            count = (now + half) // p[P.SAMPLE] - (before + half) // p[P.SAMPLE]
            samples += count
            add_times(out, Out.CWND_SUM, Out.CWND_SUM_HIGH, count, np.int64(g[W] * 1024.0))
            add_times(out, Out.RTT_SUM, Out.RTT_SUM_HIGH, count, np.int64(rtt))

        received = (sent - dropped - lost - vain) >> ONE_BITS
        out[Out.STATUS] = STATUS_OK
        out[Out.DROPS_QUEUE] = dropped >> ONE_BITS
        out[Out.DROPS_RANDOM] = lost >> ONE_BITS
        out[Out.DROPS_OUTAGE] = vain >> ONE_BITS
        out[Out.RECEIVED] = received
        distinct = received - (m[REPEATED] >> ONE_BITS)
        out[Out.DELIVERED] = distinct
        out[Out.IN_ORDER] = distinct
        out[Out.ACKED] = distinct
        out[Out.SENT] = received + out[Out.DROPS_QUEUE] + out[Out.DROPS_RANDOM] + out[Out.DROPS_OUTAGE]
        out[Out.RETRANSMITTED] = out[Out.SENT] - distinct
        out[Out.TIMEOUTS] = m[FLOW_COUNTS + FlowOut.TIMEOUTS]
        out[Out.FAST_RETRANSMITS] = m[FLOW_COUNTS + FlowOut.FAST_RETRANSMITS]
        out[Out.CWND_CUTS] = m[FLOW_COUNTS + FlowOut.CWND_CUTS]
        out[Out.FIRST_RX] = NEVER
        out[Out.LAST_RX] = NEVER
        out[Out.RESUME_TX] = NEVER
        out[Out.RESUME_RX] = NEVER
        out[Out.COMPLETED] = completed
        out[Out.SAMPLES] = samples
        out[Out.RTT_SAMPLES] = samples
        return 0

    return dev(simulate)
