"""Receiver: ACKs, SACK blocks, and the times at which they are sent.

Source: RFC 5681 and RFC 1122 (an ACK for every second segment, without delay in a gap), RFC 2018 and RFC 2883
(SACK, DSACK), RFC 7323 (echoed timestamp), and additions of Linux: quick ACKs at the beginning of a
connection and after exceptions, and ACK compression in gaps (E. Dumazet, "tcp: add SACK compression", 2018).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bits import clear_bits, run_begin, run_end, set_bit, test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, MS
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.clocks import US, timer_expiry
from netcarlo.kernels.linux.state import (
    FIRST,
    FULL,
    NONE,
    SACK_BLOCKS_KEPT,
    SACK_BLOCKS_SENT,
    SYN,
    Ack,
    Flag,
    Packet,
    Tcp,
    ack_at,
    packet_at,
)

INITIAL_QUICK_ACKS = 18
"""ACKs sent without delay at the beginning of a connection (measured)."""
MAX_QUICK_ACKS = 16
"""ACKs sent without delay after a duplicate or a long silence (TCP_MAX_QUICKACKS)."""
UNCOMPRESSED_ACKS = 3
"""Duplicate ACKs of a gap that are sent before compression begins (TCP_FASTRETRANS_THRESH)."""
COMP_SACK_NR = 44
"""Largest number of ACKs that a compressed ACK replaces (tcp_comp_sack_nr)."""
COMP_SACK_DELAY = MS
"""Longest delay of a compressed ACK [ns] (tcp_comp_sack_delay_ns)."""
COMP_SACK_RTT_SHARE = 20
"""Divisor of the RTT that limits the delay of a compressed ACK: 5 % of the RTT."""
COMP_SACK_SLACK = 100 * US
"""Slack of the compression timer [ns], used in full if nothing else wakes the processor
(tcp_comp_sack_slack_ns)."""
MIN_RTO = 200 * MS
"""Minimum of the receiver's own timeout [ns]."""
SYNACK_RETRIES = 5
"""Limit of SYN-ACK retransmissions by the timer (tcp_synack_retries)."""


def make_ack(p: Any, s: Any) -> Any:
    """Make the next acknowledgement, and return its id, or FULL."""
    ack_id = s[Tcp.NEXT_ACK_ID]
    if ack_id - s[Tcp.ACKS_CONSUMED] >= p[RowP.RING]:
        return np.int64(FULL)
    at = ack_at(p, s, ack_id)
    write_ack(s, at, s[Tcp.RCV_NXT], s[Tcp.TS_RECENT])
    room = np.int64(SACK_BLOCKS_SENT)
    if s[Tcp.DSACK_PACKET] != NONE:
        room -= 1
        s[at + Ack.DSACK] = s[Tcp.DSACK_PACKET]
        s[Tcp.DSACK_PACKET] = NONE
    count = min(s[Tcp.NUM_SACKS], room)
    s[at + Ack.NUM_SACKS] = count
    for k in range(2 * count):
        s[at + Ack.SACK_BLOCKS + k] = s[Tcp.SACK_BLOCKS + k]
    s[Tcp.NEXT_ACK_ID] = ack_id + 1
    s[Tcp.RCV_WUP] = s[Tcp.RCV_NXT]
    s[Tcp.ACK_DEADLINE] = FOREVER
    s[Tcp.COMPRESSED_ACK_DEADLINE] = FOREVER
    s[Tcp.COMPRESSED_ACKS] = 0
    s[Tcp.QUICK_ACKS] = max(s[Tcp.QUICK_ACKS] - 1, 0)
    return ack_id


def write_ack(s: Any, at: Any, missing: Any, echo: Any) -> None:
    """Write an acknowledgement at word `at`, with the first missing packet and without SACK blocks."""
    s[at + Ack.CUMULATIVE] = missing
    s[at + Ack.TSECR] = echo
    s[at + Ack.DSACK] = NONE
    s[at + Ack.NUM_SACKS] = 0


