"""Observer of the delays of data, see `base.one_flow`.

Data are delivered when the data frame of the last hop ends, before the acknowledgement ends the exchange.
The words of the flow and its outcomes begin at word DELAYS of scratch.
"""

from typing import Any

from netcarlo.kernels.adhoc.layout import Manet
from netcarlo.kernels.adhoc.state import Word
from netcarlo.kernels.base import one_flow
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.delays import DelayState
from netcarlo.kernels.base.inline import noinline

association: Any = slot("association")

WORDS = int(DelayState.SIZE) + one_flow.WORDS
COLUMNS = one_flow.WORDS


@noinline
def prepare(m: Any, free: Any) -> Any:
    """Initialise the statistics; return the next free word."""
    m[Word.DELAYS] = free
    return one_flow.prepare(m, free, free + DelayState.SIZE)


def on_delivered(e: Any, packet: Any) -> None:
    """Record the delay of new data, whose exchange ends now."""
    _count(e.m, association.delay_of(e.p, e.s, e.t, packet))


@noinline
def _count(m: Any, delay: Any) -> None:
    """Record data whose exchange ends `delay` [ns] after they were first sent."""
    answer = m[Manet.SIFS] + m[Manet.MAC_ACK]
    one_flow.arrived(m, m, m[Word.DELAYS], m[Word.DELAYS] + DelayState.SIZE, delay - answer)


def report(m: Any, out: Any, at: Any) -> Any:
    """Write the outcomes (`DelayOut`) before column `at`; return the first of them."""
    one_flow.report(m, m[Word.DELAYS] + DelayState.SIZE, out, at - COLUMNS)
    return at - COLUMNS
