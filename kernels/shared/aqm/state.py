"""State of a link with active queue management: its queues, its packet buffers, and the state of each
algorithm.

It follows the rings of the link, from word `LinkWord.DISCIPLINE` on: `Discipline`, then one `Queue`, or with
FQ-CoDel two per flow (its data, the reverse direction), then the buffers. Buffers and queues are identified
by their first word; NULL is none of them.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm.state import Buffer, Queue
from netcarlo.kernels.shared.layout import FQ_CODEL, NO_AQM, Link, Shared


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


def queues_of(p: Any, m: Any, b: Any) -> Any:
    """Return the number of queues of the link with block `b`."""
    return 2 * p[Shared.FLOWS] if m[b + Link.AQM] == FQ_CODEL else np.int64(1)


def scratch_words(rows: Any, scale: Any) -> Any:
    """Return the words [n, L] that each link needs for AQM; it has `Link.ROOM` times `scale` buffers."""
    queues = np.where(rows.links[:, :, Link.AQM] == FQ_CODEL, 2 * rows.parameters[:, Shared.FLOWS, None], 1)
    words = Discipline.SIZE + Queue.SIZE * queues + Buffer.SIZE * rows.links[:, :, Link.ROOM] * scale
    return np.where(rows.links[:, :, Link.AQM] == NO_AQM, 0, words)
