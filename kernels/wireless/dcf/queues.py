"""Queue of a node: packets in a ring, the one in transmission first."""

from typing import Any

import numpy as np

from netcarlo.kernels.base import ring
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.dcf.access import contend
from netcarlo.kernels.wireless.frame import head_of, link_of
from netcarlo.kernels.wireless.layout import NOBODY, Link, Node, NodeOut, Radio, WifiRows
from netcarlo.kernels.wireless.state import NODE_COUNTS, Mac, Wait, node_at
from netcarlo.kernels.wireless.stock import count, enter

COLUMNS = 0
"""Number of outcomes of a node after those of `NodeOut`."""


def words(rows: WifiRows) -> np.ndarray[Any, Any]:
    """Return the words of scratch of the queues of each row [n]."""
    found: np.ndarray[Any, Any] = rows.nodes[..., Node.QUEUE].sum(axis=1)
    return found


@noinline
def set_up(m: Any, network: Any, free: Any) -> Any:
    """Lay out the queues of all nodes from word `free` on; return the next free word."""
    for j in range(m[Radio.NODES]):
        at = node_at(m, j)
        ring.init(m, at + Mac.HEAD, free, m[at + Node.QUEUE])
        free += m[at + Node.QUEUE]
    return free


@noinline
def enqueue(m: Any, j: Any, t: Any, frame: Any) -> Any:
    """Enqueue a frame at node j. Return False if the queue is full."""
    at = node_at(m, j)
    counts = at + NODE_COUNTS
    waiting = m[at + Mac.COUNT]
    if waiting >= m[at + Node.QUEUE]:
        m[counts + NodeOut.DROPS] += 1
        return False
    m[counts + NodeOut.QUEUED] += 1
    m[counts + NodeOut.QUEUE_SUM] += waiting * (t - m[at + Mac.COUNTED_AT])
    m[at + Mac.COUNTED_AT] = t
    m[ring.push(m, at + Mac.HEAD, 1)] = frame
    enter(m, frame)
    waiting += 1
    m[counts + NodeOut.QUEUE_MOST] = max(m[counts + NodeOut.QUEUE_MOST], waiting)
    if waiting == 1 and m[at + Mac.WAITING] == Wait.NOTHING:
        contend(m, j, at, t)
    return True


def early(m: Any) -> Any:
    """Return 0: a packet is complete at the end of its frame."""
    return 0


def set_early(m: Any, time: Any) -> None:
    """Do nothing: no packet is early."""


def not_before(t: Any, release: Any) -> Any:
    """Return the time at which a leg releases a packet [ns]: it is not in the past."""
    return release


def is_full(m: Any, at: Any, frame: Any) -> Any:
    """Return whether the queue that a packet would join is full."""
    node = node_at(m, m[link_of(m, frame) + Link.FROM])
    return m[node + Mac.COUNT] >= m[node + Node.QUEUE]


def sent_frame(m: Any, at: Any, k: Any) -> Any:
    """Return packet `k` of the data frame that the node at word `at` sends, or NOBODY."""
    return head_of(m, at) if k == 0 else np.int64(NOBODY)


def count_data(m: Any, j: Any, at: Any, column: Any) -> None:
    """Count data packets that node j, at word `at`, holds up to the next node, in a column of `FlowOut`."""
    for i in range(m[at + Mac.COUNT]):
        if i > 0 or m[at + Mac.HEAD_RECEIVED] == 0:
            count(m, m[ring.entry(m, at + Mac.HEAD, 1, i)], column)


def clear(m: Any, at: Any) -> None:
    """Do nothing: there are no other outcomes of a node."""


def write(m: Any, at: Any, out: Any, to: Any) -> None:
    """Do nothing: there are no other outcomes of a node."""
