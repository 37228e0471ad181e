"""Artificial trace of an ad hoc network, with the rows that its engine writes."""

import numpy as np
from numpy.typing import NDArray

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

END_S = 40.0
SPEED_M_PER_S = 10.0


def events(nodes: int = 4) -> NDArray[np.float64]:
    """Return a trace in which node 0 sends to node 1 at (100, 0), and node 2 between them moves upwards
    from 10 s on.

    The links of node 2 end at 20 s, when it is at (50, 100). From 30 s on node 3, at (50, -20), is linked
    to both. Nodes from 4 on stand in a row further down.
    """
    found: list[list[float]] = []

    def add(
        t: float, event: int, sequence: int, path: int, *, cwnd: float = 0, ssthresh: float = 0,
        rto: float = 0, acked: float = 0,
    ) -> None:  # fmt: skip
        row = [0.0] * len(Trace)
        row[: Trace.FLOW] = [t, event, sequence, path, cwnd, ssthresh, rto, acked]
        found.append(row)

    def route(t: float, *way: int) -> None:
        for hop, node in enumerate(way or (-1,)):
            add(t, EVENT_ROUTE, hop, node)

    def link(t: float, i: int, j: int, on: int) -> None:
        add(t, EVENT_LINK, i, j, cwnd=on)

    still = [(0.0, 0.0), (100.0, 0.0), (50.0, 0.0), (50.0, -20.0)]
    for k in range(nodes):
        x, y = still[k] if k < 4 else (10.0 * k, -150.0)
        add(0, EVENT_PLACE, k, 0, cwnd=x, ssthresh=y)
    link(0, 0, 2, 1)
    link(0, 1, 2, 1)
    acked = 0
    for tenth in range(10, 401):
        t = tenth / 10
        state = {"cwnd": min(acked + 1, 20), "ssthresh": 20, "rto": 0.5, "acked": acked}
        if t == 10:
            add(t, EVENT_PLACE, 2, 0, cwnd=50, rto=0, acked=SPEED_M_PER_S)
        if t == 1:
            route(t, 0, 2, 1)
        elif t == 20:
            link(t, 0, 2, 0)
            link(t, 1, 2, 0)
            add(t, EVENT_LOST, acked + 1, 0, **state)
        elif t == 21:
            route(t)
            add(t, EVENT_TIMEOUT, acked + 1, 0, **state)
            add(t, EVENT_STATE, 1, 0)
        elif t == 30:
            link(t, 0, 3, 1)
            link(t, 1, 3, 1)
            route(t, 0, 3, 1)
            add(t, EVENT_STATE, 0, 0)
        if t < 20 or t >= 30:
            relay = 2 if t < 20 else 3
            for node in (0, relay):
                add(t + 0.001 * node, EVENT_SEND, acked + 1, node, **state)
            add(t + 0.01, EVENT_RECEIVE, acked + 1, 1, **state)
            acked += 1
            add(t + 0.02, EVENT_ACK, acked, 0, **{**state, "acked": acked})
    return np.array(found)
