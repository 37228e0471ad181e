"""One step of a flow over shared links: packets sent, losses and marks, ACKs.

`m` and `f` are scratch and float memory; `s` and `g` are the words and floats of the flow in them, `flow` its
columns.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import ENDLESS, NEVER
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP, UdpP
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.fluid import association, bbr, codel, delays, linux, loss, window
from netcarlo.kernels.fluid.sizes import data_packet
from netcarlo.kernels.fluid.state import (
    ONE,
    ONE_BITS,
    PACKET,
    UNIT_BITS,
    FlowFloat,
    FlowWord,
    LinkFloat,
    LinkWord,
    State,
    floats_of_flow,
    floats_of_link,
    floats_on_route,
    is_waiting,
    words_of_flow,
    words_of_link,
    words_on_route,
)
from netcarlo.kernels.senders import ALONE, LINUX_BBR, TAHOE, UDP, VEGAS
from netcarlo.kernels.shared.layout import STREAM_PERIOD, Flow, FlowOut, Link, Shared

AQM: Any = slot("aqm")
DELAYS: Any = slot("delays")

SCTP = ALONE
"""Kind of SCTP, the only sender with a fluid that heterogeneous flows cannot include."""


class Step(NamedTuple):
    """Time step of the integration."""

    number: Any
    begin: Any  # start of the step [ns]
    length: Any  # [ns]
    clock: Any  # `window.clock(begin)`
    sampled: Any  # whether windows and RTTs are sampled in the step


def round_trip(flow: Any, links: Any) -> Any:
    """Return the round trip of a flow without queues [ns]."""
    data, ack = data_packet(flow), flow[ReliableP.ACK]
    total = 2 * (flow[Flow.SOURCE_DELAY] + flow[Flow.SINK_DELAY])
    total += on_wire(data, flow[Flow.ACCESS]) + on_wire(data, flow[Flow.SINK])
    total += on_wire(ack, flow[Flow.ACCESS_BACK]) + on_wire(ack, flow[Flow.SINK_BACK])
    for hop in range(flow[Flow.HOPS]):
        link = flow[Flow.ROUTE + hop]
        total += links[link, Link.DELAY] + on_wire(data, links[link, Link.BYTE_TIME])
    for hop in range(flow[Flow.BACK_HOPS]):
        link = flow[Flow.ROUTE + flow[Flow.HOPS] + hop]
        total += links[link, Link.DELAY] + on_wire(ack, links[link, Link.BYTE_TIME])
    return total


def _slowest(flow: Any, links: Any) -> Any:
    """Return the transmission time of a data packet on the slowest link of the route [ns]."""
    size = data_packet(flow)
    longest = max(on_wire(size, flow[Flow.ACCESS]), np.int64(1))
    for hop in range(flow[Flow.HOPS]):
        longest = max(longest, on_wire(size, links[flow[Flow.ROUTE + hop], Link.BYTE_TIME]))
    return longest


def prepare(p: Any, flow: Any, links: Any, m: Any, f: Any, i: Any, free: Any, step: Any) -> Any:
    """Initialise flow `i`, whose route begins at word `free` of scratch.

    Returns the first word after the route; `step` is the length of a step [ns].
    """
    s, g = m[words_of_flow(p, i) :], f[floats_of_flow(p, i) :]
    start, size = flow[RowP.START], data_packet(flow)
    base = round_trip(flow, links)
    s[FlowWord.NUMBER] = i
    s[FlowWord.KIND] = flow[Flow.KIND]
    s[FlowWord.DATA] = size
    s[FlowWord.ACK] = flow[ReliableP.ACK]
    s[FlowWord.LIMIT] = flow[RowP.LIMIT] << ONE_BITS if flow[RowP.LIMIT] < ENDLESS else ENDLESS
    s[FlowWord.ECN] = flow[Flow.ECN]
    s[FlowWord.BACKOFF] = 1
    s[FlowWord.COUNTS + FlowOut.COMPLETED] = NEVER
    s[FlowWord.COUNTS + FlowOut.FINISHED] = NEVER
    s[FlowWord.ROUTE] = free
    s[FlowWord.HOPS] = flow[Flow.HOPS]
    for hop in range(flow[Flow.HOPS]):
        free = _append(m, free, flow[Flow.ROUTE + hop])
    if flow[Flow.KIND] == UDP:
        s[FlowWord.RATE] = np.int64(float(step) / float(flow[UdpP.INTERVAL]) * ONE)
        s[FlowWord.TOGGLE] = start if flow[Flow.ON] > 0 else ENDLESS
        s[FlowWord.SILENT] = 1 if flow[Flow.ON] > 0 else 0
    else:
        s[FlowWord.BACK_HOPS] = flow[Flow.BACK_HOPS]
        for hop in range(flow[Flow.BACK_HOPS]):
            free = _append(m, free, flow[Flow.ROUTE + flow[Flow.HOPS] + hop])
        if flow[Flow.KIND] == SCTP:
            start += association.rounds_before_data(flow) * base
        elif flow[TcpP.HANDSHAKE] > 0 and flow[Flow.KIND] != VEGAS:
            start += base
        s[FlowWord.DELAYED] = 1 if flow[ReliableP.ACK_EVERY] > 1 else 0
        s[FlowWord.MIN_RTO] = (flow[ReliableP.MIN_RTO] + step - 1) // step
        window.begin(g, flow, step)
        if flow[Flow.KIND] == SCTP:
            association.begin(g, flow)
        if linux.has(flow[Flow.KIND]):
            service = float(_slowest(flow, links))
            linux.begin(g, flow, service / float(step), float(base) / float(step))
            bbr.begin(g, i, 0.0)
        loss.draw_first(s, p)
    s[FlowWord.ONE_WAY] = delays.one_way(flow, links)
    g[FlowFloat.BASE] = float(base) / float(step)
    g[FlowFloat.ACCESS] = float(step) / float(max(on_wire(size, flow[Flow.ACCESS]), 1))
    s[FlowWord.UNTIL] = (start + step - 1) // step
    return free


def _append(m: Any, free: Any, link: Any) -> Any:
    """Append a link to a route that ends before word `free`; return the new end."""
    m[free], m[free + 1] = words_of_link(link), floats_of_link(link)
    return free + 2


def is_due(s: Any, k: Any) -> Any:
    """Return whether a flow is active in step `k`."""
    state = s[FlowWord.STATE]
    waits = (state == State.IDLE or is_waiting(s)) and k < s[FlowWord.UNTIL]
    return not (state == State.DONE or waits)


def advance(p: Any, flow: Any, losses: Any, m: Any, f: Any, i: Any, step: Step) -> None:
    """Simulate flow `i` for one step."""
    s, g = m[words_of_flow(p, i) :], f[floats_of_flow(p, i) :]
    if s[FlowWord.STATE] == State.IDLE:
        s[FlowWord.STATE] = State.OPEN
    udp = s[FlowWord.KIND] == UDP
    rtt = g[FlowFloat.BASE]
    for hop in range(s[FlowWord.HOPS] + s[FlowWord.BACK_HOPS]):
        rtt += f[floats_on_route(m, s, hop) + LinkFloat.WAIT]
    if s[FlowWord.LIMIT] < ENDLESS and (s[FlowWord.SENT] if udp else delivered(s)) >= s[FlowWord.LIMIT]:
        s[FlowWord.THROUGH] = 0
        _finish(m, f, s, rtt, step)
    else:
        sent = _datagrams(p, flow, losses, s, step.begin) if udp else _window(s, g, rtt)
        s[FlowWord.SENT] += sent
        dropped, hit, lost, marked, arrived = _carry(m, s, sent)
        _count(s, FlowWord.DROPPED, FlowOut.DROPS_QUEUE, dropped + hit)
        _count(s, FlowWord.LOST, FlowOut.DROPS_RANDOM, lost)
        _count(s, FlowWord.MARKED, FlowOut.MARKED, marked)
        through = sent - ((dropped + hit + lost) >> ONE_BITS)
        s[FlowWord.THROUGH] = through
        if DELAYS:
            waits = np.int64(_sum(m, f, s, LinkFloat.WAIT) * float(step.length))
            delays.carried(p, m, s, flow, through, step.begin, waits)
        if not udp:
            lost += dropped
            _carry_back(m, s, arrived >> s[FlowWord.DELAYED])
            got = sent - ((lost + hit) >> ONE_BITS)
            _grow(s, g, rtt, min(arrived, got) if s[FlowWord.KIND] == LINUX_BBR else got, step.clock)
            if AQM and s[FlowWord.HITS] + s[FlowWord.ECHOES] > 0:  # drops are at the head
                loss.suffer(s, step.number, rtt - _sum(m, f, s, LinkFloat.WAIT))
            cwnd = g[FlowFloat.CWND]
            loss.react(s, g, p, step.number, rtt, sent, lost, marked)
            if s[FlowWord.KIND] == SCTP and g[FlowFloat.CWND] < cwnd:
                association.reduce(g, flow, cwnd)
            if step.sampled:
                _sample(s, g, np.int64(rtt * float(step.length)), p[RowP.END] - flow[RowP.START])


def delivered(s: Any) -> Any:
    """Return the distinct packets delivered or on their way to the receiver [packet, ONE_BITS]."""
    counts = s[FlowWord.COUNTS :]
    gone = (counts[FlowOut.DROPS_QUEUE] + counts[FlowOut.DROPS_RANDOM]) << ONE_BITS
    gone += (s[FlowWord.DROPPED] + s[FlowWord.LOST]) >> (UNIT_BITS - ONE_BITS)
    return max(s[FlowWord.SENT] - gone - s[FlowWord.DUPLICATES], np.int64(0))


def arrived(s: Any, later: Any) -> Any:
    """Return the distinct packets that have arrived [packet, ONE_BITS].

    `later` of the packets not lost have not arrived yet.
    """
    return max(delivered(s) - later, np.int64(0))


def settle(p: Any, m: Any, f: Any, i: Any, step: Step) -> None:
    """Record packets that flow `i` sends in a step and that arrive after the end of the warm-up or of the
    run.

    Links serve in order: the first of these packets waits for all that was due at the beginning of the step,
    the last one for all that is due now.
    """
    s = m[words_of_flow(p, i) :]
    if s[FlowWord.THROUGH] > 0:
        first, last = _sum(m, f, s, LinkFloat.DUE_BEFORE), _sum(m, f, s, LinkFloat.DUE)
        begin = step.begin + s[FlowWord.ONE_WAY] + np.int64(first * float(step.length))
        end = step.begin + step.length + s[FlowWord.ONE_WAY] + np.int64(last * float(step.length))
        s[FlowWord.AFTER_END] += _later(s[FlowWord.THROUGH], begin, end, p[RowP.END])
        if step.begin < p[Shared.WARM_UP]:
            s[FlowWord.AFTER_WARM_UP] += _later(s[FlowWord.THROUGH], begin, end, p[Shared.WARM_UP])


def _sum(m: Any, f: Any, s: Any, column: Any) -> Any:
    """Return the sum of a time over the links of the data route: `column` is WAIT, DUE or DUE_BEFORE
    [step]."""
    total = 0.0
    for hop in range(s[FlowWord.HOPS]):
        total += f[floats_on_route(m, s, hop) + column]
    return total


def _later(flow: Any, begin: Any, end: Any, moment: Any) -> Any:
    """Return the part of `flow` [packet, ONE_BITS] that arrives after `moment` [ns].

    The packets arrive at a constant rate from `begin` to `end` [ns].
    """
    if end <= moment:
        return np.int64(0)
    if begin >= moment:
        return flow
    return np.int64(float(flow) * (float(end - moment) / float(end - begin)))


def report(p: Any, s: Any, flow: Any, later: Any, out: Any) -> None:
    """Write the outcomes of a flow to `out` (`FlowOut`): its counters minus the values already in `out`.

    `later` of the packets that are not lost have not arrived yet [packet, ONE_BITS].
    """
    counts = s[FlowWord.COUNTS :]
    lost = counts[FlowOut.DROPS_QUEUE] + counts[FlowOut.DROPS_RANDOM]
    distinct = arrived(s, later) >> ONE_BITS
    copies = s[FlowWord.DUPLICATES] - max(later - delivered(s), np.int64(0))
    received = distinct + (max(copies, np.int64(0)) >> ONE_BITS)
    sent = ((delivered(s) + s[FlowWord.DUPLICATES]) >> ONE_BITS) + lost
    # Rounding must not subtract a packet that was counted at the end of the warm-up.
    received, sent = max(received, out[FlowOut.RECEIVED]), max(sent, out[FlowOut.SENT])
    counts[FlowOut.RECEIVED] = received
    counts[FlowOut.SENT] = sent
    counts[FlowOut.IN_FLIGHT] = counts[FlowOut.SENT] - lost - received
    if counts[FlowOut.COMPLETED] > p[RowP.END]:
        counts[FlowOut.COMPLETED] = NEVER
    if counts[FlowOut.FINISHED] > p[RowP.END]:
        counts[FlowOut.FINISHED] = NEVER
    counts[FlowOut.DELIVERED] = distinct
    useful = arrived(s, later)
    part = (useful & (ONE - 1)) * flow[RowP.DATA] >> ONE_BITS
    counts[FlowOut.USEFUL] = (useful >> ONE_BITS) * flow[RowP.DATA] + part
    if s[FlowWord.KIND] != UDP:
        counts[FlowOut.RETRANSMITTED] = lost + received - distinct
        counts[FlowOut.IN_ORDER] = distinct
        counts[FlowOut.ACKED] = distinct
        counts[FlowOut.ACKS_SENT] = s[FlowWord.ACKS] >> ONE_BITS
    counts[FlowOut.IN_FLIGHT_BEFORE] = out[FlowOut.IN_FLIGHT]
    out[FlowOut.IN_FLIGHT] = 0
    out[FlowOut.IN_FLIGHT_BEFORE] = 0
    for column in range(FlowOut.COLUMNS):
        before = out[column] if column < FlowOut.COMPLETED else np.int64(0)
        out[column] = (
            max(counts[column] - before, np.int64(0)) if column < FlowOut.COMPLETED else counts[column]
        )


def _finish(m: Any, f: Any, s: Any, rtt: Any, step: Step) -> None:
    """End a flow whose packets have all been sent (UDP) or delivered."""
    counts = s[FlowWord.COUNTS :]
    s[FlowWord.STATE] = State.DONE
    if delivered(s) >= s[FlowWord.LIMIT]:
        due = np.int64(_sum(m, f, s, LinkFloat.DUE) * float(step.length))
        counts[FlowOut.COMPLETED] = step.begin + s[FlowWord.ONE_WAY] + due
    if s[FlowWord.KIND] != UDP:
        counts[FlowOut.FINISHED] = step.begin + np.int64(rtt * float(step.length))


def _datagrams(p: Any, flow: Any, losses: Any, s: Any, now: Any) -> Any:
    """Return what a UDP source sends in a step that begins at `now` [ns] [packet, ONE_BITS]."""
    while now >= s[FlowWord.TOGGLE]:
        s[FlowWord.SILENT] = 1 - s[FlowWord.SILENT]
        mean = flow[Flow.OFF] if s[FlowWord.SILENT] else flow[Flow.ON]
        length = gap(
            losses, flow[Flow.PERIODS], p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION],
            STREAM_PERIOD + s[FlowWord.NUMBER], s[FlowWord.PERIOD],
        )  # fmt: skip
        s[FlowWord.PERIOD] += 1
        s[FlowWord.TOGGLE] += max(((length + 1) * mean) >> 10, 1)
    if now >= flow[UdpP.STOP] or s[FlowWord.SILENT]:
        return np.int64(0)
    return min(s[FlowWord.RATE], s[FlowWord.LIMIT] - s[FlowWord.SENT])


def _window(s: Any, g: Any, rtt: Any) -> Any:
    """Return what a TCP or SCTP sender sends in a step [packet, ONE_BITS]."""
    if is_waiting(s):
        s[FlowWord.STATE] = State.OPEN
    rounds = 1.0 / rtt
    window = float(int(g[FlowFloat.CWND]))
    if s[FlowWord.KIND] == SCTP:
        window = association.window(g, s[FlowWord.DELAYED])
    if AQM and s[FlowWord.STATE] == State.LOSS:  # no ACK follows a lost packet
        window = max(window - float(s[FlowWord.LOST_IN_ROUND]), 0.0)
    rate = min(window * rounds, g[FlowFloat.ACCESS])
    if s[FlowWord.KIND] == LINUX_BBR:
        rate = min(rate, g[FlowFloat.PACE])
    sent = np.int64(rate * ONE)
    if s[FlowWord.LIMIT] < ENDLESS:
        sent = min(sent, s[FlowWord.LIMIT] - delivered(s))
    return sent


def _carry(m: Any, s: Any, flow: Any) -> Any:
    """Send data along the route of a flow.

    Returns the packets dropped by queues, dropped by CoDel, lost at random and marked [packet, UNIT_BITS],
    and those that arrive [packet, ONE_BITS].
    """
    dropped = np.int64(0)
    hit = np.int64(0)
    lost = np.int64(0)
    marked = np.int64(0)
    for hop in range(s[FlowWord.HOPS]):
        link = m[words_on_route(m, s, hop) :]
        link[LinkWord.ARRIVED] += flow
        if link[LinkWord.EARLY] > 0:
            early = flow * link[LinkWord.EARLY]
            if s[FlowWord.ECN] and link[LinkWord.MARKING]:
                marked += early
            else:
                dropped += early
                flow -= early >> ONE_BITS
        if AQM:
            gone = codel.drop(link, s, flow)
            hit += gone << ONE_BITS
            flow -= gone
        link[LinkWord.ACCEPTED] += flow
        link[LinkWord.BYTES] += flow * s[FlowWord.DATA]
        tail = flow * link[LinkWord.TAIL]
        dropped += tail
        flow -= tail >> ONE_BITS
        link[LinkWord.DUE] += flow * s[FlowWord.DATA]
        random = flow * link[LinkWord.RANDOM]
        lost += random
        flow = ((flow - (random >> ONE_BITS)) * link[LinkWord.SHARE]) >> ONE_BITS
    return dropped, hit, lost, marked, flow


def _carry_back(m: Any, s: Any, flow: Any) -> None:
    """Send ACKs along their route: they take room in queues, and a lost ACK does not increase the window."""
    s[FlowWord.ACKS] += flow
    for hop in range(s[FlowWord.HOPS], s[FlowWord.HOPS] + s[FlowWord.BACK_HOPS]):
        link = m[words_on_route(m, s, hop) :]
        link[LinkWord.ARRIVED] += flow
        early = flow * link[LinkWord.EARLY]
        flow -= early >> ONE_BITS
        if AQM:
            dropped = min(codel.hits(link, flow) << ONE_BITS, flow)
            early += dropped << ONE_BITS
            flow -= dropped
        link[LinkWord.ACCEPTED] += flow
        link[LinkWord.BYTES] += flow * s[FlowWord.ACK]
        gone = flow * min(link[LinkWord.TAIL] + link[LinkWord.RANDOM], ONE)
        _count(s, FlowWord.LOST_ACKS, FlowOut.ACK_DROPS, early + gone)
        flow -= gone >> ONE_BITS


def _count(s: Any, word: Any, column: Any, more: Any) -> None:
    """Count whole packets in a column of the outcomes; keep the fraction in `word` (UNIT_BITS)."""
    s[word] += more
    s[FlowWord.COUNTS + column] += s[word] >> UNIT_BITS
    s[word] &= (1 << UNIT_BITS) - 1


def _grow(s: Any, g: Any, rtt: Any, through: Any, clock: Any) -> None:
    """Increase the window by the ACKs of delivered packets, `through` [packet, ONE_BITS]."""
    twice = max(min(s[FlowWord.DUPLICATES_DUE], through), np.int64(0))
    s[FlowWord.DUPLICATES_DUE] -= twice
    s[FlowWord.DUPLICATES] += twice
    by_packets = linux.has(s[FlowWord.KIND])
    acked = float(through if by_packets else through >> s[FlowWord.DELAYED]) * PACKET
    frozen = s[FlowWord.STATE] == State.RECOVERY and s[FlowWord.KIND] != TAHOE
    if s[FlowWord.KIND] != SCTP:
        window.grow(g, s[FlowWord.KIND], acked, rtt, 1.0 / rtt, clock, frozen)
    elif not frozen:
        association.grow(g, float(through) * PACKET, acked)


def _sample(s: Any, g: Any, rtt: Any, longest: Any) -> None:
    """Sample window and RTT [ns]; an RTT of more than `longest`, the length of the run, is never measured."""
    counts = s[FlowWord.COUNTS :]
    counts[FlowOut.SAMPLES] += 1
    counts[FlowOut.CWND_SUM] += np.int64(g[FlowFloat.CWND] * 1024.0)
    if rtt <= longest:
        counts[FlowOut.RTT_SAMPLES] += 1
        add(counts, FlowOut.RTT_SUM, FlowOut.RTT_SUM_HIGH, rtt)
