"""What the sender knows of the packets it has out: reported, lost, sent again (RFC 6675: the scoreboard)."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.bits import test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux.state import FLAG_BITS, NONE, Flag, Packet, Tcp, packet_at

control: Any = slot("control")
HEARS: Any = slot("hears")
"""The control hears of each packet that is found lost."""


def is_reported(p: Any, s: Any, packet: Any) -> Any:
    """Whether a SACK block has reported a packet."""
    return test_bit(s, s[Tcp.REPORTED], p[P.RING] - 1, packet)


def lose(p: Any, s: Any, packet: Any) -> None:
    """A packet is thought lost, or its retransmission."""
    at = packet_at(p, s, packet)
    flags = s[at + Packet.FLAGS]
    if flags & Flag.LOST:
        if flags & Flag.AGAIN:
            s[at + Packet.FLAGS] = flags & ~np.int64(Flag.AGAIN)
            s[Tcp.AGAIN] -= 1
            s[Tcp.LOSSES] += 1
            if HEARS:
                control.lost(p, s, packet)
    else:
        s[at + Packet.FLAGS] = flags | Flag.LOST
        s[Tcp.LOST] += 1
        s[Tcp.LOSSES] += 1
        if HEARS:
            control.lost(p, s, packet)
    s[Tcp.NEXT_LOST] = min(s[Tcp.NEXT_LOST], packet)


@noinline
def next_lost(p: Any, s: Any) -> Any:
    """The first packet that is lost and not sent again since, or NONE."""
    if s[Tcp.AGAIN] >= s[Tcp.LOST]:
        return np.int64(NONE)
    packet = max(s[Tcp.NEXT_LOST], s[Tcp.UNA])
    while packet < s[Tcp.NXT]:
        flags = s[packet_at(p, s, packet) + Packet.FLAGS]
        if flags & Flag.LOST and flags & Flag.AGAIN == 0 and not is_reported(p, s, packet):
            s[Tcp.NEXT_LOST] = packet
            return packet
        packet += 1
    s[Tcp.NEXT_LOST] = packet
    return np.int64(NONE)


@noinline
def resend(p: Any, s: Any, packet: Any) -> None:
    """A packet goes out again: note it in the log."""
    at = packet_at(p, s, packet)
    flags = s[at + Packet.FLAGS] & (Flag.LOST | Flag.EVER | Flag.AGAIN | Flag.PUSH)
    if flags & Flag.AGAIN == 0:
        s[Tcp.AGAIN] += 1
    number = s[Tcp.LOG_END]
    s[at + Packet.FLAGS] = (number << FLAG_BITS) | flags | Flag.AGAIN | Flag.EVER
    s[s[Tcp.LOG] + (number & (p[P.RING] - 1))] = packet
    s[Tcp.LOG_END] = number + 1
    s[Tcp.AGAIN_END] = max(s[Tcp.AGAIN_END], packet + 1)
    if s[Tcp.LOG_END] - s[Tcp.LOG_FIRST] >= p[P.RING]:
        s[Tcp.OVERFULL] = 1


@noinline
def spare(p: Any, s: Any) -> None:
    """Nothing is lost after all."""
    for packet in range(s[Tcp.UNA], s[Tcp.NXT]):
        at = packet_at(p, s, packet)
        s[at + Packet.FLAGS] &= ~np.int64(Flag.LOST)
    s[Tcp.LOST] = 0
    s[Tcp.JUDGED] = s[Tcp.UNA]
