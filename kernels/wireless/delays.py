"""Delays of classes of flows, see `base.delays`; their outcomes are in scratch until the end.

`at` is the word where a flow begins.
"""

from typing import Any

from netcarlo.kernels.base import delays
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.layout import Flow, Radio
from netcarlo.kernels.wireless.state import FlowState, Word, flow_at


@noinline
def lay(m: Any, free: Any) -> Any:
    """Words from `free` on, which `Flow.DELAY_CLASS` becomes; returns the first word behind them."""
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


def arrived(m: Any, at: Any, t: Any, delay: Any) -> None:
    """New data of a flow are at its sink at `t` [ns]."""
    state = m[at + Flow.DELAY_CLASS]
    if state > 0:
        delays.arrived(m, state, at + FlowState.LATEST, delay, m[at + Flow.BOUND], t >= m[Radio.WARM_UP])


@noinline
def report(m: Any, out: Any) -> None:
    """The outcomes, with which `out` begins."""
    for k in range(m[Radio.DELAY_CLASSES]):
        delays.finish(m, m[Word.DELAYS] + k * DelayOut.COLUMNS)
    for column in range(m[Radio.DELAY_CLASSES] * DelayOut.COLUMNS):
        out[column] = m[m[Word.DELAYS] + column]
