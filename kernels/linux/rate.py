"""Samples of the delivery rate: how many packets arrived while one was on its way, and how long that took.

Source: draft-cheng-iccrg-delivery-rate-estimation-00, in microseconds.  Every packet that is put out notes
what had been delivered, and when; of the packets that an ACK tells of, the one put out last makes the
sample.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux.rack import sent_after
from netcarlo.kernels.linux.state import CONTROL, NONE, RECORD_WORDS, Tcp, in_flight


class Rate(IntEnum):
    """Own words, the first of those of the control."""

    DELIVERED_MSTAMP = CONTROL
    """When packets were delivered last [us] (C.delivered_time)."""
    FIRST_TX_MSTAMP = auto()
    """When the latest packet was put out that was delivered [us] (C.first_sent_time)."""
    APP_LIMITED = auto()
    """Until more packets than these are delivered the application limits the rate; 0: it does not."""
    # The sample of an ACK.
    PRIOR_DELIVERED = auto()
    """Packets delivered when the sample's packet was put out,"""
    PRIOR_MSTAMP = auto()
    """and when they were [us], NONE: there is no packet."""
    IS_APP_LIMITED = auto()
    """1: the application limited it."""
    LAST_PACKET = auto()
    """The sample's packet,"""
    SEND_ELAPSED = auto()
    """and in which time it and those before were put out [us]."""
    DELIVERED = auto()
    """Packets delivered since, NONE: there is no packet,"""
    INTERVAL_US = auto()
    """and in which time [us], NONE: there is no sample."""
    PRIOR_IN_FLIGHT = auto()
    """Packets in flight before the ACK."""


FREE = int(Rate.PRIOR_IN_FLIGHT) + 1
"""First word that is left to others."""


class Record(IntEnum):
    """Words of a packet that is out."""

    DELIVERED = 0
    """Packets delivered when it was put out, doubled; and 1 if the application limited."""
    DELIVERED_MSTAMP = 1
    FIRST_TX_MSTAMP = 2
    LOST_AND_IN_FLIGHT = 3
    """Packets found lost until then, shifted by `FLIGHT_BITS`, and packets in flight, itself included."""


FLIGHT_BITS = 20


def record_at(p: Any, s: Any, packet: Any) -> Any:
    """Where the words of a packet begin."""
    return s[Tcp.RATE_RECORDS] + RECORD_WORDS * (packet & (p[P.RING] - 1))


def prepare(s: Any) -> None:
    """At the start: the SYN counts as delivered, and the application has not written yet."""
    s[Tcp.DELIVERED] = 1
    s[Rate.APP_LIMITED] = 1


def on_packet_sent(p: Any, s: Any, packet: Any, now_us: Any) -> None:
    """A packet is about to be put out, for the first time or again."""
    if s[Tcp.SND_NXT] == s[Tcp.SND_UNA]:
        s[Rate.FIRST_TX_MSTAMP] = now_us
        s[Rate.DELIVERED_MSTAMP] = now_us
    at = record_at(p, s, packet)
    s[at + Record.DELIVERED] = 2 * s[Tcp.DELIVERED] + (s[Rate.APP_LIMITED] != 0)
    s[at + Record.DELIVERED_MSTAMP] = s[Rate.DELIVERED_MSTAMP]
    s[at + Record.FIRST_TX_MSTAMP] = s[Rate.FIRST_TX_MSTAMP]
    s[at + Record.LOST_AND_IN_FLIGHT] = (s[Tcp.LOST_TOTAL] << FLIGHT_BITS) + in_flight(s) + 1


def tx_in_flight_and_lost(p: Any, s: Any, packet: Any) -> Any:
    """Packets in flight when a packet was put out, itself included, and those found lost since."""
    word = s[record_at(p, s, packet) + Record.LOST_AND_IN_FLIGHT]
    return word & ((1 << FLIGHT_BITS) - 1), s[Tcp.LOST_TOTAL] - (word >> FLIGHT_BITS)


def was_app_limited(p: Any, s: Any, packet: Any) -> Any:
    """Whether the application limited the rate when a packet was put out."""
    return s[record_at(p, s, packet) + Record.DELIVERED] & 1 != 0


def begin_sample(s: Any) -> None:
    """An ACK has come."""
    s[Rate.PRIOR_MSTAMP] = NONE
    s[Rate.PRIOR_IN_FLIGHT] = in_flight(s)


def on_packet_delivered(p: Any, s: Any, packet: Any, sent: Any) -> None:
    """It tells of a packet put out last at `sent` [us]."""
    if s[Rate.PRIOR_MSTAMP] == NONE or sent_after(sent, packet, s[Rate.FIRST_TX_MSTAMP], s[Rate.LAST_PACKET]):
        at = record_at(p, s, packet)
        s[Rate.PRIOR_DELIVERED] = s[at + Record.DELIVERED] >> 1
        s[Rate.PRIOR_MSTAMP] = s[at + Record.DELIVERED_MSTAMP]
        s[Rate.IS_APP_LIMITED] = s[at + Record.DELIVERED] & 1
        s[Rate.LAST_PACKET] = packet
        s[Rate.SEND_ELAPSED] = sent - s[at + Record.FIRST_TX_MSTAMP]
        s[Rate.FIRST_TX_MSTAMP] = sent


def generate_sample(s: Any, now_us: Any, delivered: Any) -> None:
    """Make the sample of the ACK, which told of so many packets.

    One that took less than any round trip is none: it would be of packets that were sent again.
    """
    if s[Rate.APP_LIMITED] != 0 and s[Tcp.DELIVERED] > s[Rate.APP_LIMITED]:
        s[Rate.APP_LIMITED] = 0
    if delivered > 0:
        s[Rate.DELIVERED_MSTAMP] = now_us
    s[Rate.DELIVERED] = s[Rate.INTERVAL_US] = NONE
    if s[Rate.PRIOR_MSTAMP] == NONE:
        return
    s[Rate.DELIVERED] = s[Tcp.DELIVERED] - s[Rate.PRIOR_DELIVERED]
    interval = max(s[Rate.SEND_ELAPSED], now_us - s[Rate.PRIOR_MSTAMP])
    if interval >= s[Tcp.MIN_RTT_US] and interval > 0:
        s[Rate.INTERVAL_US] = interval


def mark_app_limited(s: Any) -> None:
    """What is in flight now says nothing of what the path can carry."""
    s[Rate.APP_LIMITED] = max(s[Tcp.DELIVERED] + in_flight(s), np.int64(1))
