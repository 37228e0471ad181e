"""RACK loss detection: a packet is lost once a packet sent sufficiently later has been delivered.

Source: RFC 8985, section 6.2; tcp_recovery.c. The reordering window is that of Linux: as long as no
reordering was observed, it is zero in recovery and when three packets are SACKed.

Packets that were never retransmitted are in the order of their numbers, retransmissions in a log in the order
of sending. Both are examined from the first one, as far as they were sent before the most recently sent
packet that was delivered.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.bits import test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux import clocks, scoreboard
from netcarlo.kernels.linux.state import FLAG_BITS, NONE, CaState, Flag, Packet, Tcp, packet_at

DUP_THRESH = 3
"""SACKed packets that indicate a loss while no reordering was observed (DupThresh in RFC 8985)."""
MAX_REORDERING = 300
"""Limit of the reordering distance [packets] (tcp_max_reordering)."""

ADAPTIVE_REORDERING: Any = slot("adaptive_reordering")
"""True if DSACKs widen the reordering window, in networks that reorder packets."""
RECOVERY_THRESH = 16
"""Recoveries after which a widened window is reset (TCP_RACK_RECOVERY_THRESH; RFC 8985, section 6.2.4)."""


def advance(s: Any, packet: Any, sent: Any, retransmitted: Any, now_us: Any, echo: Any) -> None:
    """Update RACK state for a delivered packet last sent at `sent` [us] (`tcp_rack_advance`).

    A retransmission is ignored if its RTT is below the minimum RTT, or if the echoed timestamp [ms],
    where known, is older: then an earlier copy was delivered (RFC 8985, section 6.2, step 2).
    """
    rtt = now_us - sent
    if retransmitted and rtt < s[Tcp.MIN_RTT_US]:
        return
    if retransmitted and echo != NONE and echo < clocks.timestamp_of(s, sent * clocks.US):
        return
    s[Tcp.RACK_ADVANCED] = 1
    s[Tcp.RACK_RTT] = rtt
    if sent_after(sent, packet, s[Tcp.RACK_XMIT_TIME], s[Tcp.RACK_PACKET]):
        s[Tcp.RACK_XMIT_TIME] = sent
        s[Tcp.RACK_PACKET] = packet


def sent_after(sent: Any, packet: Any, other_sent: Any, other: Any) -> Any:
    """Return True if a packet was sent after another one (`tcp_skb_sent_after`)."""
    return sent > other_sent or (sent == other_sent and packet > other)


def reo_wnd(s: Any) -> Any:
    """Return the reordering window [us] (RFC 8985, section 6.2, step 4; `tcp_rack_reo_wnd`)."""
    if s[Tcp.REORDERING_SEEN] == 0 and (
        s[Tcp.CA_STATE] >= CaState.RECOVERY or s[Tcp.SACKED_OUT] >= s[Tcp.REORDERING]
    ):
        return np.int64(0)
    late = s[Tcp.MIN_RTT_US] >> 2
    if ADAPTIVE_REORDERING:
        late *= s[Tcp.REO_WND_STEPS]
    return min(late, s[Tcp.SRTT_US] >> 3)


def widen_reo_wnd(s: Any) -> None:
    """Widen the reordering window after a DSACK, once per round trip (`tcp_rack_update_reo_wnd`)."""
    if ADAPTIVE_REORDERING and s[Tcp.SND_UNA] >= s[Tcp.DSACK_ROUND]:
        s[Tcp.REO_WND_STEPS] += 1
        s[Tcp.DSACK_ROUND] = s[Tcp.SND_NXT]
        s[Tcp.REO_WND_PERSIST] = RECOVERY_THRESH


def narrow_reo_wnd(s: Any) -> None:
    """Count a successful recovery, and reset the window after RECOVERY_THRESH of them."""
    if ADAPTIVE_REORDERING and s[Tcp.REO_WND_PERSIST] > 0:
        s[Tcp.REO_WND_PERSIST] -= 1
        if s[Tcp.REO_WND_PERSIST] == 0:
            s[Tcp.REO_WND_STEPS] = 1


@noinline
def detect_loss(p: Any, s: Any, now_us: Any) -> Any:
    """Mark lost packets, and return the time [us] until the last of the others times out, or 0
    (`tcp_rack_detect_loss`)."""
    late = s[Tcp.RACK_RTT] + reo_wnd(s)
    wait = _originals(p, s, now_us - late)
    return max(wait, _retransmissions(p, s, now_us - late))


def _originals(p: Any, s: Any, before: Any) -> Any:
    """Examine packets never retransmitted; those sent by `before` [us] are lost. Returns the longest
    remaining time."""
    mask, wait, holds = p[RowP.RING] - 1, np.int64(0), True
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
                holds = False  # loss undone: it was sent later than the packets that follow
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
    """Examine retransmissions; those sent by `before` [us] are lost. Returns the longest remaining time."""
    mask, wait, holds = p[RowP.RING] - 1, np.int64(0), True
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
    """Return True if the retransmission with this number is the latest of its packet and is in flight."""
    if packet < s[Tcp.SND_UNA]:
        return False
    flags = s[packet_at(p, s, packet) + Packet.FLAGS]
    return flags & Flag.RETRANS != 0 and flags >> FLAG_BITS == number
