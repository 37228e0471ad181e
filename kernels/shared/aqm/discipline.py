"""Link with active queue management or a limit in bytes: packets wait until the transmitter requests one.

The transmitter requests a packet when it is idle and a packet arrives, and whenever it has sent one. An
arrival in the same nanosecond comes first. A limit counts the packet in transmission, too, as `tbf` of Linux
counts the packet that waits for its tokens; an arriving packet with which the limit would be exceeded is
dropped (`bfifo_enqueue`). `b` is the block of the link in scratch `m`, `p` are the columns
of the row.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm import codel
from netcarlo.kernels.base.aqm import fq as fq_codel
from netcarlo.kernels.base.aqm.state import NULL, Buffer, Limits, Queue
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.shared import agenda, packet, varying
from netcarlo.kernels.shared.agenda import NO_EVENT, Event
from netcarlo.kernels.shared.aqm import buffers, fates, fq, pie
from netcarlo.kernels.shared.aqm.state import Discipline, queues_of
from netcarlo.kernels.shared.layout import CODEL, FQ_CODEL, PIE, FlowOut, Link, LinkOut
from netcarlo.kernels.shared.link import Fate, count_transmission, transmit
from netcarlo.kernels.shared.packet import NONE
from netcarlo.kernels.shared.state import FlowWord, LinkWord, Word, block_of

VARYING: Any = slot("varying")


@noinline
def allocate(p: Any, m: Any, b: Any, free: Any, room: Any) -> Any:
    """Allocate queues and `room` buffers from word `free` on, and return the first word after them."""
    m[b + LinkWord.DISCIPLINE] = free
    begin = free + Discipline.SIZE + Queue.SIZE * queues_of(p, m, b)
    for word in range(free, begin):
        m[word] = 0
    pie.prepare(m, b, free)
    return buffers.allocate(m, free, begin, room)


def enqueue(p: Any, links: Any, m: Any, b: Any, t: Any, size: Any, word: Any) -> Any:
    """Enqueue a packet of `size` bytes that arrives at `t`, and return its fate."""
    s, counts, kind = m[b + LinkWord.DISCIPLINE], b + LinkWord.COUNTS, m[b + Link.AQM]
    m[counts + LinkOut.ARRIVALS] += 1
    if kind == PIE:
        pie.run_updates(m, b, s, t)
    dropped = False
    if VARYING:
        dropped = not varying.conforms(links, m, b, t, size)
    if not dropped:
        word, dropped = _admit(p, m, b, s, t, size, word)
    if dropped or m[s + Discipline.FREE_BUFFERS] == NULL:
        if not dropped:
            m[Word.STATUS] = 1
        m[counts + LinkOut.DROPS] += 1
        return np.int64(Fate.DROPPED)
    q = fq.queue_of(p, m, s, word) if kind == FQ_CODEL else s + Discipline.SIZE
    buffers.append(m, s, q, t, word, size)
    if kind == PIE:
        m[s + Discipline.QDELAY] += on_wire(size, m[b + Link.BYTE_TIME])
    if kind == FQ_CODEL:
        fq_codel.on_arrival(m, s + Discipline.NEW_QUEUES, q, m[b + Link.FQ_QUANTUM])
        while _exceeds(m, b, s, t, np.int64(0), np.int64(0)):
            fq.drop_from_longest(p, m, b, s, t)
    if m[b + LinkWord.SERVICE] == NO_EVENT:
        m[b + LinkWord.SERVICE] = t
        agenda.bring_forward(m, Event.FAR_END, m[b + LinkWord.NUMBER], t)
    return np.int64(Fate.HELD)


def _exceeds(m: Any, b: Any, s: Any, t: Any, packets: Any, size: Any) -> Any:
    """Return True if the packets held at `t`, with this many more of `size` bytes in all, exceed the
    limit."""
    limit, sending = m[b + Link.QUEUE], m[b + LinkWord.FREE] > t
    if limit < 0:
        return m[s + Discipline.BYTES] + sending * m[s + Discipline.SENDING] + size > -limit
    return limit > 0 and m[s + Discipline.BACKLOG] + sending + packets > limit


def _admit(p: Any, m: Any, b: Any, s: Any, t: Any, size: Any, word: Any) -> Any:
    """Return the packet, possibly marked, and whether it is dropped at the tail."""
    kind, dropped = m[b + Link.AQM], False
    if kind != FQ_CODEL and _exceeds(m, b, s, t, np.int64(1), size):
        dropped = True
    elif kind == PIE and pie.should_drop(p, m, b, s, s + Discipline.SIZE):
        dropped = True
        if m[s + Discipline.DROP_PROB] < pie.MARK_ECN_TH:
            word, marked = fates.mark(m, b, word)
            dropped = not marked
        m[b + LinkWord.COUNTS + LinkOut.EARLY] += dropped
    return word, dropped


def _limits(m: Any, b: Any) -> Any:
    """Return the parameters of CoDel of a link."""
    return Limits(m[b + Link.AQM_TARGET], m[b + Link.AQM_INTERVAL], m[b + Link.AQM_MTU])


def dequeue(p: Any, links: Any, m: Any, b: Any, t: Any) -> Any:
    """Dequeue a packet for the transmitter at `t`; return it or NONE, and the time of the next request
    [ns] or NO_EVENT."""
    s, kind = m[b + LinkWord.DISCIPLINE], m[b + Link.AQM]
    if kind == FQ_CODEL:
        buffer = fq_codel.dequeue(
            p, m, b, s, s + Discipline.NEW_QUEUES, t, _limits(m, b), m[b + Link.FQ_QUANTUM]
        )
    elif kind == CODEL:
        buffer = codel.dequeue(p, m, b, s, s + Discipline.SIZE, t, _limits(m, b))
    else:
        if kind == PIE:
            pie.run_updates(m, b, s, t)
        buffer = buffers.pop(m, s, s + Discipline.SIZE)
    word, next_service = np.int64(NONE), np.int64(NO_EVENT)
    if buffer != NULL:
        word = m[buffer + Buffer.PACKET]
        duration = on_wire(m[buffer + Buffer.BYTES], m[b + Link.BYTE_TIME])
        if kind == PIE:
            m[s + Discipline.QDELAY] -= duration
        began, next_service = t, t + duration
        if VARYING:
            arrived = m[buffer + Buffer.ARRIVED]  # it may use any opportunity since then
            began, next_service = varying.transmission_of(
                p, links, m, b, arrived, m[buffer + Buffer.BYTES], duration
            )
        m[b + LinkWord.FREE] = next_service
        m[s + Discipline.SENDING] = m[buffer + Buffer.BYTES]
        count_transmission(p, m, b, m[buffer + Buffer.ARRIVED], began, next_service)
    m[b + LinkWord.SERVICE] = next_service
    return word, next_service


def start_transmission(p: Any, links: Any, losses: Any, m: Any, b: Any) -> Any:
    """Start the transmission of a packet; return its fate and its time at the far end [ns]."""
    return transmit(p, links, losses, m, b, m[b + LinkWord.FREE])


@noinline
def report(p: Any, m: Any, b: Any) -> None:
    """Count the packets that wait at the end."""
    s = m[b + LinkWord.DISCIPLINE]
    for k in range(queues_of(p, m, b)):
        buffer = m[s + Discipline.SIZE + Queue.SIZE * k + Queue.FIRST]
        while buffer != NULL:
            word = m[buffer + Buffer.PACKET]
            m[b + LinkWord.COUNTS + LinkOut.WAITING] += 1
            fates.count_wait(p, m, b, m[buffer + Buffer.ARRIVED], p[RowP.END])
            if word & packet.BACKWARD == 0 and packet.is_payload(word):
                m[block_of(m, packet.flow_of(m, word)) + FlowWord.COUNTS + FlowOut.IN_FLIGHT] += 1
            buffer = m[buffer + Buffer.NEXT]
