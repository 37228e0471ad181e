"""FQ-CoDel: a queue per flow, served in turn by bytes, new queues first, with CoDel in each (RFC 8290,
section 4).

There are no hash collisions of flows. `lists` is the first word of two lists of queues, the new ones and the
old ones; `q` a `Queue`; `p`, `m`, `b` and `s` see `codel`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm import codel
from netcarlo.kernels.base.aqm.state import NULL, Buffer, List, Queue
from netcarlo.kernels.base.inline import noinline


def on_arrival(m: Any, lists: Any, q: Any, quantum: Any) -> None:
    """Add the queue of an arriving packet to the new queues, unless it is in a list."""
    if m[q + Queue.IS_ACTIVE] == 0:
        m[q + Queue.IS_ACTIVE] = 1
        m[q + Queue.CREDITS] = quantum
        _append(m, lists, q)


def dequeue(p: Any, m: Any, b: Any, s: Any, lists: Any, t: Any, limits: Any, quantum: Any) -> Any:
    """Dequeue a packet at `t`, and return its buffer or NULL."""
    buffer = np.int64(NULL)
    old = lists + List.SIZE
    while buffer == NULL and (m[lists] != NULL or m[old] != NULL):
        is_new = m[lists] != NULL
        queues = lists if is_new else old
        q = m[queues + List.FIRST]
        if m[q + Queue.CREDITS] <= 0:
            m[q + Queue.CREDITS] += quantum
            _remove_first(m, queues)
            _append(m, old, q)
        else:
            buffer = codel.dequeue(p, m, b, s, q, t, limits)
            if buffer != NULL:
                m[q + Queue.CREDITS] -= m[buffer + Buffer.BYTES]
            else:
                _remove_first(m, queues)
                if is_new:  # it becomes an old queue (RFC 8290, section 4.2)
                    _append(m, old, q)
                else:
                    m[q + Queue.IS_ACTIVE] = 0
    return buffer


@noinline
def longest(m: Any, lists: Any, found: Any) -> Any:
    """Return the queue with the most bytes in two lists, or queue `found`, which may be NULL, if it has more.

    Of equal ones it is the first in scratch. Every queue with packets is in a list.
    """
    for queues in (0, List.SIZE):
        q = m[lists + queues + List.FIRST]
        while q != NULL:
            if m[q + Queue.FIRST] != NULL:
                held, most = m[q + Queue.BYTES], m[found + Queue.BYTES] if found != NULL else np.int64(-1)
                if held > most or (held == most and q < found):
                    found = q
            q = m[q + Queue.NEXT]
    return found


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
