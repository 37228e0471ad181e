"""An SCTP association over one or two paths: bulk transfer, failover, heartbeats.

Source: RFC 2960 with the Implementer's Guide, in the form ns-2 gives them (sctp/sctp.cc); which
release of ns-2 is a matter of parameters.  `docs/models/sctp.md` states every rule and tie-break.

Packets of one path and direction stay in order, so the next event is the earliest of sixteen
times: the arrivals at the heads of four rings and twelve timers.  An end that reacts to an event
leaves its packets at the tails of the rings; when it is done they are handed to the paths.
"""

from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import (
    BYTE_TIME_BITS,
    EVENT_HEARTBEAT,
    EVENT_LOST,
    EVENT_SEND,
    PATHS,
    STATUS_OK,
    Out,
    P,
)
from netcarlo.kernels.path.hops import ARRIVED, prepare, transmit
from netcarlo.kernels.sctp import handshake, paths, receiver, record, sack, sender
from netcarlo.kernels.sctp.state import (
    COOKIE_BYTES,
    EVENTS,
    HEARTBEAT_BYTES,
    INIT_BYTES,
    OFF,
    OUTCOMES,
    PACKET_SIZE,
    RECEIVER,
    SENDER,
    WAYS,
    End,
    Event,
    Kind,
    Packet,
    State,
    Way,
    Word,
    end_at,
    packet_at,
    way_at,
)

_HALF = 1 << (BYTE_TIME_BITS - 1)


def flow(
    parameters: Any, constants: Any, hops: Any, outages: Any, losses: Any,
    scratch: Any, memory: Any, out: Any, rows: Any,
) -> Any:  # fmt: skip
    """Simulate one row; see `models` for the arguments.  Returns the number of trace `rows`."""
    p, s = parameters, scratch
    trace = rows.shape[0] > 0
    handshake.begin(p, s, hops, outages, prepare(p, hops, outages, losses, s))
    next_sample = p[P.SAMPLE] // 2
    while s[OUTCOMES + Out.STATUS] == STATUS_OK:
        now, event = next_event(p, s)
        while next_sample <= min(now, p[P.END]):
            record.sample(p, s)
            next_sample += p[P.SAMPLE]
        if now > p[P.END]:
            break
        happen(p, s, now, event)
        if trace:
            record.note_event(p, s, rows, now, event)
        for way in range(WAYS):
            if s[way_at(way) + Way.WAITING] > 0:
                hand_over(p, s, outages, losses, rows, now, way)
    for column in range(out.shape[0]):
        out[column] = s[OUTCOMES + column]
    out[Out.DELIVERED] = s[Word.ACCEPTED]
    out[Out.IN_ORDER] = s[Word.RCV_CUM]
    out[Out.ACKED] = s[Word.CUM]
    return s[Word.TRACED]


def next_event(p: Any, s: Any) -> Any:
    """When the next event happens [ns], and which it is."""
    now, event = s[0], 0
    for i in range(1, EVENTS):
        if s[i] < now:
            now, event = s[i], i
    if event < Event.T1 and (s[event ^ 1] == now or (event < PATHS and s[Event.SACK_TIMER] == now)):
        event = first(p, s, now, event)
    return now, event


@cold
def first(p: Any, s: Any, now: Any, way: Any) -> Any:
    """What goes first when packets, or a packet and the SACK timer, are due at the same time:
    what ns-2 scheduled first.  It schedules an arrival when the last transmission begins.
    """
    at = packet_at(p, s, way, s[way_at(way) + Way.OLDEST])
    if s[way ^ 1] == now:
        that = packet_at(p, s, way ^ 1, s[way_at(way ^ 1) + Way.OLDEST])
        if s[that + Packet.ORDER] < s[at + Packet.ORDER]:
            way, at = way ^ 1, that
    w = way_at(way)
    transmission = (s[at + Packet.SIZE] * s[w + Way.LAST_BYTE_TIME] + _HALF) >> BYTE_TIME_BITS
    on_last_hop = transmission + s[w + Way.LAST_DELAY]
    if way < PATHS and s[Event.SACK_TIMER] == now and on_last_hop < p[P.ACK_DELAY]:
        way = Event.SACK_TIMER
    return way


def happen(p: Any, s: Any, now: Any, event: Any) -> None:
    """Carry out an event."""
    if event < Event.ARRIVAL + WAYS:
        arrive(p, s, now, event - Event.ARRIVAL)
    elif event == Event.T1:
        handshake.t1_due(p, s, now)
    elif event < Event.T3 + PATHS:
        sender.t3_due(p, s, now, event - Event.T3)
    elif event < Event.DEGRADE + PATHS:
        sender.degrade_due(p, s, now, event - Event.DEGRADE)
    elif event == Event.SACK_TIMER:
        s[Word.UNACKED] = 0
        s[Event.SACK_TIMER] = OFF
        receiver.sack(p, s, now, 0)
    elif event < Event.HEARTBEAT_TIMEOUT + WAYS:
        paths.heartbeat_lost(p, s, now, event - Event.HEARTBEAT_TIMEOUT)
    else:
        paths.heartbeat_due(p, s, now, event - Event.HEARTBEAT_TIMER)


