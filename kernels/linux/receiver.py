"""The receiver: what it acknowledges, and when.

Source: RFC 5681 and RFC 1122 (an ACK for two segments, at once in a gap), RFC 2018 and RFC 2883 (SACK,
duplicates), RFC 7323 (which timestamp is echoed), and what Linux adds: quick ACKs when a connection begins or
something is wrong, and ACKs in a gap that stand for several ("compressed", E. Dumazet, 2018).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bits import clear_bits, run_begin, run_end, set_bit, test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, MS, P
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.clocks import US, due
from netcarlo.kernels.linux.state import (
    BLOCKS,
    FIRST,
    FULL,
    KEPT,
    NONE,
    SYN,
    Ack,
    Flag,
    Packet,
    Tcp,
    ack_at,
    packet_at,
)

FIRST_QUICK = 18
"""ACKs sent at once when a connection begins (measured),"""
QUICK = 16
"""and after a duplicate or a long silence."""
AT_ONCE = 3
"""ACKs in a gap that stand for one segment each, before some are merged,"""
MOST_MERGED = 44
"""which are so many at most,"""
LONGEST = MS
"""in so long a time [ns],"""
SHARE = 20
"""or in so small a share of the round trip;"""
SLACK = 100 * US
"""that timer may go off so much later [ns], and does where nothing else wakes the processor."""
LEAST_RTO = 200 * MS
MOST_SYN_ACKS = 5
"""Most retransmissions of the SYN-ACK by the timer (tcp_synack_retries)."""


def acknowledge(p: Any, s: Any) -> Any:
    """Make the next acknowledgement; its id, or FULL."""
    ack_id = s[Tcp.NEXT_ACK]
    if ack_id - s[Tcp.CONSUMED] >= p[P.RING]:
        return np.int64(FULL)
    at = ack_at(p, s, ack_id)
    write(s, at, s[Tcp.RCV_NXT], s[Tcp.ECHO])
    room = np.int64(BLOCKS)
    if s[Tcp.DUPLICATE] != NONE:
        room -= 1
        s[at + Ack.DUPLICATE] = s[Tcp.DUPLICATE]
        s[Tcp.DUPLICATE] = NONE
    count = min(s[Tcp.BLOCK_COUNT], room)
    s[at + Ack.COUNT] = count
    for k in range(2 * count):
        s[at + Ack.BLOCK + k] = s[Tcp.BLOCK + k]
    s[Tcp.NEXT_ACK] = ack_id + 1
    s[Tcp.RCV_WUP] = s[Tcp.RCV_NXT]
    s[Tcp.PENDING] = FOREVER
    s[Tcp.MERGED_UNTIL] = FOREVER
    s[Tcp.MERGED] = 0
    s[Tcp.QUICK] = max(s[Tcp.QUICK] - 1, 0)
    return ack_id


def write(s: Any, at: Any, missing: Any, echo: Any) -> None:
    """The acknowledgement at this place tells the first packet that is missing, and nothing else."""
    s[at + Ack.NEXT] = missing
    s[at + Ack.ECHO] = echo
    s[at + Ack.DUPLICATE] = NONE
    s[at + Ack.COUNT] = 0


@noinline
def on_syn(p: Any, s: Any, t: Any) -> Any:
    """Answer a SYN, whether it is the first that arrives or a retransmission.

    The timestamp echoed is always that of the first SYN that arrived.
    """
    if s[Tcp.RCV_NXT] <= SYN:
        s[Tcp.RCV_NXT] = FIRST  # the ACK that ends the handshake carries nothing that could be missing
        s[Tcp.ECHO] = s[Tcp.STAMP]
    return _answer_syn(p, s, t)


def _answer_syn(p: Any, s: Any, t: Any) -> Any:
    """Send a SYN-ACK at time t [ns], and again after the initial timeout, which doubles with each repetition.

    A retransmitted SYN is answered at once, and restarts the timer.
    """
    s[Tcp.SYN_AT] = t
    quick = s[Tcp.QUICK]
    ack_id = acknowledge(p, s)
    s[Tcp.QUICK] = quick
    if s[Tcp.RCV_RTT] == 0 and s[Tcp.SYN_ACKS] < MOST_SYN_ACKS:
        jiffies = quotient(p[P.INITIAL_RTO], p[P.TICK]) << s[Tcp.SYN_ACKS]
        s[Tcp.PENDING] = due(p, s, t, min(jiffies, s[Tcp.MOST_JIFFIES]))
    return ack_id


def _accept(s: Any, t: Any) -> None:
    """End the handshake, with its third packet or with the first data if that packet was lost."""
    s[Tcp.RCV_RTT] = t - s[Tcp.SYN_AT]
    s[Tcp.PENDING] = FOREVER


def _is_half_open(s: Any) -> Any:
    """Return whether the receiver waits for the end of the handshake (SYN-RECEIVED)."""
    return s[Tcp.RCV_RTT] == 0 and s[Tcp.SYN_AT] != NONE


def silence(s: Any) -> Any:
    """The receiver's own timeout [ns]."""
    rtt = s[Tcp.RCV_RTT]
    return rtt + max(2 * rtt, LEAST_RTO)


