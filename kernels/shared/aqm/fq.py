"""FQ-CoDel: a queue per flow, served in turn by bytes, new queues first, with CoDel in each (RFC 8290,
section 4).

There are no hash collisions of flows. `b` is the block of the link, `s` its `Discipline`, `q` a `Queue`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.shared import packet
from netcarlo.kernels.shared.aqm import buffers, codel, fates
from netcarlo.kernels.shared.aqm.state import NULL, Buffer, Discipline, List, Queue
from netcarlo.kernels.shared.layout import Link, Shared


def queue_of(p: Any, m: Any, s: Any, word: Any) -> Any:
    """Return the queue of a packet; the two directions of a flow have separate queues."""
    number = packet.flow_of(m, word)
    if word & packet.BACKWARD:
        number += p[Shared.FLOWS]
    return s + Discipline.SIZE + Queue.SIZE * number


def on_arrival(m: Any, b: Any, s: Any, q: Any) -> None:
    """Add the queue of an arriving packet to the new queues, unless it is in a list."""
    if m[q + Queue.IS_ACTIVE] == 0:
        m[q + Queue.IS_ACTIVE] = 1
        m[q + Queue.CREDITS] = m[b + Link.FQ_QUANTUM]
        _append(m, s + Discipline.NEW_QUEUES, q)


def dequeue(p: Any, m: Any, b: Any, s: Any, t: Any) -> Any:
    """Dequeue a packet at `t`, and return its buffer or NULL."""
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
                if is_new:  # it becomes an old queue (RFC 8290, section 4.2)
                    _append(m, s + Discipline.OLD_QUEUES, q)
                else:
                    m[q + Queue.IS_ACTIVE] = 0
    return buffer


@noinline
def drop_from_longest(p: Any, m: Any, b: Any, s: Any, t: Any) -> None:
    """Drop the head of the queue with the most bytes, because there are too many packets."""
    longest, most = np.int64(NULL), np.int64(-1)
    for queues in (
        Discipline.NEW_QUEUES,
        Discipline.OLD_QUEUES,
    ):  # every queue with packets is in one of the lists
        q = m[s + queues + List.FIRST]
        while q != NULL:
            held = m[q + Queue.BYTES]
            if m[q + Queue.FIRST] != NULL and (held > most or (held == most and q < longest)):
                longest, most = q, held
            q = m[q + Queue.NEXT]
    fates.drop(p, m, b, t, buffers.pop(m, s, longest))


def _append(m: Any, queues: Any, q: Any) -> None:
    """Append a queue to a list."""
    m[q + Queue.NEXT] = NULL
    if m[queues + List.FIRST] == NULL:
        m[queues + List.FIRST] = q
    else:
        m[m[queues + List.LAST] + Queue.NEXT] = q
    m[queues + List.LAST] = q


def _remove_first(m: Any, queues: Any) -> None:
    """Remove the first queue of a list."""
    m[queues + List.FIRST] = m[m[queues + List.FIRST] + Queue.NEXT]
