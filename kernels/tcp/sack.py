"""TCP SACK: recovery with a scoreboard and an estimate of the packets in the pipe.

Source: Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP" (CCR 1996), in the form of
ns-2 (`Agent/TCP/Sack1`).
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.bits import clear_bits, run_end, span
from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import (
    END_BACKOFF,
    LIMITED_TRANSMIT,
    NO_GROWTH,
    PARTIAL_ACK,
    REDUCE,
    RESTART_TIMER,
    SEND,
)
from netcarlo.kernels.tcp.state import NONE, Ack, Phase, Tcp, Window

BASE = reno
SACK = True
HOT_WORDS = 4

PAUSING: Any = slot("pauses")
"""True if recovery may begin after a pause, with an empty pipe."""


class Scoreboard(IntEnum):
    """Scratch words of SACK recovery."""

    PIPE = Tcp.SCHEME
    """Estimated number of packets in the network (RFC 6675: pipe)."""
    NEXT_HOLE = Tcp.SCHEME + 1
    """Holes below this packet have been retransmitted."""
    HIGHEST_SACKED = Tcp.SCHEME + 2
    """Highest packet reported by a SACK block; NONE if the scoreboard is empty."""
    BITMAP = Tcp.SCHEME + 3
    """First word of the bitmap of packets reported by SACK blocks."""
    LOST_UP_TO = Tcp.SCHEME + 4
    """Packets up to this one without a SACK are lost: they are holes, and not in the pipe."""
    WATCHED_HOLE = Tcp.SCHEME + 5
    """Packet before the first retransmitted hole, whose retransmission is watched for loss."""
    SENT_LATER = Tcp.SCHEME + 6
    """First packet that was sent after the latest retransmission of the watched hole."""


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out an empty scoreboard."""
    m[Scoreboard.NEXT_HOLE] = NONE
    m[Scoreboard.HIGHEST_SACKED] = NONE
    m[Scoreboard.LOST_UP_TO] = NONE
    m[Scoreboard.BITMAP] = free
    for _ in range(p[RowP.RING] >> 6):
        global_memory(m)[free] = 0
        free += 1
    return free


@noinline
def reset(m: Any, p: Any) -> None:
    """Empty the scoreboard."""
    m[Scoreboard.NEXT_HOLE] = NONE
    m[Scoreboard.HIGHEST_SACKED] = NONE
    m[Scoreboard.LOST_UP_TO] = NONE
    for word in range(p[RowP.RING] >> 6):
        global_memory(m)[m[Scoreboard.BITMAP] + word] = 0


@noinline
def record_blocks(m: Any, p: Any, at: Any) -> Any:
    """Enter the SACK blocks of an ACK, 64 packets at a time; return True if they report anything new."""
    news = False
    mask, ring = p[RowP.RING] - 1, global_memory(m)
    for block in range(ring[at + Ack.SACK_COUNT]):
        left = ring[at + Ack.SACK_BLOCK + 2 * block]
        right = ring[at + Ack.SACK_BLOCK + 1 + 2 * block]
        m[Scoreboard.HIGHEST_SACKED] = max(m[Scoreboard.HIGHEST_SACKED], right - 1)
        while left < right:
            stop = min(right, (left | 63) + 1)
            run = span(left, stop)
            word = m[Scoreboard.BITMAP] + ((left & mask) >> 6)
            if ring[word] & run != run:
                news = True
                ring[word] |= run
            left = stop
    return news


def forget_acked(m: Any, p: Any, ack: Any, highest_ack: Any) -> None:
    """Remove cumulatively acknowledged packets from the scoreboard."""
    clear_bits(m, m[Scoreboard.BITMAP], p[RowP.RING] - 1, highest_ack + 1, ack + 1)


@noinline
def on_ack_in_recovery(row: Any, at: Any, ack: Any, highest_ack: Any, cwnd: Any) -> Any:
    """Process an ACK of new data in recovery.

    A partial ACK takes two packets out of the pipe: the one it acknowledges and the retransmitted hole.
    Recovery ends as in NewReno.
    """
    m, p = row.m, row.p
    if m[Tcp.PHASE] == Phase.AFTER_TIMEOUT:
        m[Tcp.PHASE] = Phase.NORMAL
        return cwnd, SEND, NONE
    if ack >= m[Tcp.RECOVER]:
        m[Tcp.PHASE] = Phase.NORMAL
        m[Tcp.RECOVER] = 0
        reset(m, p)
        return cwnd, SEND | NO_GROWTH, NONE
    forget_acked(m, p, ack, highest_ack)
    record_blocks(m, p, at)
    m[Scoreboard.PIPE] -= 2  # the packet that the ACK acknowledges, and the retransmission
    if PAUSING and highest_ack < m[Scoreboard.LOST_UP_TO]:
        m[Scoreboard.PIPE] += 1
    return cwnd, SEND | PARTIAL_ACK | RESTART_TIMER | END_BACKOFF, NONE


def grow(row: Any, clock: Any, ack: Any, previous_ack: Any, snd_nxt: Any, window: Any) -> Any:
    """Grow the window as Reno does, with an empty scoreboard."""
    m, p = row.m, row.p
    if m[Scoreboard.HIGHEST_SACKED] != NONE:
        reset(m, p)
    return reno.grow(row, clock, ack, previous_ack, snd_nxt, window)


