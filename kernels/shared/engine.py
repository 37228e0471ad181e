"""Engine of shared links: many flows, packet by packet.

One thread simulates up to 1,024 flows of TCP, SCTP and UDP on up to 1,024 links of any topology. FIFOs keep
packets in the order in which they will arrive, so the earliest event is the smallest of a few keys: three per
flow and one per link. Hosts have access links of their own, see `hosts`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.shared import agenda, arrivals, delays, detours, event_log, fifo, lookahead, packet
from netcarlo.kernels.shared.agenda import Event
from netcarlo.kernels.shared.aqm import discipline
from netcarlo.kernels.shared.layout import NO_AQM, Flow, FlowOut, Link, LinkOut, SharedOut
from netcarlo.kernels.shared.link import Fate, count_loss, enqueue
from netcarlo.kernels.shared.packet import NONE
from netcarlo.kernels.shared.report import on_clock, report
from netcarlo.kernels.shared.samples import take_samples
from netcarlo.kernels.shared.setup import init_layout
from netcarlo.kernels.shared.state import FlowWord, LinkWord, Word, block_of, next_place, place_of_link

LOOKAHEAD: Any = slot("lookahead")
"""True if events that nothing can precede are processed early; not on devices, nor with all associations."""

AQM: Any = slot("aqm")
"""True if links may have active queue management that decides when packets leave, see `aqm`."""

ARRIVALS: Any = slot("arrivals")
"""True if flows arrive and depart, see `arrivals`."""

DELAYS: Any = slot("delays")
"""True if delay statistics of classes of flows are measured, see `delays`."""

VARYING: Any = slot("varying")
"""True if links may vary or fail, see `varying` and `outages`, and flows take detours."""

TRACED: Any = slot("traced")
"""True if a trace is written, see `event_log`."""

association: Any = slot("association")
hosts: Any = slot("hosts")
ends: Any = slot("ends")


def simulate(
    p: Any, constants: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    init_layout(p, constants, flows, links, losses, m, f)
    if LOOKAHEAD:
        lookahead.prepare(p, m)
    if TRACED:
        event_log.prepare(m)
    means = f[flows.shape[0] * association.FLOATS :]  # mean queues (RED)
    end = p[RowP.END]
    events = np.int64(0)  # arrivals at links not included
    key = agenda.earliest(m)
    while m[Word.STATUS] == 0 and agenda.time_of(key) <= end:
        t, kind, i = agenda.time_of(key), agenda.class_of(key), agenda.number_of(key)
        taken, acts, ack, next_time = False, False, np.int64(NONE), np.int64(agenda.NO_EVENT)
        if kind == Event.CLOCK:
            taken = True
            events += 1
            on_clock(p, m, f, t)
        elif ARRIVALS and kind == Event.ARRIVAL:
            taken = True
            events += 1
            arrivals.on_arrival(p, constants, losses, m, f, t, i)
        elif kind == Event.HOST:
            acts = True
            if LOOKAHEAD:
                b = block_of(m, i)
                next_time = hosts.next_event(m, b)
                acts = lookahead.is_due(m, b, next_time, t)
        else:
            word, next_time, leaves = _pop_event(p, links, m, kind, i, t)
            if LOOKAHEAD:  # now, because the next event does not depend on this packet
                taken = True
                agenda.reschedule(m, kind, i, next_time)
                i = packet.flow_of(m, word)
            if not AQM or word != NONE:
                ack, t = _forward(p, flows, links, losses, m, means, word, t, kind, leaves)
            acts = LOOKAHEAD and ack != NONE
        if acts:
            b, next_time = block_of(m, i), t
            while acts:
                events += 1
                if LOOKAHEAD:
                    take_samples(p, m, f, i, next_time)
                next_time = hosts.on_event(m, b, p, constants, losses, f, i, next_time, ack)
                ack = np.int64(NONE)
                acts = LOOKAHEAD and lookahead.can_continue(m, b, next_time)
            if LOOKAHEAD and taken:
                agenda.bring_forward(m, Event.HOST, i, next_time)
        if not taken:
            agenda.reschedule(m, kind, i, next_time)
        if TRACED:
            event_log.write_rows(m, f, trace)
        key = lookahead.next_key(m) if LOOKAHEAD else agenda.earliest(m)
    report(p, flows.shape[0], events, m, out)
    behind = SharedOut.COLUMNS + FlowOut.COLUMNS * flows.shape[0] + LinkOut.COLUMNS * links.shape[0]
    if ARRIVALS:
        arrivals.report(p, m, out[behind:])
    if DELAYS:
        delays.report(p, m, out[behind:])
    return event_log.finish(m, out, trace) if TRACED else np.int64(0)


def _pop_event(p: Any, links: Any, m: Any, kind: Any, i: Any, t: Any) -> Any:
    """Return the packet of an event, the time of the next such event [ns] or NO_EVENT, and False.

    If a link with AQM requests a packet, return that packet or NONE, the time of its next request, and
    True.
    """
    leaves, link = False, m[Word.LINKS] + LinkWord.SIZE * i
    if AQM and kind == Event.FAR_END and m[link + LinkWord.SERVICE] <= t:
        leaves = True
        word, next_time = discipline.dequeue(p, links, m, link, t)
        next_time = min(next_time, fifo.next_time(m, link + LinkWord.FIFO))
    elif kind == Event.FAR_END:
        word, next_time = fifo.pop(m, link + LinkWord.FIFO)
        if AQM:
            next_time = min(next_time, m[link + LinkWord.SERVICE])
    else:
        queue = block_of(m, i) + (FlowWord.TO_LINK if kind == Event.DATA else FlowWord.BACK_TO_LINK)
        word, next_time = fifo.pop(m, queue)
    return word, next_time, leaves


def _forward(
    p: Any, flows: Any, links: Any, losses: Any, m: Any, means: Any, word: Any, t: Any, kind: Any,
    leaves: Any,
) -> Any:  # fmt: skip
    """Forward a packet that enters a link or leaves its queue: it is lost, or reaches the next link or a
    host.

    This continues while no other event can precede. Returns the acknowledgement that the source host is
    to process immediately, or NONE, and its time [ns].
    """
    i = packet.flow_of(m, word)
    b = block_of(m, i)
    ack, forwards, pending = np.int64(NONE), True, kind != Event.DATA
    hop, backward, at_end = packet.hop_of(m, word), word & packet.BACKWARD != 0, False
    place = place_of_link(b, hop, backward)
    while forwards:
        forwards = False
        hops = m[b + (Flow.BACK_HOPS if backward else Flow.HOPS)]
        if VARYING and m[b + Flow.BACKUP] != 0:
            if hop == 0 and not leaves:
                word = detours.choose_route(flows, m, b, i, word, t)
            link, hop, hops = detours.next_link(flows, m, b, i, word)
            at_end = hop == hops
        else:
            link = m[place]
        if LOOKAHEAD and pending:
            m[link + LinkWord.PENDING] -= 1
            pending = False
        markable, size = not backward and m[b + Flow.ECN] != 0, ends.size_of(m, b, word)
        if VARYING and at_end:
            fate, arrival = np.int64(Fate.ACCEPTED), t
        elif AQM and leaves:
            fate, arrival = discipline.start_transmission(p, links, losses, m, link)
        elif AQM and m[link + Link.AQM] != NO_AQM:
            fate, arrival = discipline.enqueue(p, links, m, link, t, size, word), t
        else:
            fate, arrival = enqueue(p, links, losses, m, means, link, t, size, markable)
        if TRACED and not (VARYING and at_end):
            event_log.log_at_link(p, m, link, t, word, size, fate, arrival, leaves)
        if fate & Fate.MARKED:
            word |= packet.MARKED
            m[b + FlowWord.COUNTS + FlowOut.MARKED] += 1
        if fate & (Fate.DROPPED | Fate.LOST):
            count_loss(m, b, word, fate)
            if ARRIVALS:
                arrivals.on_packet_left(m, b, t)
        elif AQM and fate & Fate.HELD:
            forwards = False  # AQM decides when it leaves
        elif hop + 1 < hops or (VARYING and not at_end and m[b + Flow.BACKUP] != 0):
            word += packet.ONE_HOP
            hop += 1
            place = next_place(place)
            forwards = LOOKAHEAD and lookahead.can_enter_now(m, m[place], arrival)
            if forwards:
                t = arrival
            else:
                if LOOKAHEAD:
                    m[m[place] + LinkWord.PENDING] += 1
                fifo.push(m, link + LinkWord.FIFO, Event.FAR_END, m[link + LinkWord.NUMBER], arrival, word)
        elif backward:
            t = hosts.return_ack(m, b, arrival, size)
            if LOOKAHEAD and lookahead.can_deliver_ack(m, b, t):
                ack = word
            else:
                fifo.push(m, b + FlowWord.TO_SOURCE, Event.HOST, i, t, word)
        else:
            word, t = hosts.receive(m, b, p, i, link, arrival, word, size)
            if word != NONE:
                hop, backward, place = np.int64(0), True, place_of_link(b, 0, True)
                forwards = LOOKAHEAD and lookahead.can_enter_now(m, m[place], t)
                if not forwards:
                    if LOOKAHEAD:
                        m[m[place] + LinkWord.PENDING] += 1
                    fifo.push(m, b + FlowWord.BACK_TO_LINK, Event.ACK, i, t, word)
    return ack, t