def delayed(p: Any, s: Any, t: Any) -> Any:
    """When the ACK of a packet that has come at time t [ns] goes out at the latest."""
    return due(p, s, t, quotient(p[P.ACK_DELAY], p[P.TICK]))


def _wake(s: Any, t: Any) -> None:
    """A packet with data after a silence longer than the receiver's own timeout: quick ACKs again."""
    if _is_half_open(s):
        _accept(s, t)
    if s[Tcp.LAST_RX] != NONE and t - s[Tcp.LAST_RX] > silence(s):
        s[Tcp.QUICK] = max(s[Tcp.QUICK], QUICK)
    s[Tcp.LAST_RX] = t


@noinline
def _again(s: Any, packet: Any) -> None:
    """A packet that is there already: the next ACK says so, and some more come at once."""
    s[Tcp.DUPLICATES] += 1
    s[Tcp.DUPLICATE] = packet
    s[Tcp.QUICK] = max(s[Tcp.QUICK], QUICK)


@noinline
def _remember(s: Any, left: Any, right: Any) -> None:
    """A block that has just grown comes first; those that it covers go."""
    kept = np.int64(0)
    for k in range(s[Tcp.BLOCK_COUNT]):
        one, other = s[Tcp.BLOCK + 2 * k], s[Tcp.BLOCK + 2 * k + 1]
        if other < left or one > right:
            s[Tcp.BLOCK + 2 * kept] = one
            s[Tcp.BLOCK + 2 * kept + 1] = other
            kept += 1
    kept = min(kept, np.int64(KEPT - 1))
    for k in range(2 * kept - 1, -1, -1):
        s[Tcp.BLOCK + 2 + k] = s[Tcp.BLOCK + k]
    s[Tcp.BLOCK] = left
    s[Tcp.BLOCK + 1] = right
    s[Tcp.BLOCK_COUNT] = kept + 1


@noinline
def _out_of_order(p: Any, s: Any, packet: Any) -> None:
    """A packet above a gap."""
    mask = p[P.RING] - 1
    if packet - s[Tcp.RCV_NXT] >= p[P.RING]:
        s[Tcp.OVERFULL] = 1
    elif packet <= s[Tcp.RCV_HIGHEST] and test_bit(s, s[Tcp.BITS], mask, packet):
        s[Tcp.DUPLICATES] += 1
        s[Tcp.DUPLICATE] = packet
    else:
        set_bit(s, s[Tcp.BITS], mask, packet)
        s[Tcp.OUT_OF_ORDER] += 1
        if packet > s[Tcp.RCV_HIGHEST] and s[Tcp.BLOCK_COUNT] > 0 and s[Tcp.BLOCK + 1] == packet:
            s[Tcp.RCV_HIGHEST] = packet  # the newest block grows, as it mostly does
            s[Tcp.BLOCK + 1] = packet + 1
            return
        s[Tcp.RCV_HIGHEST] = max(s[Tcp.RCV_HIGHEST], packet)
        left = run_begin(s, s[Tcp.BITS], mask, packet + 1)
        _remember(s, left, run_end(s, s[Tcp.BITS], mask, packet + 1, s[Tcp.RCV_HIGHEST] + 1))


@noinline
def _fill(p: Any, s: Any) -> None:
    """The first missing packet has come: on to the next gap."""
    mask = p[P.RING] - 1
    first = s[Tcp.RCV_NXT]
    end = run_end(s, s[Tcp.BITS], mask, first, s[Tcp.RCV_HIGHEST] + 1)
    clear_bits(s, s[Tcp.BITS], mask, first, end)
    s[Tcp.OUT_OF_ORDER] -= end - first
    s[Tcp.RCV_NXT] = end
    kept = np.int64(0)
    for k in range(s[Tcp.BLOCK_COUNT]):
        if s[Tcp.BLOCK + 2 * k + 1] > end:
            s[Tcp.BLOCK + 2 * kept] = s[Tcp.BLOCK + 2 * k]
            s[Tcp.BLOCK + 2 * kept + 1] = s[Tcp.BLOCK + 2 * k + 1]
            kept += 1
    s[Tcp.BLOCK_COUNT] = kept


