"""State of a link with active queue management: its queues, its packet buffers, and the state of each
algorithm.

It follows the rings of the link, from word `LinkWord.DISCIPLINE` on: `Discipline`, then one `Queue`, or with
FQ-CoDel two per flow (its data, the reverse direction), then the buffers. Buffers and queues are identified
by their first word; NULL is none of them.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.shared.layout import FQ_CODEL, NO_AQM, Link, Shared

NULL = 0
"""Value that stands for no buffer and no queue."""


class Discipline(IntEnum):
    """State of a link besides its queues."""

    BACKLOG = 0  # packets in its queues
    FREE_BUFFERS = 1  # first free buffer
    NEW_QUEUES = 2  # FQ-CoDel: list of new queues, words as in `List`
    OLD_QUEUES = 4  # FQ-CoDel: list of old queues
    QDELAY = 6  # PIE: queueing delay [ns]
    DROP_PROB = 7  # PIE: drop probability [2**-PROBABILITY_BITS]
    BURST_ALLOWANCE = 8  # PIE: remaining burst that is not dropped [ns]
    QDELAY_OLD = 9  # PIE: queueing delay at the latest update [ns]
    NEXT_UPDATE = 10  # PIE: time of the next update [ns]
    BYTES = 11  # bytes in its queues
    SENDING = 12  # bytes of the packet in transmission, or of the latest one
    SIZE = 13


class List(IntEnum):
    """List of queues."""

    FIRST = 0
    LAST = 1


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
    PACKET = 1  # packet word, see `packet`
    BYTES = 2
    NEXT = 3  # next buffer of its queue, or next free buffer
    SIZE = 4


def queues_of(p: Any, m: Any, b: Any) -> Any:
    """Return the number of queues of the link with block `b`."""
    return 2 * p[Shared.FLOWS] if m[b + Link.AQM] == FQ_CODEL else np.int64(1)


def scratch_words(rows: Any, scale: Any) -> Any:
    """Return the words [n, L] that each link needs for AQM; it has `Link.ROOM` times `scale` buffers."""
    queues = np.where(rows.links[:, :, Link.AQM] == FQ_CODEL, 2 * rows.parameters[:, Shared.FLOWS, None], 1)
    words = Discipline.SIZE + Queue.SIZE * queues + Buffer.SIZE * rows.links[:, :, Link.ROOM] * scale
    return np.where(rows.links[:, :, Link.AQM] == NO_AQM, 0, words)
