"""Flows that arrive and depart: each occupies a slot, a flow of the row, which later flows use again.

A source is a Poisson process, whose arrivals take the first free one of its slots, or a user with one slot,
who downloads, thinks when all data have arrived, and downloads again. A slot is free when its sender knows
that all data have arrived and no packet of its flow is in flight: so no packet can be mistaken for one of the
next flow, which starts with new endpoints. An arrival that finds no free slot is blocked and lost; its user
thinks again.

`b` is where the block of flow `i` begins in scratch `m`, `p` are the columns of the row.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base import histogram, points
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_BEGIN, FOREVER, NEVER
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.shared import agenda, classes, delays, event_log, packet
from netcarlo.kernels.shared.agenda import Event
from netcarlo.kernels.shared.classes import ClassOut, SizeOut
from netcarlo.kernels.shared.layout import STREAM_ARRIVAL, STREAM_SIZE, Flow, FlowOut, Link, Shared
from netcarlo.kernels.shared.samples import take_samples
from netcarlo.kernels.shared.state import FlowWord, Word, block_of, place_of_link

ends: Any = slot("ends")

DELAYS: Any = slot("delays")
TRACED: Any = slot("traced")

_GAP_BITS = np.int64(10)
"""Fraction bits of the mean gap in which gaps are drawn."""
_TIMES = int(SizeOut.SLOWDOWNS - SizeOut.TIMES)
_SLOWDOWNS = int(SizeOut.COLUMNS - SizeOut.SLOWDOWNS)


@noinline
def prepare(p: Any, constants: Any, losses: Any, m: Any, free: Any) -> None:
    """Schedule the first arrivals before the start; outcomes of classes are stored from word `free` of
    scratch on."""
    m[Word.CLASSES] = free
    last_class = np.int64(0)
    for i in range(p[Shared.FLOWS]):
        b = block_of(m, i)
        last_class = max(last_class, m[b + Flow.CLASS])
        m[b + FlowWord.NEXT_ARRIVAL] = FOREVER
        m[b + FlowWord.STARTED] = NEVER
        if m[b + Flow.SLOTS] > 0:
            wait = _interarrival(p, losses, m, b, i)
            if m[b + Flow.GAP] == 0:
                _, wait = _draw_size(p, constants, m, b, i)
            m[b + FlowWord.NEXT_ARRIVAL] = m[b + RowP.START] + wait
            agenda.bring_arrival_forward(m, i, m[b + FlowWord.NEXT_ARRIVAL])
    for word in range(last_class * ClassOut.COLUMNS):
        m[free + word] = 0


@noinline
def on_arrival(p: Any, constants: Any, losses: Any, m: Any, f: Any, t: Any, i: Any) -> None:
    """Process the arrival of a flow at `t` [ns] at source `i`."""
    b = block_of(m, i)
    m[b + FlowWord.ARRIVALS] += 1
    size, think = _draw_size(p, constants, m, b, i)
    at, measured = _outcomes(m, b), t >= p[Shared.WARM_UP]
    found = _free_slot(m, i, t)
    packets = (size + m[b + RowP.DATA] - 1) // m[b + RowP.DATA]
    if measured:
        m[at + ClassOut.ARRIVALS] += 1
        m[at + ClassOut.BLOCKED] += found < 0
        m[at + ClassOut.OFFERED] += size
    m[b + FlowWord.NEXT_ARRIVAL] = FOREVER
    if m[b + Flow.GAP] > 0:
        m[b + FlowWord.NEXT_ARRIVAL] = t + _interarrival(p, losses, m, b, i)
    elif found < 0:
        m[b + FlowWord.NEXT_ARRIVAL] = t + think
    if found >= 0:
        _start_flow(p, m, f, found, t, size, packets, think)
    agenda.reschedule_arrival(m, i, m[b + FlowWord.NEXT_ARRIVAL])


@noinline
def on_completion(p: Any, m: Any, b: Any, i: Any, t: Any) -> None:
    """Process the arrival of the last missing packet of a flow at `t` [ns]."""
    if m[b + Flow.CLASS] > 0:
        at = _outcomes(m, b)
        if t >= p[Shared.WARM_UP]:
            m[at + ClassOut.COMPLETED] += 1
            m[at + ClassOut.PACKETS] += m[b + RowP.LIMIT]
        if m[b + FlowWord.STARTED] >= p[Shared.WARM_UP]:
            _count_completion(m, b, at, t - m[b + FlowWord.STARTED])
        if m[b + Flow.GAP] == 0:
            m[b + FlowWord.NEXT_ARRIVAL] = t + m[b + FlowWord.THINK_TIME]
            agenda.bring_arrival_forward(m, i, m[b + FlowWord.NEXT_ARRIVAL])


@noinline
def on_acknowledged(p: Any, m: Any, b: Any, t: Any) -> None:
    """Process the acknowledgement of all data of a flow at its sender at `t` [ns]."""
    if m[b + Flow.CLASS] > 0 and t >= p[Shared.WARM_UP]:
        m[_outcomes(m, b) + ClassOut.SHORT] += m[b + RowP.SHORT]


def on_packet_left(m: Any, b: Any, t: Any) -> None:
    """Count a packet of a flow that has arrived or was lost at `t` [ns]."""
    m[b + FlowWord.IN_FLIGHT] -= 1
    m[b + FlowWord.LAST_LEFT] = max(m[b + FlowWord.LAST_LEFT], t)


@noinline
def report(p: Any, m: Any, out: Any) -> None:
    """Write the outcomes of all classes."""
    last_class = np.int64(0)
    for i in range(p[Shared.FLOWS]):
        b = block_of(m, i)
        if m[b + Flow.CLASS] > 0 and m[b + FlowWord.STARTED] != NEVER:
            under_way = m[b + FlowWord.COUNTS + FlowOut.COMPLETED] == NEVER
            m[_outcomes(m, b) + ClassOut.ACTIVE] += under_way
        last_class = max(last_class, m[b + Flow.CLASS])
    for k in range(last_class):
        counts = m[m[Word.CLASSES] + k * ClassOut.COLUMNS :]
        ended = counts[ClassOut.COMPLETED] + counts[ClassOut.ACTIVE] + counts[ClassOut.BLOCKED]
        counts[ClassOut.ACTIVE_BEFORE] = ended - counts[ClassOut.ARRIVALS]
    for column in range(last_class * ClassOut.COLUMNS):
        out[column] = m[m[Word.CLASSES] + column]


def _outcomes(m: Any, b: Any) -> Any:
    """Return the word at which the outcomes of a flow's class begin."""
    return m[Word.CLASSES] + (m[b + Flow.CLASS] - 1) * ClassOut.COLUMNS


