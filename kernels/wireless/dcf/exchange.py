"""Frame exchanges: reception, answer, end or failure of an exchange.

Source: IEEE 802.11-2007, 9.2.5 to 9.2.8 (virtual carrier sense, RTS/CTS, acknowledgement, retransmission).
NOBODY stands for no node and no frame.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base import ring
from netcarlo.kernels.base.countdown import lost
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless import nav, rate_control, stock
from netcarlo.kernels.wireless.dcf.access import back_off, schedule
from netcarlo.kernels.wireless.dcf.frames import proceed
from netcarlo.kernels.wireless.dcf.frames import send as send
from netcarlo.kernels.wireless.dcf.frames import wait as wait
from netcarlo.kernels.wireless.frame import head_of, link_of
from netcarlo.kernels.wireless.layout import (
    NOBODY,
    STREAM_DISTURBED,
    STREAM_FRAME,
    Link,
    Node,
    NodeOut,
    Radio,
    Rate,
)
from netcarlo.kernels.wireless.state import (
    CONCLUDED,
    FRESH,
    NO_EVENT,
    NODE_COUNTS,
    NOTHING,
    Frame,
    LinkState,
    Mac,
    Wait,
    link_number,
    node_at,
    rate_at,
)


def receive(m: Any, losses: Any, j: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
    """Process a frame of node i (at `sender`) that node j (at word `at`) has received completely, intact or
    not.

    Returns FRESH for data that arrive for the first time, CONCLUDED for the ACK of node j's own data, or
    NOTHING.
    """
    received = np.int64(NOTHING)
    kind = m[sender + Mac.FRAME]
    to = m[sender + Mac.TO]
    m[at + Mac.LOCK] = NOBODY
    if kind == Frame.DATA and to == j:
        good = _receive_data(m, losses, at, i, sender, t)
        if good:
            if m[sender + Mac.HEAD_RECEIVED] == 0:
                m[sender + Mac.HEAD_RECEIVED] = 1
                m[at + NODE_COUNTS + NodeOut.RECEIVED] += 1
                received = np.int64(FRESH)
            else:
                m[at + NODE_COUNTS + NodeOut.DUPLICATES] += 1
    else:
        decoded = m[at + Node.NEAR] if kind == Frame.DATA else m[at + Node.CONTROL]
        good = m[at + Mac.CORRUPT] == 0 and decoded >> i & 1 != 0
        if good and to == j:
            if _receive_control(m, at, i, sender, t):
                received = np.int64(CONCLUDED)
        elif good:
            nav.note(m, at, sender, t)
    m[at + Mac.RX] = t + m[Radio.SIFS] if good else t + m[Radio.EIFS] - 2 * m[Radio.SLOT]
    return received


@noinline
def _receive_data(m: Any, losses: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
    """Process a data frame of node i for the node at word `at`; return whether it is intact."""
    counts = at + NODE_COUNTS
    link = link_of(m, head_of(m, sender))
    if m[at + Mac.CORRUPT] != 0 and not _endure(m, losses, at, link):
        m[counts + NodeOut.COLLIDED] += 1
        return False
    good = m[at + Node.NEAR] >> i & 1 != 0
    stream = STREAM_FRAME + link_number(m, link)
    if not good or lost(m, losses, m, link + LinkState.GAP, m[link + Link.LOSS], stream):
        m[counts + NodeOut.NOISE] += 1
        return False
    _answer(m, at, i, sender, t, np.int64(Frame.ACK))
    return True


@noinline
def _endure(m: Any, losses: Any, at: Any, link: Any) -> Any:
    """Return whether a data frame on the link at word `link` survives interference."""
    row = m[link + Link.FRAGILITY]
    if row == 0:
        return False
    most = gap(
        losses, row - 1, m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION],
        STREAM_DISTURBED + link_number(m, link), m[link + LinkState.ENDURED],
    )  # fmt: skip
    m[link + LinkState.ENDURED] += 1
    return (m[at + Mac.DISTURBED] + 999) // 1000 <= most


@noinline
def _receive_control(m: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
    """Process an intact RTS, CTS or ACK for the node at word `at`; return whether it ends an exchange."""
    kind = m[sender + Mac.FRAME]
    if kind == Frame.RTS:
        if m[at + Mac.NAV] <= t:
            _answer(m, at, i, sender, t, np.int64(Frame.CTS))
    elif kind == m[at + Mac.WAITING]:
        if kind == Frame.ACK:
            _succeed(m, at, t)
            return True
        m[at + Mac.WAITING] = Wait.NOTHING
        m[at + Mac.TIMEOUT] = NO_EVENT
        m[at + Mac.LATE] = t
        proceed(m, at, t)
    return False


def _answer(m: Any, at: Any, i: Any, sender: Any, t: Any, kind: Any) -> None:
    """Schedule the ACK or CTS of the node at word `at` to node i, unless it is about to send already."""
    if m[at + Mac.START] == NO_EVENT:
        m[at + Mac.START] = t + m[Radio.SIFS]
        m[at + Mac.NEXT] = kind
        m[at + Mac.ANSWER_TO] = i
        m[at + Mac.ANSWER_RATE] = m[rate_at(m, m[sender + Mac.RATE]) + Rate.ANSWER]
        m[at + Mac.ANSWER_DURATION] = m[sender + Mac.DURATION]


@noinline
def _succeed(m: Any, at: Any, t: Any) -> None:
    """Remove the acknowledged head of the queue."""
    rate_control.succeeded(m, link_of(m, head_of(m, at)))
    m[at + NODE_COUNTS + NodeOut.SUCCEEDED] += 1
    m[at + Mac.WAITING] = Wait.SUCCEEDED
    m[at + Mac.TIMEOUT] = NO_EVENT
    m[at + Mac.LATE] = t
    leave(m, at, t)


def leave(m: Any, at: Any, t: Any) -> None:
    """Remove the head of the queue of the node at word `at`."""
    counts = at + NODE_COUNTS
    m[counts + NodeOut.QUEUE_SUM] += m[at + Mac.COUNT] * (t - m[at + Mac.COUNTED_AT])
    m[at + Mac.COUNTED_AT] = t
    stock.leave(m, head_of(m, at))
    ring.pop(m, at + Mac.HEAD)
    m[at + Mac.SHORT] = 0
    m[at + Mac.LONG] = 0
    m[at + Mac.CW] = m[Radio.CW_MIN]
    m[at + Mac.HEAD_RECEIVED] = 0


@noinline
def conclude(m: Any, j: Any, t: Any) -> None:
    """Continue the burst of node j, or back off: a frame has left its queue."""
    at = node_at(m, j)
    most = m[Radio.GATEWAY_BURST] if j == m[Radio.NODES] - 1 else m[Radio.BURST]
    if m[at + Mac.WAITING] == Wait.SUCCEEDED:
        m[at + Mac.BURST] += 1
    else:
        m[at + Mac.BURST] = most
    m[at + Mac.WAITING] = Wait.NOTHING
    if m[at + Mac.BURST] < most and m[at + Mac.COUNT] > 0:
        m[at + Mac.START] = t + m[Radio.SIFS]
        m[at + Mac.NEXT] = Frame.DATA
        m[at + Mac.DATA_RATE] = NOBODY
    else:
        m[at + Mac.BURST] = 0
        back_off(m, j, at, t)
    schedule(m, j, at)


@noinline
def time_out(m: Any, j: Any, t: Any) -> Any:
    """Process the event of node j at `Phase.TIMEOUT`.

    Returns `(left, frame)`: a frame left the queue of node `left`; `frame` was dropped at the retry limit and
    never received.
    """
    at = node_at(m, j)
    if m[at + Mac.RESET] == t:
        nav.reset(m, at, t)
        schedule(m, j, at)
        return np.int64(NOBODY), np.int64(NOBODY)
    i = m[at + Mac.LOCK]
    if i != NOBODY:
        sender = node_at(m, i)
        header = m[rate_at(m, m[sender + Mac.RATE]) + Rate.PREAMBLE]
        if m[at + Mac.LOCKED_AT] + header <= t:  # perhaps it is the answer
            m[at + Mac.TIMEOUT] = m[sender + Mac.END]
            schedule(m, j, at)
            return np.int64(NOBODY), np.int64(NOBODY)
    return _fail(m, j, at, t)


def _fail(m: Any, j: Any, at: Any, t: Any) -> Any:
    """Retry the unanswered frame of node j, or drop it at the retry limit; return the result of
    `time_out`."""
    counts = at + NODE_COUNTS
    awaited = m[at + Mac.WAITING]
    m[at + Mac.TIMEOUT] = NO_EVENT
    m[at + Mac.WAITING] = Wait.NOTHING
    m[at + Mac.BURST] = 0
    m[counts + NodeOut.FAILED] += 1
    frame = head_of(m, at)
    if awaited == Wait.ACK:
        m[counts + NodeOut.AIR_FAILED] += m[at + Mac.AIR]
        rate_control.failed(m, link_of(m, frame))
    if awaited == Wait.ACK and m[at + Mac.WITH_RTS] != 0:
        m[at + Mac.LONG] += 1
    else:
        m[at + Mac.SHORT] += 1
    left = np.int64(NOBODY)
    lost = np.int64(NOBODY)
    if m[at + Mac.SHORT] >= m[Radio.SHORT_RETRY] or m[at + Mac.LONG] >= m[Radio.LONG_RETRY]:
        m[counts + NodeOut.RETRY_DROPS] += 1
        if m[at + Mac.HEAD_RECEIVED] == 0:
            lost = frame
        leave(m, at, t)
        m[at + Mac.WAITING] = Wait.FAILED
        left = np.int64(j)
    else:
        m[at + Mac.CW] = min(2 * m[at + Mac.CW] + 1, m[Radio.CW_MAX])
        back_off(m, j, at, t)
        schedule(m, j, at)
    return left, lost
