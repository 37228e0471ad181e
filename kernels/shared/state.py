"""The words of scratch in which the shared engine keeps what is going on.

The engine's `m` is int64 scratch: the earliest event of each class, the keys of all sources of events,
descriptors of the FIFOs, what flows and links remember, the FIFOs themselves, and the associations.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels import sender
from netcarlo.kernels.layout import P
from netcarlo.kernels.shared.layout import UDP, Flow, Link, Shared, SharedRows

# Classes of events, in the order of precedence at equal times.
CLOCK, DATA, ACK, HOST, FAR = range(5)
"""The clock; data, or acknowledgements, of a flow reach the first link of their way; something happens at
the hosts of a flow; a packet reaches the far end of a link and has another before it."""

CLASS_SHIFT = 6
TIME_SHIFT = 9
NO_EVENT = (1 << 63) - 1
"""A key is time << TIME_SHIFT | class << CLASS_SHIFT | number of the flow or link."""

# Words of `m`.  Words 0 to 4 hold the smallest key of each class.
FULL = 5  # 1: some ring was too small
TRACED = 6  # trace rows written
FIFOS = 7  # where the descriptors begin: data of the flows, their ACKs, ACKs at the senders, links
FLOWS = 8  # where the memory of the flows begins
LINKS = 9  # and that of the links
WAITING = 10  # where the keys of class DATA begin
PER_CLASS = 11  # words from there to those of the next
GROUP = 8
"""Keys are kept in groups; the smallest of each group is known too."""
MINIMA = 16  # those of the four classes with keys, GROUP words each
KEYS = MINIMA + 4 * GROUP

# A descriptor: entries are pairs (time, word).
HEAD, TAIL, ROOM, MASK, FIFO_WORDS = range(5)

# What a flow remembers.
F_NEXT = 0  # it starts, or its next datagram is put out [ns]
F_SOURCE_BUSY = 1  # its source host puts data on the wire until [ns]
F_SINK_BUSY = 2  # its last router does
F_BACK_BUSY = 3  # its sink host puts acknowledgements on the wire until [ns]
F_ACK_BUSY = 4  # its first router does
F_ECHO = 5  # the sink echoes congestion
F_REDUCED = 6  # the next new data packet tells it that the window was reduced
F_RECOVER = 7  # ECN: highest packet sent when the window was last reduced for a mark
F_STATE = 8  # where its association begins
F_NUMBER = 9  # UDP: the next datagram
F_UNTIL = 10  # UDP: the time of sending ends [ns]
F_PERIODS = 11  # UDP: lengths of periods drawn
F_LATE = 12  # data packets that arrive after the end
FLOW_WORDS = 13

# What a link remembers.
L_FREE = 0  # its transmitter is busy until [ns]
L_GAP = 1  # packets before the next lost one
L_LOSSES = 2  # gaps drawn
L_HEAD = 3  # departures of the packets held: a ring of times
L_TAIL = 4
L_DEPARTURES = 5  # where it begins
L_MASK = 6
L_COUNT = 7  # RED: packets since the last one dropped or marked
L_DRAWS = 8  # RED: decisions drawn
LINK_WORDS = 9

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


def padded(count: Any) -> Any:
    """Words of whole groups that hold the keys of so many sources."""
    return (count + GROUP - 1) // GROUP * GROUP


def words(rows: SharedRows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    scale = rows.parameters[:, P.RING, None] // 64
    flows = rows.flows
    used = np.arange(flows.shape[1]) < rows.parameters[:, Shared.FLOWS, None]
    least = np.maximum(2 * flows[:, :, P.WINDOW] + 64, 64)
    ring = (1 << np.ceil(np.log2(least)).astype(np.int64)) * scale
    tcp = sender.scratch_words(flows[:, :, P.WINDOW], ring)
    per_flow = np.where(used, 6 * ring + np.where(flows[:, :, Flow.KIND] == UDP, 0, tcp), 0).sum(axis=1)
    used = np.arange(rows.links.shape[1]) < rows.parameters[:, Shared.LINKS, None]
    per_link = np.where(used, 3 * rows.links[:, :, Link.ROOM] * scale, 0).sum(axis=1)
    f, k = flows.shape[1], rows.links.shape[1]
    fixed = KEYS + 4 * padded(max(f, k)) + FIFO_WORDS * (3 * f + k) + FLOW_WORDS * f + LINK_WORDS * k
    most = int((per_flow + per_link).max(initial=0))
    return fixed + most, sender.FLOATS * f + k


def make_keys(dev: Callable[[Any], Any]) -> tuple[Any, Any, Any, Any]:
    """Compile `(lower, replace, push, pop)`; `kind` is a class of events but CLOCK, `i` a flow or link.

    `lower(m, kind, i, t)` brings an event forward, if it is to come earlier than the one known;
    `replace(m, kind, i, t)` sets the next event after the earliest of the class has happened;
    `push(m, fifo, kind, i, t, word)` appends to a FIFO and, if it was empty, makes that an event;
    `pop(m, fifo) -> (word, t)` takes the first and tells when the next is due (or NO_EVENT).
    """

    def key_of(kind: Any, i: Any, t: Any) -> Any:
        if t >= NO_EVENT >> TIME_SHIFT:
            return np.int64(NO_EVENT)
        return t << np.int64(TIME_SHIFT) | kind << np.int64(CLASS_SHIFT) | i

    key_of = dev(key_of)

    def least(m: Any, at: Any) -> Any:
        # Of a group.  Written out: a vector would wait for the word that has just been stored.
        a, b = min(m[at], m[at + 1]), min(m[at + 2], m[at + 3])
        c, d = min(m[at + 4], m[at + 5]), min(m[at + 6], m[at + 7])
        return min(min(a, b), min(c, d))

    least = dev(least)

    def lower(m: Any, kind: Any, i: Any, t: Any) -> None:
        value = key_of(kind, i, t)
        at = m[WAITING] + (kind - DATA) * m[PER_CLASS] + i
        if value < m[at]:
            m[at] = value
            at = MINIMA + (kind - DATA) * GROUP + (i >> 3)
            if value < m[at]:
                m[at] = value
                m[kind] = min(m[kind], value)

    lower = dev(lower)

    def replace(m: Any, kind: Any, i: Any, t: Any) -> None:
        keys = m[WAITING] + (kind - DATA) * m[PER_CLASS]
        m[keys + i] = key_of(kind, i, t)
        minima = MINIMA + (kind - DATA) * GROUP
        m[minima + (i >> 3)] = least(m, keys + (i & ~np.int64(7)))
        m[kind] = least(m, minima)

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
        m[fifo + HEAD] = head
        following = np.int64(NO_EVENT)
        if head < m[fifo + TAIL]:
            following = m[m[fifo + ROOM] + 2 * (head & mask)]
        return word, following

    return lower, dev(replace), dev(push), dev(pop)