@noinline
def on_syn(p: Any, s: Any, t: Any) -> Any:
    """Answer a SYN, whether it is the first that arrives or a retransmission.

    The echoed timestamp is always that of the first SYN that arrived.
    """
    if s[Tcp.RCV_NXT] <= SYN:
        s[Tcp.RCV_NXT] = FIRST  # the ACK that ends the handshake carries no data
        s[Tcp.TS_RECENT] = s[Tcp.RCV_TSVAL]
    return _answer_syn(p, s, t)


def _answer_syn(p: Any, s: Any, t: Any) -> Any:
    """Send a SYN-ACK at time t [ns], and again after the initial timeout, which doubles with each
    repetition.

    A retransmitted SYN is answered immediately, and restarts the timer.
    """
    s[Tcp.SYN_ACK_AT] = t
    quick = s[Tcp.QUICK_ACKS]
    ack_id = make_ack(p, s)
    s[Tcp.QUICK_ACKS] = quick
    if s[Tcp.RCV_RTT] == 0 and s[Tcp.SYN_ACK_RETRANSMITS] < SYNACK_RETRIES:
        jiffies = quotient(p[ReliableP.INITIAL_RTO], p[TcpP.TICK]) << s[Tcp.SYN_ACK_RETRANSMITS]
        s[Tcp.ACK_DEADLINE] = timer_expiry(p, s, t, min(jiffies, s[Tcp.MAX_RTO_JIFFIES]))
    return ack_id


def _accept(s: Any, t: Any) -> None:
    """End the handshake, with its third packet or with the first data if that packet was lost."""
    s[Tcp.RCV_RTT] = t - s[Tcp.SYN_ACK_AT]
    s[Tcp.ACK_DEADLINE] = FOREVER


def _is_half_open(s: Any) -> Any:
    """Return True if the receiver waits for the end of the handshake (SYN-RECEIVED)."""
    return s[Tcp.RCV_RTT] == 0 and s[Tcp.SYN_ACK_AT] != NONE


def receiver_rto(s: Any) -> Any:
    """Return the receiver's own timeout [ns]."""
    rtt = s[Tcp.RCV_RTT]
    return rtt + max(2 * rtt, MIN_RTO)


def delayed_ack_deadline(p: Any, s: Any, t: Any) -> Any:
    """Return the latest time of the ACK for a packet that arrives at time t [ns]."""
    return timer_expiry(p, s, t, quotient(p[ReliableP.ACK_DELAY], p[TcpP.TICK]))


def _on_segment(s: Any, t: Any) -> None:
    """Note the arrival of data; after a silence longer than the receiver's timeout, send quick ACKs
    again."""
    if _is_half_open(s):
        _accept(s, t)
    if s[Tcp.LRCVTIME] != NONE and t - s[Tcp.LRCVTIME] > receiver_rto(s):
        s[Tcp.QUICK_ACKS] = max(s[Tcp.QUICK_ACKS], MAX_QUICK_ACKS)
    s[Tcp.LRCVTIME] = t


@noinline
def _on_duplicate(s: Any, packet: Any) -> None:
    """Note a packet that was received before: the next ACK reports it, and quick ACKs follow."""
    s[Tcp.DUPLICATES] += 1
    s[Tcp.DSACK_PACKET] = packet
    s[Tcp.QUICK_ACKS] = max(s[Tcp.QUICK_ACKS], MAX_QUICK_ACKS)


@noinline
def _update_sack_blocks(s: Any, left: Any, right: Any) -> None:
    """Move a block that has grown to the front, and remove the blocks that it covers."""
    kept = np.int64(0)
    for k in range(s[Tcp.NUM_SACKS]):
        one, other = s[Tcp.SACK_BLOCKS + 2 * k], s[Tcp.SACK_BLOCKS + 2 * k + 1]
        if other < left or one > right:
            s[Tcp.SACK_BLOCKS + 2 * kept] = one
            s[Tcp.SACK_BLOCKS + 2 * kept + 1] = other
            kept += 1
    kept = min(kept, np.int64(SACK_BLOCKS_KEPT - 1))
    for k in range(2 * kept - 1, -1, -1):
        s[Tcp.SACK_BLOCKS + 2 + k] = s[Tcp.SACK_BLOCKS + k]
    s[Tcp.SACK_BLOCKS] = left
    s[Tcp.SACK_BLOCKS + 1] = right
    s[Tcp.NUM_SACKS] = kept + 1


