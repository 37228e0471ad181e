"""The hosts of source and sink: a stream of datagrams over the network (see `flow` for the other kind).

`m` is scratch, `t` the time [ns]; `trace`: see `trace`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import delays
from netcarlo.kernels.adhoc.discovery import send
from netcarlo.kernels.adhoc.frames import Kind, head_of, hop_of, number_of
from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.residual import Error, residual_error
from netcarlo.kernels.adhoc.state import COUNTS, DELAYS, NO_KEY, PHASE_BITS, Phase, Word
from netcarlo.kernels.adhoc.trace import trace_flow, trace_route
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_LOST, EVENT_RECEIVE, FOREVER, NEVER, STREAM_DATAGRAM, P
from netcarlo.kernels.udp import sink
from netcarlo.kernels.udp.source import first, following, offset_of


@noinline
def prepare(m: Any, f: Any, free: Any) -> None:
    """Lays out the sink from word `free` on."""
    m[Word.ASSOCIATION] = free
    m[Word.FLOW_AT] = first(m)
    sink.prepare(m, m, free)


def size_of(m: Any, head: Any) -> Any:
    """There are no packets but of data."""
    return np.int64(0)


def is_last(m: Any, head: Any) -> Any:
    """Return whether a datagram, whose frame begins with `head`, is the last one."""
    return number_of(head) + 1 == m[P.LIMIT]


def sequence_of(m: Any, number: Any) -> Any:
    """What a trace calls a datagram."""
    return number


@noinline
def rekey(m: Any) -> None:
    """The next event of the flow has changed."""
    t = m[Word.FLOW_AT]
    m[m[Word.KEYS] + m[Manet.NODES]] = t << PHASE_BITS | Phase.FLOW if t < FOREVER else np.int64(NO_KEY)


@noinline
def at_flow(m: Any, f: Any, constants: Any, t: Any, trace: Any) -> None:
    """The next datagram is put out."""
    number = m[COUNTS + ManetOut.SENT]
    m[COUNTS + ManetOut.SENT] += 1
    m[Word.FLOW_AT] = following(m, number, t)
    send(m, m[Manet.SOURCE], t, head_of(np.int64(Kind.DATA), number, np.int64(0)))
    rekey(m)
    if trace.shape[0] > 0:
        trace_route(m, trace, t)


def noticed(m: Any, f: Any, constants: Any, t: Any, trace: Any) -> None:
    """A broken link is no concern of the source's."""
    m[Word.NOTICE] = 0


@noinline
def at_sink(m: Any, f: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """A datagram has reached the sink's node; `head`: first word of its frame."""
    number = number_of(head)
    m[COUNTS + ManetOut.HOPS] += hop_of(head) + 1
    m[COUNTS + ManetOut.ARRIVED] += 1
    lost = residual_error(m, losses, np.int64(Error.OF_DATA), m[Manet.RESIDUAL])
    if lost:
        m[COUNTS + ManetOut.DROPS_RANDOM] += 1
    else:
        _count(m, t, number)
    if trace.shape[0] > 0:
        event = np.int64(EVENT_LOST) if lost else np.int64(EVENT_RECEIVE)
        trace_flow(m, f, trace, t, event, number, m[Manet.SINK])


def _count(m: Any, t: Any, number: Any) -> None:
    """A datagram has reached the application."""
    what = sink.arrive(m, m, m[Word.ASSOCIATION], number)
    if what == sink.OLD:
        m[Word.FULL] = 1
    m[COUNTS + ManetOut.RECEIVED] += 1
    m[COUNTS + ManetOut.LAST_RX] = t
    if m[COUNTS + ManetOut.FIRST_RX] == NEVER:
        m[COUNTS + ManetOut.FIRST_RX] = t
    if what == sink.NEW:
        m[COUNTS + ManetOut.DELIVERED] += 1
        if DELAYS:
            every, spread = m[P.INTERVAL], m[P.SPREAD]
            offset = offset_of(m, m, np.int64(Word.KNOWN), STREAM_DATAGRAM, number, every, spread)
            delays.arrived(m, t - m[P.START] - offset)
        if m[COUNTS + ManetOut.DELIVERED] == m[P.LIMIT]:
            m[COUNTS + ManetOut.COMPLETED] = t
            m[COUNTS + ManetOut.FINISHED] = t


def at_source(m: Any, f: Any, constants: Any, losses: Any, t: Any, head: Any, trace: Any) -> None:
    """Nothing comes back."""


def report(m: Any, end: Any, out: Any) -> None:
    """There is nothing that is not counted yet."""


def show(m: Any, f: Any, trace: Any, n: Any) -> None:
    """The sender has no state to show."""
