"""Functions of an association for the 802.11 engine and delay statistics: first sending times of packets.

A ring behind the other rings holds the time at which each packet was first sent.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux import sender, state
from netcarlo.kernels.linux.state import FIRST, PACED, RECORD_WORDS, Tcp


def scratch_words(window: Any, ring: Any) -> Any:
    """Return the words of scratch of an association with this `RowP.RING`, or of many with an array of
    them."""
    return state.scratch_words(window, ring) + ring


def paced_scratch_words(window: Any, ring: Any) -> Any:
    """Return the words of scratch of an association whose congestion control sets a pacing rate."""
    return state.paced_scratch_words(window, ring) + ring


def note_first_sent(p: Any, s: Any, packet: Any, now: Any) -> None:
    """Note the sending time of a new packet [ns]."""
    s[_word_of(p, s, packet)] = now


def _word_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the word that holds the time at which a packet was first sent."""
    begin = s[Tcp.RATE_RECORDS] + (RECORD_WORDS * p[RowP.RING] if PACED else 0)
    return begin + (packet & (p[RowP.RING] - 1))


def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Prepare the association, as `sender.prepare` does."""
    return sender.prepare(p, s, g, limit, phase, flow, free) + p[RowP.RING]


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the next packet, as `sender.next_segment` does, and note the time of a new one."""
    new = s[Tcp.SND_NXT]
    packet = sender.next_segment(p, s, g, now, blocked)
    if packet == new and packet >= FIRST:
        note_first_sent(p, s, packet, now)
    return packet


def delay_of(p: Any, s: Any, t: Any, packet: Any) -> Any:
    """Return the time since a packet was first sent [ns]."""
    return t - s[_word_of(p, s, packet)]


def all_sent(s: Any) -> Any:
    """Return True if all data that the application has written was sent."""
    return s[Tcp.SND_NXT] > s[Tcp.LAST]


def data_waiting(p: Any, s: Any) -> Any:
    """Return 0: no data waits for room."""
    return np.int64(0)


def resume(p: Any, s: Any, g: Any) -> Any:
    """Return False: no data waits for room."""
    return False
