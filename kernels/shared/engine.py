"""Many flows over shared links, packet by packet.

One thread simulates up to 64 TCP and UDP flows on up to 64 links of any topology.  FIFOs keep packets in the
order in which they will arrive, so the earliest event is the smallest of a few keys: three a flow and one a
link.  Hosts have links of their own, where the order is known: what happens behind the last shared link of a
way is computed at once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, NEVER, STATUS_OK, STATUS_RING_FULL, P
from netcarlo.kernels.base.loss import make_gap
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.base.sums import make_add
from netcarlo.kernels.shared.layout import (
    STREAM_LINK,
    UDP,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedOut,
    SharedRows,
)
from netcarlo.kernels.shared.link import DROPPED, LOST, MARK, make_link, make_time
from netcarlo.kernels.shared.sources import make_sources
from netcarlo.kernels.shared.state import (
    ACK,
    BACKWARD,
    CLASS_SHIFT,
    CLOCK,
    DATA,
    EARLIEST,
    F_ACK_BUSY,
    F_BACK_BUSY,
    F_COUNTS,
    F_ECHO,
    F_FIFOS,
    F_LATE,
    F_NEXT,
    F_SINK_BUSY,
    F_SOURCE_BUSY,
    F_TCP,
    FAR,
    FIFO_WORDS,
    FIXED_WORDS,
    FLOW_MASK,
    FLOWS,
    FULL,
    HEAD,
    HOP_MASK,
    HOP_SHIFT,
    HOST,
    L_COUNT,
    L_COUNTS,
    L_DEPARTURES,
    L_FIFO,
    L_GAP,
    L_MASK,
    L_NUMBER,
    LINK_BLOCK,
    LINKS,
    MARKED,
    MASK,
    NO_EVENT,
    NUMBER_SHIFT,
    REDUCED,
    ROOM,
    SHIFT,
    SIZE_MASK,
    SIZE_SHIFT,
    TAIL,
    TICK,
    TIE_SHIFT,
    TIME_SHIFT,
    make_keys,
    words,
)
from netcarlo.kernels.tcp import sender

scratch_words = words
_TO_LINK, _BACK_TO_LINK, _TO_SOURCE = F_FIFOS, F_FIFOS + FIFO_WORDS, F_FIFOS + 2 * FIFO_WORDS


def outcomes(rows: SharedRows) -> int:
    """Columns of the outcomes of `rows`."""
    flows, links = rows.flows.shape[1], rows.links.shape[1]
    return int(SharedOut.COLUMNS + flows * FlowOut.COLUMNS + links * LinkOut.COLUMNS)


def make(dev: Callable[[Any], Any], make_kinds: Any) -> Any:
    """Compile the simulation of one row, `make_kinds(dev)` being the TCPs; see `models` for its arguments.

    `b` is where the block of a flow begins in `m`; its first words are the columns of `Flow`.
    """
    association = sender.make_association(dev, None, None, kinds=make_kinds(dev))
    first_of = association.first_of
    draw = make_draw(dev)
    gap = make_gap(dev, draw)
    time = make_time(dev)
    add = make_add(dev)
    lower, replace, push, pop = make_keys(dev)
    enter = make_link(dev, draw, gap)
    begin_source, next_datagram = make_sources(dev, draw, gap)

    def lay_fifo(m: Any, fifo: Any, free: Any, room: Any) -> None:
        m[fifo + HEAD] = 0
        m[fifo + TAIL] = 0
        m[fifo + ROOM] = free
        m[fifo + MASK] = room - 1

    lay_fifo = dev(lay_fifo)

    @cold
    def begin_flow(p: Any, flow: Any, losses: Any, m: Any, f: Any, i: Any, b: Any) -> Any:
        # Lay out the block of a flow; returns the first word behind it.  Routes become blocks of links.
        m[FLOWS + i] = b
        for word in range(Flow.COLUMNS):
            m[b + word] = flow[word]
        for word in range(Flow.COLUMNS, F_TCP):
            m[b + word] = 0
        for hop in range(flow[Flow.HOPS]):
            m[b + Flow.ROUTE + hop] = m[LINKS] + LINK_BLOCK * flow[Flow.ROUTE + hop]
        for hop in range(flow[Flow.BACK_HOPS]):
            m[b + Flow.BACK + hop] = m[LINKS] + LINK_BLOCK * flow[Flow.BACK + hop]
        ring = np.int64(64)
        while ring < 2 * flow[P.WINDOW] + 64:
            ring <<= 1
        ring *= p[P.RING] >> 6
        m[b + P.RING] = ring
        m[b + F_NEXT] = flow[P.START]
        m[b + F_COUNTS + FlowOut.COMPLETED] = NEVER
        m[b + F_COUNTS + FlowOut.FINISHED] = NEVER
        free = b + F_TCP
        if flow[Flow.KIND] == UDP:
            begin_source(p, m, b, losses, i)
        else:
            columns = m[b:]
            free += association.prepare(
                columns, m[free:], f[i * sender.FLOATS :], flow[P.LIMIT], flow[P.CLOCK_PHASE]
            )
        for fifo in range(3):
            lay_fifo(m, b + F_FIFOS + fifo * FIFO_WORDS, free, ring)
            free += 2 * ring
        lower(m, np.int64(HOST), np.int64(i), m[b + F_NEXT])
        return free

    begin_flow = dev(begin_flow)

    @cold
    def begin_link(p: Any, link: Any, losses: Any, m: Any, i: Any, b: Any, free: Any) -> Any:
        for word in range(Link.COLUMNS):
            m[b + word] = link[word]
        for word in range(Link.COLUMNS, LINK_BLOCK):
            m[b + word] = 0
        room = link[Link.ROOM] * (p[P.RING] >> 6)
        lay_fifo(m, b + L_FIFO, free, room)
        free += 2 * room
        m[b + L_DEPARTURES] = free
        m[b + L_MASK] = room - 1
        m[b + L_NUMBER] = i
        m[b + L_COUNT] = -1
        m[b + L_GAP] = gap(
            losses, link[Link.LOSS], p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_LINK + i, 0
        )
        return free + room

    begin_link = dev(begin_link)

    @cold
    def prepare(p: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any) -> None:
        for word in range(FIXED_WORDS):
            m[word] = NO_EVENT
        m[FULL] = 0
        m[LINKS] = FIXED_WORDS
        m[SHIFT] = 0
        while (1 << m[SHIFT]) < max(p[Shared.FLOWS], p[Shared.LINKS]):
            m[SHIFT] += 1
        free = np.int64(FIXED_WORDS) + LINK_BLOCK * p[Shared.LINKS]
        for i in range(p[Shared.LINKS]):
            free = begin_link(p, links[i], losses, m, i, FIXED_WORDS + LINK_BLOCK * i, free)
            f[flows.shape[0] * sender.FLOATS + i] = 0.0
        for i in range(p[Shared.FLOWS]):
            free = begin_flow(p, flows[i], losses, m, f, i, free)
        m[TICK] = p[Shared.WARM_UP] << TIME_SHIFT

    prepare = dev(prepare)

    @cold
    def look(p: Any, m: Any, f: Any, t: Any) -> None:
        # The clock: take samples, and at the end of the warm-up note the counters.
        for i in range(p[Shared.FLOWS]):
            b = m[FLOWS + i]
            if m[b + Flow.KIND] == UDP:
                continue
            s = m[b + F_TCP :]
            counts = b + F_COUNTS
            if t == p[Shared.WARM_UP]:
                m[counts + FlowOut.ACKED_BEFORE] = max(s[sender.ACKED] - first_of(m[b:]) + 1, 0)
            cwnd = min(f[i * sender.FLOATS], float(m[b + P.WINDOW]))
            m[counts + FlowOut.CWND_SUM] += np.int64(cwnd * 1024.0)
            m[counts + FlowOut.SAMPLES] += 1
            if s[sender.RTT] > 0:
                add(m, counts + FlowOut.RTT_SUM, counts + FlowOut.RTT_SUM_HIGH, s[sender.RTT])
                m[counts + FlowOut.RTT_SAMPLES] += 1
        if t == p[Shared.WARM_UP]:
            for i in range(p[Shared.LINKS]):
                counts = m[LINKS] + LINK_BLOCK * i + L_COUNTS
                m[counts + LinkOut.ARRIVALS_BEFORE] = m[counts + LinkOut.ARRIVALS]
                m[counts + LinkOut.DROPS_BEFORE] = m[counts + LinkOut.DROPS]
        m[TICK] = (t + p[P.SAMPLE]) << TIME_SHIFT

    look = dev(look)

    def next_at_hosts(m: Any, b: Any) -> Any:
        event = m[b + F_NEXT]
        if m[b + Flow.KIND] != UDP:
            event = min(event, min(m[b + F_TCP + sender.DEADLINE], m[b + F_TCP + sender.PENDING]))
            head = m[b + _TO_SOURCE + HEAD]
            if head < m[b + _TO_SOURCE + TAIL]:
                event = min(event, m[m[b + _TO_SOURCE + ROOM] + 2 * (head & m[b + _TO_SOURCE + MASK])])
        return event

    next_at_hosts = dev(next_at_hosts)

    def put_data(m: Any, b: Any, i: Any, t: Any, word: Any, size: Any) -> None:
        busy = max(t, m[b + F_SOURCE_BUSY]) + time(size, m[b + Flow.ACCESS])
        m[b + F_SOURCE_BUSY] = busy
        word |= size << SIZE_SHIFT | i
        push(m, b + _TO_LINK, np.int64(DATA), i, busy + m[b + Flow.SOURCE_DELAY], word)

    put_data = dev(put_data)

    def put_ack(m: Any, b: Any, i: Any, t: Any, serial: Any) -> None:
        m[b + F_COUNTS + FlowOut.ACKS_SENT] += 1
        size = association.size_of_ack(m[b:], m[b + F_TCP :], serial)
        busy = max(t, m[b + F_BACK_BUSY]) + time(size, m[b + Flow.SINK_BACK])
        m[b + F_BACK_BUSY] = busy
        word = serial << NUMBER_SHIFT | size << SIZE_SHIFT | BACKWARD | i
        if m[b + F_ECHO] != 0:
            word |= MARKED
        push(m, b + _BACK_TO_LINK, np.int64(ACK), i, busy + m[b + Flow.SINK_DELAY], word)

    put_ack = dev(put_ack)

    @cold
    def delayed(m: Any, b: Any, i: Any) -> None:
        # A delayed acknowledgement goes out.
        s = m[b + F_TCP :]
        t = s[sender.PENDING]
        serial = association.on_delay(m[b:], s)
        if serial == sender.FULL:
            m[FULL] = 1
        else:
            put_ack(m, b, i, t, serial)

    delayed = dev(delayed)

    @cold
    def receive_datagram(m: Any, b: Any, t: Any) -> None:
        counts = b + F_COUNTS
        m[counts + FlowOut.RECEIVED] += 1
        m[counts + FlowOut.DELIVERED] += 1
        if m[counts + FlowOut.DELIVERED] == m[b + P.LIMIT]:
            m[counts + FlowOut.COMPLETED] = t

    receive_datagram = dev(receive_datagram)

    def useful(p: Any, m: Any, b: Any, link: Any, size: Any, at: Any, busy: Any) -> Any:
        # The part of a packet's payload whose transmission, by the slower of its last link and the cable to
        # the sink, lies in the window: neither passes on more than it can.
        takes, until = time(size, m[link + Link.BYTE_TIME]), at - m[link + Link.DELAY]
        if time(size, m[b + Flow.SINK]) > takes:
            takes, until = time(size, m[b + Flow.SINK]), busy
        inside = min(until, p[P.END]) - max(until - takes, p[Shared.WARM_UP])
        if inside == takes:
            return m[b + P.DATA]
        return m[b + P.DATA] * max(inside, np.int64(0)) // max(takes, np.int64(1))

    useful = dev(useful)

    def receive(p: Any, m: Any, b: Any, i: Any, link: Any, at: Any, word: Any, size: Any) -> None:
        # Data has passed `link`, its last shared one, and is at the last router at `at`.
        busy = max(at, m[b + F_SINK_BUSY]) + time(size, m[b + Flow.SINK])
        m[b + F_SINK_BUSY] = busy
        t = busy + m[b + Flow.SINK_DELAY]
        packet = word >> NUMBER_SHIFT
        first = first_of(m[b:])
        counts = b + F_COUNTS
        late = t > p[P.END]  # still under way at the end: all that matters is whether it is new
        if m[b + Flow.KIND] == UDP:
            m[counts + FlowOut.USEFUL] += useful(p, m, b, link, size, at, busy)
            if late:
                m[b + F_LATE] += 1
            else:
                receive_datagram(m, b, t)
            return
        s = m[b + F_TCP :]
        if s[sender.PENDING] <= min(t, p[P.END]):
            delayed(m, b, i)
        if word & REDUCED:
            m[b + F_ECHO] = 0
        if word & MARKED:
            m[b + F_ECHO] = 1
        was = s[sender.EXPECTED]
        serial, fresh = association.on_data(m[b:], s, t, packet, False)
        if packet >= first and fresh:
            m[counts + FlowOut.USEFUL] += useful(p, m, b, link, size, at, busy)
        if late:
            if packet >= first:
                m[b + F_LATE] += 1
            return
        if packet >= first:
            m[counts + FlowOut.RECEIVED] += 1
            m[counts + FlowOut.IN_ORDER] += s[sender.EXPECTED] - max(was, first)
            if fresh:
                m[counts + FlowOut.DELIVERED] += 1
            if m[counts + FlowOut.COMPLETED] == NEVER and association.complete(s):
                m[counts + FlowOut.COMPLETED] = t
        if serial >= 0:
            put_ack(m, b, i, t, serial)
        elif serial == sender.FULL:
            m[FULL] = 1
        if m[b + P.ACK_EVERY] > 1:
            lower(m, np.int64(HOST), i, s[sender.PENDING])

    receive = dev(receive)

    @cold
    def put_datagram(p: Any, m: Any, b: Any, losses: Any, i: Any, t: Any) -> None:
        m[b + F_COUNTS + FlowOut.SENT] += 1
        number = next_datagram(p, m, b, losses, i, t)
        put_data(m, b, i, t, number << NUMBER_SHIFT, m[b + P.DATA] + m[b + P.HEADER])

    put_datagram = dev(put_datagram)

    def at_hosts(p: Any, constants: Any, losses: Any, m: Any, b: Any, f: Any, i: Any, t: Any) -> None:
        if m[b + Flow.KIND] == UDP:
            put_datagram(p, m, b, losses, i, t)
            return
        flow = m[b:]
        s = m[b + F_TCP :]
        g = f[i * sender.FLOATS :]
        head = m[b + _TO_SOURCE + HEAD]
        entry = m[b + _TO_SOURCE + ROOM] + 2 * (head & m[b + _TO_SOURCE + MASK])
        if m[b + F_NEXT] == t:
            m[b + F_NEXT] = FOREVER
            association.start(flow, s, g)
        elif head < m[b + _TO_SOURCE + TAIL] and m[entry] == t:
            word, _ = pop(m, b + _TO_SOURCE)
            serial = word >> NUMBER_SHIFT
            if word & MARKED:
                association.on_echo(flow, s, g, constants, t, serial)
            association.on_ack(flow, s, g, constants, t, serial)
            if m[b + F_COUNTS + FlowOut.FINISHED] == NEVER and association.finished(s):
                m[b + F_COUNTS + FlowOut.FINISHED] = t
        elif s[sender.DEADLINE] == t:
            association.on_timeout(flow, s, g, constants, t)
        elif s[sender.PENDING] == t:  # else it was cancelled
            delayed(m, b, i)
        while True:
            packet = association.take(flow, s, g, t, False)
            if packet < 0:
                break
            word = packet << NUMBER_SHIFT
            if s[sender.REDUCED] != 0 and packet > s[sender.REDUCED_AT]:
                word |= REDUCED
                s[sender.REDUCED] = 0
            size = m[b + P.DATA] + m[b + P.HEADER]
            if packet < first_of(flow):
                size = m[b + P.HANDSHAKE]
            put_data(m, b, i, t, word, size)

    at_hosts = dev(at_hosts)

    @cold
    def lose(m: Any, b: Any, word: Any, fate: Any) -> None:
        counts = b + F_COUNTS
        if word & BACKWARD:
            m[counts + FlowOut.ACK_DROPS] += 1
        elif m[b + Flow.KIND] == UDP or word >> NUMBER_SHIFT >= first_of(m[b:]):
            m[counts + (FlowOut.DROPS_QUEUE if fate & DROPPED else FlowOut.DROPS_RANDOM)] += 1

    lose = dev(lose)

    def move(p: Any, losses: Any, m: Any, f: Any, b: Any, i: Any, word: Any, t: Any) -> None:
        # A packet of flow `i` comes to the next link of its way.
        hop = word >> HOP_SHIFT & HOP_MASK
        size = word >> SIZE_SHIFT & SIZE_MASK
        back = word & BACKWARD != 0
        if back:
            link, hops = m[b + Flow.BACK + hop], m[b + Flow.BACK_HOPS]
        else:
            link, hops = m[b + Flow.ROUTE + hop], m[b + Flow.HOPS]
        fate, far = enter(p, losses, m, f, link, t, size, not back and m[b + Flow.ECN] != 0)
        if fate & MARK:
            word |= MARKED
            m[b + F_COUNTS + FlowOut.MARKED] += 1
        if fate & (DROPPED | LOST):
            lose(m, b, word, fate)
        elif hop + 1 < hops:
            push(m, link + L_FIFO, np.int64(FAR), m[link + L_NUMBER], far, word + (1 << HOP_SHIFT))
        elif back:
            busy = max(far, m[b + F_ACK_BUSY]) + time(size, m[b + Flow.ACCESS_BACK])
            m[b + F_ACK_BUSY] = busy
            push(m, b + _TO_SOURCE, np.int64(HOST), i, busy + m[b + Flow.SOURCE_DELAY], word)
        else:
            receive(p, m, b, i, link, far, word, size)

    move = dev(move)

    @cold
    def count_in_flight(m: Any, fifo: Any) -> None:
        for entry in range(m[fifo + HEAD], m[fifo + TAIL]):
            word = m[m[fifo + ROOM] + 2 * (entry & m[fifo + MASK]) + 1]
            b = m[FLOWS + (word & FLOW_MASK)]
            data = m[b + Flow.KIND] == UDP or word >> NUMBER_SHIFT >= first_of(m[b:])
            if word & BACKWARD == 0 and data:
                m[b + F_COUNTS + FlowOut.IN_FLIGHT] += 1

    count_in_flight = dev(count_in_flight)

    @cold
    def conclude(p: Any, most_flows: Any, m: Any, out: Any) -> None:
        # What is known at the end only, and the outcomes to where they belong.
        for i in range(len(out)):
            out[i] = 0
        for i in range(p[Shared.LINKS]):
            link = m[LINKS] + LINK_BLOCK * i
            count_in_flight(m, link + L_FIFO)
            at = SharedOut.COLUMNS + FlowOut.COLUMNS * most_flows + LinkOut.COLUMNS * i
            for column in range(LinkOut.COLUMNS):
                out[at + column] = m[link + L_COUNTS + column]
        for i in range(p[Shared.FLOWS]):
            count_in_flight(m, m[FLOWS + i] + _TO_LINK)
        for i in range(p[Shared.FLOWS]):
            b = m[FLOWS + i]
            counts = m[b + F_COUNTS :]
            counts[FlowOut.IN_FLIGHT] += m[b + F_LATE]
            if m[b + Flow.KIND] != UDP:
                s = m[b + F_TCP :]
                counts[FlowOut.SENT] = s[sender.SENT]
                counts[FlowOut.RETRANSMITTED] = s[sender.REPEATED]
                counts[FlowOut.ACKED] = max(s[sender.ACKED] - first_of(m[b:]) + 1, 0)
                counts[FlowOut.TIMEOUTS] = s[sender.TIMEOUTS]
                counts[FlowOut.FAST_RETRANSMITS] = s[sender.FAST_RETRANSMITS]
                counts[FlowOut.CWND_CUTS] = s[sender.CUTS]
                counts[FlowOut.HANDSHAKES] = s[sender.HANDSHAKES]
            for column in range(FlowOut.COLUMNS):
                out[SharedOut.COLUMNS + FlowOut.COLUMNS * i + column] = counts[column]

    conclude = dev(conclude)

    def simulate(
        p: Any, constants: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any, out: Any, trace: Any
    ) -> Any:
        prepare(p, flows, links, losses, m, f)
        means = f[flows.shape[0] * sender.FLOATS :]  # of RED
        end = p[P.END]
        events = np.int64(0)
        while m[FULL] == 0:
            earliest = min(m[TICK], m[EARLIEST])
            t = earliest >> TIME_SHIFT
            if t > end:
                break
            events += 1
            kind = earliest >> CLASS_SHIFT & 7
            i = (earliest ^ (t >> TIE_SHIFT)) & FLOW_MASK
            if kind == HOST:
                b = m[FLOWS + i]
                at_hosts(p, constants, losses, m, b, f, i, t)
                following = next_at_hosts(m, b)
            elif kind == CLOCK:
                look(p, m, f, t)
                continue
            else:
                flow = i
                if kind == FAR:
                    word, following = pop(m, m[LINKS] + LINK_BLOCK * i + L_FIFO)
                    flow = word & FLOW_MASK
                    b = m[FLOWS + flow]
                else:
                    b = m[FLOWS + i]
                    word, following = pop(m, b + (_TO_LINK if kind == DATA else _BACK_TO_LINK))
                move(p, losses, m, means, b, flow, word, t)
            replace(m, kind, i, following)
        conclude(p, flows.shape[0], m, out)
        out[SharedOut.STATUS] = STATUS_RING_FULL if m[FULL] else STATUS_OK
        out[SharedOut.EVENTS] = events
        return np.int64(0)

    return dev(simulate)
