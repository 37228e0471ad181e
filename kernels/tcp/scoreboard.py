"""Scoreboard of a sender like that of Linux 2.6: SACKed, lost and retransmitted packets.

Source: Mathis and Mahdavi, "Forward acknowledgement: refining TCP congestion control" (SIGCOMM 1996), with
the detection of lost retransmissions of Linux 2.6, in the form of ns-2 (`Agent/TCP/Linux`).

A packet is lost when one at least `ReliableP.DUPACKS` above it has been SACKed. Retransmissions are logged in
order of sending. A retransmission is lost when data first sent after it has arrived, or a retransmission more
than `ReliableP.DUPACKS` later. `highest_ack` is the highest packet cumulatively acknowledged, `snd_nxt` the
next new one.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.bits import clear_bit, clear_bits, run_end, set_bit, span, test_bit
from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.tcp.state import NONE, Ack, Tcp


class Scoreboard(IntEnum):
    """Scratch words of the scoreboard."""

    LOST_OUT = Tcp.SCHEME
    """Packets that are lost and not retransmitted (Linux: `lost_out`)."""
    SACKED_OUT = Tcp.SCHEME + 1
    """SACKed packets above the cumulative acknowledgement (Linux: `sacked_out`)."""
    HIGHEST_SACKED = Tcp.SCHEME + 2
    """Highest SACKed packet."""
    MARKED_UP_TO = Tcp.SCHEME + 3
    """Every packet up to this one without a SACK is marked lost or has been retransmitted."""
    NEXT_LOST = Tcp.SCHEME + 4
    """No packet below this one is lost."""
    DELIVERED_RETRANS = Tcp.SCHEME + 5
    """Number of the latest retransmission known to have arrived."""
    LOG_FIRST = Tcp.SCHEME + 6
    """Number of the first retransmission in the log."""
    LOG_END = Tcp.SCHEME + 7
    """Number of the next retransmission to be logged."""
    SACKED_BITMAP = Tcp.SCHEME + 8
    """First word of the bitmap of SACKed packets."""
    LOST_BITMAP = Tcp.SCHEME + 9
    """First word of the bitmap of lost packets."""
    RETRANS_NUMBER = Tcp.SCHEME + 10
    """First word of the ring, by packet, of the number of its latest retransmission."""
    LOG_PACKET = Tcp.SCHEME + 11
    """First word of the log's ring, by number, of the retransmitted packet."""
    LOG_SND_NXT = Tcp.SCHEME + 12
    """First word of the log's ring, by number, of the next new packet at that time."""
    FREE = Tcp.SCHEME + 13
    """First word that the scoreboard leaves to others."""


