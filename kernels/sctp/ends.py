"""Processing of packets and timers at the two endpoints of an SCTP association."""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import PATHS
from netcarlo.kernels.base.parameters import Rfc9260P, SctpP
from netcarlo.kernels.sctp import handshake, paths, receiver, sack, sender
from netcarlo.kernels.sctp.state import (
    COOKIE_BYTES,
    HEARTBEAT_BYTES,
    INIT_BYTES,
    OFF,
    RECEIVER,
    SENDER,
    WAYS,
    End,
    Event,
    Kind,
    Packet,
    State,
    Word,
    end_at,
)


@noinline
def expire(p: Any, s: Any, now: Any, timer: Any) -> None:
    """Process a timer that expires, one of `Event`."""
    if timer == Event.T1:
        handshake.t1_due(p, s, now)
    elif timer < Event.T3 + PATHS:
        sender.t3_due(p, s, now, timer - Event.T3)
    elif timer < Event.DEGRADE + PATHS:
        sender.degrade_due(p, s, now, timer - Event.DEGRADE)
    elif timer == Event.SACK_TIMER:
        s[Word.UNACKED] = 0
        s[Event.SACK_TIMER] = OFF
        receiver.sack(p, s, now, 0, 0)
    elif timer < Event.HEARTBEAT_TIMEOUT + WAYS:
        if p[Rfc9260P.RFC9260] == 1:
            paths.probe_or_fail(p, s, now, timer - Event.HEARTBEAT_TIMEOUT)
        else:
            paths.heartbeat_lost(p, s, now, timer - Event.HEARTBEAT_TIMEOUT)
    else:
        paths.heartbeat_due(p, s, now, timer - Event.HEARTBEAT_TIMER)


@noinline
def at_sender(p: Any, s: Any, now: Any, way: Any, at: Any) -> None:
    """Process the packet at `at`, which has reached the sender on a way."""
    kind, state = s[at + Packet.KIND], s[end_at(SENDER) + End.STATE]
    if state == State.CLOSED:
        return
    if state == State.ESTABLISHED:
        if p[Rfc9260P.RFC9260] == 1:
            s[Word.BURST] = 0  # Max.Burst limits the packets that a packet causes
            s[Word.SEND_NEW] = 1
        if kind == Kind.SACK:
            s[Word.SACK_WAY] = way
            sack.on_sack(p, s, now, at)
            s[Word.SEND_NEW] = 1
        elif kind == Kind.HEARTBEAT:
            paths.put(p, s, now, way, Kind.HEARTBEAT_ACK, HEARTBEAT_BYTES, s[at + Packet.NUMBER])
        elif kind == Kind.HEARTBEAT_ACK:
            before = s[end_at(SENDER) + End.CURRENT]
            handshake.on_heartbeat_ack(p, s, now, way, s[at + Packet.NUMBER])
            moved = p[SctpP.FAILBACK] == 1 and s[end_at(SENDER) + End.CURRENT] != before
            if moved or p[Rfc9260P.RFC9260] == 1:
                s[Word.SEND_NEW] = 1
                if s[Word.MARKED] > 0:  # these first (RFC 9260, section 6.1, rule C)
                    sender.retransmit(p, s, now, False)
    else:
        handshake.answered(p, s, now, kind)
    if s[Word.SEND_NEW] == 1 and (s[Word.MARKED] == 0 or p[Rfc9260P.CMT] == 1):
        sender.send_new(p, s, now)
        s[Word.SEND_NEW] = 0


@noinline
def at_receiver(p: Any, s: Any, now: Any, way: Any, at: Any) -> None:
    """Process the packet at `at`, which has reached the receiver on a way; send at most one packet."""
    kind = s[at + Packet.KIND]
    established = s[end_at(RECEIVER) + End.STATE] == State.ESTABLISHED
    if kind == Kind.DATA or p[Rfc9260P.RFC9260] == 0:
        s[Word.REPLY_WAY] = way
    if kind == Kind.DATA and established:
        receiver.on_data(p, s, now, s[at + Packet.NUMBER])
    elif kind == Kind.HEARTBEAT and established:
        paths.put(p, s, now, way, Kind.HEARTBEAT_ACK, HEARTBEAT_BYTES, s[at + Packet.NUMBER])
    elif kind == Kind.HEARTBEAT_ACK and established:
        handshake.on_heartbeat_ack(p, s, now, way, s[at + Packet.NUMBER])
    elif kind == Kind.INIT and not established:
        paths.put(p, s, now, way, Kind.INIT_ACK, INIT_BYTES, now)
    elif kind == Kind.COOKIE_ECHO:
        paths.put(p, s, now, way, Kind.COOKIE_ACK, COOKIE_BYTES, now)
        if not established:
            handshake.establish(p, s, now)