@noinline
def _out_of_order(p: Any, s: Any, packet: Any) -> None:
    """Put a packet above a gap into the out-of-order queue."""
    mask = p[RowP.RING] - 1
    if packet - s[Tcp.RCV_NXT] >= p[RowP.RING]:
        s[Tcp.OVERFULL] = 1
    elif packet <= s[Tcp.RCV_HIGHEST] and test_bit(s, s[Tcp.OUT_OF_ORDER_BITS], mask, packet):
        s[Tcp.DUPLICATES] += 1
        s[Tcp.DSACK_PACKET] = packet
    else:
        set_bit(s, s[Tcp.OUT_OF_ORDER_BITS], mask, packet)
        s[Tcp.OUT_OF_ORDER] += 1
        if packet > s[Tcp.RCV_HIGHEST] and s[Tcp.NUM_SACKS] > 0 and s[Tcp.SACK_BLOCKS + 1] == packet:
            s[Tcp.RCV_HIGHEST] = packet  # the common case: the newest block grows
            s[Tcp.SACK_BLOCKS + 1] = packet + 1
            return
        s[Tcp.RCV_HIGHEST] = max(s[Tcp.RCV_HIGHEST], packet)
        left = run_begin(s, s[Tcp.OUT_OF_ORDER_BITS], mask, packet + 1)
        _update_sack_blocks(
            s, left, run_end(s, s[Tcp.OUT_OF_ORDER_BITS], mask, packet + 1, s[Tcp.RCV_HIGHEST] + 1)
        )


@noinline
def _advance_rcv_nxt(p: Any, s: Any) -> None:
    """Advance RCV_NXT to the next gap, after the first missing packet has arrived."""
    mask = p[RowP.RING] - 1
    first = s[Tcp.RCV_NXT]
    end = run_end(s, s[Tcp.OUT_OF_ORDER_BITS], mask, first, s[Tcp.RCV_HIGHEST] + 1)
    clear_bits(s, s[Tcp.OUT_OF_ORDER_BITS], mask, first, end)
    s[Tcp.OUT_OF_ORDER] -= end - first
    s[Tcp.RCV_NXT] = end
    kept = np.int64(0)
    for k in range(s[Tcp.NUM_SACKS]):
        if s[Tcp.SACK_BLOCKS + 2 * k + 1] > end:
            s[Tcp.SACK_BLOCKS + 2 * kept] = s[Tcp.SACK_BLOCKS + 2 * k]
            s[Tcp.SACK_BLOCKS + 2 * kept + 1] = s[Tcp.SACK_BLOCKS + 2 * k + 1]
            kept += 1
    s[Tcp.NUM_SACKS] = kept


@noinline
def _acks_in_gap_at_once(p: Any, s: Any, t: Any) -> Any:
    """Return True if the ACK of a packet above a gap is sent without delay, False if it is compressed."""
    if s[Tcp.COMPRESSED_ACKS] >= COMP_SACK_NR:
        return True
    if s[Tcp.COMPRESSED_ACK_RCV_NXT] != s[Tcp.RCV_NXT]:
        s[Tcp.COMPRESSED_ACK_RCV_NXT] = s[Tcp.RCV_NXT]
        s[Tcp.DUP_ACK_COUNTER] = 0
    if s[Tcp.DUP_ACK_COUNTER] < UNCOMPRESSED_ACKS:
        s[Tcp.DUP_ACK_COUNTER] += 1
        return True
    s[Tcp.COMPRESSED_ACKS] += 1
    if s[Tcp.COMPRESSED_ACK_DEADLINE] == FOREVER:
        delay = np.int64(COMP_SACK_DELAY)
        if s[Tcp.RCV_RTT] > 0:
            delay = min(delay, quotient(s[Tcp.RCV_RTT], COMP_SACK_RTT_SHARE))
        s[Tcp.COMPRESSED_ACK_DEADLINE] = t + delay + COMP_SACK_SLACK
    return False


