"""Delays of the data of the flow, see `base.one_flow`.

Data are delivered when the data frame of the last hop ends, before the acknowledgement ends the exchange.
The words of the flow and its outcomes begin at word DELAYS of scratch.
"""

from typing import Any

from netcarlo.kernels.adhoc.layout import Manet
from netcarlo.kernels.adhoc.state import Word
from netcarlo.kernels.base import one_flow
from netcarlo.kernels.base.delays import DelayState
from netcarlo.kernels.base.inline import noinline

WORDS = int(DelayState.SIZE) + one_flow.WORDS
"""Words of scratch for delays."""


@noinline
def lay(m: Any, free: Any) -> Any:
    """Set up the words of delays from `free` on; returns the next free word."""
    m[Word.DELAYS] = free
    return one_flow.prepare(m, free, free + DelayState.SIZE)


@noinline
def arrived(m: Any, delay: Any) -> None:
    """Record data that arrive for the first time; their exchange ends `delay` [ns] after the first
    transmission."""
    answer = m[Manet.SIFS] + m[Manet.MAC_ACK]
    one_flow.arrived(m, m, m[Word.DELAYS], m[Word.DELAYS] + DelayState.SIZE, delay - answer)


@noinline
def report(m: Any, out: Any) -> None:
    """Write the outcomes of delays, which are the last columns of `out`."""
    one_flow.report(m, m[Word.DELAYS] + DelayState.SIZE, out, out.shape[0] - one_flow.WORDS)
