"""Fluid model of a stream of datagrams over a path with outages, or to a mobile host.

Datagrams do not react to the network. The stream is cut at its interruptions: the datagrams of a span pass
the queue of the overloaded hops, and arrive, are lost in the interruption, or wait in the buffer of an access
router. Random losses are those of the packet engine, counted by hop.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import NEVER, STATUS_OK, Hop, Out, Rows
from netcarlo.kernels.base.parameters import MobileP, RowP, UdpP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.fluid import gaps, handovers
from netcarlo.kernels.fluid.chance import survival
from netcarlo.kernels.fluid.route import HopWord, Route, RouteWord, find_outage, prepare, words
from netcarlo.kernels.fluid.state import ONE, ONE_BITS

MOBILE: Any = slot("mobile")
"""True if the last hop is the radio link of a mobile host."""

PATH = np.int64(0)
"""Number of the only path."""
UNLIMITED = 1 << 40
"""Room of a queue without a limit [packet]."""


class Word(IntEnum):
    """Words of scratch of a stream; those of the path follow, then those of the handovers."""

    QUEUED = 0
    """Datagrams in the queue of the bottleneck [packet, ONE_BITS]."""
    FRACTION = 1
    """Part of a datagram that is not yet counted as dropped by the queue [packet, ONE_BITS]."""
    PASSED = 2
    """Datagrams that reach the host if none is lost at random [packet]."""
    LAST = 3
    """Arrival of the latest of them [ns]."""
    SIZE = 4


class Bottleneck(NamedTuple):
    """Hops whose load by the stream and its cross traffic exceeds their rate, as one queue."""

    hop: Any
    """Number of the hop with the highest load."""
    spacing: Any
    """Mean time between datagrams of the stream that leave the full queue, float [ns]."""
    room: Any
    """Datagrams of the stream in the full queue [packet, ONE_BITS]; 0 if no queue fills."""


class Row(NamedTuple):
    """Arrays of a row."""

    p: Any
    """Columns of the scenario."""
    m: Any
    """Words of the stream (`Word`), with which the scratch begins."""
    w: Any
    """Words of the path (`RouteWord`)."""
    j: Any
    """Words of the handovers of a mobile host (`handovers.Word`)."""
    hops: Any
    """Columns of the hops (`Hop`), [path, hop, column]."""
    outages: Any
    """Start and end of each outage [ns], [path, hop, outage, 2]."""
    losses: Any
    """Loss table, see `base.loss`."""
    out: Any
    """Outcomes (`Out`)."""
    size: Any
    """Datagram on the wire [byte]."""
    route: Route
    """Path while no hop has an outage."""
    bottleneck: Bottleneck
    """Queue of the overloaded hops."""


def scratch_words(rows: Rows, *, mobile: bool) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    journey = handovers.scratch_words(rows) if mobile else 0
    return Word.SIZE + words(rows.hops.shape[2]) + journey, 1


def simulate(
    p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    end = Word.SIZE + words(hops.shape[1])
    for word in range(end):
        m[word] = 0
    for column in range(len(out)):
        out[column] = 0
    for column in (Out.FIRST_RX, Out.LAST_RX, Out.RESUME_TX, Out.RESUME_RX, Out.COMPLETED):
        out[column] = NEVER
    w, j, size = m[Word.SIZE :], m[end:], p[RowP.DATA] + p[RowP.HEADER]
    route = prepare(p, hops, losses, w, PATH, size)
    if MOBILE:
        route = handovers.prepare(p, hops, outages, w, j, out, route)
    gaps.prepare(p, hops, losses, w, PATH, np.int64(0))
    row = Row(p, m, w, j, hops, outages, losses, out, size, route, _bottleneck(p, hops, losses, size))
    t, stop = p[RowP.START], min(p[UdpP.STOP], p[RowP.END] + 1)
    while t < stop:
        t = _span(row, t, stop)
    out[Out.DROPS_RANDOM] = gaps.lose(p, hops, losses, w, PATH, m[Word.PASSED] << ONE_BITS)
    _report(row, stop)
    return 0


def _bottleneck(p: Any, hops: Any, losses: Any, size: Any) -> Bottleneck:
    """Return the queue of the overloaded hops among `hops` for datagrams of `size` bytes.

    A full queue admits packets of the stream and of cross traffic in proportion to their rates. Random losses
    of a hop leave less to the next ones.
    """
    spacing, survive = float(max(p[UdpP.INTERVAL], 1)), 1.0
    most, busiest, room = 0.0, np.int64(0), np.int64(0)
    for hop in range(hops.shape[1]):
        h = hops[PATH, hop]
        if h[Hop.PRESENT] != 0:
            load, share = float(on_wire(size, h[Hop.BYTE_TIME])) / (spacing / survive), 1.0
            if h[Hop.CROSS_EVERY] > 0:
                every = float(h[Hop.CROSS_EVERY])
                load += float(on_wire(h[Hop.CROSS_SIZE], h[Hop.BYTE_TIME])) / every
                share = 1.0 / (1.0 + spacing / survive / every)
            if load > most:
                most, busiest = load, np.int64(hop)
            if load > 1.0:
                limit = h[Hop.QUEUE] - 1 if h[Hop.QUEUE] > 0 else np.int64(UNLIMITED)
                room = min(room + np.int64(float(limit) * share * ONE), np.int64(UNLIMITED << ONE_BITS))
                spacing *= load
            survive *= survival(losses, h[Hop.LOSS])
    return Bottleneck(busiest, spacing, room)


def _sent_before(p: Any, t: Any) -> Any:
    """Return the number of datagrams that the source sends before `t` [ns]."""
    every = max(p[UdpP.INTERVAL], 1)
    return min(max((t - p[RowP.START] + every - 1) // every, np.int64(0)), p[RowP.LIMIT])


def _span(row: Row, t: Any, stop: Any) -> Any:
    """Simulate datagrams sent from `t` to the end of the next interruption, or to `stop`; return that time
    [ns]."""
    p, m, w, out = row.p, row.m, row.w, row.out
    _find_interruption(row, t)
    begin = min(max(w[RouteWord.DOWN], t), stop)
    end = min(max(w[RouteWord.UP], begin), stop)
    _pass(row, t, begin)
    if begin >= stop:
        return stop
    handover = MOBILE and row.j[handovers.Word.KEPT] == 1
    hop = _interrupted_hop(row)
    upstream = row.j[handovers.Word.WIRED] == 0 if handover else hop <= row.bottleneck.hop
    hits = _sent_before(p, end) - _sent_before(p, begin)
    if hop == row.bottleneck.hop and not handover:  # the outage destroys the queue of its hop
        before = _bottleneck(p, row.hops[:, :hop], row.losses, row.size)
        room = _bottleneck(p, row.hops[:, : hop + 1], row.losses, row.size).room - before.room
        gone = min(min(m[Word.QUEUED], room) >> ONE_BITS, m[Word.PASSED])
        out[Out.DESTROYED] += gone
        m[Word.PASSED] -= gone
        m[Word.QUEUED] -= gone << ONE_BITS
    if upstream:
        _drain(row, end - begin)
    else:
        hits = _enqueue(row, begin, end)
    if handover:
        no_buffer = row.j[handovers.Word.ROOM] == 0 and p[MobileP.BUFFER] > 0
        out[Out.DROPS_BUFFER if no_buffer else Out.DROPS_HANDOVER] += hits
        row.j[handovers.Word.NEXT] += 1
        return _pass_late(row, end, stop)
    out[Out.DROPS_OUTAGE] += hits
    return end


def _find_interruption(row: Row, t: Any) -> None:
    """Find the next outage or handover after `t` [ns], as the source observes it."""
    p, w, j = row.p, row.w, row.j
    if MOBILE:
        find_outage(row.hops[:, : j[handovers.Word.RADIO]], row.outages, w, PATH, t)
        base = row.route.base_rtt
        in_flight = float(base) / float(max(p[UdpP.INTERVAL], 1))
        handovers.find(p, w, j, t, base, _wait(row), in_flight)
    else:
        find_outage(row.hops, row.outages, w, PATH, t)


def _interrupted_hop(row: Row) -> Any:
    """Return the number of the hop whose outage is the next interruption; -1 if there is none."""
    found = np.int64(-1)
    for hop in range(row.hops.shape[1]):
        if row.hops[PATH, hop, Hop.PRESENT] != 0:
            times = row.w[RouteWord.HOPS + HopWord.SIZE * hop :]
            k = times[HopWord.OUTAGE]
            if k < row.outages.shape[2]:
                down = row.outages[PATH, hop, k, 0] - times[HopWord.LEAVES]
                if down == row.w[RouteWord.DOWN]:
                    found = np.int64(hop)
    return found


def _wait(row: Row) -> Any:
    """Return the queueing delay at the bottleneck [ns]."""
    return np.int64(float(row.m[Word.QUEUED]) / ONE * row.bottleneck.spacing)


def _drain(row: Row, length: Any) -> None:
    """Serve the queue for `length` [ns]."""
    served = np.int64(float(length) / row.bottleneck.spacing * ONE)
    row.m[Word.QUEUED] = max(row.m[Word.QUEUED] - served, np.int64(0))


def _enqueue(row: Row, begin: Any, end: Any) -> Any:
    """Add datagrams sent from `begin` to `end` [ns] to the queue; return how many it does not drop."""
    m, room = row.m, row.bottleneck.room
    count = _sent_before(row.p, end) - _sent_before(row.p, begin)
    if room == 0:
        return count
    m[Word.QUEUED] += count << ONE_BITS
    _drain(row, end - begin)
    over = max(m[Word.QUEUED] - room, np.int64(0))
    m[Word.QUEUED] -= over
    over += m[Word.FRACTION]
    m[Word.FRACTION] = over & (ONE - 1)
    row.out[Out.DROPS_QUEUE] += over >> ONE_BITS
    return count - (over >> ONE_BITS)


def _pass(row: Row, begin: Any, end: Any) -> None:
    """Carry datagrams sent from `begin` to `end` [ns] over the path; only those that arrive before the end of
    the run count.

    Their queueing delay changes in proportion to the time.
    """
    if end <= begin:
        return
    m, before = row.m, _wait(row)
    count = _enqueue(row, begin, end)
    after = _wait(row)
    longest = float(row.p[RowP.END] - row.route.one_way - before - begin)
    share = min(max(longest / float(end - begin + after - before), 0.0), 1.0)
    m[Word.PASSED] += np.int64(float(count) * share)
    last = row.p[RowP.START] + (_sent_before(row.p, end) - 1) * row.p[UdpP.INTERVAL]
    m[Word.LAST] = last + row.route.one_way + after


def _pass_late(row: Row, begin: Any, stop: Any) -> Any:
    """Deliver the datagrams that wait for the host after a handover, sent from `begin` [ns] on.

    Returns when the first one is sent that does not wait, or `stop` [ns].
    """
    p, m, j, out = row.p, row.m, row.j, row.out
    resumes = row.w[RouteWord.RESUME] - j[handovers.Word.BACK]  # the first of them arrives
    wait = _wait(row) if j[handovers.Word.WIRED] == 1 else np.int64(0)
    until = min(max(resumes - row.route.one_way - wait, begin), stop)
    late = _enqueue(row, begin, until)
    over = max(late - j[handovers.Word.ROOM], np.int64(0))
    out[Out.DROPS_BUFFER] += over
    late -= over
    radio = row.hops[PATH, j[handovers.Word.RADIO], Hop.QUEUE]
    if radio > 0 and late > radio:  # the buffer is released at once to the queue of the radio link
        out[Out.DROPS_QUEUE] += late - radio
        late = radio
    if late > 0 and resumes <= p[RowP.END]:
        m[Word.PASSED] += late
        m[Word.LAST] = resumes
    return until


def _report(row: Row, stop: Any) -> None:
    """Write the outcomes of the stream, whose drops are known."""
    p, m, out = row.p, row.m, row.out
    sent = _sent_before(p, stop)
    arrived = max(m[Word.PASSED] - out[Out.DROPS_RANDOM], np.int64(0))
    out[Out.STATUS] = STATUS_OK
    out[Out.SENT] = sent
    out[Out.RECEIVED] = arrived
    out[Out.DELIVERED] = arrived
    if arrived == p[RowP.LIMIT]:
        out[Out.COMPLETED] = m[Word.LAST]
    if MOBILE:
        gone = out[Out.DROPS_QUEUE] + out[Out.DROPS_RANDOM] + out[Out.DROPS_HANDOVER]
        gone += out[Out.DROPS_BUFFER] + out[Out.DROPS_OUTAGE] + out[Out.DESTROYED]
        out[Out.IN_FLIGHT] = max(sent - arrived - gone, np.int64(0))
