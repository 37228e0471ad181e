"""FIFOs of packets in the order of arrival: rings of pairs (time [ns], packet word)."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.ring import numbered
from netcarlo.kernels.shared import agenda
from netcarlo.kernels.shared.agenda import NO_EVENT
from netcarlo.kernels.shared.state import Fifo, Word

_WORDS = 2


def allocate(m: Any, fifo: Any, free: Any, room: Any) -> None:
    """Allocate an empty FIFO with room for so many packets, a power of two, from word `free` on."""
    m[fifo + Fifo.HEAD] = 0
    m[fifo + Fifo.TAIL] = 0
    m[fifo + Fifo.BEGIN] = free
    m[fifo + Fifo.MASK] = room - 1


def push(m: Any, fifo: Any, kind: Any, i: Any, t: Any, word: Any) -> None:
    """Append a packet that arrives at `t`; if it is the first, schedule an event of class `kind` of `i`."""
    if put(m, fifo, t, word):
        agenda.bring_forward(m, kind, i, t)


def put(m: Any, fifo: Any, t: Any, word: Any) -> Any:
    """Append a packet that arrives at `t`, and return True if it is the first."""
    tail, mask = m[fifo + Fifo.TAIL], m[fifo + Fifo.MASK]
    held = tail - m[fifo + Fifo.HEAD]
    if held > mask:
        m[Word.STATUS] = 1
    else:
        at = numbered(m[fifo + Fifo.BEGIN], mask, _WORDS, tail)
        m[at] = t
        m[at + 1] = word
        m[fifo + Fifo.TAIL] = tail + 1
    return held == 0


def pop(m: Any, fifo: Any) -> Any:
    """Remove the first packet, and return it with the arrival time of the next one, or NO_EVENT."""
    head, mask = m[fifo + Fifo.HEAD], m[fifo + Fifo.MASK]
    word = m[numbered(m[fifo + Fifo.BEGIN], mask, _WORDS, head) + 1]
    head += 1
    if head == m[fifo + Fifo.TAIL]:  # empty: start from the first words again, which are cached
        m[fifo + Fifo.HEAD] = 0
        m[fifo + Fifo.TAIL] = 0
        return word, np.int64(NO_EVENT)
    m[fifo + Fifo.HEAD] = head
    return word, m[numbered(m[fifo + Fifo.BEGIN], mask, _WORDS, head)]


def next_time(m: Any, fifo: Any) -> Any:
    """Return the arrival time of the first packet, or NO_EVENT."""
    head = m[fifo + Fifo.HEAD]
    if head < m[fifo + Fifo.TAIL]:
        return m[numbered(m[fifo + Fifo.BEGIN], m[fifo + Fifo.MASK], _WORDS, head)]
    return np.int64(NO_EVENT)


def packet_at(m: Any, fifo: Any, entry: Any) -> Any:
    """Return a packet in the FIFO, where `entry` is from HEAD to TAIL."""
    return m[numbered(m[fifo + Fifo.BEGIN], m[fifo + Fifo.MASK], _WORDS, entry) + 1]
