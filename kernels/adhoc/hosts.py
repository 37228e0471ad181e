"""Events and packets of the flow, passed from the engine to its source and its sink.

`m` is scratch, `f` the sender's floats, `constants` those of a user's congestion control, `t` the time [ns];
`trace` are the rows of the trace (`observers.trace`).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.discovery import send
from netcarlo.kernels.adhoc.frames import (
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
from netcarlo.kernels.adhoc.port import event, schedule
from netcarlo.kernels.adhoc.residual import Error, residual_error
from netcarlo.kernels.adhoc.state import COUNTS, Word, observer
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.kernels.endpoints import host

ONE_WAY: Any = slot("one_way")
"""True if nothing is acknowledged or retransmitted."""
association: Any = slot("association")


@noinline
def prepare(m: Any, f: Any, free: Any) -> None:
    """Set up the association from word `free` on, before the run."""
    m[Word.ASSOCIATION] = free
    m[Word.FLOW_AT] = m[RowP.START]
    association.prepare(m, m[free:], f, m[RowP.LIMIT], m[TcpP.CLOCK_PHASE], 0, association.WORDS)


@noinline
def on_event(m: Any, f: Any, constants: Any, t: Any, trace: Any) -> None:
    """Process the due event of the flow: its start, or the expiry of a timer."""
    starts = m[Word.FLOW_AT] == t
    if starts:
        m[Word.FLOW_AT] = FOREVER
    host.on_event(event(m, f, constants, t, trace), starts)


def first_event(m: Any, f: Any, constants: Any, trace: Any) -> None:
    """Set the key of the flow to its first event."""
    schedule(event(m, f, constants, np.int64(0), trace))


@noinline
def on_notice(m: Any, f: Any, constants: Any, t: Any, trace: Any) -> None:
    """Tell the sender that a link of its route is broken."""
    m[Word.NOTICE] = 0
    if not ONE_WAY:
        host.on_notice(event(m, f, constants, t, trace))


@noinline
def at_sink(m: Any, f: Any, constants: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """Process a packet that has reached the sink's node; `head`: first word of its frame."""
    e = event(m, f, constants, t, trace)
    kind, packet, data = kind_of(head), number_of(head), is_data(head)
    if data:
        m[COUNTS + ManetOut.HOPS] += hop_of(head) + 1
        m[COUNTS + ManetOut.ARRIVED] += 1
    cause = np.int64(Error.OF_DATA) if data else np.int64(Error.AT_SINK)
    lost = residual_error(m, losses, cause, m[Manet.RESIDUAL] if data else m[Manet.ACK_RESIDUAL])
    if lost:
        if data:
            m[COUNTS + ManetOut.DROPS_RANDOM] += 1
        if not ONE_WAY and kind == Kind.DATA:
            association.corrupted(e.p, e.s, packet)
    elif kind == Kind.PROBE:
        send(m, m[Manet.SINK], t, head_of(np.int64(Kind.REPLY), packet, np.int64(0)))
    else:
        host.on_data(e, packet, transmission_id(head), data, False)
    if data:
        observer.on_arrival(m, f, trace, t, head, lost)


@noinline
def at_source(m: Any, f: Any, constants: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """Process a packet that has reached the source's node; `head`: first word of its frame."""
    if ONE_WAY:
        return
    if residual_error(m, losses, np.int64(Error.AT_SOURCE), m[Manet.ACK_RESIDUAL]):
        if is_ack(head):
            m[COUNTS + ManetOut.ACK_DROPS] += 1
        return
    e = event(m, f, constants, t, trace)
    if kind_of(head) == Kind.ACK:
        host.on_ack(e, number_of(head), is_ack(head))
    else:
        host.on_reply(e, number_of(head))


def size_of(m: Any, head: Any) -> Any:
    """Return the size of a packet of the association without data [byte]."""
    if ONE_WAY:
        return np.int64(0)
    s = m[m[Word.ASSOCIATION] :]
    if kind_of(head) == Kind.ACK:
        return association.size_of_ack(m, s, number_of(head))
    return association.size_of(m, s, number_of(head))


def is_last(m: Any, head: Any) -> Any:
    """Return whether a data packet is the last one."""
    return association.is_last(m, m[m[Word.ASSOCIATION] :], number_of(head))


def sequence_of(m: Any, number: Any) -> Any:
    """Return the number of a packet of the sender in traces; packets with a negative number are omitted."""
    return number if ONE_WAY else association.sequence_of(m, m[m[Word.ASSOCIATION] :], number)


@noinline
def show(m: Any, f: Any, trace: Any, n: Any) -> None:
    """Write the state of the sender to row n of the trace."""
    if not ONE_WAY:
        association.show(m[m[Word.ASSOCIATION] :], f, trace, n)


@noinline
def report(m: Any, end: Any, out: Any) -> None:
    """Write the sender's counters at `end` [ns] to the outcomes."""
    s = m[m[Word.ASSOCIATION] :]
    host.add_counters(out, np.int64(0), s, np.int64(1))
    if ONE_WAY:
        return
    out[ManetOut.ACKED] = association.acked(m, s)
    out[ManetOut.HANDSHAKES] = s[association.Counter.HANDSHAKES]
    out[ManetOut.PROBES] = s[association.Counter.PROBES]
    out[ManetOut.PROBE_CYCLES] = s[association.Counter.PROBE_CYCLES]
    out[ManetOut.PROBE_TIME] = s[association.Counter.PROBE_TIME]
    if s[association.Counter.PROBING] != 0:
        out[ManetOut.PROBE_TIME] += end - s[association.Counter.PROBING_SINCE]
    out[ManetOut.SPARED] = s[association.Counter.AVOIDED]
    if association.overfull(s):
        m[Word.FULL] = 1