def _free_slot(m: Any, i: Any, t: Any) -> Any:
    """Return the first free slot of source `i` at `t` [ns], or -1."""
    for k in range(i, i + m[block_of(m, i) + Flow.SLOTS]):
        b = block_of(m, k)
        finished = m[b + FlowWord.COUNTS + FlowOut.FINISHED]
        over = finished != NEVER and max(finished, m[b + FlowWord.LAST_LEFT]) <= t
        if m[b + FlowWord.STARTED] == NEVER or (over and m[b + FlowWord.IN_FLIGHT] == 0):
            return np.int64(k)
    return np.int64(-1)


def _start_flow(p: Any, m: Any, f: Any, i: Any, t: Any, size: Any, packets: Any, think: Any) -> None:
    """Start a flow of so many bytes in slot `i`."""
    b = block_of(m, i)
    take_samples(p, m, f, i, t)
    if m[b + FlowWord.STARTED] != NEVER:
        ends.count(m, b, np.int64(1))
    m[b + RowP.LIMIT] = packets
    m[b + RowP.SHORT] = packets * m[b + RowP.DATA] - size
    ends.prepare(m, b, f, i)
    m[b + FlowWord.COUNTS + FlowOut.COMPLETED] = NEVER
    m[b + FlowWord.COUNTS + FlowOut.FINISHED] = NEVER
    m[b + FlowWord.ECHOES_CE] = 0
    if DELAYS:
        delays.start_flow(m, b)
    m[b + FlowWord.STARTED] = t
    m[b + FlowWord.FLOW_SIZE] = size
    m[b + FlowWord.THINK_TIME] = think
    m[b + FlowWord.NEXT] = t
    if TRACED:
        word = packet.pack(m, i, np.int64(0), np.int64(0))
        event_log.log(m, t, EVENT_BEGIN, event_log.AT_HOST, word, size, False)
    agenda.bring_forward(m, Event.HOST, i, t)


