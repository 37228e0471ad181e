"""The words of scratch in which the shared engine keeps what is going on.

The engine's `m` is int64 scratch: the earliest event of each class, the keys of all sources of events,
and a block for each flow and each link with all that concerns it: nearby words are cheap.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.shared.layout import (
    MOST_FLOWS,
    MOST_LINKS,
    UDP,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedRows,
)
from netcarlo.kernels.tcp import sender

# Classes of events, in the order of precedence at equal times.
CLOCK, DATA, ACK, HOST, FAR = range(5)
"""The clock; data, or acknowledgements, of a flow reach the first link of their way; something happens at
the hosts of a flow; a packet reaches the far end of a link and has another before it."""

CLASS_SHIFT = 6
TIME_SHIFT = 9
NO_EVENT = (1 << 63) - 1
"""A key is time << TIME_SHIFT | class << CLASS_SHIFT | number of the flow or link, whose bits a few bits of
the time flip: at equal times nobody is always first."""
TIE_SHIFT = 11
"""The number is flipped with `time >> TIE_SHIFT`."""

# Words of `m`.
FULL = 0  # 1: some ring was too small
TICK = 1  # the key of the clock
LINKS = 2  # where the blocks of the links begin
SHIFT = 3  # a class has 2**SHIFT leaves in the tree
TREE = 4
"""A tournament: the keys of the four other classes are its leaves, a node is the smaller of the two below it
and node 1 the earliest event of all."""
FLOWS = TREE + 8 * max(MOST_FLOWS, MOST_LINKS)  # where the block of each flow begins, MOST_FLOWS words
FIXED_WORDS = FLOWS + MOST_FLOWS
EARLIEST = TREE + 1

# A FIFO: entries are pairs (time, word).
HEAD, TAIL, ROOM, MASK, FIFO_WORDS = range(5)

# The block of a flow: its columns of `Flow`, what the engine remembers, its FIFOs, its outcomes, and its
# association.
F_NEXT = Flow.COLUMNS  # it starts, or its next datagram is put out [ns]
F_SOURCE_BUSY = Flow.COLUMNS + 1  # its source host puts data on the wire until [ns]
F_SINK_BUSY = Flow.COLUMNS + 2  # its last router does
F_BACK_BUSY = Flow.COLUMNS + 3  # its sink host puts acknowledgements on the wire until [ns]
F_ACK_BUSY = Flow.COLUMNS + 4  # its first router does
F_ECHO = Flow.COLUMNS + 5  # the sink echoes congestion
F_NUMBER = Flow.COLUMNS + 6  # UDP: the next datagram
F_UNTIL = Flow.COLUMNS + 7  # UDP: the time of sending ends [ns]
F_PERIODS = Flow.COLUMNS + 8  # UDP: lengths of periods drawn
F_LATE = Flow.COLUMNS + 9  # data packets that arrive after the end
F_FIFOS = Flow.COLUMNS + 10  # data, acknowledgements, acknowledgements at the sender
F_COUNTS = F_FIFOS + 3 * FIFO_WORDS
F_TCP = F_COUNTS + FlowOut.COLUMNS

# The block of a link: its columns of `Link`, what it remembers, its FIFO, its outcomes.
L_FREE = Link.COLUMNS  # its transmitter is busy until [ns]
L_GAP = Link.COLUMNS + 1  # packets before the next lost one
L_LOSSES = Link.COLUMNS + 2  # gaps drawn
L_HEAD = Link.COLUMNS + 3  # departures of the packets held: a ring of times
L_TAIL = Link.COLUMNS + 4
L_DEPARTURES = Link.COLUMNS + 5  # where it begins
L_MASK = Link.COLUMNS + 6
L_COUNT = Link.COLUMNS + 7  # RED: packets since the last one dropped or marked
L_DRAWS = Link.COLUMNS + 8  # RED: decisions drawn
L_NUMBER = Link.COLUMNS + 9
L_FIFO = Link.COLUMNS + 10
L_COUNTS = L_FIFO + FIFO_WORDS
LINK_BLOCK = L_COUNTS + LinkOut.COLUMNS

# A packet's word.
HOP_SHIFT = 6  # bits 0 to 5: its flow
HOP_MASK = 31
BACKWARD = 1 << 11
MARKED = 1 << 12  # data: congestion experienced; ACK: congestion echoed
REDUCED = 1 << 13  # data: the sender has reduced its window
SIZE_SHIFT = 14  # its bytes
SIZE_MASK = (1 << 17) - 1
NUMBER_SHIFT = 31  # number of the data packet, or serial of the acknowledgement
FLOW_MASK = 63


def words(rows: SharedRows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    scale = rows.parameters[:, P.RING, None] // 64
    flows = rows.flows
    used = np.arange(flows.shape[1]) < rows.parameters[:, Shared.FLOWS, None]
    least = np.maximum(2 * flows[:, :, P.WINDOW] + 64, 64)
    ring = (1 << np.ceil(np.log2(least)).astype(np.int64)) * scale
    tcp = sender.scratch_words(flows[:, :, P.WINDOW], ring)
    tcp = np.where(flows[:, :, Flow.KIND] == UDP, 0, tcp)
    per_flow = np.where(used, F_TCP + tcp + 6 * ring, 0).sum(axis=1)
    used = np.arange(rows.links.shape[1]) < rows.parameters[:, Shared.LINKS, None]
    per_link = np.where(used, LINK_BLOCK + 3 * rows.links[:, :, Link.ROOM] * scale, 0).sum(axis=1)
    most = int((per_flow + per_link).max(initial=0))
    return FIXED_WORDS + most, sender.FLOATS * flows.shape[1] + rows.links.shape[1]


def make_keys(dev: Callable[[Any], Any]) -> tuple[Any, Any, Any, Any]:
    """Compile `(lower, replace, push, pop)`; `kind` is a class of events but CLOCK, `i` a flow or link.

    `lower(m, kind, i, t)` brings an event forward, if it is to come earlier than the one known;
    `replace(m, kind, i, t)` sets the next event after the earliest has happened;
    `push(m, fifo, kind, i, t, word)` appends to a FIFO and, if it was empty, makes that an event;
    `pop(m, fifo) -> (word, t)` takes the first and tells when the next is due (or NO_EVENT).
    """

    def key_of(kind: Any, i: Any, t: Any) -> Any:
        if t >= NO_EVENT >> TIME_SHIFT:
            return np.int64(NO_EVENT)
        place = (i ^ (t >> np.int64(TIE_SHIFT))) & FLOW_MASK
        return t << np.int64(TIME_SHIFT) | kind << np.int64(CLASS_SHIFT) | place

    key_of = dev(key_of)

    def leaf_of(m: Any, kind: Any, i: Any) -> Any:
        return ((kind + 3) << m[SHIFT]) + i  # nodes with four times as many leaves as a class has

    leaf_of = dev(leaf_of)

    def lower(m: Any, kind: Any, i: Any, t: Any) -> None:
        value = key_of(kind, i, t)
        node = leaf_of(m, kind, i)
        while node > 0 and value < m[TREE + node]:
            m[TREE + node] = value
            node >>= 1

    lower = dev(lower)

    def replace(m: Any, kind: Any, i: Any, t: Any) -> None:
        value = key_of(kind, i, t)
        node = leaf_of(m, kind, i)
        m[TREE + node] = value
        while node > 1:
            value = min(value, m[TREE + (node ^ 1)])
            node >>= 1
            m[TREE + node] = value

    def push(m: Any, fifo: Any, kind: Any, i: Any, t: Any, word: Any) -> None:
        tail, mask = m[fifo + TAIL], m[fifo + MASK]
        held = tail - m[fifo + HEAD]
        if held > mask:
            m[FULL] = 1
            return
        at = m[fifo + ROOM] + 2 * (tail & mask)
        m[at] = t
        m[at + 1] = word
        m[fifo + TAIL] = tail + 1
        if held == 0:
            lower(m, kind, i, t)

    def pop(m: Any, fifo: Any) -> Any:
        head, mask = m[fifo + HEAD], m[fifo + MASK]
        word = m[m[fifo + ROOM] + 2 * (head & mask) + 1]
        head += 1
        if head == m[fifo + TAIL]:  # empty: begin anew, where the words are near
            m[fifo + HEAD] = 0
            m[fifo + TAIL] = 0
            return word, np.int64(NO_EVENT)
        m[fifo + HEAD] = head
        return word, m[m[fifo + ROOM] + 2 * (head & mask)]

    return lower, dev(replace), dev(push), dev(pop)
