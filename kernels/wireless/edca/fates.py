"""Fates of MSDUs in queues of FQ-CoDel, see `base.aqm.codel`.

`at` is the word of a node, `f` of its function, `q` of a queue, `entry` of an MSDU.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm import chain
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless import forwarding
from netcarlo.kernels.wireless.edca.msdus import change_count, free_msdus, owe
from netcarlo.kernels.wireless.edca.state import FUNCTION_COUNTS, NONE, FunctionState, Msdu
from netcarlo.kernels.wireless.layout import CategoryOut


def pop(m: Any, f: Any, q: Any) -> Any:
    """Remove the MSDU at the head of a queue; return it or NONE."""
    entry = chain.pop(m, q)
    if entry != NONE:
        m[f + FunctionState.BACKLOG] -= 1
    return entry


def mark(m: Any, at: Any, frame: Any) -> Any:
    """Return the packet unchanged and False, because no packet is marked."""
    return frame, False


@noinline
def drop(m: Any, at: Any, f: Any, t: Any, entry: Any) -> None:
    """Drop an MSDU that has left its queue at time t."""
    forwarding.drop(m, m[entry + Msdu.FRAME])
    change_count(m, at, f, np.int64(-1), t)
    owe(m, entry, np.int64(0))
    m[entry + Msdu.NEXT] = NONE
    free_msdus(m, f, entry)


def drop_early(p: Any, m: Any, at: Any, f: Any, t: Any, entry: Any) -> None:
    """Count and drop an MSDU that has waited for too long."""
    m[f + FUNCTION_COUNTS + CategoryOut.EARLY] += 1
    drop(m, at, f, t, entry)
