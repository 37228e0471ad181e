"""Outcomes of a run, written at its end."""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import frames
from netcarlo.kernels.adhoc.frames import is_data
from netcarlo.kernels.adhoc.layout import Manet, ManetOut, NodeOut
from netcarlo.kernels.adhoc.state import (
    COUNTS,
    NO_TIME,
    NODE_COUNTS,
    NODE_WORDS,
    NODES,
    WAITING_WORDS,
    Node,
    Waiting,
    Word,
    hosts,
    observer,
)
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.ring import Ring, entry

_COLUMNS, _NODE_COLUMNS = int(ManetOut.COLUMNS), int(NodeOut.COLUMNS)


@noinline
def write_out(m: Any, end: Any, out: Any) -> None:
    """Write the outcomes of a run that ended at `end` [ns], except STATUS, to `out`."""
    for i in range(out.shape[0]):
        out[i] = 0
    for column in range(_COLUMNS):
        out[column] = m[COUNTS + column]
    out[ManetOut.ELAPSED] = end
    hosts.report(m, end, out)
    if m[Word.WAITING_SINCE] != NO_TIME:
        out[ManetOut.WAITED] += end - m[Word.WAITING_SINCE]
    out[ManetOut.IN_FLIGHT] = _in_flight(m)
    to = _COLUMNS
    for i in range(m[Manet.NODES]):
        at = NODES + i * NODE_WORDS + NODE_COUNTS
        for column in range(_NODE_COLUMNS):
            out[to + column] = m[at + column]
        to += _NODE_COLUMNS
    observer.report(m, out, np.int64(out.shape[0]))


@noinline
def _in_flight(m: Any) -> Any:
    """Return the number of data segments in service, in queues, or waiting for a route."""
    count = np.int64(0)
    for i in range(m[Manet.NODES]):
        at = NODES + i * NODE_WORDS
        if m[at + Node.SERVING] != 0 and m[at + Node.RECEIVED] == 0 and is_data(m[at + Node.FRAME]):
            count += 1
        queue = at + Node.PACKETS_HEAD
        for k in range(m[queue + Ring.COUNT]):
            if is_data(m[entry(m, queue, frames.words(), k)]):
                count += 1
        for k in range(m[at + Node.WAITING]):
            if is_data(m[m[at + Node.BUFFER] + WAITING_WORDS * k + Waiting.HEAD]):
                count += 1
    return count