@cold
def arrive(p: Any, s: Any, now: Any, way: Any) -> None:
    """The oldest packet of a way reaches the other end, for which that path is way ^ PATHS."""
    w = way_at(way)
    at = packet_at(p, s, way, s[w + Way.OLDEST])
    s[w + Way.OLDEST] += 1
    s[w + Way.FLYING] -= 1
    s[Event.ARRIVAL + way] = OFF
    if s[w + Way.FLYING] > 0:
        s[Event.ARRIVAL + way] = s[packet_at(p, s, way, s[w + Way.OLDEST]) + Packet.ARRIVES]
    if way < PATHS:
        at_receiver(p, s, now, way + PATHS, at)
    else:
        at_sender(p, s, now, way - PATHS, at)


@cold
def at_sender(p: Any, s: Any, now: Any, way: Any, at: Any) -> None:
    """The sender gets the packet at `at` on a way."""
    kind, state = s[at + Packet.KIND], s[end_at(SENDER) + End.STATE]
    if state == State.CLOSED:
        return
    if state == State.ESTABLISHED:
        if kind == Kind.SACK:
            sack.on_sack(p, s, now, s[at + Packet.NUMBER], s[at + Packet.ROOM], s[at + Packet.SEEN])
            s[Word.SEND_NEW] = 1
        elif kind == Kind.HEARTBEAT:
            paths.put(p, s, now, way, Kind.HEARTBEAT_ACK, HEARTBEAT_BYTES, s[at + Packet.NUMBER])
        elif kind == Kind.HEARTBEAT_ACK:
            handshake.on_heartbeat_ack(p, s, now, way, s[at + Packet.NUMBER])
    else:
        handshake.answered(p, s, now)
    if s[Word.SEND_NEW] == 1 and s[Word.MARKED] == 0:
        sender.send_new(p, s, now)
        s[Word.SEND_NEW] = 0


@cold
def at_receiver(p: Any, s: Any, now: Any, way: Any, at: Any) -> None:
    """The receiver gets the packet at `at` on a way."""
    kind = s[at + Packet.KIND]
    established = s[end_at(RECEIVER) + End.STATE] == State.ESTABLISHED
    s[Word.REPLY_WAY] = way
    if kind == Kind.DATA:
        receiver.record(s, now, s[at + Packet.SENT])
        if established:
            receiver.on_data(p, s, now, s[at + Packet.NUMBER])
    elif kind == Kind.HEARTBEAT and established:
        paths.put(p, s, now, way, Kind.HEARTBEAT_ACK, HEARTBEAT_BYTES, s[at + Packet.NUMBER])
    elif kind == Kind.HEARTBEAT_ACK and established:
        handshake.on_heartbeat_ack(p, s, now, way, s[at + Packet.NUMBER])
    elif kind == Kind.INIT and not established:
        paths.put(p, s, now, way, Kind.INIT_ACK, INIT_BYTES, now)
    elif kind == Kind.COOKIE_ECHO:
        paths.put(p, s, now, way, Kind.COOKIE_ACK, COOKIE_BYTES, now)
        if not established:
            handshake.establish(p, s, now)


def hand_over(p: Any, s: Any, outages: Any, losses: Any, rows: Any, now: Any, way: Any) -> None:
    """Put the waiting packets of a way on its path; those that will arrive close up in the ring."""
    w = way_at(way)
    trace = rows.shape[0] > 0
    first_waiting = s[w + Way.OLDEST] + s[w + Way.FLYING]
    for index in range(first_waiting, first_waiting + s[w + Way.WAITING]):
        at = packet_at(p, s, way, index)
        data, number = s[at + Packet.KIND] == Kind.DATA, s[at + Packet.NUMBER]
        if trace and data:
            record.note(s, rows, now, EVENT_SEND, number, way)
        elif trace and s[at + Packet.KIND] == Kind.HEARTBEAT:
            record.note(s, rows, now, EVENT_HEARTBEAT, way // PATHS, way % PATHS)
        fate, time = transmit(p, outages, losses, s, way % PATHS, way // PATHS, now, s[at + Packet.SIZE])
        if fate == ARRIVED:
            s[at + Packet.ARRIVES] = time
            to = packet_at(p, s, way, s[w + Way.OLDEST] + s[w + Way.FLYING])
            for word in range(PACKET_SIZE):
                s[to + word] = s[at + word]
            if s[w + Way.FLYING] == 0:
                s[Event.ARRIVAL + way] = time
            s[w + Way.FLYING] += 1
        elif time <= p[P.END]:
            record.count_loss(s, s[at + Packet.KIND], fate)
            if trace and data:
                record.note(s, rows, time, EVENT_LOST, number, way)
    s[w + Way.WAITING] = 0
