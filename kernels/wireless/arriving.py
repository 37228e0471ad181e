"""Flows that arrive and depart: each occupies a slot, a flow of the row, which later flows use again.

Sources are those of `base.arrivals`. A slot is free when its sender knows that all data have arrived and no
packet of its flow has a place in a queue or leg, not even one that was received and whose acknowledgement was
lost: no packet can then be mistaken for one of the next flow, which starts with new endpoints. An arrival
that finds no free slot is blocked and lost; its user thinks again.

`at` is the word where a flow begins.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.arrivals import (
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
from netcarlo.kernels.base.layout import FOREVER, NEVER
from netcarlo.kernels.wireless.layout import Flow, FlowOut, Radio
from netcarlo.kernels.wireless.state import FLOW_COUNTS, FlowState, Word, flow_at, set_key

hosts: Any = slot("hosts")


@noinline
def prepare(m: Any, constants: Any, losses: Any) -> None:
    """Schedule the first arrivals before the start; slots begin without a flow."""
    for flow in range(m[Radio.FLOWS]):
        at = flow_at(m, flow)
        m[at + FlowState.NEXT_ARRIVAL] = FOREVER
        m[at + FlowState.STARTED] = NEVER
        m[at + FlowState.FINISHED] = NEVER
        if m[at + Flow.CLASS] > 0:
            m[at + FlowState.NEXT] = FOREVER
            if m[at + Flow.SLOTS] > 0:
                wait = first_arrival(m, constants, losses, m, _source(at), _slot(at), flow)
                m[at + FlowState.NEXT_ARRIVAL] = m[at + Flow.START] + wait
            set_key(m, flow, m[at + FlowState.NEXT_ARRIVAL])


def is_due(m: Any, flow: Any, t: Any) -> Any:
    """Return whether a flow arrives now at a source; this precedes other events of that flow."""
    return m[flow_at(m, flow) + FlowState.NEXT_ARRIVAL] == t


@noinline
def on_arrival(m: Any, f: Any, constants: Any, losses: Any, t: Any, flow: Any) -> None:
    """Process the arrival of a flow at `t` [ns] at source `flow`."""
    at = flow_at(m, flow)
    m[at + FlowState.ARRIVALS] += 1
    size, think = draw_size(m, constants, m, _source(at), _slot(at), flow)
    found = _free_slot(m, flow)
    if t >= m[Radio.WARM_UP]:
        count_arrival(m, outcomes_of(m, m[Word.CLASSES], _source(at)), size, found < 0)
    m[at + FlowState.NEXT_ARRIVAL] = FOREVER
    if m[at + Flow.GAP] > 0:
        m[at + FlowState.NEXT_ARRIVAL] = t + draw_gap(m, losses, m, _source(at), _slot(at), flow)
    elif found < 0:
        m[at + FlowState.NEXT_ARRIVAL] = t + think
    if found >= 0:
        _start_flow(m, f, constants, found, t, size, think)
    hosts.reschedule(m, flow, f, constants, t)


@noinline
def on_completion(m: Any, at: Any, t: Any) -> None:
    """Process the arrival of the last missing packet of a flow at `t` [ns].

    Slowdowns are not measured: the time of an ideal transfer depends on the aggregation of others' frames.
    """
    if m[at + Flow.CLASS] > 0:
        outcomes = outcomes_of(m, m[Word.CLASSES], _source(at))
        count_completion(m, outcomes, _slot(at), t, m[Radio.WARM_UP], m[at + Flow.LIMIT], np.int64(0))
        if m[at + Flow.GAP] == 0:
            m[at + FlowState.NEXT_ARRIVAL] = t + m[at + FlowState.THINK_TIME]


@noinline
def on_finished(m: Any, at: Any, t: Any) -> None:
    """Note that the sender of a flow knows at `t` [ns] that all data have arrived."""
    m[at + FlowState.FINISHED] = t
    if t >= m[Radio.WARM_UP]:
        m[outcomes_of(m, m[Word.CLASSES], _source(at)) + ClassOut.SHORT] += m[at + Flow.SHORT]


def _source(at: Any) -> Any:
    """Return the word at which the columns `base.arrivals.Source` of a flow begin."""
    return at + Flow.PERIODS


def _slot(at: Any) -> Any:
    """Return the word at which the words `base.arrivals.SlotState` of a flow begin."""
    return at + FlowState.NEXT_ARRIVAL


def _free_slot(m: Any, flow: Any) -> Any:
    """Return the first free slot of source `flow`, or -1."""
    for k in range(flow, flow + m[flow_at(m, flow) + Flow.SLOTS]):
        at = flow_at(m, k)
        over = m[at + FlowState.FINISHED] != NEVER and m[at + FlowState.IN_FLIGHT] == 0
        if m[at + FlowState.STARTED] == NEVER or over:
            return np.int64(k)
    return np.int64(-1)


def _start_flow(m: Any, f: Any, constants: Any, flow: Any, t: Any, size: Any, think: Any) -> None:
    """Start a flow of this many bytes in a slot."""
    at = flow_at(m, flow)
    m[at + Flow.LIMIT] = (size + m[at + Flow.SIZE] - 1) // m[at + Flow.SIZE]
    m[at + Flow.SHORT] = m[at + Flow.LIMIT] * m[at + Flow.SIZE] - size
    hosts.restart(m, flow, f)
    m[at + FLOW_COUNTS + FlowOut.COMPLETED] = NEVER
    m[at + FLOW_COUNTS + FlowOut.SOURCE_DONE] = NEVER
    m[at + FlowState.FINISHED] = NEVER
    m[at + FlowState.STARTED] = t
    m[at + FlowState.FLOW_SIZE] = size
    m[at + FlowState.THINK_TIME] = think
    m[at + FlowState.NEXT] = t
    hosts.reschedule(m, flow, f, constants, t)
