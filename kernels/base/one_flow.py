"""Delay statistics of the only flow of a network, see `base.delays`: all arrivals count.

`state` is the word of scratch `m` where the words of the flow begin, `at` that of its outcomes.
"""

from typing import Any

from netcarlo.kernels.base import delays
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.parameters import RowP

WORDS = int(DelayOut.COLUMNS)
"""Words of scratch for the outcomes."""


@noinline
def prepare(m: Any, state: Any, at: Any) -> Any:
    """Initialise the statistics; return the next free word after the outcomes."""
    delays.prepare(m, state)
    for word in range(at, at + WORDS):
        global_memory(m)[word] = 0
    return at + WORDS


def arrived(p: Any, m: Any, state: Any, at: Any, delay: Any) -> None:
    """Record the `delay` [ns] of data since they were first sent, at their first arrival."""
    delays.arrived(m, at, state, delay, p[RowP.LATE], True)


@noinline
def report(m: Any, at: Any, out: Any, first: Any) -> None:
    """Write the outcomes from column `first` of `out` on."""
    delays.finish(m, at)
    for column in range(WORDS):
        out[first + column] = global_memory(m)[at + column]
