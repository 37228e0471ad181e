"""The hosts of source and sink: a TCP association over the network.

`m` is scratch, `f` the sender's floats, `constants` those of a user's congestion control, `t` the time [ns];
`trace`: see `trace`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.discovery import send
from netcarlo.kernels.adhoc.frames import Kind, hop_of, is_data, kind_of, number_of
from netcarlo.kernels.adhoc.layout import STREAM_RESIDUAL, Manet, ManetOut
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
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.tcp import association as tcp
from netcarlo.kernels.tcp.state import Tcp

# Kinds of residual errors, see STREAM_RESIDUAL.
_OF_DATA, _AT_SOURCE, _AT_SINK = range(3)


@cold
def rekey_flow(m: Any) -> None:
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
        tcp.start(m, s, f)
        _pump(m, f, t, trace)
    elif s[Tcp.DEADLINE] == t:
        timeouts = s[Tcp.TIMEOUTS]
        tcp.on_timeout(m, s, f, constants, t)
        if trace.shape[0] > 0 and s[Tcp.TIMEOUTS] > timeouts:
            trace_flow(m, f, trace, t, np.int64(EVENT_TIMEOUT), s[Tcp.ACKED] + 1, m[Manet.SOURCE])
        _pump(m, f, t, trace)
    else:
        _acknowledge(m, t, tcp.on_delay(m, s))
        rekey_flow(m)


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
        send(m, m[Manet.SOURCE], t, np.int64(Kind.DATA), packet)
        packet = tcp.take(m, s, f, t, False)
    number = tcp.probe(m, s, t)
    if number >= 0:
        send(m, m[Manet.SOURCE], t, np.int64(Kind.PROBE), number)
    rekey_flow(m)
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
        send(m, m[Manet.SINK], t, np.int64(Kind.ACK), serial)


@cold
def at_sink(m: Any, f: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """A packet from the source has reached the sink's node; `head`: first word of its frame."""
    s = m[m[Word.TCP] :]
    kind, packet = kind_of(head), number_of(head)
    data = is_data(m, head)
    if data:
        m[COUNTS + ManetOut.HOPS] += hop_of(head) + 1
        m[COUNTS + ManetOut.ARRIVED] += 1
    end = np.int64(_OF_DATA) if data else np.int64(_AT_SINK)
    if _residual_error(m, losses, end, m[Manet.RESIDUAL] if data else m[Manet.ACK_RESIDUAL]):
        if data:
            m[COUNTS + ManetOut.DROPS_RANDOM] += 1
            if trace.shape[0] > 0:
                trace_flow(m, f, trace, t, np.int64(EVENT_LOST), packet, m[Manet.SINK])
        if kind == Kind.DATA:
            tcp.corrupted(m, s, packet)
    elif kind == Kind.PROBE:
        send(m, m[Manet.SINK], t, np.int64(Kind.REPLY), packet)
    else:
        before = s[Tcp.EXPECTED]
        serial, fresh = tcp.on_data(m, s, t, packet, False)
        if data:
            _count_data(m, t, before, fresh)
            if trace.shape[0] > 0:
                trace_flow(m, f, trace, t, np.int64(EVENT_RECEIVE), packet, m[Manet.SINK])
        _acknowledge(m, t, serial)
        rekey_flow(m)


def _count_data(m: Any, t: Any, before: Any, fresh: Any) -> None:
    """A data segment has reached the receiver, which expected `before`; `fresh`: it is new there."""
    s = m[m[Word.TCP] :]
    m[COUNTS + ManetOut.RECEIVED] += 1
    m[COUNTS + ManetOut.LAST_RX] = t
    m[COUNTS + ManetOut.IN_ORDER] += s[Tcp.EXPECTED] - max(before, tcp.first_of(m))
    if m[COUNTS + ManetOut.FIRST_RX] == NEVER:
        m[COUNTS + ManetOut.FIRST_RX] = t
    if fresh:
        m[COUNTS + ManetOut.DELIVERED] += 1
    if m[COUNTS + ManetOut.COMPLETED] == NEVER and tcp.complete(s):
        m[COUNTS + ManetOut.COMPLETED] = t


@cold
def at_source(m: Any, f: Any, constants: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """A packet from the sink has reached the source's node; `head`: first word of its frame."""
    s = m[m[Word.TCP] :]
    kind, number = kind_of(head), number_of(head)
    if _residual_error(m, losses, np.int64(_AT_SOURCE), m[Manet.ACK_RESIDUAL]):
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
def _residual_error(m: Any, losses: Any, kind: Any, row: Any) -> Any:
    """Whether a segment that has reached its host is lost after all; `row` of `losses` tells how often."""
    if m[Word.DRAWN_OF_DATA + kind] == 0:
        _draw_gap(m, losses, kind, row)
    if m[Word.GAP_OF_DATA + kind] > 0:
        m[Word.GAP_OF_DATA + kind] -= 1
        return False
    _draw_gap(m, losses, kind, row)
    return True


def _draw_gap(m: Any, losses: Any, kind: Any, row: Any) -> None:
    """Draws how many segments reach their host before the next is lost."""
    number = m[Word.DRAWN_OF_DATA + kind]
    m[Word.DRAWN_OF_DATA + kind] = number + 1
    m[Word.GAP_OF_DATA + kind] = gap(
        losses, row, m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], STREAM_RESIDUAL + kind, number
    )
