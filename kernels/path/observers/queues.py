"""Observer of the time that packets of the sender spend on the hops of the path to the receiver."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import Queues
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.path import hops
from netcarlo.kernels.path.hops import HopWord

WORDS = 0
COLUMNS = len(Queues)


def on_enqueued(p: Any, m: Any, at: Any, t: Any, free: Any) -> None:
    """Add the time in queue and server, up to an outage or the end of the run."""
    until = min(min(free, m[at + HopWord.DOWN_AT]), p[RowP.END])
    add(m, at + HopWord.HELD, at + HopWord.HELD_HIGH, max(until - t, np.int64(0)))


def report(m: Any, out: Any, at: Any) -> Any:
    """Write the time on the hop where it is longest (`Queues`); return the next column."""
    out[at + Queues.HELD], out[at + Queues.HELD_HIGH] = hops.longest_held(m)
    return at + COLUMNS
