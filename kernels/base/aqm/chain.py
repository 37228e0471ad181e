"""Chains of buffers, which form the queues. `q` is a `Queue` in scratch `m`."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm.state import NULL, Buffer, Queue


def append(m: Any, q: Any, buffer: Any) -> None:
    """Append a filled buffer to a queue."""
    m[buffer + Buffer.NEXT] = NULL
    if m[q + Queue.FIRST] == NULL:
        m[q + Queue.FIRST] = buffer
    else:
        m[m[q + Queue.LAST] + Buffer.NEXT] = buffer
    m[q + Queue.LAST] = buffer
    m[q + Queue.BYTES] += m[buffer + Buffer.BYTES]


def pop(m: Any, q: Any) -> Any:
    """Remove the packet at the head of a queue; return its buffer or NULL."""
    buffer = m[q + Queue.FIRST]
    if buffer != NULL:
        m[q + Queue.FIRST] = m[buffer + Buffer.NEXT]
        m[q + Queue.BYTES] -= m[buffer + Buffer.BYTES]
    return np.int64(buffer)