def _count_completion(m: Any, b: Any, at: Any, time: Any) -> None:
    """Count a flow that took `time` [ns] in the outcomes of its class, which begin at word `at`."""
    ideal = m[b + Flow.LATENCY] + (m[b + RowP.LIMIT] - 1) * m[b + Flow.PACKET_TIME] - _time_saved(m, b)
    at += ClassOut.SIZE
    limit = np.int64(classes.SMALL)
    for _ in range(classes.SIZES - 1):
        if m[b + FlowWord.FLOW_SIZE] > limit:
            at += SizeOut.COLUMNS
        limit *= 10
    m[at + SizeOut.FLOWS] += 1
    m[at + SizeOut.TIME] += time
    m[at + SizeOut.SLOWDOWN] += (time << np.int64(classes.MEAN_BITS)) // ideal
    histogram.count(m, at + SizeOut.TIMES, _TIMES, time >> np.int64(classes.TIME_SHIFT))
    slowdown = (time << np.int64(classes.SLOWDOWN_BITS)) // ideal
    histogram.count(m, at + SizeOut.SLOWDOWNS, _SLOWDOWNS, slowdown)


def _time_saved(m: Any, b: Any) -> Any:
    """Return the time by which the last packet of a flow can arrive earlier than a full one [ns]: the
    time saved on the links and cables of the route, or, behind full packets, on those from the slowest
    one on.
    """
    whole = m[b + RowP.DATA] + m[b + RowP.CHUNK_HEADER] + m[b + RowP.HEADER]
    alone, slowest = m[b + RowP.LIMIT] == 1, np.int64(-1)
    total = np.int64(0)
    for k in range(-1, m[b + Flow.HOPS] + 1):
        if k < 0:
            rate = m[b + Flow.ACCESS]
        elif k == m[b + Flow.HOPS]:
            rate = m[b + Flow.SINK]
        else:
            rate = m[m[place_of_link(b, k, False)] + Link.BYTE_TIME]
        if rate > slowest and not alone:
            slowest, total = rate, np.int64(0)
        total += on_wire(whole, rate) - on_wire(whole - m[b + RowP.SHORT], rate)
    return total


def _interarrival(p: Any, losses: Any, m: Any, b: Any, i: Any) -> Any:
    """Return the exponential time from the latest arrival of a source to the next [ns]."""
    row, k = m[b + Flow.PERIODS], m[b + FlowWord.ARRIVALS]
    parts = gap(losses, row, p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_ARRIVAL + i, k)
    return ((parts + 1) * m[b + Flow.GAP]) >> _GAP_BITS


def _draw_size(p: Any, constants: Any, m: Any, b: Any, i: Any) -> Any:
    """Return the size of the latest arrival of a source [byte], and the think time of its user after it
    [ns]."""
    k = m[b + FlowWord.ARRIVALS]
    w0, w1, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_SIZE + i, k)
    size, think = points.value(constants, m[b + Flow.SIZES], np.int64(w0)), np.int64(0)
    if m[b + Flow.GAP] == 0:
        think = points.value(constants, m[b + Flow.THINKS], np.int64(w1))
    return max(size, np.int64(1)), think
