"""Update of the scoreboard by the cumulative acknowledgement and the SACK blocks of an ACK.

Source: RFC 2018 (SACK), RFC 2883 (DSACK), RFC 8985, section 6.2 (reordering).
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bits import clear_bit, run_end, set_bit, span, test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux import rack, rate
from netcarlo.kernels.linux.state import NONE, PACED, Ack, Flag, Packet, Tcp, packet_at


class AckInfo(NamedTuple):
    """Information that an ACK carries."""

    acked: Any
    """Packets newly acknowledged cumulatively."""
    newly_sacked: Any
    """True if SACK blocks report packets for the first time."""
    dsack: Any
    """True if the ACK reports a packet received more than once."""
    original_delivered: Any
    """True if a packet was delivered that was sent before HIGH_SEQ and only once (FLAG_ORIG_SACK_ACKED)."""


def mark_delivered(p: Any, s: Any, packet: Any, now_us: Any, echo: Any) -> Any:
    """Mark a packet as delivered, so that it is neither lost nor in flight, and return its former flags."""
    at = packet_at(p, s, packet)
    flags = s[at + Packet.FLAGS]
    if PACED:
        rate.on_packet_delivered(p, s, packet, s[at + Packet.SENT])
    rack.advance(
        s, packet, s[at + Packet.SENT], flags & (Flag.RETRANS | Flag.EVER_RETRANS) != 0, now_us, echo
    )
    if flags & Flag.RETRANS:
        s[Tcp.RETRANS_OUT] -= 1
    if flags & Flag.LOST:
        s[Tcp.LOST_OUT] -= 1
    s[at + Packet.FLAGS] = flags & ~np.int64(Flag.LOST | Flag.RETRANS)
    s[Tcp.DELIVERED] += 1
    return flags


@noinline
def process_sack_blocks(p: Any, s: Any, at: Any, ack: Any, now_us: Any) -> Any:
    """Process the SACK blocks, all above `ack`, of the ACK at word `at`, in the order of packets
    (`tcp_sacktag_walk`).

    Returns (newly_sacked, original, first, last, reordered): the first two as in `AckInfo`; the sending
    times [us] of the first and last packets reported that were sent only once, or NONE; the lowest of
    these packets that was reordered, or SND_NXT.
    """
    mask = p[RowP.RING] - 1
    newly_sacked, original = np.int64(0), np.int64(0)
    first, last, reordered = np.int64(NONE), np.int64(NONE), s[Tcp.SND_NXT]
    highest, done = s[Tcp.HIGHEST_SACK], ack
    count = s[at + Ack.NUM_SACKS]
    for _ in range(count):
        left, right = s[Tcp.SND_NXT], s[Tcp.SND_NXT]
        for k in range(count):  # the lowest remaining block
            one = s[at + Ack.SACK_BLOCKS + 2 * k]
            if one >= done and one < left:
                left, right = one, s[at + Ack.SACK_BLOCKS + 2 * k + 1]
        done = max(done, right)
        if left <= s[Tcp.RACK_SCAN_START]:
            s[Tcp.RACK_SCAN_START] = max(s[Tcp.RACK_SCAN_START], right)
        while left < right:  # 64 packets at a time
            stop = min(right, (left | 63) + 1)
            run, word = span(left, stop), s[s[Tcp.SACKED_BITS] + ((left & mask) >> 6)]
            if word & run != run:
                begin = max(left, min(highest, stop))  # the common case: all below were reported before
                if begin > left and ~word & span(left, begin) != 0:
                    begin = run_end(s, s[Tcp.SACKED_BITS], mask, left, stop)
                for packet in range(begin, stop):
                    if not test_bit(s, s[Tcp.SACKED_BITS], mask, packet):
                        newly_sacked = np.int64(1)
                        set_bit(s, s[Tcp.SACKED_BITS], mask, packet)
                        flags = mark_delivered(p, s, packet, now_us, np.int64(NONE))
                        s[Tcp.SACKED_OUT] += 1
                        if flags & (Flag.EVER_RETRANS | Flag.RETRANS) == 0:
                            if packet < highest:
                                reordered = min(reordered, packet)
                            if packet < s[Tcp.HIGH_SEQ]:
                                original = np.int64(1)
                            last = s[packet_at(p, s, packet) + Packet.SENT]
                            if first == NONE:
                                first = last
            left = stop
        s[Tcp.HIGHEST_SACK] = max(s[Tcp.HIGHEST_SACK], right)
    return newly_sacked, original, first, last, reordered


def clean_rtx_queue(p: Any, s: Any, ack: Any, now_us: Any, echo: Any) -> Any:
    """Remove the packets below `ack` from the scoreboard; `echo` is the echoed timestamp [ms]
    (`tcp_clean_rtx_queue`).

    Returns (retransmitted, original, first, last, reordered): 1 if one of the packets had been
    retransmitted; the rest as `process_sack_blocks`.
    """
    mask = p[RowP.RING] - 1
    retransmitted, original = np.int64(0), np.int64(0)
    first, last, reordered = np.int64(NONE), np.int64(NONE), s[Tcp.SND_NXT]
    for packet in range(s[Tcp.SND_UNA], ack):
        if s[Tcp.SACKED_OUT] > 0 and test_bit(s, s[Tcp.SACKED_BITS], mask, packet):
            clear_bit(s, s[Tcp.SACKED_BITS], mask, packet)
            s[Tcp.SACKED_OUT] -= 1
            if s[packet_at(p, s, packet) + Packet.FLAGS] & (Flag.EVER_RETRANS | Flag.RETRANS):
                retransmitted = np.int64(1)
        else:
            flags = mark_delivered(p, s, packet, now_us, echo)
            if flags & (Flag.EVER_RETRANS | Flag.RETRANS):
                retransmitted = np.int64(1)
            else:
                last = s[packet_at(p, s, packet) + Packet.SENT]
                if first == NONE:
                    first = last
                    reordered = packet
                if packet < s[Tcp.HIGH_SEQ]:
                    original = np.int64(1)
    return retransmitted, original, first, last, reordered


def check_sack_reordering(s: Any, packet: Any) -> None:
    """Update the reordering distance: a packet sent once was delivered after higher ones (RFC 8985,
    section 6.2, step 3)."""
    behind = s[Tcp.HIGHEST_SACK] - packet
    if behind > 0:
        s[Tcp.REORDERING] = min(max(s[Tcp.REORDERING], behind), np.int64(rack.MAX_REORDERING))
        s[Tcp.REORDERING_SEEN] = 1
