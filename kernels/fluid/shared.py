"""Flows over shared links as differential equations: windows, queues, and losses at a rate.

One thread integrates a network of any number of flows and links in steps of half the shortest round trip.  It
reads the rows of the packet engine for shared links and writes the same outcomes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, NEVER, STATUS_OK, P
from netcarlo.kernels.base.loss import DIGITS, make_gap
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.base.sums import make_add
from netcarlo.kernels.fluid.loss import make_loss
from netcarlo.kernels.fluid.queue import make_queue
from netcarlo.kernels.fluid.state import (
    ACCEPTED,
    ACCESS,
    ACK,
    ACKS,
    ARRIVED,
    BACK_HOPS,
    BACKOFF,
    BASE,
    BYTES,
    CAPACITY,
    DELAYED,
    DONE,
    DROPPED,
    EARLY,
    ECN,
    FLOW_COUNTS,
    FLOW_FLOATS,
    FLOW_WORDS,
    HELD,
    HOPS,
    IDLE,
    KIND,
    LIMIT,
    LINK_COUNTS,
    LINK_FLOATS,
    LINK_WORDS,
    LOST,
    LOST_ACKS,
    MARKED,
    MARKING,
    MIN_RTO,
    ONE,
    ONE_BITS,
    OPEN,
    PERIOD,
    QUIET,
    RANDOM,
    RATE,
    REPAIR,
    REPEATED,
    ROUTE,
    SENT,
    SHARE,
    SILENCE,
    SIZE,
    STATE,
    TAIL,
    TOGGLE,
    TWICE,
    UNIT_BITS,
    UNTIL,
    WAIT,
)
from netcarlo.kernels.fluid.window import (
    ALPHA,
    BETA,
    FOREVER,
    GAMMA,
    LEAST_RTT,
    MOST,
    SSTHRESH,
    TICK,
    W,
    make_window,
)
from netcarlo.kernels.shared.layout import (
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

STEPS_PER_RTT = 2  # of the shortest round trip
SHORTEST_STEP = 1_000_000  # [ns]
LONGEST_STEP = 25_000_000  # [ns]

_UNIT = 2.0**-ONE_BITS


def outcomes(rows: SharedRows) -> int:
    """Columns of the outcomes of `rows`."""
    flows, links = rows.flows.shape[1], rows.links.shape[1]
    return int(SharedOut.COLUMNS + flows * FlowOut.COLUMNS + links * LinkOut.COLUMNS)


def scratch_words(rows: SharedRows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    flows, links = rows.flows.shape[1], rows.links.shape[1]
    hops = rows.flows[..., Flow.HOPS] + rows.flows[..., Flow.BACK_HOPS]
    words = links * LINK_WORDS + flows * FLOW_WORDS + int(hops.sum(axis=1).max(initial=0))
    return words, links * LINK_FLOATS + flows * FLOW_FLOATS


def make(dev: Callable[[Any], Any]) -> Any:
    """Compile the integration of one row for a target; see `models` for its arguments."""
    gap = make_gap(dev, make_draw(dev))
    grow = make_window(dev).grow
    losing = make_loss(dev)
    first, react = losing.first, losing.react
    add = make_add(dev)
    serve = make_queue(dev)

    def on_wire(byte_time: Any, size: Any) -> Any:
        return (size * byte_time + (1 << (BYTE_TIME_BITS - 1))) >> BYTE_TIME_BITS

    on_wire = dev(on_wire)

    def round_trip(flow: Any, links: Any) -> Any:
        # Without queues [ns].
        data, ack = flow[P.DATA] + flow[P.HEADER], flow[P.ACK]
        total = 2 * (flow[Flow.SOURCE_DELAY] + flow[Flow.SINK_DELAY])
        total += on_wire(flow[Flow.ACCESS], data) + on_wire(flow[Flow.SINK], data)
        total += on_wire(flow[Flow.ACCESS_BACK], ack) + on_wire(flow[Flow.SINK_BACK], ack)
        for hop in range(flow[Flow.HOPS]):
            link = flow[Flow.ROUTE + hop]
            total += links[link, Link.DELAY] + on_wire(links[link, Link.BYTE_TIME], data)
        for hop in range(flow[Flow.BACK_HOPS]):
            link = flow[Flow.BACK + hop]
            total += links[link, Link.DELAY] + on_wire(links[link, Link.BYTE_TIME], ack)
        return total

    round_trip = dev(round_trip)

    def length_of_step(parameters: Any, flows: Any, links: Any) -> Any:
        shortest = np.int64(LONGEST_STEP * STEPS_PER_RTT)
        for f in range(parameters[Shared.FLOWS]):
            if flows[f, Flow.KIND] != UDP:
                shortest = min(shortest, round_trip(flows[f], links))
        return max(shortest // STEPS_PER_RTT, np.int64(SHORTEST_STEP))

    length_of_step = dev(length_of_step)

    def prepare_link(m: Any, g: Any, links: Any, link: Any, losses: Any, step: Any) -> None:
        a = link * LINK_WORDS
        one_byte = float(links[link, Link.BYTE_TIME]) / float(1 << (BYTE_TIME_BITS + ONE_BITS))
        m[a + CAPACITY] = np.int64(float(step) / one_byte)
        m[a + SHARE] = ONE
        row = links[link, Link.LOSS]
        if losses[row, DIGITS - 1] != np.uint32(0xFFFFFFFF):
            odd = float(losses[row, 0]) / 2.0**32  # q / (1 + q) of the share q that is not lost
            m[a + RANDOM] = np.int64((1.0 - odd / (1.0 - odd)) * ONE)
        for word in range(LINK_FLOATS):
            g[link * LINK_FLOATS + word] = 0.0

    prepare_link = dev(prepare_link)

    def prepare_flow(
        m: Any, g: Any, at: Any, fl: Any, free: Any, parameters: Any, flow: Any, f: Any, links: Any, step: Any
    ) -> Any:
        kind, start, size = flow[Flow.KIND], flow[P.START], flow[P.DATA] + flow[P.HEADER]
        m[at + KIND] = kind
        m[at + SIZE] = size
        m[at + ACK] = flow[P.ACK]
        m[at + LIMIT] = flow[P.LIMIT] << ONE_BITS if flow[P.LIMIT] < ENDLESS else ENDLESS
        m[at + ECN] = flow[Flow.ECN]
        m[at + BACKOFF] = 1
        m[at + FLOW_COUNTS + FlowOut.COMPLETED] = NEVER
        m[at + FLOW_COUNTS + FlowOut.FINISHED] = NEVER
        m[at + ROUTE] = free
        m[at + HOPS] = flow[Flow.HOPS]
        for hop in range(flow[Flow.HOPS]):
            m[free] = flow[Flow.ROUTE + hop]
            free += 1
        g[fl + ACCESS] = float(step) / float(max(on_wire(flow[Flow.ACCESS], size), 1))
        base = round_trip(flow, links)
        g[fl + BASE] = float(base) / float(step)
        if kind == UDP:
            m[at + RATE] = np.int64(float(step) / float(flow[Flow.INTERVAL]) * ONE)
            m[at + TOGGLE] = start if flow[Flow.ON] > 0 else ENDLESS
            m[at + QUIET] = 1 if flow[Flow.ON] > 0 else 0
        else:
            m[at + BACK_HOPS] = flow[Flow.BACK_HOPS]
            for hop in range(flow[Flow.BACK_HOPS]):
                m[free] = flow[Flow.BACK + hop]
                free += 1
            if flow[P.HANDSHAKE] > 0 and kind != VEGAS:
                start += base
            m[at + DELAYED] = 1 if flow[P.ACK_EVERY] > 1 else 0
            m[at + MIN_RTO] = (flow[P.MIN_RTO] + step - 1) // step
            for word in range(BASE):
                g[fl + word] = 0.0
            g[fl + W] = float(min(flow[P.INITIAL_WINDOW], flow[P.WINDOW]))
            g[fl + SSTHRESH] = float(flow[P.INITIAL_SSTHRESH])
            g[fl + MOST] = float(flow[P.WINDOW])
            g[fl + LEAST_RTT] = FOREVER
            g[fl + TICK] = float(max(flow[P.TICK], 1)) / float(step)
            g[fl + ALPHA] = float(flow[P.VEGAS_ALPHA])
            g[fl + BETA] = float(flow[P.VEGAS_BETA])
            g[fl + GAMMA] = float(flow[P.VEGAS_GAMMA])
            first(m, at, parameters, f)
        m[at + UNTIL] = (start + step - 1) // step
        return free

    prepare_flow = dev(prepare_flow)

    def delivered(m: Any, at: Any) -> Any:
        # Distinct packets that got through, ONE_BITS.
        counts = at + FLOW_COUNTS
        gone = (m[counts + FlowOut.DROPS_QUEUE] + m[counts + FlowOut.DROPS_RANDOM]) << ONE_BITS
        gone += (m[at + DROPPED] + m[at + LOST]) >> (UNIT_BITS - ONE_BITS)
        return max(m[at + SENT] - gone - m[at + REPEATED], np.int64(0))

    delivered = dev(delivered)

    def count(m: Any, word: Any, column: Any, more: Any) -> None:
        # Whole packets are counted in a column of the outcomes, what is left over in a word (UNIT_BITS).
        m[word] += more
        m[column] += m[word] >> UNIT_BITS
        m[word] &= (1 << UNIT_BITS) - 1

    count = dev(count)

    def datagrams(m: Any, at: Any, parameters: Any, flow: Any, f: Any, losses: Any, now: Any) -> Any:
        # What a UDP source puts out in this step.
        while now >= m[at + TOGGLE]:
            m[at + QUIET] = 1 - m[at + QUIET]
            mean = flow[Flow.OFF] if m[at + QUIET] else flow[Flow.ON]
            length = gap(
                losses, flow[Flow.PERIODS], parameters[P.SEED], parameters[P.SCENARIO],
                parameters[P.REPLICATION], STREAM_PERIOD + f, m[at + PERIOD],
            )  # fmt: skip
            m[at + PERIOD] += 1
            m[at + TOGGLE] += max(((length + 1) * mean) >> 10, 1)
        if now >= flow[Flow.STOP] or m[at + QUIET]:
            return np.int64(0)
        return min(m[at + RATE], m[at + LIMIT] - m[at + SENT])

    datagrams = dev(datagrams)

    def carry(m: Any, at: Any, flow: Any) -> Any:
        # Data along its route: how much is dropped, lost at random, and marked (UNIT_BITS), and what arrives.
        route, size = m[at + ROUTE], m[at + SIZE]
        dropped = np.int64(0)
        lost = np.int64(0)
        marked = np.int64(0)
        for hop in range(m[at + HOPS]):
            a = m[route + hop] * LINK_WORDS
            m[a + ARRIVED] += flow
            if m[a + EARLY] > 0:
                early = flow * m[a + EARLY]
                if m[at + ECN] and m[a + MARKING]:
                    marked += early
                else:
                    dropped += early
                    flow -= early >> ONE_BITS
            m[a + ACCEPTED] += flow
            m[a + BYTES] += flow * size
            tail = flow * m[a + TAIL]
            dropped += tail
            flow -= tail >> ONE_BITS
            random = flow * m[a + RANDOM]
            lost += random
            flow = ((flow - (random >> ONE_BITS)) * m[a + SHARE]) >> ONE_BITS
        return dropped, lost, marked, flow

    carry = dev(carry)

    def carry_back(m: Any, at: Any, flow: Any) -> Any:
        # Acknowledgements: they take room, and a lost one opens no window.  What arrives of them.
        size = m[at + ACK]
        m[at + ACKS] += flow
        for hop in range(m[at + HOPS], m[at + HOPS] + m[at + BACK_HOPS]):
            a = m[m[at + ROUTE] + hop] * LINK_WORDS
            m[a + ARRIVED] += flow
            early = flow * m[a + EARLY]
            flow -= early >> ONE_BITS
            m[a + ACCEPTED] += flow
            m[a + BYTES] += flow * size
            gone = flow * (m[a + TAIL] + m[a + RANDOM])
            count(m, at + LOST_ACKS, at + FLOW_COUNTS + FlowOut.ACK_DROPS, early + gone)
            flow -= gone >> ONE_BITS
        return flow

    carry_back = dev(carry_back)

    def advance(
        m: Any, g: Any, at: Any, fl: Any, parameters: Any, flow: Any, f: Any, losses: Any,
        k: Any, now: Any, clock: Any, step: Any, sampled: Any,
    ) -> None:  # fmt: skip
        # A flow in a step.
        if m[at + STATE] == IDLE:
            m[at + STATE] = OPEN
        udp = m[at + KIND] == UDP
        rtt = g[fl + BASE]
        for hop in range(m[at + HOPS] + m[at + BACK_HOPS]):
            rtt += g[m[m[at + ROUTE] + hop] * LINK_FLOATS + WAIT]
        counts = at + FLOW_COUNTS
        if m[at + LIMIT] < ENDLESS and (m[at + SENT] if udp else delivered(m, at)) >= m[at + LIMIT]:
            m[at + STATE] = DONE
            if delivered(m, at) >= m[at + LIMIT]:
                m[counts + FlowOut.COMPLETED] = now + np.int64(rtt / 2.0 * float(step))
            if not udp:
                m[counts + FlowOut.FINISHED] = now + np.int64(rtt * float(step))
            return
        if udp:
            sent = datagrams(m, at, parameters, flow, f, losses, now)
        else:
            if m[at + STATE] == SILENCE:
                m[at + STATE] = OPEN
            rounds = 1.0 / rtt  # in this step
            sent = np.int64(min(float(int(g[fl + W])) * rounds, g[fl + ACCESS]) * ONE)
            if m[at + LIMIT] < ENDLESS:
                sent = min(sent, m[at + LIMIT] - delivered(m, at))
        m[at + SENT] += sent
        dropped, lost, marked, arrived = carry(m, at, sent)
        count(m, at + DROPPED, counts + FlowOut.DROPS_QUEUE, dropped)
        count(m, at + LOST, counts + FlowOut.DROPS_RANDOM, lost)
        count(m, at + MARKED, counts + FlowOut.MARKED, marked)
        if udp:
            return
        lost += dropped
        carry_back(m, at, arrived >> m[at + DELAYED])
        through = sent - (lost >> ONE_BITS)
        twice = max(min(m[at + TWICE], through), np.int64(0))
        m[at + TWICE] -= twice
        m[at + REPEATED] += twice
        acked = float(through >> m[at + DELAYED]) * _UNIT
        frozen = m[at + STATE] == REPAIR and m[at + KIND] != TAHOE
        grow(g, fl, m[at + KIND], acked, rtt, rounds, clock, frozen)
        react(m, g, at, fl, parameters, f, k, rtt, sent, lost, marked)
        if sampled:
            m[counts + FlowOut.SAMPLES] += 1
            m[counts + FlowOut.RTT_SAMPLES] += 1
            m[counts + FlowOut.CWND_SUM] += np.int64(g[fl + W] * 1024.0)
            add(m, counts + FlowOut.RTT_SUM, counts + FlowOut.RTT_SUM_HIGH, np.int64(rtt * float(step)))

    advance = dev(advance)

    def remember(m: Any, n_links: Any, n_flows: Any, first_flow: Any) -> None:
        # What has happened before the window of measurement.
        for link in range(n_links):
            counts = link * LINK_WORDS + LINK_COUNTS
            m[counts + LinkOut.ARRIVALS_BEFORE] = m[counts + LinkOut.ARRIVALS]
            m[counts + LinkOut.DROPS_BEFORE] = m[counts + LinkOut.DROPS]
        for f in range(n_flows):
            at = first_flow + f * FLOW_WORDS
            m[at + FLOW_COUNTS + FlowOut.USEFUL] = -(delivered(m, at) >> ONE_BITS)
            if m[at + KIND] != UDP:
                m[at + FLOW_COUNTS + FlowOut.ACKED_BEFORE] = delivered(m, at) >> ONE_BITS

    remember = dev(remember)

    def report(
        m: Any, flows: Any, n_links: Any, n_flows: Any, first_flow: Any, first_link_out: Any, out: Any
    ) -> None:
        for f in range(n_flows):
            at = first_flow + f * FLOW_WORDS
            counts = at + FLOW_COUNTS
            received = (delivered(m, at) + m[at + REPEATED]) >> ONE_BITS
            distinct = delivered(m, at) >> ONE_BITS
            m[counts + FlowOut.RECEIVED] = received
            m[counts + FlowOut.SENT] = (
                received + m[counts + FlowOut.DROPS_QUEUE] + m[counts + FlowOut.DROPS_RANDOM]
            )
            m[counts + FlowOut.DELIVERED] = distinct
            m[counts + FlowOut.USEFUL] = (m[counts + FlowOut.USEFUL] + distinct) * flows[f, P.DATA]
            if m[at + KIND] != UDP:
                m[counts + FlowOut.RETRANSMITTED] = m[counts + FlowOut.SENT] - distinct
                m[counts + FlowOut.IN_ORDER] = distinct
                m[counts + FlowOut.ACKED] = distinct
                m[counts + FlowOut.ACKS_SENT] = m[at + ACKS] >> ONE_BITS
            place = SharedOut.COLUMNS + f * FlowOut.COLUMNS
            for column in range(FlowOut.COLUMNS):
                out[place + column] = m[counts + column]
        for link in range(n_links):
            counts = link * LINK_WORDS + LINK_COUNTS
            waiting = m[link * LINK_WORDS + HELD]
            m[counts + LinkOut.WAITING] = waiting
            m[counts + LinkOut.SENT] = m[counts + LinkOut.ARRIVALS] - m[counts + LinkOut.DROPS] - waiting
            place = first_link_out + link * LinkOut.COLUMNS
            for column in range(LinkOut.COLUMNS):
                shift = 0 if column >= LinkOut.QUEUE_SUM or column == LinkOut.BUSY else ONE_BITS
                out[place + column] = m[counts + column] >> shift
            out[place + LinkOut.SENT] = (
                out[place + LinkOut.ARRIVALS] - out[place + LinkOut.DROPS] - out[place + LinkOut.WAITING]
            )

    report = dev(report)

    def simulate(
        parameters: Any, constants: Any, flows: Any, links: Any, losses: Any,
        m: Any, g: Any, out: Any, trace: Any,
    ) -> Any:  # fmt: skip
        n_flows = parameters[Shared.FLOWS]
        n_links = parameters[Shared.LINKS]
        first_flow = n_links * LINK_WORDS
        first_float = n_links * LINK_FLOATS
        free = first_flow + n_flows * FLOW_WORDS
        for word in range(free):
            m[word] = 0
        step = length_of_step(parameters, flows, links)
        for link in range(n_links):
            prepare_link(m, g, links, link, losses, step)
        for f in range(n_flows):
            at, fl = first_flow + f * FLOW_WORDS, first_float + f * FLOW_FLOATS
            free = prepare_flow(m, g, at, fl, free, parameters, flows[f], f, links, step)
        steps = (parameters[P.END] + step - 1) // step
        warm = parameters[Shared.WARM_UP] // step
        next_sample = parameters[Shared.WARM_UP]
        for k in range(steps):
            now = k * step
            clock = float((now << 10) // 1_000_000_000)  # [s / 1024]
            if k == warm:
                remember(m, n_links, n_flows, first_flow)
            sampled = now >= next_sample
            if sampled:
                next_sample += parameters[P.SAMPLE]
            for f in range(n_flows):
                at = first_flow + f * FLOW_WORDS
                state = m[at + STATE]
                if state == DONE or ((state == IDLE or state == SILENCE) and k < m[at + UNTIL]):  # noqa: SIM109
                    continue
                fl = first_float + f * FLOW_FLOATS
                advance(m, g, at, fl, parameters, flows[f], f, losses, k, now, clock, step, sampled)
            inside = min(now + step, parameters[P.END]) - max(now, parameters[Shared.WARM_UP])
            for link in range(n_links):
                serve(m, g, links, link, step, inside)
        for column in range(len(out)):
            out[column] = 0
        out[SharedOut.STATUS] = STATUS_OK
        out[SharedOut.EVENTS] = steps * n_flows
        first_link_out = SharedOut.COLUMNS + flows.shape[0] * FlowOut.COLUMNS
        report(m, flows, n_links, n_flows, first_flow, first_link_out, out)
        return 0

    return dev(simulate)
