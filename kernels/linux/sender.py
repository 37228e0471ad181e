"""Sender: handshake, transmission of packets, and timers (RFC 9293)."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.linux import (
    acks,
    clocks,
    pacing,
    rack,
    rate,
    recovery,
    rtt,
    scoreboard,
    slow_start,
    timer,
    tso,
    undo,
)
from netcarlo.kernels.linux.receiver import INITIAL_QUICK_ACKS
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
    CaState,
    Flag,
    Packet,
    Rexmit,
    Tcp,
    Timer,
    ack_at,
    in_cwnd_reduction,
    in_flight,
    init_layout,
    packet_at,
)

control: Any = slot("control")

WAKE_UP_TIME = 100 * clocks.US
"""Time to wake an application [ns], about as long as the ACK of a handshake needs to leave a fast link."""
SYN_LINEAR_TIMEOUTS = 4
"""SYN timeouts before the timer backs off (tcp_syn_linear_timeouts)."""
LOST_SYNS = 2
"""Retransmissions of the SYN from which on the initial window is one packet (RFC 5681, section 3.1)."""


@noinline
def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Prepare the association for `limit` packets, with clocks `phase` [ns] ahead of the simulation.

    The rings are laid out from word `free` of `s` on. Returns the first word after them.
    """
    for i in range(END):
        s[i] = 0
    free = init_layout(p, s, free)
    s[Tcp.LAST] = FIRST + limit - 1
    s[Tcp.CWND] = p[TcpP.INITIAL_WINDOW]
    s[Tcp.SSTHRESH] = INFINITE
    s[Tcp.CLOCK_PHASE] = phase
    s[Tcp.FLOW] = flow
    s[Tcp.JIFFY_US] = p[TcpP.TICK] // clocks.US
    s[Tcp.MAX_RTO_JIFFIES] = p[ReliableP.MAX_RTO] // p[TcpP.TICK]
    s[Tcp.MIN_RTT_US] = INFINITE
    s[Tcp.REORDERING] = rack.DUP_THRESH
    s[Tcp.REO_WND_STEPS] = 1
    s[Tcp.RTO] = p[ReliableP.INITIAL_RTO] // p[TcpP.TICK]
    for word in (
        Tcp.UNDO_MARKER, Tcp.RETRANS_STAMP, Tcp.TLP_HIGH_SEQ, Tcp.FORCED, Tcp.DSACK_PACKET, Tcp.SYN_ACK_AT,
        Tcp.LRCVTIME, Tcp.RCV_HIGHEST,
    ):  # fmt: skip
        s[word] = NONE
    for word in Tcp.DEADLINE, Tcp.ACK_DEADLINE, Tcp.COMPRESSED_ACK_DEADLINE:
        s[word] = FOREVER
    s[Tcp.QUICK_ACKS] = INITIAL_QUICK_ACKS
    if p[TcpP.HANDSHAKE] == 0:
        s[Tcp.ESTABLISHED] = 1
        s[Tcp.SND_UNA] = s[Tcp.SND_NXT] = s[Tcp.RCV_NXT] = s[Tcp.RCV_WUP] = FIRST
    control.prepare(s)
    return free


def start(p: Any, s: Any, g: Any, now: Any) -> None:
    """Start the transmission, with a SYN if there is a handshake."""
    if s[Tcp.ESTABLISHED] != 0:
        _init_control(p, s, now)
        s[Tcp.TRY_SEND] = 1
    else:
        s[Tcp.FORCED] = SYN


