"""Samples of the delivery rate: how many packets arrived while one was on its way, and how long that took.

Source: draft-cheng-iccrg-delivery-rate-estimation-00, in microseconds.  Every packet that is put out notes
what had been delivered, and when; of the packets that an ACK tells of, the one put out last makes the
sample.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux.rack import is_after
from netcarlo.kernels.linux.state import CONTROL, NONE, RECORD_WORDS, Tcp, in_flight


class Rate(IntEnum):
    """Own words, the first of those of the control."""

    DELIVERED_AT = CONTROL
    """When packets were delivered last [us] (C.delivered_time)."""
    FIRST_SENT = auto()
    """When the latest packet was put out that was delivered [us] (C.first_sent_time)."""
    LIMITED = auto()
    """Until more packets than these are delivered the application limits the rate; 0: it does not."""
    # The sample of an ACK.
    PRIOR = auto()
    """Packets delivered when the sample's packet was put out,"""
    PRIOR_AT = auto()
    """and when they were [us], NONE: there is no packet."""
    IS_LIMITED = auto()
    """1: the application limited it."""
    PACKET = auto()
    """The sample's packet,"""
    SEND_PHASE = auto()
    """and in which time it and those before were put out [us]."""
    COUNT = auto()
    """Packets delivered since, NONE: there is no packet,"""
    INTERVAL = auto()
    """and in which time [us], NONE: there is no sample."""
    FLIGHT = auto()
    """Packets in flight before the ACK."""


FREE = int(Rate.FLIGHT) + 1
"""First word that is left to others."""


class Record(IntEnum):
    """Words of a packet that is out."""

    DELIVERED = 0
    """Packets delivered when it was put out, doubled; and 1 if the application limited."""
    DELIVERED_AT = 1
    FIRST_SENT = 2
    AROUND = 3
    """Packets found lost until then, shifted by `FLIGHT_BITS`, and packets in flight, itself included."""


FLIGHT_BITS = 20


def record_at(p: Any, s: Any, packet: Any) -> Any:
    """Where the words of a packet begin."""
    return s[Tcp.RECORDS] + RECORD_WORDS * (packet & (p[P.RING] - 1))


def prepare(s: Any) -> None:
    """At the start: the SYN counts as delivered, and the application has not written yet."""
    s[Tcp.DELIVERED] = 1
    s[Rate.LIMITED] = 1


def note_sent(p: Any, s: Any, packet: Any, now_us: Any) -> None:
    """A packet is about to be put out, for the first time or again."""
    if s[Tcp.NXT] == s[Tcp.UNA]:
        s[Rate.FIRST_SENT] = now_us
        s[Rate.DELIVERED_AT] = now_us
    at = record_at(p, s, packet)
    s[at + Record.DELIVERED] = 2 * s[Tcp.DELIVERED] + (s[Rate.LIMITED] != 0)
    s[at + Record.DELIVERED_AT] = s[Rate.DELIVERED_AT]
    s[at + Record.FIRST_SENT] = s[Rate.FIRST_SENT]
    s[at + Record.AROUND] = (s[Tcp.LOSSES] << FLIGHT_BITS) + in_flight(s) + 1


def around(p: Any, s: Any, packet: Any) -> Any:
    """Packets in flight when a packet was put out, itself included, and those found lost since."""
    word = s[record_at(p, s, packet) + Record.AROUND]
    return word & ((1 << FLIGHT_BITS) - 1), s[Tcp.LOSSES] - (word >> FLIGHT_BITS)


def was_limited(p: Any, s: Any, packet: Any) -> Any:
    """Whether the application limited the rate when a packet was put out."""
    return s[record_at(p, s, packet) + Record.DELIVERED] & 1 != 0


def begin(s: Any) -> None:
    """An ACK has come."""
    s[Rate.PRIOR_AT] = NONE
    s[Rate.FLIGHT] = in_flight(s)


def note_arrived(p: Any, s: Any, packet: Any, sent: Any) -> None:
    """It tells of a packet put out last at `sent` [us]."""
    if s[Rate.PRIOR_AT] == NONE or is_after(sent, packet, s[Rate.FIRST_SENT], s[Rate.PACKET]):
        at = record_at(p, s, packet)
        s[Rate.PRIOR] = s[at + Record.DELIVERED] >> 1
        s[Rate.PRIOR_AT] = s[at + Record.DELIVERED_AT]
        s[Rate.IS_LIMITED] = s[at + Record.DELIVERED] & 1
        s[Rate.PACKET] = packet
        s[Rate.SEND_PHASE] = sent - s[at + Record.FIRST_SENT]
        s[Rate.FIRST_SENT] = sent


def finish(s: Any, now_us: Any, delivered: Any) -> None:
    """Make the sample of the ACK, which told of so many packets.

    One that took less than any round trip is none: it would be of packets that were sent again.
    """
    if s[Rate.LIMITED] != 0 and s[Tcp.DELIVERED] > s[Rate.LIMITED]:
        s[Rate.LIMITED] = 0
    if delivered > 0:
        s[Rate.DELIVERED_AT] = now_us
    s[Rate.COUNT] = s[Rate.INTERVAL] = NONE
    if s[Rate.PRIOR_AT] == NONE:
        return
    s[Rate.COUNT] = s[Tcp.DELIVERED] - s[Rate.PRIOR]
    interval = max(s[Rate.SEND_PHASE], now_us - s[Rate.PRIOR_AT])
    if interval >= s[Tcp.LEAST_RTT] and interval > 0:
        s[Rate.INTERVAL] = interval


def limit(s: Any) -> None:
    """What is in flight now says nothing of what the path can carry."""
    s[Rate.LIMITED] = max(s[Tcp.DELIVERED] + in_flight(s), np.int64(1))
