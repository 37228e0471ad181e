"""Flows that arrive and depart: each occupies a slot, a flow of the row, which later flows use again.

Sources are those of `base.arrivals`: a Poisson process, whose arrivals take the first free one of its slots,
or a user with one slot. A slot is free when its sender knows that all data have arrived and no packet of its
flow is in flight: so no packet can be mistaken for one of the next flow, which starts with new endpoints. An
arrival that finds no free slot is blocked and lost; its user thinks again.

`b` is where the block of flow `i` begins in scratch `m`, `p` are the columns of the row.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.arrivals import (
    close_counts,
    count_arrival,
    count_completion,
    draw_gap,
    draw_size,
    first_arrival,
    outcomes_of,
)
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_BEGIN, FOREVER, NEVER
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.shared import agenda, delays, event_log, packet
from netcarlo.kernels.shared.agenda import Event
from netcarlo.kernels.shared.layout import Flow, FlowOut, Link, Shared
from netcarlo.kernels.shared.samples import take_samples
from netcarlo.kernels.shared.state import FlowWord, Word, block_of, place_of_link

ends: Any = slot("ends")

DELAYS: Any = slot("delays")
TRACED: Any = slot("traced")


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
            s, w = _source(b), _slot(b)
            m[b + FlowWord.NEXT_ARRIVAL] = m[b + RowP.START] + first_arrival(p, constants, losses, m, s, w, i)
            agenda.bring_arrival_forward(m, i, m[b + FlowWord.NEXT_ARRIVAL])
    for word in range(last_class * ClassOut.COLUMNS):
        m[free + word] = 0


@noinline
def on_arrival(p: Any, constants: Any, losses: Any, m: Any, f: Any, t: Any, i: Any) -> None:
    """Process the arrival of a flow at `t` [ns] at source `i`."""
    b = block_of(m, i)
    m[b + FlowWord.ARRIVALS] += 1
    size, think = draw_size(p, constants, m, _source(b), _slot(b), i)
    found = _free_slot(m, i, t)
    packets = (size + m[b + RowP.DATA] - 1) // m[b + RowP.DATA]
    if t >= p[Shared.WARM_UP]:
        count_arrival(m, _outcomes(m, b), size, found < 0)
    m[b + FlowWord.NEXT_ARRIVAL] = FOREVER
    if m[b + Flow.GAP] > 0:
        m[b + FlowWord.NEXT_ARRIVAL] = t + draw_gap(p, losses, m, _source(b), _slot(b), i)
    elif found < 0:
        m[b + FlowWord.NEXT_ARRIVAL] = t + think
    if found >= 0:
        _start_flow(p, m, f, found, t, size, packets, think)
    agenda.reschedule_arrival(m, i, m[b + FlowWord.NEXT_ARRIVAL])


@noinline
def on_completion(p: Any, m: Any, b: Any, i: Any, t: Any) -> None:
    """Process the arrival of the last missing packet of a flow at `t` [ns]."""
    if m[b + Flow.CLASS] > 0:
        packets = m[b + RowP.LIMIT]
        ideal = m[b + Flow.LATENCY] + (packets - 1) * m[b + Flow.PACKET_TIME] - _time_saved(m, b)
        count_completion(m, _outcomes(m, b), _slot(b), t, p[Shared.WARM_UP], packets, ideal)
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
    close_counts(m, m[Word.CLASSES], last_class)
    for column in range(last_class * ClassOut.COLUMNS):
        out[column] = m[m[Word.CLASSES] + column]


def _source(b: Any) -> Any:
    """Return the word at which the columns `base.arrivals.Source` of a flow begin."""
    return b + Flow.PERIODS


def _slot(b: Any) -> Any:
    """Return the word at which the words `base.arrivals.SlotState` of a flow begin."""
    return b + FlowWord.NEXT_ARRIVAL


def _outcomes(m: Any, b: Any) -> Any:
    """Return the word at which the outcomes of a flow's class begin."""
    return outcomes_of(m, m[Word.CLASSES], _source(b))


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
