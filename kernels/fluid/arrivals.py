"""What has arrived, of all that a fluid sender of a path has put out, when the observation ends.

A packet arrives once the slowest hop has served it and it has passed the path.  So a step lasts at least as
long as that hop takes for the packets that get through in it; those that arrive after the end are in flight.

`m` begins with the words of the flow (`FlowWord`).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import Out, P
from netcarlo.kernels.fluid.state import ONE_BITS, PACKET, FlowWord


def lost(out: Any) -> Any:
    """Packets that have been dropped or lost."""
    found = out[Out.DROPS_QUEUE] + out[Out.DROPS_RANDOM] + out[Out.DROPS_OUTAGE]
    return found + out[Out.DROPS_HANDOVER] + out[Out.DROPS_BUFFER]


def served(flow: Any, each: Any) -> Any:
    """The time in which a hop serves `flow` [packet, ONE_BITS] at `each` ns a packet, rounded up [ns]."""
    exact = float(max(flow, np.int64(0))) * PACKET * each
    whole = np.int64(exact)
    return whole + 1 if float(whole) < exact else whole


def settle(p: Any, m: Any, out: Any, each: Any, forth: Any, begin: Any, until: Any) -> Any:
    """Count what a step from `begin` to `until` [ns] lets through and arrives after the end as in flight.

    The slowest hop takes `each` ns a packet, and a packet `forth` ns to the receiver.  Returns when the step
    ends: at `until`, or when that hop has served its packets.
    """
    through = m[FlowWord.SENT] - (lost(out) << ONE_BITS)
    more = through - m[FlowWord.SEEN]
    m[FlowWord.SEEN] = through
    until = max(until, begin + served(more, each))
    after = until + forth - p[P.END]
    if more > 0 and after > 0:
        length = until - begin
        late = more
        if after < length:
            late = np.int64(float(more) * (float(after) / float(length)))
        m[FlowWord.LATE] += late
    return until