@noinline
def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the next packet to send, NONE, or FULL; called repeatedly while packets may be sent."""
    if s[Tcp.OVERFULL] != 0 or s[Tcp.SND_NXT] - s[Tcp.SND_UNA] >= p[RowP.RING] - 1:
        return np.int64(FULL)
    packet = s[Tcp.FORCED]
    if packet != NONE:
        s[Tcp.FORCED] = NONE
        _send_forced(p, s, now, packet)
        return packet
    if s[Tcp.TRY_SEND] == 0:
        return np.int64(NONE)
    packet = _select(p, s, now)
    if packet == NONE or _is_last(p, s):
        _finish_sending(p, s, now)
    return packet


def _is_last(p: Any, s: Any) -> Any:
    """Return True if the window certainly has no room for a packet after the current one."""
    if PACED or s[Tcp.BURST_LEFT] > 0 or s[Tcp.REXMIT] == Rexmit.NEW:
        return False
    return in_flight(s) >= s[Tcp.CWND] and s[Tcp.SND_NXT] - s[Tcp.SND_UNA] < p[RowP.RING] - 1


def _select(p: Any, s: Any, now: Any) -> Any:
    """Return the lost or new packet that the windows permit to be sent, or NONE."""
    room = in_flight(s) < s[Tcp.CWND]
    open_now = not PACED or s[Tcp.BURST_LEFT] > 0 or pacing.may_send(s, now)
    if s[Tcp.REXMIT] == Rexmit.LOST and room and open_now:
        packet = scoreboard.next_lost(p, s)
        if packet != NONE:
            _retransmit(p, s, now, packet)
            return packet
    if s[Tcp.BURST_LEFT] == 0 and open_now:
        s[Tcp.BURST_LEFT] = tso.next_burst(p, s, now)
        s[Tcp.LARGE_BURST] = 1 if s[Tcp.BURST_LEFT] > 1 else 0
        if PACED and s[Tcp.BURST_LEFT] > 0:
            _pace_burst(p, s, now, s[Tcp.BURST_LEFT])
    if s[Tcp.BURST_LEFT] > 0:
        s[Tcp.BURST_LEFT] -= 1
        return _send_new(p, s, now)
    if s[Tcp.REXMIT] == Rexmit.NEW:
        s[Tcp.REXMIT] = Rexmit.NONE
        if s[Tcp.SND_NXT] <= s[Tcp.HIGH_SEQ]:
            s[Tcp.FRTO] = 0
            s[Tcp.REXMIT] = Rexmit.LOST
            if room and open_now:
                packet = scoreboard.next_lost(p, s)
                if packet != NONE:
                    _retransmit(p, s, now, packet)
                    return packet
    return np.int64(NONE)


@noinline
def _pace_burst(p: Any, s: Any, now: Any, packets: Any) -> None:
    """Account for a paced burst of so many packets."""
    if in_flight(s) == 0 and s[rate.Rate.APP_LIMITED] != 0:
        control.on_tx_start(p, s, now)
    pacing.on_send(p, s, now, packets)


def _send_new(p: Any, s: Any, now: Any) -> Any:
    """Send a new packet, and return it."""
    packet = s[Tcp.SND_NXT]
    if PACED:
        rate.on_packet_sent(p, s, packet, clocks.us_of(now))
    at = packet_at(p, s, packet)
    s[at + Packet.SENT] = clocks.us_of(now)
    s[at + Packet.FLAGS] = Flag.PSH if s[Tcp.LARGE_BURST] != 0 and s[Tcp.BURST_LEFT] == 0 else 0
    s[Tcp.SND_NXT] = packet + 1
    s[Tcp.SENT] += 1
    if in_cwnd_reduction(s):
        s[Tcp.PRR_OUT] += 1
    # In OPEN the timer of a loss probe is set after the last packet of the event.
    if s[Tcp.CA_STATE] != CaState.OPEN and (packet == s[Tcp.SND_UNA] or s[Tcp.TIMER] == Timer.LOSS_PROBE):
        timer.rearm_rto(p, s, now)
    s[Tcp.NEW_SENT] = 1
    return packet


@noinline
def _retransmit(p: Any, s: Any, now: Any, packet: Any) -> None:
    """Retransmit a lost packet."""
    if PACED:
        _pace_burst(p, s, now, 1)
        rate.on_packet_sent(p, s, packet, clocks.us_of(now))
    scoreboard.mark_retransmitted(p, s, packet)
    undo.stamp_retransmission(s, now)
    s[packet_at(p, s, packet) + Packet.SENT] = clocks.us_of(now)
    s[Tcp.SENT] += 1
    s[Tcp.RETRANSMITTED] += 1
    if in_cwnd_reduction(s):
        s[Tcp.PRR_OUT] += 1
    if packet == s[Tcp.SND_UNA] and s[Tcp.TIMER] != Timer.REO_TIMEOUT:
        timer.set_retransmission(p, s, now, s[Tcp.RTO])


@noinline
def _send_forced(p: Any, s: Any, now: Any, packet: Any) -> None:
    """Send a packet regardless of the window: of the handshake, after a timeout, or as a tail loss probe."""
    if packet == SYN:
        s[packet_at(p, s, packet) + Packet.SENT] = clocks.us_of(now)
        if s[Tcp.SYNS_SENT] == 0:
            s[Tcp.RETRANS_STAMP] = clocks.timestamp_of(s, now)
        s[Tcp.SYNS_SENT] += 1
        timer.set_timer(p, s, now, Timer.RETRANSMISSION, s[Tcp.RTO])
    elif packet == ACK_OF_SYN:
        return
    elif s[Tcp.TLP_HIGH_SEQ] < NONE:
        if packet == s[Tcp.SND_NXT]:
            s[Tcp.LARGE_BURST] = 0
            if PACED:
                _pace_burst(p, s, now, 1)
            _send_new(p, s, now)
            s[Tcp.NEW_SENT] = 0
        else:  # not counted as retransmission in flight
            at = packet_at(p, s, packet)
            if PACED:
                _pace_burst(p, s, now, 1)
                rate.on_packet_sent(p, s, packet, clocks.us_of(now))
            s[at + Packet.SENT] = clocks.us_of(now)
            s[at + Packet.FLAGS] |= Flag.EVER_RETRANS
            s[Tcp.RETRANS_END] = max(s[Tcp.RETRANS_END], packet + 1)
            s[Tcp.SENT] += 1
            s[Tcp.RETRANSMITTED] += 1
        s[Tcp.TLP_HIGH_SEQ] = s[Tcp.SND_NXT]
        s[Tcp.LOSS_PROBES] += 1
        s[Tcp.TIMER] = Timer.OFF
        timer.rearm_rto(p, s, now)
    else:
        _retransmit(p, s, now, packet)
        s[Tcp.RTO] = min(2 * s[Tcp.RTO], s[Tcp.MAX_RTO_JIFFIES])
        timer.set_timer(p, s, now, Timer.RETRANSMISSION, s[Tcp.RTO])


def _finish_sending(p: Any, s: Any, now: Any) -> None:
    """End the transmissions of an event: note whether the window was the limit, and set the timer."""
    s[Tcp.TRY_SEND] = 0
    s[Tcp.REXMIT] = Rexmit.NONE
    limited = in_flight(s) >= s[Tcp.CWND] or _is_deferred(p, s, now)
    validate_cwnd(s, s[Tcp.NEW_SENT] != 0, limited)
    if s[Tcp.NEW_SENT] != 0:
        s[Tcp.NEW_SENT] = 0
        timer.schedule_loss_probe(p, s, now, False)
    elif s[Tcp.RESTART_TIMER] != 0:
        timer.restart(p, s, now)
    s[Tcp.RESTART_TIMER] = 0


def _is_deferred(p: Any, s: Any, now: Any) -> Any:
    """Return True if the congestion window has room, but too little for a burst now."""
    room = tso.available_window(p, s)
    return 0 < room == s[Tcp.CWND] - in_flight(s) and tso.should_defer(p, s, now, room)


def validate_cwnd(s: Any, pushed: Any, limited: Any) -> None:
    """Note whether the window limits the packets outstanding (`tcp_cwnd_validate`)."""
    if pushed or limited:
        out = s[Tcp.SND_NXT] - s[Tcp.SND_UNA]
        if s[Tcp.SND_UNA] >= s[Tcp.CWND_USAGE_SEQ] or limited or (
            s[Tcp.IS_CWND_LIMITED] == 0 and out > s[Tcp.MAX_PACKETS_OUT]
        ):  # fmt: skip
            s[Tcp.IS_CWND_LIMITED] = 1 if limited else 0
            s[Tcp.MAX_PACKETS_OUT] = out
            s[Tcp.CWND_USAGE_SEQ] = s[Tcp.SND_NXT]


def _init_control(p: Any, s: Any, now: Any) -> None:
    """Initialise the congestion control when the connection is established; data begin with the next
    packet."""
    if PACED:
        control.init(p, s, now)
    else:
        slow_start.reset(s, clocks.us_of(now))


@noinline
def _on_syn_ack(p: Any, s: Any, now: Any, echo: Any) -> None:
    """Process the SYN-ACK: the connection is established."""
    s[Tcp.ESTABLISHED] = 1
    s[Tcp.SND_UNA] = s[Tcp.SND_NXT] = s[Tcp.CWND_USAGE_SEQ] = FIRST
    s[Tcp.RACK_PACKET] = SYN
    first = np.int64(NONE)
    if s[Tcp.SYNS_SENT] == 1:
        first = s[packet_at(p, s, SYN) + Packet.SENT]
    rtt.ack_update_rtt(p, s, now, echo, True, first, first)
    s[Tcp.RETRANSMITS] = 0
    _apply_syn_losses(s, clocks.timestamp_of(s, echo))
    _init_control(p, s, now)
    s[Tcp.FORCED] = ACK_OF_SYN
    s[Tcp.TIMER] = Timer.WAKE_UP
    s[Tcp.DEADLINE] = now + WAKE_UP_TIME


def _is_syn_ack(s: Any, at: Any) -> Any:
    """Return True if an acknowledgement is a SYN-ACK; a connected sender ignores a further one (RFC
    9293)."""
    return s[at + Ack.CUMULATIVE] == FIRST and s[at + Ack.NUM_SACKS] == 0 and s[at + Ack.DSACK] == NONE


@noinline
def _apply_syn_losses(s: Any, echo: Any) -> None:
    """Set the initial window after SYN timeouts, unless the timestamp `echo` [ms] shows them to be
    spurious.

    RFC 5681, section 3.1, demands a window of one segment when a SYN was lost. Linux applies that to
    connections that retransmitted the SYN at least twice, because its SYN timer is only 1 s (RFC 6298). A
    SYN-ACK that echoes the first SYN shows that this one arrived (Eifel detection, RFC 3522). As in the
    kernel, a timeout that was not spurious can still be undone by DSACKs; that changes neither window nor
    threshold.
    """
    retransmissions = s[Tcp.SYNS_SENT] - 1
    if retransmissions > 0 and echo != s[Tcp.RETRANS_STAMP]:
        s[Tcp.UNDO_MARKER] = SYN
        s[Tcp.UNDO_RETRANS] = retransmissions
        if retransmissions >= LOST_SYNS:
            s[Tcp.CWND] = 1
    s[Tcp.RETRANS_STAMP] = NONE


@noinline
def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Process an acknowledgement that arrives at the sender."""
    s[Tcp.ACKS_CONSUMED] = ack_id + 1
    at = ack_at(p, s, ack_id)
    ack, echo = s[at + Ack.CUMULATIVE], s[at + Ack.TSECR]
    if s[Tcp.ESTABLISHED] == 0:
        _on_syn_ack(p, s, now, echo)
    elif ack >= s[Tcp.SND_UNA] and s[Tcp.SND_UNA] < s[Tcp.SND_NXT] and not _is_syn_ack(s, at):
        acks.process_ack(p, s, now, at, ack, echo)
        s[Tcp.TRY_SEND] = 1


@noinline
def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Process a timer of the sender."""
    what = s[Tcp.TIMER]
    if PACED and s[Tcp.DEADLINE] > now:
        pacing.on_timer(s)
        return
    if s[Tcp.ESTABLISHED] == 0:
        s[Tcp.RETRANSMITS] += 1
        if s[Tcp.RETRANSMITS] > SYN_LINEAR_TIMEOUTS:
            s[Tcp.RTO] = min(2 * s[Tcp.RTO], s[Tcp.MAX_RTO_JIFFIES])
        s[Tcp.FORCED] = SYN
    elif what == Timer.WAKE_UP:
        timer.stop(s)
        s[Tcp.TRY_SEND] = 1
    elif what == Timer.REO_TIMEOUT:
        recovery.on_reo_timeout(p, s, now)
    elif what == Timer.LOSS_PROBE:
        recovery.send_loss_probe(p, s, now)
    else:
        recovery.on_rto(p, s, now)
