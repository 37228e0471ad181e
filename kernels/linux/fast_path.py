"""Sender and receiver of an association while no packet is missing, with their changing state in registers.

State that each ACK updates, and that is read only when the fast path ends, is written once at its end: see
`kernels/path/linux_fast_path.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.base.ring import numbered
from netcarlo.kernels.linux import acks, clocks, rack, receiver, rtt
from netcarlo.kernels.linux.state import ACK_WORDS, NONE, PACKET_WORDS, Flag, Packet, Tcp, packet_at

control: Any = slot("control")


class Rings(NamedTuple):
    """Positions of the rings in scratch; the number of places is a power of two."""

    mask: Any
    """Places of a ring, minus 1."""
    packets: Any
    """First word of the ring of packets."""
    acks: Any
    """First word of the ring of ACKs."""


def rings_of(p: Any, s: Any) -> Any:
    """Return the positions of the rings, which do not change."""
    return Rings(p[RowP.RING] - 1, s[Tcp.PACKETS], s[Tcp.ACK_RING])


def packet_in_ring(rings: Any, packet: Any) -> Any:
    """Return the word at which a packet begins, as `packet_at` does."""
    return numbered(rings.packets, rings.mask, PACKET_WORDS, packet)


def ack_in_ring(rings: Any, ack_id: Any) -> Any:
    """Return the word at which an acknowledgement begins, as `ack_at` does."""
    return numbered(rings.acks, rings.mask, ACK_WORDS, ack_id)


class SenderState(NamedTuple):
    """State of the sender that every ACK changes."""

    snd_una: Any
    """First packet that is not acknowledged."""
    min_rtt_us: Any
    """Minimum RTT [us]."""
    estimate: Any
    """RTT estimate (`rtt.Estimate`)."""
    rto_us: Any
    """Retransmission timeout [us]."""


def load_sender(s: Any) -> Any:
    """Return the state of the sender, read from scratch."""
    estimate = rtt.load_estimate(s)
    return SenderState(s[Tcp.SND_UNA], s[Tcp.MIN_RTT_US], estimate, estimate.rto * s[Tcp.JIFFY_US])


def send_time(s: Any, rings: Any, packet: Any) -> Any:
    """Return the time at which a packet was sent [us]."""
    return s[packet_in_ring(rings, packet) + Packet.SENT]


def process_ack(
    p: Any, s: Any, rings: Any, snd: Any, nxt: Any, now: Any, now_us: Any, waited: Any, ack: Any
) -> Any:
    """Process an ACK of packets that were sent once, the first of them `waited` [us] ago, and return the
    new state."""
    una, last = snd.snd_una, now_us - send_time(s, rings, ack - 1)
    estimate = rtt.update(p, s, snd.estimate, waited, ack, nxt)
    timeout = snd.rto_us
    if not rtt.is_rto_unchanged(s, estimate, timeout):
        estimate = rtt.with_rto(s, estimate)
        timeout = estimate.rto * s[Tcp.JIFFY_US]
    snd = SenderState(ack, min(snd.min_rtt_us, max(last, 1)), estimate, timeout)
    if s[Tcp.CWND] < s[Tcp.SSTHRESH]:  # HyStart may read it
        store_for_control(s, snd, nxt)
    control.pkts_acked(p, s, now, last)
    if acks.is_cwnd_limited(s):
        acks.cong_avoid(p, s, now, ack - una)
    return snd


def store_for_control(s: Any, snd: Any, nxt: Any) -> None:
    """Write the state that congestion control and bursts read; packets below `nxt` have been sent."""
    s[Tcp.SND_UNA], s[Tcp.SND_NXT] = snd.snd_una, nxt
    s[Tcp.SRTT_US], s[Tcp.RTO] = snd.estimate.srtt_us, snd.estimate.rto


def send(s: Any, rings: Any, packet: Any, now_us: Any, push: Any) -> None:
    """Note a new packet that is sent."""
    at = packet_in_ring(rings, packet)
    s[at + Packet.SENT] = now_us
    s[at + Packet.FLAGS] = Flag.PSH if push else 0


def store_sender(p: Any, s: Any, now: Any, snd: Any, una: Any, nxt: Any) -> None:
    """Write the state of the sender at the end of the fast path, after ACKs from `una` on, the last at
    `now`."""
    store_for_control(s, snd, nxt)
    s[Tcp.DELIVERED] += snd.snd_una - una
    s[Tcp.HIGHEST_SACK] = snd.snd_una
    s[Tcp.MIN_RTT_US] = snd.min_rtt_us
    rtt.store_estimate(s, snd.estimate)
    if snd.snd_una > una:
        s[Tcp.RETRANSMITS] = 0
        last = s[packet_at(p, s, snd.snd_una - 1) + Packet.SENT]
        rack.advance(s, snd.snd_una - 1, last, False, clocks.us_of(now), np.int64(NONE))


class ReceiverState(NamedTuple):
    """State of the receiver that every packet changes."""

    rcv_nxt: Any
    """Next packet expected in order, or NONE while packets are held out of order."""
    rcv_wup: Any
    """Value of RCV_NXT at the latest ACK."""
    ts_recent: Any
    """Timestamp that ACKs echo [ns]."""
    lrcvtime: Any
    """Time at which data last arrived [ns]."""
    quick_acks: Any
    """Remaining ACKs that are sent without delay."""
    next_ack_id: Any
    """Id of the next ACK."""
    ack_deadline: Any
    """Time at which a delayed ACK is sent [ns], or FOREVER."""


def load_receiver(s: Any) -> Any:
    """Return the state of the receiver, read from scratch."""
    nxt = s[Tcp.RCV_NXT] if s[Tcp.OUT_OF_ORDER] == 0 else np.int64(NONE)
    return ReceiverState(
        nxt,
        s[Tcp.RCV_WUP],
        s[Tcp.TS_RECENT],
        s[Tcp.LRCVTIME],
        s[Tcp.QUICK_ACKS],
        s[Tcp.NEXT_ACK_ID],
        s[Tcp.ACK_DEADLINE],
    )


def store_receiver(s: Any, rcv: Any) -> None:
    """Write the state of the receiver at the end of the fast path."""
    if rcv.rcv_nxt != NONE:
        s[Tcp.RCV_NXT] = rcv.rcv_nxt
        s[Tcp.RCV_HIGHEST] = max(s[Tcp.RCV_HIGHEST], rcv.rcv_nxt - 1)
    s[Tcp.RCV_WUP], s[Tcp.TS_RECENT], s[Tcp.LRCVTIME] = rcv.rcv_wup, rcv.ts_recent, rcv.lrcvtime
    s[Tcp.QUICK_ACKS], s[Tcp.NEXT_ACK_ID], s[Tcp.ACK_DEADLINE] = (
        rcv.quick_acks,
        rcv.next_ack_id,
        rcv.ack_deadline,
    )


def delay_ack(rcv: Any, pending: Any) -> Any:
    """Return the state with a delayed ACK that is sent at `pending` [ns] at the latest."""
    return ReceiverState(
        rcv.rcv_nxt, rcv.rcv_wup, rcv.ts_recent, rcv.lrcvtime, rcv.quick_acks, rcv.next_ack_id, pending
    )


def with_delayed_ack(p: Any, s: Any, rcv: Any, since: Any) -> Any:
    """Return the state with a delayed ACK for a packet that arrived at `since` [ns], unless that is NONE."""
    return rcv if since == NONE else delay_ack(rcv, receiver.delayed_ack_deadline(p, s, since))


def acks_at_once(p: Any, rcv: Any, push: Any) -> Any:
    """Return True if the receiver acknowledges the next packet in order without delay."""
    return push or rcv.quick_acks > 0 or rcv.rcv_nxt + 1 - rcv.rcv_wup >= p[ReliableP.ACK_EVERY]


def receive(s: Any, rings: Any, rcv: Any, t: Any, sent: Any, at_once: Any) -> Any:
    """Return the state after the next packet in order, sent at `sent`, arrives at time t [ns].

    If it is not acknowledged `at_once`, `with_delayed_ack` sets the time of its ACK.
    """
    nxt, rcv_wup = rcv.rcv_nxt + 1, rcv.rcv_wup
    echo = sent if rcv.rcv_nxt == rcv_wup else rcv.ts_recent  # timestamp of the first unacknowledged packet
    next_ack, quick, pending = rcv.next_ack_id, rcv.quick_acks, rcv.ack_deadline
    if at_once:
        receiver.write_ack(s, ack_in_ring(rings, next_ack), nxt, echo)
        next_ack, quick = next_ack + 1, max(quick - 1, 0)
        rcv_wup, pending = nxt, np.int64(FOREVER)
    return ReceiverState(nxt, rcv_wup, echo, t, quick, next_ack, pending)


def receive_pair(s: Any, rings: Any, rcv: Any, t: Any, sent: Any) -> Any:
    """Return the state after two packets, of which the second, at time t [ns], is acknowledged without
    delay."""
    nxt = rcv.rcv_nxt + 2
    receiver.write_ack(s, ack_in_ring(rings, rcv.next_ack_id), nxt, sent)
    return ReceiverState(nxt, nxt, sent, t, rcv.quick_acks, rcv.next_ack_id + 1, rcv.ack_deadline)
