"""What the sender of an SCTP association does with a SACK.

Source: RFC 2960 sections 6.2.1, 6.3 and 7.2 with the Implementer's Guide (newly acknowledged TSNs
count missing reports, one cwnd cut per window), as ns-2 carries them out.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import PATHS, Out, P
from netcarlo.kernels.sctp import state as st
from netcarlo.kernels.sctp.paths import Paths
from netcarlo.kernels.sctp.sender import Sender


def make_on_sack(dev: Callable[[Any], Any], paths: Paths, sender: Sender) -> Any:
    """Compile `on_sack(p, s, now, cum, room, seen)` for a target.

    The SACK acknowledges TSNs up to `cum`, tells that the receiver has `room` bytes left, and, if
    `seen` > 0, reports as gap-acknowledged the chunks beyond `cum` among the first `seen` accepted.
    """
    measure, recover = paths.measure, paths.recover
    start_t3, mark, retransmit = sender.start_t3, sender.mark, sender.retransmit
    chunk = dev(st.chunk)

    @cold
    def credit(p: Any, s: Any, now: Any, at: Any) -> None:
        # A chunk is acknowledged for the first time: bytes, RTT and errors of its way.
        way = s[at + st.CHUNK_WAY]
        w = st.WAY + way * st.WAY_SIZE
        s[w + st.NEWLY] += s[st.CHUNK]
        ambiguous = s[at + st.MARK] == st.TIMED_OUT  # the SACK was lost, or the path failed
        if s[w + st.TIMING] == 1 and s[at + st.TIMED] > 0 and s[at + st.SENDS] == 1:
            if not ambiguous:
                measure(p, s, way, now - s[at + st.TIMED])
            s[w + st.TIMING] = 0
        if s[w + st.WAY_ERRORS] != 0 and not ambiguous:
            recover(s, way)

    credit = dev(credit)

    def unmark(s: Any, at: Any) -> None:
        if s[at + st.MARK] != st.UNMARKED:
            s[st.MARKED] -= 1
            s[at + st.MARK] = st.UNMARKED

    unmark = dev(unmark)

    @cold
    def dequeue(p: Any, s: Any, now: Any, cum: Any) -> None:
        # The cumulative acknowledgement point moves on to `cum`.
        s[st.ENDPOINT + st.ERRORS] = 0
        for tsn in range(s[st.CUM] + 1, cum + 1):
            at = chunk(p, s, tsn)
            way = s[at + st.CHUNK_WAY]
            w = st.WAY + way * st.WAY_SIZE
            if s[at + st.GAP_ACKED] == 0:
                s[st.NEWEST] = tsn
                if s[w + st.CWND] > s[w + st.SSTHRESH] and s[w + st.OUTSTANDING] >= s[w + st.CWND]:
                    s[w + st.PARTIAL] += s[st.CHUNK]
                credit(p, s, now, at)
            if s[at + st.FAST_DONE] == 1:
                s[st.BURST_LIMITED] = 1
            s[st.T3 + way] = st.OFF
            unmark(s, at)
        s[st.CUM] = cum

    dequeue = dev(dequeue)

    @cold
    def gap_acks(p: Any, s: Any, now: Any, seen: Any, advanced: Any) -> Any:
        # Note what the gap blocks report; returns the highest TSN acknowledged.
        highest = s[st.NEWEST]
        for way in range(PATHS):
            s[st.WAY + way * st.WAY_SIZE + st.FIRST] = st.NONE
        for tsn in range(s[st.CUM] + 1, s[st.LAST_TSN] + 1):
            at = chunk(p, s, tsn)
            way = s[at + st.CHUNK_WAY]
            w = st.WAY + way * st.WAY_SIZE
            if s[w + st.FIRST] == st.NONE and s[at + st.GAP_ACKED] == 0:
                s[w + st.FIRST] = tsn
            number = s[at + st.ACCEPT_NUMBER]
            if number == 0 or number > seen:
                if s[at + st.GAP_ACKED] == 1:  # SACKs out of order: trust the latest to arrive
                    s[at + st.GAP_ACKED] = 0
                    s[w + st.OUTSTANDING] += s[st.CHUNK]
                continue
            highest = max(highest, tsn)
            if s[at + st.GAP_ACKED] == 1:
                continue
            s[at + st.GAP_ACKED] = 1
            s[st.NEWEST] = max(s[st.NEWEST], tsn)
            if s[w + st.CWND] > s[w + st.SSTHRESH] and advanced and s[at + st.IN_PARTIAL] == 0:
                s[at + st.IN_PARTIAL] = 1
                s[w + st.PARTIAL] += s[st.CHUNK]
            credit(p, s, now, at)
            if s[w + st.FIRST] == tsn:
                s[st.T3 + way] = st.OFF
            s[st.ENDPOINT + st.ERRORS] = 0
            unmark(s, at)
        return highest

    gap_acks = dev(gap_acks)

    @cold
    def missing_reports(p: Any, s: Any, highest: Any, advanced: Any) -> Any:
        # Count a report against the chunks that are missing; returns whether any is to be resent.
        limit = s[st.NEWEST]
        if advanced and limit <= s[st.RECOVER]:
            limit = max(limit, highest)
        found = False
        for tsn in range(s[st.CUM] + 1, min(limit, s[st.LAST_TSN] + 1)):
            at = chunk(p, s, tsn)
            if s[at + st.GAP_ACKED] == 0:
                s[at + st.REPORTS] += 1
                if s[at + st.REPORTS] >= p[P.DUPACKS] and s[at + st.FAST_DONE] == 0:
                    mark(s, at, st.FAST)
                    s[at + st.FAST_DONE] = 1
                    found = True
        return found

    missing_reports = dev(missing_reports)

    @cold
    def cut(p: Any, s: Any) -> None:
        # Halve the window of each way with a loss beyond the recovery point.
        done = 0
        for tsn in range(s[st.CUM] + 1, s[st.LAST_TSN] + 1):
            at = chunk(p, s, tsn)
            way = s[at + st.CHUNK_WAY]
            if s[at + st.MARK] == st.UNMARKED or tsn <= s[st.RECOVER] or done & (1 << way):
                continue
            done |= 1 << way
            w = st.WAY + way * st.WAY_SIZE
            s[w + st.SSTHRESH] = max(s[w + st.CWND] // 2, p[P.SSTHRESH_FLOOR])
            s[w + st.CWND] = s[w + st.SSTHRESH]
            s[w + st.PARTIAL] = 0
            s[w + st.TIMING] = 0
            s[st.COUNT + Out.CWND_CUTS] += 1
            top = s[st.LAST_TSN]
            while top > s[st.CUM] and s[chunk(p, s, top) + st.MARK] != st.UNMARKED:
                top -= 1
            if top > s[st.CUM]:
                s[st.HIGHEST] = max(s[st.HIGHEST], top)
            s[st.RECOVER] = s[st.HIGHEST]

    cut = dev(cut)

    def settle(s: Any, now: Any, way: Any, grow: Any) -> None:
        # Window, outstanding bytes and timer of a way after the SACK.
        w = st.WAY + way * st.WAY_SIZE
        if grow and s[w + st.NEWLY] > 0 and s[w + st.OUTSTANDING] >= s[w + st.CWND]:
            if s[w + st.CWND] <= s[w + st.SSTHRESH]:
                s[w + st.CWND] += min(s[w + st.NEWLY], s[st.CHUNK])
            elif s[w + st.PARTIAL] >= s[w + st.CWND]:
                s[w + st.PARTIAL] -= s[w + st.CWND]
                s[w + st.CWND] += s[st.CHUNK]
        s[w + st.OUTSTANDING] = max(s[w + st.OUTSTANDING] - s[w + st.NEWLY], 0)
        s[w + st.NEWLY] = 0
        if s[w + st.OUTSTANDING] == 0:
            s[w + st.PARTIAL] = 0
            s[st.T3 + way] = st.OFF
        elif s[st.T3 + way] == st.OFF:
            start_t3(s, now, way)

    settle = dev(settle)

    @cold
    def on_sack(p: Any, s: Any, now: Any, cum: Any, room: Any, seen: Any) -> None:
        if cum < s[st.CUM]:
            return  # overtaken by a later one
        advanced = cum > s[st.CUM]
        if advanced:
            dequeue(p, s, now, cum)
        lost = False
        if seen > 0 and s[st.LAST_TSN] > cum:
            lost = missing_reports(p, s, gap_acks(p, s, now, seen, advanced), advanced)
        for way in range(PATHS):
            settle(s, now, way, advanced and cum >= s[st.RECOVER])
        if lost:
            s[st.COUNT + Out.FAST_RETRANSMITS] += 1
            cut(p, s)
        if s[st.MARKED] > 0:
            retransmit(p, s, now, lost)
        outstanding = s[st.WAY + st.OUTSTANDING] + s[st.WAY + st.WAY_SIZE + st.OUTSTANDING]
        s[st.PEER_RWND] = max(room - outstanding, 0)

    return dev(on_sack)
