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
from netcarlo.kernels.wireless import rate_control
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
    NO_EVENT,
    NODE_COUNTS,
    NODE_WORDS,
    AirTime,
    Frame,
    LinkState,
    Mac,
    Wait,
    Word,
    link_number,
    node_at,
    rate_at,
)
from netcarlo.kernels.wireless.station import back_off, disturbers, schedule

_ONE = np.int64(1)
_NOTHING, _FRESH, _CONCLUDED = range(3)  # what a reception means, see `_receive`


@noinline
def end(m: Any, losses: Any, i: Any, t: Any) -> Any:
    """The event of node i at `Phase.END`: its transmission ends, and the receptions with it.

    Returns `(left, reached, frame)`: a frame left the queue of node `left`; `frame` has reached node
    `reached` for the first time.
    """
    sender = node_at(m, i)
    on_air = m[Word.ON_AIR] & ~(_ONE << i)
    m[Word.ON_AIR] = on_air
    m[sender + Mac.END] = NO_EVENT
    m[sender + Mac.TX] = t
    _wait(m, sender, t)
    left = np.int64(NOBODY)
    reached = np.int64(NOBODY)
    frame = np.int64(NOBODY)
    at = m[Word.NODES]
    for j in range(m[Radio.NODES]):
        sense = m[at + Node.SENSE]
        if sense >> i & 1:
            quiet = on_air & sense == 0
            if quiet:
                m[at + NODE_COUNTS + NodeOut.BUSY] += t - m[at + Mac.BUSY_SINCE]
            if on_air >> j & 1 == 0:
                _add_disturbance(m, at, i, t)
                if m[at + Mac.LOCK] == i:
                    received = _receive(m, losses, j, at, i, sender, t)
                    if received == _FRESH:
                        reached = np.int64(j)
                        frame = head_of(m, sender)
                    elif received == _CONCLUDED:
                        left = np.int64(j)
                if quiet:
                    m[at + Mac.QUIET] = t
                if m[at + Mac.COUNT] > 0 or m[at + Mac.START] != NO_EVENT or m[at + Mac.RESET] != NO_EVENT:
                    schedule(m, j, at)
        at += NODE_WORDS
    schedule(m, i, sender)
    return left, reached, frame


def _wait(m: Any, sender: Any, t: Any) -> None:
    """The node at word `sender` has sent a frame: it waits for the answer, or goes on after a CTS to self."""
    kind = m[sender + Mac.FRAME]
    if kind in (Frame.DATA, Frame.RTS):
        own = rate_at(m, m[sender + Mac.RATE])
        header = m[rate_at(m, m[own + Rate.ANSWER]) + Rate.PREAMBLE]
        m[sender + Mac.WAITING] = Wait.ACK if kind == Frame.DATA else Wait.CTS
        m[sender + Mac.TIMEOUT] = t + m[Radio.SIFS] + m[Radio.SLOT] + header
        m[sender + Mac.LATE] = m[sender + Mac.TIMEOUT]
    elif kind == Frame.SELF:
        _proceed(m, sender, t)


def _add_disturbance(m: Any, at: Any, i: Any, t: Any) -> None:
    """Node i falls silent: for how long the reception of the node at word `at` was disturbed until now."""
    lock = m[at + Mac.LOCK]
    if m[at + Mac.CORRUPT] != 0 and lock != NOBODY:
        mask = disturbers(m, at, m[node_at(m, lock) + Mac.FRAME]) & ~(_ONE << lock)
        others = m[Word.ON_AIR] & mask
        if lock == i:
            if others != 0:
                m[at + Mac.DISTURBED] += t - m[at + Mac.DISTURBED_SINCE]
        elif mask >> i & 1 and others == 0:
            m[at + Mac.DISTURBED] += t - m[at + Mac.DISTURBED_SINCE]


