"""Path management of an SCTP endpoint: RTO, error counting, failover and heartbeats.

Source: RFC 2960 sections 6.3 and 8, as ns-2 carries them out.  Where ns-2 has floating-point
seconds these are integer nanoseconds, rounded down.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import PATHS, STATUS_RING_FULL, STREAM_HEARTBEAT, Out
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.sctp.state import (
    HEARTBEAT_BYTES,
    OFF,
    OUTCOMES,
    RECEIVER,
    SENDER,
    End,
    Event,
    Kind,
    Packet,
    State,
    Status,
    Way,
    Word,
    end_at,
    packet_at,
    way_at,
)

ASSOCIATION_MAX_RETRANS = 10
"""Timeouts in a row on active paths that an association survives (RFC 2960 section 15)."""

_STREAMS = np.int64(512)  # from the heartbeats of a flow to those of the next
_BITS = np.int64(24)
_MASK = np.int64((1 << 24) - 1)


@noinline
def put(p: Any, s: Any, now: Any, way: Any, kind: Any, size: Any, number: Any) -> Any:
    """Leave a packet to be put out on a way when the event at hand is over.

    `size` is in bytes, `number` as `Packet.NUMBER`.  Returns where the packet's words begin.
    """
    w = way_at(way)
    held = s[w + Way.FLYING] + s[w + Way.WAITING]
    if held == p[RowP.RING]:  # the simulation ends: it does not matter that the oldest packet is overwritten
        s[OUTCOMES + Out.STATUS] = STATUS_RING_FULL
    s[w + Way.WAITING] += 1
    at = packet_at(p, s, way, s[w + Way.OLDEST] + held)
    s[at + Packet.KIND] = kind
    s[at + Packet.SIZE] = size
    s[at + Packet.NUMBER] = number
    s[at + Packet.SENT] = now
    s[at + Packet.ORDER] = s[Word.PUTS]
    s[Word.PUTS] += 1
    return at


@noinline
def measure(p: Any, s: Any, way: Any, rtt: Any) -> None:
    """Update the RTO of a way with a measurement [ns] (RFC 2960 section 6.3.1)."""
    w = way_at(way)
    srtt = s[w + Way.SRTT]
    if srtt == 0:
        srtt, rttvar = rtt, rtt // 2
    else:
        rttvar = (3 * s[w + Way.RTTVAR] + abs(srtt - rtt)) // 4
        srtt = (7 * srtt + rtt) // 8
    s[w + Way.RTT] = rtt
    s[w + Way.SRTT] = srtt
    s[w + Way.RTTVAR] = rttvar
    s[w + Way.RTO] = min(max(srtt + 4 * rttvar, p[ReliableP.MIN_RTO]), p[ReliableP.MAX_RTO])


@noinline
def other(p: Any, s: Any, way: Any) -> Any:
    """The next way that is not inactive."""
    if s[Word.PATHS] == 1:
        return way
    next_way = way ^ 1
    if s[way_at(next_way) + Way.STATUS] == Status.INACTIVE and s[way_at(way) + Way.STATUS] != Status.INACTIVE:
        return way
    return next_way  # also if both are inactive: keep hopping


@noinline
def recover(p: Any, s: Any, way: Any) -> None:
    """Clear the errors of a path that answered, and use it for new data if it is primary.

    With `SctpP.FAILBACK` the path is also used if the current one is inactive (RFC 9260, section 6.4.1).
    """
    e, w = end_at(way // PATHS), way_at(way)
    s[w + Way.ERRORS] = 0
    s[w + Way.STATUS] = Status.ACTIVE
    inactive = s[way_at(s[e + End.CURRENT]) + Way.STATUS] == Status.INACTIVE
    if way == s[e + End.PRIMARY] or (p[SctpP.FAILBACK] == 1 and inactive):
        s[e + End.CURRENT] = way


@noinline
def fail(p: Any, s: Any, now: Any, way: Any) -> Any:
    """Count a timeout of a way (RFC 2960 section 8); return False if that ends the association."""
    end = way // PATHS
    e, w = end_at(end), way_at(way)
    if s[w + Way.ERRORS] == 0:
        s[w + Way.SILENT_SINCE] = now - s[w + Way.RTO]
    s[w + Way.RTO] = min(2 * s[w + Way.RTO], p[ReliableP.MAX_RTO])
    s[w + Way.ERRORS] += 1
    if s[w + Way.STATUS] == Status.ACTIVE:
        s[e + End.ERRORS] += 1
        if s[w + Way.ERRORS] > p[SctpP.PATH_MAX_RETRANS]:
            s[w + Way.STATUS] = Status.INACTIVE
            if way == s[e + End.CURRENT]:
                s[e + End.CURRENT] = other(p, s, way)
                if end == SENDER and s[e + End.CURRENT] != way:
                    s[Word.FAILOVER] = max(s[Word.FAILOVER], now - s[w + Way.SILENT_SINCE])
        if s[e + End.ERRORS] > ASSOCIATION_MAX_RETRANS:
            s[e + End.STATE] = State.CLOSED
            for path in range(PATHS):
                s[Event.HEARTBEAT_TIMEOUT + end * PATHS + path] = OFF
                if end == SENDER:
                    s[Event.T3 + path] = OFF
                    s[Event.DEGRADE + path] = OFF
            s[Event.HEARTBEAT_TIMER + end] = OFF
            if end == RECEIVER:
                s[Event.SACK_TIMER] = OFF
            return False
    if way == s[e + End.PRIMARY] and p[SctpP.FAILBACK] == 0:  # ns-2: new data stay on the other path
        s[e + End.PRIMARY] = s[e + End.CURRENT]
    return True


@noinline
def heartbeat(p: Any, s: Any, now: Any, way: Any) -> None:
    """Send a heartbeat on a way."""
    w = way_at(way)
    put(p, s, now, way, Kind.HEARTBEAT, HEARTBEAT_BYTES, now)
    s[w + Way.IDLE_SINCE] = now
    s[Event.HEARTBEAT_TIMEOUT + way] = now + s[w + Way.RTO]


@noinline
def start_timer(p: Any, s: Any, now: Any, end: Any, way: Any) -> None:
    """Start the heartbeat timer of an end: interval and RTO of the way, give or take half of the RTO."""
    e = end_at(end)
    rto = s[way_at(way) + Way.RTO]
    stream = STREAM_HEARTBEAT + _STREAMS * s[Word.FLOW]
    w0, _, _, _ = draw(
        p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, 2 * s[e + End.DRAWS] + end
    )
    s[e + End.DRAWS] += 1
    u = np.int64(w0 >> np.uint64(8))
    jitter = u * (rto >> _BITS) + (u * (rto & _MASK) >> _BITS)  # u rto / 2**24 without overflow
    s[Event.HEARTBEAT_TIMER + end] = now + p[SctpP.HEARTBEAT] + rto + jitter - rto // 2
    s[e + End.TIMER_START] = now


@noinline
def start_heartbeats(p: Any, s: Any, now: Any, end: Any) -> None:
    """Start the heartbeat timer of an end whose association has just been established."""
    if p[SctpP.HEARTBEAT] > 0:
        start_timer(p, s, now, end, s[end_at(end) + End.PRIMARY])
        for way in range(end * PATHS, (end + 1) * PATHS):
            s[way_at(way) + Way.IDLE_SINCE] = now


@noinline
def heartbeat_due(p: Any, s: Any, now: Any, end: Any) -> None:
    """The heartbeat timer expires: probe the longest idle way if it was idle since the start."""
    way = end * PATHS
    w, next_w = way_at(way), way_at(way + 1)
    if s[Word.PATHS] == 2 and s[next_w + Way.IDLE_SINCE] < s[w + Way.IDLE_SINCE]:
        way, w = way + 1, next_w  # the longest idle one
    if s[w + Way.IDLE_SINCE] <= s[end_at(end) + End.TIMER_START]:
        heartbeat(p, s, now, way)
    start_timer(p, s, now, end, way)


@noinline
def heartbeat_lost(p: Any, s: Any, now: Any, way: Any) -> None:
    """No answer to a heartbeat came in time."""
    s[Event.HEARTBEAT_TIMEOUT + way] = OFF
    if not fail(p, s, now, way):
        return
    if p[SctpP.HEARTBEAT] > 0 or s[way_at(way) + Way.STATUS] == Status.UNCONFIRMED:
        heartbeat(p, s, now, way)
