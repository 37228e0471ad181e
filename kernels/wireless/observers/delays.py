"""Observer of the delays of data by class of flows, see `base.delays`.

`at` is the word where a flow begins.
"""

from typing import Any

from netcarlo.kernels.base import delays
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.layout import Flow, Radio
from netcarlo.kernels.wireless.observers.widest import classes_of_launch
from netcarlo.kernels.wireless.state import FlowState, Word, flow_at


@noinline
def prepare(m: Any, free: Any) -> Any:
    """Initialise the statistics; `Flow.DELAY_CLASS` becomes the word where those of the class begin."""
    m[Word.DELAYS] = free
    for flow in range(m[Radio.FLOWS]):
        at = flow_at(m, flow)
        delays.prepare(m, at + FlowState.LATEST)
        if m[at + Flow.DELAY_CLASS] > 0:
            m[at + Flow.DELAY_CLASS] = free + (m[at + Flow.DELAY_CLASS] - 1) * DelayOut.COLUMNS
    end = free + m[Radio.DELAY_CLASSES] * DelayOut.COLUMNS
    for word in range(free, end):
        m[word] = 0
    return end


def on_delivered(m: Any, at: Any, t: Any, delay: Any) -> None:
    """Record the `delay` [ns] of new data of a flow that arrive at time t [ns]."""
    state = m[at + Flow.DELAY_CLASS]
    if state > 0:
        delays.arrived(m, state, at + FlowState.LATEST, delay, m[at + Flow.BOUND], t >= m[Radio.WARM_UP])


@noinline
def report(m: Any, nodes: Any, out: Any, at: Any) -> Any:
    """Write the outcomes (`DelayOut`) of all classes before column `at`; return the first of them."""
    first = at - classes_of_launch(m, nodes, out) * DelayOut.COLUMNS
    for k in range(m[Radio.DELAY_CLASSES]):
        delays.finish(m, m[Word.DELAYS] + k * DelayOut.COLUMNS)
    for column in range(m[Radio.DELAY_CLASSES] * DelayOut.COLUMNS):
        out[first + column] = m[m[Word.DELAYS] + column]
    return first
