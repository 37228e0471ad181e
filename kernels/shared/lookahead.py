"""Lookahead: events that are processed early, because no other event can precede them.

The order of events matters only where they meet: at a link or at a host. A host receives only the
acknowledgements of its own flow, in their order. So an acknowledgement is processed when it enters its last
link, unless the timer expires before. A link that receives all its packets from one other link (the reverse
link of a dumbbell: from the sinks behind the forward link) receives them in the order in which that link
sends them. So a packet enters as soon as its time is known, if it arrives before any packet that the other
link can accept next. A SYN is short, and might overtake it on a cable to a host; when no more SYNs can come,
the lookahead of the other link is longer.

Nothing is processed early beyond `Word.HORIZON`: at first the end of the warm-up, at which counters are
reset, then the end of the run.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared import agenda, fifo
from netcarlo.kernels.shared.agenda import Event
from netcarlo.kernels.shared.layout import Flow, Link, Shared
from netcarlo.kernels.shared.state import Fifo, FlowWord, LinkWord, Word, block_of, place_of_link

PAUSES: Any = slot("pauses")
ARRIVALS: Any = slot("arrivals")

association: Any = slot("association")

_NO_FEEDER = 0
_SEVERAL = -1


@noinline
def prepare(p: Any, m: Any) -> None:
    """Determine which flows and links permit lookahead, when all of them are laid out."""
    m[Word.CATCHING_UP] = 0
    m[Word.CONNECTING] = 1 if PAUSES or ARRIVALS else 0  # they send short packets at any time
    for i in range(p[Shared.FLOWS]):
        b = block_of(m, i)
        if m[b + Flow.KIND] != UDP:
            time = on_wire(_smallest(m, b, False), m[b + Flow.ACCESS]) + m[b + Flow.SOURCE_DELAY]
            m[b + FlowWord.LOOKAHEAD] = m[b + ReliableP.ACK_EVERY] == 1 and time > 0
            m[Word.CONNECTING] += m[b + TcpP.HANDSHAKE] > 0
    _find_feeders(p, m, False)


@noinline
def on_first_data(p: Any, m: Any, b: Any) -> None:
    """Process the first data of a flow at its sink: all shorter packets that it sent before have arrived."""
    if m[b + TcpP.HANDSHAKE] > 0:
        m[Word.CONNECTING] -= 1
        if m[Word.CONNECTING] == 0:
            _find_feeders(p, m, True)


def _smallest(m: Any, b: Any, is_connected: Any) -> Any:
    """Return the size of the shortest packet that a flow still sends [byte]."""
    size = m[b + RowP.DATA] - m[b + RowP.SHORT] + m[b + RowP.CHUNK_HEADER] + m[b + RowP.HEADER]
    if ARRIVALS and m[b + Flow.CLASS] > 0:  # their last packet can have any size
        size = min(size, 1 + m[b + RowP.HEADER])
    if m[b + Flow.KIND] != UDP and not is_connected:
        if m[b + TcpP.HANDSHAKE] > 0:
            size = min(size, m[b + TcpP.HANDSHAKE])
        if PAUSES:
            size = min(size, m[b + RowP.HEADER])
    return size


@noinline
def _find_feeders(p: Any, m: Any, is_connected: Any) -> None:
    """Find the links that receive all packets from one other link, and the lookahead of that one."""
    for i in range(p[Shared.LINKS]):
        link = m[Word.LINKS] + LinkWord.SIZE * i
        m[link + LinkWord.FEEDER] = _NO_FEEDER
        m[link + LinkWord.IS_FIRST_REVERSE] = 1
    for i in range(p[Shared.FLOWS]):
        b = block_of(m, i)
        size, ack = _smallest(m, b, is_connected), m[b + ReliableP.ACK]
        if PAUSES and m[b + Flow.KIND] != UDP:
            ack = min(ack, m[b + RowP.HEADER])
        at_once = m[b + Flow.KIND] == UDP or m[b + ReliableP.ACK_EVERY] == 1
        before, time = np.int64(_SEVERAL), np.int64(0)
        for hop in range(m[b + Flow.HOPS]):
            link = m[place_of_link(b, hop, False)]
            m[link + LinkWord.IS_FIRST_REVERSE] = 0
            _add_feeder(m, link, before if at_once else np.int64(_SEVERAL), time, size)
            before, time = link, _transit_time(m, link, size)
        time += on_wire(size, m[b + Flow.SINK]) + on_wire(ack, m[b + Flow.SINK_BACK])
        time += 2 * m[b + Flow.SINK_DELAY]
        for hop in range(m[b + Flow.BACK_HOPS]):
            link = m[place_of_link(b, hop, True)]
            if hop > 0:
                m[link + LinkWord.IS_FIRST_REVERSE] = 0
            _add_feeder(m, link, before if at_once else np.int64(_SEVERAL), time, ack)
            before, time = link, _transit_time(m, link, ack)


def _transit_time(m: Any, link: Any, size: Any) -> Any:
    """Return the time that a packet takes from an idle link to its far end [ns]."""
    return on_wire(size, m[link + Link.BYTE_TIME]) + m[link + Link.DELAY]


@noinline
def _add_feeder(m: Any, link: Any, feeder: Any, time: Any, size: Any) -> None:
    """Note that a link receives packets of at least `size` bytes, `time` [ns] or more after a feeder
    began to send them."""
    before = m[link + LinkWord.FEEDER]
    if before == _NO_FEEDER:
        m[link + LinkWord.FEEDER], m[link + LinkWord.LOOKAHEAD] = feeder, time
    elif before != feeder:
        m[link + LinkWord.FEEDER] = _SEVERAL
    if _transit_time(m, link, size) == 0:  # simultaneous events have an order of their own
        m[link + LinkWord.FEEDER] = _SEVERAL
    m[link + LinkWord.LOOKAHEAD] = min(m[link + LinkWord.LOOKAHEAD], time)


def lookahead_of(m: Any, link: Any) -> Any:
    """Return the time until which only packets already on their way enter a link [ns]."""
    feeder = m[link + LinkWord.FEEDER]
    return m[feeder + LinkWord.FREE] + m[link + LinkWord.LOOKAHEAD] if feeder > 0 else np.int64(0)


def can_enter_now(m: Any, link: Any, t: Any) -> Any:
    """Return True if nothing can enter a link before `t` [ns]; its waiting packets are then processed
    first."""
    sees = t < lookahead_of(m, link) and t <= m[Word.HORIZON]
    if sees and m[link + LinkWord.PENDING] != 0 and m[link + LinkWord.IS_FIRST_REVERSE] != 0:
        m[Word.CATCHING_UP] = link
    return sees and m[link + LinkWord.PENDING] == 0


def next_key(m: Any) -> Any:
    """Return the key of the next event; while a link catches up, that of the acknowledgement that it
    receives next."""
    key, link = agenda.earliest(m), m[Word.CATCHING_UP]
    if link != 0:
        first = agenda.earliest_of(m, Event.ACK)
        t, i = agenda.time_of(first), agenda.number_of(first)
        sees = t < lookahead_of(m, link) and t <= m[Word.HORIZON]
        if sees and m[place_of_link(block_of(m, i), 0, True)] == link:
            key = first
        else:
            m[Word.CATCHING_UP] = 0
    return key


def is_due(m: Any, b: Any, next_time: Any, t: Any) -> Any:
    """Return True if there is an event at the hosts of a flow at `t` [ns], or its timer has been set
    anew."""
    return m[b + FlowWord.LOOKAHEAD] == 0 or next_time <= t


def can_continue(m: Any, b: Any, next_time: Any) -> Any:
    """Return True if the next event, at `next_time` [ns], is an acknowledgement that waited behind a
    timer."""
    arrives = next_time == fifo.next_time(m, b + FlowWord.TO_SOURCE)
    return m[b + FlowWord.LOOKAHEAD] != 0 and arrives and next_time <= m[Word.HORIZON]


def can_deliver_ack(m: Any, b: Any, t: Any) -> Any:
    """Return True if nothing can happen at the sender of a flow before an acknowledgement arrives at `t`
    [ns]."""
    queue = b + FlowWord.TO_SOURCE
    return (
        m[b + FlowWord.LOOKAHEAD] != 0
        and m[queue + Fifo.HEAD] == m[queue + Fifo.TAIL]
        and t <= min(association.due(m[b + FlowWord.ASSOCIATION :]), m[Word.HORIZON])
    )
