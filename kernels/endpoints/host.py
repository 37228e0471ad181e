"""Source and sink of a flow: an association that the events of an engine drive.

The slot `association` is the transport (`contract.Association`). The slot `port` connects it with the engine
(`contract.Port`), which passes each event as a tuple `e` (`contract.Event`).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import NEVER

association: Any = slot("association")
port: Any = slot("port")

ONE_WAY: Any = slot("one_way")
"""True if the receiver sends nothing: the association is only a `contract.OneWay`."""


def due(s: Any) -> Any:
    """Return when the next timer of the sender or of the receiver expires [ns]."""
    return association.due(s) if ONE_WAY else min(association.due(s), association.due_at_receiver(s))


@noinline
def on_event(e: Any, starts: Any) -> None:
    """Start the sender, or process the timer that expires now: the sender's before the receiver's."""
    if starts:
        association.start(e.p, e.s, e.g, e.t)
    elif ONE_WAY:
        association.on_timeout(e.p, e.s, e.g, e.constants, e.t)
    elif association.due(e.s) == e.t:
        timeouts = e.s[association.Counter.TIMEOUTS]
        association.on_timeout(e.p, e.s, e.g, e.constants, e.t)
        if e.s[association.Counter.TIMEOUTS] > timeouts:
            port.on_retransmission_timeout(e)
    else:
        _answer(e, association.on_delay(e.p, e.s))
        port.schedule(e)
        return
    send(e)


@noinline
def send(e: Any) -> None:
    """Send all packets that the sender may send now, and a probe segment if one is due."""
    packet = np.int64(association.NONE)
    sends = association.may_send(e.p, e.s)
    while sends:
        blocked = False if ONE_WAY else port.is_blocked(e)
        packet = association.next_segment(e.p, e.s, e.g, e.t, blocked)
        if ONE_WAY:
            port.put_data(e, packet, np.int64(0), True)
        elif packet >= 0:
            copy = association.transmission_id(e.s, e.t)
            port.put_data(e, packet, copy, association.is_data(e.p, e.s, packet))
        sends = packet >= 0 and association.may_send(e.p, e.s)
    if not ONE_WAY:
        if packet == association.FULL:
            port.on_overflow(e)
        number = association.probe(e.p, e.s, e.t)
        if number >= 0:
            port.put_probe(e, number)
    port.on_sent(e)
    port.schedule(e)


@noinline
def on_ack(e: Any, ack_id: Any, is_ack: Any) -> None:
    """Process a packet of the receiver at the source; `is_ack`: it acknowledges data."""
    association.on_ack(e.p, e.s, e.g, e.constants, e.t, ack_id)
    port.on_acknowledged(e, is_ack)
    send(e)


@noinline
def on_reply(e: Any, number: Any) -> None:
    """Process the reply to a probe segment at the source."""
    association.on_probe(e.p, e.s, e.g, e.constants, e.t, number)
    send(e)


@noinline
def on_notice(e: Any) -> None:
    """Tell the sender that the route of its packets is broken."""
    association.on_notice(e.p, e.s, e.g, e.constants, e.t)
    send(e)


@noinline
def on_room(e: Any) -> None:
    """Let the sender continue if it waited for room in the queue of its node."""
    if association.resume(e.p, e.s, e.g):
        send(e)


@noinline
def on_data(e: Any, packet: Any, copy: Any, is_data: Any, more: Any) -> None:
    """Process a packet of the sender at the sink.

    `copy` tells its copies apart, `is_data`: it carries data, `more`: others arrive at the same time.
    """
    m, p, s, counts = e.m, e.p, e.s, e.counts
    if not ONE_WAY:
        m[counts + port.Count.IN_ORDER] -= association.in_order(p, s)
        association.note_transmission(p, s, packet, copy)
    answer, fresh = association.on_data(p, s, e.t, packet, more)
    if not ONE_WAY:
        m[counts + port.Count.IN_ORDER] += association.in_order(p, s)
    if is_data:
        m[counts + port.Count.RECEIVED] += 1
        m[counts + port.Count.LAST_RX] = e.t
        if m[counts + port.Count.FIRST_RX] == NEVER:
            m[counts + port.Count.FIRST_RX] = e.t
        if fresh:
            m[counts + port.Count.DELIVERED] += 1
            port.on_delivered(e, packet)
        if m[counts + port.Count.COMPLETED] == NEVER and association.complete(p, s):
            m[counts + port.Count.COMPLETED] = e.t
            port.on_complete(e)
    if not ONE_WAY:
        _answer(e, answer)
        port.schedule(e)
    elif answer == association.FULL:
        port.on_overflow(e)


@noinline
def _answer(e: Any, answer: Any) -> None:
    # The receiver sends a packet, an acknowledgement as a rule, unless its number is NONE.
    if answer == association.FULL:
        port.on_overflow(e)
    elif answer >= 0:
        is_ack = association.is_ack(e.p, e.s, answer)
        if is_ack:
            e.m[e.counts + port.Count.ACKS_SENT] += 1
        port.put_answer(e, answer, is_ack)


@noinline
def add_counters(to: Any, at: Any, s: Any, sign: Any) -> None:
    """Add the sender's counters times `sign` to the columns of `port.Count`, which begin at `to[at]`."""
    to[at + port.Count.SENT] += sign * s[association.Counter.SENT]
    if ONE_WAY:
        return
    to[at + port.Count.RETRANSMITTED] += sign * s[association.Counter.RETRANSMITTED]
    to[at + port.Count.TIMEOUTS] += sign * s[association.Counter.TIMEOUTS]
    to[at + port.Count.FAST_RETRANSMITS] += sign * s[association.Counter.FAST_RETRANSMITS]
    to[at + port.Count.CWND_CUTS] += sign * s[association.Counter.REDUCTIONS]
