"""Both ends of an association while nothing is missing, with what changes all the time in registers.

Of what the sender learns from every ACK, and nobody asks for before a stretch ends, only the last is kept:
see `kernels/path/undisturbed_linux.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import FOREVER, P
from netcarlo.kernels.linux import acks, clocks, rack, receiver, rtt
from netcarlo.kernels.linux.state import NONE, Packet, Tcp, packet_at

control: Any = slot("control")


class Source(NamedTuple):
    """What of the sender changes with every ACK."""

    una: Any
    """UNA"""
    least: Any
    """Least round trip [us],"""
    known: Any
    """and the estimate of it."""


def take(p: Any, s: Any, source: Any, now: Any, ack: Any) -> Any:
    """An ACK of packets that were sent once, and all that the sender learns of it."""
    una, now_us = source.una, clocks.us_of(now)
    first, last = s[packet_at(p, s, una) + Packet.SENT], s[packet_at(p, s, ack - 1) + Packet.SENT]
    s[Tcp.UNA] = ack
    known = rtt.smoothed(p, s, source.known, now_us - first, ack, s[Tcp.NXT])
    s[Tcp.SRTT], s[Tcp.RTO] = known.srtt, known.rto
    control.measured(p, s, now, now_us - last)
    if acks.is_limited(s):
        acks.grow(p, s, now, ack - una)
    return Source(ack, min(source.least, max(now_us - last, 1)), known)


def learn(p: Any, s: Any, now: Any, source: Any, una: Any) -> None:
    """What ACKs from `una` on have told, the last at `now`."""
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
    nxt = s[Tcp.RCV_NXT] if s[Tcp.HELD] == 0 else np.int64(NONE)
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


def take_in(p: Any, s: Any, sink: Any, t: Any, sent: Any, push: Any) -> Any:
    """The next packet in order, put out at `sent`, reaches the receiver at time t [ns].

    Returns the receiver and whether it acknowledges at once; if not, when an ACK goes out is left to
    `postponed`.
    """
    nxt, told = sink.nxt + 1, sink.told
    echo = max(sink.echo, sent) if sink.nxt == told else sink.echo
    answers = push or sink.quick > 0 or nxt - told >= p[P.ACK_EVERY]
    next_ack, quick, pending = sink.next_ack, sink.quick, sink.pending
    if answers:
        receiver.write(p, s, next_ack, nxt, echo)
        next_ack, quick = next_ack + 1, max(quick - 1, 0)
        told, pending = nxt, np.int64(FOREVER)
    return Sink(nxt, told, echo, t, quick, next_ack, pending), answers
