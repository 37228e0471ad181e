"""The sender: the handshake, what goes out, and what wakes it (RFC 9293)."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, P
from netcarlo.kernels.linux import (
    acks,
    board,
    burst,
    clocks,
    pacing,
    rack,
    rate,
    recovery,
    rtt,
    slow_start,
    timer,
    undo,
)
from netcarlo.kernels.linux.receiver import FIRST_QUICK
from netcarlo.kernels.linux.state import (
    ACK_OF_SYN,
    END,
    FIRST,
    FULL,
    INFINITE,
    NONE,
    PACED,
    SYN,
    Ack,
    Flag,
    Packet,
    Send,
    State,
    Tcp,
    Timer,
    ack_at,
    in_flight,
    lay_out,
    packet_at,
    reducing,
)

control: Any = slot("control")

WAKING = 100 * clocks.US
"""What it takes to wake an application, about [ns]: the ACK of a handshake has left a fast link by then."""
LINEAR_SYNS = 4
"""SYNs that are repeated before the timer backs off."""
LOST_SYNS = 2
"""Retransmissions of the SYN from which on the window begins with one packet (RFC 5681, section 3.1)."""


@noinline
def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Before the start; `limit` packets, the clocks `phase` [ns] ahead.

    Rings are laid out from word `free` of `s` on; returns the next free one.
    """
    for i in range(END):
        s[i] = 0
    free = lay_out(p, s, free)
    s[Tcp.LAST] = FIRST + limit - 1
    s[Tcp.CWND] = p[P.INITIAL_WINDOW]
    s[Tcp.SSTHRESH] = INFINITE
    s[Tcp.PHASE] = phase
    s[Tcp.FLOW] = flow
    s[Tcp.TICK_US] = p[P.TICK] // clocks.US
    s[Tcp.MOST_JIFFIES] = p[P.MAX_RTO] // p[P.TICK]
    s[Tcp.LEAST_RTT] = INFINITE
    s[Tcp.REORDERING] = rack.THRESHOLD
    s[Tcp.WIDTH] = 1
    s[Tcp.RTO] = p[P.INITIAL_RTO] // p[P.TICK]
    for word in (
        Tcp.UNDO_FROM, Tcp.FIRST_AGAIN, Tcp.PROBED, Tcp.FORCED, Tcp.DUPLICATE, Tcp.SYN_AT, Tcp.LAST_RX,
        Tcp.RCV_HIGHEST,
    ):  # fmt: skip
        s[word] = NONE
    for word in Tcp.DEADLINE, Tcp.PENDING, Tcp.MERGED_UNTIL:
        s[word] = FOREVER
    s[Tcp.QUICK] = FIRST_QUICK
    if p[P.HANDSHAKE] == 0:
        s[Tcp.CONNECTED] = 1
        s[Tcp.UNA] = s[Tcp.NXT] = s[Tcp.RCV_NXT] = s[Tcp.RCV_WUP] = FIRST
    control.prepare(s)
    return free


def start(p: Any, s: Any, g: Any, now: Any) -> None:
    """The application begins to send."""
    if s[Tcp.CONNECTED] != 0:
        _begin(p, s, now)
        s[Tcp.PUSH] = 1
    else:
        s[Tcp.FORCED] = SYN


@noinline
def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """The next packet to put out, NONE, or FULL; to be called while packets may go out."""
    if s[Tcp.OVERFULL] != 0 or s[Tcp.NXT] - s[Tcp.UNA] >= p[P.RING] - 1:
        return np.int64(FULL)
    packet = s[Tcp.FORCED]
    if packet != NONE:
        s[Tcp.FORCED] = NONE
        _force(p, s, now, packet)
        return packet
    if s[Tcp.PUSH] == 0:
        return np.int64(NONE)
    packet = _chosen(p, s, now)
    if packet == NONE or _is_last(p, s):
        _settle(p, s, now)
    return packet


def _is_last(p: Any, s: Any) -> Any:
    """Whether it is plain that nothing follows a packet that goes out: the window has no room."""
    if PACED or s[Tcp.BURST] > 0 or s[Tcp.SEND] == Send.NEW_FIRST:
        return False
    return in_flight(s) >= s[Tcp.CWND] and s[Tcp.NXT] - s[Tcp.UNA] < p[P.RING] - 1


def _chosen(p: Any, s: Any, now: Any) -> Any:
    """The packet that goes out as the windows allow, lost or new, or NONE."""
    room = in_flight(s) < s[Tcp.CWND]
    open_now = not PACED or s[Tcp.BURST] > 0 or pacing.is_open(s, now)
    if s[Tcp.SEND] == Send.LOST and room and open_now:
        packet = board.next_lost(p, s)
        if packet != NONE:
            _resend(p, s, now, packet)
            return packet
    if s[Tcp.BURST] == 0 and open_now:
        s[Tcp.BURST] = burst.next_burst(p, s, now)
        s[Tcp.LARGE] = 1 if s[Tcp.BURST] > 1 else 0
        if PACED and s[Tcp.BURST] > 0:
            _begin_burst(p, s, now, s[Tcp.BURST])
    if s[Tcp.BURST] > 0:
        s[Tcp.BURST] -= 1
        return _send_new(p, s, now)
    if s[Tcp.SEND] == Send.NEW_FIRST:
        s[Tcp.SEND] = Send.NEW
        if s[Tcp.NXT] <= s[Tcp.HIGH]:
            s[Tcp.FRTO] = 0
            s[Tcp.SEND] = Send.LOST
            if room and open_now:
                packet = board.next_lost(p, s)
                if packet != NONE:
                    _resend(p, s, now, packet)
                    return packet
    return np.int64(NONE)


