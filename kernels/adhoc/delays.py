"""How long the data of the flow take, see `base.one_flow`.

They are there when the data frame of the last hop is, ahead of the end of its exchange.  From word DELAYS of
scratch on stand the words of the flow and its outcomes.
"""

from typing import Any

from netcarlo.kernels.adhoc.layout import Manet
from netcarlo.kernels.adhoc.state import Word
from netcarlo.kernels.base import one_flow
from netcarlo.kernels.base.delays import DelayState
from netcarlo.kernels.base.inline import noinline

WORDS = int(DelayState.SIZE) + one_flow.WORDS
"""Of scratch."""


@noinline
def lay(m: Any, free: Any) -> Any:
    """Words from `free` on; returns the first word behind them."""
    m[Word.DELAYS] = free
    return one_flow.prepare(m, free, free + DelayState.SIZE)


@noinline
def arrived(m: Any, delay: Any) -> None:
    """The exchange of data that had not come before ends `delay` [ns] after they were first put out."""
    answer = m[Manet.SIFS] + m[Manet.MAC_ACK]
    one_flow.arrived(m, m, m[Word.DELAYS], m[Word.DELAYS] + DelayState.SIZE, delay - answer)


@noinline
def report(m: Any, out: Any) -> None:
    """The outcomes, with which `out` ends."""
    one_flow.report(m, m[Word.DELAYS] + DelayState.SIZE, out, out.shape[0] - one_flow.WORDS)
