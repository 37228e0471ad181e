"""RACK: a packet is lost once another that was sent sufficiently later has arrived.

Source: RFC 8985, section 6.2; the reordering window as Linux has it (no reordering seen: none within a
recovery or when three packets are reported).

Packets that were never sent again stand in the order of their numbers, those sent again in a log in the order
of sending.  Both are judged from the first on, as far as they were sent before the newest that arrived.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.bits import test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import clocks, scoreboard
from netcarlo.kernels.linux.state import FLAG_BITS, NONE, CaState, Flag, Packet, Tcp, packet_at

DUP_THRESH = 3
"""Packets reported that stand for a loss unless some overtake others (RFC 8985: DupThresh)."""
MAX_REORDERING = 300

ADAPTIVE_REORDERING: Any = slot("adaptive_reordering")
"""The reordering window widens with duplicates reported: where packets overtake each other."""
RECOVERY_THRESH = 16
"""Recoveries for which it then does not narrow (RFC 8985, 6.2.4)."""


def advance(s: Any, packet: Any, sent: Any, again: Any, now_us: Any, echo: Any) -> None:
    """A packet that was put out last at `sent` [us] has arrived.

    That of a retransmission is not believed if it came sooner than any round trip, or if the timestamp
    `echo` [ms], where one is known, is older: then it was an earlier copy (RFC 8985, 6.2.2).
    """
    rtt = now_us - sent
    if again and rtt < s[Tcp.MIN_RTT_US]:
        return
    if again and echo != NONE and echo < clocks.timestamp_of(s, sent * clocks.US):
        return
    s[Tcp.RACK_ADVANCED] = 1
    s[Tcp.RACK_RTT] = rtt
    if sent_after(sent, packet, s[Tcp.RACK_XMIT_TIME], s[Tcp.RACK_PACKET]):
        s[Tcp.RACK_XMIT_TIME] = sent
        s[Tcp.RACK_PACKET] = packet


def sent_after(sent: Any, packet: Any, other_sent: Any, other: Any) -> Any:
    """Whether a packet was put out after another one."""
    return sent > other_sent or (sent == other_sent and packet > other)


def reo_wnd(s: Any) -> Any:
    """How much later than usual a packet may be [us] (RFC 8985, 6.2.4)."""
    if s[Tcp.REORDERING_SEEN] == 0 and (
        s[Tcp.CA_STATE] >= CaState.RECOVERY or s[Tcp.SACKED_OUT] >= s[Tcp.REORDERING]
    ):
        return np.int64(0)
    late = s[Tcp.MIN_RTT_US] >> 2
    if ADAPTIVE_REORDERING:
        late *= s[Tcp.REO_WND_STEPS]
    return min(late, s[Tcp.SRTT_US] >> 3)


def widen_reo_wnd(s: Any) -> None:
    """A packet was sent again for nothing: the window is too narrow; once in a round trip."""
    if ADAPTIVE_REORDERING and s[Tcp.SND_UNA] >= s[Tcp.DSACK_ROUND]:
        s[Tcp.REO_WND_STEPS] += 1
        s[Tcp.DSACK_ROUND] = s[Tcp.SND_NXT]
        s[Tcp.REO_WND_PERSIST] = RECOVERY_THRESH


def narrow_reo_wnd(s: Any) -> None:
    """A recovery that was not for nothing has ended."""
    if ADAPTIVE_REORDERING and s[Tcp.REO_WND_PERSIST] > 0:
        s[Tcp.REO_WND_PERSIST] -= 1
        if s[Tcp.REO_WND_PERSIST] == 0:
            s[Tcp.REO_WND_STEPS] = 1


@noinline
def detect_loss(p: Any, s: Any, now_us: Any) -> Any:
    """Judge all packets; returns how long the last of those that may yet arrive has time [us], or 0."""
    late = s[Tcp.RACK_RTT] + reo_wnd(s)
    wait = _originals(p, s, now_us - late)
    return max(wait, _retransmissions(p, s, now_us - late))


def _originals(p: Any, s: Any, before: Any) -> Any:
    """Those never sent again that were put out by `before` [us]."""
    mask, wait, holds = p[P.RING] - 1, np.int64(0), True
    packet = max(s[Tcp.RACK_SCAN_START], s[Tcp.SND_UNA])
    while packet < s[Tcp.SND_NXT]:
        at = packet_at(p, s, packet)
        if s[at + Packet.FLAGS] & (Flag.LOST | Flag.RETRANS) == 0 and not test_bit(
            s, s[Tcp.SACKED_BITS], mask, packet
        ):
            sent = s[at + Packet.SENT]
            if not sent_after(s[Tcp.RACK_XMIT_TIME], s[Tcp.RACK_PACKET], sent, packet):
                if s[at + Packet.FLAGS] & Flag.EVER_RETRANS == 0:
                    break
                holds = False  # once lost, but spared: sent later than what follows
            elif sent <= before:
                scoreboard.mark_lost(p, s, packet)
            else:
                wait = max(wait, sent - before)
                holds = False
        packet += 1
        if holds:
            s[Tcp.RACK_SCAN_START] = packet
    return wait


def _retransmissions(p: Any, s: Any, before: Any) -> Any:
    """Those sent again, of which the latest copy was put out by `before` [us]."""
    mask, wait, holds = p[P.RING] - 1, np.int64(0), True
    number = s[Tcp.RETRANS_LOG_FIRST]
    while number < s[Tcp.RETRANS_LOG_END]:
        packet = s[s[Tcp.RETRANS_LOG] + (number & mask)]
        if is_latest_retransmission(p, s, packet, number):
            sent = s[packet_at(p, s, packet) + Packet.SENT]
            if not sent_after(s[Tcp.RACK_XMIT_TIME], s[Tcp.RACK_PACKET], sent, packet):
                break
            if sent <= before:
                scoreboard.mark_lost(p, s, packet)
            else:
                wait = max(wait, sent - before)
                holds = False
        number += 1
        if holds:
            s[Tcp.RETRANS_LOG_FIRST] = number
    return wait


def is_latest_retransmission(p: Any, s: Any, packet: Any, number: Any) -> Any:
    """Whether the retransmission of this number is the packet's latest, and in flight."""
    if packet < s[Tcp.SND_UNA]:
        return False
    flags = s[packet_at(p, s, packet) + Packet.FLAGS]
    return flags & Flag.RETRANS != 0 and flags >> FLAG_BITS == number
