"""Both ends of an association while nothing is missing, with what changes all the time in registers.

Of what the sender learns from every ACK, and nobody asks for before a stretch ends, only the last is kept:
see `kernels/path/linux_fast_path.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import FOREVER, P
from netcarlo.kernels.base.ring import numbered
from netcarlo.kernels.linux import acks, clocks, rack, receiver, rtt
from netcarlo.kernels.linux.state import ACK_WORDS, NONE, PACKET_WORDS, Flag, Packet, Tcp, packet_at

control: Any = slot("control")


class Rings(NamedTuple):
    """Where the rings are, of as many places as a power of two."""

    mask: Any
    packets: Any
    acks: Any


def rings_of(p: Any, s: Any) -> Any:
    """They stay where they are."""
    return Rings(p[P.RING] - 1, s[Tcp.PACKETS], s[Tcp.ACK_RING])


def packet_in_ring(rings: Any, packet: Any) -> Any:
    """As `packet_at`."""
    return numbered(rings.packets, rings.mask, PACKET_WORDS, packet)


def ack_in_ring(rings: Any, ack_id: Any) -> Any:
    """As `ack_at`."""
    return numbered(rings.acks, rings.mask, ACK_WORDS, ack_id)


class SenderState(NamedTuple):
    """What of the sender changes with every ACK."""

    snd_una: Any
    """UNA"""
    min_rtt_us: Any
    """Least round trip [us],"""
    estimate: Any
    """the estimate of it,"""
    rto_us: Any
    """and RTO in other units [us]."""


def load_sender(s: Any) -> Any:
    """The sender as it is."""
    known = rtt.load_estimate(s)
    return SenderState(s[Tcp.SND_UNA], s[Tcp.MIN_RTT_US], known, known.rto * s[Tcp.JIFFY_US])


def send_time(s: Any, rings: Any, packet: Any) -> Any:
    """When a packet was put out [us]."""
    return s[packet_in_ring(rings, packet) + Packet.SENT]


def process_ack(
    p: Any, s: Any, rings: Any, source: Any, nxt: Any, now: Any, now_us: Any, waited: Any, ack: Any
) -> Any:
    """An ACK of packets sent once, the first of them `waited` [us] ago: all that the sender learns of it."""
    una, last = source.snd_una, now_us - send_time(s, rings, ack - 1)
    known = rtt.update(p, s, source.estimate, waited, ack, nxt)
    timeout = source.rto_us
    if not rtt.is_rto_unchanged(s, known, timeout):
        known = rtt.with_rto(s, known)
        timeout = known.rto * s[Tcp.JIFFY_US]
    source = SenderState(ack, min(source.min_rtt_us, max(last, 1)), known, timeout)
    if s[Tcp.CWND] < s[Tcp.SSTHRESH]:  # what ends slow start may ask for it
        store_for_control(s, source, nxt)
    control.pkts_acked(p, s, now, last)
    if acks.is_cwnd_limited(s):
        acks.cong_avoid(p, s, now, ack - una)
    return source


def store_for_control(s: Any, source: Any, nxt: Any) -> None:
    """What others ask of the sender, which has put out packets below `nxt`, where they look for it."""
    s[Tcp.SND_UNA], s[Tcp.SND_NXT] = source.snd_una, nxt
    s[Tcp.SRTT_US], s[Tcp.RTO] = source.estimate.srtt_us, source.estimate.rto


def send(s: Any, rings: Any, packet: Any, now_us: Any, push: Any) -> None:
    """A new packet goes out."""
    at = packet_in_ring(rings, packet)
    s[at + Packet.SENT] = now_us
    s[at + Packet.FLAGS] = Flag.PSH if push else 0


def store_sender(p: Any, s: Any, now: Any, source: Any, una: Any, nxt: Any) -> None:
    """What ACKs from `una` on have told, the last at `now`."""
    store_for_control(s, source, nxt)
    s[Tcp.DELIVERED] += source.snd_una - una
    s[Tcp.HIGHEST_SACK] = source.snd_una
    s[Tcp.MIN_RTT_US] = source.min_rtt_us
    rtt.store_estimate(s, source.estimate)
    if source.snd_una > una:
        s[Tcp.RETRANSMITS] = 0
        last = s[packet_at(p, s, source.snd_una - 1) + Packet.SENT]
        rack.advance(s, source.snd_una - 1, last, False, clocks.us_of(now), np.int64(NONE))


class ReceiverState(NamedTuple):
    """What of the receiver changes with every packet."""

    rcv_nxt: Any
    """RCV_NXT, NONE while packets are held out of order,"""
    rcv_wup: Any
    """RCV_WUP,"""
    ts_recent: Any
    lrcvtime: Any
    """LAST_RX,"""
    quick_acks: Any
    next_ack_id: Any
    ack_deadline: Any


def load_receiver(s: Any) -> Any:
    """The receiver as it is."""
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


def store_receiver(s: Any, sink: Any) -> None:
    """The receiver as it is now."""
    if sink.rcv_nxt != NONE:
        s[Tcp.RCV_NXT] = sink.rcv_nxt
        s[Tcp.RCV_HIGHEST] = max(s[Tcp.RCV_HIGHEST], sink.rcv_nxt - 1)
    s[Tcp.RCV_WUP], s[Tcp.TS_RECENT], s[Tcp.LRCVTIME] = sink.rcv_wup, sink.ts_recent, sink.lrcvtime
    s[Tcp.QUICK_ACKS], s[Tcp.NEXT_ACK_ID], s[Tcp.ACK_DEADLINE] = (
        sink.quick_acks,
        sink.next_ack_id,
        sink.ack_deadline,
    )


def delay_ack(sink: Any, pending: Any) -> Any:
    """The next ACK goes out at `pending` [ns] at the latest."""
    return ReceiverState(
        sink.rcv_nxt, sink.rcv_wup, sink.ts_recent, sink.lrcvtime, sink.quick_acks, sink.next_ack_id, pending
    )


def with_delayed_ack(p: Any, s: Any, sink: Any, since: Any) -> Any:
    """The same where it is to be found for a packet that has come at `since` [ns], or for none."""
    return sink if since == NONE else delay_ack(sink, receiver.delayed_ack_deadline(p, s, since))


def acks_at_once(p: Any, sink: Any, push: Any) -> Any:
    """Whether the receiver acknowledges the next packet in order at once."""
    return push or sink.quick_acks > 0 or sink.rcv_nxt + 1 - sink.rcv_wup >= p[P.ACK_EVERY]


def receive(s: Any, rings: Any, sink: Any, t: Any, sent: Any, at_once: Any) -> Any:
    """The next packet in order, put out at `sent`, reaches the receiver at time t [ns].

    If it is not acknowledged `at_once`, when it is then is left to `postponed`.
    """
    nxt, told = sink.rcv_nxt + 1, sink.rcv_wup
    echo = sent if sink.rcv_nxt == told else sink.ts_recent  # older than this packet
    next_ack, quick, pending = sink.next_ack_id, sink.quick_acks, sink.ack_deadline
    if at_once:
        receiver.write_ack(s, ack_in_ring(rings, next_ack), nxt, echo)
        next_ack, quick = next_ack + 1, max(quick - 1, 0)
        told, pending = nxt, np.int64(FOREVER)
    return ReceiverState(nxt, told, echo, t, quick, next_ack, pending)


def receive_pair(s: Any, rings: Any, sink: Any, t: Any, sent: Any) -> Any:
    """As `take_in`, for two packets of which the second, at time t [ns], is acknowledged at once."""
    nxt = sink.rcv_nxt + 2
    receiver.write_ack(s, ack_in_ring(rings, sink.next_ack_id), nxt, sent)
    return ReceiverState(nxt, nxt, sent, t, sink.quick_acks, sink.next_ack_id + 1, sink.ack_deadline)
