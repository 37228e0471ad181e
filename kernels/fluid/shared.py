"""Flows over shared links as differential equations: windows, queues, losses as a Poisson process of a rate.

One thread integrates a network of any number of flows and links.  It reads the rows of the packet engine for
shared links and writes the same outcomes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.fluid import window
from netcarlo.kernels.fluid.chance import UNIT_BITS, make_exponential
from netcarlo.kernels.fluid.window import make_window
from netcarlo.kernels.layout import BYTE_TIME_BITS, ENDLESS, FOREVER, NEVER, P
from netcarlo.kernels.loss import DIGITS, make_gap
from netcarlo.kernels.philox import make_draw
from netcarlo.kernels.shared.layout import (
    NEWRENO,
    RED_MARKS,
    RENO,
    STREAM_PERIOD,
    TAHOE,
    UDP,
    VEGAS,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedOut,
    SharedRows,
)

STREAM_FLUID = 1 << 23
"""+ flow; draw k: expected losses between loss k - 1 and loss k."""
STREAM_REPAIR = 5 << 21
"""+ flow; draw k: in step k, whether what repairs a loss is lost itself."""

ONE_BITS = 20
_ONE = 1 << ONE_BITS  # a packet, a byte, and the probability 1
_UNIT = 2.0**-ONE_BITS

SHORTEST_STEP = 1_000_000  # [ns]
LONGEST_STEP = 20_000_000  # [ns]
STEPS_PER_RTT = 2  # of the shortest round trip

# Words of a link.
_ARRIVED = 0  # in this step [packet, ONE_BITS]
_ACCEPTED = 1  # of those, not dropped early
_BYTES = 2  # theirs
_CAPACITY = 3  # bytes per step
_BACKLOG = 4  # bytes
_TAIL = 5  # probability that a full queue drops
_EARLY = 6  # that RED drops or marks
_SHARE = 7  # of what comes in goes out
_RANDOM = 8  # probability of a loss
_MARKING = 9  # 1: RED marks
_HELD = 10  # packets in it
_LINK_COUNTS = 11
_LINK_WORDS = _LINK_COUNTS + LinkOut.COLUMNS

# Words of a flow.
_STATE = 0
_UNTIL = 1  # step at which the state ends
_HITS = 2  # packets lost in this round trip
_HAZARD = 3  # expected losses until the next
_DRAWS = 4
_BACKOFF = 5
_KIND = 6
_SIZE = 7  # bytes on the wire
_ACK = 8
_SENT = 9  # [packet, ONE_BITS]
_TAILED = 10  # dropped by queues [packet, UNIT_BITS]
_LOST = 11  # lost at random [packet, UNIT_BITS]
_LOST_ACKS = 12
_MARKED = 13
_ROUTE = 14  # where the route begins in scratch
_HOPS = 15
_BACK_HOPS = 16
_LIMIT = 17
_RATE = 18  # UDP: packets per step [ONE_BITS]
_TOGGLE = 19  # UDP: next change between sending and silence [ns]
_PERIOD = 20
_SILENT = 21
_ECN = 22
_MARK_HAZARD = 23
_MARK_DRAWS = 24
_ACKS = 25
_DELAYED = 26  # 1: an ACK for every second packet
_FLOW_COUNTS = 27
_FLOW_WORDS = _FLOW_COUNTS + FlowOut.COLUMNS

# Floats of a flow, behind those of the window.
_BASE = window.WORDS  # round trip without queues [step]
_ACCESS = window.WORDS + 1  # its access link takes at most so many packets per step
_MOST = window.WORDS + 2  # receiver's window [packet]
_ALPHA = window.WORDS + 3
_BETA = window.WORDS + 4
_GAMMA = window.WORDS + 5
_FLOATS = window.WORDS + 6

_LINK_FLOATS = 2  # waiting time [step], RED's mean queue [packet]

# States of a flow.
_IDLE = 0  # not yet started
_OPEN = 1
_HIT = 2  # a packet is lost, the sender does not know
_REPAIR = 3  # fast recovery
_SILENCE = 4  # waits for its timer
_DONE = 5


def outcomes(rows: SharedRows) -> int:
    """Columns of the outcomes of `rows`."""
    return int(
        SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS + rows.links.shape[1] * LinkOut.COLUMNS
    )


def scratch_words(rows: SharedRows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    flows, links = rows.flows.shape[1], rows.links.shape[1]
    hops = rows.flows[..., Flow.HOPS] + rows.flows[..., Flow.BACK_HOPS]
    most = int(hops.sum(axis=1).max(initial=0))
    return links * _LINK_WORDS + flows * _FLOW_WORDS + most, links * _LINK_FLOATS + flows * _FLOATS


def make(dev: Callable[[Any], Any]) -> Any:
    """Compile the integration of one row for a target; see `models` for its arguments."""
    draw = make_draw(dev)
    gap = make_gap(dev, draw)
    exponential = make_exponential(dev, draw)
    begin, grow, cut, collapse = make_window(dev)

    def on_wire(byte_time: Any, size: Any) -> Any:
        return (size * byte_time + (1 << (BYTE_TIME_BITS - 1))) >> BYTE_TIME_BITS

    on_wire = dev(on_wire)

    def round_trip(flow: Any, links: Any, size: Any) -> Any:
        # Without queues [ns].
        ack = flow[P.ACK]
        total = 2 * (flow[Flow.SOURCE_DELAY] + flow[Flow.SINK_DELAY])
        total += on_wire(flow[Flow.ACCESS], size) + on_wire(flow[Flow.SINK], size)
        total += on_wire(flow[Flow.ACCESS_BACK], ack) + on_wire(flow[Flow.SINK_BACK], ack)
        for hop in range(flow[Flow.HOPS]):
            link = flow[Flow.ROUTE + hop]
            total += links[link, Link.DELAY] + on_wire(links[link, Link.BYTE_TIME], size)
        for hop in range(flow[Flow.BACK_HOPS]):
            link = flow[Flow.BACK + hop]
            total += links[link, Link.DELAY] + on_wire(links[link, Link.BYTE_TIME], ack)
        return total

    round_trip = dev(round_trip)

    def loss_probability(losses: Any, row: Any) -> Any:
        # From the first digit of the gaps: r = q / (1 + q) with q = 1 - p.
        if losses[row, DIGITS - 1] == np.uint32(0xFFFFFFFF):
            return np.int64(0)
        r = float(losses[row, 0]) / 4294967296.0
        return np.int64((1.0 - r / (1.0 - r)) * _ONE)

    loss_probability = dev(loss_probability)

    def next_hazard(m: Any, at: Any, parameters: Any, f: Any) -> None:
        m[at + _HAZARD] += exponential(
            parameters[P.SEED], parameters[P.SCENARIO], parameters[P.REPLICATION],
            STREAM_FLUID + f, m[at + _DRAWS],
        )  # fmt: skip
        m[at + _DRAWS] += 1

    next_hazard = dev(next_hazard)

    def simulate(
        parameters: Any, constants: Any, flows: Any, links: Any, losses: Any,
        m: Any, g: Any, out: Any, trace: Any,
    ) -> Any:  # fmt: skip
        n_flows = parameters[Shared.FLOWS]
        n_links = parameters[Shared.LINKS]
        end = parameters[P.END]
        warm_up = parameters[Shared.WARM_UP]
        first_flow = n_links * _LINK_WORDS
        first_float = n_links * _LINK_FLOATS
        free = first_flow + n_flows * _FLOW_WORDS
        for i in range(free):
            m[i] = 0

        # The step follows the shortest round trip.
        shortest = np.int64(LONGEST_STEP * STEPS_PER_RTT)
        for f in range(n_flows):
            if flows[f, Flow.KIND] != UDP:
                size = flows[f, P.DATA] + flows[f, P.HEADER]
                shortest = min(shortest, round_trip(flows[f], links, size))
        step = max(shortest // STEPS_PER_RTT, np.int64(SHORTEST_STEP))
        steps = (end + step - 1) // step
        warm = warm_up // step

        for link in range(n_links):
            at = link * _LINK_WORDS
            m[at + _CAPACITY] = np.int64(
                float(step) / float(links[link, Link.BYTE_TIME]) * float(1 << (BYTE_TIME_BITS + ONE_BITS))
            )
            m[at + _SHARE] = _ONE
            m[at + _RANDOM] = loss_probability(losses, links[link, Link.LOSS])
            m[at + _MARKING] = 1 if links[link, Link.RED] == RED_MARKS else 0
            g[link * _LINK_FLOATS] = 0.0
            g[link * _LINK_FLOATS + 1] = 0.0

        for f in range(n_flows):
            at = first_flow + f * _FLOW_WORDS
            fl = first_float + f * _FLOATS
            kind = flows[f, Flow.KIND]
            size = flows[f, P.DATA] + flows[f, P.HEADER]
            m[at + _KIND] = kind
            m[at + _SIZE] = size
            m[at + _ACK] = flows[f, P.ACK]
            m[at + _LIMIT] = flows[f, P.LIMIT]
            if m[at + _LIMIT] < ENDLESS:
                m[at + _LIMIT] <<= ONE_BITS
            m[at + _ECN] = flows[f, Flow.ECN]
            m[at + _BACKOFF] = 1
            m[at + _ROUTE] = free
            m[at + _HOPS] = flows[f, Flow.HOPS]
            for hop in range(flows[f, Flow.HOPS]):
                m[free] = flows[f, Flow.ROUTE + hop]
                free += 1
            if kind != UDP:
                m[at + _BACK_HOPS] = flows[f, Flow.BACK_HOPS]
                for hop in range(flows[f, Flow.BACK_HOPS]):
                    m[free] = flows[f, Flow.BACK + hop]
                    free += 1
            start = flows[f, P.START]
            m[at + _FLOW_COUNTS + FlowOut.COMPLETED] = NEVER
            m[at + _FLOW_COUNTS + FlowOut.FINISHED] = NEVER
            g[fl + _ACCESS] = float(step) / float(max(on_wire(flows[f, Flow.ACCESS], size), 1))
            if kind == UDP:
                m[at + _RATE] = np.int64(float(step) / float(flows[f, Flow.INTERVAL]) * _ONE)
                m[at + _TOGGLE] = FOREVER
                if flows[f, Flow.ON] > 0:
                    m[at + _TOGGLE] = start
                    m[at + _SILENT] = 1
            else:
                base = round_trip(flows[f], links, size)
                if flows[f, P.HANDSHAKE] > 0 and kind != VEGAS:
                    start += base
                g[fl + _BASE] = float(base) / float(step)
                g[fl + _MOST] = float(flows[f, P.WINDOW])
                g[fl + _ALPHA] = float(flows[f, P.VEGAS_ALPHA])
                g[fl + _BETA] = float(flows[f, P.VEGAS_BETA])
                g[fl + _GAMMA] = float(flows[f, P.VEGAS_GAMMA])
                m[at + _DELAYED] = 1 if flows[f, P.ACK_EVERY] > 1 else 0
                begin(g, fl, float(flows[f, P.INITIAL_WINDOW]), float(flows[f, P.INITIAL_SSTHRESH]))
                g[fl + window.LEAST_RTT] = 1e9
            m[at + _UNTIL] = (start + step - 1) // step
            next_hazard(m, at, parameters, f)

        sample = warm_up
        for k in range(steps):
            now = k * step
            clock = float((now << 10) // 1_000_000_000)
            sampling = now >= sample
            if sampling:
                sample += parameters[P.SAMPLE]
            if k == warm:
                for link in range(n_links):
                    at = link * _LINK_WORDS + _LINK_COUNTS
                    m[at + LinkOut.ARRIVALS_BEFORE] = m[at + LinkOut.ARRIVALS]
                    m[at + LinkOut.DROPS_BEFORE] = m[at + LinkOut.DROPS]
                for f in range(n_flows):
                    at = first_flow + f * _FLOW_WORDS
                    gone = (m[at + _TAILED] + m[at + _LOST]) >> (UNIT_BITS - ONE_BITS)
                    m[at + _FLOW_COUNTS + FlowOut.RECEIVED_BEFORE] = (m[at + _SENT] - gone) >> ONE_BITS

            for f in range(n_flows):
                at = first_flow + f * _FLOW_WORDS
                fl = first_float + f * _FLOATS
                state = m[at + _STATE]
                if state == _DONE:
                    continue
                if state == _IDLE:
                    if k < m[at + _UNTIL]:
                        continue
                    state = np.int64(_OPEN)
                    m[at + _STATE] = state
                route = m[at + _ROUTE]
                hops = m[at + _HOPS]
                back = m[at + _BACK_HOPS]
                kind = m[at + _KIND]
                rtt = g[fl + _BASE]
                if kind == UDP:
                    if now >= flows[f, Flow.STOP]:
                        m[at + _STATE] = _DONE
                        continue
                    while now >= m[at + _TOGGLE]:
                        m[at + _SILENT] = 1 - m[at + _SILENT]
                        mean = flows[f, Flow.OFF] if m[at + _SILENT] else flows[f, Flow.ON]
                        length = gap(
                            losses, flows[f, Flow.PERIODS], parameters[P.SEED], parameters[P.SCENARIO],
                            parameters[P.REPLICATION], STREAM_PERIOD + f, m[at + _PERIOD],
                        )  # fmt: skip
                        m[at + _PERIOD] += 1
                        m[at + _TOGGLE] += max(((length + 1) * mean) >> 10, 1)
                    sent = np.int64(0) if m[at + _SILENT] else m[at + _RATE]
                else:
                    for hop in range(hops + back):
                        rtt += g[m[route + hop] * _LINK_FLOATS]
                    if state == _SILENCE:
                        if k < m[at + _UNTIL]:
                            continue
                        state = np.int64(_OPEN)
                        m[at + _STATE] = state
                    rate = min(float(int(g[fl + window.W])) / rtt, g[fl + _ACCESS])
                    sent = np.int64(rate * _ONE)
                if m[at + _LIMIT] < ENDLESS:
                    gone = (m[at + _TAILED] + m[at + _LOST]) >> (UNIT_BITS - ONE_BITS)
                    left = m[at + _LIMIT] - (m[at + _SENT] - gone)
                    if kind == UDP:
                        left = m[at + _LIMIT] - m[at + _SENT]
                    if left <= 0:
                        m[at + _STATE] = _DONE
                        m[at + _FLOW_COUNTS + FlowOut.COMPLETED] = now + np.int64(rtt / 2.0 * float(step))
                        m[at + _FLOW_COUNTS + FlowOut.FINISHED] = now + np.int64(rtt * float(step))
                        continue
                    sent = min(sent, left)
                m[at + _SENT] += sent

                # Along the route.
                flow = sent
                hazard = np.int64(0)
                lost = np.int64(0)
                marked = np.int64(0)
                for hop in range(hops):
                    a = m[route + hop] * _LINK_WORDS
                    m[a + _ARRIVED] += flow
                    early = np.int64(0)
                    if m[a + _EARLY] > 0:
                        if m[at + _ECN] and m[a + _MARKING]:
                            marked += flow * m[a + _EARLY]
                        else:
                            early = flow * m[a + _EARLY]
                            hazard += early
                            flow -= early >> ONE_BITS
                    m[a + _ACCEPTED] += flow
                    m[a + _BYTES] += flow * m[at + _SIZE]
                    tail = flow * m[a + _TAIL]
                    hazard += tail
                    flow -= tail >> ONE_BITS
                    random = flow * m[a + _RANDOM]
                    lost += random
                    flow -= random >> ONE_BITS
                    flow = (flow * m[a + _SHARE]) >> ONE_BITS
                m[at + _TAILED] += hazard
                m[at + _LOST] += lost
                m[at + _MARKED] += marked
                if kind == UDP:
                    continue
                flow >>= m[at + _DELAYED]
                m[at + _ACKS] += flow
                for hop in range(hops, hops + back):
                    a = m[route + hop] * _LINK_WORDS
                    m[a + _ARRIVED] += flow
                    gone = flow * m[a + _EARLY]
                    flow -= gone >> ONE_BITS
                    m[a + _ACCEPTED] += flow
                    m[a + _BYTES] += flow * m[at + _ACK]
                    gone += flow * m[a + _TAIL] + flow * m[a + _RANDOM]
                    m[at + _LOST_ACKS] += gone
                    flow -= gone >> ONE_BITS

                # The window.
                acked = float(sent - ((hazard + lost) >> ONE_BITS)) * _UNIT
                if state != _REPAIR or kind == TAHOE:
                    grow(
                        g, fl, kind, acked / float(1 << m[at + _DELAYED]), rtt, clock,
                        g[fl + _MOST], g[fl + _ALPHA], g[fl + _BETA], g[fl + _GAMMA],
                    )  # fmt: skip
                if g[fl + window.W] >= 3.0:
                    m[at + _BACKOFF] = 1
                m[at + _HAZARD] -= hazard + lost
                fatal = kind == TAHOE and state == _REPAIR  # nothing below the highest packet repairs it
                while m[at + _HAZARD] < 0:
                    if state != _HIT:
                        state = np.int64(_HIT)
                        m[at + _HITS] = 0
                        m[at + _UNTIL] = k + np.int64(rtt)
                    m[at + _HITS] += 1
                    if fatal:
                        m[at + _HITS] += 1 << 20
                    next_hazard(m, at, parameters, f)
                if state == _HIT and k >= m[at + _UNTIL]:
                    w = np.int64(g[fl + window.W])
                    hits = m[at + _HITS]
                    limited = g[fl + window.W] >= g[fl + _MOST]
                    enough = w - hits >= (3 if limited else 1)
                    if kind == RENO and hits > 1:
                        enough = False
                    if enough:
                        again, _, _, _ = draw(
                            parameters[P.SEED], parameters[P.SCENARIO], parameters[P.REPLICATION],
                            STREAM_REPAIR + f, k,
                        )  # fmt: skip
                        chance = (hazard + lost) // max(sent, 1)  # of a loss [ONE_BITS]
                        if w - hits < 2:
                            chance *= 3
                        enough = np.int64(again) >> 12 >= chance
                    rto = max(np.int64(1.5 * rtt), (flows[f, P.MIN_RTO] + step - 1) // step)
                    if enough:
                        cut(g, fl, kind, rtt)
                        m[at + _FLOW_COUNTS + FlowOut.FAST_RETRANSMITS] += 1
                        state = np.int64(_REPAIR)
                        rounds = hits if kind == NEWRENO else np.int64(1)
                        if kind == NEWRENO and np.int64(rtt) * hits > rto:
                            enough = False
                        m[at + _UNTIL] = k + np.int64(rtt) * rounds
                    if not enough:
                        collapse(g, fl, kind, rtt)
                        m[at + _FLOW_COUNTS + FlowOut.TIMEOUTS] += 1
                        state = np.int64(_SILENCE)
                        m[at + _UNTIL] = k + rto * m[at + _BACKOFF]
                        m[at + _BACKOFF] = min(2 * m[at + _BACKOFF], np.int64(64))
                    if kind != VEGAS or not enough:
                        m[at + _FLOW_COUNTS + FlowOut.CWND_CUTS] += 1
                elif state == _REPAIR and k >= m[at + _UNTIL]:
                    state = np.int64(_OPEN)
                m[at + _STATE] = state
                if sampling:
                    m[at + _FLOW_COUNTS + FlowOut.SAMPLES] += 1
                    m[at + _FLOW_COUNTS + FlowOut.RTT_SAMPLES] += 1
                    m[at + _FLOW_COUNTS + FlowOut.CWND_SUM] += np.int64(g[fl + window.W] * 1024.0)
                    m[at + _FLOW_COUNTS + FlowOut.RTT_SUM] += np.int64(rtt * float(step))

            for link in range(n_links):
                a = link * _LINK_WORDS
                counts = a + _LINK_COUNTS
                came = m[a + _BYTES]
                accepted = m[a + _ACCEPTED]
                capacity = m[a + _CAPACITY]
                early = m[a + _ARRIVED] - accepted
                backlog = m[a + _BACKLOG] + came
                held = m[a + _HELD] + accepted
                served = min(backlog, capacity)
                if served == backlog:
                    held = np.int64(0)
                else:
                    held -= np.int64(float(held) * (float(served) / float(backlog)))
                backlog -= served
                m[a + _TAIL] = 0
                dropped = np.int64(0)
                room = links[link, Link.QUEUE] << ONE_BITS
                if room > 0 and held > room and accepted > 0:
                    dropped = min(held - room, accepted)
                    share = float(dropped) / float(accepted)
                    m[a + _TAIL] = np.int64(share * _ONE)
                    held -= dropped
                    backlog = max(backlog - np.int64(share * float(came)), held)
                m[a + _BACKLOG] = backlog
                m[a + _HELD] = held
                m[a + _SHARE] = _ONE
                if came > capacity:
                    m[a + _SHARE] = np.int64(float(capacity) / float(came) * _ONE)
                g[link * _LINK_FLOATS] = float(backlog) / float(capacity)
                m[counts + LinkOut.ARRIVALS] += m[a + _ARRIVED]
                m[counts + LinkOut.DROPS] += dropped + early
                m[counts + LinkOut.EARLY] += early
                m[counts + LinkOut.QUEUE_MOST] = max(m[counts + LinkOut.QUEUE_MOST], held)
                if k >= warm:
                    m[counts + LinkOut.BYTES] += served
                    m[counts + LinkOut.QUEUE_SUM] += (held * step) >> ONE_BITS
                m[a + _ARRIVED] = 0
                m[a + _ACCEPTED] = 0
                m[a + _BYTES] = 0

        out[SharedOut.STATUS] = 0
        out[SharedOut.EVENTS] = steps * n_flows
        place = SharedOut.COLUMNS
        for f in range(n_flows):
            at = first_flow + f * _FLOW_WORDS
            counts = at + _FLOW_COUNTS
            dropped = m[at + _TAILED] >> UNIT_BITS
            lost = m[at + _LOST] >> UNIT_BITS
            m[counts + FlowOut.SENT] = m[at + _SENT] >> ONE_BITS
            m[counts + FlowOut.DROPS_QUEUE] = dropped
            m[counts + FlowOut.DROPS_RANDOM] = lost
            received = m[counts + FlowOut.SENT] - dropped - lost
            m[counts + FlowOut.RECEIVED] = received
            m[counts + FlowOut.DELIVERED] = received
            m[counts + FlowOut.IN_ORDER] = received
            m[counts + FlowOut.MARKED] = m[at + _MARKED] >> UNIT_BITS
            if m[at + _KIND] != UDP:
                m[counts + FlowOut.RETRANSMITTED] = dropped + lost
                m[counts + FlowOut.ACKED] = received
                m[counts + FlowOut.ACKED_BEFORE] = m[counts + FlowOut.RECEIVED_BEFORE]
                m[counts + FlowOut.ACKS_SENT] = m[at + _ACKS] >> ONE_BITS
                m[counts + FlowOut.ACK_DROPS] = m[at + _LOST_ACKS] >> UNIT_BITS
            for column in range(FlowOut.COLUMNS):
                out[place + column] = m[counts + column]
            place += FlowOut.COLUMNS
        place = SharedOut.COLUMNS + flows.shape[0] * FlowOut.COLUMNS
        for link in range(n_links):
            a = link * _LINK_WORDS
            counts = a + _LINK_COUNTS
            waiting = m[a + _HELD] >> ONE_BITS
            m[counts + LinkOut.ARRIVALS] >>= ONE_BITS
            m[counts + LinkOut.ARRIVALS_BEFORE] >>= ONE_BITS
            m[counts + LinkOut.DROPS] >>= ONE_BITS
            m[counts + LinkOut.DROPS_BEFORE] >>= ONE_BITS
            m[counts + LinkOut.EARLY] >>= ONE_BITS
            m[counts + LinkOut.BYTES] >>= ONE_BITS
            m[counts + LinkOut.QUEUE_MOST] >>= ONE_BITS
            m[counts + LinkOut.WAITING] = waiting
            m[counts + LinkOut.SENT] = m[counts + LinkOut.ARRIVALS] - m[counts + LinkOut.DROPS] - waiting
            for column in range(LinkOut.COLUMNS):
                out[place + column] = m[counts + column]
            place += LinkOut.COLUMNS
        return 0

    return dev(simulate)
