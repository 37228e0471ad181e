"""An 802.11 network, frame by frame: stations, flows, and what lies behind the radio.

One thread simulates a cell or a multi-hop network with UDP flows and TCP flows of one variant.  Every
node, leg and flow knows when its next event comes; the earliest is found by a scan, so there is no heap
and no allocation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_DROP,
    EVENT_LOST,
    EVENT_RECEIVE,
    FOREVER,
    NEVER,
    STATUS_TRACE_FULL,
    P,
)
from netcarlo.kernels.tcp import sender
from netcarlo.kernels.wireless import state
from netcarlo.kernels.wireless.exchange import make_exchange
from netcarlo.kernels.wireless.layout import (
    DELAY_BINS,
    DELAY_LOW,
    NOBODY,
    Flow,
    FlowOut,
    Link,
    NodeOut,
    Radio,
    WifiOut,
    WifiRows,
)
from netcarlo.kernels.wireless.leg import make_leg
from netcarlo.kernels.wireless.report import make_report
from netcarlo.kernels.wireless.state import (
    BACKWARD,
    COUNT,
    END_PHASE,
    F_ARRIVED,
    F_BIN,
    F_DELAY_NS,
    F_IN_BIN,
    F_NEXT,
    F_NUMBER,
    F_STATE,
    FLOW_BITS,
    FLOW_COUNTS,
    FLOW_MASK,
    FLOW_PHASE,
    FLOW_WORDS,
    FLOWS,
    FULL,
    HOP_MASK,
    LINK_WORDS,
    LINKS,
    LOST,
    LOST_ROOM,
    LOST_WORDS,
    NO_EVENT,
    NODE_WORDS,
    NODES,
    ONE_HOP,
    PACKET_SHIFT,
    PATHS,
    QUEUE,
    START_OF_KEYS,
    START_PHASE,
)
from netcarlo.kernels.wireless.station import make_station
from netcarlo.kernels.wireless.trace import make_recorder

_SOURCE, _RELAY, _LEG_FULL = int(FlowOut.DROPS_SOURCE), int(FlowOut.DROPS_RELAY), int(FlowOut.DROPS_LEG)
_RETRY_LOST = int(FlowOut.RETRY_LOST)


def outcomes(rows: WifiRows) -> int:
    """Columns of the outcomes of `rows`."""
    most_flows = int(rows.parameters[:, Radio.FLOWS].max(initial=0))
    return int(WifiOut.COLUMNS + most_flows * FlowOut.COLUMNS + rows.nodes.shape[1] * NodeOut.COLUMNS)


def scratch_words(rows: WifiRows, *, tcp: bool) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    most_flows = int(rows.parameters[:, Radio.FLOWS].max())
    if not tcp:
        return state.words(rows, 0), 1
    window, ring = (int(rows.parameters[:, column].max()) for column in (P.WINDOW, P.RING))
    return state.words(rows, int(sender.scratch_words(window, ring))), sender.FLOATS * most_flows


def make(dev: Callable[[Any], Any], make_variant: Any = None, control: Any = None) -> Any:
    """Compile the simulation of one row for a target; see `models` for its arguments.

    Without `make_variant` there are UDP flows only.
    """
    tcp = make_variant is not None
    association: Any = sender.make_association(dev, make_variant, control) if tcp else None
    first = association.first if tcp else 0
    size_of_ack: Any = association.size_of_ack if tcp else None
    legs = make_leg(dev)
    enter, leave = legs.enter, legs.leave

    def place(m: Any, flow: Any) -> Any:
        return m[FLOWS] + flow * FLOW_WORDS

    place = dev(place)

    def size_of_packet(m: Any, frame: Any) -> Any:
        at = place(m, frame & FLOW_MASK)
        if tcp and m[at + Flow.TCP] != 0:
            packet = frame >> PACKET_SHIFT
            if frame & BACKWARD:
                return size_of_ack(m, m[m[at + F_STATE] :], packet)
            if packet < first:
                return m[P.HANDSHAKE]
        return m[at + Flow.SIZE] + m[at + Flow.HEADER]

    size_of_packet = dev(size_of_packet)
    station = make_station(dev, size_of_packet)
    exchange = make_exchange(dev, station)
    enqueue, begin, air_time = station.enqueue, station.begin, station.air_time
    end_frame, time_out = exchange.end, exchange.time_out
    conclude, first_gap = exchange.conclude, exchange.first_gap

    def put_out_at(m: Any, at: Any, packet: Any) -> Any:
        # When the source of the UDP flow at word `at` puts out a packet.
        return m[at + Flow.START] + packet * m[at + Flow.INTERVAL]

    put_out_at = dev(put_out_at)

    @cold
    def lose(m: Any, frame: Any, cause: Any, node: Any) -> None:
        # A frame is lost at a node; `cause` is a column of FlowOut for data.
        at = LOST + 1 + m[LOST] % LOST_ROOM * LOST_WORDS
        m[LOST] += 1
        m[at] = EVENT_LOST if cause == _RETRY_LOST else EVENT_DROP
        m[at + 1] = frame
        m[at + 2] = node
        at = place(m, frame & FLOW_MASK)
        packet = frame >> PACKET_SHIFT
        if frame & BACKWARD:
            m[at + FLOW_COUNTS + FlowOut.ACKS_LOST] += 1
        elif not tcp or m[at + Flow.TCP] == 0:
            m[at + FLOW_COUNTS + cause] += 1
            if put_out_at(m, at, packet) >= m[Radio.WARM_UP]:
                m[at + FLOW_COUNTS + FlowOut.LOST] += 1
        elif packet >= first:
            m[at + FLOW_COUNTS + cause] += 1

    lose = dev(lose)

    @cold
    def to_queue(m: Any, t: Any, frame: Any) -> None:
        j = m[station.link_of(m, frame) + Link.FROM]
        if not enqueue(m, j, t, frame):
            relay = frame >> FLOW_BITS & HOP_MASK != 0
            lose(m, frame, np.int64(_RELAY) if relay else np.int64(_SOURCE), j)

    to_queue = dev(to_queue)

    def to_leg(m: Any, leg: Any, t: Any, frame: Any) -> None:
        if not enter(m, leg, t, size_of_packet(m, frame), frame):
            lose(m, frame, np.int64(_LEG_FULL), np.int64(NOBODY))

    to_leg = dev(to_leg)

    def put_out(m: Any, t: Any, frame: Any) -> None:
        # A packet leaves its end host.
        at = place(m, frame & FLOW_MASK)
        leg = m[at + Flow.ACK_BEFORE] if frame & BACKWARD else m[at + Flow.BEFORE]
        if leg != NOBODY:
            to_leg(m, leg, t, frame)
        else:
            to_queue(m, t, frame)

    put_out = dev(put_out)

    @cold
    def next_of_flow(m: Any, flow: Any) -> None:
        at = place(m, flow)
        event = m[at + F_NEXT]
        if tcp and m[at + Flow.TCP] != 0:
            s = m[m[at + F_STATE] :]
            event = min(event, min(s[sender.DEADLINE], s[sender.PENDING]))
        key = event << 2 | FLOW_PHASE if event < FOREVER else np.int64(NO_EVENT)
        m[START_OF_KEYS + m[Radio.NODES] + m[Radio.LEGS] + flow] = key

    next_of_flow = dev(next_of_flow)

    @cold
    def pump(m: Any, f: Any, t: Any, flow: Any) -> None:
        # Put out what the TCP sender may.
        at = place(m, flow)
        s = m[m[at + F_STATE] :]
        g = f[flow * sender.FLOATS :]
        node = np.int64(NOBODY)
        if m[Radio.BACK_PRESSURE] != 0 and m[at + Flow.BEFORE] == NOBODY:
            link = m[LINKS] + m[m[PATHS] + m[at + Flow.FORTH_AT]] * LINK_WORDS
            node = m[NODES] + m[link + Link.FROM] * NODE_WORDS
        while True:
            blocked = node != NOBODY and m[node + COUNT] >= m[node + QUEUE]
            packet = association.take(m, s, g, t, blocked)
            if packet < 0:
                break
            if (
                packet - first == m[at + Flow.LIMIT] - 1
                and m[at + FLOW_COUNTS + FlowOut.SOURCE_DONE] == NEVER
            ):
                m[at + FLOW_COUNTS + FlowOut.SOURCE_DONE] = t
            put_out(m, t, packet << PACKET_SHIFT | flow)
        next_of_flow(m, flow)

    pump = dev(pump)

    @cold
    def arrived(m: Any, at: Any, t: Any, delay: Any) -> None:
        # A packet of the flow at word `at` has arrived for the first time.
        counts = at + FLOW_COUNTS
        m[counts + FlowOut.DELIVERED] += 1
        m[at + F_DELAY_NS] += delay
        m[counts + FlowOut.DELAY_SUM] += m[at + F_DELAY_NS] // 1000
        m[at + F_DELAY_NS] %= 1000
        if m[counts + FlowOut.FIRST_RX] == NEVER:
            m[counts + FlowOut.FIRST_RX] = t
        octave = np.int64(0)
        rest = max(delay, np.int64(1))
        while rest > 1:
            rest >>= 1
            octave += 1
        quarter = delay >> (octave - 2) & 3 if octave >= 2 else np.int64(0)
        column = min(max((octave - DELAY_LOW) * 4 + quarter, 0), DELAY_BINS - 1)
        m[counts + FlowOut.DELAYS + column] += 1
        length = m[Radio.BIN]
        if length > 0 and t >= m[Radio.WARM_UP]:
            number = (t - m[Radio.WARM_UP]) // length
            if number != m[at + F_BIN]:
                m[at + F_BIN] = number
                m[at + F_IN_BIN] = 0
            m[at + F_IN_BIN] += 1
            if m[Radio.WARM_UP] + (number + 1) * length <= m[P.END]:
                m[counts + FlowOut.BEST] = max(m[counts + FlowOut.BEST], m[at + F_IN_BIN])

    arrived = dev(arrived)

    @cold
    def send_answer(m: Any, t: Any, flow: Any, serial: Any) -> None:
        at = place(m, flow)
        if serial == sender.FULL:
            m[FULL] = 1
        elif serial >= 0:
            m[at + FLOW_COUNTS + FlowOut.ACKS_SENT] += 1
            if m[at + Flow.ACK_COST] > 0 and m[at + Flow.AFTER] != NOBODY:
                legs.occupy(m, m[at + Flow.AFTER], t, m[at + Flow.ACK_COST])
            put_out(m, t, serial << PACKET_SHIFT | BACKWARD | flow)

    send_answer = dev(send_answer)

    @cold
    def arrive(m: Any, f: Any, constants: Any, t: Any, frame: Any, more: Any) -> None:
        # A packet reaches its end host; whether `more` do at once.
        flow = frame & FLOW_MASK
        at = place(m, flow)
        counts = at + FLOW_COUNTS
        packet = frame >> PACKET_SHIFT
        if tcp and m[at + Flow.TCP] != 0:
            s = m[m[at + F_STATE] :]
            if frame & BACKWARD:
                association.on_ack(m, s, f[flow * sender.FLOATS :], constants, t, packet)
                pump(m, f, t, flow)
                return
            before = s[sender.EXPECTED]
            serial, fresh = association.on_data(m, s, t, packet, more)
            if packet >= first:
                m[counts + FlowOut.RECEIVED] += 1
                m[counts + FlowOut.LAST_RX] = t
                m[counts + FlowOut.IN_ORDER] += s[sender.EXPECTED] - max(before, first)
                if fresh:
                    arrived(m, at, t, association.delay_of(m, s, t, packet))
                if m[counts + FlowOut.COMPLETED] == NEVER and association.complete(s):
                    m[counts + FlowOut.COMPLETED] = t
            send_answer(m, t, flow, serial)
            next_of_flow(m, flow)
            return
        m[counts + FlowOut.RECEIVED] += 1
        m[counts + FlowOut.LAST_RX] = t
        m[at + F_ARRIVED] += 1
        if m[at + F_ARRIVED] == m[at + Flow.LIMIT]:
            m[counts + FlowOut.COMPLETED] = t
        sent = put_out_at(m, at, packet)
        if sent >= m[Radio.WARM_UP]:
            m[counts + FlowOut.ARRIVED] += 1
        arrived(m, at, t, t - sent)

    arrive = dev(arrive)

    @cold
    def go_on(m: Any, f: Any, constants: Any, t: Any, frame: Any) -> None:
        # A frame has crossed a link.
        frame += ONE_HOP
        at = place(m, frame & FLOW_MASK)
        hop = frame >> FLOW_BITS & HOP_MASK
        backward = frame & BACKWARD
        if hop < (m[at + Flow.BACK] if backward else m[at + Flow.FORTH]):
            to_queue(m, t, frame)
            return
        leg = m[at + Flow.ACK_AFTER] if backward else m[at + Flow.AFTER]
        if leg != NOBODY:
            to_leg(m, leg, t, frame)
        else:
            arrive(m, f, constants, t, frame, False)

    go_on = dev(go_on)

    @cold
    def at_leg(m: Any, f: Any, constants: Any, t: Any, leg: Any) -> None:
        count = legs.due(m, leg, t)
        for k in range(count):
            frame = leave(m, leg)
            if frame >> FLOW_BITS & HOP_MASK == 0:  # before the radio
                to_queue(m, t, frame)
            else:
                arrive(m, f, constants, t, frame, k < count - 1)
        legs.go_on(m, leg, t)

    at_leg = dev(at_leg)

    @cold
    def at_flow(m: Any, f: Any, constants: Any, t: Any, flow: Any) -> None:
        at = place(m, flow)
        if tcp and m[at + Flow.TCP] != 0:
            s = m[m[at + F_STATE] :]
            g = f[flow * sender.FLOATS :]
            if m[at + F_NEXT] == t:
                m[at + F_NEXT] = FOREVER
                association.start(m, s, g)
                pump(m, f, t, flow)
            elif s[sender.DEADLINE] == t:
                association.on_timeout(m, s, g, constants, t)
                pump(m, f, t, flow)
            else:
                send_answer(m, t, flow, association.on_delay(m, s))
                next_of_flow(m, flow)
            return
        number = m[at + F_NUMBER]
        m[at + F_NUMBER] = number + 1
        following = t + m[at + Flow.INTERVAL]
        if number + 1 >= m[at + Flow.LIMIT] or following >= m[at + Flow.STOP]:
            following = np.int64(FOREVER)
            if number + 1 >= m[at + Flow.LIMIT]:
                m[at + FLOW_COUNTS + FlowOut.SOURCE_DONE] = t
        m[at + F_NEXT] = following
        m[at + FLOW_COUNTS + FlowOut.SENT] += 1
        put_out(m, t, number << PACKET_SHIFT | flow)
        next_of_flow(m, flow)

    at_flow = dev(at_flow)

    @cold
    def room_again(m: Any, f: Any, t: Any, j: Any) -> None:
        # A frame has left the queue of node j: senders that waited for that go on.
        for flow in range(m[Radio.FLOWS]):
            at = place(m, flow)
            if m[at + Flow.TCP] != 0 and m[at + Flow.BEFORE] == NOBODY:
                link = m[LINKS] + m[m[PATHS] + m[at + Flow.FORTH_AT]] * LINK_WORDS
                s = m[m[at + F_STATE] :]
                if m[link + Link.FROM] == j and association.resume(m, s, f[flow * sender.FLOATS :]):
                    pump(m, f, t, flow)

    room_again = dev(room_again)

    prepare, warm, report = make_report(dev, association, place, next_of_flow, air_time, first_gap)
    record, sent, lost, timeouts, timed_out = make_recorder(dev, place, tcp=tcp)

    @cold
    def simulate(
        parameters: Any,
        constants: Any,
        nodes: Any,
        network: Any,
        losses: Any,
        m: Any,
        f: Any,
        out: Any,
        rows: Any,
    ) -> Any:
        prepare(parameters, nodes, network, losses, m, f)
        trace = rows.shape[0] > 0
        events = np.int64(0)
        end = m[P.END]
        warm_up = m[Radio.WARM_UP] if m[Radio.WARM_UP] > 0 else np.int64(FOREVER)
        n = m[Radio.NODES]
        n_legs = m[Radio.LEGS]
        entities = n + n_legs + m[Radio.FLOWS]
        pressure = m[Radio.BACK_PRESSURE] != 0
        while True:
            key = m[START_OF_KEYS]
            who = np.int64(0)
            for i in range(1, entities):
                if m[START_OF_KEYS + i] < key:
                    key = m[START_OF_KEYS + i]
                    who = np.int64(i)
            t = key >> 2
            if t > end:
                break
            if t >= warm_up:
                warm(m, warm_up)
                warm_up = np.int64(FOREVER)
            left = np.int64(NOBODY)
            frame = np.int64(NOBODY)
            if who < n:
                phase = key & 3
                if phase == START_PHASE:
                    begin(m, who, t)
                    if trace:
                        events = sent(m, f, rows, events, t, who)
                elif phase == END_PHASE:
                    left, reached, frame = end_frame(m, losses, who, t)
                    if frame != NOBODY:
                        go_on(m, f, constants, t, frame)
                        if trace:
                            event = EVENT_ACK if frame & BACKWARD else EVENT_RECEIVE
                            events = record(m, f, rows, events, t, event, frame, reached)
                else:
                    left, frame = time_out(m, who, t)
                    if frame != NOBODY:
                        lose(m, frame, np.int64(_RETRY_LOST), who)
                if left != NOBODY:
                    if tcp and pressure:
                        room_again(m, f, t, left)
                    conclude(m, left, t)
            elif who < n + n_legs:
                at_leg(m, f, constants, t, who - n)
            else:
                flow = who - n - n_legs
                before = timeouts(m, flow) if trace else np.int64(0)
                at_flow(m, f, constants, t, flow)
                if trace and timeouts(m, flow) > before:
                    events = timed_out(m, f, rows, events, t, flow)
            if trace and m[LOST] > 0:
                events = lost(m, f, rows, events, t)
        if warm_up <= end:
            warm(m, warm_up)
        report(m, nodes, out)
        if trace and events > rows.shape[0]:
            out[WifiOut.STATUS] = STATUS_TRACE_FULL
        return events

    return dev(simulate)
