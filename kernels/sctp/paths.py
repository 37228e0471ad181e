"""Path management of an SCTP endpoint: RTO, error counting, failover and heartbeats.

Source: RFC 2960, sections 6.3 and 8, as implemented by ns-2, with integer nanoseconds, rounded down, instead
of ns-2's floating-point seconds. With `Rfc9260P.RFC9260` heartbeats follow RFC 9260, sections 5.4 and 8.3;
`Rfc9260P.PF_ERRORS` adds the potentially failed state of RFC 7829.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import PATHS, STATUS_RING_FULL, STREAM_HEARTBEAT, Out
from netcarlo.kernels.base.parameters import ReliableP, Rfc9260P, RowP, SctpP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.sctp.state import (
    HEARTBEAT_BYTES,
    OFF,
    OUTCOMES,
    RECEIVER,
    SENDER,
    WAYS,
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
"""Consecutive timeouts on active paths that an association survives (RFC 2960, section 15)."""

_STREAMS = np.int64(512)  # distance of the heartbeat streams of consecutive flows
_BITS = np.int64(24)
_MASK = np.int64((1 << 24) - 1)


@noinline
def put(p: Any, s: Any, now: Any, way: Any, kind: Any, size: Any, number: Any) -> Any:
    """Queue a packet, to be sent on a way after the current event.

    `size` is in bytes, `number` as `Packet.NUMBER`. Returns the word where the packet begins.
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
    restore_rto(p, s, w)


def restore_rto(p: Any, s: Any, w: Any) -> None:
    """Set the RTO of the way at `w` to that of its measurements."""
    rto = s[w + Way.SRTT] + 4 * s[w + Way.RTTVAR]
    s[w + Way.RTO] = min(max(rto, p[ReliableP.MIN_RTO]), p[ReliableP.MAX_RTO])


@noinline
def rank(s: Any, way: Any) -> Any:
    """Return how unsuitable a path is for data: 0 active, 1 potentially failed, 2 inactive, 3 unconfirmed."""
    status = s[way_at(way) + Way.STATUS]
    if status == Status.ACTIVE:
        return 0
    if status == Status.UNCONFIRMED:
        return 3
    return 1 if status == Status.POTENTIALLY_FAILED else 2


@noinline
def other(p: Any, s: Any, way: Any) -> Any:
    """Return the path to use instead of this one: the other one, unless it is less suitable.

    Of two potentially failed paths the one with fewer errors is used (RFC 7829, section 3.2).
    """
    if s[Word.PATHS] == 1:
        return way
    next_way = way ^ 1
    here, there = rank(s, way), rank(s, next_way)
    if there > here:
        return way
    if here == 1 and there == 1 and s[way_at(way) + Way.ERRORS] < s[way_at(next_way) + Way.ERRORS]:
        return way
    return next_way  # also if both are inactive: keep hopping


