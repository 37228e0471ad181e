"""FQ-CoDel of a link: the queues of its flows, see `base.aqm.fq`.

`b` is the block of the link, `s` its `Discipline`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm.fq import longest
from netcarlo.kernels.base.aqm.state import NULL, Queue
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.shared import packet
from netcarlo.kernels.shared.aqm import buffers, fates
from netcarlo.kernels.shared.aqm.state import Discipline
from netcarlo.kernels.shared.layout import Shared


def queue_of(p: Any, m: Any, s: Any, word: Any) -> Any:
    """Return the queue of a packet; the two directions of a flow have separate queues."""
    number = packet.flow_of(m, word)
    if word & packet.BACKWARD:
        number += p[Shared.FLOWS]
    return s + Discipline.SIZE + Queue.SIZE * number


@noinline
def drop_from_longest(p: Any, m: Any, b: Any, s: Any, t: Any) -> None:
    """Drop the head of the queue with the most bytes, because there are too many packets."""
    q = longest(m, s + Discipline.NEW_QUEUES, np.int64(NULL))
    fates.drop(p, m, b, t, buffers.pop(m, s, q))
