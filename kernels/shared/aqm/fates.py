"""Drops and marks by active queue management, and their counters."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm.state import Buffer
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import EVENT_DROP
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.shared import arrivals, event_log, packet
from netcarlo.kernels.shared.aqm.buffers import pop as pop
from netcarlo.kernels.shared.layout import Flow, FlowOut, Link, LinkOut, Shared
from netcarlo.kernels.shared.link import Fate, count_loss
from netcarlo.kernels.shared.state import FlowWord, LinkWord, block_of

ARRIVALS: Any = slot("arrivals")

TRACED: Any = slot("traced")


@noinline
def drop(p: Any, m: Any, b: Any, t: Any, buffer: Any) -> None:
    """Drop the packet of a buffer, which has left its queue, at `t`."""
    arrived, word = m[buffer + Buffer.ARRIVED], m[buffer + Buffer.PACKET]
    m[b + LinkWord.COUNTS + LinkOut.DROPS] += 1
    m[b + LinkWord.COUNTS + LinkOut.DROPS_BEFORE] += arrived < p[Shared.WARM_UP]
    flow = block_of(m, packet.flow_of(m, word))
    count_loss(m, flow, word, Fate.DROPPED)
    if TRACED:
        event_log.log(m, t, EVENT_DROP, m[b + LinkWord.NUMBER], word, m[buffer + Buffer.BYTES], False)
    if ARRIVALS:
        arrivals.on_packet_left(m, flow, t)
    count_wait(p, m, b, arrived, t)


def drop_early(p: Any, m: Any, b: Any, s: Any, t: Any, buffer: Any) -> None:
    """Count and drop a packet before the queue is full."""
    m[b + LinkWord.COUNTS + LinkOut.EARLY] += 1
    drop(p, m, b, t, buffer)


def count_wait(p: Any, m: Any, b: Any, arrived: Any, until: Any) -> None:
    """Count the wait of a packet that is dropped, or still waits at the end."""
    waited = max(min(until, p[RowP.END]) - max(arrived, p[Shared.WARM_UP]), np.int64(0))
    add(m, b + LinkWord.COUNTS + LinkOut.QUEUE_SUM, b + LinkWord.COUNTS + LinkOut.QUEUE_SUM_HIGH, waited)


@noinline
def mark(m: Any, b: Any, word: Any) -> Any:
    """Return the packet with a mark and True if the link marks and the packet is ECN-capable (RFC 3168),
    else as it is and False."""
    flow = block_of(m, packet.flow_of(m, word))
    marks = m[b + Link.AQM_MARKS] != 0 and m[flow + Flow.ECN] != 0 and word & packet.BACKWARD == 0
    if marks:
        word |= packet.MARKED
        m[flow + FlowWord.COUNTS + FlowOut.MARKED] += 1
        m[b + LinkWord.COUNTS + LinkOut.MARKS] += 1
    return word, marks
