"""Packet buffers of a link: chains of buffers, which form its queues.

`s` is where the `Discipline` of a link begins in scratch `m`, `q` a `Queue` of it.
"""

from typing import Any

from netcarlo.kernels.base.aqm import chain
from netcarlo.kernels.base.aqm.state import NULL, Buffer
from netcarlo.kernels.shared.aqm.state import Discipline


def allocate(m: Any, s: Any, begin: Any, room: Any) -> Any:
    """Allocate `room` empty buffers from word `begin` on, and return the first word after them."""
    m[s + Discipline.FREE_BUFFERS] = begin
    for k in range(room):
        m[begin + Buffer.SIZE * k + Buffer.NEXT] = begin + Buffer.SIZE * (k + 1)
    m[begin + Buffer.SIZE * (room - 1) + Buffer.NEXT] = NULL
    return begin + Buffer.SIZE * room


def append(m: Any, s: Any, q: Any, t: Any, word: Any, size: Any) -> None:
    """Append a packet of `size` bytes that arrives at `t` to a queue; a buffer must be free."""
    buffer = m[s + Discipline.FREE_BUFFERS]
    m[s + Discipline.FREE_BUFFERS] = m[buffer + Buffer.NEXT]
    m[buffer + Buffer.ARRIVED] = t
    m[buffer + Buffer.PACKET] = word
    m[buffer + Buffer.BYTES] = size
    chain.append(m, q, buffer)
    m[s + Discipline.BACKLOG] += 1
    m[s + Discipline.BYTES] += size


def pop(m: Any, s: Any, q: Any) -> Any:
    """Remove the packet at the head; return its buffer, which stays valid until the next arrival, or
    NULL."""
    buffer = chain.pop(m, q)
    if buffer != NULL:
        m[s + Discipline.BACKLOG] -= 1
        m[s + Discipline.BYTES] -= m[buffer + Buffer.BYTES]
        m[buffer + Buffer.NEXT] = m[s + Discipline.FREE_BUFFERS]
        m[s + Discipline.FREE_BUFFERS] = buffer
    return buffer
