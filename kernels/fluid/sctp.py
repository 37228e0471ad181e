"""Fluid model of an SCTP association over one or two paths with outages, or to a mobile host.

It has the windows of RFC 4960, section 7.2, in packets of one chunk, and for each path a timer and an error
count. Failover and retransmissions on the other path follow RFC 4960, sections 6.3, 6.4 and 8, as implemented
by the packet engine (`docs/models/sctp.md`). A step is a round trip, or the time to the next loss; outages,
handovers, timeouts and failovers are events with exact times.

`m` begins with the words of a flow (`FlowWord`); those of the association and its paths follow, then those of
the handovers (`handovers`).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import ENDLESS, FOREVER, NEVER, PATHS, Failover, Out, Rows
from netcarlo.kernels.base.parameters import MobileP, ReliableP, RowP, SctpP
from netcarlo.kernels.fluid import arrivals, gaps, handovers
from netcarlo.kernels.fluid.failover import (
    PathFloat,
    PathWord,
    Row,
    Word,
    acknowledged,
    at_most_missing,
    measure,
    missing,
    place_of,
    return_to_primary,
    send_on,
    target,
    window_of,
)
from netcarlo.kernels.fluid.interruption import cross_outage, hand_over
from netcarlo.kernels.fluid.repair import (
    MOBILE,
    find_fixed_outage,
    find_interruption,
    journey_of,
    repair,
    repeat_elsewhere,
    retransmit_first,
    round_trip,
)
from netcarlo.kernels.fluid.report import report, sample
from netcarlo.kernels.fluid.round import Cause, until_event
from netcarlo.kernels.fluid.route import Route, RouteWord, is_down, prepare, rewind, words
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowWord
from netcarlo.kernels.sctp.paths import ASSOCIATION_MAX_RETRANS
from netcarlo.kernels.sctp.state import HEARTBEAT_BYTES
from netcarlo.kernels.shared.layout import FlowOut


def scratch_words(rows: Rows, *, mobile: bool) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    paths, journey = (1, handovers.scratch_words(rows)) if mobile else (PATHS, 0)
    return Word.PATHS + paths * (PathWord.ROUTE + words(rows.hops.shape[2])) + journey, PATHS * PathFloat.SIZE


def simulate(
    p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    for word in range(len(m)):
        m[word] = 0
    for column in range(len(out)):
        out[column] = 0
    out[Out.COMPLETED] = NEVER
    chunk = p[RowP.DATA] + p[RowP.CHUNK_HEADER]
    m[FlowWord.LIMIT] = p[RowP.LIMIT] << ONE_BITS if p[RowP.LIMIT] < ENDLESS else ENDLESS
    m[FlowWord.DELAYED] = 1 if p[ReliableP.ACK_EVERY] > 1 else 0
    m[Word.RECEIVE_WINDOW] = p[SctpP.RWND] // chunk
    m[Word.FAILOVER] = NEVER
    row = Row(p, hops, outages, losses, m, g, out)
    t = _connect(row)
    for path in range(p[SctpP.N_PATHS]):
        _prepare_path(row, path, float(chunk))
        before = (2 if path == 0 else 0) + p[SctpP.PROBE_FIRST]
        gaps.prepare(p, hops, losses, m[place_of(hops, path) + PathWord.ROUTE :], path, before)
    while t < p[RowP.END] and out[Out.COMPLETED] == NEVER and m[Word.ERRORS] <= ASSOCIATION_MAX_RETRANS:
        t = _advance(row, t)
    report(p, m, out)
    out[Out.SENT_ALTERNATE] = min(
        out[Out.SENT_ALTERNATE], out[Out.SENT]
    )  # without packets sent after the end
    if p[SctpP.N_PATHS] == PATHS:
        out[len(out) - Failover.COLUMNS + Failover.LONGEST] = m[Word.FAILOVER]
    return 0


def _connect(row: Row) -> Any:
    """Perform the four-way handshake on the first path, and send a heartbeat on each path to be confirmed.

    Returns when the first data are sent [ns].
    """
    p, hops, losses, m = row.p, row.hops, row.losses, row.m
    t, probed = p[RowP.START], np.int64(0)
    for path in range(p[SctpP.N_PATHS]):
        q = m[place_of(hops, path) :]
        q[PathWord.RTO] = p[ReliableP.INITIAL_RTO]
        base = prepare(p, hops, losses, q[PathWord.ROUTE :], path, np.int64(HEARTBEAT_BYTES)).base_rtt
        if MOBILE:
            base += 2 * p[MobileP.MAP_TO_AR]
        find_fixed_outage(row, path, t)
        if path == 0:
            while is_down(q[PathWord.ROUTE :], t) and t < p[RowP.END]:
                t += q[PathWord.RTO]
                q[PathWord.RTO] = min(2 * q[PathWord.RTO], p[ReliableP.MAX_RTO])
                find_fixed_outage(row, path, t)
            t += 2 * base
        if p[SctpP.PROBE_FIRST] == 1:
            measure(p, q, base)
            probed = max(probed, base)
    return t + probed


def _prepare_path(row: Row, path: Any, chunk: Any) -> None:
    """Initialise the words and floats of a path; a chunk has `chunk` bytes."""
    p, hops, outages, losses, m, g, out = row.p, row.hops, row.outages, row.losses, row.m, row.g, row.out
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    size = p[RowP.DATA] + p[RowP.CHUNK_HEADER] + p[RowP.HEADER]
    route = prepare(p, hops, losses, q[PathWord.ROUTE :], path, size)
    if MOBILE:
        route = handovers.prepare(p, hops, outages, q[PathWord.ROUTE :], m[journey_of(hops) :], out, route)
    rewind(hops, q[PathWord.ROUTE :])  # it was searched for the packets of the handshake
    q[PathWord.BASE_RTT], q[PathWord.CAPACITY], q[PathWord.LOSS] = route.base_rtt, route.capacity, route.loss
    q[PathWord.ONE_WAY] = route.one_way
    f[PathFloat.SERVICE] = route.service
    f[PathFloat.CWND] = float(p[SctpP.INITIAL_CWND]) / chunk
    f[PathFloat.SSTHRESH] = float(p[ReliableP.INITIAL_SSTHRESH]) / chunk


def _advance(row: Row, t: Any) -> Any:
    """Retransmit on the other path, or simulate a round trip on the current path.

    Returns when the next step begins [ns].
    """
    p, hops, losses, m, g, out = row.p, row.hops, row.losses, row.m, row.g, row.out
    return_to_primary(row, t)
    left = missing(row)
    if left <= 0:  # the last packets got through in an interruption, or on the other path
        m[FlowWord.SENT] += left
        out[Out.COMPLETED] = t + m[place_of(hops, m[Word.CURRENT]) + PathWord.ONE_WAY]
        return t
    if m[Word.TO_RETRANSMIT] > 0:
        to = target(row, m[Word.LOST_ON], t)
        if to != m[Word.CURRENT]:
            after = repeat_elsewhere(row, to, t)
            return _settle(row, to, t, after)
    path = m[Word.CURRENT]
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    w = q[PathWord.ROUTE :]
    before = t
    base, room, chance = q[PathWord.BASE_RTT], q[PathWord.CAPACITY], q[PathWord.LOSS]
    route = Route(base, f[PathFloat.SERVICE], room, chance, np.int64(0), q[PathWord.ONE_WAY])
    packets = np.int64(1) if m[Word.SINGLE_PACKET] == 1 else window_of(m, f)
    rtt: Any = round_trip(p, route, packets)
    if MOBILE or w[RouteWord.UP] <= t:
        find_interruption(row, path, t, np.int64(rtt), packets)
    wanted = packets
    if t < m[Word.REFILLED_AT]:
        packets = min(packets, m[Word.WINDOW_LEFT] + (p[SctpP.MAX_BURST] if t >= m[Word.RECOVERED_AT] else 0))
    else:
        packets = _answered(p, route, packets)
    burst = np.int64(
        min(float(packets) * route.service, rtt)
    )  # its packets go one after the other, then none
    meets = w[RouteWord.DOWN] < t + burst or w[RouteWord.STOP] < t + np.int64(rtt) + burst
    if MOBILE and m[journey_of(hops) + handovers.Word.KEPT] == 1:
        if w[RouteWord.DOWN] < t + burst:
            after = hand_over(row, route, path, packets, t, rtt)
            after = _settle(row, path, before, after)
            sample(p, f[PathFloat.CWND], out, before, min(after, p[RowP.END]), rtt)
            return after
    elif meets and w[RouteWord.RESUME] > t and gaps.until_loss(hops, w, path) >= packets << ONE_BITS:
        after = cross_outage(row, route, path, packets, t, rtt)
        after = _settle(row, path, before, after)
        sample(p, f[PathFloat.CWND], out, before, min(after, p[RowP.END]), rtt)
        return after
    span = until_event(
        p, route.capacity, np.int64(FOREVER), t, packets, rtt, packets << ONE_BITS,
        gaps.until_loss(hops, w, path), m[Word.RECOVERED_AT],
    )  # fmt: skip
    length, cause = span.length, span.cause
    flow: Any = np.int64(float(packets) * span.part * ONE)
    if flow >= left:
        length = arrivals.complete(out, route, length, flow, left, t)
        flow = left
        cause = Cause.NOTHING
    send_on(row, path, flow)
    out[Out.DROPS_RANDOM] += gaps.lose(p, hops, losses, w, path, flow)
    measures = retransmit_first(m, flow)
    if flow > 0:
        limited = t < m[Word.RECOVERED_AT] or (t < m[Word.REFILLED_AT] and packets < wanted)
        acknowledged(row, q, f, flow, rtt, limited, measures)
        m[Word.SINGLE_PACKET] = 0
    t += length
    if cause != Cause.NOTHING:
        t = _lose_window(row, route, path, cause, t, rtt)
    m[Word.ACK_CLOCKED] = 0 if m[Word.SINGLE_PACKET] == 1 else 1
    t = _settle(row, path, before, t)
    sample(p, f[PathFloat.CWND], out, before, min(t, p[RowP.END]), rtt)
    return t


def _settle(row: Row, path: Any, begin: Any, after: Any) -> Any:
    """Return when the next step begins, which is `after` [ns] unless packets are served later.

    A step sends at most two windows; the rest of a longer step is a wait for a timer.
    """
    p, hops, m, g, out = row.p, row.hops, row.m, row.g, row.out
    q, each = m[place_of(hops, path) :], g[path * PathFloat.SIZE + PathFloat.SERVICE]
    more = m[FlowWord.SENT] - (arrivals.lost(out) << ONE_BITS) - m[FlowWord.COUNTED]
    windows = begin + 2 * (q[PathWord.BASE_RTT] + arrivals.served(more, each))
    return max(after, arrivals.settle(p, m, out, each, q[PathWord.ONE_WAY], begin, min(after, windows)))


def _answered(p: Any, route: Route, packets: Any) -> Any:
    """Return the number of packets in flight whose SACK arrives within the round trip.

    If the path becomes idle, an odd packet waits for the next one.
    """
    idle = float(packets) * route.service < float(route.base_rtt)
    return packets - (packets & 1) if p[ReliableP.ACK_EVERY] > 1 and packets > 1 and idle else packets


def _lose_window(row: Row, route: Route, path: Any, cause: Any, t: Any, rtt: Any) -> Any:
    """Simulate a loss at `t`; return when the sender has begun to repair it [ns]."""
    p, hops, losses, m, g, out = row.p, row.hops, row.losses, row.m, row.g, row.out
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    if cause == Cause.OVERFLOW:
        f[PathFloat.CWND] = min(f[PathFloat.CWND], float(route.capacity + 1))
    packets = at_most_missing(row, np.int64(1) if m[Word.SINGLE_PACKET] == 1 else window_of(m, f))
    send_on(row, path, packets << ONE_BITS)
    measures = retransmit_first(m, packets << ONE_BITS)
    hits = np.int64(0)
    acknowledged(row, q, f, packets << ONE_BITS, rtt, t < m[Word.RECOVERED_AT], measures)
    if cause == Cause.OVERFLOW:
        hits = min(max(window_of(m, f) - route.capacity, np.int64(1)), packets)
        out[Out.DROPS_QUEUE] += hits
    at_random = gaps.lose(p, hops, losses, q[PathWord.ROUTE :], path, (packets - hits) << ONE_BITS)
    out[Out.DROPS_RANDOM] += at_random
    hits += at_random
    m[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += max(at_random - 1, np.int64(0))  # each is seen by itself
    m[Word.SINGLE_PACKET] = 0
    t += np.int64(rtt)
    return repair(row, path, packets, hits, t, rtt)
