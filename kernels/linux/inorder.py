"""Both ends of an association while nothing is missing, with what changes all the time in registers.

Of what the sender learns from every ACK, and nobody asks for before a stretch ends, only the last is kept:
see `kernels/path/undisturbed_linux.py`.
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
    return Rings(p[P.RING] - 1, s[Tcp.PACKETS], s[Tcp.ACKS])


def packet_in(rings: Any, packet: Any) -> Any:
    """As `packet_at`."""
    return numbered(rings.packets, rings.mask, PACKET_WORDS, packet)


def ack_in(rings: Any, ack_id: Any) -> Any:
    """As `ack_at`."""
    return numbered(rings.acks, rings.mask, ACK_WORDS, ack_id)


class Source(NamedTuple):
    """What of the sender changes with every ACK."""

    una: Any
    """UNA"""
    least: Any
    """Least round trip [us],"""
    known: Any
    """the estimate of it,"""
    timeout: Any
    """and RTO in other units [us]."""


def source_of(s: Any) -> Any:
    """The sender as it is."""
    known = rtt.estimate_of(s)
    return Source(s[Tcp.UNA], s[Tcp.LEAST_RTT], known, known.rto * s[Tcp.TICK_US])


def sent(s: Any, rings: Any, packet: Any) -> Any:
    """When a packet was put out [us]."""
    return s[packet_in(rings, packet) + Packet.SENT]


def take(
    p: Any, s: Any, rings: Any, source: Any, nxt: Any, now: Any, now_us: Any, waited: Any, ack: Any
) -> Any:
    """An ACK of packets sent once, the first of them `waited` [us] ago: all that the sender learns of it."""
    una, last = source.una, now_us - sent(s, rings, ack - 1)
    known = rtt.further(p, s, source.known, waited, ack, nxt)
    timeout = source.timeout
    if not rtt.holds(s, known, timeout):
        known = rtt.with_timeout(s, known)
        timeout = known.rto * s[Tcp.TICK_US]
    source = Source(ack, min(source.least, max(last, 1)), known, timeout)
    if s[Tcp.CWND] < s[Tcp.SSTHRESH]:  # what ends slow start may ask for it
        tell(s, source, nxt)
    control.measured(p, s, now, last)
    if acks.is_limited(s):
        acks.grow(p, s, now, ack - una)
    return source


def tell(s: Any, source: Any, nxt: Any) -> None:
    """What others ask of the sender, which has put out packets below `nxt`, where they look for it."""
    s[Tcp.UNA], s[Tcp.NXT] = source.una, nxt
    s[Tcp.SRTT], s[Tcp.RTO] = source.known.srtt, source.known.rto


def put_out(s: Any, rings: Any, packet: Any, now_us: Any, push: Any) -> None:
    """A new packet goes out."""
    at = packet_in(rings, packet)
    s[at + Packet.SENT] = now_us
    s[at + Packet.FLAGS] = Flag.PUSH if push else 0


def learn(p: Any, s: Any, now: Any, source: Any, una: Any, nxt: Any) -> None:
    """What ACKs from `una` on have told, the last at `now`."""
    tell(s, source, nxt)
    s[Tcp.DELIVERED] += source.una - una
    s[Tcp.HIGHEST] = source.una
    s[Tcp.LEAST_RTT] = source.least
    rtt.keep(s, source.known)
    if source.una > una:
        s[Tcp.RETRIES] = 0
        last = s[packet_at(p, s, source.una - 1) + Packet.SENT]
        rack.advance(s, source.una - 1, last, False, clocks.us_of(now), np.int64(NONE))


class Sink(NamedTuple):
    """What of the receiver changes with every packet."""

    nxt: Any
    """RCV_NXT, NONE while packets are held out of order,"""
    told: Any
    """RCV_WUP,"""
    echo: Any
    last: Any
    """LAST_RX,"""
    quick: Any
    next_ack: Any
    pending: Any


def sink_of(s: Any) -> Any:
    """The receiver as it is."""
    nxt = s[Tcp.RCV_NXT] if s[Tcp.OUT_OF_ORDER] == 0 else np.int64(NONE)
    return Sink(
        nxt, s[Tcp.RCV_WUP], s[Tcp.ECHO], s[Tcp.LAST_RX], s[Tcp.QUICK], s[Tcp.NEXT_ACK], s[Tcp.PENDING]
    )


def keep_sink(s: Any, sink: Any) -> None:
    """The receiver as it is now."""
    if sink.nxt != NONE:
        s[Tcp.RCV_NXT] = sink.nxt
        s[Tcp.RCV_HIGHEST] = max(s[Tcp.RCV_HIGHEST], sink.nxt - 1)
    s[Tcp.RCV_WUP], s[Tcp.ECHO], s[Tcp.LAST_RX] = sink.told, sink.echo, sink.last
    s[Tcp.QUICK], s[Tcp.NEXT_ACK], s[Tcp.PENDING] = sink.quick, sink.next_ack, sink.pending


def postpone(sink: Any, pending: Any) -> Any:
    """The next ACK goes out at `pending` [ns] at the latest."""
    return Sink(sink.nxt, sink.told, sink.echo, sink.last, sink.quick, sink.next_ack, pending)


def postponed(p: Any, s: Any, sink: Any, since: Any) -> Any:
    """The same where it is to be found for a packet that has come at `since` [ns], or for none."""
    return sink if since == NONE else postpone(sink, receiver.delayed(p, s, since))


def answers(p: Any, sink: Any, push: Any) -> Any:
    """Whether the receiver acknowledges the next packet in order at once."""
    return push or sink.quick > 0 or sink.nxt + 1 - sink.told >= p[P.ACK_EVERY]


def take_in(s: Any, rings: Any, sink: Any, t: Any, sent: Any, at_once: Any) -> Any:
    """The next packet in order, put out at `sent`, reaches the receiver at time t [ns].

    If it is not acknowledged `at_once`, when it is then is left to `postponed`.
    """
    nxt, told = sink.nxt + 1, sink.told
    echo = sent if sink.nxt == told else sink.echo  # older than this packet
    next_ack, quick, pending = sink.next_ack, sink.quick, sink.pending
    if at_once:
        receiver.write(s, ack_in(rings, next_ack), nxt, echo)
        next_ack, quick = next_ack + 1, max(quick - 1, 0)
        told, pending = nxt, np.int64(FOREVER)
    return Sink(nxt, told, echo, t, quick, next_ack, pending)


def take_pair(s: Any, rings: Any, sink: Any, t: Any, sent: Any) -> Any:
    """As `take_in`, for two packets of which the second, at time t [ns], is acknowledged at once."""
    nxt = sink.nxt + 2
    receiver.write(s, ack_in(rings, sink.next_ack), nxt, sent)
    return Sink(nxt, nxt, sent, t, sink.quick, sink.next_ack + 1, sink.pending)
