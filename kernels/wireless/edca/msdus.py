"""MSDUs of a function: lists of sendable and free MSDUs, their number, and refills by saturated sources.

`at` is the word of a node, `f` of a function, `a` of an agreement, `entry` of an MSDU.
"""

from typing import Any

from netcarlo.kernels.wireless.edca import scheduler
from netcarlo.kernels.wireless.edca.state import NONE, AgreementState, FunctionState, Msdu
from netcarlo.kernels.wireless.frame import FLOW_MASK, HOPS
from netcarlo.kernels.wireless.layout import FIFO, Flow, Function, NodeOut
from netcarlo.kernels.wireless.state import NODE_COUNTS, FlowState, Mac, Word, flow_at
from netcarlo.kernels.wireless.stock import leave


def append(m: Any, f: Any, a: Any, t: Any, entry: Any) -> None:
    """Append an MSDU to those of an agreement that may be sent."""
    m[entry + Msdu.NEXT] = NONE
    if m[a + AgreementState.FIRST] == NONE:
        m[a + AgreementState.FIRST] = entry
    else:
        m[m[a + AgreementState.LAST] + Msdu.NEXT] = entry
    m[a + AgreementState.LAST] = entry
    if m[f + Function.SCHEDULER] != FIFO:
        scheduler.join(m, f, a, t)


def change_count(m: Any, at: Any, f: Any, change: Any, t: Any) -> None:
    """Add to the number of MSDUs of a function of a node at time t."""
    counts = at + NODE_COUNTS
    m[counts + NodeOut.QUEUE_SUM] += m[at + Mac.COUNT] * (t - m[at + Mac.COUNTED_AT])
    m[at + Mac.COUNTED_AT] = t
    m[at + Mac.COUNT] += change
    m[f + FunctionState.COUNT] += change
    m[counts + NodeOut.QUEUE_MOST] = max(m[counts + NodeOut.QUEUE_MOST], m[at + Mac.COUNT])


def free_msdus(m: Any, f: Any, entry: Any) -> None:
    """Return a list of MSDUs to the free ones of a function."""
    last = entry
    leave(m, m[last + Msdu.FRAME])
    while m[last + Msdu.NEXT] != NONE:
        last = m[last + Msdu.NEXT]
        leave(m, m[last + Msdu.FRAME])
    m[last + Msdu.NEXT] = m[f + FunctionState.FREE]
    m[f + FunctionState.FREE] = entry


def owe(m: Any, entry: Any, due: Any) -> None:
    """Note that an MSDU has left its first queue, if its source is saturated.

    The source replaces it at the end of the present event if `due` is 1, else when another one has been sent.
    """
    frame = m[entry + Msdu.FRAME]
    at = flow_at(m, frame & FLOW_MASK)
    if m[at + Flow.BACKLOG] > 0 and frame & HOPS == 0:
        m[at + FlowState.OWED] += 1
        m[Word.OWED] |= due
