"""Observer that writes the trace of a run: `trace`, float64[T, len(Trace)], with T = 0 for no trace."""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.frames import Kind, kind_of, number_of
from netcarlo.kernels.adhoc.layout import METRE, Manet
from netcarlo.kernels.adhoc.motion import position
from netcarlo.kernels.adhoc.state import NODE_WORDS, NODES, Node, Word, hosts, routes, sets
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_LINK,
    EVENT_LOST,
    EVENT_PLACE,
    EVENT_RECEIVE,
    EVENT_ROUTE,
    EVENT_SEND,
    EVENT_STATE,
    EVENT_TIMEOUT,
    Trace,
)
from netcarlo.kernels.base.trace import begin

ONE_WAY: Any = slot("one_way")
association: Any = slot("association")


@noinline
def on_start(m: Any, trace: Any) -> None:
    """Write the positions of all nodes and the links at time 0."""
    if trace.shape[0] > 0:
        for i in range(m[Manet.NODES]):
            on_leg(m, trace, np.int64(0), np.int64(i))
            for j in range(i + 1, m[Manet.NODES]):
                if sets.holds(m, NODES + i * NODE_WORDS + Node.LINK, j):
                    on_link(m, trace, np.int64(0), np.int64(i), np.int64(j))


@noinline
def on_leg(m: Any, trace: Any, t: Any, i: Any) -> None:
    """Write the position [m] at which node i starts a leg, and its velocity [m/s]."""
    if trace.shape[0] > 0:
        n = _record(m, trace, t, np.int64(EVENT_PLACE), i, np.int64(-1))
        if n >= 0:
            at = NODES + i * NODE_WORDS
            x, y = position(m, i, t)
            trace[n, Trace.CWND] = x / METRE
            trace[n, Trace.SSTHRESH] = y / METRE
            trace[n, Trace.RTO] = m[at + Node.VX] / METRE
            trace[n, Trace.ACKED] = m[at + Node.VY] / METRE


@noinline
def on_link(m: Any, trace: Any, t: Any, i: Any, j: Any) -> None:
    """Write that a link appeared (1) or broke (0)."""
    if trace.shape[0] > 0:
        n = _record(m, trace, t, np.int64(EVENT_LINK), i, j)
        if n >= 0:
            trace[n, Trace.CWND] = sets.holds(m, NODES + i * NODE_WORDS + Node.LINK, j)


def on_frames(m: Any, f: Any, trace: Any, t: Any, nodes: Any) -> None:
    """Write the packets of the sender in frames that `nodes` start to transmit."""
    if trace.shape[0] > 0:
        for k in range(m[Manet.NODES]):
            if sets.has(nodes, k):
                head = m[NODES + k * NODE_WORDS + Node.FRAME]
                _write_packet(m, f, trace, t, np.int64(EVENT_SEND), head, np.int64(k))


def on_retry_limit(m: Any, f: Any, trace: Any, t: Any, head: Any, i: Any) -> None:
    """Write that a packet of the sender is lost at node i."""
    if trace.shape[0] > 0:
        _write_packet(m, f, trace, t, np.int64(EVENT_LOST), head, i)


def on_arrival(m: Any, f: Any, trace: Any, t: Any, head: Any, lost: Any) -> None:
    """Write that a packet of the sender is received, or lost, at the sink's node."""
    if trace.shape[0] > 0:
        event = np.int64(EVENT_LOST) if lost else np.int64(EVENT_RECEIVE)
        _write_packet(m, f, trace, t, event, head, m[Manet.SINK])


def on_sent(e: Any) -> None:
    """Write a change of the route of the data, or the start or end of a pause of the sender."""
    if e.trace.shape[0] > 0:
        _write_route(e.m, e.trace, e.t)
        probing = np.int64(0) if ONE_WAY else e.s[association.Counter.PROBING]
        if probing != e.m[Word.SHOWN_PROBING]:
            e.m[Word.SHOWN_PROBING] = probing
            _write_flow(e.m, e.g, e.trace, e.t, np.int64(EVENT_STATE), probing, e.m[Manet.SOURCE])


def on_timeout(e: Any) -> None:
    """Write a retransmission timeout, with the first unacknowledged packet."""
    if e.trace.shape[0] > 0:
        _write_acked(e.m, e.g, e.trace, e.t, np.int64(EVENT_TIMEOUT), np.int64(1))


def on_ack(e: Any) -> None:
    """Write the last acknowledged packet."""
    if e.trace.shape[0] > 0:
        _write_acked(e.m, e.g, e.trace, e.t, np.int64(EVENT_ACK), np.int64(0))


@noinline
def _record(m: Any, trace: Any, t: Any, event: Any, sequence: Any, at_node: Any) -> Any:
    """Begin a row; returns its number, or -1 if the trace is full. It is counted in any case."""
    n = m[Word.TRACED]
    m[Word.TRACED] = n + 1
    return n if begin(trace, n, t * 1e-9, event, sequence, at_node) else np.int64(-1)


@noinline
def _write_flow(m: Any, f: Any, trace: Any, t: Any, event: Any, number: Any, i: Any) -> None:
    """Write an event of a segment at node i, with the state of the sender."""
    n = _record(m, trace, t, event, number, i)
    if n >= 0:
        hosts.show(m, f, trace, n)


@noinline
def _write_acked(m: Any, f: Any, trace: Any, t: Any, event: Any, ahead: Any) -> None:
    """Write an event of the segment `ahead` of the last acknowledged one at the source."""
    n = _record(m, trace, t, event, np.int64(0), m[Manet.SOURCE])
    if n >= 0:
        hosts.show(m, f, trace, n)
        trace[n, Trace.SEQUENCE] = trace[n, Trace.ACKED] + ahead


@noinline
def _write_packet(m: Any, f: Any, trace: Any, t: Any, event: Any, head: Any, i: Any) -> None:
    """Write an event of a packet of the sender at node i, if traces number such packets."""
    if kind_of(head) == Kind.DATA:
        sequence = hosts.sequence_of(m, number_of(head))
        if sequence >= 0:
            _write_flow(m, f, trace, t, event, sequence, i)


@noinline
def _write_route(m: Any, trace: Any, t: Any) -> None:
    """Write the nodes on the route of the data, if it has changed; -1: there is none."""
    now = routes.read(m, Word.ROUTE)
    if routes.equal(now, routes.read(m, Word.SHOWN_ROUTE)):
        return
    routes.write(m, Word.SHOWN_ROUTE, now)
    event = np.int64(EVENT_ROUTE)
    if not routes.exists(now):
        _record(m, trace, t, event, np.int64(0), np.int64(-1))
    for k in range(routes.length(now)):
        _record(m, trace, t, event, np.int64(k), routes.node(now, np.int64(k)))
