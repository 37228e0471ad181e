"""Connection of source and sink of the flow with their nodes, see `endpoints.contract.Port`."""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.discovery import send
from netcarlo.kernels.adhoc.frames import CONTROL, Kind, head_of
from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.state import COUNTS, NO_KEY, PHASE_BITS, Phase, Word, observer
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, NEVER
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
    """Let observers record what the source did."""
    observer.on_sent(e)


def on_retransmission_timeout(e: Any) -> None:
    """Let observers record a retransmission timeout."""
    observer.on_timeout(e)


def on_acknowledged(e: Any, is_ack: Any) -> None:
    """Note when all data are acknowledged, and let observers record the acknowledgement."""
    if e.m[COUNTS + ManetOut.FINISHED] == NEVER and association.finished(e.s):
        e.m[COUNTS + ManetOut.FINISHED] = e.t
    if is_ack:
        observer.on_ack(e)


def on_delivered(e: Any, packet: Any) -> None:
    """Let observers record a packet that has arrived for the first time."""
    observer.on_delivered(e, packet)


def on_complete(e: Any) -> None:
    """Finish a one-way flow when all data have arrived."""
    if ONE_WAY:
        e.m[COUNTS + ManetOut.FINISHED] = e.t
