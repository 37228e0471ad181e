"""What a Linux-like sender knows of the packets it has out: reported, lost, sent again.

Source: Mathis and Mahdavi, "Forward acknowledgement: refining TCP congestion control" (SIGCOMM 1996), with
the detection of lost retransmissions of Linux 2.6, in the form of ns-2 (`Agent/TCP/Linux`).

A packet is lost once one `P.DUPACKS` or more above it has been reported.  Retransmissions are logged in the
order of sending: one is lost when data first sent after it has arrived, or a retransmission more than
`P.DUPACKS` later.  `acked` is the highest packet acknowledged, `snd_nxt` the next new one.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.bits import clear_bit, clear_bits, run_end, set_bit, span, test_bit
from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp.state import NONE, Ack, Tcp


class Board(IntEnum):
    """Own words of scratch."""

    LOST_OUT = Tcp.OWN
    """Packets that are lost and not sent again."""
    REPORTED_OUT = Tcp.OWN + 1
    """Packets above the cumulative acknowledgement that have been reported."""
    HIGHEST = Tcp.OWN + 2
    """Highest packet reported."""
    JUDGED = Tcp.OWN + 3
    """Every packet up to this one that was not reported is lost or has been sent again."""
    NEXT_LOST = Tcp.OWN + 4
    """No packet below is lost."""
    ARRIVED = Tcp.OWN + 5
    """Number of the latest retransmission known to have arrived."""
    FIRST = Tcp.OWN + 6
    """Number of the first retransmission in the log,"""
    END = Tcp.OWN + 7
    """and the one behind the last."""
    REPORTED = Tcp.OWN + 8
    """Where the bitmap of reported packets begins in scratch,"""
    LOST = Tcp.OWN + 9
    """that of lost ones,"""
    NUMBER = Tcp.OWN + 10
    """by packet, the number of its latest retransmission,"""
    RESENT = Tcp.OWN + 11
    """by number, the packet,"""
    AFTER = Tcp.OWN + 12
    """and the first new packet sent later."""
    FREE = Tcp.OWN + 13
    """First word that the scoreboard leaves to others."""


def scratch_words(ring: Any) -> Any:
    """Words of scratch, behind those of the state, for rings of `ring` packets."""
    return 2 * (ring // 64) + 3 * ring


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out scratch from word `free` on; returns the next free word."""
    ring = p[P.RING]
    m[Board.HIGHEST] = NONE
    m[Board.JUDGED] = NONE
    m[Board.ARRIVED] = NONE
    m[Board.REPORTED] = free
    m[Board.LOST] = free + (ring >> 6)
    m[Board.NUMBER] = free + 2 * (ring >> 6)
    m[Board.RESENT] = m[Board.NUMBER] + ring
    m[Board.AFTER] = m[Board.RESENT] + ring
    for word in range(free, m[Board.NUMBER]):
        global_memory(m)[word] = 0
    return m[Board.AFTER] + ring


def flight(m: Any, acked: Any, snd_nxt: Any) -> Any:
    """Packets in flight, those lost left out."""
    return snd_nxt - 1 - acked - m[Board.LOST_OUT] - m[Board.REPORTED_OUT]


@noinline
def remove(m: Any, p: Any, ack: Any, acked: Any) -> None:
    """Packets behind `acked` up to `ack` leave the scoreboard."""
    mask, last = p[P.RING] - 1, min(ack, max(m[Board.HIGHEST], m[Board.JUDGED]))
    packet = acked + 1
    while packet <= last:  # reported ones, a word of 64 packets at a time, and one that is not
        end = run_end(m, m[Board.REPORTED], mask, packet, last + 1)
        clear_bits(m, m[Board.REPORTED], mask, packet, end)
        m[Board.REPORTED_OUT] -= end - packet
        if end <= last and end <= m[Board.JUDGED]:
            _arrived(m, mask, end)
        packet = end + 1


def acknowledge(m: Any, p: Any, ack: Any, acked: Any) -> None:
    """Packets up to `ack` have arrived."""
    if acked < m[Board.HIGHEST] or acked < m[Board.JUDGED]:
        remove(m, p, ack, acked)


def enter(m: Any, mask: Any, packet: Any) -> None:
    """A packet has been reported."""
    set_bit(m, m[Board.REPORTED], mask, packet)
    m[Board.REPORTED_OUT] += 1
    if packet <= m[Board.JUDGED]:
        _arrived(m, mask, packet)


def _arrived(m: Any, mask: Any, packet: Any) -> None:
    # A packet that was lost, or sent again.
    if test_bit(m, m[Board.LOST], mask, packet):
        clear_bit(m, m[Board.LOST], mask, packet)
        m[Board.LOST_OUT] -= 1
    else:
        m[Board.ARRIVED] = max(m[Board.ARRIVED], global_memory(m)[m[Board.NUMBER] + (packet & mask)])


