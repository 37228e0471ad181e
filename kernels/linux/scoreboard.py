"""Scoreboard of the sender: which outstanding packets were SACKed, lost or retransmitted (RFC 6675)."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.bits import test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux.state import FLAG_BITS, NONE, Flag, Packet, Tcp, packet_at

control: Any = slot("control")
NOTIFIES_LOSSES: Any = slot("notifies_losses")
"""True if the congestion control is notified of each packet that is marked lost."""


def is_sacked(p: Any, s: Any, packet: Any) -> Any:
    """Return True if a SACK block has reported a packet."""
    return test_bit(s, s[Tcp.SACKED_BITS], p[RowP.RING] - 1, packet)


def mark_lost(p: Any, s: Any, packet: Any) -> None:
    """Mark a packet, or its latest retransmission, as lost (`tcp_mark_skb_lost`)."""
    at = packet_at(p, s, packet)
    flags = s[at + Packet.FLAGS]
    if flags & Flag.LOST:
        if flags & Flag.RETRANS:
            s[at + Packet.FLAGS] = flags & ~np.int64(Flag.RETRANS)
            s[Tcp.RETRANS_OUT] -= 1
            s[Tcp.LOST_TOTAL] += 1
            if NOTIFIES_LOSSES:
                control.on_loss(p, s, packet)
    else:
        s[at + Packet.FLAGS] = flags | Flag.LOST
        s[Tcp.LOST_OUT] += 1
        s[Tcp.LOST_TOTAL] += 1
        if NOTIFIES_LOSSES:
            control.on_loss(p, s, packet)
    s[Tcp.RETRANSMIT_HINT] = min(s[Tcp.RETRANSMIT_HINT], packet)


@noinline
def next_lost(p: Any, s: Any) -> Any:
    """Return the first lost packet that has not been retransmitted since, or NONE."""
    if s[Tcp.RETRANS_OUT] >= s[Tcp.LOST_OUT]:
        return np.int64(NONE)
    packet = max(s[Tcp.RETRANSMIT_HINT], s[Tcp.SND_UNA])
    while packet < s[Tcp.SND_NXT]:
        flags = s[packet_at(p, s, packet) + Packet.FLAGS]
        if flags & Flag.LOST and flags & Flag.RETRANS == 0 and not is_sacked(p, s, packet):
            s[Tcp.RETRANSMIT_HINT] = packet
            return packet
        packet += 1
    s[Tcp.RETRANSMIT_HINT] = packet
    return np.int64(NONE)


@noinline
def mark_retransmitted(p: Any, s: Any, packet: Any) -> None:
    """Mark a packet as retransmitted, and enter it into the log of retransmissions."""
    at = packet_at(p, s, packet)
    flags = s[at + Packet.FLAGS] & (Flag.LOST | Flag.EVER_RETRANS | Flag.RETRANS | Flag.PSH)
    if flags & Flag.RETRANS == 0:
        s[Tcp.RETRANS_OUT] += 1
    number = s[Tcp.RETRANS_LOG_END]
    s[at + Packet.FLAGS] = (number << FLAG_BITS) | flags | Flag.RETRANS | Flag.EVER_RETRANS
    s[s[Tcp.RETRANS_LOG] + (number & (p[RowP.RING] - 1))] = packet
    s[Tcp.RETRANS_LOG_END] = number + 1
    s[Tcp.RETRANS_END] = max(s[Tcp.RETRANS_END], packet + 1)
    if s[Tcp.RETRANS_LOG_END] - s[Tcp.RETRANS_LOG_FIRST] >= p[RowP.RING]:
        s[Tcp.OVERFULL] = 1


@noinline
def unmark_lost(p: Any, s: Any) -> None:
    """Clear the loss marks of all outstanding packets, because a timeout or recovery was spurious."""
    for packet in range(s[Tcp.SND_UNA], s[Tcp.SND_NXT]):
        at = packet_at(p, s, packet)
        s[at + Packet.FLAGS] &= ~np.int64(Flag.LOST)
    s[Tcp.LOST_OUT] = 0
    s[Tcp.RACK_SCAN_START] = s[Tcp.SND_UNA]