@noinline
def _begin_burst(p: Any, s: Any, now: Any, packets: Any) -> None:
    """So many packets leave as one where there is pacing."""
    if in_flight(s) == 0 and s[rate.Rate.LIMITED] != 0:
        control.restart(p, s, now)
    pacing.leave(p, s, now, packets)


def _send_new(p: Any, s: Any, now: Any) -> Any:
    """A new packet goes out."""
    packet = s[Tcp.NXT]
    if PACED:
        rate.note_sent(p, s, packet, clocks.us_of(now))
    at = packet_at(p, s, packet)
    s[at + Packet.SENT] = clocks.us_of(now)
    s[at + Packet.FLAGS] = Flag.PUSH if s[Tcp.LARGE] != 0 and s[Tcp.BURST] == 0 else 0
    s[Tcp.NXT] = packet + 1
    s[Tcp.SENT] += 1
    if reducing(s):
        s[Tcp.PRR_OUT] += 1
    # Where there may be a probe its timer is set when all has been sent.
    if s[Tcp.STATE] != State.OPEN and (packet == s[Tcp.UNA] or s[Tcp.TIMER] == Timer.PROBE):
        timer.rearm(p, s, now)
    s[Tcp.PUSHED] = 1
    return packet


@noinline
def _resend(p: Any, s: Any, now: Any, packet: Any) -> None:
    """A lost packet goes out again."""
    if PACED:
        _begin_burst(p, s, now, 1)
        rate.note_sent(p, s, packet, clocks.us_of(now))
    board.resend(p, s, packet)
    undo.stamp(s, now)
    s[packet_at(p, s, packet) + Packet.SENT] = clocks.us_of(now)
    s[Tcp.SENT] += 1
    s[Tcp.RETRANSMITTED] += 1
    if reducing(s):
        s[Tcp.PRR_OUT] += 1
    if packet == s[Tcp.UNA] and s[Tcp.TIMER] != Timer.REORDERING:
        timer.set_retransmission(p, s, now, s[Tcp.RTO])


@noinline
def _force(p: Any, s: Any, now: Any, packet: Any) -> None:
    """A packet of the handshake goes out, that of a timeout, or a tail loss probe."""
    if packet == SYN:
        s[packet_at(p, s, packet) + Packet.SENT] = clocks.us_of(now)
        if s[Tcp.HANDSHAKES] == 0:
            s[Tcp.FIRST_AGAIN] = clocks.stamp_of(s, now)
        s[Tcp.HANDSHAKES] += 1
        timer.set_timer(p, s, now, Timer.RETRANSMISSION, s[Tcp.RTO])
    elif packet == ACK_OF_SYN:
        return
    elif s[Tcp.PROBED] < NONE:
        if packet == s[Tcp.NXT]:
            s[Tcp.LARGE] = 0
            if PACED:
                _begin_burst(p, s, now, 1)
            _send_new(p, s, now)
            s[Tcp.PUSHED] = 0
        else:  # it is not counted as in flight twice
            at = packet_at(p, s, packet)
            if PACED:
                _begin_burst(p, s, now, 1)
                rate.note_sent(p, s, packet, clocks.us_of(now))
            s[at + Packet.SENT] = clocks.us_of(now)
            s[at + Packet.FLAGS] |= Flag.EVER
            s[Tcp.AGAIN_END] = max(s[Tcp.AGAIN_END], packet + 1)
            s[Tcp.SENT] += 1
            s[Tcp.RETRANSMITTED] += 1
        s[Tcp.PROBED] = s[Tcp.NXT]
        s[Tcp.PROBES] += 1
        s[Tcp.TIMER] = Timer.OFF
        timer.rearm(p, s, now)
    else:
        _resend(p, s, now, packet)
        s[Tcp.RTO] = min(2 * s[Tcp.RTO], s[Tcp.MOST_JIFFIES])
        timer.set_timer(p, s, now, Timer.RETRANSMISSION, s[Tcp.RTO])


def _settle(p: Any, s: Any, now: Any) -> None:
    """Nothing more goes out at this event: note whether the window was the limit, and start the timer."""
    s[Tcp.PUSH] = 0
    s[Tcp.SEND] = Send.NEW
    limited = in_flight(s) >= s[Tcp.CWND] or _is_put_off(p, s, now)
    note_limit(s, s[Tcp.PUSHED] != 0, limited)
    if s[Tcp.PUSHED] != 0:
        s[Tcp.PUSHED] = 0
        timer.schedule_probe(p, s, now, False)
    elif s[Tcp.RESTART] != 0:
        timer.restart(p, s, now)
    s[Tcp.RESTART] = 0


