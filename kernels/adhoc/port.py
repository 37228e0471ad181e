"""Connection of source and sink of the flow with their nodes, see `endpoints.contract.Port`."""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc import delays
from netcarlo.kernels.adhoc.discovery import send
from netcarlo.kernels.adhoc.frames import CONTROL, Kind, head_of
from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.state import COUNTS, DELAYS, NO_KEY, PHASE_BITS, Phase, Word
from netcarlo.kernels.adhoc.trace import trace_acked, trace_flow, trace_route
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_ACK, EVENT_STATE, EVENT_TIMEOUT, FOREVER, NEVER
from netcarlo.kernels.endpoints import host

ONE_WAY: Any = slot("one_way")
association: Any = slot("association")

Count = ManetOut


class Event(NamedTuple):
    """An event of the flow, see `endpoints.contract.Event`."""

    m: Any
    p: Any
    s: Any
    g: Any
    constants: Any
    t: Any
    counts: Any
    trace: Any
    """Rows of the trace; no rows if none is written."""


def event(m: Any, f: Any, constants: Any, t: Any, trace: Any) -> Any:
    """Return an event of the flow at time t [ns]."""
    return Event(m, m, m[m[Word.ASSOCIATION] :], f, constants, t, np.int64(COUNTS), trace)


@noinline
def schedule(e: Any) -> None:
    """Set the key of the flow to its next event."""
    t = min(e.m[Word.FLOW_AT], host.due(e.s))
    key = t << PHASE_BITS | Phase.FLOW if t < FOREVER else np.int64(NO_KEY)
    e.m[e.m[Word.KEYS] + e.m[Manet.NODES]] = key


def is_blocked(e: Any) -> Any:
    """Return False: a full queue drops packets."""
    return False


def put_data(e: Any, packet: Any, copy: Any, is_data: Any) -> None:
    """Send a packet of the sender from the source's node."""
    head = head_of(np.int64(Kind.DATA), packet, copy)
    send(e.m, e.m[Manet.SOURCE], e.t, head if is_data else head | CONTROL)


def put_probe(e: Any, number: Any) -> None:
    """Send a probe segment from the source's node."""
    send(e.m, e.m[Manet.SOURCE], e.t, head_of(np.int64(Kind.PROBE), number, np.int64(0)))


def put_answer(e: Any, answer: Any, is_ack: Any) -> None:
    """Send a packet of the receiver from the sink's node."""
    head = head_of(np.int64(Kind.ACK), answer, np.int64(0))
    send(e.m, e.m[Manet.SINK], e.t, head if is_ack else head | CONTROL)


def on_overflow(e: Any) -> None:
    """End the run: it is repeated with larger rings."""
    e.m[Word.FULL] = 1


def on_sent(e: Any) -> None:
    """Trace a change of the route of the data or of the state of the sender."""
    if e.trace.shape[0] > 0:
        trace_route(e.m, e.trace, e.t)
        probing = np.int64(0) if ONE_WAY else e.s[association.Counter.PROBING]
        if probing != e.m[Word.SHOWN_PROBING]:
            e.m[Word.SHOWN_PROBING] = probing
            trace_flow(e.m, e.g, e.trace, e.t, np.int64(EVENT_STATE), probing, e.m[Manet.SOURCE])


def on_retransmission_timeout(e: Any) -> None:
    """Trace a retransmission timeout."""
    if e.trace.shape[0] > 0:
        trace_acked(e.m, e.g, e.trace, e.t, np.int64(EVENT_TIMEOUT), np.int64(1))


def on_acknowledged(e: Any, is_ack: Any) -> None:
    """Note when all data are acknowledged, and trace the acknowledgement."""
    if e.m[COUNTS + ManetOut.FINISHED] == NEVER and association.finished(e.s):
        e.m[COUNTS + ManetOut.FINISHED] = e.t
    if e.trace.shape[0] > 0 and is_ack:
        trace_acked(e.m, e.g, e.trace, e.t, np.int64(EVENT_ACK), np.int64(0))


def on_delivered(e: Any, packet: Any) -> None:
    """Record the delay of a packet that has arrived for the first time."""
    if DELAYS:
        delays.arrived(e.m, association.delay_of(e.p, e.s, e.t, packet))


def on_complete(e: Any) -> None:
    """Finish a one-way flow when all data have arrived."""
    if ONE_WAY:
        e.m[COUNTS + ManetOut.FINISHED] = e.t
