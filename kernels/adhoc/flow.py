"""The hosts of source and sink: an association of TCP or SCTP (see `datagrams` for the other kind).

`m` is scratch, `f` the sender's floats, `constants` those of a user's congestion control, `t` the time [ns];
`trace`: see `trace`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import delays
from netcarlo.kernels.adhoc.discovery import send
from netcarlo.kernels.adhoc.frames import (
    CONTROL,
    Kind,
    head_of,
    hop_of,
    is_ack,
    is_data,
    kind_of,
    number_of,
    transmission_id,
)
from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.residual import Error, residual_error
from netcarlo.kernels.adhoc.state import COUNTS, DELAYS, NO_KEY, PHASE_BITS, Phase, Word
from netcarlo.kernels.adhoc.trace import trace_acked, trace_flow, trace_packet, trace_route
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_LOST,
    EVENT_RECEIVE,
    EVENT_STATE,
    EVENT_TIMEOUT,
    FOREVER,
    NEVER,
    P,
)

association: Any = slot("association")


@noinline
def prepare(m: Any, f: Any, free: Any) -> None:
    """Lays out the association from word `free` on."""
    m[Word.ASSOCIATION] = free
    m[Word.FLOW_AT] = m[P.START]
    association.prepare(m, m[free:], f, m[P.LIMIT], m[P.CLOCK_PHASE], 0, association.WORDS)


def size_of(m: Any, head: Any) -> Any:
    """A packet of the association without data [byte]; `head`: first word of its frame."""
    s = m[m[Word.ASSOCIATION] :]
    if kind_of(head) == Kind.ACK:
        return association.size_of_ack(m, s, number_of(head))
    return association.size_of(m, s, number_of(head))


def is_last(m: Any, head: Any) -> Any:
    """Return whether a data packet, whose frame begins with `head`, is the last one."""
    return association.is_last(m, m[m[Word.ASSOCIATION] :], number_of(head))


def sequence_of(m: Any, number: Any) -> Any:
    """What a trace calls a packet of the sender; negative: nothing."""
    return association.sequence_of(m, m[m[Word.ASSOCIATION] :], number)


@noinline
def rekey(m: Any) -> None:
    """The next event of the flow has changed."""
    s = m[m[Word.ASSOCIATION] :]
    t = min(m[Word.FLOW_AT], min(association.due(s), association.due_at_receiver(s)))
    m[m[Word.KEYS] + m[Manet.NODES]] = t << PHASE_BITS | Phase.FLOW if t < FOREVER else np.int64(NO_KEY)


@noinline
def at_flow(m: Any, f: Any, constants: Any, t: Any, trace: Any) -> None:
    """An event of the flow: it starts, or a timer of the sender or of the receiver goes off."""
    s = m[m[Word.ASSOCIATION] :]
    if m[Word.FLOW_AT] == t:
        m[Word.FLOW_AT] = FOREVER
        association.start(m, s, f, t)
        _pump(m, f, t, trace)
    elif association.due(s) == t:
        timeouts = s[association.Counter.TIMEOUTS]
        association.on_timeout(m, s, f, constants, t)
        if trace.shape[0] > 0 and s[association.Counter.TIMEOUTS] > timeouts:
            trace_acked(m, f, trace, t, np.int64(EVENT_TIMEOUT), np.int64(1))
        _pump(m, f, t, trace)
    else:
        _acknowledge(m, t, association.on_delay(m, s))
        rekey(m)


@noinline
def noticed(m: Any, f: Any, constants: Any, t: Any, trace: Any) -> None:
    """The source has learnt of a broken link."""
    m[Word.NOTICE] = 0
    association.on_notice(m, m[m[Word.ASSOCIATION] :], f, constants, t)
    _pump(m, f, t, trace)


@noinline
def _pump(m: Any, f: Any, t: Any, trace: Any) -> None:
    """Puts out what the sender may, or a probe."""
    s = m[m[Word.ASSOCIATION] :]
    packet = np.int64(association.NONE)
    sends = association.may_send(m, s)
    while sends:
        packet = association.next_segment(m, s, f, t, False)
        if packet >= 0:
            head = head_of(np.int64(Kind.DATA), packet, association.transmission_id(s, t))
            if not association.is_data(m, s, packet):
                head |= CONTROL
            send(m, m[Manet.SOURCE], t, head)
        sends = packet >= 0 and association.may_send(m, s)
    if packet == association.FULL:
        m[Word.FULL] = 1
    number = association.probe(m, s, t)
    if number >= 0:
        send(m, m[Manet.SOURCE], t, head_of(np.int64(Kind.PROBE), number, np.int64(0)))
    rekey(m)
    if trace.shape[0] > 0:
        trace_route(m, trace, t)
        probing = s[association.Counter.PROBING]
        if probing != m[Word.SHOWN_PROBING]:
            m[Word.SHOWN_PROBING] = probing
            trace_flow(m, f, trace, t, np.int64(EVENT_STATE), probing, m[Manet.SOURCE])


@noinline
def _acknowledge(m: Any, t: Any, ack_id: Any) -> None:
    """The sink sends an acknowledgement, or what else the receiver puts out, if there is something."""
    if ack_id == association.FULL:
        m[Word.FULL] = 1
    elif ack_id >= 0:
        head = head_of(np.int64(Kind.ACK), ack_id, np.int64(0))
        if association.is_ack(m, m[m[Word.ASSOCIATION] :], ack_id):
            m[COUNTS + ManetOut.ACKS_SENT] += 1
        else:
            head |= CONTROL
        send(m, m[Manet.SINK], t, head)


@noinline
def at_sink(m: Any, f: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """A packet from the source has reached the sink's node; `head`: first word of its frame."""
    s = m[m[Word.ASSOCIATION] :]
    kind, packet = kind_of(head), number_of(head)
    data = is_data(head)
    if data:
        m[COUNTS + ManetOut.HOPS] += hop_of(head) + 1
        m[COUNTS + ManetOut.ARRIVED] += 1
    end = np.int64(Error.OF_DATA) if data else np.int64(Error.AT_SINK)
    if residual_error(m, losses, end, m[Manet.RESIDUAL] if data else m[Manet.ACK_RESIDUAL]):
        if data:
            m[COUNTS + ManetOut.DROPS_RANDOM] += 1
            if trace.shape[0] > 0:
                trace_packet(m, f, trace, t, np.int64(EVENT_LOST), head, m[Manet.SINK])
        if kind == Kind.DATA:
            association.corrupted(m, s, packet)
    elif kind == Kind.PROBE:
        send(m, m[Manet.SINK], t, head_of(np.int64(Kind.REPLY), packet, np.int64(0)))
    else:
        before = association.in_order(m, s)
        association.note_transmission(m, s, packet, transmission_id(head))
        ack_id, fresh = association.on_data(m, s, t, packet, False)
        m[COUNTS + ManetOut.IN_ORDER] += association.in_order(m, s) - before
        if data:
            _count_data(m, t, fresh)
            if DELAYS and fresh:
                delays.arrived(m, association.delay_of(m, s, t, packet))
            if trace.shape[0] > 0:
                trace_packet(m, f, trace, t, np.int64(EVENT_RECEIVE), head, m[Manet.SINK])
        _acknowledge(m, t, ack_id)
        rekey(m)