@noinline
def _in_gap(p: Any, s: Any, t: Any) -> Any:
    """Whether the ACK of a packet that left a gap open goes out at once; else it waits for later ones."""
    if s[Tcp.MERGED] >= MOST_MERGED:
        return True
    if s[Tcp.GAP_AT] != s[Tcp.RCV_NXT]:
        s[Tcp.GAP_AT] = s[Tcp.RCV_NXT]
        s[Tcp.GAP_ACKS] = 0
    if s[Tcp.GAP_ACKS] < AT_ONCE:
        s[Tcp.GAP_ACKS] += 1
        return True
    s[Tcp.MERGED] += 1
    if s[Tcp.MERGED_UNTIL] == FOREVER:
        delay = np.int64(LONGEST)
        if s[Tcp.RCV_RTT] > 0:
            delay = min(delay, quotient(s[Tcp.RCV_RTT], SHARE))
        s[Tcp.MERGED_UNTIL] = t + delay + SLACK
    return False


@noinline
def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """A packet arrives at time t [ns].

    Returns the id of the acknowledgement that the receiver sends, NONE or FULL; and whether it is the
    packet's first arrival.
    """
    if packet == SYN:
        return on_syn(p, s, t), False
    if packet < FIRST:
        if _is_half_open(s):
            _accept(s, t)
        return np.int64(NONE), False
    duplicates, gap, at_once = s[Tcp.DUPLICATES], s[Tcp.OUT_OF_ORDER] > 0, False
    if packet + 1 < s[Tcp.RCV_WUP]:  # below the window: nothing of it is looked at
        _again(s, packet)
        return acknowledge(p, s), False
    if packet <= s[Tcp.RCV_WUP]:
        s[Tcp.ECHO] = max(s[Tcp.ECHO], s[Tcp.STAMP])
    _wake(s, t)
    if packet == s[Tcp.RCV_NXT]:
        s[Tcp.RCV_NXT] = packet + 1
        s[Tcp.RCV_HIGHEST] = max(s[Tcp.RCV_HIGHEST], packet)
        if gap:
            _fill(p, s)
            at_once = s[Tcp.OUT_OF_ORDER] == 0
    elif packet < s[Tcp.RCV_NXT]:
        _again(s, packet)
    else:
        _out_of_order(p, s, packet)
    fresh = s[Tcp.DUPLICATES] == duplicates
    at_once = at_once or s[Tcp.QUICK] > 0 or s[Tcp.RCV_NXT] - s[Tcp.RCV_WUP] >= p[P.ACK_EVERY]
    pushed = s[packet_at(p, s, packet) + Packet.FLAGS] & Flag.PUSH != 0 and s[Tcp.OUT_OF_ORDER] == 0
    if at_once or pushed:
        return acknowledge(p, s), fresh
    if s[Tcp.OUT_OF_ORDER] == 0:
        if s[Tcp.PENDING] == FOREVER:
            s[Tcp.PENDING] = delayed(p, s, t)
        return np.int64(NONE), fresh
    if _in_gap(p, s, t):
        return acknowledge(p, s), fresh
    return np.int64(NONE), fresh


def due_at_receiver(s: Any) -> Any:
    """When the receiver's timer goes off [ns]."""
    return min(s[Tcp.PENDING], s[Tcp.MERGED_UNTIL])


@noinline
def on_delay(p: Any, s: Any) -> Any:
    """It does: the id of the acknowledgement that goes out, or FULL."""
    if _is_half_open(s):
        s[Tcp.SYN_ACKS] += 1
        return _answer_syn(p, s, s[Tcp.PENDING])
    return acknowledge(p, s)


def note_timestamp(s: Any, packet: Any, sent: Any) -> None:
    """The packet that is about to arrive was put out at `sent` [ns]."""
    s[Tcp.STAMP] = sent


def complete(p: Any, s: Any) -> Any:
    """The receiver has all the data that there is."""
    return s[Tcp.RCV_NXT] > s[Tcp.LAST]


def in_order(p: Any, s: Any) -> Any:
    """Packets with data that the receiver has without a gap."""
    return max(s[Tcp.RCV_NXT] - FIRST, np.int64(0))
