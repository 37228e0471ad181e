"""What an ACK tells of the packets that are out.

Source: RFC 2018 (SACK), RFC 2883 (duplicates), RFC 8985, section 6.2 (reordering).
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bits import clear_bit, run_end, set_bit, span, test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import rack, rate
from netcarlo.kernels.linux.state import NONE, PACED, Ack, Flag, Packet, Tcp, packet_at


class AckInfo(NamedTuple):
    """What an ACK tells."""

    acked: Any
    """Packets acknowledged with all before them."""
    newly_sacked: Any
    """Blocks report others for the first time."""
    dsack: Any
    """It reports a packet that arrived twice."""
    original_delivered: Any
    """A packet arrived that was put out before HIGH, and only once."""


def mark_delivered(p: Any, s: Any, packet: Any, now_us: Any, echo: Any) -> Any:
    """A packet has arrived that nobody had told of: it is not lost, nor in flight; returns its flags."""
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
    """Enter the blocks, all behind `ack`, of the ACK at `at`, in the order of the packets.

    Returns (reported, original, first, last, late): as in `News`; when the first and the last of the packets
    reported that were sent only once were put out [us], or NONE; and the lowest of them that is late, or NXT.
    """
    mask = p[P.RING] - 1
    reported, original = np.int64(0), np.int64(0)
    first, last, late = np.int64(NONE), np.int64(NONE), s[Tcp.SND_NXT]
    highest, done = s[Tcp.HIGHEST_SACK], ack
    count = s[at + Ack.NUM_SACKS]
    for _ in range(count):
        left, right = s[Tcp.SND_NXT], s[Tcp.SND_NXT]
        for k in range(count):  # the lowest that is left
            one = s[at + Ack.SACK_BLOCKS + 2 * k]
            if one >= done and one < left:
                left, right = one, s[at + Ack.SACK_BLOCKS + 2 * k + 1]
        done = max(done, right)
        if left <= s[Tcp.RACK_SCAN_START]:
            s[Tcp.RACK_SCAN_START] = max(s[Tcp.RACK_SCAN_START], right)
        while left < right:  # a word of 64 packets at a time
            stop = min(right, (left | 63) + 1)
            run, word = span(left, stop), s[s[Tcp.SACKED_BITS] + ((left & mask) >> 6)]
            if word & run != run:
                begin = max(left, min(highest, stop))  # mostly all below are known
                if begin > left and ~word & span(left, begin) != 0:
                    begin = run_end(s, s[Tcp.SACKED_BITS], mask, left, stop)
                for packet in range(begin, stop):
                    if not test_bit(s, s[Tcp.SACKED_BITS], mask, packet):
                        reported = np.int64(1)
                        set_bit(s, s[Tcp.SACKED_BITS], mask, packet)
                        flags = mark_delivered(p, s, packet, now_us, np.int64(NONE))
                        s[Tcp.SACKED_OUT] += 1
                        if flags & (Flag.EVER_RETRANS | Flag.RETRANS) == 0:
                            if packet < highest:
                                late = min(late, packet)
                            if packet < s[Tcp.HIGH_SEQ]:
                                original = np.int64(1)
                            last = s[packet_at(p, s, packet) + Packet.SENT]
                            if first == NONE:
                                first = last
            left = stop
        s[Tcp.HIGHEST_SACK] = max(s[Tcp.HIGHEST_SACK], right)
    return reported, original, first, last, late


def clean_rtx_queue(p: Any, s: Any, ack: Any, now_us: Any, echo: Any) -> Any:
    """Packets below `ack` leave the scoreboard; `echo` is the timestamp that came back [ms].

    Returns (again, original, first, last, late): 1 if one of them had been sent again; the rest as
    `take_blocks`.
    """
    mask = p[P.RING] - 1
    again, original = np.int64(0), np.int64(0)
    first, last, late = np.int64(NONE), np.int64(NONE), s[Tcp.SND_NXT]
    for packet in range(s[Tcp.SND_UNA], ack):
        if s[Tcp.SACKED_OUT] > 0 and test_bit(s, s[Tcp.SACKED_BITS], mask, packet):
            clear_bit(s, s[Tcp.SACKED_BITS], mask, packet)
            s[Tcp.SACKED_OUT] -= 1
            if s[packet_at(p, s, packet) + Packet.FLAGS] & (Flag.EVER_RETRANS | Flag.RETRANS):
                again = np.int64(1)
        else:
            flags = mark_delivered(p, s, packet, now_us, echo)
            if flags & (Flag.EVER_RETRANS | Flag.RETRANS):
                again = np.int64(1)
            else:
                last = s[packet_at(p, s, packet) + Packet.SENT]
                if first == NONE:
                    first = last
                    late = packet
                if packet < s[Tcp.HIGH_SEQ]:
                    original = np.int64(1)
    return again, original, first, last, late


def check_sack_reordering(s: Any, packet: Any) -> None:
    """A packet that was sent once arrived after higher ones: they overtake each other (RFC 8985, 6.2.3)."""
    behind = s[Tcp.HIGHEST_SACK] - packet
    if behind > 0:
        s[Tcp.REORDERING] = min(max(s[Tcp.REORDERING], behind), np.int64(rack.MAX_REORDERING))
        s[Tcp.REORDERING_SEEN] = 1
