"""TCP with selective acknowledgements: recovery driven by a scoreboard and an estimate of the pipe.

Source: Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP" (CCR 1996), in
the form of ns-2 (`Agent/TCP/Sack1`).
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.bits import clear_bits, run_end, span
from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import END_BACKOFF, LIMITED, NO_GROWTH, PARTIAL, REDUCE, SEND, TIMER
from netcarlo.kernels.tcp.state import NONE, Ack, Phase, Tcp, Window

BASE = reno
SACK = True
HOT_WORDS = 4

PAUSING: Any = slot("pauses")
"""Recovery may begin with nothing in the pipe, after a pause."""


class Board(IntEnum):
    """Own words of scratch."""

    PIPE = Tcp.OWN
    """Packets thought to be in the network."""
    REPAIRED = Tcp.OWN + 1
    """Holes below this packet have been sent again."""
    HIGHEST = Tcp.OWN + 2
    """Highest packet that a block reported, NONE: empty scoreboard."""
    BITS = Tcp.OWN + 3
    """Where the scoreboard, a bitmap, begins in scratch."""
    GONE = Tcp.OWN + 4
    """Packets up to this one that no block reported are lost: they are holes, and not in the pipe."""
    WATCHED = Tcp.OWN + 5
    """The first hole that was resent is the one behind this packet;"""
    NOTED = Tcp.OWN + 6
    """packets from this one on have been put out later."""


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out an empty scoreboard."""
    m[Board.REPAIRED] = NONE
    m[Board.HIGHEST] = NONE
    m[Board.GONE] = NONE
    m[Board.BITS] = free
    for _ in range(p[P.RING] >> 6):
        global_memory(m)[free] = 0
        free += 1
    return free


@noinline
def clear(m: Any, p: Any) -> None:
    """Empty the scoreboard."""
    m[Board.REPAIRED] = NONE
    m[Board.HIGHEST] = NONE
    m[Board.GONE] = NONE
    for word in range(p[P.RING] >> 6):
        global_memory(m)[m[Board.BITS] + word] = 0


@noinline
def record(m: Any, p: Any, at: Any) -> Any:
    """Enter an ACK's blocks, a word of 64 packets at a time; do they report anything new?"""
    news = False
    mask, ring = p[P.RING] - 1, global_memory(m)
    for block in range(ring[at + Ack.COUNT]):
        left = ring[at + Ack.BLOCK + 2 * block]
        right = ring[at + Ack.BLOCK + 1 + 2 * block]
        m[Board.HIGHEST] = max(m[Board.HIGHEST], right - 1)
        while left < right:
            stop = min(right, (left | 63) + 1)
            run = span(left, stop)
            word = m[Board.BITS] + ((left & mask) >> 6)
            if ring[word] & run != run:
                news = True
                ring[word] |= run
            left = stop
    return news


def forget(m: Any, p: Any, ack: Any, acked: Any) -> None:
    """Packets that have been acknowledged leave the scoreboard."""
    clear_bits(m, m[Board.BITS], p[P.RING] - 1, acked + 1, ack + 1)


@noinline
def new_ack(row: Any, at: Any, ack: Any, acked: Any, cwnd: Any) -> Any:
    """A partial ACK leaves two packets less in the pipe; recovery ends as in NewReno."""
    m, p = row.m, row.p
    if m[Tcp.PHASE] == Phase.AFTER_TIMEOUT:
        m[Tcp.PHASE] = Phase.NORMAL
        return cwnd, SEND, NONE
    if ack >= m[Tcp.RECOVER]:
        m[Tcp.PHASE] = Phase.NORMAL
        m[Tcp.RECOVER] = 0
        clear(m, p)
        return cwnd, SEND | NO_GROWTH, NONE
    forget(m, p, ack, acked)
    record(m, p, at)
    m[Board.PIPE] -= 2  # the ACK's own packet, and the one that filled the hole
    if PAUSING and acked < m[Board.GONE]:
        m[Board.PIPE] += 1
    return cwnd, SEND | PARTIAL | TIMER | END_BACKOFF, NONE


def grow(row: Any, clock: Any, ack: Any, before: Any, snd_nxt: Any, window: Any) -> Any:
    """As Reno, with an empty scoreboard."""
    m, p = row.m, row.p
    if m[Board.HIGHEST] != NONE:
        clear(m, p)
    return reno.grow(row, clock, ack, before, snd_nxt, window)


