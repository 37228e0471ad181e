"""Sender of an SCTP association: new data, retransmission and its timers.

Source: RFC 2960, sections 6 and 7, with the Implementer's Guide, as implemented by ns-2; with
`Rfc9260P.RFC9260` the same sections of RFC 9260, in which chunks marked for retransmission are not
outstanding. All windows are in bytes. A packet carries one chunk, which fills it, so one chunk is one PMTU of
data in these rules.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import PATHS, STATUS_RING_FULL, Out
from netcarlo.kernels.base.parameters import Rfc9260P, RowP, SctpP
from netcarlo.kernels.sctp import paths
from netcarlo.kernels.sctp.state import (
    CHUNK_SIZE,
    NONE,
    OFF,
    OUTCOMES,
    SENDER,
    Chunk,
    End,
    Event,
    Kind,
    Mark,
    Status,
    Way,
    Word,
    chunk_at,
    end_at,
    is_reported,
    way_at,
)


def start_t3(s: Any, now: Any, way: Any) -> None:
    """Start the retransmission timer of a way."""
    s[Event.T3 + way] = now + s[way_at(way) + Way.RTO]


def put_data(p: Any, s: Any, now: Any, way: Any, tsn: Any) -> None:
    """Send a chunk on a way."""
    s[OUTCOMES + Out.SENT] += 1
    s[OUTCOMES + Out.SENT_ALTERNATE] += way
    size = s[Word.CHUNK] + p[RowP.HEADER] - (p[RowP.SHORT] if tsn == s[Word.LIMIT] else 0)
    paths.put(p, s, now, way, Kind.DATA, size, tsn)


def mark(p: Any, s: Any, at: Any, why: Any) -> None:
    """Mark the chunk at `at` for retransmission; `why` is a `Mark`."""
    unmarked = s[at + Chunk.MARK] == Mark.UNMARKED
    if unmarked:
        s[Word.MARKED] += 1
        s[way_at(s[at + Chunk.WAY]) + Way.OUTSTANDING] -= p[Rfc9260P.RFC9260] * s[Word.CHUNK]
    s[at + Chunk.MARK] = why
    if unmarked or p[Rfc9260P.RFC9260] == 0:
        s[Word.PEER_RWND] += s[Word.CHUNK]


@noinline
def target(p: Any, s: Any, at: Any) -> Any:
    """Return the way of a retransmission of the chunk at `at`.

    A fast retransmission stays on its path (RFC 9260, section 6.4).
    """
    way = s[at + Chunk.WAY]
    if p[Rfc9260P.RFC9260] == 1 and s[at + Chunk.MARK] == Mark.FAST and paths.rank(s, way) == 0:
        return way
    if p[SctpP.RESPONSE_ALTERNATE] == 0 and s[way_at(way) + Way.STATUS] == Status.ACTIVE:
        return way
    return paths.other(p, s, way)


@noinline
def resend(p: Any, s: Any, now: Any, tsn: Any, to: Any) -> None:
    """Retransmit the marked chunk `tsn` on way `to`, and update the timers."""
    at = chunk_at(p, s, tsn)
    way = s[at + Chunk.WAY]
    old, new = way_at(way), way_at(to)
    if s[old + Way.TIMING] == 1 and s[at + Chunk.TIMED] > 0:
        s[at + Chunk.TIMED] = 0
        s[old + Way.TIMING] = 0
    if s[old + Way.FIRST] == tsn and s[old + Way.OUTSTANDING] > 0:
        start_t3(s, now, way)
    if s[new + Way.FIRST] == NONE or tsn < s[new + Way.FIRST]:
        s[new + Way.FIRST] = tsn
        start_t3(s, now, to)
    s[at + Chunk.WAY] = to
    s[at + Chunk.SENDS] += 1
    if p[Rfc9260P.RFC9260] == 1:
        s[at + Chunk.RESENT] = now
    s[at + Chunk.MARK] = Mark.UNMARKED
    s[Word.MARKED] -= 1
    s[new + Way.OUTSTANDING] += s[Word.CHUNK]
    s[new + Way.UNUSED] = 0
    s[Word.PEER_RWND] -= s[Word.CHUNK]
    s[OUTCOMES + Out.RETRANSMITTED] += 1
    put_data(p, s, now, to, tsn)
    if s[Event.T3 + to] == OFF:
        start_t3(s, now, to)
    s[Event.DEGRADE + to] = now + s[new + Way.RTO]


@noinline
def retransmit(p: Any, s: Any, now: Any, one: Any) -> None:
    """Retransmit marked chunks: `one` of them, or as many as cwnd allows."""
    if p[Rfc9260P.RFC9260] == 1:
        retransmit_today(p, s, now, one)
        return
    s[Word.BURST] = 0
    for way in range(PATHS):
        s[way_at(way) + Way.FIRST] = NONE
    # Marked chunks do not count as outstanding in the decision which chunks may be sent.
    to = NONE
    for tsn in range(s[Word.CUM] + 1, s[Word.LAST_TSN] + 1):
        at = chunk_at(p, s, tsn)
        if s[at + Chunk.MARK] != Mark.UNMARKED:
            if to == NONE:
                to = target(p, s, at)
            s[way_at(s[at + Chunk.WAY]) + Way.OUTSTANDING] -= s[Word.CHUNK]
    new = way_at(to)
    more = one or s[new + Way.OUTSTANDING] < s[new + Way.CWND]
    for tsn in range(s[Word.CUM] + 1, s[Word.LAST_TSN] + 1):
        at = chunk_at(p, s, tsn)
        w = way_at(s[at + Chunk.WAY])
        if s[w + Way.FIRST] == NONE and not is_reported(p, s, tsn):
            s[w + Way.FIRST] = tsn
        if s[at + Chunk.MARK] == Mark.UNMARKED:
            continue
        if not more:
            s[w + Way.OUTSTANDING] += s[Word.CHUNK]
            continue
        resend(p, s, now, tsn, to)
        more = not one and s[new + Way.OUTSTANDING] < s[new + Way.CWND]
        if s[Word.BURST_LIMITED] == 1:
            s[Word.BURST] += 1
            if s[Word.BURST] > p[SctpP.MAX_BURST]:
                s[Word.BURST_LIMITED] = 0
                more = False


@noinline
def retransmit_today(p: Any, s: Any, now: Any, one: Any) -> None:
    """Retransmit marked chunks, each on its own target: `one` of them, or as many as cwnd and Max.Burst
    allow (RFC 9260, section 6.1)."""
    s[Word.BURST] = 0
    limit = np.int64(1) if one else p[SctpP.MAX_BURST]
    for way in range(PATHS):
        s[way_at(way) + Way.FIRST] = NONE
    for tsn in range(s[Word.CUM] + 1, s[Word.LAST_TSN] + 1):
        at = chunk_at(p, s, tsn)
        w = way_at(s[at + Chunk.WAY])
        if s[w + Way.FIRST] == NONE and not is_reported(p, s, tsn):
            s[w + Way.FIRST] = tsn
        if s[at + Chunk.MARK] == Mark.UNMARKED:
            continue
        if s[Word.BURST] == limit:
            break
        to = target(p, s, at)
        new = way_at(to)
        if one or s[new + Way.OUTSTANDING] < s[new + Way.CWND]:
            resend(p, s, now, tsn, to)
            s[Word.BURST] += 1


def new_chunk(p: Any, s: Any, now: Any, way: Any) -> None:
    """Send the next new chunk on a way."""
    w = way_at(way)
    s[Word.LAST_TSN] += 1
    tsn = s[Word.LAST_TSN]
    at = chunk_at(p, s, tsn)
    for word in range(CHUNK_SIZE):
        s[at + word] = 0
    s[at + Chunk.WAY] = way
    s[at + Chunk.SENDS] = 1
    s[at + Chunk.BORN] = now
    if s[w + Way.TIMING] == 0:
        s[w + Way.TIMING] = 1
        s[at + Chunk.TIMED] = now
    s[w + Way.OUTSTANDING] += s[Word.CHUNK]
    s[Word.PEER_RWND] = max(s[Word.PEER_RWND] - s[Word.CHUNK], 0)
    if s[Event.T3 + way] == OFF:
        start_t3(s, now, way)
    put_data(p, s, now, way, tsn)


@noinline
def send_new(p: Any, s: Any, now: Any) -> None:
    """Send new data while the windows allow: on the current path and, with concurrent multipath transfer, on
    the other one if both are active."""
    way, times = s[end_at(SENDER) + End.CURRENT], 1
    if p[Rfc9260P.CMT] == 1 and s[Word.PATHS] == 2 and paths.rank(s, way) + paths.rank(s, way ^ 1) == 0:
        times = 2
    for _ in range(times):
        w = way_at(way)
        before = s[Word.LAST_TSN]
        if p[Rfc9260P.RFC9260] == 1:
            s[Word.BURST_LIMITED] = 1
        while s[w + Way.OUTSTANDING] < s[w + Way.CWND] and s[Word.LAST_TSN] < s[Word.LIMIT]:
            if s[Word.LAST_TSN] - s[Word.CUM] == p[RowP.RING]:
                s[OUTCOMES + Out.STATUS] = STATUS_RING_FULL
                break
            if s[Word.CHUNK] <= s[Word.PEER_RWND]:
                if s[Word.BURST_LIMITED] == 1:
                    s[Word.BURST] += 1
                    if s[Word.BURST] > p[SctpP.MAX_BURST]:
                        s[Word.BURST_LIMITED] = 0
                        break
            elif s[way_at(0) + Way.OUTSTANDING] + s[way_at(1) + Way.OUTSTANDING] > 0:
                break  # no room at the receiver; with nothing outstanding, a chunk probes for room
            new_chunk(p, s, now, way)
        if s[Word.LAST_TSN] > before:
            s[Event.DEGRADE + way] = now + s[w + Way.RTO]
            s[w + Way.IDLE_SINCE] = now
            s[w + Way.UNUSED] = 0
        s[Word.BURST] = 0
        way = way ^ 1


@noinline
def t3_due(p: Any, s: Any, now: Any, way: Any) -> None:
    """Process the expiry of the retransmission timer of a way (RFC 2960, section 6.3.3)."""
    w = way_at(way)
    s[OUTCOMES + Out.TIMEOUTS] += 1
    s[OUTCOMES + Out.CWND_CUTS] += 1
    if p[Rfc9260P.RFC9260] == 1:
        s[Word.BURST] = 0
        s[Word.RECOVER] = s[Word.CUM]  # a timeout ends fast recovery
        s[w + Way.RECOVER] = s[Word.CUM]
    s[Event.T3 + way] = OFF
    s[Event.DEGRADE + way] = OFF
    free = p[Rfc9260P.RFC9260] == 1 and p[Rfc9260P.FREE_T3] == 1
    if free and not any_late(p, s, now, way):
        s[OUTCOMES + Out.CWND_CUTS] -= 1
        if paths.fail(p, s, now, way, np.int64(1)):
            after_t3(p, s, now, way)
            if s[w + Way.OUTSTANDING] > 0 and s[Event.T3] == OFF and s[Event.T3 + 1] == OFF:
                start_t3(s, now, way)
        return
    s[w + Way.TIMING] = 0
    if s[w + Way.CWND] > s[Word.CHUNK] or p[Rfc9260P.RFC9260] == 1:
        s[w + Way.SSTHRESH] = max(s[w + Way.CWND] // 2, p[SctpP.SSTHRESH_FLOOR])
        s[w + Way.CWND] = s[Word.CHUNK]
        s[w + Way.PARTIAL] = 0
    if not paths.fail(p, s, now, way, np.int64(1)):
        return
    for tsn in range(s[Word.CUM] + 1, s[Word.LAST_TSN] + 1):
        at = chunk_at(p, s, tsn)
        if s[at + Chunk.WAY] != way or is_reported(p, s, tsn):
            continue
        s[at + Chunk.TIMED] *= 1 - p[Rfc9260P.RFC9260]
        if is_late(p, s, now, at):
            mark(p, s, at, Mark.TIMED_OUT)
            s[at + Chunk.MISSING] = 0
    after_t3(p, s, now, way)


@noinline
def is_late(p: Any, s: Any, now: Any, at: Any) -> Any:
    """Return whether an expiry of T3 affects the chunk at `at`: always, or if it is older than the RTT."""
    w = way_at(s[at + Chunk.WAY])
    age = now - max(s[at + Chunk.BORN], s[at + Chunk.RESENT])
    return (
        p[Rfc9260P.RFC9260] == 0 or p[Rfc9260P.FREE_T3] == 0 or age > s[w + Way.SRTT] + 4 * s[w + Way.RTTVAR]
    )


@noinline
def any_late(p: Any, s: Any, now: Any, way: Any) -> Any:
    """Return whether an expiry of T3 of a way affects any chunk."""
    for tsn in range(s[Word.CUM] + 1, s[Word.LAST_TSN] + 1):
        at = chunk_at(p, s, tsn)
        if s[at + Chunk.WAY] == way and not is_reported(p, s, tsn) and is_late(p, s, now, at):
            return True
    return False


@noinline
def after_t3(p: Any, s: Any, now: Any, way: Any) -> None:
    """Retransmit a marked chunk after a timeout, probe the path if it failed, and send new data if none is
    marked."""
    w = way_at(way)
    if s[Word.MARKED] > 0:
        retransmit(p, s, now, True)
    if s[w + Way.STATUS] == Status.POTENTIALLY_FAILED:  # RFC 7829, section 3.2
        if s[w + Way.PROBING] == 0:
            paths.heartbeat(p, s, now, way)
    elif s[w + Way.STATUS] == Status.INACTIVE and p[SctpP.HEARTBEAT] > 0 and p[Rfc9260P.RFC9260] == 0:
        paths.heartbeat(p, s, now, way)
    may_send = s[Word.MARKED] == 0 or p[Rfc9260P.CMT] == 1
    if p[Rfc9260P.RFC9260] == 1 and may_send:  # new data of a path that failed take the other one at once
        send_new(p, s, now)


@noinline
def degrade_due(p: Any, s: Any, now: Any, way: Any) -> None:
    """Halve the window of an idle way, whose timer expires."""
    w = way_at(way)
    if p[Rfc9260P.RFC9260] == 1:  # section 7.2.1
        if s[w + Way.CWND] > p[SctpP.SSTHRESH_FLOOR]:
            if s[w + Way.UNUSED] == 0:
                s[w + Way.SSTHRESH] = s[w + Way.CWND]
            s[w + Way.UNUSED] = 1
            s[w + Way.CWND] = max(s[w + Way.CWND] // 2, p[SctpP.SSTHRESH_FLOOR])
    elif s[w + Way.CWND] > 2 * s[Word.CHUNK]:
        s[w + Way.CWND] = max(s[w + Way.CWND] // 2, p[SctpP.SSTHRESH_FLOOR])
    s[Event.DEGRADE + way] = now + s[w + Way.RTO]
