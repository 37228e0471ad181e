"""The hosts of source and sink: a TCP association over the network (see `datagrams` for the other kind).

`m` is scratch, `f` the sender's floats, `constants` those of a user's congestion control, `t` the time [ns];
`trace`: see `trace`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.discovery import send
from netcarlo.kernels.adhoc.frames import Kind, copy_of, head_of, hop_of, is_data, kind_of, number_of
from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.residual import Error, residual_error
from netcarlo.kernels.adhoc.state import COUNTS, NO_KEY, PHASE_BITS, Phase, Word
from netcarlo.kernels.adhoc.trace import trace_flow, trace_route
from netcarlo.kernels.base.inline import cold
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
from netcarlo.kernels.base.trace import show_sender
from netcarlo.kernels.tcp import association as tcp
from netcarlo.kernels.tcp.state import Tcp


@cold
def prepare(m: Any, f: Any, free: Any) -> None:
    """Lays out the association from word `free` on."""
    m[Word.TCP] = free
    m[Word.FLOW_AT] = m[P.START]
    tcp.prepare(m, m[free:], f, m[P.LIMIT], m[P.CLOCK_PHASE], 0)


def first_of(m: Any) -> Any:
    """The first data segment."""
    return tcp.first_of(m)


def size_of_ack(m: Any, serial: Any) -> Any:
    """The packet of an acknowledgement [byte]."""
    return tcp.size_of_ack(m, m[m[Word.TCP] :], serial)


@cold
def rekey(m: Any) -> None:
    """The next event of the flow has changed."""
    s = m[m[Word.TCP] :]
    t = min(m[Word.FLOW_AT], min(s[Tcp.DEADLINE], s[Tcp.PENDING]))
    m[m[Word.KEYS] + m[Manet.NODES]] = t << PHASE_BITS | Phase.FLOW if t < FOREVER else np.int64(NO_KEY)


@cold
def at_flow(m: Any, f: Any, constants: Any, t: Any, trace: Any) -> None:
    """An event of the flow: it starts, the retransmission timer goes off, or a delayed ACK goes out."""
    s = m[m[Word.TCP] :]
    if m[Word.FLOW_AT] == t:
        m[Word.FLOW_AT] = FOREVER
        tcp.start(m, s, f, t)
        _pump(m, f, t, trace)
    elif s[Tcp.DEADLINE] == t:
        timeouts = s[Tcp.TIMEOUTS]
        tcp.on_timeout(m, s, f, constants, t)
        if trace.shape[0] > 0 and s[Tcp.TIMEOUTS] > timeouts:
            trace_flow(m, f, trace, t, np.int64(EVENT_TIMEOUT), s[Tcp.ACKED] + 1, m[Manet.SOURCE])
        _pump(m, f, t, trace)
    else:
        _acknowledge(m, t, tcp.on_delay(m, s))
        rekey(m)


@cold
def noticed(m: Any, f: Any, constants: Any, t: Any, trace: Any) -> None:
    """The source has learnt of a broken link."""
    m[Word.NOTICE] = 0
    tcp.on_notice(m, m[m[Word.TCP] :], f, constants, t)
    _pump(m, f, t, trace)


@cold
def _pump(m: Any, f: Any, t: Any, trace: Any) -> None:
    """Puts out what the sender may, or a probe."""
    s = m[m[Word.TCP] :]
    packet = tcp.take(m, s, f, t, False)
    while packet >= 0:
        send(m, m[Manet.SOURCE], t, head_of(np.int64(Kind.DATA), packet, tcp.copy_of(s)))
        packet = tcp.take(m, s, f, t, False)
    number = tcp.probe(m, s, t)
    if number >= 0:
        send(m, m[Manet.SOURCE], t, head_of(np.int64(Kind.PROBE), number, np.int64(0)))
    rekey(m)
    if trace.shape[0] > 0:
        trace_route(m, trace, t)
        if s[Tcp.PROBING] != m[Word.SHOWN_PROBING]:
            m[Word.SHOWN_PROBING] = s[Tcp.PROBING]
            trace_flow(m, f, trace, t, np.int64(EVENT_STATE), s[Tcp.PROBING], m[Manet.SOURCE])


@cold
def _acknowledge(m: Any, t: Any, serial: Any) -> None:
    """The sink sends an acknowledgement, if there is one (NONE, FULL: see `sender`)."""
    if serial == tcp.FULL:
        m[Word.FULL] = 1
    elif serial >= 0:
        m[COUNTS + ManetOut.ACKS_SENT] += 1
        send(m, m[Manet.SINK], t, head_of(np.int64(Kind.ACK), serial, np.int64(0)))


@cold
def at_sink(m: Any, f: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """A packet from the source has reached the sink's node; `head`: first word of its frame."""
    s = m[m[Word.TCP] :]
    kind, packet = kind_of(head), number_of(head)
    data = is_data(m, head)
    if data:
        m[COUNTS + ManetOut.HOPS] += hop_of(head) + 1
        m[COUNTS + ManetOut.ARRIVED] += 1
    end = np.int64(Error.OF_DATA) if data else np.int64(Error.AT_SINK)
    if residual_error(m, losses, end, m[Manet.RESIDUAL] if data else m[Manet.ACK_RESIDUAL]):
        if data:
            m[COUNTS + ManetOut.DROPS_RANDOM] += 1
            if trace.shape[0] > 0:
                trace_flow(m, f, trace, t, np.int64(EVENT_LOST), packet, m[Manet.SINK])
        if kind == Kind.DATA:
            tcp.corrupted(m, s, packet)
    elif kind == Kind.PROBE:
        send(m, m[Manet.SINK], t, head_of(np.int64(Kind.REPLY), packet, np.int64(0)))
    else:
        before = tcp.in_order(m, s)
        tcp.note_copy(m, s, packet, copy_of(head))
        serial, fresh = tcp.on_data(m, s, t, packet, False)
        m[COUNTS + ManetOut.IN_ORDER] += tcp.in_order(m, s) - before
        if data:
            _count_data(m, t, fresh)
            if trace.shape[0] > 0:
                trace_flow(m, f, trace, t, np.int64(EVENT_RECEIVE), packet, m[Manet.SINK])
        _acknowledge(m, t, serial)
        rekey(m)