@noinline
def old_ack(row: Any) -> Any:
    """A recovery goes on; the first duplicates send nothing."""
    return SEND if row.m[Tcp.PHASE] == Phase.RECOVERY or row.m[Tcp.DUPACKS] == 0 else 0


def dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Take in the blocks; the third that reports something new begins recovery.

    A sender that pauses sees when the first hole, resent, is lost again: packets put out later are reported.
    """
    m, p, acked, dupacks = row.m, row.p, sent.acked, window.dupacks
    if m[Tcp.PHASE] == Phase.AFTER_TIMEOUT:
        return window, SEND, NONE
    news = record(m, p, at)
    if m[Tcp.PHASE] == Phase.RECOVERY:
        m[Board.PIPE] -= 1
        if news and dupacks > 0:
            dupacks += 1
        counted = Window(window.cwnd, window.ssthresh, dupacks)
        if PAUSING:
            later = m[Board.HIGHEST] - m[Board.NOTED] + 1
            if m[Board.WATCHED] == acked and m[Board.REPAIRED] > acked + 1 and later >= p[P.DUPACKS]:
                m[Board.NOTED] = sent.snd_nxt
                return counted, SEND | REDUCE, acked + 1
        return counted, SEND, NONE
    if not news:
        return window, SEND if dupacks == 0 else 0, NONE
    dupacks += 1
    counted = Window(window.cwnd, window.ssthresh, dupacks)
    threshold = p[P.DUPACKS]
    if dupacks < threshold:
        return counted, LIMITED, NONE
    if dupacks > threshold or not (acked > m[Tcp.RECOVER] or acked == 0):
        return counted, 0, NONE
    half = reno.reduced(row, clock, reno.usable(window.cwnd, 0, p[P.WINDOW]), False)
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = sent.snd_max
    m[Board.PIPE] = sent.snd_max - acked - threshold
    m[Board.REPAIRED] = max(m[Board.REPAIRED], acked + 2)
    m[Board.GONE] = NONE
    m[Board.WATCHED] = acked
    m[Board.NOTED] = sent.snd_nxt
    return Window(half, max(int(half), reno.FLOOR), dupacks), REDUCE, acked + 1


@noinline
def timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """As Reno's; what was reported is forgotten."""
    clear(row.m, row.p)
    after = reno.timeout(row, clock, snd_max, window)
    row.m[Tcp.PHASE] = Phase.AFTER_TIMEOUT
    return after


@noinline
def next_packet(m: Any, p: Any, acked: Any, snd_nxt: Any, last: Any, cwnd: Any) -> Any:
    """The first hole that was not resent, or new data, while the pipe has room."""
    if PAUSING and m[Board.WATCHED] != acked:
        m[Board.WATCHED] = acked
        m[Board.NOTED] = snd_nxt
    if m[Board.PIPE] >= int(cwnd):
        return NONE
    bits = m[Board.BITS]
    mask = p[P.RING] - 1
    hole = run_end(m, bits, mask, max(m[Board.REPAIRED], acked + 1), m[Board.HIGHEST] + 1)
    m[Board.REPAIRED] = hole
    is_hole = hole < m[Board.HIGHEST]  # something above it has arrived
    if PAUSING:
        is_hole = is_hole or hole <= m[Board.GONE]
    packet = hole if is_hole else snd_nxt
    if packet > acked + p[P.WINDOW] or packet > last:
        return NONE
    if is_hole:
        m[Board.REPAIRED] = hole + 1
        if PAUSING and hole == acked + 1:
            m[Board.NOTED] = max(snd_nxt, hole + 1)
    m[Board.PIPE] += 1
    return packet


def on_paused_ack(m: Any, p: Any, at: Any, ack: Any, acked: Any) -> None:
    """An acknowledgement in a pause (see `pausing`)."""
    forget(m, p, ack, acked)
    record(m, p, at)


@noinline
def repair(m: Any, p: Any, acked: Any, snd_max: Any, dupacks: Any) -> Any:
    """After a pause: recover all that was not reported, with nothing in the pipe."""
    if acked == snd_max:
        m[Tcp.PHASE] = Phase.NORMAL
        clear(m, p)
        return NONE, False
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = snd_max
    m[Board.PIPE] = 0
    m[Board.REPAIRED] = acked + 1
    m[Board.GONE] = snd_max
    return NONE, False
