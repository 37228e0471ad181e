"""Processing of a SACK by the sender of an SCTP association.

Source: RFC 2960, sections 6.2.1, 6.3 and 7.2 with the Implementer's Guide (newly acknowledged TSNs count
missing reports, one cwnd reduction per window), as implemented by ns-2; with `Rfc9260P.RFC9260` the same
sections of RFC 9260.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base import bits
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import PATHS, Out
from netcarlo.kernels.base.parameters import ReliableP, Rfc9260P, RowP, SctpP
from netcarlo.kernels.sctp import paths, sender
from netcarlo.kernels.sctp.state import (
    NONE,
    OFF,
    OUTCOMES,
    SENDER,
    Chunk,
    End,
    Event,
    Mark,
    Packet,
    Way,
    Word,
    chunk_at,
    end_at,
    is_reported,
    way_at,
)


@noinline
def credit(p: Any, s: Any, now: Any, at: Any) -> None:
    """Update bytes, RTT and errors of the way of a chunk that is acknowledged for the first time."""
    way = s[at + Chunk.WAY]
    w = way_at(way)
    s[w + Way.NEWLY] += s[Word.CHUNK]
    ambiguous = s[at + Chunk.MARK] == Mark.TIMED_OUT  # the SACK was lost, or the path failed
    if s[w + Way.TIMING] == 1 and s[at + Chunk.TIMED] > 0 and s[at + Chunk.SENDS] == 1:
        if not ambiguous:
            paths.measure(p, s, way, now - s[at + Chunk.TIMED])
        s[w + Way.TIMING] = 0
    if s[w + Way.ERRORS] != 0 and not ambiguous:
        # The path of the SACK, which is that of the latest arrival, identifies the transmission of the chunk
        # that arrived. ns-2 always assumes the last one.
        elsewhere = s[at + Chunk.SENDS] > 1 and way != s[Word.SACK_WAY]
        if not (elsewhere and (p[SctpP.FAILBACK] == 1 or p[Rfc9260P.RFC9260] == 1)):
            paths.recover(p, s, way)


@noinline
def credit_today(p: Any, s: Any, now: Any, at: Any, tsn: Any) -> None:
    """Credit a chunk that is acknowledged for the first time, with the rules of RFC 9260."""
    w = way_at(s[at + Chunk.WAY])
    if s[at + Chunk.MARK] != Mark.UNMARKED:
        s[w + Way.OUTSTANDING] += s[Word.CHUNK]  # `settle` subtracts what is newly acknowledged
    s[w + Way.NEWEST] = max(s[w + Way.NEWEST], tsn)
    credit(p, s, now, at)
    s[at + Chunk.TIMED] = 0
    if p[Rfc9260P.FREE_T3] == 1 and s[w + Way.SRTT] > 0:
        paths.restore_rto(p, s, w)


def unmark(s: Any, at: Any) -> None:
    """Clear the retransmission mark of the chunk at `at`."""
    if s[at + Chunk.MARK] != Mark.UNMARKED:
        s[Word.MARKED] -= 1
        s[at + Chunk.MARK] = Mark.UNMARKED


@noinline
def dequeue(p: Any, s: Any, now: Any, cum: Any) -> None:
    """Move the cumulative acknowledgement point to `cum`."""
    s[end_at(SENDER) + End.ERRORS] = 0
    for tsn in range(s[Word.CUM] + 1, cum + 1):
        at = chunk_at(p, s, tsn)
        way = s[at + Chunk.WAY]
        w = way_at(way)
        if is_reported(p, s, tsn):
            bits.clear_bit(s, s[Word.REPORTS], p[RowP.RING] - 1, tsn)
            s[Word.REPORTED] -= 1
        else:
            s[Word.NEWEST] = tsn
            if s[w + Way.CWND] > s[w + Way.SSTHRESH] and s[w + Way.OUTSTANDING] >= s[w + Way.CWND]:
                s[w + Way.PARTIAL] += s[Word.CHUNK]
            credit(p, s, now, at)
        if s[at + Chunk.FAST_DONE] == 1:
            s[Word.BURST_LIMITED] = 1
        s[Event.T3 + way] = OFF
        unmark(s, at)
    s[Word.CUM] = cum


@noinline
def dequeue_today(p: Any, s: Any, now: Any, cum: Any, gaps: Any) -> None:
    """Move the cumulative ACK to `cum` with the rules of RFC 9260; `gaps` if the SACK has gap ack blocks."""
    s[end_at(SENDER) + End.ERRORS] = 0
    for tsn in range(s[Word.CUM] + 1, cum + 1):
        at = chunk_at(p, s, tsn)
        way = s[at + Chunk.WAY]
        if is_reported(p, s, tsn):
            bits.clear_bit(s, s[Word.REPORTS], p[RowP.RING] - 1, tsn)
            s[Word.REPORTED] -= 1
        else:
            s[Word.NEWEST] = tsn
            credit_today(p, s, now, at, tsn)
            s[way_at(way) + Way.MOVED] = 1
            if gaps or p[Rfc9260P.FREE_T3] == 0:
                s[Event.T3 + way] = OFF
        unmark(s, at)
    s[Word.CUM] = cum


def report(p: Any, s: Any, now: Any, tsn: Any, advanced: Any) -> None:
    """Process the first report of a chunk in a gap ack block."""
    at = chunk_at(p, s, tsn)
    w = way_at(s[at + Chunk.WAY])
    bits.set_bit(s, s[Word.REPORTS], p[RowP.RING] - 1, tsn)
    s[Word.REPORTED] += 1
    s[Word.TOP] = max(s[Word.TOP], tsn)
    s[Word.NEWEST] = max(s[Word.NEWEST], tsn)
    grows = p[Rfc9260P.RFC9260] == 0 and advanced and s[w + Way.CWND] > s[w + Way.SSTHRESH]
    if grows and s[at + Chunk.IN_PARTIAL] == 0:
        s[at + Chunk.IN_PARTIAL] = 1
        s[w + Way.PARTIAL] += s[Word.CHUNK]
    if p[Rfc9260P.RFC9260] == 1:
        credit_today(p, s, now, at, tsn)
    else:
        credit(p, s, now, at)
    s[end_at(SENDER) + End.ERRORS] = 0
    unmark(s, at)


@noinline
def gap_acks(p: Any, s: Any, now: Any, sack: Any, advanced: Any) -> None:
    """Process the gap reports of the SACK at `sack`.

    The reports of consecutive SACKs differ by the chunk that the second one acknowledges, unless a SACK was
    lost or overtaken. Only then all chunks are examined.
    """
    seen, latest, first = s[sack + Packet.SEEN], s[sack + Packet.LATEST], s[Word.CUM] + 1
    more = p[SctpP.RWND] - s[sack + Packet.ROOM] - s[Word.REPORTED] * s[Word.CHUNK]
    if more == 0:
        return
    at = chunk_at(p, s, latest)
    only = more == s[Word.CHUNK] and latest > first and s[at + Chunk.ACCEPT_NUMBER] == seen
    behind = s[at + Chunk.WAY] == s[chunk_at(p, s, first) + Chunk.WAY] and not is_reported(p, s, first)
    if only and behind:  # the first on its way stays
        report(p, s, now, latest, advanced)
    else:
        look_through(p, s, now, seen, advanced)


@noinline
def look_through(p: Any, s: Any, now: Any, seen: Any, advanced: Any) -> None:
    """Process the gap reports of a SACK by examining all chunks.

    Those among the first `seen` accepted ones are reported.
    """
    for way in range(PATHS):
        s[way_at(way) + Way.FIRST] = NONE
    s[Word.TOP] = 0
    for tsn in range(s[Word.CUM] + 1, s[Word.LAST_TSN] + 1):
        at = chunk_at(p, s, tsn)
        way = s[at + Chunk.WAY]
        w = way_at(way)
        before = is_reported(p, s, tsn)
        if s[w + Way.FIRST] == NONE and not before:
            s[w + Way.FIRST] = tsn
        number = s[at + Chunk.ACCEPT_NUMBER]
        if number == 0 or number > seen:
            if before:  # SACKs out of order: trust the latest to arrive
                bits.clear_bit(s, s[Word.REPORTS], p[RowP.RING] - 1, tsn)
                s[Word.REPORTED] -= 1
                s[w + Way.OUTSTANDING] += s[Word.CHUNK]
        elif before:
            s[Word.TOP] = tsn
        else:
            report(p, s, now, tsn, advanced)
            if s[w + Way.FIRST] == tsn:
                s[Event.T3 + way] = OFF
                s[w + Way.MOVED] = 1


@noinline
def missing_reports(p: Any, s: Any, advanced: Any) -> Any:
    """Count missing reports of chunks; return whether any chunk is to be retransmitted.

    With concurrent multipath transfer only acknowledgements of the same path count (split fast retransmit).
    """
    limit, mask, today = s[Word.NEWEST], p[RowP.RING] - 1, p[Rfc9260P.RFC9260] == 1
    recovering = s[Word.CUM] < s[Word.RECOVER] if today else limit <= s[Word.RECOVER]
    if advanced and recovering:
        limit = max(limit, s[Word.TOP])
    limit = min(limit, s[Word.LAST_TSN] + 1)
    found = False
    tsn = bits.run_end(s, s[Word.REPORTS], mask, s[Word.CUM] + 1, limit)
    while tsn < limit:
        at = chunk_at(p, s, tsn)
        counts = not today or s[at + Chunk.MARK] == Mark.UNMARKED
        if p[Rfc9260P.CMT] == 1:
            counts = counts and tsn < s[way_at(s[at + Chunk.WAY]) + Way.NEWEST]
        s[at + Chunk.MISSING] += np.int64(counts)
        if counts and s[at + Chunk.MISSING] >= p[ReliableP.DUPACKS] and s[at + Chunk.FAST_DONE] == 0:
            sender.mark(p, s, at, Mark.FAST)
            s[at + Chunk.FAST_DONE] = 1
            found = True
        tsn = bits.run_end(s, s[Word.REPORTS], mask, tsn + 1, limit)
    return found


@noinline
def cut(p: Any, s: Any) -> None:
    """Halve the window of each way with a loss beyond the recovery point."""
    done = 0
    for tsn in range(s[Word.CUM] + 1, s[Word.LAST_TSN] + 1):
        at = chunk_at(p, s, tsn)
        way = s[at + Chunk.WAY]
        if s[at + Chunk.MARK] == Mark.UNMARKED or tsn <= s[Word.RECOVER] or done & (1 << way):
            continue
        done |= 1 << way
        halve(p, s, way)
        top = s[Word.LAST_TSN]
        while top > s[Word.CUM] and s[chunk_at(p, s, top) + Chunk.MARK] != Mark.UNMARKED:
            top -= 1
        if top > s[Word.CUM]:
            s[Word.HIGHEST] = max(s[Word.HIGHEST], top)
        s[Word.RECOVER] = s[Word.HIGHEST]


@noinline
def halve(p: Any, s: Any, way: Any) -> None:
    """Halve the window of a way."""
    w = way_at(way)
    s[w + Way.SSTHRESH] = max(s[w + Way.CWND] // 2, p[SctpP.SSTHRESH_FLOOR])
    s[w + Way.CWND] = s[w + Way.SSTHRESH]
    s[w + Way.PARTIAL] = 0
    s[w + Way.TIMING] *= p[Rfc9260P.RFC9260]
    s[OUTCOMES + Out.CWND_CUTS] += 1


@noinline
def enter_recovery(p: Any, s: Any) -> None:
    """Enter fast recovery, unless the sender is in it, and halve the window of each way with a fast
    retransmit.

    Windows are halved once until all data outstanding now are acknowledged (RFC 9260, section 7.2.4).
    """
    if p[Rfc9260P.CMT] == 0 and s[Word.CUM] < s[Word.RECOVER]:
        return
    done = 0
    for tsn in range(s[Word.CUM] + 1, s[Word.LAST_TSN] + 1):
        at = chunk_at(p, s, tsn)
        way = s[at + Chunk.WAY]
        if s[at + Chunk.MARK] != Mark.FAST or done & (1 << way):
            continue
        done |= 1 << way
        if p[Rfc9260P.CMT] == 0 or recovered(p, s, way):
            halve(p, s, way)
            s[way_at(way) + Way.RECOVER] = s[Word.LAST_TSN]
    s[Word.RECOVER] = s[Word.LAST_TSN]


@noinline
def recovered(p: Any, s: Any, way: Any) -> Any:
    """Return whether a way is not in fast recovery.

    With concurrent multipath transfer it ends when all chunks of the path up to its exit point have arrived.
    """
    if p[Rfc9260P.CMT] == 0:
        return s[Word.CUM] >= s[Word.RECOVER]
    for tsn in range(s[Word.CUM] + 1, s[way_at(way) + Way.RECOVER] + 1):
        if s[chunk_at(p, s, tsn) + Chunk.WAY] == way and not is_reported(p, s, tsn):
            return False
    return True


@noinline
def begin_today(p: Any, s: Any) -> None:
    """Record the state of the windows before a SACK with the rules of RFC 9260."""
    s[Word.NEWEST] = 0
    for way in range(PATHS):
        w = way_at(way)
        s[w + Way.MOVED] = 0
        s[w + Way.NEWEST] = 0
        s[w + Way.FULL] = np.int64(s[w + Way.OUTSTANDING] >= s[w + Way.CWND])


@noinline
def grow_today(p: Any, s: Any, way: Any, advanced: Any) -> None:
    """Let the window of a way grow outside fast recovery (RFC 9260, sections 7.2.1 and 7.2.2), after a SACK
    that `advanced` the cumulative ACK."""
    w = way_at(way)
    if s[w + Way.NEWLY] == 0 or not recovered(p, s, way):
        return
    full = s[w + Way.FULL] == 1
    moved = s[w + Way.MOVED] == 1 if p[Rfc9260P.CMT] == 1 else advanced
    if s[w + Way.CWND] <= s[w + Way.SSTHRESH]:
        if full and moved:
            s[w + Way.CWND] += min(s[w + Way.NEWLY], p[Rfc9260P.ABC_LIMIT] * s[Word.CHUNK])
        return
    s[w + Way.PARTIAL] += s[w + Way.NEWLY]
    if s[w + Way.PARTIAL] >= s[w + Way.CWND]:
        if not full:
            s[w + Way.PARTIAL] = s[w + Way.CWND]
        elif moved:
            s[w + Way.PARTIAL] -= s[w + Way.CWND]
            s[w + Way.CWND] += s[Word.CHUNK]


def settle(s: Any, now: Any, way: Any, grow: Any) -> None:
    """Update window, outstanding bytes and timer of a way after the SACK."""
    w = way_at(way)
    if grow and s[w + Way.NEWLY] > 0 and s[w + Way.OUTSTANDING] >= s[w + Way.CWND]:
        if s[w + Way.CWND] <= s[w + Way.SSTHRESH]:
            s[w + Way.CWND] += min(s[w + Way.NEWLY], s[Word.CHUNK])
        elif s[w + Way.PARTIAL] >= s[w + Way.CWND]:
            s[w + Way.PARTIAL] -= s[w + Way.CWND]
            s[w + Way.CWND] += s[Word.CHUNK]
    s[w + Way.OUTSTANDING] = max(s[w + Way.OUTSTANDING] - s[w + Way.NEWLY], 0)
    s[w + Way.NEWLY] = 0
    if s[w + Way.OUTSTANDING] == 0:
        s[w + Way.PARTIAL] = 0
        s[Event.T3 + way] = OFF
    elif s[Event.T3 + way] == OFF:
        sender.start_t3(s, now, way)


@noinline
def on_sack(p: Any, s: Any, now: Any, sack: Any) -> None:
    """Process the SACK at `sack`, which holds `Packet.NUMBER`, `ROOM`, `SEEN` and `LATEST`.

    If SEEN > 0, it reports as gap-acknowledged the chunks beyond NUMBER among the first SEEN accepted.
    """
    cum = s[sack + Packet.NUMBER]
    if cum < s[Word.CUM]:
        return  # overtaken by a later one
    today = p[Rfc9260P.RFC9260] == 1
    if today:
        begin_today(p, s)
    advanced = cum > s[Word.CUM]
    if advanced:
        if today:
            dequeue_today(p, s, now, cum, s[sack + Packet.SEEN] > 0)
        else:
            dequeue(p, s, now, cum)
    lost = False
    if s[sack + Packet.SEEN] > 0 and s[Word.LAST_TSN] > cum:
        gap_acks(p, s, now, sack, advanced)
        lost = missing_reports(p, s, advanced)
    for way in range(PATHS):
        if today:
            grow_today(p, s, way, advanced)
        settle(s, now, way, not today and advanced and cum >= s[Word.RECOVER])
    if lost:
        s[OUTCOMES + Out.FAST_RETRANSMITS] += 1
        if today:
            enter_recovery(p, s)
        else:
            cut(p, s)
    if s[Word.MARKED] > 0:
        sender.retransmit(p, s, now, lost)
    outstanding = s[way_at(0) + Way.OUTSTANDING] + s[way_at(1) + Way.OUTSTANDING]
    s[Word.PEER_RWND] = max(s[sack + Packet.ROOM] - outstanding, 0)