@noinline
def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """Process a packet that arrives at time t [ns].

    Returns the id of the acknowledgement that the receiver sends, NONE or FULL, and whether it is the
    packet's first arrival.
    """
    if packet == SYN:
        return on_syn(p, s, t), False
    if packet < FIRST:
        if _is_half_open(s):
            _accept(s, t)
        return np.int64(NONE), False
    duplicates, gap, at_once = s[Tcp.DUPLICATES], s[Tcp.OUT_OF_ORDER] > 0, False
    if packet + 1 < s[Tcp.RCV_WUP]:  # below the window: its timestamp is ignored
        _on_duplicate(s, packet)
        return make_ack(p, s), False
    if packet <= s[Tcp.RCV_WUP]:
        s[Tcp.TS_RECENT] = max(s[Tcp.TS_RECENT], s[Tcp.RCV_TSVAL])
    _on_segment(s, t)
    if packet == s[Tcp.RCV_NXT]:
        s[Tcp.RCV_NXT] = packet + 1
        s[Tcp.RCV_HIGHEST] = max(s[Tcp.RCV_HIGHEST], packet)
        if gap:
            _advance_rcv_nxt(p, s)
            at_once = s[Tcp.OUT_OF_ORDER] == 0
    elif packet < s[Tcp.RCV_NXT]:
        _on_duplicate(s, packet)
    else:
        _out_of_order(p, s, packet)
    fresh = s[Tcp.DUPLICATES] == duplicates
    at_once = at_once or s[Tcp.QUICK_ACKS] > 0 or s[Tcp.RCV_NXT] - s[Tcp.RCV_WUP] >= p[ReliableP.ACK_EVERY]
    pushed = s[packet_at(p, s, packet) + Packet.FLAGS] & Flag.PSH != 0 and s[Tcp.OUT_OF_ORDER] == 0
    if at_once or pushed:
        return make_ack(p, s), fresh
    if s[Tcp.OUT_OF_ORDER] == 0:
        if s[Tcp.ACK_DEADLINE] == FOREVER:
            s[Tcp.ACK_DEADLINE] = delayed_ack_deadline(p, s, t)
        return np.int64(NONE), fresh
    if _acks_in_gap_at_once(p, s, t):
        return make_ack(p, s), fresh
    return np.int64(NONE), fresh


def due_at_receiver(s: Any) -> Any:
    """Return the time at which a timer of the receiver expires [ns], or FOREVER."""
    return min(s[Tcp.ACK_DEADLINE], s[Tcp.COMPRESSED_ACK_DEADLINE])


@noinline
def on_delay(p: Any, s: Any) -> Any:
    """Process the timer of the receiver, and return the id of the acknowledgement that is sent, or FULL."""
    if _is_half_open(s):
        s[Tcp.SYN_ACK_RETRANSMITS] += 1
        return _answer_syn(p, s, s[Tcp.ACK_DEADLINE])
    return make_ack(p, s)


def note_timestamp(s: Any, packet: Any, sent: Any) -> None:
    """Note that the packet about to arrive was sent at `sent` [ns]."""
    s[Tcp.RCV_TSVAL] = sent


def complete(p: Any, s: Any) -> Any:
    """Return True if the receiver has all data that the application has written."""
    return s[Tcp.RCV_NXT] > s[Tcp.LAST]


def in_order(p: Any, s: Any) -> Any:
    """Return the packets with data received without a gap."""
    return max(s[Tcp.RCV_NXT] - FIRST, np.int64(0))
