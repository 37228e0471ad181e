"""802.11 station of a node: queues, backoff, and the time of the next event.

`m` is scratch, `t` the time [ns].
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import frames
from netcarlo.kernels.adhoc.frames import Kind, is_ack, is_data, kind_of
from netcarlo.kernels.adhoc.layout import STREAM_BACKOFF, Manet, ManetOut, NodeOut
from netcarlo.kernels.adhoc.state import (
    COUNTS,
    NO_KEY,
    NODE_COUNTS,
    NODE_WORDS,
    NODES,
    PHASE_BITS,
    Node,
    Phase,
    Word,
)
from netcarlo.kernels.base import ring
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.base.ring import Ring


def rekey(m: Any, i: Any) -> None:
    """Update the time of the next event of node i."""
    at = NODES + i * NODE_WORDS
    key = np.int64(NO_KEY)
    end = m[at + Node.END]
    if end < NO_KEY:
        key = end << PHASE_BITS | Phase.END
    elif m[at + Node.SERVING] != 0:
        key = (m[at + Node.SINCE] + m[at + Node.SLOTS] * m[Manet.SLOT]) << PHASE_BITS | Phase.START
    if m[at + Node.DELAYED_AT] < NO_KEY:
        key = min(key, m[at + Node.DELAYED_AT] << PHASE_BITS | Phase.DELAYED)
    if m[at + Node.CHECK_AT] < NO_KEY:
        key = min(key, m[at + Node.CHECK_AT] << PHASE_BITS | Phase.CHECK)
    if m[at + Node.DUE_AT] < NO_KEY:
        key = min(key, m[at + Node.DUE_AT] << PHASE_BITS | Phase.DUE)
    m[m[Word.KEYS] + i] = key


def _difs(m: Any) -> Any:
    """Return DIFS [ns]."""
    return m[Manet.SIFS] + 2 * m[Manet.SLOT]


@noinline
def back_off(m: Any, i: Any, t: Any) -> None:
    """Draw a backoff of node i for the frame in service."""
    at = NODES + i * NODE_WORDS
    number = m[at + Node.BACKOFFS]
    m[at + Node.BACKOFFS] = number + 1
    a, _, _, _ = draw(m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], STREAM_BACKOFF + i, number)
    m[at + Node.SLOTS] = (np.int64(a) * (m[at + Node.CW] + 1)) >> 32
    m[at + Node.SINCE] = max(t, m[at + Node.BUSY]) + _difs(m)
    rekey(m, i)


def occupy(m: Any, i: Any, t: Any, until: Any) -> None:
    """Mark the medium busy for node i, which does not count down its backoff before `until` [ns]."""
    at = NODES + i * NODE_WORDS
    busy = max(m[at + Node.BUSY], until)
    m[at + Node.BUSY] = busy
    if m[at + Node.SERVING] != 0 and m[at + Node.END] >= NO_KEY:
        if t > m[at + Node.SINCE]:
            m[at + Node.SLOTS] -= min(m[at + Node.SLOTS], (t - m[at + Node.SINCE]) // m[Manet.SLOT])
        m[at + Node.SINCE] = busy + _difs(m)
        rekey(m, i)


@noinline
def next_frame(m: Any, i: Any, t: Any) -> None:
    """Put the next frame of node i into service; routing frames come first."""
    at = NODES + i * NODE_WORDS
    queue = at + Node.ROUTING_HEAD
    if m[queue + Ring.COUNT] == 0:
        queue = at + Node.PACKETS_HEAD
    if m[queue + Ring.COUNT] == 0:
        m[at + Node.SERVING] = 0
        rekey(m, i)
    else:
        frames.write(m, at + Node.FRAME, frames.read(m, ring.first(m, queue, frames.words())))
        ring.pop(m, queue)
        m[at + Node.SERVING] = 1
        m[at + Node.RECEIVED] = 0
        back_off(m, i, t)


@noinline
def enqueue(m: Any, i: Any, t: Any, frame: Any) -> None:
    """Enqueue a frame in node i, or drop it if the queue is full."""
    at = NODES + i * NODE_WORDS
    queue = at + (Node.ROUTING_HEAD if kind_of(frame.head) >= Kind.REQUEST else Node.PACKETS_HEAD)
    if m[queue + Ring.COUNT] >= m[queue + Ring.ROOM]:
        m[at + NODE_COUNTS + NodeOut.DROPS] += 1
        drop(m, frame.head, np.int64(ManetOut.DROPS_QUEUE))
    else:
        frames.write(m, ring.push(m, queue, frames.words()), frame)
        if m[at + Node.SERVING] == 0 and m[at + Node.END] >= NO_KEY:
            next_frame(m, i, t)


@noinline
def drop(m: Any, head: Any, column: Any) -> None:
    """Drop a packet; data are counted in a `column` of `ManetOut`."""
    if is_data(head):
        m[COUNTS + column] += 1
    elif is_ack(head):
        m[COUNTS + ManetOut.ACK_DROPS] += 1
