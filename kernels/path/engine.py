"""A one-way TCP transfer over a path, packet by packet.

Semantics are those of ns-2's one-way agents: the sender is driven by ACKs and one coarse timer, the
window counts packets, the receiver acknowledges every packet (or delays, RFC 1122).  Because the
path is FIFO, what becomes of a packet, and which ACK it causes, is known when it is sent: ACKs wait
in a ring in order of arrival, and the next event is the smaller of its head and the timer.

To a mobile host packets can overtake each other on the way from the MAP on: there they wait in a queue
in order of time (see `mobility.access`), and are received before the sender's next event.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import (
    ENDLESS,
    EVENT_ACK,
    EVENT_LOST,
    EVENT_RECEIVE,
    EVENT_SEND,
    EVENT_TIMEOUT,
    FOREVER,
    NEVER,
    STATUS_RING_FULL,
    STATUS_TRACE_FULL,
    Out,
    P,
    Rows,
    Trace,
)
from netcarlo.kernels.base.sums import make_add
from netcarlo.kernels.path import hops as link
from netcarlo.kernels.path.hops import BACK, FORTH, MAIN
from netcarlo.kernels.path.mobility import access
from netcarlo.kernels.tcp.receiver import BLOCKS, STACK_WORDS, make_receiver
from netcarlo.kernels.tcp.recovery import (
    BACK_OFF,
    CUT,
    END_BACKOFF,
    GO_BACK,
    INFLATION,
    LIMITED,
    NO_GROWTH,
    NONE,
    NORMAL,
    PARTIAL,
    PHASE,
    RECOVERY,
    SEND,
    SEND_TWO,
    STATE_WORDS,
    TIMER,
)
from netcarlo.kernels.tcp.rto import make_rto

MEMORY_WORDS = 16
"""Float words that a congestion control may keep (`memory`)."""

_ENTRY = 2  # an ACK in the ring: arrival, packet
_SACK_ENTRY = 8  # with up to three SACK blocks
_STAMPED_ENTRY = 9  # and a timestamp

# Words of scratch behind those of the variant: what the sender seldom needs, and counters.
_RTT, _SRTT, _RTTVAR, _CURRENT, _BACKOFF, _TIMED_AT = range(STATE_WORDS, STATE_WORDS + 6)
_SAMPLE, _SAMPLES, _RTT_SAMPLES = range(STATE_WORDS + 6, STATE_WORDS + 9)
_CWND_SUM, _CWND_SUM_HIGH, _RTT_SUM, _RTT_SUM_HIGH = range(STATE_WORDS + 9, STATE_WORDS + 13)
_REPEATED, _HELD, _DUPLICATES, _LAST_RX = range(STATE_WORDS + 13, STATE_WORDS + 17)
_BITS, _RING, _SPARE = range(STATE_WORDS + 17, STATE_WORDS + 20)  # where things begin in scratch
_STACK = STATE_WORDS + 20  # the receiver's SACK stack
_NEWEST = _STACK + STACK_WORDS  # when the newest packet received was put out
_WAKE = _NEWEST + 1  # the writer goes on when this packet is acknowledged
_ECHO = _WAKE + 1  # the timestamp that the receiver echoes: when that packet was put out
_SAID = _ECHO + 1  # the packet that the receiver acknowledged last
_MOBILE = _SAID + 1
_HOPS = _MOBILE + access.STATE_WORDS


def scratch_words(rows: Rows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    ring = int(rows.parameters[:, P.RING].max())
    window = int(rows.parameters[:, P.WINDOW].max())
    words = _HOPS + _SACK_ENTRY * (ring + 1) + 2 * (ring // 64) + 2 * window
    handovers = int(rows.parameters[:, P.HANDOVERS].max())
    words += access.scratch_words(ring, handovers) if handovers else 0
    return link.scratch_words(rows) + words, MEMORY_WORDS


def make(dev: Callable[[Any], Any], make_variant: Any, control: Any, *, mobile: bool = False) -> Any:
    """Compile the simulation of one row for a target; see `models` for its arguments.

    To a `mobile` host the last hop is a radio link, and access routers and a MAP stand before it.
    """
    variant = make_variant(dev, control)
    prepare_variant, new_ack, grow, dup_ack = variant.prepare, variant.new_ack, variant.grow, variant.dup_ack
    on_timeout, next_packet, on_send = variant.timeout, variant.next_packet, variant.on_send
    heard, sack, first = variant.heard, variant.sack, variant.first
    on_ack, own = variant.on_ack, variant.on_ack is not None
    entry_words = _STAMPED_ENTRY if own else _SACK_ENTRY if sack else _ENTRY
    way = link.make_link(dev, _HOPS)
    prepare_hops, transmit = way.prepare, way.transmit
    carry, hops_of = way.carry, way.hops_of
    roam = access.make_access(dev, way, _MOBILE)
    prepare_access, enter, due, pop, step = roam.prepare, roam.enter, roam.due, roam.pop, roam.step
    answer, overfull, under_way, first_down = roam.answer, roam.overfull, roam.under_way, roam.first_down
    arrive, blocks = make_receiver(dev)
    measure, smooth, timeout_of, back_off = make_rto(dev, clock=variant.clock)
    add = make_add(dev)

    @cold
    def write(parameters: Any, m: Any, una: Any) -> Any:
        # The application fills the socket buffer; returns the last packet that it has written then.
        final = first + parameters[P.LIMIT] - 1
        room = parameters[P.SEND_BUFFER]
        last = min(max(una, first - 1) + room, final) if room > 0 else final
        m[_WAKE] = last - parameters[P.SEND_WAKE] if last < final else FOREVER
        return last

    write = dev(write)

    @cold
    def sample(m: Any, until: Any, cwnd: Any, window: Any, every: Any) -> None:
        # The samples that are due by time `until` see this state.
        while m[_SAMPLE] <= until:
            add(m, _CWND_SUM, _CWND_SUM_HIGH, np.int64(min(cwnd, float(window)) * 1024.0))
            if m[_RTT] > 0:
                add(m, _RTT_SUM, _RTT_SUM_HIGH, m[_RTT])
                m[_RTT_SAMPLES] += 1
            m[_SAMPLES] += 1
            m[_SAMPLE] += every

    sample = dev(sample)

    def acknowledge(
        parameters: Any, outages: Any, losses: Any, m: Any, out: Any,
        t: Any, packet: Any, expected: Any, highest: Any, tail: Any, head: Any,
    ) -> Any:  # fmt: skip
        # The receiver answers `packet` at time t; returns the ring's new tail, or -1 if it is full.
        mask = parameters[P.RING] - 1
        wire = parameters[P.ACK]
        if own:
            m[_SAID] = expected - 1
        if sack:
            wire += parameters[P.SACK_BLOCK] * blocks(
                m, _STACK, m[_BITS], mask, packet, expected, highest, m[_SPARE]
            )
        if mobile:
            fate, back = answer(parameters, outages, losses, m, t, wire)
        else:
            fate, back = transmit(parameters, outages, losses, m, MAIN, BACK, t, wire)
        if fate != link.ARRIVED:
            if back <= parameters[P.END]:
                out[Out.ACK_DROPS] += 1
            return tail
        if tail - head > mask:
            return np.int64(-1)
        at = m[_RING] + entry_words * (tail & mask)
        m[at] = back
        m[at + 1] = expected - 1
        if sack:
            for i in range(2 * BLOCKS):
                m[at + 2 + i] = m[m[_SPARE] + i]
        if own:
            m[at + _SACK_ENTRY] = m[_ECHO]
        return tail + 1

    acknowledge = dev(acknowledge)

    @cold
    def acknowledge_late(
        parameters: Any, outages: Any, losses: Any, m: Any, out: Any,
        t: Any, packet: Any, expected: Any, highest: Any, tail: Any, head: Any,
    ) -> Any:  # fmt: skip
        return acknowledge(parameters, outages, losses, m, out, t, packet, expected, highest, tail, head)

    acknowledge_late = dev(acknowledge_late)

    def timeout_now(parameters: Any, m: Any) -> Any:
        return timeout_of(
            m[_CURRENT], m[_BACKOFF], parameters[P.MIN_RTO], parameters[P.MAX_RTO], parameters[P.TICK]
        )

    timeout_now = dev(timeout_now)

    @cold
    def back_off_timer(parameters: Any, m: Any, rto: Any) -> Any:
        m[_BACKOFF], m[_SRTT], m[_RTTVAR] = back_off(
            m[_BACKOFF], m[_SRTT], m[_RTTVAR], rto, parameters[P.MAX_RTO]
        )
        return timeout_now(parameters, m)

    back_off_timer = dev(back_off_timer)

    def measure_rtt(parameters: Any, m: Any, now: Any) -> Any:
        tick = parameters[P.TICK]
        ticks = measure(m[_TIMED_AT], now, parameters[P.CLOCK_PHASE], tick)
        m[_SRTT], m[_RTTVAR] = smooth(ticks, m[_SRTT], m[_RTTVAR])
        m[_RTT] = ticks * tick
        m[_CURRENT] = (m[_RTTVAR] + (m[_SRTT] >> 3)) * tick
        m[_BACKOFF] = 1
        return timeout_now(parameters, m)

    measure_rtt = dev(measure_rtt)

    @cold
    def begin(parameters: Any, hops: Any, outages: Any, losses: Any, m: Any, f: Any, out: Any) -> Any:
        # Lay out scratch; returns the start of the first outage.
        for i in range(_HOPS):
            m[i] = 0
        m[_BITS] = prepare_hops(parameters, hops, outages, losses, m)
        m[_RING] = m[_BITS] + (parameters[P.RING] >> 6)
        for i in range(m[_BITS], m[_RING]):
            m[i] = 0
        m[_SPARE] = m[_RING] + entry_words * parameters[P.RING]
        free = prepare_variant(m, parameters, m[_SPARE] + entry_words)
        m[_CURRENT] = parameters[P.INITIAL_RTO]
        m[_BACKOFF] = 1
        m[_SAMPLE] = parameters[P.SAMPLE] // 2
        for i in range(MEMORY_WORDS):
            f[i] = 0.0
        for i in range(out.shape[0]):
            out[i] = 0
        out[Out.FIRST_RX] = NEVER
        out[Out.RESUME_TX] = NEVER
        out[Out.RESUME_RX] = NEVER
        out[Out.COMPLETED] = NEVER
        m[_NEWEST] = NEVER
        outage = np.int64(FOREVER)
        fixed = hops_of(m, MAIN, FORTH)
        if mobile:
            prepare_access(parameters, hops, outages, m, out, free)
            outage = first_down(m)
            fixed -= 1
        for hop in range(fixed):
            if outages.shape[2] > 0:
                outage = min(outage, outages[0, hop, 0, 0])
        return outage

    begin = dev(begin)

    @cold
    def record(
        rows: Any, n: Any, t: Any, event: Any, packet: Any, cwnd: Any, ssthresh: Any, rto: Any, una: Any
    ) -> Any:
        if n < rows.shape[0]:
            rows[n, Trace.TIME] = t * 1e-9
            rows[n, Trace.EVENT] = event
            rows[n, Trace.SEQUENCE] = packet
            rows[n, Trace.PATH] = 0
            rows[n, Trace.CWND] = cwnd
            rows[n, Trace.SSTHRESH] = ssthresh
            rows[n, Trace.RTO] = rto * 1e-9
            rows[n, Trace.ACKED] = una
        return n + 1

    record = dev(record)

    def flow(
        parameters: Any, constants: Any, hops: Any, outages: Any, losses: Any,
        m: Any, f: Any, out: Any, rows: Any,
    ) -> Any:  # fmt: skip
        outage = begin(parameters, hops, outages, losses, m, f, out)
        trace = rows.shape[0] > 0
        end = parameters[P.END]
        window = parameters[P.WINDOW]
        mask = parameters[P.RING] - 1
        if mask < window:  # the receiver's bitmap must hold a window
            out[Out.STATUS] = STATUS_RING_FULL
            return np.int64(0)
        ring = m[_RING]
        bits = m[_BITS]
        delayed = parameters[P.ACK_EVERY] > 1
        handshake = first == 1 and parameters[P.HANDSHAKE] > 0
        initial_window = parameters[P.INITIAL_WINDOW]
        last = write(parameters, m, np.int64(-1))  # the last packet there is
        size = parameters[P.DATA] + parameters[P.HEADER] * first
        # Sender.
        now = parameters[P.START]
        una = np.int64(-1)
        seq = np.int64(0)
        top = np.int64(-1)
        cwnd = 1.0
        ssthresh = parameters[P.INITIAL_SSTHRESH]
        if first == 1 and not handshake:  # as if the SYN had just been acknowledged
            una = np.int64(0)
            seq = np.int64(1)
            top = np.int64(0)
        if own or (first == 1 and not handshake):
            cwnd = float(initial_window)
        dupacks = np.int64(0)
        timed = np.int64(ENDLESS)  # the packet whose round trip is measured, or ENDLESS
        rto = timeout_now(parameters, m)
        deadline = np.int64(FOREVER)
        # Receiver.
        expected = seq
        highest = seq - 1
        answered = seq  # the packet that a delayed ACK answers
        pending = np.int64(FOREVER)  # when that ACK is due
        watch = np.int64(NEVER)  # the first arrival after this time is recorded
        # ACKs on their way back.
        head = np.int64(0)
        tail = np.int64(0)
        events = np.int64(0)

        sample(m, min(now, end), cwnd, window, parameters[P.SAMPLE])
        alarm = min(m[_SAMPLE], end + 1)  # the next sample or the end
        forced = np.int64(NONE)  # a packet to send at once
        limit = min(una + min(np.int64(cwnd), window), last)  # then, packets up to this one
        repair = own  # then, what recovery by SACK asks for
        if own:
            limit = np.int64(NONE)
        while now <= end:
            # Send what the last event allows.
            while True:
                packet = forced
                if forced != NONE:
                    forced = np.int64(NONE)
                elif seq <= limit:
                    packet = seq
                    seq += 1
                elif repair:
                    packet = next_packet(m, parameters, una, seq, last, cwnd)
                    seq = max(seq, packet + 1)
                    if own and packet - una > mask:
                        tail = np.int64(-1)
                        break
                sent = now
                tag = np.int64(NONE)  # of a packet at an access router
                if packet == NONE:
                    if not mobile:
                        break
                    # What reaches an access router before anything else happens.
                    fate = link.ARRIVED
                    horizon = min(min(deadline, pending), end)
                    if head < tail:
                        horizon = min(horizon, m[ring + entry_words * (head & mask)])
                    if tail < 0 or due(parameters, m) > horizon:
                        break
                    t, packet, tag, sent = pop(parameters, m)
                else:
                    on_send(m, parameters, packet, now)
                    if una == top:  # nothing else is out
                        deadline = now + rto
                    wire = size
                    if packet < first:
                        wire = parameters[P.HANDSHAKE]
                        out[Out.HANDSHAKES] += 1
                    if packet > top:
                        top = packet
                        if timed == ENDLESS:
                            timed = packet
                            m[_TIMED_AT] = now
                    elif packet >= first:
                        m[_REPEATED] += 1
                    if trace:
                        events = record(rows, events, now, EVENT_SEND, packet, cwnd, ssthresh, rto, una)
                    if mobile:
                        fixed = hops_of(m, MAIN, FORTH) - 1
                        first_hop = np.int64(0)
                        fate, t = carry(
                            parameters, outages, losses, m, MAIN, FORTH, first_hop, fixed, now, wire
                        )
                    else:
                        fate, t = transmit(parameters, outages, losses, m, MAIN, FORTH, now, wire)
                    if packet >= first:
                        if fate != link.ARRIVED and t <= end:
                            out[Out.DROPS_QUEUE - link.FULL_QUEUE + fate] += 1
                        elif mobile and t > end:
                            out[Out.IN_FLIGHT] += 1
                    if mobile and fate == link.ARRIVED and t <= end:
                        counts = np.int64(1) if packet >= first else np.int64(0)
                        ahead, t, tag = enter(parameters, m, out, packet, now, t, counts)
                        if not ahead:
                            continue
                if mobile and tag != NONE:
                    fate, t = step(parameters, outages, losses, m, out, t, packet, tag, sent, first, size)
                if trace and t <= end and fate != access.WAITS:
                    event = EVENT_RECEIVE if fate == link.ARRIVED else EVENT_LOST
                    events = record(rows, events, t, event, packet, cwnd, ssthresh, rto, una)
                if t > end or fate != link.ARRIVED:
                    continue

                # The receiver, at time t.
                if delayed and pending < t:
                    tail = acknowledge_late(
                        parameters, outages, losses, m, out, pending, answered, expected, highest, tail, head
                    )
                    pending = np.int64(FOREVER)
                if own and packet <= m[_SAID] + 1:
                    m[_ECHO] = max(m[_ECHO], sent)
                duplicates = m[_DUPLICATES]
                expected, highest = arrive(m, _HELD, bits, mask, packet, expected, highest)
                if packet < first:
                    m[_DUPLICATES] = duplicates  # data only
                elif t > watch:
                    if out[Out.FIRST_RX] == NEVER:
                        out[Out.FIRST_RX] = t
                        watch = outage
                    if t > watch:
                        out[Out.RESUME_RX] = t
                        out[Out.RESUME_TX] = sent
                        watch = np.int64(FOREVER)
                if mobile and packet >= first:
                    if m[_NEWEST] != NEVER:
                        out[Out.SILENCE] = max(out[Out.SILENCE], t - m[_LAST_RX])
                    if sent < m[_NEWEST]:
                        out[Out.REORDERED] += 1
                    m[_NEWEST] = max(m[_NEWEST], sent)
                if packet >= first:
                    m[_LAST_RX] = t
                if expected > last and m[_WAKE] == FOREVER and out[Out.COMPLETED] == NEVER:
                    out[Out.COMPLETED] = t
                if delayed:
                    if pending == FOREVER and packet == expected - 1 and packet >= highest and packet > 0:
                        pending = t + parameters[P.ACK_DELAY]
                        answered = packet
                        continue
                    pending = np.int64(FOREVER)
                if tail >= 0:
                    tail = acknowledge(
                        parameters, outages, losses, m, out, t, packet, expected, highest, tail, head
                    )
            if tail < 0 or (mobile and overfull(m)):
                out[Out.STATUS] = STATUS_RING_FULL
                return np.int64(0)

            # The next event: an ACK, the timer, or a delayed ACK that nothing can overtake any more.
            at = ring + entry_words * (head & mask)
            next_ack = m[at] if head < tail else np.int64(FOREVER)
            upcoming = min(next_ack, deadline)
            if delayed and pending < upcoming:
                if pending > end:
                    break
                tail = acknowledge_late(
                    parameters, outages, losses, m, out, pending, answered, expected, highest, tail, head
                )
                pending = np.int64(FOREVER)
                limit = np.int64(NONE)
                repair = False
                continue
            now = upcoming
            if now >= alarm:
                sample(m, min(now, end), cwnd, window, parameters[P.SAMPLE])
                if now > end:
                    break
                alarm = min(m[_SAMPLE], end + 1)
            order = np.int64(SEND)
            if next_ack <= deadline:
                ack = m[at + 1]
                head += 1
                if own:
                    if ack > una or (ack == una and una < last):
                        m[_TIMED_AT] = m[at + _SACK_ENTRY]
                        rto = measure_rtt(parameters, m, now)
                        srtt = (m[_SRTT] >> 3) * parameters[P.TICK]
                        cwnd, ssthresh, order = on_ack(
                            m, f, parameters, constants, now, m[_RTT], srtt, m[_TIMED_AT],
                            at, ack, top, ssthresh,
                        )  # fmt: skip
                        if order & CUT:
                            out[Out.FAST_RETRANSMITS] += 1
                            out[Out.CWND_CUTS] += 1
                        una = ack
                        if una >= m[_WAKE]:
                            last = write(parameters, m, una)
                        deadline = now + rto if una < last else np.int64(FOREVER)
                elif ack > una or (ack == una and una < last):
                    heard(ack - una, now, m[_RTT], f)
                if own:
                    pass
                elif ack > una:
                    if m[PHASE] != NORMAL:
                        cwnd, order, forced = new_ack(m, parameters, at, ack, una, cwnd)
                    before = una
                    una = ack
                    if una >= m[_WAKE]:
                        last = write(parameters, m, una)
                    seq = max(seq, una + 1)
                    if order & PARTIAL:
                        if order & TIMER:
                            deadline = now + rto
                        if order & END_BACKOFF or ack >= timed:
                            m[_BACKOFF] = 1
                            rto = timeout_now(parameters, m)
                        if not sack and ack >= timed:
                            timed = np.int64(ENDLESS)
                    else:
                        if ack >= timed:
                            timed = np.int64(ENDLESS)
                            rto = measure_rtt(parameters, m, now)
                        deadline = now + rto
                        if order & NO_GROWTH:
                            dupacks = np.int64(0)
                        else:
                            cwnd, ssthresh, dupacks, forced = grow(
                                m,
                                f,
                                parameters,
                                constants,
                                now,
                                m[_RTT],
                                ack,
                                before,
                                seq,
                                dupacks,
                                cwnd,
                                ssthresh,
                            )
                        if una == 0 and handshake:
                            cwnd = float(initial_window)
                        if una == last:  # all there is has been acknowledged
                            deadline = np.int64(FOREVER)
                            forced = np.int64(NONE)
                elif ack == una and una < last:  # after the last ACK there is nothing to repair
                    cwnd, ssthresh, dupacks, order, forced = dup_ack(
                        m, f, parameters, constants, now, m[_RTT], at, una, seq, top, dupacks, cwnd, ssthresh
                    )
                    if order & CUT:
                        out[Out.FAST_RETRANSMITS] += 1
                        if order & BACK_OFF:
                            rto = back_off_timer(parameters, m, rto)
                        else:
                            out[Out.CWND_CUTS] += 1
                        deadline = now + rto
                        timed = np.int64(ENDLESS)
                        if order & GO_BACK:
                            seq = una + 1
                if trace:
                    events = record(rows, events, now, EVENT_ACK, ack, cwnd, ssthresh, rto, una)
            else:
                out[Out.TIMEOUTS] += 1
                out[Out.CWND_CUTS] += 1
                if una < 0 and handshake:  # a lost SYN: start with one packet
                    initial_window = min(initial_window, np.int64(1))
                cwnd, ssthresh, dupacks = on_timeout(
                    m, f, parameters, constants, now, m[_RTT], top, dupacks, cwnd
                )
                rto = back_off_timer(parameters, m, rto)
                deadline = now + rto
                timed = np.int64(ENDLESS)
                if not own:
                    seq = una + 1
                if trace:
                    events = record(rows, events, now, EVENT_TIMEOUT, una + 1, cwnd, ssthresh, rto, una)

            # What it allows to send.
            limit = np.int64(NONE)
            repair = own or (sack and order & SEND != 0 and m[PHASE] == RECOVERY)
            if order & (SEND | SEND_TWO) and not repair:
                limit = una + min(np.int64(cwnd) + m[INFLATION], window)
                if order & SEND_TWO:
                    limit = min(limit, seq + 1)
            if order & LIMITED and seq <= una + window and float(seq) <= float(una) + cwnd + float(dupacks):
                limit = max(limit, seq)
            limit = min(limit, last)

        sample(m, end, cwnd, window, parameters[P.SAMPLE])
        out[Out.SENT] = max(top + 1 - first, np.int64(0)) + m[_REPEATED]
        out[Out.RETRANSMITTED] = m[_REPEATED]
        out[Out.IN_ORDER] = max(expected - first, np.int64(0))
        out[Out.DELIVERED] = out[Out.IN_ORDER] + m[_HELD]
        out[Out.RECEIVED] = out[Out.DELIVERED] + m[_DUPLICATES]
        out[Out.LAST_RX] = m[_LAST_RX] if out[Out.RECEIVED] > 0 else NEVER
        out[Out.ACKED] = max(una + 1 - first, np.int64(0))
        if mobile:
            out[Out.IN_FLIGHT] += under_way(parameters, m, first)
        out[Out.CWND_SUM] = m[_CWND_SUM]
        out[Out.CWND_SUM_HIGH] = m[_CWND_SUM_HIGH]
        out[Out.RTT_SUM] = m[_RTT_SUM]
        out[Out.RTT_SUM_HIGH] = m[_RTT_SUM_HIGH]
        out[Out.SAMPLES] = m[_SAMPLES]
        out[Out.RTT_SAMPLES] = m[_RTT_SAMPLES]
        if trace and events > rows.shape[0]:
            out[Out.STATUS] = STATUS_TRACE_FULL
        return events

    return dev(flow)