def _receive(m: Any, losses: Any, j: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
    """Node j (at word `at`) has received all of a frame of node i (at `sender`), good or not.

    Returns _FRESH for data that arrive for the first time, _CONCLUDED for the ACK of node j's own data, or
    _NOTHING.
    """
    received = np.int64(_NOTHING)
    kind = m[sender + Mac.FRAME]
    to = m[sender + Mac.TO]
    m[at + Mac.LOCK] = NOBODY
    if kind == Frame.DATA and to == j:
        good = _receive_data(m, losses, at, i, sender, t)
        if good:
            if m[sender + Mac.HEAD_RECEIVED] == 0:
                m[sender + Mac.HEAD_RECEIVED] = 1
                m[at + NODE_COUNTS + NodeOut.RECEIVED] += 1
                received = np.int64(_FRESH)
            else:
                m[at + NODE_COUNTS + NodeOut.DUPLICATES] += 1
    else:
        decoded = m[at + Node.NEAR] if kind == Frame.DATA else m[at + Node.CONTROL]
        good = m[at + Mac.CORRUPT] == 0 and decoded >> i & 1 != 0
        if good and to == j:
            if _receive_control(m, at, i, sender, t):
                received = np.int64(_CONCLUDED)
        elif good and t + m[sender + Mac.DURATION] > m[at + Mac.NAV]:
            m[at + Mac.NAV] = t + m[sender + Mac.DURATION]
            if kind == Frame.RTS:
                _note_rts(m, at, sender, t)
    m[at + Mac.RX] = t + m[Radio.SIFS] if good else t + m[Radio.EIFS] - 2 * m[Radio.SLOT]
    return received


@noinline
def _receive_data(m: Any, losses: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
    """The node at word `at` has heard all of a data frame of node i for it; returns whether it is good."""
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
    """A good RTS, CTS or ACK for the node at word `at`; returns whether it ends an exchange."""
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
        _proceed(m, at, t)
    return False


def _answer(m: Any, at: Any, i: Any, sender: Any, t: Any, kind: Any) -> None:
    """The node at word `at` will answer node i with an ACK or a CTS, unless it is about to send already."""
    if m[at + Mac.START] == NO_EVENT:
        m[at + Mac.START] = t + m[Radio.SIFS]
        m[at + Mac.NEXT] = kind
        m[at + Mac.ANSWER_TO] = i
        m[at + Mac.ANSWER_RATE] = m[rate_at(m, m[sender + Mac.RATE]) + Rate.ANSWER]
        m[at + Mac.ANSWER_DURATION] = m[sender + Mac.DURATION]


def _proceed(m: Any, at: Any, t: Any) -> None:
    """The data follow a CTS."""
    m[at + Mac.START] = t + m[Radio.SIFS]
    m[at + Mac.NEXT] = Frame.DATA


@noinline
def _note_rts(m: Any, at: Any, sender: Any, t: Any) -> None:
    """The NAV that an RTS set is given up unless something follows."""
    own = rate_at(m, m[sender + Mac.RATE])
    cts = m[rate_at(m, m[own + Rate.ANSWER]) + AirTime.ANSWER]
    m[at + Mac.RESET] = t + 2 * (m[Radio.SIFS] + m[Radio.SLOT]) + cts
    m[at + Mac.NAV_OF_RTS] = m[at + Mac.NAV]


@noinline
def _succeed(m: Any, at: Any, t: Any) -> None:
    """The head of the queue was acknowledged."""
    rate_control.succeeded(m, link_of(m, head_of(m, at)))
    m[at + NODE_COUNTS + NodeOut.SUCCEEDED] += 1
    m[at + Mac.WAITING] = Wait.SUCCEEDED
    m[at + Mac.TIMEOUT] = NO_EVENT
    m[at + Mac.LATE] = t
    leave(m, at, t)


def leave(m: Any, at: Any, t: Any) -> None:
    """The head leaves the queue of the node at word `at`."""
    counts = at + NODE_COUNTS
    m[counts + NodeOut.QUEUE_SUM] += m[at + Mac.COUNT] * (t - m[at + Mac.COUNTED_AT])
    m[at + Mac.COUNTED_AT] = t
    ring.pop(m, at + Mac.HEAD)
    m[at + Mac.SHORT] = 0
    m[at + Mac.LONG] = 0
    m[at + Mac.CW] = m[Radio.CW_MIN]
    m[at + Mac.HEAD_RECEIVED] = 0


@noinline
def conclude(m: Any, j: Any, t: Any) -> None:
    """Node j, whose queue a frame has left, goes on with its burst or backs off."""
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
    """The event of node j at `Phase.TIMEOUT`.

    Returns `(left, frame)`: a frame left the queue of node `left`; `frame` was given up and never received.
    """
    at = node_at(m, j)
    if m[at + Mac.RESET] == t:
        m[at + Mac.RESET] = NO_EVENT
        if m[at + Mac.NAV] == m[at + Mac.NAV_OF_RTS]:
            m[at + Mac.NAV] = t
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
    """No answer came: node j tries again, or gives the frame up.  Returns what `time_out` does."""
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
