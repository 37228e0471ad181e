"""The words of a link with active queue management: its places, its queues, and what each algorithm knows.

They lie behind the rings of the link, from word `LinkWord.DISCIPLINE` of it on: `Discipline`, then a `Queue`
or, of FQ-CoDel, two a flow (its data, what comes back), then the places.  Places and queues are told by the
word where they begin; NOTHING is none of them.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.shared.layout import FQ_CODEL, NO_AQM, Link, Shared

NULL = 0


class Discipline(IntEnum):
    """What a link knows besides its queues."""

    BACKLOG = 0  # packets in its queues
    FREE_BUFFERS = 1  # the first place without a packet
    NEW_QUEUES = 2  # FQ-CoDel: the list of new queues, words as in `List`
    OLD_QUEUES = 4  # FQ-CoDel: the list of old queues
    QDELAY = 6  # PIE: how long what waits will take [ns]
    DROP_PROB = 7  # PIE: of dropping [2**-PROBABILITY_BITS]
    BURST_ALLOWANCE = 8  # PIE: left of a burst that is let pass [ns]
    QDELAY_OLD = 9  # PIE: the queue delay at the last update [ns]
    NEXT_UPDATE = 10  # PIE: the next update is due [ns]
    SIZE = 11


class List(IntEnum):
    """A list of queues."""

    FIRST = 0
    LAST = 1


class Queue(IntEnum):
    """A FIFO of packets, and CoDel's state."""

    FIRST = 0  # place of the packet at the head
    LAST = 1  # of the one at the tail
    BYTES = 2  # of all of them
    FIRST_ABOVE_TIME = 3  # dropping is in order from then on [ns]; 0: the sojourn time is below the target
    DROPPING = 4  # 1: it is in the dropping state
    DROP_NEXT = 5  # the next one is dropped at [ns]
    COUNT = 6  # since it began to drop; sets how fast
    LAST_COUNT = 7  # what those were when it began
    CREDITS = 8  # FQ-CoDel: bytes left in this round
    IS_ACTIVE = 9  # FQ-CoDel: 1: it is in a list,
    NEXT = 10  # in which this queue comes next
    SIZE = 11


class Buffer(IntEnum):
    """A packet that waits."""

    ARRIVED = 0  # at [ns]
    PACKET = 1  # what it is, see `packet`
    BYTES = 2
    NEXT = 3  # the place of the next one of its queue, or the next without a packet
    SIZE = 4


def queues_of(p: Any, m: Any, b: Any) -> Any:
    """How many queues the link with block `b` has."""
    return 2 * p[Shared.FLOWS] if m[b + Link.AQM] == FQ_CODEL else np.int64(1)


def scratch_words(rows: Any, scale: Any) -> Any:
    """Words [n, L] that each link needs for this; places are as many as `Link.ROOM` times `scale`."""
    queues = np.where(rows.links[:, :, Link.AQM] == FQ_CODEL, 2 * rows.parameters[:, Shared.FLOWS, None], 1)
    words = Discipline.SIZE + Queue.SIZE * queues + Buffer.SIZE * rows.links[:, :, Link.ROOM] * scale
    return np.where(rows.links[:, :, Link.AQM] == NO_AQM, 0, words)
