"""FQ-CoDel: a queue for each flow, taken in turn by bytes, new ones first; CoDel in each (RFC 8290, 4).

Flows do not collide in a queue.  `b` is the block of the link, `s` its `Discipline`, `q` a `Queue`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.shared import packet
from netcarlo.kernels.shared.aqm import buffers, codel, fates
from netcarlo.kernels.shared.aqm.state import NULL, Buffer, Discipline, List, Queue
from netcarlo.kernels.shared.layout import Link, Shared


def queue_of(p: Any, m: Any, s: Any, word: Any) -> Any:
    """The queue of a packet: the data of a flow and what comes back are two."""
    number = packet.flow_of(m, word)
    if word & packet.BACKWARD:
        number += p[Shared.FLOWS]
    return s + Discipline.SIZE + Queue.SIZE * number


def on_arrival(m: Any, b: Any, s: Any, q: Any) -> None:
    """A packet has come to a queue."""
    if m[q + Queue.IS_ACTIVE] == 0:
        m[q + Queue.IS_ACTIVE] = 1
        m[q + Queue.CREDITS] = m[b + Link.FQ_QUANTUM]
        _append(m, s + Discipline.NEW_QUEUES, q)


def dequeue(p: Any, m: Any, b: Any, s: Any, t: Any) -> Any:
    """What leaves at `t`: its place, or NOTHING."""
    buffer = np.int64(NULL)
    while buffer == NULL and (m[s + Discipline.NEW_QUEUES] != NULL or m[s + Discipline.OLD_QUEUES] != NULL):
        is_new = m[s + Discipline.NEW_QUEUES] != NULL
        queues = s + (Discipline.NEW_QUEUES if is_new else Discipline.OLD_QUEUES)
        q = m[queues + List.FIRST]
        if m[q + Queue.CREDITS] <= 0:
            m[q + Queue.CREDITS] += m[b + Link.FQ_QUANTUM]
            _remove_first(m, queues)
            _append(m, s + Discipline.OLD_QUEUES, q)
        else:
            buffer = codel.dequeue(p, m, b, s, q, t)
            if buffer != NULL:
                m[q + Queue.CREDITS] -= m[buffer + Buffer.BYTES]
            else:
                _remove_first(m, queues)
                if is_new:  # it is not new again at once
                    _append(m, s + Discipline.OLD_QUEUES, q)
                else:
                    m[q + Queue.IS_ACTIVE] = 0
    return buffer


@noinline
def drop_from_longest(p: Any, m: Any, b: Any, s: Any, t: Any) -> None:
    """There are too many packets: the head of the queue with most bytes is dropped."""
    longest, most = np.int64(NULL), np.int64(-1)
    for queues in (Discipline.NEW_QUEUES, Discipline.OLD_QUEUES):  # where all are that have packets
        q = m[s + queues + List.FIRST]
        while q != NULL:
            held = m[q + Queue.BYTES]
            if m[q + Queue.FIRST] != NULL and (held > most or (held == most and q < longest)):
                longest, most = q, held
            q = m[q + Queue.NEXT]
    fates.drop(p, m, b, t, buffers.pop(m, s, longest))


def _append(m: Any, queues: Any, q: Any) -> None:
    m[q + Queue.NEXT] = NULL
    if m[queues + List.FIRST] == NULL:
        m[queues + List.FIRST] = q
    else:
        m[m[queues + List.LAST] + Queue.NEXT] = q
    m[queues + List.LAST] = q


def _remove_first(m: Any, queues: Any) -> None:
    m[queues + List.FIRST] = m[m[queues + List.FIRST] + Queue.NEXT]
