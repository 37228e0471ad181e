"""Sender: choice of what the next packet carries.

Source: RFC 9000, sections 12.3 and 13.3; RFC 9002, sections 6.2.4 and 7. Lost data go first, in the order in
which they were found lost, then new data. Probe packets ignore the congestion window and pacing; if there are
neither lost nor new data, they repeat the oldest data that are not acknowledged.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.quic import timers
from netcarlo.kernels.quic.state import (
    NONE,
    Chunk,
    Fate,
    Flag,
    Packet,
    Phase,
    Word,
    chunk_at,
    is_acked,
    packet_at,
)

FULL = -2
"""Number that stands for no packet because more are in flight than there is room for."""


@noinline
def start(p: Any, s: Any, now: Any) -> None:
    """Begin the handshake (RFC 9000, section 7)."""
    s[Word.NOW] = now
    s[Word.PHASE] = Phase.WAITING
    s[Word.ROUND] = 1
    s[Word.HELLO] = 1
    timers.start_handshake(p, s)


def may_send(p: Any, s: Any) -> Any:
    """Return whether `next_packet` would return a packet or FULL."""
    forced = s[Word.HELLO] + s[Word.PROBES] > 0
    return forced or (s[Word.RELEASE] <= s[Word.NOW] and timers.wants_to_send(p, s))


@noinline
def next_packet(p: Any, s: Any, now: Any) -> Any:
    """Return the number of the packet to send now, NONE or FULL."""
    s[Word.NOW] = now
    if not may_send(p, s):
        return np.int64(NONE)
    if s[Word.NEXT_NUMBER] - s[Word.OLDEST] >= p[RowP.RING]:
        s[Word.OVERFULL] = 1
        return np.int64(FULL)
    if s[Word.HELLO] > 0:
        s[Word.HELLO] = 0
        s[Word.HELLOS] += 1
        number = _number(p, s, now, -s[Word.ROUND], np.int64(Fate.UNTRACKED))
        skip(p, s)
        return number
    chunk = _next_chunk(p, s, now)
    s[Word.SENT] += 1
    s[Word.IN_FLIGHT] += s[Word.DATAGRAM]
    s[Word.LAST_SENT] = now
    number = _number(p, s, now, chunk, np.int64(Fate.FLYING))
    timers.pace(p, s, now)
    timers.start(p, s)
    timers.start_pacing(p, s)
    return number


def _number(p: Any, s: Any, now: Any, chunk: Any, fate: Any) -> Any:
    """Give a packet the next number, which is never used again (RFC 9000, section 12.3)."""
    number = s[Word.NEXT_NUMBER]
    at = packet_at(p, s, number)
    s[at + Packet.CHUNK] = chunk
    s[at + Packet.SENT] = now
    s[at + Packet.FATE] = fate
    s[Word.NEXT_NUMBER] = number + 1
    return number


@noinline
def _next_chunk(p: Any, s: Any, now: Any) -> Any:
    """Return the chunk that the next packet carries."""
    s[Word.PROBES] = max(s[Word.PROBES] - 1, 0)
    if s[Word.LOST_FIRST] < s[Word.LOST_END]:
        chunk = _first_lost(p, s)
        s[chunk_at(p, s, chunk) + Chunk.FLAGS] &= ~np.int64(Flag.WAITING)
        s[Word.LOST_FIRST] += 1
        trim(p, s)
    elif timers.has_new(p, s):
        chunk = s[Word.NEXT_CHUNK]
        at = chunk_at(p, s, chunk)
        s[at + Chunk.BORN] = now
        s[at + Chunk.FLAGS] = 0
        s[Word.NEXT_CHUNK] += 1
        return chunk
    else:
        chunk = max(s[Word.PROBE_CHUNK], s[Word.UNACKED_CHUNK])
        following = chunk + 1
        while following < s[Word.NEXT_CHUNK] and is_acked(p, s, following):
            following += 1
        s[Word.PROBE_CHUNK] = following
        if following == s[Word.NEXT_CHUNK]:  # nothing else is unacknowledged: one probe packet will do
            s[Word.PROBES] = 0
    s[Word.RETRANSMITTED] += 1
    return chunk


def skip(p: Any, s: Any) -> None:
    """Let OLDEST skip packets that are acknowledged, lost, or not tracked."""
    while s[Word.OLDEST] < s[Word.NEXT_NUMBER] and (
        s[packet_at(p, s, s[Word.OLDEST]) + Packet.FATE] != Fate.FLYING
    ):
        s[Word.OLDEST] += 1


def _first_lost(p: Any, s: Any) -> Any:
    """Return the first chunk in the queue of lost ones."""
    return s[s[Word.LOST] + (s[Word.LOST_FIRST] & (p[RowP.RING] - 1))]


def trim(p: Any, s: Any) -> None:
    """Remove chunks that are acknowledged by now from the front of the queue of lost ones."""
    while s[Word.LOST_FIRST] < s[Word.LOST_END] and is_acked(p, s, _first_lost(p, s)):
        s[Word.LOST_FIRST] += 1


def put_back(p: Any, s: Any, chunk: Any) -> None:
    """Add a lost chunk to the queue, unless it is acknowledged or there already."""
    at = chunk_at(p, s, chunk)
    if is_acked(p, s, chunk) or s[at + Chunk.FLAGS] & Flag.WAITING != 0:
        return
    s[at + Chunk.FLAGS] |= Flag.WAITING
    s[s[Word.LOST] + (s[Word.LOST_END] & (p[RowP.RING] - 1))] = chunk
    s[Word.LOST_END] += 1
