"""Outcomes of classes of flows that arrive and depart (`base.classes`), see `arriving`."""

from typing import Any

from netcarlo.kernels.base.arrivals import close_counts
from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import NEVER
from netcarlo.kernels.wireless.layout import Flow, FlowOut, Radio
from netcarlo.kernels.wireless.observers.widest import classes_of_launch
from netcarlo.kernels.wireless.state import FLOW_COUNTS, FlowState, Word, flow_at


@noinline
def prepare(m: Any, free: Any) -> Any:
    """Initialise the outcomes; return the next free word."""
    m[Word.CLASSES] = free
    end = free + m[Radio.ARRIVAL_CLASSES] * ClassOut.COLUMNS
    for word in range(free, end):
        m[word] = 0
    return end


@noinline
def report(m: Any, nodes: Any, out: Any, at: Any) -> Any:
    """Write the outcomes of all classes before column `at`; return the first of them."""
    first = at - classes_of_launch(m, nodes, out) * ClassOut.COLUMNS
    for flow in range(m[Radio.FLOWS]):
        here = flow_at(m, flow)
        if m[here + Flow.CLASS] > 0 and m[here + FlowState.STARTED] != NEVER:
            under_way = m[here + FLOW_COUNTS + FlowOut.COMPLETED] == NEVER
            of_class = m[Word.CLASSES] + (m[here + Flow.CLASS] - 1) * ClassOut.COLUMNS
            m[of_class + ClassOut.ACTIVE] += under_way
    close_counts(m, m[Word.CLASSES], m[Radio.ARRIVAL_CLASSES])
    for column in range(m[Radio.ARRIVAL_CLASSES] * ClassOut.COLUMNS):
        out[first + column] = m[m[Word.CLASSES] + column]
    return first
