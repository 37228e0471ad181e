"""Many flows over shared links, packet by packet.

One thread simulates up to 64 TCP and UDP flows on up to 64 links of any topology.  FIFOs keep packets in the
order in which they will arrive, so the earliest event is the smallest of a few keys: three a flow and one a
link, found by a scan of the class whose key has changed.  Hosts have links of their own, where the order is
known: what happens behind the last shared link of a way is computed at once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels import sender
from netcarlo.kernels.hints import cold
from netcarlo.kernels.layout import (
    ENDLESS,
    FOREVER,
    NEVER,
    STATUS_OK,
    STATUS_RING_FULL,
    P,
)
from netcarlo.kernels.loss import make_gap
from netcarlo.kernels.philox import make_draw
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
    F_ACK_BUSY,
    F_BACK_BUSY,
    F_ECHO,
    F_LATE,
    F_NEXT,
    F_SINK_BUSY,
    F_SOURCE_BUSY,
    F_STATE,
    FAR,
    FIFO_WORDS,
    FIFOS,
    FLOW_MASK,
    FLOW_WORDS,
    FLOWS,
    FULL,
    HEAD,
    HOP_MASK,
    HOP_SHIFT,
    HOST,
    KEYS,
    L_COUNT,
    L_DEPARTURES,
    L_GAP,
    L_MASK,
    LINK_WORDS,
    LINKS,
    MARKED,
    MASK,
    MINIMA,
    NO_EVENT,
    NUMBER_SHIFT,
    PER_CLASS,
    REDUCED,
    ROOM,
    SIZE_MASK,
    SIZE_SHIFT,
    TAIL,
    TIME_SHIFT,
    WAITING,
    make_keys,
    padded,
    words,
)

scratch_words = words


def outcomes(rows: SharedRows) -> int:
    """Columns of the outcomes of `rows`."""
    flows, links = rows.flows.shape[1], rows.links.shape[1]
    return int(SharedOut.COLUMNS + flows * FlowOut.COLUMNS + links * LinkOut.COLUMNS)


def make(dev: Callable[[Any], Any], make_kinds: Any) -> Any:
    """Compile the simulation of one row, `make_kinds(dev)` being the TCPs; see `models` for its arguments."""
    association = sender.make_association(dev, None, None, kinds=make_kinds(dev))
    first_of = association.first_of
    draw = make_draw(dev)
    gap = make_gap(dev, draw)
    time = make_time(dev)
    lower, replace, push, pop = make_keys(dev)
    enter = make_link(dev, draw, gap)
    begin_source, next_datagram = make_sources(dev, draw, gap)
    padded_to = dev(padded)

    @cold
    def prepare(p: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any, out: Any) -> None:
        # Lay out the scratch and start everything.
        for i in range(len(out)):
            out[i] = 0
        n, k = p[Shared.FLOWS], p[Shared.LINKS]
        most_flows, most_links = flows.shape[0], links.shape[0]
        keys = KEYS + 4 * padded_to(max(most_flows, most_links))
        fifos = FIFO_WORDS * (3 * most_flows + most_links)
        free = keys + fifos + FLOW_WORDS * most_flows + LINK_WORDS * most_links
        for i in range(free):
            m[i] = 0
        m[WAITING] = KEYS
        m[PER_CLASS] = padded_to(max(n, k))
        for i in range(keys):
            if i < FULL or i >= MINIMA:
                m[i] = NO_EVENT
        m[FIFOS] = keys
        m[FLOWS] = keys + fifos
        m[LINKS] = m[FLOWS] + FLOW_WORDS * most_flows
        scale = p[P.RING] >> 6
        for i in range(n):
            flow = flows[i]
            ring = np.int64(64)
            while ring < 2 * flow[P.WINDOW] + 64:
                ring <<= 1
            ring *= scale
            flow[P.RING] = ring
            for way in range(3):
                fifo = m[FIFOS] + FIFO_WORDS * (way * n + i)
                m[fifo + ROOM] = free
                m[fifo + MASK] = ring - 1
                free += 2 * ring
            state = m[FLOWS] + FLOW_WORDS * i
            m[state + F_NEXT] = flow[P.START]
            counts = SharedOut.COLUMNS + FlowOut.COLUMNS * i
            out[counts + FlowOut.COMPLETED] = NEVER
            out[counts + FlowOut.FINISHED] = NEVER
            if flow[Flow.KIND] == UDP:
                begin_source(p, flow, losses, m, state, i)
            else:
                m[state + F_STATE] = free
                g = f[i * sender.FLOATS :]
                free += association.prepare(flow, m[free:], g, flow[P.LIMIT], flow[P.CLOCK_PHASE])
            lower(m, np.int64(HOST), np.int64(i), m[state + F_NEXT])
        for i in range(k):
            link = links[i]
            room = link[Link.ROOM] * scale
            fifo = m[FIFOS] + FIFO_WORDS * (3 * n + i)
            m[fifo + ROOM] = free
            m[fifo + MASK] = room - 1
            free += 2 * room
            memory = m[LINKS] + LINK_WORDS * i
            m[memory + L_DEPARTURES] = free
            m[memory + L_MASK] = room - 1
            free += room
            m[memory + L_COUNT] = -1
            m[memory + L_GAP] = gap(
                losses, link[Link.LOSS], p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_LINK + i, 0
            )
            f[most_flows * sender.FLOATS + i] = 0.0
        m[CLOCK] = p[Shared.WARM_UP] << TIME_SHIFT

    prepare = dev(prepare)

    @cold
    def look(p: Any, flows: Any, m: Any, f: Any, out: Any, t: Any) -> None:
        # The clock: take samples, and at the end of the warm-up note the counters.
        for i in range(p[Shared.FLOWS]):
            if flows[i, Flow.KIND] == UDP:
                continue
            flow = flows[i]
            s = m[m[m[FLOWS] + FLOW_WORDS * i + F_STATE] :]
            counts = SharedOut.COLUMNS + FlowOut.COLUMNS * i
            if t == p[Shared.WARM_UP]:
                out[counts + FlowOut.ACKED_BEFORE] = max(s[sender.ACKED] - first_of(flow) + 1, 0)
            cwnd = min(f[i * sender.FLOATS], float(flow[P.WINDOW]))
            out[counts + FlowOut.CWND_SUM] += np.int64(cwnd * 1024.0)
            out[counts + FlowOut.SAMPLES] += 1
            if s[sender.RTT] > 0:
                out[counts + FlowOut.RTT_SUM] += s[sender.RTT]
                out[counts + FlowOut.RTT_SAMPLES] += 1
        if t == p[Shared.WARM_UP]:
            for i in range(p[Shared.LINKS]):
                counts = SharedOut.COLUMNS + FlowOut.COLUMNS * flows.shape[0] + LinkOut.COLUMNS * i
                out[counts + LinkOut.ARRIVALS_BEFORE] = out[counts + LinkOut.ARRIVALS]
                out[counts + LinkOut.DROPS_BEFORE] = out[counts + LinkOut.DROPS]
        m[CLOCK] = (t + p[P.SAMPLE]) << TIME_SHIFT

    look = dev(look)

    def next_at_hosts(p: Any, flow: Any, m: Any, state: Any, i: Any) -> Any:
        event = m[state + F_NEXT]
        if flow[Flow.KIND] != UDP:
            s = m[m[state + F_STATE] :]
            event = min(event, min(s[sender.DEADLINE], s[sender.PENDING]))
            fifo = m[FIFOS] + FIFO_WORDS * (2 * p[Shared.FLOWS] + i)
            head = m[fifo + HEAD]
            if head < m[fifo + TAIL]:
                event = min(event, m[m[fifo + ROOM] + 2 * (head & m[fifo + MASK])])
        return event

    next_at_hosts = dev(next_at_hosts)

    def put_data(flow: Any, m: Any, state: Any, i: Any, t: Any, word: Any, size: Any) -> None:
        busy = max(t, m[state + F_SOURCE_BUSY]) + time(size, flow[Flow.ACCESS])
        m[state + F_SOURCE_BUSY] = busy
        word |= size << SIZE_SHIFT
        push(m, m[FIFOS] + FIFO_WORDS * i, np.int64(DATA), i, busy + flow[Flow.SOURCE_DELAY], word)

    put_data = dev(put_data)

    def size_of_data(flow: Any, packet: Any) -> Any:
        if packet < first_of(flow) and flow[Flow.KIND] != UDP:
            return flow[P.HANDSHAKE]
        return flow[P.DATA] + flow[P.HEADER]

    size_of_data = dev(size_of_data)

    def put_ack(p: Any, flow: Any, m: Any, out: Any, state: Any, i: Any, t: Any, serial: Any) -> None:
        out[SharedOut.COLUMNS + FlowOut.COLUMNS * i + FlowOut.ACKS_SENT] += 1
        size = association.size_of_ack(flow, m[m[state + F_STATE] :], serial)
        busy = max(t, m[state + F_BACK_BUSY]) + time(size, flow[Flow.SINK_BACK])
        m[state + F_BACK_BUSY] = busy
        word = serial << NUMBER_SHIFT | size << SIZE_SHIFT | BACKWARD | i
        if m[state + F_ECHO] != 0:
            word |= MARKED
        fifo = m[FIFOS] + FIFO_WORDS * (p[Shared.FLOWS] + i)
        push(m, fifo, np.int64(ACK), i, busy + flow[Flow.SINK_DELAY], word)

    put_ack = dev(put_ack)

    @cold
    def delayed(p: Any, flow: Any, m: Any, out: Any, state: Any, i: Any) -> None:
        # A delayed acknowledgement goes out.
        s = m[m[state + F_STATE] :]
        t = s[sender.PENDING]
        serial = association.on_delay(flow, s)
        if serial == sender.FULL:
            m[FULL] = 1
        else:
            put_ack(p, flow, m, out, state, i, t, serial)

    delayed = dev(delayed)

    def receive(
        p: Any, flow: Any, m: Any, out: Any, state: Any, i: Any, at: Any, word: Any, size: Any
    ) -> None:
        # Data has passed its last shared link and is at the last router at `at`.
        busy = max(at, m[state + F_SINK_BUSY]) + time(size, flow[Flow.SINK])
        m[state + F_SINK_BUSY] = busy
        t = busy + flow[Flow.SINK_DELAY]
        packet = word >> NUMBER_SHIFT
        udp = flow[Flow.KIND] == UDP
        if t > p[P.END]:
            if udp or packet >= first_of(flow):
                m[state + F_LATE] += 1
            return
        counts = SharedOut.COLUMNS + FlowOut.COLUMNS * i
        before = np.int64(1) if t < p[Shared.WARM_UP] else np.int64(0)
        if udp:
            out[counts + FlowOut.RECEIVED] += 1
            out[counts + FlowOut.RECEIVED_BEFORE] += before
            out[counts + FlowOut.DELIVERED] += 1
            if out[counts + FlowOut.DELIVERED] == flow[P.LIMIT]:
                out[counts + FlowOut.COMPLETED] = t
            return
        s = m[m[state + F_STATE] :]
        if s[sender.PENDING] <= t:
            delayed(p, flow, m, out, state, i)
        if word & REDUCED:
            m[state + F_ECHO] = 0
        if word & MARKED:
            m[state + F_ECHO] = 1
        was = s[sender.EXPECTED]
        serial, fresh = association.on_data(flow, s, t, packet)
        first = first_of(flow)
        if packet >= first:
            out[counts + FlowOut.RECEIVED] += 1
            out[counts + FlowOut.RECEIVED_BEFORE] += before
            out[counts + FlowOut.IN_ORDER] += s[sender.EXPECTED] - max(was, first)
            if fresh:
                out[counts + FlowOut.DELIVERED] += 1
            if out[counts + FlowOut.COMPLETED] == NEVER and association.complete(s):
                out[counts + FlowOut.COMPLETED] = t
        if serial >= 0:
            put_ack(p, flow, m, out, state, i, t, serial)
        elif serial == sender.FULL:
            m[FULL] = 1
        lower(m, np.int64(HOST), i, s[sender.PENDING])

    receive = dev(receive)

    def at_hosts(
        p: Any, flow: Any, constants: Any, losses: Any, m: Any, f: Any, out: Any, i: Any, t: Any
    ) -> None:
        state = m[FLOWS] + FLOW_WORDS * i
        counts = SharedOut.COLUMNS + FlowOut.COLUMNS * i
        if flow[Flow.KIND] == UDP:
            out[counts + FlowOut.SENT] += 1
            number = next_datagram(p, flow, losses, m, state, i, t)
            put_data(flow, m, state, i, t, number << NUMBER_SHIFT | i, flow[P.DATA] + flow[P.HEADER])
            return
        s = m[m[state + F_STATE] :]
        g = f[i * sender.FLOATS :]
        fifo = m[FIFOS] + FIFO_WORDS * (2 * p[Shared.FLOWS] + i)
        head = m[fifo + HEAD]
        entry = m[fifo + ROOM] + 2 * (head & m[fifo + MASK])
        if m[state + F_NEXT] == t:
            m[state + F_NEXT] = FOREVER
            association.start(flow, s, g)
        elif head < m[fifo + TAIL] and m[entry] == t:
            m[fifo + HEAD] = head + 1
            word = m[entry + 1]
            serial = word >> NUMBER_SHIFT
            if word & MARKED:
                association.on_echo(flow, s, g, constants, t, serial)
            association.on_ack(flow, s, g, constants, t, serial)
            if (
                flow[P.LIMIT] < ENDLESS
                and out[counts + FlowOut.FINISHED] == NEVER
                and association.finished(s)
            ):
                out[counts + FlowOut.FINISHED] = t
        elif s[sender.DEADLINE] == t:
            association.on_timeout(flow, s, g, constants, t)
        elif s[sender.PENDING] == t:  # else it was cancelled
            delayed(p, flow, m, out, state, i)
        while True:
            packet = association.take(flow, s, g, t, False)
            if packet < 0:
                break
            word = packet << NUMBER_SHIFT | i
            if s[sender.REDUCED] != 0 and packet == s[sender.TOP]:
                word |= REDUCED
                s[sender.REDUCED] = 0
            put_data(flow, m, state, i, t, word, size_of_data(flow, packet))

    at_hosts = dev(at_hosts)

    def move(
        p: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any, out: Any, word: Any, t: Any
    ) -> None:
        # A packet comes to the next link of its way.
        n = p[Shared.FLOWS]
        i = word & FLOW_MASK
        flow = flows[i]
        state = m[FLOWS] + FLOW_WORDS * i
        hop = word >> HOP_SHIFT & HOP_MASK
        back = word & BACKWARD != 0
        size = word >> SIZE_SHIFT & SIZE_MASK
        if back:
            number_of_link, hops = flow[Flow.BACK + hop], flow[Flow.BACK_HOPS]
        else:
            number_of_link, hops = flow[Flow.ROUTE + hop], flow[Flow.HOPS]
        at = m[LINKS] + LINK_WORDS * number_of_link
        mine = out[SharedOut.COLUMNS + FlowOut.COLUMNS * flows.shape[0] + LinkOut.COLUMNS * number_of_link :]
        fate, far = enter(
            p, links[number_of_link], losses, m, f[flows.shape[0] * sender.FLOATS :], mine,
            at, number_of_link, t, size, not back and flow[Flow.ECN] != 0,
        )  # fmt: skip
        if fate != 0:
            counts = SharedOut.COLUMNS + FlowOut.COLUMNS * i
            if fate & MARK:
                word |= MARKED
                out[counts + FlowOut.MARKED] += 1
            if fate & (DROPPED | LOST):
                if back:
                    out[counts + FlowOut.ACK_DROPS] += 1
                elif flow[Flow.KIND] == UDP or word >> NUMBER_SHIFT >= first_of(flow):
                    out[counts + (FlowOut.DROPS_QUEUE if fate & DROPPED else FlowOut.DROPS_RANDOM)] += 1
                return
        if hop + 1 < hops:
            fifo = m[FIFOS] + FIFO_WORDS * (3 * n + number_of_link)
            push(m, fifo, np.int64(FAR), number_of_link, far, word + (1 << HOP_SHIFT))
        elif back:
            busy = max(far, m[state + F_ACK_BUSY]) + time(size, flow[Flow.ACCESS_BACK])
            m[state + F_ACK_BUSY] = busy
            fifo = m[FIFOS] + FIFO_WORDS * (2 * n + i)
            t = busy + flow[Flow.SOURCE_DELAY]
            tail, mask = m[fifo + TAIL], m[fifo + MASK]
            if tail - m[fifo + HEAD] > mask:
                m[FULL] = 1
                return
            entry = m[fifo + ROOM] + 2 * (tail & mask)
            m[entry] = t
            m[entry + 1] = word
            m[fifo + TAIL] = tail + 1
            lower(m, np.int64(HOST), i, t)
        else:
            receive(p, flow, m, out, state, i, far, word, size)

    move = dev(move)

    @cold
    def conclude(p: Any, flows: Any, m: Any, out: Any) -> None:
        # What is known at the end only.
        n = p[Shared.FLOWS]
        for i in range(n):
            flow = flows[i]
            state = m[FLOWS] + FLOW_WORDS * i
            counts = SharedOut.COLUMNS + FlowOut.COLUMNS * i
            out[counts + FlowOut.IN_FLIGHT] += m[state + F_LATE]
            if flow[Flow.KIND] == UDP:
                continue
            s = m[m[state + F_STATE] :]
            out[counts + FlowOut.SENT] = s[sender.SENT]
            out[counts + FlowOut.RETRANSMITTED] = s[sender.REPEATED]
            out[counts + FlowOut.ACKED] = max(s[sender.ACKED] - first_of(flow) + 1, 0)
            out[counts + FlowOut.TIMEOUTS] = s[sender.TIMEOUTS]
            out[counts + FlowOut.FAST_RETRANSMITS] = s[sender.FAST_RETRANSMITS]
            out[counts + FlowOut.CWND_CUTS] = s[sender.CUTS]
            out[counts + FlowOut.HANDSHAKES] = s[sender.HANDSHAKES]
        for q in range(3 * n + p[Shared.LINKS]):
            if n <= q < 3 * n:
                continue
            fifo = m[FIFOS] + FIFO_WORDS * q
            for entry in range(m[fifo + HEAD], m[fifo + TAIL]):
                word = m[m[fifo + ROOM] + 2 * (entry & m[fifo + MASK]) + 1]
                i = word & FLOW_MASK
                udp = flows[i, Flow.KIND] == UDP
                if word & BACKWARD == 0 and (udp or word >> NUMBER_SHIFT >= first_of(flows[i])):
                    out[SharedOut.COLUMNS + FlowOut.COLUMNS * i + FlowOut.IN_FLIGHT] += 1

    conclude = dev(conclude)

    def simulate(
        p: Any, constants: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any, out: Any, trace: Any
    ) -> Any:
        prepare(p, flows, links, losses, m, f, out)
        end, n = p[P.END], p[Shared.FLOWS]
        events = np.int64(0)
        while m[FULL] == 0:
            earliest = min(min(m[CLOCK], m[DATA]), min(m[ACK], min(m[HOST], m[FAR])))
            t = earliest >> TIME_SHIFT
            if t > end:
                break
            events += 1
            kind = earliest >> CLASS_SHIFT & 7
            i = earliest & FLOW_MASK
            if kind == HOST:
                at_hosts(p, flows[i], constants, losses, m, f, out, i, t)
                following = next_at_hosts(p, flows[i], m, m[FLOWS] + FLOW_WORDS * i, i)
            elif kind == CLOCK:
                look(p, flows, m, f, out, t)
                continue
            else:
                fifo = m[FIFOS] + FIFO_WORDS * (i if kind == DATA else (n if kind == ACK else 3 * n) + i)
                word, following = pop(m, fifo)
                move(p, flows, links, losses, m, f, out, word, t)
            replace(m, kind, i, following)
        conclude(p, flows, m, out)
        out[SharedOut.STATUS] = STATUS_RING_FULL if m[FULL] else STATUS_OK
        out[SharedOut.EVENTS] = events
        return np.int64(0)

    return dev(simulate)
