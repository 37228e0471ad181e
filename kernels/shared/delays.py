"""Delay statistics of classes of flows (`base.delays`), which are kept in scratch until the end.

`b` is where the block of a flow begins in scratch `m`, `p` are the columns of the row.
"""

from typing import Any

from netcarlo.kernels.base import delays
from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.shared.layout import Flow, Shared
from netcarlo.kernels.shared.state import FlowWord, Word, block_of


@noinline
def allocate(p: Any, m: Any, free: Any) -> Any:
    """Allocate the statistics from word `free` on, point `Flow.DELAY_CLASS` to them, and return the first
    word after them."""
    m[Word.DELAYS] = free
    for i in range(p[Shared.FLOWS]):
        gauge = block_of(m, i) + Flow.DELAY_CLASS
        if m[gauge] > 0:
            m[gauge] = free + (m[gauge] - 1) * DelayOut.COLUMNS
    end = free + p[Shared.DELAY_CLASSES] * DelayOut.COLUMNS
    for word in range(free, end):
        m[word] = 0
    return end


def start_flow(m: Any, b: Any) -> None:
    """Reset the delay state of a flow that starts."""
    delays.prepare(m, b + FlowWord.LATEST)


def on_delivery(p: Any, m: Any, b: Any, t: Any, delay: Any) -> None:
    """Count the delay of new data of a flow that reach its sink at `t` [ns], not after the end."""
    at = m[b + Flow.DELAY_CLASS]
    if at > 0:
        counts = t >= p[Shared.WARM_UP]
        delays.arrived(m, at, b + FlowWord.LATEST, delay, m[b + Flow.BOUND], counts)


@noinline
def report(p: Any, m: Any, out: Any) -> None:
    """Write the outcomes after those of classes of flows that arrive and depart; `out` begins with the
    latter."""
    at = p[Shared.CLASSES] * ClassOut.COLUMNS
    for k in range(p[Shared.DELAY_CLASSES]):
        delays.finish(m, m[Word.DELAYS] + k * DelayOut.COLUMNS)
    for column in range(p[Shared.DELAY_CLASSES] * DelayOut.COLUMNS):
        out[at + column] = m[m[Word.DELAYS] + column]
