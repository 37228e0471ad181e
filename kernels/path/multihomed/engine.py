"""SCTP association over one or two paths: bulk transfer, failover, heartbeats.

Source: RFC 2960 with the Implementer's Guide, in the form of ns-2 (sctp/sctp.cc); parameters select the
release of ns-2. `docs/models/sctp.md` states every rule and tie-break.

Packets of one path and direction stay in order, so the next event is the earliest of sixteen times: the
arrivals at the heads of four rings, and twelve timers. An endpoint that processes an event appends its
packets to the rings; afterwards they are sent over the paths.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.delays import DelayState
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    BYTE_TIME_BITS,
    EVENT_HEARTBEAT,
    EVENT_LOST,
    EVENT_SEND,
    FOREVER,
    NEVER,
    PATHS,
    STATUS_OK,
    Failover,
    Hop,
    Out,
    Rows,
)
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP
from netcarlo.kernels.path import hops
from netcarlo.kernels.path.engine import OUT
from netcarlo.kernels.path.hops import ARRIVED, transmit
from netcarlo.kernels.path.multihomed import record
from netcarlo.kernels.sctp import ends, handshake, state
from netcarlo.kernels.sctp.state import (
    EVENTS,
    OFF,
    OUTCOMES,
    PACKET_SIZE,
    STATE_SIZE,
    WAYS,
    Chunk,
    Event,
    Kind,
    Packet,
    Way,
    Word,
    chunk_at,
    packet_at,
    way_at,
)

_HALF = 1 << (BYTE_TIME_BITS - 1)
observer: Any = slot("observer")
"""Functions that record what happens (`path.observers.events`)."""

DELAY_STATE = STATE_SIZE
"""First word of the state of delays (`path.observers.delays`)."""
HOPS = DELAY_STATE + DelayState.SIZE + 1
"""First word of the state of the hops."""


def scratch_words(rows: Rows) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    ring = int(rows.parameters[:, RowP.RING].max(initial=0))
    return hops.scratch_words(rows) + HOPS - STATE_SIZE + int(state.scratch_words(WAYS, ring)), 0


@noinline
def init(p: Any, s: Any, of_hops: Any, outages: Any, losses: Any) -> None:
    """Initialise the state."""
    handshake.prepare(p, s, p[SctpP.N_PATHS], p[RowP.LIMIT], 0)
    observer.prepare(s, state.lay_out(p, s, WAYS, hops.prepare(p, of_hops, outages, losses, s)))
    s[Event.T1] = p[RowP.START]
    s[Word.FIRST_OUTAGE] = FOREVER
    for hop in range(of_hops.shape[1]):
        for path in range(PATHS):
            if of_hops[path, hop, Hop.PRESENT] == 1:
                w = way_at(path)
                s[w + Way.LAST_BYTE_TIME] = of_hops[path, hop, Hop.BYTE_TIME]
                s[w + Way.LAST_DELAY] = of_hops[path, hop, Hop.DELAY]
        if outages.shape[2] > 0:
            s[Word.FIRST_OUTAGE] = min(s[Word.FIRST_OUTAGE], outages[0, hop, 0, 0])
    for column in (Out.FIRST_RX, Out.LAST_RX, Out.RESUME_TX, Out.RESUME_RX):
        s[OUTCOMES + column] = NEVER


def simulate(
    parameters: Any, constants: Any, of_hops: Any, outages: Any, losses: Any,
    scratch: Any, memory: Any, out: Any, rows: Any,
) -> Any:  # fmt: skip
    """Simulate one row; return the number of trace `rows`. `base.model.Model` describes the arguments."""
    p, s = parameters, scratch
    init(p, s, of_hops, outages, losses)
    next_sample = p[RowP.SAMPLE] // 2
    now, event = next_event(p, s)
    while s[OUTCOMES + Out.STATUS] == STATUS_OK and now <= p[RowP.END]:
        # Arrivals at receiver and sender mostly alternate; one iteration processes both, in lockstep.
        if event < PATHS:
            next_sample = samples(p, s, next_sample, now)
            arrive_at_receiver(p, s, now, event)
            note(p, s, rows, now, event)
            send_waiting(p, s, outages, losses, rows, now, event + PATHS)
            other = WAYS - 1 - event
            if s[way_at(other) + Way.WAITING] > 0:  # the first heartbeat of RFC 9260
                send_waiting(p, s, outages, losses, rows, now, other)
            now, event = next_event(p, s)
        if event >= PATHS and s[OUTCOMES + Out.STATUS] == STATUS_OK and now <= p[RowP.END]:
            next_sample = samples(p, s, next_sample, now)
            if event < WAYS:
                ends.at_sender(p, s, now, event - PATHS, pop_packet(p, s, event))
            else:
                ends.expire(p, s, now, event)
            note(p, s, rows, now, event)
            for way in range(WAYS):
                send_waiting(p, s, outages, losses, rows, now, way)
            now, event = next_event(p, s)
    if s[OUTCOMES + Out.STATUS] == STATUS_OK:
        samples(p, s, next_sample, p[RowP.END])
    for column in range(OUT):
        out[column] = s[OUTCOMES + column]
    observer.report(s, out, np.int64(OUT))
    if p[SctpP.N_PATHS] == PATHS:
        out[len(out) - Failover.COLUMNS + Failover.LONGEST] = s[Word.FAILOVER]
    out[Out.DELIVERED] = s[Word.ACCEPTED]
    out[Out.IN_ORDER] = s[Word.RCV_CUM]
    out[Out.ACKED] = s[Word.CUM]
    return s[Word.TRACED]


def samples(p: Any, s: Any, next_sample: Any, now: Any) -> Any:
    """Take the samples that are due by `now`; return the time of the next one."""
    while next_sample <= now:
        record.sample(p, s)
        next_sample += p[RowP.SAMPLE]
    return next_sample


def note(p: Any, s: Any, rows: Any, now: Any, event: Any) -> None:
    """Add a processed event to the trace `rows`, if there is one."""
    if rows.shape[0] > 0:
        record.note_event(p, s, rows, now, event)


def next_event(p: Any, s: Any) -> Any:
    """Return the time of the next event [ns] and its number."""
    now, event = s[0], 0
    for i in range(1, EVENTS):
        if s[i] < now:
            now, event = s[i], i
    if event < Event.T1 and (s[event ^ 1] == now or (event < PATHS and s[Event.SACK_TIMER] == now)):
        event = break_tie(p, s, now, event)
    return now, event


@noinline
def break_tie(p: Any, s: Any, now: Any, way: Any) -> Any:
    """Return the first of simultaneous packets, or of a packet and the SACK timer, in ns-2's order of
    scheduling.

    ns-2 schedules an arrival when the last transmission begins.
    """
    at = packet_at(p, s, way, s[way_at(way) + Way.OLDEST])
    if s[way ^ 1] == now:
        that = packet_at(p, s, way ^ 1, s[way_at(way ^ 1) + Way.OLDEST])
        if s[that + Packet.ORDER] < s[at + Packet.ORDER]:
            way, at = way ^ 1, that
    w = way_at(way)
    transmission = (s[at + Packet.SIZE] * s[w + Way.LAST_BYTE_TIME] + _HALF) >> BYTE_TIME_BITS
    on_last_hop = transmission + s[w + Way.LAST_DELAY]
    if way < PATHS and s[Event.SACK_TIMER] == now and on_last_hop < p[ReliableP.ACK_DELAY]:
        way = Event.SACK_TIMER
    return way


def pop_packet(p: Any, s: Any, way: Any) -> Any:
    """Remove the oldest packet of a lane, which reaches the other end; return the word where it begins."""
    w = way_at(way)
    at = packet_at(p, s, way, s[w + Way.OLDEST])
    s[w + Way.OLDEST] += 1
    s[w + Way.FLYING] -= 1
    s[Event.ARRIVAL + way] = OFF
    if s[w + Way.FLYING] > 0:
        s[Event.ARRIVAL + way] = s[packet_at(p, s, way, s[w + Way.OLDEST]) + Packet.ARRIVES]
    return at


@noinline
def arrive_at_receiver(p: Any, s: Any, now: Any, way: Any) -> None:
    """Process the oldest packet of a lane at the receiver, for which its path is `way` + PATHS."""
    at, accepted = pop_packet(p, s, way), s[Word.ACCEPTED]
    if s[at + Packet.KIND] == Kind.DATA:
        record.count_arrival(s, now, s[at + Packet.SENT])
    tsn = s[at + Packet.NUMBER]
    ends.at_receiver(p, s, now, way + PATHS, at)
    if s[Word.ACCEPTED] > accepted:
        observer.on_delay(p, s, now - s[chunk_at(p, s, tsn) + Chunk.BORN])


def send_waiting(p: Any, s: Any, outages: Any, losses: Any, rows: Any, now: Any, way: Any) -> None:
    """Send the waiting packets of a lane over its path, and keep those that will arrive in the ring."""
    w = way_at(way)
    if s[w + Way.WAITING] == 0:
        return
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
        elif time <= p[RowP.END]:
            record.count_loss(s, s[at + Packet.KIND], fate)
            if trace and data:
                record.note(s, rows, time, EVENT_LOST, number, way)
    s[w + Way.WAITING] = 0
