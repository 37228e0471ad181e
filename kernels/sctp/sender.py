"""The sender of an SCTP association: new data, retransmission and its timers.

Source: RFC 2960 sections 6 and 7 with the Implementer's Guide, as ns-2 carries them out.  All
windows are in bytes; a packet carries one chunk, which fills it, so a chunk is also the MTU's worth
of data that the rules speak of.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import PATHS, STATUS_RING_FULL, Out, P
from netcarlo.kernels.sctp import state as st
from netcarlo.kernels.sctp.paths import Paths


class Sender(NamedTuple):
    """Compiled functions of the sender; `p` are the parameters of a row, `s` is scratch."""

    start_t3: Any
    """`(s, now, way)` starts the retransmission timer of a way."""
    mark: Any
    """`(s, at, why)` marks the chunk at `at` for retransmission."""
    retransmit: Any
    """`(p, s, now, one)` sends marked chunks again: one of them, or what cwnd allows."""
    send_new: Any
    """`(p, s, now)` sends new data while the windows allow."""
    t3_due: Any
    """`(p, s, now, way)` is the expiry of the retransmission timer."""
    degrade_due: Any
    """`(p, s, now, way)` is the expiry of the timer of a way that sends nothing."""


def make_sender(dev: Callable[[Any], Any], paths: Paths) -> Sender:
    """Compile the functions of `Sender` for a target."""
    put, other, fail, heartbeat = paths.put, paths.other, paths.fail, paths.heartbeat
    chunk = dev(st.chunk)

    def start_t3(s: Any, now: Any, way: Any) -> None:
        s[st.T3 + way] = now + s[st.WAY + way * st.WAY_SIZE + st.RTO]

    start_t3 = dev(start_t3)

    def put_data(p: Any, s: Any, now: Any, way: Any, tsn: Any) -> None:
        s[st.COUNT + Out.SENT] += 1
        s[st.COUNT + Out.SENT_ALTERNATE] += way
        put(p, s, now, way, st.DATA, s[st.CHUNK] + p[P.HEADER], tsn, now, 0)

    put_data = dev(put_data)

    def mark(s: Any, at: Any, why: Any) -> None:
        if s[at + st.MARK] == st.UNMARKED:
            s[st.MARKED] += 1
        s[at + st.MARK] = why
        s[st.PEER_RWND] += s[st.CHUNK]

    mark = dev(mark)

    @cold
    def target(p: Any, s: Any, at: Any) -> Any:
        # The way that a retransmission of the chunk at `at` takes.
        way = s[at + st.CHUNK_WAY]
        if p[P.RESPONSE_ALTERNATE] == 0 and s[st.WAY + way * st.WAY_SIZE + st.STATUS] == st.ACTIVE:
            return way
        return other(p, s, way)

    target = dev(target)

    @cold
    def resend(p: Any, s: Any, now: Any, tsn: Any, to: Any) -> None:
        # Put the marked chunk `tsn` out on way `to`, and see to the timers.
        at = chunk(p, s, tsn)
        way = s[at + st.CHUNK_WAY]
        old, new = st.WAY + way * st.WAY_SIZE, st.WAY + to * st.WAY_SIZE
        if s[old + st.TIMING] == 1 and s[at + st.TIMED] > 0:
            s[at + st.TIMED] = 0
            s[old + st.TIMING] = 0
        if s[old + st.FIRST] == tsn and s[old + st.OUTSTANDING] > 0:
            start_t3(s, now, way)
        if s[new + st.FIRST] == st.NONE or tsn < s[new + st.FIRST]:
            s[new + st.FIRST] = tsn
            start_t3(s, now, to)
        s[at + st.CHUNK_WAY] = to
        s[at + st.SENDS] += 1
        s[at + st.MARK] = st.UNMARKED
        s[st.MARKED] -= 1
        s[new + st.OUTSTANDING] += s[st.CHUNK]
        s[st.PEER_RWND] -= s[st.CHUNK]
        s[st.COUNT + Out.RETRANSMITTED] += 1
        put_data(p, s, now, to, tsn)
        if s[st.T3 + to] == st.OFF:
            start_t3(s, now, to)
        s[st.DEGRADE + to] = now + s[new + st.RTO]

    resend = dev(resend)

    @cold
    def retransmit(p: Any, s: Any, now: Any, one: Any) -> None:
        s[st.BURST] = 0
        for way in range(PATHS):
            s[st.WAY + way * st.WAY_SIZE + st.FIRST] = st.NONE
        # Marked chunks do not count as outstanding while it is decided what may go.
        to = st.NONE
        for tsn in range(s[st.CUM] + 1, s[st.LAST_TSN] + 1):
            at = chunk(p, s, tsn)
            if s[at + st.MARK] != st.UNMARKED:
                if to == st.NONE:
                    to = target(p, s, at)
                s[st.WAY + s[at + st.CHUNK_WAY] * st.WAY_SIZE + st.OUTSTANDING] -= s[st.CHUNK]
        new = st.WAY + to * st.WAY_SIZE
        more = one or s[new + st.OUTSTANDING] < s[new + st.CWND]
        for tsn in range(s[st.CUM] + 1, s[st.LAST_TSN] + 1):
            at = chunk(p, s, tsn)
            w = st.WAY + s[at + st.CHUNK_WAY] * st.WAY_SIZE
            if s[w + st.FIRST] == st.NONE and s[at + st.GAP_ACKED] == 0:
                s[w + st.FIRST] = tsn
            if s[at + st.MARK] == st.UNMARKED:
                continue
            if not more:
                s[w + st.OUTSTANDING] += s[st.CHUNK]
                continue
            resend(p, s, now, tsn, to)
            more = not one and s[new + st.OUTSTANDING] < s[new + st.CWND]
            if s[st.BURST_LIMITED] == 1:
                s[st.BURST] += 1
                if s[st.BURST] > p[P.MAX_BURST]:
                    s[st.BURST_LIMITED] = 0
                    more = False

    retransmit = dev(retransmit)

    def new_chunk(p: Any, s: Any, now: Any, way: Any) -> None:
        w = st.WAY + way * st.WAY_SIZE
        s[st.LAST_TSN] += 1
        tsn = s[st.LAST_TSN]
        at = chunk(p, s, tsn)
        for word in range(st.CHUNK_SIZE):
            s[at + word] = 0
        s[at + st.CHUNK_WAY] = way
        s[at + st.SENDS] = 1
        if s[w + st.TIMING] == 0:
            s[w + st.TIMING] = 1
            s[at + st.TIMED] = now
        s[w + st.OUTSTANDING] += s[st.CHUNK]
        s[st.PEER_RWND] = max(s[st.PEER_RWND] - s[st.CHUNK], 0)
        if s[st.T3 + way] == st.OFF:
            start_t3(s, now, way)
        put_data(p, s, now, way, tsn)

    new_chunk = dev(new_chunk)

    @cold
    def send_new(p: Any, s: Any, now: Any) -> None:
        way = s[st.ENDPOINT + st.CURRENT]
        w = st.WAY + way * st.WAY_SIZE
        before = s[st.LAST_TSN]
        while s[w + st.OUTSTANDING] < s[w + st.CWND] and s[st.LAST_TSN] < p[P.LIMIT]:
            if s[st.LAST_TSN] - s[st.CUM] == p[P.RING]:
                s[st.COUNT + Out.STATUS] = STATUS_RING_FULL
                break
            if s[st.CHUNK] <= s[st.PEER_RWND]:
                if s[st.BURST_LIMITED] == 1:
                    s[st.BURST] += 1
                    if s[st.BURST] > p[P.MAX_BURST]:
                        s[st.BURST_LIMITED] = 0
                        break
            elif s[st.WAY + st.OUTSTANDING] + s[st.WAY + st.WAY_SIZE + st.OUTSTANDING] > 0:
                break  # no room at the receiver; with nothing outstanding, a chunk probes for room
            new_chunk(p, s, now, way)
        if s[st.LAST_TSN] > before:
            s[st.DEGRADE + way] = now + s[w + st.RTO]
            s[w + st.IDLE_SINCE] = now
        s[st.BURST] = 0

    @cold
    def t3_due(p: Any, s: Any, now: Any, way: Any) -> None:
        w = st.WAY + way * st.WAY_SIZE
        s[st.COUNT + Out.TIMEOUTS] += 1
        s[st.COUNT + Out.CWND_CUTS] += 1
        s[st.T3 + way] = st.OFF
        s[st.DEGRADE + way] = st.OFF
        s[w + st.TIMING] = 0
        if s[w + st.CWND] > s[st.CHUNK]:
            s[w + st.SSTHRESH] = max(s[w + st.CWND] // 2, p[P.SSTHRESH_FLOOR])
            s[w + st.CWND] = s[st.CHUNK]
            s[w + st.PARTIAL] = 0
        if not fail(p, s, way):
            return
        for tsn in range(s[st.CUM] + 1, s[st.LAST_TSN] + 1):
            at = chunk(p, s, tsn)
            if s[at + st.CHUNK_WAY] == way and s[at + st.GAP_ACKED] == 0:
                mark(s, at, st.TIMED_OUT)
                s[at + st.REPORTS] = 0
        if s[st.MARKED] > 0:
            retransmit(p, s, now, True)
        if s[w + st.STATUS] == st.INACTIVE and p[P.HEARTBEAT] > 0:
            heartbeat(p, s, now, way)

    @cold
    def degrade_due(p: Any, s: Any, now: Any, way: Any) -> None:
        w = st.WAY + way * st.WAY_SIZE
        if s[w + st.CWND] > 2 * s[st.CHUNK]:
            s[w + st.CWND] = max(s[w + st.CWND] // 2, p[P.SSTHRESH_FLOOR])
        s[st.DEGRADE + way] = now + s[w + st.RTO]

    return Sender(start_t3, mark, retransmit, dev(send_new), dev(t3_due), dev(degrade_due))
