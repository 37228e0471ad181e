"""Words of queues in scratch.

Buffers and queues are identified by their first word; NULL is none of them.
"""

from enum import IntEnum
from typing import Any, NamedTuple

NULL = 0
"""Value that stands for no buffer and no queue."""


class List(IntEnum):
    """List of queues."""

    FIRST = 0
    LAST = 1
    SIZE = 2


class Queue(IntEnum):
    """FIFO of packets, and the state of CoDel."""

    FIRST = 0  # buffer at the head
    LAST = 1  # buffer at the tail
    BYTES = 2  # bytes of all its packets
    FIRST_ABOVE_TIME = 3
    """Time from which on packets may be dropped [ns]; 0: the sojourn time is below the target."""
    DROPPING = 4  # 1 in the dropping state
    DROP_NEXT = 5  # time of the next drop [ns]
    COUNT = 6  # drops since the dropping state began, which set the rate of dropping
    LAST_COUNT = 7  # value of COUNT when the dropping state began
    CREDITS = 8  # FQ-CoDel: bytes left in this round
    IS_ACTIVE = 9  # FQ-CoDel: 1 if the queue is in a list
    NEXT = 10  # FQ-CoDel: next queue in the list
    SIZE = 11


class Buffer(IntEnum):
    """Buffer of a waiting packet."""

    ARRIVED = 0  # time of arrival [ns]
    PACKET = 1  # word of the packet
    BYTES = 2
    NEXT = 3  # next buffer of its queue, or next free buffer
    SIZE = 4


class Limits(NamedTuple):
    """Parameters of CoDel."""

    target: Any
    """Target queueing delay [ns]."""
    interval: Any
    """Time for which it must be exceeded before the first drop [ns]."""
    mtu: Any
    """Number of waiting bytes up to which nothing is dropped."""
