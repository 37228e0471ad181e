"""Path management of an SCTP endpoint: RTO, error counting, failover and heartbeats.

Source: RFC 2960 sections 6.3 and 8, as ns-2 carries them out.  Where ns-2 has floating-point
seconds these are integer nanoseconds, rounded down.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import PATHS, STATUS_RING_FULL, STREAM_HEARTBEAT, Out, P
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.sctp import state as st

ASSOCIATION_MAX_RETRANS = 10
"""Timeouts in a row on active paths that an association survives (RFC 2960 section 15)."""

_BITS = np.int64(24)
_MASK = np.int64((1 << 24) - 1)


class Paths(NamedTuple):
    """Compiled functions that both ends use; `p` are the parameters of a row, `s` is scratch."""

    put: Any
    """`(p, s, now, way, kind, size, number, sent, seen)` puts a packet out."""
    measure: Any
    """`(p, s, way, rtt)` updates the RTO with a measurement [ns]."""
    other: Any
    """`(p, s, way) -> way`: the next way that is not inactive."""
    recover: Any
    """`(s, way)` clears the errors of a way that answered."""
    fail: Any
    """`(p, s, way) -> bool` counts a timeout; False if that ends the association."""
    heartbeat: Any
    """`(p, s, now, way)` sends a heartbeat."""
    start_heartbeats: Any
    """`(p, s, now, end)` starts the heartbeat timer of an association just established."""
    heartbeat_due: Any
    """`(p, s, now, end)` is the expiry of that timer."""


def make_paths(dev: Callable[[Any], Any]) -> Paths:
    """Compile the functions of `Paths` for a target."""
    packet, draw = dev(st.packet), make_draw(dev)

    @cold
    def put(
        p: Any, s: Any, now: Any, way: Any, kind: Any, size: Any, number: Any, sent: Any, seen: Any
    ) -> None:
        w = st.WAY + way * st.WAY_SIZE
        held = s[w + st.FLYING] + s[w + st.WAITING]
        if held == p[P.RING]:
            s[st.COUNT + Out.STATUS] = STATUS_RING_FULL
            return
        s[w + st.WAITING] += 1
        at = packet(p, s, way, s[w + st.OLDEST] + held)
        s[at + st.ARRIVES] = now
        s[at + st.KIND] = kind
        s[at + st.SIZE] = size
        s[at + st.NUMBER] = number
        s[at + st.SENT] = sent
        s[at + st.SEEN] = seen
        s[at + st.ORDER] = s[st.PUTS]
        s[st.PUTS] += 1

    put = dev(put)

    @cold
    def measure(p: Any, s: Any, way: Any, rtt: Any) -> None:
        w = st.WAY + way * st.WAY_SIZE
        srtt = s[w + st.SRTT]
        if srtt == 0:
            srtt, rttvar = rtt, rtt // 2
        else:
            rttvar = (3 * s[w + st.RTTVAR] + abs(srtt - rtt)) // 4
            srtt = (7 * srtt + rtt) // 8
        s[w + st.RTT] = rtt
        s[w + st.SRTT] = srtt
        s[w + st.RTTVAR] = rttvar
        s[w + st.RTO] = min(max(srtt + 4 * rttvar, p[P.MIN_RTO]), p[P.MAX_RTO])

    @cold
    def other(p: Any, s: Any, way: Any) -> Any:
        if p[P.N_PATHS] == 1:
            return way
        next_way = way ^ 1
        if (
            s[st.WAY + next_way * st.WAY_SIZE + st.STATUS] == st.INACTIVE
            and s[st.WAY + way * st.WAY_SIZE + st.STATUS] != st.INACTIVE
        ):
            return way
        return next_way  # also if both are inactive: keep hopping

    other = dev(other)

    @cold
    def recover(s: Any, way: Any) -> None:
        e, w = st.ENDPOINT + way // PATHS * st.ENDPOINT_SIZE, st.WAY + way * st.WAY_SIZE
        s[w + st.WAY_ERRORS] = 0
        s[w + st.STATUS] = st.ACTIVE
        if way == s[e + st.PRIMARY]:
            s[e + st.CURRENT] = way

    @cold
    def fail(p: Any, s: Any, way: Any) -> Any:
        end = way // PATHS
        e, w = st.ENDPOINT + end * st.ENDPOINT_SIZE, st.WAY + way * st.WAY_SIZE
        s[w + st.RTO] = min(2 * s[w + st.RTO], p[P.MAX_RTO])
        s[w + st.WAY_ERRORS] += 1
        if s[w + st.STATUS] == st.ACTIVE:
            s[e + st.ERRORS] += 1
            if s[w + st.WAY_ERRORS] > p[P.PATH_MAX_RETRANS]:
                s[w + st.STATUS] = st.INACTIVE
                if way == s[e + st.CURRENT]:
                    s[e + st.CURRENT] = other(p, s, way)
            if s[e + st.ERRORS] > ASSOCIATION_MAX_RETRANS:
                s[e + st.STATE] = st.CLOSED
                for path in range(PATHS):
                    s[st.HEARTBEAT_TIMEOUT + end * PATHS + path] = st.OFF
                    if end == st.SENDER:
                        s[st.T3 + path] = st.OFF
                        s[st.DEGRADE + path] = st.OFF
                s[st.HEARTBEAT_TIMER + end] = st.OFF
                if end == st.RECEIVER:
                    s[st.SACK_TIMER] = st.OFF
                return False
        if way == s[e + st.PRIMARY]:  # "change at once": new data will stay where it goes now
            s[e + st.PRIMARY] = s[e + st.CURRENT]
        return True

    @cold
    def heartbeat(p: Any, s: Any, now: Any, way: Any) -> None:
        w = st.WAY + way * st.WAY_SIZE
        put(p, s, now, way, st.HEARTBEAT, st.HEARTBEAT_BYTES, now, 0, 0)
        s[w + st.IDLE_SINCE] = now
        s[st.HEARTBEAT_TIMEOUT + way] = now + s[w + st.RTO]

    heartbeat = dev(heartbeat)

    @cold
    def start_timer(p: Any, s: Any, now: Any, end: Any, way: Any) -> None:
        e = st.ENDPOINT + end * st.ENDPOINT_SIZE
        rto = s[st.WAY + way * st.WAY_SIZE + st.RTO]
        w0, _, _, _ = draw(
            p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_HEARTBEAT, 2 * s[e + st.DRAWS] + end
        )
        s[e + st.DRAWS] += 1
        u = np.int64(w0 >> np.uint64(8))
        jitter = u * (rto >> _BITS) + (u * (rto & _MASK) >> _BITS)  # u rto / 2**24 without overflow
        s[st.HEARTBEAT_TIMER + end] = now + p[P.HEARTBEAT] + rto + jitter - rto // 2
        s[e + st.TIMER_START] = now

    start_timer = dev(start_timer)

    @cold
    def start_heartbeats(p: Any, s: Any, now: Any, end: Any) -> None:
        if p[P.HEARTBEAT] > 0:
            start_timer(p, s, now, end, s[st.ENDPOINT + end * st.ENDPOINT_SIZE + st.PRIMARY])
            for way in range(end * PATHS, (end + 1) * PATHS):
                s[st.WAY + way * st.WAY_SIZE + st.IDLE_SINCE] = now

    @cold
    def heartbeat_due(p: Any, s: Any, now: Any, end: Any) -> None:
        way = end * PATHS
        w, next_w = st.WAY + way * st.WAY_SIZE, st.WAY + (way + 1) * st.WAY_SIZE
        if p[P.N_PATHS] == 2 and s[next_w + st.IDLE_SINCE] < s[w + st.IDLE_SINCE]:
            way, w = way + 1, next_w  # the longest idle one
        if s[w + st.IDLE_SINCE] <= s[st.ENDPOINT + end * st.ENDPOINT_SIZE + st.TIMER_START]:
            heartbeat(p, s, now, way)
        start_timer(p, s, now, end, way)

    return Paths(
        put,
        dev(measure),
        other,
        dev(recover),
        dev(fail),
        heartbeat,
        dev(start_heartbeats),
        dev(heartbeat_due),
    )