def scratch_words(ring: Any) -> Any:
    """Return the words of scratch after the state, for rings of `ring` packets."""
    return 2 * (ring // 64) + 3 * ring


@noinline
def prepare(m: Any, p: Any, free: Any) -> Any:
    """Lay out scratch from word `free` on; return the next free word."""
    ring = p[RowP.RING]
    m[Scoreboard.HIGHEST_SACKED] = NONE
    m[Scoreboard.MARKED_UP_TO] = NONE
    m[Scoreboard.DELIVERED_RETRANS] = NONE
    m[Scoreboard.SACKED_BITMAP] = free
    m[Scoreboard.LOST_BITMAP] = free + (ring >> 6)
    m[Scoreboard.RETRANS_NUMBER] = free + 2 * (ring >> 6)
    m[Scoreboard.LOG_PACKET] = m[Scoreboard.RETRANS_NUMBER] + ring
    m[Scoreboard.LOG_SND_NXT] = m[Scoreboard.LOG_PACKET] + ring
    for word in range(free, m[Scoreboard.RETRANS_NUMBER]):
        global_memory(m)[word] = 0
    return m[Scoreboard.LOG_SND_NXT] + ring


def in_flight(m: Any, highest_ack: Any, snd_nxt: Any) -> Any:
    """Return the packets in flight, without lost ones."""
    return snd_nxt - 1 - highest_ack - m[Scoreboard.LOST_OUT] - m[Scoreboard.SACKED_OUT]


@noinline
def remove_acked(m: Any, p: Any, ack: Any, highest_ack: Any) -> None:
    """Remove the packets after `highest_ack` up to `ack` from the scoreboard."""
    mask, last = p[RowP.RING] - 1, min(ack, max(m[Scoreboard.HIGHEST_SACKED], m[Scoreboard.MARKED_UP_TO]))
    packet = highest_ack + 1
    while packet <= last:  # SACKed packets, 64 at a time, then one without a SACK
        end = run_end(m, m[Scoreboard.SACKED_BITMAP], mask, packet, last + 1)
        clear_bits(m, m[Scoreboard.SACKED_BITMAP], mask, packet, end)
        m[Scoreboard.SACKED_OUT] -= end - packet
        if end <= last and end <= m[Scoreboard.MARKED_UP_TO]:
            _mark_delivered(m, mask, end)
        packet = end + 1


def acknowledge(m: Any, p: Any, ack: Any, highest_ack: Any) -> None:
    """Process the cumulative acknowledgement of packets up to `ack`."""
    if highest_ack < m[Scoreboard.HIGHEST_SACKED] or highest_ack < m[Scoreboard.MARKED_UP_TO]:
        remove_acked(m, p, ack, highest_ack)


def mark_sacked(m: Any, mask: Any, packet: Any) -> None:
    """Mark a packet as SACKed."""
    set_bit(m, m[Scoreboard.SACKED_BITMAP], mask, packet)
    m[Scoreboard.SACKED_OUT] += 1
    if packet <= m[Scoreboard.MARKED_UP_TO]:
        _mark_delivered(m, mask, packet)


def _mark_delivered(m: Any, mask: Any, packet: Any) -> None:
    # The packet was lost or retransmitted.
    if test_bit(m, m[Scoreboard.LOST_BITMAP], mask, packet):
        clear_bit(m, m[Scoreboard.LOST_BITMAP], mask, packet)
        m[Scoreboard.LOST_OUT] -= 1
    else:
        m[Scoreboard.DELIVERED_RETRANS] = max(
            m[Scoreboard.DELIVERED_RETRANS], global_memory(m)[m[Scoreboard.RETRANS_NUMBER] + (packet & mask)]
        )


def mark_lost(m: Any, mask: Any, packet: Any) -> None:
    """Mark a packet as lost and not retransmitted."""
    set_bit(m, m[Scoreboard.LOST_BITMAP], mask, packet)
    m[Scoreboard.LOST_OUT] += 1
    m[Scoreboard.NEXT_LOST] = min(m[Scoreboard.NEXT_LOST], packet)


@noinline
def process_blocks(m: Any, p: Any, at: Any, ack: Any) -> Any:
    """Process the SACK blocks of an ACK and mark lost packets (slow path of `process_ack`)."""
    mask = p[RowP.RING] - 1
    distance = p[ReliableP.DUPACKS]
    # A retransmission that this ACK reports proves no loss before the next ACK.
    arrived = m[Scoreboard.DELIVERED_RETRANS]
    reported = False
    for block in range(global_memory(m)[at + Ack.SACK_COUNT]):
        left = global_memory(m)[at + Ack.SACK_BLOCK + 2 * block]
        right = global_memory(m)[at + Ack.SACK_BLOCK + 1 + 2 * block]
        left = max(left, ack + 1)
        m[Scoreboard.HIGHEST_SACKED] = max(m[Scoreboard.HIGHEST_SACKED], right - 1)
        while left < right:  # a word of 64 packets at a time
            stop = min(right, (left | 63) + 1)
            run = span(left, stop)
            if global_memory(m)[m[Scoreboard.SACKED_BITMAP] + ((left & mask) >> 6)] & run != run:
                reported = True
                packet = run_end(m, m[Scoreboard.SACKED_BITMAP], mask, left, stop)
                while packet < stop:
                    mark_sacked(m, mask, packet)
                    packet = run_end(m, m[Scoreboard.SACKED_BITMAP], mask, packet + 1, stop)
            left = stop
    lost = False
    for packet in range(
        max(m[Scoreboard.MARKED_UP_TO], ack) + 1, m[Scoreboard.HIGHEST_SACKED] - distance + 1
    ):
        if not test_bit(m, m[Scoreboard.SACKED_BITMAP], mask, packet):
            lost = True
            mark_lost(m, mask, packet)
    m[Scoreboard.MARKED_UP_TO] = max(m[Scoreboard.MARKED_UP_TO], m[Scoreboard.HIGHEST_SACKED] - distance)
    while m[Scoreboard.LOG_FIRST] < m[Scoreboard.LOG_END]:
        number = m[Scoreboard.LOG_FIRST]
        if (
            global_memory(m)[m[Scoreboard.LOG_SND_NXT] + (number & mask)] > m[Scoreboard.HIGHEST_SACKED]
            and number + distance >= arrived
        ):
            break
        packet = global_memory(m)[m[Scoreboard.LOG_PACKET] + (number & mask)]
        if packet > ack and not test_bit(m, m[Scoreboard.SACKED_BITMAP], mask, packet):
            lost = True
            mark_lost(m, mask, packet)
        m[Scoreboard.LOG_FIRST] += 1
    return reported, lost


def process_ack(m: Any, p: Any, at: Any, ack: Any) -> Any:
    """Process the SACK blocks of the ACK at word `at`, which acknowledges `ack`.

    Returns True if packets are newly SACKed, and True if more packets are lost.
    """
    if (
        global_memory(m)[at + Ack.SACK_COUNT] > 0
        or ack < m[Scoreboard.HIGHEST_SACKED]
        or ack < m[Scoreboard.MARKED_UP_TO]
    ):
        return process_blocks(m, p, at, ack)
    return False, False


@noinline
def next_lost(m: Any, p: Any, highest_ack: Any) -> Any:
    """Return the first lost packet, or NONE."""
    if m[Scoreboard.LOST_OUT] == 0:
        return NONE
    mask = p[RowP.RING] - 1
    packet = max(m[Scoreboard.NEXT_LOST], highest_ack + 1)
    while not test_bit(m, m[Scoreboard.LOST_BITMAP], mask, packet):
        packet += 1
    m[Scoreboard.NEXT_LOST] = packet
    return packet


@noinline
def retransmit(m: Any, p: Any, packet: Any, snd_nxt: Any) -> None:
    """Record the retransmission of a lost packet; `snd_nxt` is the next new one."""
    mask = p[RowP.RING] - 1
    clear_bit(m, m[Scoreboard.LOST_BITMAP], mask, packet)
    m[Scoreboard.LOST_OUT] -= 1
    global_memory(m)[m[Scoreboard.RETRANS_NUMBER] + (packet & mask)] = m[Scoreboard.LOG_END]
    global_memory(m)[m[Scoreboard.LOG_PACKET] + (m[Scoreboard.LOG_END] & mask)] = packet
    global_memory(m)[m[Scoreboard.LOG_SND_NXT] + (m[Scoreboard.LOG_END] & mask)] = snd_nxt
    m[Scoreboard.LOG_END] += 1


@noinline
def mark_all_lost(m: Any, p: Any, highest_ack: Any, snd_nxt: Any) -> None:
    """Mark every packet without a SACK as lost."""
    mask = p[RowP.RING] - 1
    for packet in range(highest_ack + 1, snd_nxt):
        lost = packet <= m[Scoreboard.MARKED_UP_TO] and test_bit(m, m[Scoreboard.LOST_BITMAP], mask, packet)
        if not lost and not test_bit(m, m[Scoreboard.SACKED_BITMAP], mask, packet):
            mark_lost(m, mask, packet)
    m[Scoreboard.MARKED_UP_TO] = snd_nxt - 1
    m[Scoreboard.LOG_FIRST] = m[Scoreboard.LOG_END]
    m[Scoreboard.DELIVERED_RETRANS] = m[Scoreboard.LOG_END] - 1


@noinline
def reset(m: Any, p: Any, ack: Any) -> None:
    """Clear the scoreboard; packets up to `ack` have arrived."""
    for word in range(m[Scoreboard.SACKED_BITMAP], m[Scoreboard.RETRANS_NUMBER]):
        global_memory(m)[word] = 0
    m[Scoreboard.LOST_OUT] = 0
    m[Scoreboard.SACKED_OUT] = 0
    m[Scoreboard.HIGHEST_SACKED] = NONE
    m[Scoreboard.MARKED_UP_TO] = ack
    m[Scoreboard.NEXT_LOST] = ack + 1
    m[Scoreboard.LOG_FIRST] = m[Scoreboard.LOG_END]
    m[Scoreboard.DELIVERED_RETRANS] = m[Scoreboard.LOG_END] - 1