def mark_lost(m: Any, mask: Any, packet: Any) -> None:
    """A packet is lost, and not sent again yet."""
    set_bit(m, m[Board.LOST], mask, packet)
    m[Board.LOST_OUT] += 1
    m[Board.NEXT_LOST] = min(m[Board.NEXT_LOST], packet)


@noinline
def update(m: Any, p: Any, at: Any, ack: Any) -> Any:
    """`report` where there is something to do."""
    mask = p[P.RING] - 1
    distance = p[P.DUPACKS]
    arrived = m[Board.ARRIVED]  # a retransmission that this ACK reports proves nothing before the next one
    reported = False
    for block in range(global_memory(m)[at + Ack.COUNT]):
        left = global_memory(m)[at + Ack.BLOCK + 2 * block]
        right = global_memory(m)[at + Ack.BLOCK + 1 + 2 * block]
        left = max(left, ack + 1)
        m[Board.HIGHEST] = max(m[Board.HIGHEST], right - 1)
        while left < right:  # a word of 64 packets at a time
            stop = min(right, (left | 63) + 1)
            run = span(left, stop)
            if global_memory(m)[m[Board.REPORTED] + ((left & mask) >> 6)] & run != run:
                reported = True
                packet = run_end(m, m[Board.REPORTED], mask, left, stop)
                while packet < stop:
                    enter(m, mask, packet)
                    packet = run_end(m, m[Board.REPORTED], mask, packet + 1, stop)
            left = stop
    lost = False
    for packet in range(max(m[Board.JUDGED], ack) + 1, m[Board.HIGHEST] - distance + 1):
        if not test_bit(m, m[Board.REPORTED], mask, packet):
            lost = True
            mark_lost(m, mask, packet)
    m[Board.JUDGED] = max(m[Board.JUDGED], m[Board.HIGHEST] - distance)
    while m[Board.FIRST] < m[Board.END]:
        number = m[Board.FIRST]
        if (
            global_memory(m)[m[Board.AFTER] + (number & mask)] > m[Board.HIGHEST]
            and number + distance >= arrived
        ):
            break
        packet = global_memory(m)[m[Board.RESENT] + (number & mask)]
        if packet > ack and not test_bit(m, m[Board.REPORTED], mask, packet):
            lost = True
            mark_lost(m, mask, packet)
        m[Board.FIRST] += 1
    return reported, lost


def report(m: Any, p: Any, at: Any, ack: Any) -> Any:
    """Take in the blocks of the ACK at `at`, of `ack`: did it report packets, are more lost?"""
    if global_memory(m)[at + Ack.COUNT] > 0 or ack < m[Board.HIGHEST] or ack < m[Board.JUDGED]:
        return update(m, p, at, ack)
    return False, False


@noinline
def next_lost(m: Any, p: Any, acked: Any) -> Any:
    """The first lost packet, or NONE."""
    if m[Board.LOST_OUT] == 0:
        return NONE
    mask = p[P.RING] - 1
    packet = max(m[Board.NEXT_LOST], acked + 1)
    while not test_bit(m, m[Board.LOST], mask, packet):
        packet += 1
    m[Board.NEXT_LOST] = packet
    return packet


@noinline
def resend(m: Any, p: Any, packet: Any, snd_nxt: Any) -> None:
    """A lost packet is sent again; `snd_nxt` is the next new one."""
    mask = p[P.RING] - 1
    clear_bit(m, m[Board.LOST], mask, packet)
    m[Board.LOST_OUT] -= 1
    global_memory(m)[m[Board.NUMBER] + (packet & mask)] = m[Board.END]
    global_memory(m)[m[Board.RESENT] + (m[Board.END] & mask)] = packet
    global_memory(m)[m[Board.AFTER] + (m[Board.END] & mask)] = snd_nxt
    m[Board.END] += 1


@noinline
def lose(m: Any, p: Any, acked: Any, snd_nxt: Any) -> None:
    """Everything that was not reported is lost."""
    mask = p[P.RING] - 1
    for packet in range(acked + 1, snd_nxt):
        lost = packet <= m[Board.JUDGED] and test_bit(m, m[Board.LOST], mask, packet)
        if not lost and not test_bit(m, m[Board.REPORTED], mask, packet):
            mark_lost(m, mask, packet)
    m[Board.JUDGED] = snd_nxt - 1
    m[Board.FIRST] = m[Board.END]
    m[Board.ARRIVED] = m[Board.END] - 1


@noinline
def clear(m: Any, p: Any, ack: Any) -> None:
    """Forget everything but that packets up to `ack` have arrived."""
    for word in range(m[Board.REPORTED], m[Board.NUMBER]):
        global_memory(m)[word] = 0
    m[Board.LOST_OUT] = 0
    m[Board.REPORTED_OUT] = 0
    m[Board.HIGHEST] = NONE
    m[Board.JUDGED] = ack
    m[Board.NEXT_LOST] = ack + 1
    m[Board.FIRST] = m[Board.END]
    m[Board.ARRIVED] = m[Board.END] - 1
