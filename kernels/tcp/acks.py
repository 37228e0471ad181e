"""Receiver of an association: which ACKs it sends, and when.

ACKs in flight are kept in a ring by id. If an ACK carries nothing but the cumulative acknowledgement
(ACKS_ARE_IMPLICIT), its id is the next expected packet, and there is no ring.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.tcp.receiver import arrive, write_sack_blocks
from netcarlo.kernels.tcp.state import NONE, Ack, Tcp

FULL = -2
"""Value returned when more ACKs are in flight than `RowP.RING`."""

ACKS_ARE_IMPLICIT: Any = slot("acks_are_implicit")
LOSS_MARKS: Any = slot("loss_marks")
TIMESTAMPS: Any = slot("timestamps")

WORDS: Any = slot("ack_words")
"""Words of an ACK in the ring."""

variant: Any = slot("variant")
kind: Any = slot("kind")


def ack_at(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the word of scratch where an ACK begins."""
    return s[Tcp.ACK_RING] + WORDS * (ack_id & (p[RowP.RING] - 1))


def acknowledge(p: Any, s: Any, packet: Any) -> Any:
    """Create the ACK for `packet`; return its id, or FULL."""
    if ACKS_ARE_IMPLICIT:
        return s[Tcp.RCV_NXT]
    ack_id, mask = s[Tcp.NEXT_ACK], p[RowP.RING] - 1
    if ack_id - s[Tcp.CONSUMED] > mask:
        return np.int64(FULL)
    ring, at, count = global_memory(s), ack_at(p, s, ack_id), np.int64(0)
    ring[at + Ack.CUMULATIVE] = s[Tcp.RCV_NXT] - 1
    if TIMESTAMPS:
        s[Tcp.LAST_ACK_SENT] = s[Tcp.RCV_NXT] - 1
        ring[at + Ack.TIMESTAMP] = s[Tcp.TS_RECENT]
    if LOSS_MARKS:
        variant.mark(s, p, at, s[Tcp.RCV_NXT])
    if kind.sack_of(p):
        count = write_sack_blocks(
            s,
            Tcp.SACK_STACK,
            s[Tcp.RCV_BITMAP],
            mask,
            packet,
            s[Tcp.RCV_NXT],
            s[Tcp.RCV_HIGHEST],
            at + Ack.SACK_BLOCK,
        )
    ring[at + Ack.SACK_COUNT] = count
    s[Tcp.NEXT_ACK] = ack_id + 1
    return ack_id


def store_in_order_ack(p: Any, s: Any, ack_id: Any, packet: Any) -> None:
    """Write the ACK with this id, which acknowledges all packets up to `packet` and reports no others."""
    ring, at = global_memory(s), ack_at(p, s, ack_id)
    ring[at + Ack.CUMULATIVE] = packet
    ring[at + Ack.SACK_COUNT] = 0
    s[Tcp.SACK_STACK] = 0


def note_timestamp(s: Any, packet: Any, sent: Any) -> None:
    """Update TS.Recent before a packet sent at `sent` [ns] arrives (RFC 7323, section 4.3)."""
    if TIMESTAMPS and packet <= s[Tcp.LAST_ACK_SENT] + 1:
        s[Tcp.TS_RECENT] = max(s[Tcp.TS_RECENT], sent)


def note_transmission(p: Any, s: Any, packet: Any, transmission: Any) -> None:
    """Note the transmission id of the packet that is about to arrive (`sender.transmission_id`)."""
    if TIMESTAMPS:
        note_timestamp(s, packet, variant.sent_at(s, p, packet, transmission))


@noinline
def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """Process the arrival of a packet at time t [ns].

    If `more` packets arrive at the same time, an ACK that may be delayed is delayed.

    Returns the id of the ACK to send, NONE or FULL; and True if the packet had not arrived before.
    """
    duplicates = s[Tcp.DUPLICATES]
    expected, highest = arrive(
        s, Tcp.OUT_OF_ORDER, s[Tcp.RCV_BITMAP], p[RowP.RING] - 1, packet, s[Tcp.RCV_NXT], s[Tcp.RCV_HIGHEST]
    )
    s[Tcp.RCV_NXT] = expected
    s[Tcp.RCV_HIGHEST] = highest
    fresh = s[Tcp.DUPLICATES] == duplicates
    if p[ReliableP.ACK_EVERY] > 1:
        first_of_two = s[Tcp.DELACK_EXPIRY] == FOREVER
        if (first_of_two or more) and packet == expected - 1 and packet >= highest and packet > 0:
            if first_of_two:
                s[Tcp.DELACK_EXPIRY] = t + p[ReliableP.ACK_DELAY]
            s[Tcp.DELAYED_PACKET] = packet
            return np.int64(NONE), fresh
        s[Tcp.DELACK_EXPIRY] = FOREVER
    return acknowledge(p, s, packet), fresh


@noinline
def on_delay(p: Any, s: Any) -> Any:
    """Process the expiry of the delayed-ACK timer; return the id of the ACK to send."""
    s[Tcp.DELACK_EXPIRY] = FOREVER
    return acknowledge(p, s, s[Tcp.DELAYED_PACKET])


def cumulative_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the highest packet that an ACK acknowledges cumulatively."""
    return ack_id - 1 if ACKS_ARE_IMPLICIT else global_memory(s)[ack_at(p, s, ack_id) + Ack.CUMULATIVE]


def sack_blocks_of(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the number of SACK blocks of an ACK."""
    return np.int64(0) if ACKS_ARE_IMPLICIT else global_memory(s)[ack_at(p, s, ack_id) + Ack.SACK_COUNT]


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the size of an ACK [bytes]."""
    return p[ReliableP.ACK] + p[ReliableP.SACK_BLOCK] * sack_blocks_of(p, s, ack_id)


def delay_of(p: Any, s: Any, t: Any, packet: Any) -> Any:
    """Return the time since a packet was first sent [ns]."""
    return t - global_memory(s)[s[Tcp.SEND_TIMES] + (packet & (p[RowP.RING] - 1))]


def complete(p: Any, s: Any) -> Any:
    """Return True if the receiver has all data."""
    if TIMESTAMPS:  # data may come before the SYN
        return max(s[Tcp.RCV_NXT], kind.first_of(p)) + s[Tcp.OUT_OF_ORDER] > s[Tcp.LAST_PACKET]
    return s[Tcp.RCV_NXT] > s[Tcp.LAST_PACKET]


def in_order(p: Any, s: Any) -> Any:
    """Return the number of data packets received without a gap."""
    return max(s[Tcp.RCV_NXT] - kind.first_of(p), np.int64(0))


def corrupted(p: Any, s: Any, packet: Any) -> None:
    """Process a packet that reaches the receiver corrupted."""
    if LOSS_MARKS:
        variant.corrupted(s, p, packet, s[Tcp.RCV_NXT])
