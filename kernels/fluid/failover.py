"""State of an SCTP association and its paths in the fluid: congestion windows, timers and failover.

Source: RFC 4960, sections 6.3, 7.2 and 8, as implemented by the packet engine (`docs/models/sctp.md`). `m`
are the words of a row, `q` and `f` the words and floats of a path, `hops` the hops of the row.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, Out
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP
from netcarlo.kernels.fluid.arrivals import lost
from netcarlo.kernels.fluid.route import find_outage, is_down, rewind, words
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, PACKET, FlowWord
from netcarlo.kernels.shared.layout import FlowOut


class Word(IntEnum):
    """Words of the association, following those of the flow."""

    CURRENT = FlowWord.SIZE  # path for new data
    ERRORS = FlowWord.SIZE + 1  # consecutive timeouts on all active paths [n]
    TO_RETRANSMIT = FlowWord.SIZE + 2  # chunks to retransmit [packet, ONE_BITS]
    LOST_ON = FlowWord.SIZE + 3  # path on which they were lost
    SINGLE_PACKET = FlowWord.SIZE + 4  # 1: after a timeout, until the first single packet has been sent
    RECOVERED_AT = FlowWord.SIZE + 5  # end of loss recovery, in which windows do not grow [ns]
    RECEIVE_WINDOW = FlowWord.SIZE + 6  # receive window [packet]
    ACK_CLOCKED = FlowWord.SIZE + 7  # 1: packets were sent in the previous round trip
    WINDOW_LEFT = FlowWord.SIZE + 8  # receive window left until RECOVERED_AT [packet]
    REFILLED_AT = FlowWord.SIZE + 9  # end of the round trip with one extra burst in flight [ns]
    FAILOVER = FlowWord.SIZE + 10  # longest failover so far, as `Failover.LONGEST` [ns] or NEVER
    PATHS = FlowWord.SIZE + 11  # first word of the paths


class PathWord(IntEnum):
    """Words of a path."""

    SRTT = 0  # smoothed RTT [ns], 0 before the first measurement
    RTTVAR = 1  # RTT variation [ns]
    RTO = 2  # retransmission timeout [ns]
    ERRORS = 3  # consecutive timeouts of the path [n]
    ACTIVE_AT = 4  # the path is inactive until then, when a heartbeat is acknowledged [ns]
    BASE_RTT = 5  # from here to LOSS, and ONE_WAY: fields of `Route`
    CAPACITY = 6
    LOSS = 7
    SILENT_SINCE = 8  # start of the first of the consecutive timeouts [ns]
    ONE_WAY = 9
    ROUTE = 10  # first word of `route`


class PathFloat(IntEnum):
    """Floats of a path."""

    CWND = 0  # congestion window [packet]
    SSTHRESH = 1  # slow start threshold [packet]
    SERVICE = 2  # service time of a packet at the slowest hop [ns]
    SIZE = 3


class Row(NamedTuple):
    """Arrays of a row."""

    p: Any
    """Columns of the scenario (`P`)."""
    hops: Any
    """Columns of the hops (`Hop`), [path, hop, column]."""
    outages: Any
    """Start and end of each outage [ns], [path, hop, outage, 2]."""
    losses: Any
    """Loss table, see `base.loss`."""
    m: Any
    """Scratch: words of the flow (`FlowWord`), of the association (`Word`) and of its paths (`PathWord`)."""
    g: Any
    """Floats of the paths (`PathFloat`)."""
    out: Any
    """Outcomes (`Out`)."""


def place_of(hops: Any, path: Any) -> Any:
    """Return the first word of a path."""
    return Word.PATHS + path * (PathWord.ROUTE + words(hops.shape[1]))


def measure(p: Any, q: Any, rtt: Any) -> None:
    """Update the retransmission timer after an RTT measurement [ns], as `sctp.paths.measure`."""
    if q[PathWord.SRTT] == 0:
        q[PathWord.SRTT] = rtt
        q[PathWord.RTTVAR] = rtt // 2
    else:
        q[PathWord.RTTVAR] = (3 * q[PathWord.RTTVAR] + abs(q[PathWord.SRTT] - rtt)) // 4
        q[PathWord.SRTT] = (7 * q[PathWord.SRTT] + rtt) // 8
    wanted = q[PathWord.SRTT] + 4 * q[PathWord.RTTVAR]
    q[PathWord.RTO] = min(max(wanted, p[ReliableP.MIN_RTO]), p[ReliableP.MAX_RTO])


def window_of(m: Any, f: Any) -> Any:
    """Return the number of packets in flight [packet].

    While less than cwnd is outstanding, another packet may be sent.
    """
    whole = np.int64(f[PathFloat.CWND])
    if float(whole) < f[PathFloat.CWND]:
        whole += 1
    return max(min(whole, m[Word.RECEIVE_WINDOW]), np.int64(1))


def missing(row: Row) -> Any:
    """Return the data of a finite transfer not delivered yet [packet, ONE_BITS].

    The value is negative if more has been delivered than the transfer has.
    """
    m, out = row.m, row.out
    through = m[FlowWord.SENT] - (lost(out) << ONE_BITS) - m[FlowWord.DUPLICATES]
    return m[FlowWord.LIMIT] - through


def at_most_missing(row: Row, packets: Any) -> Any:
    """Return `packets`, limited to the number of packets not delivered yet, but at least 1."""
    return min(packets, max((missing(row) + ONE - 1) >> ONE_BITS, np.int64(1)))


def target(row: Row, path: Any, t: Any) -> Any:
    """Return the path for retransmissions, at `t` [ns], of chunks that were lost on `path`."""
    p = row.p
    if p[SctpP.N_PATHS] == 1 or (p[SctpP.RESPONSE_ALTERNATE] == 0 and is_active(row, path, t)):
        return path
    return other(row, path, t)


def other(row: Row, path: Any, t: Any) -> Any:
    """Return the other path, or `path` if only `path` is active at `t` [ns] or there is one path."""
    p = row.p
    found = 1 - path
    if p[SctpP.N_PATHS] == 1 or (not is_active(row, found, t) and is_active(row, path, t)):
        found = path
    return found


def is_active(row: Row, path: Any, t: Any) -> Any:
    """Return whether a path is active at `t` [ns]."""
    hops, m = row.hops, row.m
    return t >= m[place_of(hops, path) + PathWord.ACTIVE_AT]


def return_to_primary(row: Row, t: Any) -> None:
    """Make the first active path current, with `SctpP.FAILBACK`.

    The path begins with its present window, without a stream of SACKs.
    """
    p, m = row.p, row.m
    if p[SctpP.FAILBACK] == 0 or p[SctpP.N_PATHS] == 1:
        return
    for path in range(p[SctpP.N_PATHS]):
        if is_active(row, path, t):
            if path != m[Word.CURRENT]:
                m[Word.CURRENT] = path
                m[Word.ACK_CLOCKED] = 0
            return


def until_revived(row: Row, t: Any, end: Any) -> Any:
    """Return when a path becomes active that new data then use, after `t` and before `end`; otherwise `end`
    [ns].

    With `SctpP.FAILBACK` this is the first path, or any path while the current one is inactive. Without it,
    the result is always `end`.
    """
    p, hops, m = row.p, row.hops, row.m
    if p[SctpP.FAILBACK] == 0 or p[SctpP.N_PATHS] == 1:
        return end
    stranded = not is_active(row, m[Word.CURRENT], t)
    for path in range(p[SctpP.N_PATHS]):
        revives = m[place_of(hops, path) + PathWord.ACTIVE_AT]
        if t < revives < end and (path == 0 or stranded):
            end = revives
    return end


def send_on(row: Row, path: Any, flow: Any) -> None:
    """Send `flow` [packet, ONE_BITS] on a path."""
    m, out = row.m, row.out
    m[FlowWord.SENT] += flow
    if path == 1:
        m[FlowWord.DUPLICATES_DUE] += flow  # the remainder is less than a packet
        out[Out.SENT_ALTERNATE] += m[FlowWord.DUPLICATES_DUE] >> ONE_BITS
        m[FlowWord.DUPLICATES_DUE] &= ONE - 1


def acknowledged(row: Row, q: Any, f: Any, flow: Any, rtt: Any, frozen: Any, measures: Any) -> None:
    """Process the SACKs of `flow` [packet, ONE_BITS]: clear the error counts and increase cwnd.

    `rtt` is measured if `measures` is true, and cwnd does not grow if `frozen`. Source: RFC 4960, sections
    7.2.1, 7.2.2.
    """
    p, m = row.p, row.m
    q[PathWord.ERRORS] = 0
    q[PathWord.ACTIVE_AT] = 0
    m[Word.ERRORS] = 0
    if measures:
        measure(p, q, np.int64(rtt))
    cwnd = f[PathFloat.CWND]
    if not frozen and cwnd <= float(m[Word.RECEIVE_WINDOW]):
        acked = float(flow) * PACKET
        if cwnd <= f[PathFloat.SSTHRESH]:
            sacks = max(float(flow >> m[FlowWord.DELAYED]) * PACKET, min(acked, 1.0))
            cwnd = min(cwnd + sacks, max(f[PathFloat.SSTHRESH] + 1.0, cwnd))
        else:
            cwnd += acked / cwnd
        f[PathFloat.CWND] = cwnd


def halved(row: Row, f: Any) -> Any:
    """Return ssthresh after a loss [packet]."""
    p = row.p
    floor = float(p[SctpP.SSTHRESH_FLOOR]) / float(p[RowP.DATA] + p[RowP.CHUNK_HEADER])
    return max(f[PathFloat.CWND] / 2.0, floor)


def expire(row: Row, path: Any, t: Any) -> None:
    """Process a timeout of a path at `t` [ns] (RFC 4960, sections 6.3.3 and 8.2)."""
    p, hops, m, g = row.p, row.hops, row.m, row.g
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    m[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
    m[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
    if f[PathFloat.CWND] > 1.0:
        f[PathFloat.SSTHRESH] = halved(row, f)
        f[PathFloat.CWND] = 1.0
    if q[PathWord.ERRORS] == 0:
        q[PathWord.SILENT_SINCE] = t - q[PathWord.RTO]
    q[PathWord.RTO] = min(2 * q[PathWord.RTO], p[ReliableP.MAX_RTO])
    q[PathWord.ERRORS] += 1
    if q[PathWord.ACTIVE_AT] <= t:
        m[Word.ERRORS] += 1
        if q[PathWord.ERRORS] > p[SctpP.PATH_MAX_RETRANS]:
            q[PathWord.ACTIVE_AT] = FOREVER
            if path == m[Word.CURRENT]:
                m[Word.CURRENT] = other(row, path, t)
                if m[Word.CURRENT] != path:
                    m[Word.FAILOVER] = max(m[Word.FAILOVER], t - q[PathWord.SILENT_SINCE])
            if p[SctpP.HEARTBEAT] > 0 and p[SctpP.N_PATHS] > 1:
                _probe(row, q, path, t)


def _probe(row: Row, q: Any, path: Any, t: Any) -> None:
    """Send heartbeats on a path that is inactive from `t` [ns] on, until one is acknowledged."""
    p, hops, outages = row.p, row.hops, row.outages
    w, timer = q[PathWord.ROUTE :], q[PathWord.RTO]
    find_outage(hops, outages, w, path, t)
    while is_down(w, t) and t < p[RowP.END]:
        t += timer
        timer = min(2 * timer, p[ReliableP.MAX_RTO])
        find_outage(hops, outages, w, path, t)
    q[PathWord.ACTIVE_AT] = t + q[PathWord.BASE_RTT]
    q[PathWord.ERRORS] = 0
    measure(p, q, q[PathWord.BASE_RTT])
    rewind(hops, w)
