"""Start of a run: layout of scratch, and the state at time 0."""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import frames, topology
from netcarlo.kernels.adhoc.layout import Manet, ManetOut, ManetRows
from netcarlo.kernels.adhoc.medium import first_gap
from netcarlo.kernels.adhoc.size import SizeSlots
from netcarlo.kernels.adhoc.state import (
    BUFFER,
    CACHE,
    COUNTS,
    NO_KEY,
    NO_TIME,
    NODE_WORDS,
    NODES,
    ROUTING_FRAMES,
    TAP_WORDS,
    UNKNOWN,
    WAITING_WORDS,
    Node,
    Tap,
    Word,
    hosts,
    observer,
    routes,
    sets,
)
from netcarlo.kernels.base import ring
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import NEVER

_PARAMETERS = int(Manet.COLUMNS)


def words(rows: ManetRows, association: int, size: SizeSlots) -> int:
    """Return the words of scratch that any row of `rows` needs; an association needs `association` words."""
    n, queue = rows.parameters[:, Manet.NODES], rows.parameters[:, Manet.QUEUE]
    size.check(int(np.max(n, initial=0)))
    frame = 1 + 2 * size.routes.WORDS
    # Tables: KEYS, LEVELS, PAIRS, SEEN, ASIDE.
    tables = (n + 1) + size.sets.WORDS * n + 3 * n * n + queue + ROUTING_FRAMES
    of_node = NODE_WORDS + CACHE * size.routes.WORDS + frame * (queue + ROUTING_FRAMES)
    total = NODES + n * of_node + tables + 2 * BUFFER * WAITING_WORDS + association
    return int(np.max(total, initial=0))


@noinline
def lay_out(parameters: Any, times: Any, places: Any, losses: Any, m: Any, f: Any) -> None:
    """Lay out scratch `m` and the sender's floats `f` for a row; the arrays are those of `ManetRows`."""
    for i in range(_PARAMETERS):
        m[i] = parameters[i]
    n = m[Manet.NODES]
    for i in range(_PARAMETERS, NODES):
        m[i] = 0
    m[Word.KEYS] = NODES + n * NODE_WORDS
    m[Word.LEVELS] = m[Word.KEYS] + n + 1
    m[Word.PAIRS] = m[Word.LEVELS] + sets.WORDS * n
    m[Word.SEEN] = m[Word.PAIRS] + 2 * n * n
    m[Word.ASIDE] = m[Word.SEEN] + n * n
    free = m[Word.ASIDE] + m[Manet.QUEUE] + ROUTING_FRAMES
    for i in range(NODES, m[Word.SEEN]):
        m[i] = 0
    for i in range(m[Word.SEEN], m[Word.ASIDE]):
        m[i] = -1
    for i in range(n + 1):
        m[m[Word.KEYS] + i] = NO_KEY
    m[Word.WAITING_SINCE] = NO_TIME
    m[Word.OUTAGE_SINCE] = NO_TIME
    # Not a loop over columns: libnvvm (13.0 to 13.5) unrolled one and then misplaced later words of `m`.
    m[COUNTS + ManetOut.FIRST_RX] = NEVER
    m[COUNTS + ManetOut.LAST_RX] = NEVER
    m[COUNTS + ManetOut.COMPLETED] = NEVER
    m[COUNTS + ManetOut.FINISHED] = NEVER
    for i in range(n):
        free = _lay_out_node(m, losses, np.int64(i), free)
    free = observer.prepare(m, free)
    topology.begin(m, times, places)
    hosts.prepare(m, f, free)


def _lay_out_node(m: Any, losses: Any, i: Any, free: Any) -> Any:
    """Lay out node i, whose tables begin at word `free`; return the first word after them."""
    at = NODES + i * NODE_WORDS
    m[at + Node.CW] = m[Manet.CW_MIN]
    m[at + Node.END] = NO_KEY
    m[at + Node.DELAYED_AT] = NO_KEY
    m[at + Node.DUE_AT] = NO_KEY
    m[at + Node.CHECK_AT] = NO_KEY
    m[at + Node.MEMO] = UNKNOWN
    m[at + Node.HOLD_AT] = NO_TIME
    m[at + Node.BROKEN_AT] = NO_TIME
    m[at + Node.LAST_REQUEST] = NO_TIME
    m[at + Node.RINGED] = NO_TIME
    m[at + Node.TAP + Tap.TIME] = NO_TIME
    m[at + Node.TAP + TAP_WORDS + Tap.TIME] = NO_TIME
    m[at + Node.CACHE] = free
    for entry in range(free, free + CACHE * routes.WORDS):
        m[entry] = 0
    free += CACHE * routes.WORDS
    ring.init(m, at + Node.PACKETS_HEAD, free, m[Manet.QUEUE])
    free += frames.words() * m[Manet.QUEUE]
    ring.init(m, at + Node.ROUTING_HEAD, free, ROUTING_FRAMES)
    free += frames.words() * ROUTING_FRAMES
    if i == m[Manet.SOURCE] or i == m[Manet.SINK]:
        m[at + Node.BUFFER] = free
        free += BUFFER * WAITING_WORDS
    first_gap(m, losses, i)
    return free
