"""What the 802.11 engine asks of an association besides: how long packets take, and what is put out.

Behind its rings the association remembers when each packet was first put out.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import sender, state
from netcarlo.kernels.linux.state import FIRST, PACED, RECORD_WORDS, Tcp


def scratch_words(window: Any, ring: Any) -> Any:
    """Words of scratch of an association with this `P.RING`, or of many."""
    return state.scratch_words(window, ring) + ring


def paced_scratch_words(window: Any, ring: Any) -> Any:
    """The same where the control sets a rate."""
    return state.paced_scratch_words(window, ring) + ring


def note_first_sent(p: Any, s: Any, packet: Any, now: Any) -> None:
    """A new packet is put out."""
    s[_word_of(p, s, packet)] = now


def _word_of(p: Any, s: Any, packet: Any) -> Any:
    # Where it is kept when a packet was first put out.
    begin = s[Tcp.RATE_RECORDS] + (RECORD_WORDS * p[P.RING] if PACED else 0)
    return begin + (packet & (p[P.RING] - 1))


def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """As `sender.prepare`."""
    return sender.prepare(p, s, g, limit, phase, flow, free) + p[P.RING]


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """As `sender.next_segment`."""
    new = s[Tcp.SND_NXT]
    packet = sender.next_segment(p, s, g, now, blocked)
    if packet == new and packet >= FIRST:
        note_first_sent(p, s, packet, now)
    return packet


def delay_of(p: Any, s: Any, t: Any, packet: Any) -> Any:
    """Time since the packet was first put out [ns]."""
    return t - s[_word_of(p, s, packet)]


def all_sent(s: Any) -> Any:
    """All there is has been put out."""
    return s[Tcp.SND_NXT] > s[Tcp.LAST]


def data_waiting(p: Any, s: Any) -> Any:
    """None: nothing waits for room."""
    return np.int64(0)


def resume(p: Any, s: Any, g: Any) -> Any:
    """Nothing waits for room."""
    return False
