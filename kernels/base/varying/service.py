"""Transmission of a packet: from the shaper's buckets over the line, at the rates of a trace if there is
one."""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.varying import trace
from netcarlo.kernels.base.varying.framing import framed
from netcarlo.kernels.base.varying.shaper import released
from netcarlo.kernels.base.varying.table import OPPORTUNITIES, STEPS, Head, Varying, first, second
from netcarlo.kernels.base.wire import on_wire


@noinline
def transmission(table: Any, m: Any, v: Any, t: Any, free: Any, size: Any, time: Any) -> Any:
    """Return the start and the end of the transmission [ns] of a packet that arrives at time t.

    The server is `free` at that time [ns]. Without a trace the transmission takes `time` [ns], unless the
    table has the byte time of the line. Several packets may use the same opportunity of a trace.
    """
    at = m[v + Varying.TABLE]
    kind, size = first(table, at + Head.TRACE), framed(table, at, size)
    t = released(table, m, v, t if kind == OPPORTUNITIES else max(t, free), size)
    begin = max(t, free)
    if kind == STEPS:
        return begin, trace.by_steps(table, m, v, begin, size)
    if kind == OPPORTUNITIES:
        return begin, trace.by_opportunities(table, m, v, t, size)
    if second(table, at + Head.LINE) > 0:
        time = on_wire(size, first(table, at + Head.LINE))
    return begin, begin + time