def _count_data(m: Any, t: Any, fresh: Any) -> None:
    """A data segment has reached the receiver; `fresh`: it is new there."""
    s = m[m[Word.ASSOCIATION] :]
    m[COUNTS + ManetOut.RECEIVED] += 1
    m[COUNTS + ManetOut.LAST_RX] = t
    if m[COUNTS + ManetOut.FIRST_RX] == NEVER:
        m[COUNTS + ManetOut.FIRST_RX] = t
    if fresh:
        m[COUNTS + ManetOut.DELIVERED] += 1
    if m[COUNTS + ManetOut.COMPLETED] == NEVER and association.complete(m, s):
        m[COUNTS + ManetOut.COMPLETED] = t


@noinline
def at_source(m: Any, f: Any, constants: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """A packet from the sink has reached the source's node; `head`: first word of its frame."""
    s = m[m[Word.ASSOCIATION] :]
    kind, number = kind_of(head), number_of(head)
    if residual_error(m, losses, np.int64(Error.AT_SOURCE), m[Manet.ACK_RESIDUAL]):
        if is_ack(head):
            m[COUNTS + ManetOut.ACK_DROPS] += 1
        return
    if kind == Kind.ACK:
        association.on_ack(m, s, f, constants, t, number)
        if m[COUNTS + ManetOut.FINISHED] == NEVER and association.finished(s):
            m[COUNTS + ManetOut.FINISHED] = t
        if trace.shape[0] > 0 and is_ack(head):
            trace_acked(m, f, trace, t, np.int64(EVENT_ACK), np.int64(0))
    else:
        association.on_probe(m, s, f, constants, t, number)
    _pump(m, f, t, trace)


@noinline
def report(m: Any, end: Any, out: Any) -> None:
    """Writes what the sender has counted until `end` [ns]."""
    s = m[m[Word.ASSOCIATION] :]
    out[ManetOut.SENT] = s[association.Counter.SENT]
    out[ManetOut.RETRANSMITTED] = s[association.Counter.RETRANSMITTED]
    out[ManetOut.ACKED] = association.acked(m, s)
    out[ManetOut.TIMEOUTS] = s[association.Counter.TIMEOUTS]
    out[ManetOut.FAST_RETRANSMITS] = s[association.Counter.FAST_RETRANSMITS]
    out[ManetOut.CWND_CUTS] = s[association.Counter.REDUCTIONS]
    out[ManetOut.HANDSHAKES] = s[association.Counter.HANDSHAKES]
    out[ManetOut.PROBES] = s[association.Counter.PROBES]
    out[ManetOut.PROBE_CYCLES] = s[association.Counter.PROBE_CYCLES]
    out[ManetOut.PROBE_TIME] = s[association.Counter.PROBE_TIME]
    if s[association.Counter.PROBING] != 0:
        out[ManetOut.PROBE_TIME] += end - s[association.Counter.PROBING_SINCE]
    out[ManetOut.SPARED] = s[association.Counter.AVOIDED]
    if association.overfull(s):
        m[Word.FULL] = 1


@noinline
def show(m: Any, f: Any, trace: Any, n: Any) -> None:
    """The state of the sender in row n of the trace."""
    association.show(m[m[Word.ASSOCIATION] :], f, trace, n)
