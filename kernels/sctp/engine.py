"""An SCTP association over one or two paths: bulk transfer, failover, heartbeats.

Source: RFC 2960 with the Implementer's Guide, in the form ns-2 gives them (sctp/sctp.cc); which
release of ns-2 is a matter of parameters.  `docs/models/sctp.md` states every rule and tie-break.

Packets of one path and direction stay in order, so the next event is the earliest of sixteen
times: the arrivals at the heads of four rings and twelve timers.  An end that reacts to an event
leaves its packets at the tails of the rings; when it is done they are handed to the paths.
"""

from collections.abc import Callable
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
from netcarlo.kernels.path.hops import ARRIVED, make_link
from netcarlo.kernels.sctp import state as st
from netcarlo.kernels.sctp.handshake import make_handshake
from netcarlo.kernels.sctp.paths import make_paths
from netcarlo.kernels.sctp.receiver import make_receiver
from netcarlo.kernels.sctp.record import make_record
from netcarlo.kernels.sctp.sack import make_on_sack
from netcarlo.kernels.sctp.sender import make_sender

_HALF = 1 << (BYTE_TIME_BITS - 1)


def make(dev: Callable[[Any], Any]) -> Any:
    """Compile `flow(parameters, constants, hops, outages, losses, scratch, memory, out, trace)`, which
    simulates one row and returns the number of trace rows."""
    way = make_link(dev, st.STATE_SIZE)
    prepare, transmit = way.prepare, way.transmit
    paths = make_paths(dev)
    sender = make_sender(dev, paths)
    on_sack = make_on_sack(dev, paths, sender)
    record, on_data, sack = make_receiver(dev, paths.put)
    handshake = make_handshake(dev, paths)
    put, fail, heartbeat, heartbeat_due = paths.put, paths.fail, paths.heartbeat, paths.heartbeat_due
    send_new, t3_due, degrade_due = sender.send_new, sender.t3_due, sender.degrade_due
    begin, t1_due, answered = handshake.begin, handshake.t1_due, handshake.answered
    open_, on_heartbeat_ack = handshake.open, handshake.on_heartbeat_ack
    count_loss, note, note_event, sample = make_record(dev)
    packet = dev(st.packet)

    @cold
    def at_sender(p: Any, s: Any, now: Any, way: Any, at: Any) -> None:
        kind, state = s[at + st.KIND], s[st.ENDPOINT + st.STATE]
        if state == st.CLOSED:
            return
        if state == st.ESTABLISHED:
            if kind == st.SACK:
                on_sack(p, s, now, s[at + st.NUMBER], s[at + st.SENT], s[at + st.SEEN])
                s[st.SEND_NEW] = 1
            elif kind == st.HEARTBEAT:
                put(p, s, now, way, st.HEARTBEAT_ACK, st.HEARTBEAT_BYTES, s[at + st.NUMBER], 0, 0)
            elif kind == st.HEARTBEAT_ACK:
                on_heartbeat_ack(p, s, now, way, s[at + st.NUMBER])
        else:
            answered(p, s, now)
        if s[st.SEND_NEW] == 1 and s[st.MARKED] == 0:
            send_new(p, s, now)
            s[st.SEND_NEW] = 0

    at_sender = dev(at_sender)

    @cold
    def at_receiver(p: Any, s: Any, now: Any, way: Any, at: Any) -> None:
        kind = s[at + st.KIND]
        established = s[st.ENDPOINT + st.ENDPOINT_SIZE + st.STATE] == st.ESTABLISHED
        s[st.REPLY_WAY] = way
        if kind == st.DATA:
            record(s, now, s[at + st.SENT])
            if established:
                on_data(p, s, now, s[at + st.NUMBER])
        elif kind == st.HEARTBEAT and established:
            put(p, s, now, way, st.HEARTBEAT_ACK, st.HEARTBEAT_BYTES, s[at + st.NUMBER], 0, 0)
        elif kind == st.HEARTBEAT_ACK and established:
            on_heartbeat_ack(p, s, now, way, s[at + st.NUMBER])
        elif kind == st.INIT and not established:
            put(p, s, now, way, st.INIT_ACK, st.INIT_BYTES, 0, 0, 0)
        elif kind == st.COOKIE_ECHO:
            put(p, s, now, way, st.COOKIE_ACK, st.COOKIE_BYTES, 0, 0, 0)
            if not established:
                open_(p, s, now)

    at_receiver = dev(at_receiver)

    @cold
    def arrive(p: Any, s: Any, now: Any, way: Any) -> None:
        # The oldest packet of a way reaches the other end, for which that path is way ^ PATHS.
        w = st.WAY + way * st.WAY_SIZE
        at = packet(p, s, way, s[w + st.OLDEST])
        s[w + st.OLDEST] += 1
        s[w + st.FLYING] -= 1
        s[st.ARRIVAL + way] = st.OFF
        if s[w + st.FLYING] > 0:
            s[st.ARRIVAL + way] = s[packet(p, s, way, s[w + st.OLDEST]) + st.ARRIVES]
        if way < PATHS:
            at_receiver(p, s, now, way + PATHS, at)
        else:
            at_sender(p, s, now, way - PATHS, at)

    arrive = dev(arrive)

    @cold
    def first(p: Any, s: Any, now: Any, way: Any) -> Any:
        # What goes first when packets, or a packet and the SACK timer, are due at the same time:
        # what ns-2 scheduled first.  It schedules an arrival when the last transmission begins.
        at = packet(p, s, way, s[st.WAY + way * st.WAY_SIZE + st.OLDEST])
        if s[way ^ 1] == now:
            that = packet(p, s, way ^ 1, s[st.WAY + (way ^ 1) * st.WAY_SIZE + st.OLDEST])
            if s[that + st.ORDER] < s[at + st.ORDER]:
                way, at = way ^ 1, that
        w = st.WAY + way * st.WAY_SIZE
        transmission = (s[at + st.SIZE] * s[w + st.LAST_BYTE_TIME] + _HALF) >> BYTE_TIME_BITS
        on_last_hop = transmission + s[w + st.LAST_DELAY]
        if way < PATHS and s[st.SACK_TIMER] == now and on_last_hop < p[P.ACK_DELAY]:
            return st.SACK_TIMER
        return way

    first = dev(first)

    @cold
    def heartbeat_lost(p: Any, s: Any, now: Any, way: Any) -> None:
        s[st.HEARTBEAT_TIMEOUT + way] = st.OFF
        if not fail(p, s, way):
            return
        if p[P.HEARTBEAT] > 0 or s[st.WAY + way * st.WAY_SIZE + st.STATUS] == st.UNCONFIRMED:
            heartbeat(p, s, now, way)

    heartbeat_lost = dev(heartbeat_lost)

    def happen(p: Any, s: Any, now: Any, event: Any) -> None:
        if event < st.ARRIVAL + st.WAYS:
            arrive(p, s, now, event - st.ARRIVAL)
        elif event == st.T1:
            t1_due(p, s, now)
        elif event < st.T3 + PATHS:
            t3_due(p, s, now, event - st.T3)
        elif event < st.DEGRADE + PATHS:
            degrade_due(p, s, now, event - st.DEGRADE)
        elif event == st.SACK_TIMER:
            s[st.UNACKED] = 0
            s[st.SACK_TIMER] = st.OFF
            sack(p, s, now, 0)
        elif event < st.HEARTBEAT_TIMEOUT + st.WAYS:
            heartbeat_lost(p, s, now, event - st.HEARTBEAT_TIMEOUT)
        else:
            heartbeat_due(p, s, now, event - st.HEARTBEAT_TIMER)

    happen = dev(happen)

    def hand_over(
        p: Any, s: Any, outages: Any, losses: Any, trace_rows: Any, length: Any, now: Any, way: Any
    ) -> Any:
        # Put the waiting packets of a way on its path; those that will arrive close up in the ring.
        w = st.WAY + way * st.WAY_SIZE
        trace = trace_rows.shape[0] > 0
        first_waiting = s[w + st.OLDEST] + s[w + st.FLYING]
        for index in range(first_waiting, first_waiting + s[w + st.WAITING]):
            at = packet(p, s, way, index)
            data, number = s[at + st.KIND] == st.DATA, s[at + st.NUMBER]
            if trace and data:
                length = note(s, trace_rows, length, now, EVENT_SEND, number, way)
            elif trace and s[at + st.KIND] == st.HEARTBEAT:
                length = note(s, trace_rows, length, now, EVENT_HEARTBEAT, way // PATHS, way % PATHS)
            fate, time = transmit(p, outages, losses, s, way % PATHS, way // PATHS, now, s[at + st.SIZE])
            if fate == ARRIVED:
                s[at + st.ARRIVES] = time
                to = packet(p, s, way, s[w + st.OLDEST] + s[w + st.FLYING])
                for word in range(st.PACKET_SIZE):
                    s[to + word] = s[at + word]
                if s[w + st.FLYING] == 0:
                    s[st.ARRIVAL + way] = time
                s[w + st.FLYING] += 1
            elif time <= p[P.END]:
                count_loss(s, s[at + st.KIND], fate)
                if trace and data:
                    length = note(s, trace_rows, length, time, EVENT_LOST, number, way)
        s[w + st.WAITING] = 0
        return length

    hand_over = dev(hand_over)

    def flow(
        parameters: Any, constants: Any, hops: Any, outages: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace_rows: Any,
    ) -> Any:  # fmt: skip
        p, s, length = parameters, scratch, 0
        trace = trace_rows.shape[0] > 0
        begin(p, s, hops, outages, prepare(p, hops, outages, losses, s))
        next_sample = p[P.SAMPLE] // 2
        while s[st.COUNT + Out.STATUS] == STATUS_OK:
            now, event = s[0], 0
            for i in range(1, st.EVENTS):
                if s[i] < now:
                    now, event = s[i], i
            if event < st.T1 and (s[event ^ 1] == now or (event < PATHS and s[st.SACK_TIMER] == now)):
                event = first(p, s, now, event)
            while next_sample <= min(now, p[P.END]):
                sample(p, s)
                next_sample += p[P.SAMPLE]
            if now > p[P.END]:
                break
            happen(p, s, now, event)
            if trace:
                length = note_event(p, s, trace_rows, length, now, event)
            for way in range(st.WAYS):
                if s[st.WAY + way * st.WAY_SIZE + st.WAITING] > 0:
                    length = hand_over(p, s, outages, losses, trace_rows, length, now, way)
        for column in range(out.shape[0]):
            out[column] = s[st.COUNT + column]
        out[Out.DELIVERED] = s[st.ACCEPTED]
        out[Out.IN_ORDER] = s[st.RCV_CUM]
        out[Out.ACKED] = s[st.CUM]
        return length

    return dev(flow)
