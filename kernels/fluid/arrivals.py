"""Arrival of the packets of a fluid sender on a path: counts packets that have not arrived by the end of the
run.

A packet arrives after the slowest hop has served it and it has crossed the path. A step therefore lasts at
least as long as that hop needs to serve the packets that are delivered in it. Packets that arrive after the
end of the run are in flight.

`m` begins with the words of the flow (`FlowWord`).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.fluid.state import ONE_BITS, PACKET, FlowWord


def lost(out: Any) -> Any:
    """Return the number of packets that have been dropped or lost [packet]."""
    found = out[Out.DROPS_QUEUE] + out[Out.DROPS_RANDOM] + out[Out.DROPS_OUTAGE]
    return found + out[Out.DROPS_HANDOVER] + out[Out.DROPS_BUFFER]


def served(flow: Any, each: Any) -> Any:
    """Return the time in which a hop serves `flow` [packet, ONE_BITS] at `each` ns per packet, rounded up
    [ns]."""
    exact = float(max(flow, np.int64(0))) * PACKET * each
    whole = np.int64(exact)
    return whole + 1 if float(whole) < exact else whole


def complete(out: Any, route: Any, length: Any, flow: Any, left: Any, t: Any) -> Any:
    """Record the completion of a transfer whose last `left` packets are part of `flow` [packet, ONE_BITS].

    `flow` is sent in `length` ns from `t` on. Returns the time that the `left` packets take [ns].
    """
    length = np.int64(float(length) * (float(max(left, 0)) / float(max(flow, 1))))
    length = max(length, served(left, route.service))
    out[Out.COMPLETED] = t + length + route.one_way
    return length


def settle(p: Any, m: Any, out: Any, each: Any, forth: Any, begin: Any, until: Any) -> Any:
    """Count as in flight the packets of a step from `begin` to `until` [ns] that arrive after the end of the
    run.

    The slowest hop serves a packet in `each` ns, and the one-way delay is `forth` ns. Returns the end of the
    step [ns]: `until`, or the time at which that hop has served the packets of the step, whichever is later.
    """
    through = m[FlowWord.SENT] - (lost(out) << ONE_BITS)
    more = through - m[FlowWord.COUNTED]
    m[FlowWord.COUNTED] = through
    until = max(until, begin + served(more, each))
    after = until + forth - p[RowP.END]
    if more > 0 and after > 0:
        length = until - begin
        late = more
        if after < length:
            late = np.int64(float(more) * (float(after) / float(length)))
        m[FlowWord.AFTER_END] += late
    return until
