"""Delivery rate samples: packets delivered while a packet was in flight, and the time that took.

Source: draft-cheng-iccrg-delivery-rate-estimation-00; tcp_rate.c, in microseconds. Every packet records the
packets delivered when it was sent. Of the packets that an ACK newly delivers, the one sent last yields the
sample.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux.rack import sent_after
from netcarlo.kernels.linux.state import CONTROL, NONE, RECORD_WORDS, Tcp, in_flight


class Rate(IntEnum):
    """State words of delivery rate samples, the first of those of a congestion control."""

    DELIVERED_MSTAMP = CONTROL
    """Time at which packets were last delivered [us] (C.delivered_time)."""
    FIRST_TX_MSTAMP = auto()
    """Sending time of the most recently sent of the delivered packets [us] (C.first_sent_time)."""
    APP_LIMITED = auto()
    """Value of DELIVERED up to which samples are limited by the application; 0 if they are not
    (C.app_limited)."""
    # The sample of an ACK.
    PRIOR_DELIVERED = auto()
    """Packets delivered when the packet of the sample was sent (rs.prior_delivered)."""
    PRIOR_MSTAMP = auto()
    """Time of the latest delivery when the packet of the sample was sent [us]; NONE if there is no such
    packet."""
    IS_APP_LIMITED = auto()
    """1 if the sample is limited by the application (rs.is_app_limited)."""
    LAST_PACKET = auto()
    """Packet of the sample."""
    SEND_ELAPSED = auto()
    """Time in which the packets of the sample were sent [us] (rs.send_elapsed)."""
    DELIVERED = auto()
    """Packets delivered in the sample; NONE if there is no sample packet (rs.delivered)."""
    INTERVAL_US = auto()
    """Length of the sample [us]; NONE if there is no sample (rs.interval)."""
    PRIOR_IN_FLIGHT = auto()
    """Packets in flight before the ACK (rs.prior_in_flight)."""


FREE = int(Rate.PRIOR_IN_FLIGHT) + 1
"""First word after those of delivery rate samples."""


class Record(IntEnum):
    """Words recorded for an outstanding packet when it is sent."""

    DELIVERED = 0
    """Packets delivered, doubled, plus 1 if the application limited the rate (P.delivered,
    P.is_app_limited)."""
    DELIVERED_MSTAMP = 1
    """Time of the latest delivery [us] (P.delivered_time)."""
    FIRST_TX_MSTAMP = 2
    """Sending time of the most recently sent of the delivered packets [us] (P.first_sent_time)."""
    LOST_AND_IN_FLIGHT = 3
    """Packets found lost so far, shifted by `FLIGHT_BITS`, and packets in flight including this one."""


FLIGHT_BITS = 20
"""Bits of the number of packets in flight in a record."""


def record_at(p: Any, s: Any, packet: Any) -> Any:
    """Return the word at which the record of a packet begins."""
    return s[Tcp.RATE_RECORDS] + RECORD_WORDS * (packet & (p[RowP.RING] - 1))


def prepare(s: Any) -> None:
    """Prepare the state: the SYN counts as delivered, and the application has not written yet."""
    s[Tcp.DELIVERED] = 1
    s[Rate.APP_LIMITED] = 1


def on_packet_sent(p: Any, s: Any, packet: Any, now_us: Any) -> None:
    """Record the state for a packet that is about to be sent or retransmitted (`tcp_rate_skb_sent`)."""
    if s[Tcp.SND_NXT] == s[Tcp.SND_UNA]:
        s[Rate.FIRST_TX_MSTAMP] = now_us
        s[Rate.DELIVERED_MSTAMP] = now_us
    at = record_at(p, s, packet)
    s[at + Record.DELIVERED] = 2 * s[Tcp.DELIVERED] + (s[Rate.APP_LIMITED] != 0)
    s[at + Record.DELIVERED_MSTAMP] = s[Rate.DELIVERED_MSTAMP]
    s[at + Record.FIRST_TX_MSTAMP] = s[Rate.FIRST_TX_MSTAMP]
    s[at + Record.LOST_AND_IN_FLIGHT] = (s[Tcp.LOST_TOTAL] << FLIGHT_BITS) + in_flight(s) + 1


def tx_in_flight_and_lost(p: Any, s: Any, packet: Any) -> Any:
    """Return the packets in flight when a packet was sent, including itself, and the packets found lost
    since."""
    word = s[record_at(p, s, packet) + Record.LOST_AND_IN_FLIGHT]
    return word & ((1 << FLIGHT_BITS) - 1), s[Tcp.LOST_TOTAL] - (word >> FLIGHT_BITS)


def was_app_limited(p: Any, s: Any, packet: Any) -> Any:
    """Return True if the application limited the rate when a packet was sent."""
    return s[record_at(p, s, packet) + Record.DELIVERED] & 1 != 0


def begin_sample(s: Any) -> None:
    """Begin the sample of an ACK."""
    s[Rate.PRIOR_MSTAMP] = NONE
    s[Rate.PRIOR_IN_FLIGHT] = in_flight(s)


def on_packet_delivered(p: Any, s: Any, packet: Any, sent: Any) -> None:
    """Update the sample with a newly delivered packet, last sent at `sent` [us]
    (`tcp_rate_skb_delivered`)."""
    if s[Rate.PRIOR_MSTAMP] == NONE or sent_after(sent, packet, s[Rate.FIRST_TX_MSTAMP], s[Rate.LAST_PACKET]):
        at = record_at(p, s, packet)
        s[Rate.PRIOR_DELIVERED] = s[at + Record.DELIVERED] >> 1
        s[Rate.PRIOR_MSTAMP] = s[at + Record.DELIVERED_MSTAMP]
        s[Rate.IS_APP_LIMITED] = s[at + Record.DELIVERED] & 1
        s[Rate.LAST_PACKET] = packet
        s[Rate.SEND_ELAPSED] = sent - s[at + Record.FIRST_TX_MSTAMP]
        s[Rate.FIRST_TX_MSTAMP] = sent


def generate_sample(s: Any, now_us: Any, delivered: Any) -> None:
    """Complete the sample of an ACK that delivered so many packets (`tcp_rate_gen`).

    An interval shorter than the minimum RTT yields no sample, because it stems from retransmitted
    packets.
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
    """Mark the packets in flight as limited by the application."""
    s[Rate.APP_LIMITED] = max(s[Tcp.DELIVERED] + in_flight(s), np.int64(1))