@noinline
def recover(p: Any, s: Any, way: Any) -> None:
    """Clear the errors of a path that answered, and use it for new data if it is primary.

    It is also used if the current path is potentially failed or, with `SctpP.FAILBACK`, inactive (RFC 9260,
    section 6.4.1).
    """
    e, w = end_at(way // PATHS), way_at(way)
    s[w + Way.ERRORS] = 0
    s[w + Way.STATUS] = Status.ACTIVE
    status = s[way_at(s[e + End.CURRENT]) + Way.STATUS]
    leaves = status == Status.POTENTIALLY_FAILED or (p[SctpP.FAILBACK] == 1 and status == Status.INACTIVE)
    if way == s[e + End.PRIMARY] or leaves:
        s[e + End.CURRENT] = way


def lower_status(p: Any, s: Any, way: Any, confirmed: Any) -> None:
    """Set the status of a path after its errors (RFC 9260, section 8.2; RFC 7829, section 3.2)."""
    w = way_at(way)
    if s[w + Way.ERRORS] > p[SctpP.PATH_MAX_RETRANS]:
        s[w + Way.STATUS] = Status.INACTIVE
    elif confirmed and p[Rfc9260P.PF_ERRORS] > 0 and s[w + Way.ERRORS] >= p[Rfc9260P.PF_ERRORS]:
        s[w + Way.STATUS] = Status.POTENTIALLY_FAILED


@noinline
def fail(p: Any, s: Any, now: Any, way: Any, counts: Any) -> Any:
    """Count a timeout of a way (RFC 2960 section 8); return False if that ends the association.

    It also counts for the association if `counts`.
    """
    end = way // PATHS
    e, w = end_at(end), way_at(way)
    if s[w + Way.ERRORS] == 0:
        s[w + Way.SILENT_SINCE] = now - s[w + Way.RTO]
    s[w + Way.RTO] = min(2 * s[w + Way.RTO], p[ReliableP.MAX_RTO])
    s[w + Way.ERRORS] += 1
    reachable = rank(s, way) < 2
    if reachable or p[Rfc9260P.RFC9260] == 1:
        lower_status(p, s, way, reachable)
    if reachable:
        s[e + End.ERRORS] += counts
        if way == s[e + End.CURRENT] and s[w + Way.STATUS] != Status.ACTIVE:
            s[e + End.CURRENT] = other(p, s, way)
            if end == SENDER and s[e + End.CURRENT] != way:
                s[Word.FAILOVER] = max(s[Word.FAILOVER], now - s[w + Way.SILENT_SINCE])
        if s[e + End.ERRORS] > ASSOCIATION_MAX_RETRANS:
            close(s, end)
            return False
    if way == s[e + End.PRIMARY] and p[SctpP.FAILBACK] == 0:  # ns-2: new data stay on the other path
        s[e + End.PRIMARY] = s[e + End.CURRENT]
    return True


@noinline
def close(s: Any, end: Any) -> None:
    """Close the association at an end, and stop its timers."""
    s[end_at(end) + End.STATE] = State.CLOSED
    for path in range(PATHS):
        s[Event.HEARTBEAT_TIMEOUT + end * PATHS + path] = OFF
        if end == SENDER:
            s[Event.T3 + path] = OFF
            s[Event.DEGRADE + path] = OFF
    s[Event.HEARTBEAT_TIMER + end] = OFF
    if end == RECEIVER:
        s[Event.SACK_TIMER] = OFF


@noinline
def heartbeat(p: Any, s: Any, now: Any, way: Any) -> None:
    """Send a heartbeat on a way."""
    w = way_at(way)
    put(p, s, now, way, Kind.HEARTBEAT, HEARTBEAT_BYTES, now)
    s[w + Way.IDLE_SINCE] = now
    s[Event.HEARTBEAT_TIMEOUT + way] = now + s[w + Way.RTO]
    if p[Rfc9260P.RFC9260] == 1:
        s[w + Way.PROBING] = 1
        begin_period(p, s, now, way)


@noinline
def jittered(p: Any, s: Any, way: Any, number: Any) -> Any:
    """Return interval and RTO of a way, give or take half of the RTO [ns]; the jitter is draw `number`."""
    rto = s[way_at(way) + Way.RTO]
    stream = STREAM_HEARTBEAT + _STREAMS * s[Word.FLOW]
    w0, _, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, number)
    u = np.int64(w0 >> np.uint64(8))
    jitter = u * (rto >> _BITS) + (u * (rto & _MASK) >> _BITS)  # u rto / 2**24 without overflow
    return p[SctpP.HEARTBEAT] + rto + jitter - rto // 2


@noinline
def start_timer(p: Any, s: Any, now: Any, end: Any, way: Any) -> None:
    """Start the heartbeat timer of an end."""
    e = end_at(end)
    s[Event.HEARTBEAT_TIMER + end] = now + jittered(p, s, way, 2 * s[e + End.DRAWS] + end)
    s[e + End.DRAWS] += 1
    s[e + End.TIMER_START] = now


@noinline
def begin_period(p: Any, s: Any, now: Any, way: Any) -> None:
    """Begin the heartbeat period of a way (RFC 9260, section 8.3)."""
    w = way_at(way)
    s[w + Way.PERIOD] = now
    s[w + Way.NEXT_PROBE] = OFF
    if p[SctpP.HEARTBEAT] > 0:
        s[w + Way.NEXT_PROBE] = now + jittered(p, s, way, WAYS * s[w + Way.PERIODS] + way)
        s[w + Way.PERIODS] += 1


