"""Rows of a trace: float64[T, len(Trace)], see `layout.Trace`."""

from typing import Any

from netcarlo.kernels.base.layout import Trace


def begin(trace: Any, n: Any, time: Any, event: Any, sequence: Any, path: Any) -> Any:
    """Begin row `n` with an event at `time` [s]; return True if the trace has room for it."""
    if n >= trace.shape[0]:
        return False
    trace[n, Trace.TIME] = time
    trace[n, Trace.EVENT] = event
    trace[n, Trace.SEQUENCE] = sequence
    trace[n, Trace.PATH] = path
    return True