def _is_put_off(p: Any, s: Any, now: Any) -> Any:
    """Whether the window has room, too little of it for a burst now."""
    room = burst.room_of(p, s)
    return 0 < room == s[Tcp.CWND] - in_flight(s) and burst.is_put_off(p, s, now, room)


def note_limit(s: Any, pushed: Any, limited: Any) -> None:
    """Note whether the window was the limit of what is out, if new packets have gone out or it was."""
    if pushed or limited:
        out = s[Tcp.NXT] - s[Tcp.UNA]
        if s[Tcp.UNA] >= s[Tcp.LIMITED_END] or limited or (
            s[Tcp.LIMITED] == 0 and out > s[Tcp.MOST_OUT]
        ):  # fmt: skip
            s[Tcp.LIMITED] = 1 if limited else 0
            s[Tcp.MOST_OUT] = out
            s[Tcp.LIMITED_END] = s[Tcp.NXT]


def _begin(p: Any, s: Any, now: Any) -> None:
    """The connection is there: as in Linux, controls begin now, with the first packet of data next."""
    if PACED:
        control.connect(p, s, now)
    else:
        slow_start.begin(s, clocks.us_of(now))


@noinline
def _connect(p: Any, s: Any, now: Any, echo: Any) -> None:
    """The SYN is acknowledged."""
    s[Tcp.CONNECTED] = 1
    s[Tcp.UNA] = s[Tcp.NXT] = s[Tcp.LIMITED_END] = FIRST
    s[Tcp.RACK_PACKET] = SYN
    first = np.int64(NONE)
    if s[Tcp.HANDSHAKES] == 1:
        first = s[packet_at(p, s, SYN) + Packet.SENT]
    rtt.measure(p, s, now, echo, True, first, first)
    s[Tcp.RETRIES] = 0
    _heed_lost_syns(s, clocks.stamp_of(s, echo))
    _begin(p, s, now)
    s[Tcp.FORCED] = ACK_OF_SYN
    s[Tcp.TIMER] = Timer.WAKING
    s[Tcp.DEADLINE] = now + WAKING


def _is_answer_to_syn(s: Any, at: Any) -> Any:
    """Return whether an acknowledgement is a SYN-ACK; a connected sender ignores another one (RFC 9293)."""
    return s[at + Ack.NEXT] == FIRST and s[at + Ack.COUNT] == 0 and s[at + Ack.DUPLICATE] == NONE


@noinline
def _heed_lost_syns(s: Any, echo: Any) -> None:
    """Set the initial window after SYN timeouts, unless the timestamp `echo` [ms] shows them to be spurious.

    RFC 5681, section 3.1, demands a window of one segment when a SYN was lost.  Linux applies that to
    connections that retransmitted the SYN at least twice, because its SYN timer is only 1 s (RFC 6298).  A
    SYN-ACK that echoes the first SYN shows that this one arrived (Eifel detection, RFC 3522).  As in the
    kernel, a timeout that was not spurious remains undoable by duplicate reports; that changes neither
    window nor threshold.
    """
    again = s[Tcp.HANDSHAKES] - 1
    if again > 0 and echo != s[Tcp.FIRST_AGAIN]:
        s[Tcp.UNDO_FROM] = SYN
        s[Tcp.UNDO_AGAIN] = again
        if again >= LOST_SYNS:
            s[Tcp.CWND] = 1
    s[Tcp.FIRST_AGAIN] = NONE


@noinline
def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """An acknowledgement arrives at the sender."""
    s[Tcp.CONSUMED] = ack_id + 1
    at = ack_at(p, s, ack_id)
    ack, echo = s[at + Ack.NEXT], s[at + Ack.ECHO]
    if s[Tcp.CONNECTED] == 0:
        _connect(p, s, now, echo)
    elif ack >= s[Tcp.UNA] and s[Tcp.UNA] < s[Tcp.NXT] and not _is_answer_to_syn(s, at):
        acks.take(p, s, now, at, ack, echo)
        s[Tcp.PUSH] = 1


@noinline
def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """A timer goes off."""
    what = s[Tcp.TIMER]
    if PACED and s[Tcp.DEADLINE] > now:
        pacing.ring(s)
        return
    if s[Tcp.CONNECTED] == 0:
        s[Tcp.RETRIES] += 1
        if s[Tcp.RETRIES] > LINEAR_SYNS:
            s[Tcp.RTO] = min(2 * s[Tcp.RTO], s[Tcp.MOST_JIFFIES])
        s[Tcp.FORCED] = SYN
    elif what == Timer.WAKING:
        timer.stop(s)
        s[Tcp.PUSH] = 1
    elif what == Timer.REORDERING:
        recovery.on_reordering(p, s, now)
    elif what == Timer.PROBE:
        recovery.on_probe(p, s, now)
    else:
        recovery.on_timeout(p, s, now)