def _count_data(m: Any, t: Any, fresh: Any) -> None:
    """A data segment has reached the receiver; `fresh`: it is new there."""
    s = m[m[Word.TCP] :]
    m[COUNTS + ManetOut.RECEIVED] += 1
    m[COUNTS + ManetOut.LAST_RX] = t
    if m[COUNTS + ManetOut.FIRST_RX] == NEVER:
        m[COUNTS + ManetOut.FIRST_RX] = t
    if fresh:
        m[COUNTS + ManetOut.DELIVERED] += 1
    if m[COUNTS + ManetOut.COMPLETED] == NEVER and tcp.complete(m, s):
        m[COUNTS + ManetOut.COMPLETED] = t


@cold
def at_source(m: Any, f: Any, constants: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """A packet from the sink has reached the source's node; `head`: first word of its frame."""
    s = m[m[Word.TCP] :]
    kind, number = kind_of(head), number_of(head)
    if residual_error(m, losses, np.int64(Error.AT_SOURCE), m[Manet.ACK_RESIDUAL]):
        if kind == Kind.ACK:
            m[COUNTS + ManetOut.ACK_DROPS] += 1
        return
    if kind == Kind.ACK:
        tcp.on_ack(m, s, f, constants, t, number)
        if m[COUNTS + ManetOut.FINISHED] == NEVER and tcp.finished(s):
            m[COUNTS + ManetOut.FINISHED] = t
        if trace.shape[0] > 0:
            trace_flow(m, f, trace, t, np.int64(EVENT_ACK), s[Tcp.ACKED], m[Manet.SOURCE])
    else:
        tcp.on_probe(m, s, f, constants, t, number)
    _pump(m, f, t, trace)


@cold
def report(m: Any, end: Any, out: Any) -> None:
    """Writes what the sender has counted until `end` [ns]."""
    s = m[m[Word.TCP] :]
    out[ManetOut.SENT] = s[Tcp.SENT]
    out[ManetOut.RETRANSMITTED] = s[Tcp.REPEATED]
    out[ManetOut.ACKED] = max(s[Tcp.ACKED] - tcp.first_of(m) + 1, 0)
    out[ManetOut.TIMEOUTS] = s[Tcp.TIMEOUTS]
    out[ManetOut.FAST_RETRANSMITS] = s[Tcp.FAST_RETRANSMITS]
    out[ManetOut.CWND_CUTS] = s[Tcp.CUTS]
    out[ManetOut.HANDSHAKES] = s[Tcp.HANDSHAKES]
    out[ManetOut.PROBES] = s[Tcp.PROBES]
    out[ManetOut.PROBE_CYCLES] = s[Tcp.PROBE_CYCLES]
    out[ManetOut.PROBE_TIME] = s[Tcp.PROBE_TIME]
    if s[Tcp.PROBING] != 0:
        out[ManetOut.PROBE_TIME] += end - s[Tcp.PROBING_SINCE]
    out[ManetOut.SPARED] = s[Tcp.SPARED]


@cold
def show(m: Any, f: Any, trace: Any, n: Any) -> None:
    """The state of the sender in row n of the trace."""
    s = m[m[Word.TCP] :]
    show_sender(trace, n, f[0], s[Tcp.SSTHRESH], s[Tcp.RTO] * 1e-9, s[Tcp.ACKED])