@noinline
def start_heartbeats(p: Any, s: Any, now: Any, end: Any) -> None:
    """Start the heartbeats of an end whose association has just been established.

    RFC 9260 verifies all paths but that of the handshake, while data are sent (section 5.4).
    """
    if p[Rfc9260P.RFC9260] == 1:
        for way in range(end * PATHS, end * PATHS + s[Word.PATHS]):
            if way == s[end_at(end) + End.PRIMARY]:
                begin_period(p, s, now, way)
                s[Event.HEARTBEAT_TIMEOUT + way] = s[way_at(way) + Way.NEXT_PROBE]
            else:
                s[way_at(way) + Way.STATUS] = Status.UNCONFIRMED
                heartbeat(p, s, now, way)
    elif p[SctpP.HEARTBEAT] > 0:
        start_timer(p, s, now, end, s[end_at(end) + End.PRIMARY])
        for way in range(end * PATHS, (end + 1) * PATHS):
            s[way_at(way) + Way.IDLE_SINCE] = now


@noinline
def heartbeat_due(p: Any, s: Any, now: Any, end: Any) -> None:
    """Probe the way that was idle longest, if it was idle during the whole heartbeat period."""
    way = end * PATHS
    w, next_w = way_at(way), way_at(way + 1)
    if s[Word.PATHS] == 2 and s[next_w + Way.IDLE_SINCE] < s[w + Way.IDLE_SINCE]:
        way, w = way + 1, next_w  # the longest idle one
    if s[w + Way.IDLE_SINCE] <= s[end_at(end) + End.TIMER_START]:
        heartbeat(p, s, now, way)
    start_timer(p, s, now, end, way)


@noinline
def probe_or_fail(p: Any, s: Any, now: Any, way: Any) -> None:
    """Count a lost heartbeat of a way, or send its next one (RFC 9260): its heartbeat timer has expired.

    An idle path is probed once per period, a potentially failed or unconfirmed one once per RTO (RFC 7829,
    section 3.2). Only on the current path a lost heartbeat counts for the association (RFC 9260, section
    8.1).
    """
    w = way_at(way)
    if s[w + Way.PROBING] == 0:
        if s[w + Way.IDLE_SINCE] <= s[w + Way.PERIOD]:
            heartbeat(p, s, now, way)
        else:
            begin_period(p, s, now, way)
            s[Event.HEARTBEAT_TIMEOUT + way] = s[w + Way.NEXT_PROBE]
        return
    s[w + Way.PROBING] = 0
    s[Event.HEARTBEAT_TIMEOUT + way] = max(s[w + Way.NEXT_PROBE], now)
    if fail(p, s, now, way, np.int64(way == s[end_at(way // PATHS) + End.CURRENT])) and rank(s, way) & 1:
        heartbeat(p, s, now, way)


@noinline
def heartbeat_lost(p: Any, s: Any, now: Any, way: Any) -> None:
    """Count a heartbeat that was not answered in time."""
    s[Event.HEARTBEAT_TIMEOUT + way] = OFF
    if not fail(p, s, now, way, np.int64(1)):
        return
    if p[SctpP.HEARTBEAT] > 0 or s[way_at(way) + Way.STATUS] == Status.UNCONFIRMED:
        heartbeat(p, s, now, way)


@noinline
def answered(p: Any, s: Any, now: Any, way: Any) -> None:
    """Stop the heartbeat timer of a way, or with RFC 9260 start its next period: its heartbeat is
    answered."""
    w = way_at(way)
    if p[Rfc9260P.RFC9260] == 0:
        s[Event.HEARTBEAT_TIMEOUT + way] = OFF
    elif s[w + Way.PROBING] == 1:
        s[w + Way.PROBING] = 0
        s[Event.HEARTBEAT_TIMEOUT + way] = max(s[w + Way.NEXT_PROBE], now)
