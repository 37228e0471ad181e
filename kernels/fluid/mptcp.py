"""Fluid model of MPTCP: a fluid of today's Linux on each path, and what the subflows share.

Each subflow has its own window, losses and timer, as in `path`. Subflows share the data of a finite transfer
and the receive window. Coupled congestion controls have no fluid model.

Scratch has a block of words for each subflow: those of its flow (`FlowWord`), of its path (`RouteWord`), of
the subflow (`Sub`) and of its outcomes (`Out`). Float memory has a block for each subflow.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import (
    ENDLESS,
    MPTCP_PATHS,
    NEVER,
    PATHS,
    FurtherSubflows,
    Out,
    Rows,
    Subflows,
)
from netcarlo.kernels.base.parameters import MptcpP, ReliableP, RowP, TcpP
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.fluid import arrivals, bbr, linux, loss, timer
from netcarlo.kernels.fluid.path import through
from netcarlo.kernels.fluid.report import report, sample
from netcarlo.kernels.fluid.round import advance
from netcarlo.kernels.fluid.round import prepare as prepare_flow
from netcarlo.kernels.fluid.route import Route, burst_room, find_outage, is_down, prepare, words
from netcarlo.kernels.fluid.state import ONE_BITS, FlowFloat, FlowWord, State, is_waiting

KIND: Any = slot("kind")
"""Number of the TCP variant of each subflow, see `senders`."""

OUT = len(Out)
PATH = np.int64(0)
"""Number of a path in the arrays of its subflow."""
JOIN_ROUNDS = 2
"""Round trips from the SYN of a further subflow until it may carry data (RFC 8684, section 3.2)."""


class Sub(IntEnum):
    """Words of a subflow, following those of its path."""

    NEXT = 0  # start of its next round [ns]
    THROUGH = 1  # distinct packets delivered [packet, ONE_BITS]
    BASE_RTT = 2  # from here to ONE_WAY: fields of `Route`, except `service`
    CAPACITY = 3
    LOSS = 4
    LOSS_ODDS = 5
    ONE_WAY = 6
    BURST = 7  # window at which bursts of slow start overflow a queue [packet]
    ARRIVED = 8  # arrival time of the last packets of its latest round [ns]
    SIZE = 9


class SubFloat(IntEnum):
    """Floats of a subflow, following those of the flow."""

    SERVICE = FlowFloat.SIZE  # service time of a packet at the slowest hop [ns]
    RTT = FlowFloat.SIZE + 1  # latest round trip [ns]; 0 until it may carry data
    SIZE = FlowFloat.SIZE + 2


class Row(NamedTuple):
    """Arrays of a subflow; the fields up to `probe_rtt` are those of `path.Row`."""

    p: Any
    """Columns of the scenario (`P`)."""
    s: Any
    """Words of the flow (`FlowWord`)."""
    g: Any
    """Floats of the flow (`FlowFloat`, `SubFloat`)."""
    w: Any
    """Words of the path (`RouteWord`)."""
    j: Any
    """Words of the subflow (`Sub`)."""
    hops: Any
    """Columns of the hops of the path (`Hop`), [1, hop, column]."""
    losses: Any
    """Loss table, see `base.loss`."""
    outages: Any
    """Start and end of each outage [ns], [1, hop, outage, 2]."""
    out: Any
    """Outcomes of the subflow (`Out`)."""
    route: Route
    """Path of the subflow while no hop has an outage."""
    burst: Any
    """Window at which bursts of slow start overflow a queue [packet]; ENDLESS if they do not."""
    probe_rtt: Any
    """0: MPTCP sends no probes."""


def words_of_subflow(hops: int) -> int:
    """Return the number of words of a subflow whose path has at most `hops` hops."""
    return FlowWord.SIZE + words(hops) + Sub.SIZE + OUT


def scratch_words(rows: Rows) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    return MPTCP_PATHS * words_of_subflow(rows.hops.shape[2]), MPTCP_PATHS * SubFloat.SIZE


def simulate(
    p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    for word in range(len(m)):
        m[word] = 0
    for word in range(len(g)):
        g[word] = 0.0
    for column in range(len(out)):
        out[column] = 0
    count = p[MptcpP.SUBFLOWS]
    for path in range(count):
        _prepare(p, hops, losses, m, g, path)
    _connect(p, hops, outages, losses, m, g)
    while out[Out.COMPLETED] == 0:
        _step(p, hops, outages, losses, m, g, out)
    _report(p, hops, m, g, out)
    return 0


def place_of(hops: Any, path: Any) -> Any:
    """Return the first word of the subflow of a path."""
    return path * words_of_subflow(hops.shape[1])


def own_words(hops: Any, path: Any) -> Any:
    """Return the first word of `Sub` for the subflow of a path."""
    return place_of(hops, path) + FlowWord.SIZE + words(hops.shape[1])


def _prepare(p: Any, hops: Any, losses: Any, m: Any, g: Any, path: Any) -> None:
    """Initialise the subflow of a path."""
    s, j, f = m[place_of(hops, path) :], m[own_words(hops, path) :], g[path * SubFloat.SIZE :]
    size = p[RowP.DATA] + p[RowP.HEADER]
    route = prepare(p, hops, losses, s[FlowWord.SIZE :], path, size)
    s[FlowWord.NUMBER] = path
    prepare_flow(p, s, f)
    linux.begin(f, p, route.service, float(route.base_rtt))
    bbr.begin(f, path, 1.0)
    loss.draw_first(s, p)
    j[Sub.BASE_RTT], j[Sub.CAPACITY] = route.base_rtt, route.capacity
    j[Sub.LOSS], j[Sub.LOSS_ODDS], j[Sub.ONE_WAY] = route.loss, route.loss_odds, route.one_way
    j[Sub.BURST] = burst_room(hops, path, size, route.service / 2.0)
    j[Sub.SIZE + Out.COMPLETED] = NEVER
    f[SubFloat.SERVICE] = route.service


def _row(p: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, path: Any) -> Any:
    """Return the arrays of the subflow of a path."""
    s, j, f = m[place_of(hops, path) :], m[own_words(hops, path) :], g[path * SubFloat.SIZE :]
    route = Route(
        j[Sub.BASE_RTT], f[SubFloat.SERVICE], j[Sub.CAPACITY], j[Sub.LOSS], j[Sub.LOSS_ODDS], j[Sub.ONE_WAY]
    )
    return Row(
        p, s, f, s[FlowWord.SIZE :], j, hops[path:], losses, outages[path:], j[Sub.SIZE :], route,
        j[Sub.BURST], np.int64(0),
    )  # fmt: skip


def _connect(p: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any) -> None:
    """Perform the handshakes of all subflows.

    Further subflows join after the first data of the first subflow have been acknowledged.
    """
    joins = p[RowP.START]
    for path in range(p[MptcpP.SUBFLOWS]):
        row = _row(p, hops, outages, losses, m, g, path)
        rounds = np.int64(JOIN_ROUNDS if path > 0 else p[TcpP.HANDSHAKE] > 0)
        t = _handshake(row, joins, rounds)
        row.j[Sub.NEXT] = t
        if path == 0:
            joins = t + row.route.base_rtt


def _handshake(row: Any, t: Any, rounds: Any) -> Any:
    """Perform a handshake of `rounds` round trips from `t` on; return its end [ns]."""
    p, s, w = row.p, row.s, row.w
    begin, rto = t, p[ReliableP.INITIAL_RTO]
    find_outage(row.hops, row.outages, w, PATH, t)
    while rounds > 0 and is_down(w, t) and t < p[RowP.END]:
        t += rto
        rto = min(2 * rto, p[ReliableP.MAX_RTO])
        find_outage(row.hops, row.outages, w, PATH, t)
    t += rounds * row.route.base_rtt
    if rounds > 0 and t == begin + rounds * row.route.base_rtt:
        timer.measure(s, p, t - row.route.base_rtt, t)
    return t


def _step(p: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any) -> None:
    """Simulate the next round of the subflow that is next in time.

    Sets Out.COMPLETED when the transfer is complete or the run ends.
    """
    path, t, got = np.int64(0), m[own_words(hops, 0) + Sub.NEXT], np.int64(0)
    for k in range(p[MptcpP.SUBFLOWS]):
        j = m[own_words(hops, k) :]
        got += j[Sub.THROUGH]
        if j[Sub.NEXT] < t:
            path, t = np.int64(k), j[Sub.NEXT]
    row = _row(p, hops, outages, losses, m, g, path)
    s, j = row.s, row.j
    if p[RowP.LIMIT] < ENDLESS:  # the limit is what no other subflow has delivered
        s[FlowWord.LIMIT] = (p[RowP.LIMIT] << ONE_BITS) - (got - j[Sub.THROUGH])
        if s[FlowWord.LIMIT] <= j[Sub.THROUGH]:
            out[Out.COMPLETED] = _completion(p, hops, m)
            return
    if t >= p[RowP.END]:
        out[Out.COMPLETED] = NEVER
        return
    row.g[FlowFloat.RECEIVE_WINDOW] = _window_left(p, hops, m, g, path)
    j[Sub.NEXT] = _round(row, t)
    j[Sub.THROUGH] = through(row)


def _window_left(p: Any, hops: Any, m: Any, g: Any, path: Any) -> Any:
    """Return the part of the shared receive window that a subflow may use [packet].

    It is what the other subflows leave, at least the subflow's share by the bandwidth-delay products of the
    paths, and at least one packet.
    """
    window, left = float(p[RowP.WINDOW]), float(p[RowP.WINDOW])
    products, own = 0.0, 0.0
    for k in range(p[MptcpP.SUBFLOWS]):
        f = g[k * SubFloat.SIZE :]
        product = float(m[own_words(hops, k) + Sub.BASE_RTT]) / f[SubFloat.SERVICE]
        products += product
        if k == path:
            own = product
        elif f[SubFloat.RTT] > 0.0:
            left -= f[FlowFloat.CWND]
    share = window / (products / max(own, 1.0))
    return max(float(int(max(left, share))), 1.0)


def _round(row: Any, t: Any) -> Any:
    """Simulate a round of a subflow from `t` on; return when its next round begins [ns]."""
    p, s, g, route = row.p, row.s, row.g, row.route
    packets = np.int64(g[FlowFloat.CWND])
    rtt = max(float(route.base_rtt), float(min(packets, route.capacity)) * route.service)
    g[SubFloat.RTT] = rtt
    begin = t
    t = arrivals.settle(p, s, row.out, route.service, route.one_way, begin, advance(row, t))
    if through(row) > row.j[Sub.THROUGH]:
        completed = row.out[Out.COMPLETED]
        row.j[Sub.ARRIVED] = completed if completed != NEVER else t + route.one_way
    sample(p, g[FlowFloat.CWND], row.out, begin, min(t, p[RowP.END]), rtt)
    if is_waiting(s):
        t = max(t, s[FlowWord.UNTIL])
        s[FlowWord.STATE] = State.OPEN
    return t


def _completion(p: Any, hops: Any, m: Any) -> Any:
    """Return the arrival time of the last packet of a transfer whose packets have all been sent [ns]."""
    found = np.int64(0)
    for path in range(p[MptcpP.SUBFLOWS]):
        found = max(found, m[own_words(hops, path) + Sub.ARRIVED])
    return found


def _report(p: Any, hops: Any, m: Any, g: Any, out: Any) -> None:
    """Write the outcomes of the connection to `out`: sums over the subflows, RTTs of the first one."""
    completed, total = out[Out.COMPLETED], m[place_of(hops, 0) :]
    first = m[own_words(hops, 0) + Sub.SIZE :]
    for path in range(p[MptcpP.SUBFLOWS]):
        s, of = m[place_of(hops, path) :], m[own_words(hops, path) + Sub.SIZE :]
        through_end = s[FlowWord.SENT] - (arrivals.lost(of) << ONE_BITS) - s[FlowWord.AFTER_END]
        own = max(through_end - s[FlowWord.DUPLICATES], np.int64(0)) >> ONE_BITS
        if path < PATHS:
            out[OUT + Subflows.DELIVERED + path] = own
        else:
            out[OUT + Subflows.COLUMNS + FurtherSubflows.DELIVERED + path - PATHS] = own
        for column in (Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE):
            out[column] += of[column]
        add(out, Out.CWND_SUM, Out.CWND_SUM_HIGH, of[Out.CWND_SUM])
        if path > 0:
            out[Out.SENT_ALTERNATE] += s[FlowWord.SENT] >> ONE_BITS
            for word in range(FlowWord.SIZE):
                if (
                    word in (FlowWord.SENT, FlowWord.AFTER_END, FlowWord.DUPLICATES)
                    or word >= FlowWord.COUNTS
                ):
                    total[word] += s[word]
    for column in (Out.SAMPLES, Out.RTT_SUM, Out.RTT_SUM_HIGH, Out.RTT_SAMPLES):
        out[column] = first[column]
    most = p[RowP.WINDOW] * 1024 * out[Out.SAMPLES]  # shares of the window are rounded
    if out[Out.CWND_SUM_HIGH] == 0:
        out[Out.CWND_SUM] = min(out[Out.CWND_SUM], most)
    out[Out.COMPLETED] = completed
    report(p, total, out)
    out[Out.SENT_ALTERNATE] = min(out[Out.SENT_ALTERNATE], out[Out.SENT])
