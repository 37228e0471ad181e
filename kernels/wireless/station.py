"""A station's access to the channel: carrier sense, backoff, the start of its frames.

Source: IEEE 802.11-2007, 9.2 (DCF).  Which stations a node senses, decodes and is disturbed by are masks; a
node's next event is kept as one number, time and phase, that the engine compares.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base import ring
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.wireless.frame import air_time, head_of, link_of, size_of
from netcarlo.kernels.wireless.layout import NOBODY, STREAM_BACKOFF, Link, Node, NodeOut, Radio, Rate
from netcarlo.kernels.wireless.state import (
    NO_EVENT,
    NODE_COUNTS,
    NODE_WORDS,
    START_OF_KEYS,
    AirTime,
    Frame,
    Mac,
    Phase,
    Wait,
    Word,
    node_at,
    rate_at,
)

_ONE = np.int64(1)


@noinline
def schedule(m: Any, j: Any, at: Any) -> None:
    """Find the next event of node j, whose words begin at `at`."""
    key = min(
        min(m[at + Mac.END] << 2 | Phase.END, m[at + Mac.START] << 2 | Phase.START),
        min(m[at + Mac.TIMEOUT], m[at + Mac.RESET]) << 2 | Phase.TIMEOUT,
    )
    if (
        m[at + Mac.COUNT] > 0
        and m[at + Mac.WAITING] == Wait.NOTHING
        and m[at + Mac.START] == NO_EVENT
        and m[at + Mac.END] == NO_EVENT
        and m[Word.ON_AIR] & m[at + Node.SENSE] == 0
    ):
        access = _countdown(m, at) + m[at + Mac.SLOTS] * m[Radio.SLOT]
        key = min(key, access << 2 | Phase.START)
    m[START_OF_KEYS + j] = key


def _countdown(m: Any, at: Any) -> Any:
    """Return when the backoff begins to count down: after the channel was idle for DIFS or EIFS [ns]."""
    idle = max(max(m[at + Mac.TX], m[at + Mac.QUIET]), max(m[at + Mac.NAV], m[at + Mac.LATE])) + m[Radio.SIFS]
    return max(m[at + Mac.SINCE], max(m[at + Mac.RX], idle) + 2 * m[Radio.SLOT])


def _freeze(m: Any, at: Any, t: Any) -> None:
    """The channel becomes busy: the slots that have passed are counted."""
    slots = m[at + Mac.SLOTS]
    if slots > 0:
        begin = _countdown(m, at)
        slot = m[Radio.SLOT]
        if t > begin:
            passed = slots
            if t - begin < slots * slot:
                passed = np.int64(float(t - begin) / float(slot))  # exact, and faster than of integers
            m[at + Mac.SLOTS] = slots - passed
            m[at + Mac.SINCE] = begin + passed * slot


@noinline
def back_off(m: Any, j: Any, at: Any, t: Any) -> None:
    """Draw a backoff that counts from time t on."""
    word, _, _, _ = draw(
        m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], STREAM_BACKOFF + j, m[at + Mac.DRAWS]
    )
    m[at + Mac.DRAWS] += 1
    m[at + Mac.SLOTS] = (np.int64(word) * (m[at + Mac.CW] + 1)) >> 32
    m[at + Mac.SINCE] = t


@noinline
def enqueue(m: Any, j: Any, t: Any, frame: Any) -> Any:
    """A frame comes to the queue of node j; returns False if that is full."""
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
    waiting += 1
    m[counts + NodeOut.QUEUE_MOST] = max(m[counts + NodeOut.QUEUE_MOST], waiting)
    if waiting == 1 and m[at + Mac.WAITING] == Wait.NOTHING:
        _contend(m, j, at, t)
    return True


def _contend(m: Any, j: Any, at: Any, t: Any) -> None:
    """A frame has come to the empty queue of an idle node: it backs off only if the channel is busy."""
    sensing = m[Word.ON_AIR] & m[at + Node.SENSE] != 0 or m[at + Mac.END] != NO_EVENT
    if not sensing:
        _freeze(m, at, t)
    if m[at + Mac.SLOTS] == 0:
        if sensing or m[at + Mac.NAV] > t:
            back_off(m, j, at, t)
        else:
            m[at + Mac.SINCE] = max(m[at + Mac.SINCE], t + m[Radio.SIFS] + 2 * m[Radio.SLOT])
    schedule(m, j, at)


def disturbers(m: Any, at: Any, kind: Any) -> Any:
    """Mask: the nodes that destroy a frame of this kind at the node at word `at`."""
    return m[at + Node.DISTURB_DATA] if kind == Frame.DATA else m[at + Node.DISTURB_CONTROL]


@noinline
def begin(m: Any, j: Any, t: Any) -> None:
    """The event at `Phase.START`: node j, and all that begin in this very moment, send."""
    n = m[Radio.NODES]
    key = m[START_OF_KEYS + j]
    before = m[Word.ON_AIR]
    batch = _ONE << j
    last = j
    for i in range(j + 1, n):
        if m[START_OF_KEYS + i] == key:
            batch |= _ONE << i
            last = np.int64(i)
    on_air = before | batch
    m[Word.ON_AIR] = on_air
    at = node_at(m, j)
    for i in range(j, last + 1):
        if batch >> i & 1:
            if before & m[at + Node.SENSE] == 0:
                _freeze(m, at, t)
            if m[at + Mac.LOCK] != NOBODY:
                _miss(m, i, m[at + Mac.LOCK])
                m[at + Mac.LOCK] = NOBODY
            m[at + Mac.RX] = min(m[at + Mac.RX], t + m[Radio.SIFS])
            _send(m, at, t)
            schedule(m, i, at)
        at += NODE_WORDS
    at = m[Word.NODES]
    for i in range(n):
        sense = m[at + Node.SENSE]
        if batch & sense != 0:
            if before & sense == 0:
                m[at + Mac.BUSY_SINCE] = t
            if on_air >> i & 1 == 0:
                _hear(m, i, at, t, before, batch)
        at += NODE_WORDS
    at = node_at(m, j)
    for i in range(j, last + 1):
        if batch >> i & 1:
            to = m[at + Mac.TO]
            if to != NOBODY and m[node_at(m, to) + Mac.LOCK] != i:
                _miss(m, to, i)
        at += NODE_WORDS


@noinline
def _send(m: Any, at: Any, t: Any) -> None:
    """Begin the transmission of the node at word `at`: choose its frame and its duration."""
    counts = at + NODE_COUNTS
    kind = m[at + Mac.NEXT] if m[at + Mac.START] == t else np.int64(NOBODY)
    if kind in (Frame.ACK, Frame.CTS):
        rate = m[at + Mac.ANSWER_RATE]
        time = m[rate_at(m, rate) + AirTime.ANSWER]
        m[at + Mac.TO] = m[at + Mac.ANSWER_TO]
        m[at + Mac.DURATION] = m[at + Mac.ANSWER_DURATION] - m[Radio.SIFS] - time if kind == Frame.CTS else 0
    else:
        kind, rate, time = _send_data(m, at, kind)
        if kind == Frame.RTS or (kind == Frame.DATA and m[at + Mac.WITH_RTS] == 0):
            m[counts + NodeOut.ATTEMPTS] += 1
    m[at + Mac.FRAME] = kind
    m[at + Mac.RATE] = rate
    m[at + Mac.END] = t + time
    m[at + Mac.START] = NO_EVENT
    if kind == Frame.DATA:
        m[counts + NodeOut.AIR_DATA] += time
    else:
        m[counts + NodeOut.AIR_CONTROL] += time
    m[Word.FRAMES] += 1


def _send_data(m: Any, at: Any, kind: Any) -> Any:
    """The head of the queue as a frame of this kind, DATA, or what comes before it, where that is NOBODY.

    Returns what is sent: kind, rate and time on the air [ns].
    """
    sifs = m[Radio.SIFS]
    frame = head_of(m, at)
    link = link_of(m, frame)
    size = size_of(m, frame) + m[Radio.MAC_OVERHEAD]
    if kind == NOBODY or m[at + Mac.DATA_RATE] == NOBODY:  # an exchange begins
        m[at + Mac.DATA_RATE] = m[link + Link.RATE]
        m[at + Mac.WITH_RTS] = 0
    rate = m[at + Mac.DATA_RATE]
    own = rate_at(m, rate)
    answer = rate_at(m, m[own + Rate.ANSWER])
    time = air_time(m, size, rate)
    m[at + Mac.TO] = m[link + Link.TO]
    m[at + Mac.DURATION] = sifs + m[answer + AirTime.ANSWER]
    m[at + Mac.AIR] = time
    if kind == NOBODY:
        kind = np.int64(Frame.DATA)
        if size > m[Radio.RTS_THRESHOLD]:
            kind = np.int64(Frame.RTS)
            m[at + Mac.DURATION] += 2 * sifs + m[answer + AirTime.ANSWER] + time
            rate = m[own + Rate.ANSWER]
            time = m[answer + AirTime.RTS]
            m[at + Mac.WITH_RTS] = 1
        elif m[Radio.PROTECTION] != NOBODY and m[own + Rate.DSSS] == 0:
            kind = np.int64(Frame.SELF)
            m[at + Mac.DURATION] += sifs + time
            rate = m[Radio.PROTECTION]
            time = m[rate_at(m, rate) + AirTime.ANSWER]
            m[at + Mac.TO] = NOBODY
    return kind, rate, time


@noinline
def _miss(m: Any, j: Any, i: Any) -> None:
    """Node j does not receive what node i sends; one that is down has no queue, and counts nothing."""
    sender, at = node_at(m, i), node_at(m, j)
    if m[sender + Mac.FRAME] == Frame.DATA and m[sender + Mac.TO] == j and m[at + Node.QUEUE] > 0:
        m[at + NODE_COUNTS + NodeOut.COLLIDED] += 1


def _hear(m: Any, j: Any, at: Any, t: Any, before: Any, batch: Any) -> None:
    """The nodes of the mask `batch` begin to send at time t, those of `before` have; node j, which does
    neither, hears some of them."""
    heard = batch & m[at + Node.SENSE]
    others = before & m[at + Node.SENSE]
    if others == 0:
        _freeze(m, at, t)
    i = m[at + Mac.LOCK]
    if i != NOBODY:
        mask = disturbers(m, at, m[node_at(m, i) + Mac.FRAME])
        if heard & mask != 0:
            if others & mask & ~(_ONE << i) == 0:
                m[at + Mac.DISTURBED_SINCE] = t
            m[at + Mac.CORRUPT] = 1
    else:
        _lock(m, j, at, t, heard, others)
    if m[START_OF_KEYS + j] & 3 == Phase.START and m[at + Mac.START] == NO_EVENT:  # it contended
        schedule(m, j, at)


def _lock(m: Any, j: Any, at: Any, t: Any, heard: Any, others: Any) -> None:
    """Node j begins to receive if one of those heard stands out, also from the `others` on the air."""
    near = heard & m[at + Node.NEAR]
    chosen = near if near != 0 else heard
    stronger = others & m[at + Node.NEAR] if near != 0 else others
    if chosen & (chosen - 1) == 0 and stronger == 0:
        i = np.int64(0)
        while chosen >> i & 1 == 0:
            i += 1
        m[at + Mac.LOCK] = i
        m[at + Mac.LOCKED_AT] = t
        m[at + Mac.DISTURBED] = 0
        m[at + Mac.DISTURBED_SINCE] = t
        mask = disturbers(m, at, m[node_at(m, i) + Mac.FRAME])
        m[at + Mac.CORRUPT] = 1 if (heard | others) & ~chosen & mask != 0 else 0
        if m[at + Mac.RESET] != NO_EVENT:
            m[at + Mac.RESET] = NO_EVENT
            schedule(m, j, at)
