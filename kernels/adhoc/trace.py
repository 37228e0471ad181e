"""The trace of a run: `trace`, float64[T, len(Trace)], has no rows when there is nothing to trace."""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.frames import Kind, kind_of, number_of
from netcarlo.kernels.adhoc.layout import METRE, Manet
from netcarlo.kernels.adhoc.motion import position
from netcarlo.kernels.adhoc.routes import LENGTH_MASK, node
from netcarlo.kernels.adhoc.state import NODE_WORDS, NODES, Node, Word, hosts
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_LINK, EVENT_PLACE, EVENT_ROUTE, Trace
from netcarlo.kernels.base.trace import begin


@noinline
def _record(m: Any, trace: Any, t: Any, event: Any, sequence: Any, at_node: Any) -> Any:
    """Begin a row; returns its number, or -1 if the trace is full. It is counted in any case."""
    n = m[Word.TRACED]
    m[Word.TRACED] = n + 1
    return n if begin(trace, n, t * 1e-9, event, sequence, at_node) else np.int64(-1)


@noinline
def trace_flow(m: Any, f: Any, trace: Any, t: Any, event: Any, number: Any, i: Any) -> None:
    """Write an event of a segment at node i, with the state of the sender."""
    n = _record(m, trace, t, event, number, i)
    if n >= 0:
        hosts.show(m, f, trace, n)


@noinline
def trace_acked(m: Any, f: Any, trace: Any, t: Any, event: Any, ahead: Any) -> None:
    """Write an event of the segment `ahead` of the last acknowledged one at the source."""
    n = _record(m, trace, t, event, np.int64(0), m[Manet.SOURCE])
    if n >= 0:
        hosts.show(m, f, trace, n)
        trace[n, Trace.SEQUENCE] = trace[n, Trace.ACKED] + ahead


@noinline
def trace_packet(m: Any, f: Any, trace: Any, t: Any, event: Any, head: Any, i: Any) -> None:
    """Write an event of a packet of the sender at node i, if traces number such packets."""
    if kind_of(head) == Kind.DATA:
        sequence = hosts.sequence_of(m, number_of(head))
        if sequence >= 0:
            trace_flow(m, f, trace, t, event, sequence, i)


@noinline
def trace_leg(m: Any, trace: Any, t: Any, i: Any) -> None:
    """Node i is on another leg: where it is [m], its velocity [m/s]."""
    n = _record(m, trace, t, np.int64(EVENT_PLACE), i, np.int64(-1))
    if n >= 0:
        at = NODES + i * NODE_WORDS
        x, y = position(m, i, t)
        trace[n, Trace.CWND] = x / METRE
        trace[n, Trace.SSTHRESH] = y / METRE
        trace[n, Trace.RTO] = m[at + Node.VX] / METRE
        trace[n, Trace.ACKED] = m[at + Node.VY] / METRE


@noinline
def trace_link(m: Any, trace: Any, t: Any, i: Any, j: Any) -> None:
    """A link has come (1) or gone (0)."""
    n = _record(m, trace, t, np.int64(EVENT_LINK), i, j)
    if n >= 0:
        trace[n, Trace.CWND] = m[NODES + i * NODE_WORDS + Node.LINK] >> j & 1


@noinline
def trace_route(m: Any, trace: Any, t: Any) -> None:
    """The nodes on the route of the data, if it has changed; -1: there is none."""
    now = m[Word.ROUTE]
    if now == m[Word.SHOWN_ROUTE]:
        return
    m[Word.SHOWN_ROUTE] = now
    event = np.int64(EVENT_ROUTE)
    if now == 0:
        _record(m, trace, t, event, np.int64(0), np.int64(-1))
    for k in range(now & LENGTH_MASK):
        _record(m, trace, t, event, np.int64(k), node(now, np.int64(k)))


@noinline
def trace_start(m: Any, trace: Any) -> None:
    """Write the positions of all nodes and the links at time 0."""
    for i in range(m[Manet.NODES]):
        trace_leg(m, trace, np.int64(0), np.int64(i))
        for j in range(i + 1, m[Manet.NODES]):
            if m[NODES + i * NODE_WORDS + Node.LINK] >> j & 1:
                trace_link(m, trace, np.int64(0), np.int64(i), np.int64(j))
