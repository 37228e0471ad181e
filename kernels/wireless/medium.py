"""Radio medium: transmissions start and end at their sender and at all nodes that sense them.

Masks say which nodes a node senses, decodes and is disturbed by. Slots hold the differences between the MAC
of 802.11a, b and g (`dcf`) and that of later standards (`edca`).

Source: IEEE 802.11-2016, 10.3.2 (carrier sense). NOBODY stands for no node.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.layout import NOBODY, Node, NodeOut, Radio
from netcarlo.kernels.wireless.state import (
    CONCLUDED,
    FRESH,
    NO_EVENT,
    NODE_COUNTS,
    NODE_WORDS,
    START_OF_KEYS,
    Frame,
    Mac,
    Phase,
    Word,
    node_at,
)

access: Any = slot("access")
"""Channel access of a node: `freeze`, `schedule`, `contends`."""

exchange: Any = slot("exchange")
"""Frames of a node: `send`, `wait`, `receive`."""

_ONE = np.int64(1)


@noinline
def begin(m: Any, j: Any, t: Any) -> None:
    """Start the transmissions of node j and of all nodes that start at the same time (`Phase.START`)."""
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
                access.freeze(m, at, t)
            if m[at + Mac.LOCK] != NOBODY:
                _miss(m, i, m[at + Mac.LOCK])
                m[at + Mac.LOCK] = NOBODY
            m[at + Mac.RX] = min(m[at + Mac.RX], t + m[Radio.SIFS])
            exchange.send(m, at, t)
            access.schedule(m, i, at)
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
def end(m: Any, losses: Any, i: Any, t: Any) -> Any:
    """End the transmission of node i and its receptions (`Phase.END`).

    Returns `(left, reached)`: node `left` received the acknowledgement of its frame; node `reached` received
    new data.
    """
    sender = node_at(m, i)
    on_air = m[Word.ON_AIR] & ~(_ONE << i)
    m[Word.ON_AIR] = on_air
    m[sender + Mac.END] = NO_EVENT
    m[sender + Mac.TX] = t
    exchange.wait(m, sender, t)
    left = np.int64(NOBODY)
    reached = np.int64(NOBODY)
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
                    received = exchange.receive(m, losses, j, at, i, sender, t)
                    if received == FRESH:
                        reached = np.int64(j)
                    elif received == CONCLUDED:
                        left = np.int64(j)
                if quiet:
                    m[at + Mac.QUIET] = t
                if access.contends(m, at) or m[at + Mac.START] != NO_EVENT or m[at + Mac.RESET] != NO_EVENT:
                    access.schedule(m, j, at)
        at += NODE_WORDS
    access.schedule(m, i, sender)
    return left, reached


@noinline
def _miss(m: Any, j: Any, i: Any) -> None:
    """Count a data frame of node i that node j, its receiver, misses, unless node j is down."""
    sender, at = node_at(m, i), node_at(m, j)
    if m[sender + Mac.FRAME] == Frame.DATA and m[sender + Mac.TO] == j and m[at + Node.QUEUE] > 0:
        m[at + NODE_COUNTS + NodeOut.COLLIDED] += 1


def _hear(m: Any, j: Any, at: Any, t: Any, before: Any, batch: Any) -> None:
    """Let node j, which does not transmit, sense that the nodes of the mask `batch` start at time t.

    The nodes of the mask `before` started earlier.
    """
    heard = batch & m[at + Node.SENSE]
    others = before & m[at + Node.SENSE]
    if others == 0:
        access.freeze(m, at, t)
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
        access.schedule(m, j, at)


def _lock(m: Any, j: Any, at: Any, t: Any, heard: Any, others: Any) -> None:
    """Let node j start to receive the node of `heard` whose signal captures all others, `others` on air
    included."""
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
            access.schedule(m, j, at)


def disturbers(m: Any, at: Any, kind: Any) -> Any:
    """Return the mask of the nodes that destroy a frame of this kind at the node at word `at`."""
    return m[at + Node.DISTURB_DATA] if kind == Frame.DATA else m[at + Node.DISTURB_CONTROL]


def _add_disturbance(m: Any, at: Any, i: Any, t: Any) -> None:
    """Add the time for which the reception at word `at` was disturbed, when node i ends its transmission."""
    lock = m[at + Mac.LOCK]
    if m[at + Mac.CORRUPT] != 0 and lock != NOBODY:
        mask = disturbers(m, at, m[node_at(m, lock) + Mac.FRAME]) & ~(_ONE << lock)
        others = m[Word.ON_AIR] & mask
        if lock == i:
            if others != 0:
                m[at + Mac.DISTURBED] += t - m[at + Mac.DISTURBED_SINCE]
        elif mask >> i & 1 and others == 0:
            m[at + Mac.DISTURBED] += t - m[at + Mac.DISTURBED_SINCE]