@noinline
def on_old_ack(row: Any) -> Any:
    """Continue a recovery; send nothing after the first duplicate ACKs."""
    return SEND if row.m[Tcp.PHASE] == Phase.RECOVERY or row.m[Tcp.DUPACKS] == 0 else 0


def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Process the SACK blocks of a duplicate ACK; the third one with news starts recovery.

    A sender that pauses detects the loss of its first retransmission when packets sent later are reported.
    """
    m, p, highest_ack, dupacks = row.m, row.p, sent.highest_ack, window.dupacks
    if m[Tcp.PHASE] == Phase.AFTER_TIMEOUT:
        return window, SEND, NONE
    news = record_blocks(m, p, at)
    if m[Tcp.PHASE] == Phase.RECOVERY:
        m[Scoreboard.PIPE] -= 1
        if news and dupacks > 0:
            dupacks += 1
        counted = Window(window.cwnd, window.ssthresh, dupacks)
        if PAUSING:
            later = m[Scoreboard.HIGHEST_SACKED] - m[Scoreboard.SENT_LATER] + 1
            if (
                m[Scoreboard.WATCHED_HOLE] == highest_ack
                and m[Scoreboard.NEXT_HOLE] > highest_ack + 1
                and later >= p[ReliableP.DUPACKS]
            ):
                m[Scoreboard.SENT_LATER] = sent.snd_nxt
                return counted, SEND | REDUCE, highest_ack + 1
        return counted, SEND, NONE
    if not news:
        return window, SEND if dupacks == 0 else 0, NONE
    dupacks += 1
    counted = Window(window.cwnd, window.ssthresh, dupacks)
    threshold = p[ReliableP.DUPACKS]
    if dupacks < threshold:
        return counted, LIMITED_TRANSMIT, NONE
    if dupacks > threshold or not (highest_ack > m[Tcp.RECOVER] or highest_ack == 0):
        return counted, 0, NONE
    half = reno.reduced_window(row, clock, reno.usable_window(window.cwnd, 0, p[RowP.WINDOW]), False)
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = sent.snd_max
    m[Scoreboard.PIPE] = sent.snd_max - highest_ack - threshold
    m[Scoreboard.NEXT_HOLE] = max(m[Scoreboard.NEXT_HOLE], highest_ack + 2)
    m[Scoreboard.LOST_UP_TO] = NONE
    m[Scoreboard.WATCHED_HOLE] = highest_ack
    m[Scoreboard.SENT_LATER] = sent.snd_nxt
    return Window(half, max(int(half), reno.MIN_SSTHRESH), dupacks), REDUCE, highest_ack + 1


@noinline
def on_timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """Restart as Reno does, with an empty scoreboard."""
    reset(row.m, row.p)
    after = reno.on_timeout(row, clock, snd_max, window)
    row.m[Tcp.PHASE] = Phase.AFTER_TIMEOUT
    return after


@noinline
def next_packet(m: Any, p: Any, highest_ack: Any, snd_nxt: Any, last: Any, cwnd: Any) -> Any:
    """Return the first hole that was not retransmitted, or new data, while the pipe has room."""
    if PAUSING and m[Scoreboard.WATCHED_HOLE] != highest_ack:
        m[Scoreboard.WATCHED_HOLE] = highest_ack
        m[Scoreboard.SENT_LATER] = snd_nxt
    if m[Scoreboard.PIPE] >= int(cwnd):
        return NONE
    bits = m[Scoreboard.BITMAP]
    mask = p[RowP.RING] - 1
    hole = run_end(
        m, bits, mask, max(m[Scoreboard.NEXT_HOLE], highest_ack + 1), m[Scoreboard.HIGHEST_SACKED] + 1
    )
    m[Scoreboard.NEXT_HOLE] = hole
    is_hole = hole < m[Scoreboard.HIGHEST_SACKED]  # a packet above it has arrived
    if PAUSING:
        is_hole = is_hole or hole <= m[Scoreboard.LOST_UP_TO]
    packet = hole if is_hole else snd_nxt
    if packet > highest_ack + p[RowP.WINDOW] or packet > last:
        return NONE
    if is_hole:
        m[Scoreboard.NEXT_HOLE] = hole + 1
        if PAUSING and hole == highest_ack + 1:
            m[Scoreboard.SENT_LATER] = max(snd_nxt, hole + 1)
    m[Scoreboard.PIPE] += 1
    return packet


def on_ack_in_pause(m: Any, p: Any, at: Any, ack: Any, highest_ack: Any) -> None:
    """Process an ACK in a pause (`pausing`)."""
    forget_acked(m, p, ack, highest_ack)
    record_blocks(m, p, at)


@noinline
def repair_after_pause(m: Any, p: Any, highest_ack: Any, snd_max: Any, dupacks: Any) -> Any:
    """Start recovery after a pause, with an empty pipe: every packet without a SACK is lost."""
    if highest_ack == snd_max:
        m[Tcp.PHASE] = Phase.NORMAL
        reset(m, p)
        return NONE, False
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = snd_max
    m[Scoreboard.PIPE] = 0
    m[Scoreboard.NEXT_HOLE] = highest_ack + 1
    m[Scoreboard.LOST_UP_TO] = snd_max
    return NONE, False
