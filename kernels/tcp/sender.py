"""Sender of a TCP association: sending, and the processing of ACKs and timeouts.

Semantics are those of ns-2's one-way agents: ACKs and one coarse timer drive the sender, and the window
counts packets. An engine drives it with events. In all functions `p` is an array with the columns of `P`, `s`
the association's scratch (words of `state.Tcp`), and `g` its FLOATS floats: cwnd [packets] and the memory of
the congestion control.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import global_memory, noinline
from netcarlo.kernels.base.layout import ENDLESS, FOREVER
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.tcp import timer
from netcarlo.kernels.tcp.acks import ACKS_ARE_IMPLICIT, FULL, WORDS, ack_at
from netcarlo.kernels.tcp.pausing import begin_pause, note_ack_in_pause, request_probe, resume_sending
from netcarlo.kernels.tcp.recovery import (
    AVOIDED,
    BACK_OFF,
    END_BACKOFF,
    GO_BACK,
    NO_GROWTH,
    PARTIAL_ACK,
    PAUSE,
    REDUCE,
    RESTART_TIMER,
    SEND,
)
from netcarlo.kernels.tcp.state import END, NONE, Ack, PauseCause, Phase, Tcp, TimeoutAction, Window
from netcarlo.kernels.tcp.window import (
    allow,
    allow_all,
    clock_of,
    row_of,
    sent_of,
    set_window,
    window_of,
)

CONTROL_WORDS = 16
"""Number of floats that a congestion control may keep, after cwnd."""
FLOATS = 1 + CONTROL_WORDS
"""Number of floats of an association."""

PAUSES: Any = slot("pauses")
TIMESTAMPS: Any = slot("timestamps")

association: Any = slot("association")
variant: Any = slot("variant")
kind: Any = slot("kind")


@noinline
def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Initialise an association that sends `limit` packets; its clock is `phase` ahead [ns].

    Lay out its rings from word `free` of `s` on. Return the next free word.
    """
    for i in range(END):
        s[i] = 0
    for i in range(FLOATS):
        g[i] = 0.0
    ring = p[RowP.RING]
    s[Tcp.RCV_BITMAP] = free
    s[Tcp.ACK_RING] = free + (ring >> 6)
    for i in range(s[Tcp.RCV_BITMAP], s[Tcp.ACK_RING]):
        global_memory(s)[i] = 0
    s[Tcp.SEND_TIMES] = s[Tcp.ACK_RING] + ring * WORDS
    p[RowP.LIMIT] = limit  # read by loss recovery
    free = variant.prepare(s, p, s[Tcp.SEND_TIMES] + ring)
    first = kind.first_of(p)
    s[Tcp.RTO_ESTIMATE] = p[ReliableP.INITIAL_RTO]
    s[Tcp.BACKOFF] = 1
    s[Tcp.RTT_SEQ] = ENDLESS
    s[Tcp.CLOCK_PHASE] = phase
    s[Tcp.HIGHEST_ACK] = -1
    s[Tcp.SND_MAX] = -1
    s[Tcp.LAST_PACKET] = first + limit - 1
    s[Tcp.LAST_WRITTEN] = s[Tcp.LAST_PACKET]
    if p[TcpP.SEND_BUFFER] > 0:
        s[Tcp.LAST_WRITTEN] = min(s[Tcp.LAST_PACKET], first + p[TcpP.SEND_BUFFER] - 1)
    s[Tcp.SSTHRESH] = p[ReliableP.INITIAL_SSTHRESH]
    s[Tcp.INITIAL_WINDOW] = p[TcpP.INITIAL_WINDOW]
    s[Tcp.FORCED] = NONE
    s[Tcp.SEND_LIMIT] = NONE
    s[Tcp.TIMER_EXPIRY] = FOREVER
    s[Tcp.DELACK_EXPIRY] = FOREVER
    connected = first == 1 and p[TcpP.HANDSHAKE] == 0  # as if the SYN had just been acknowledged
    g[0] = float(p[TcpP.INITIAL_WINDOW]) if connected or TIMESTAMPS else 1.0
    if connected:
        s[Tcp.HIGHEST_ACK] = 0
        s[Tcp.SND_NXT] = 1
        s[Tcp.SND_MAX] = 0
    s[Tcp.RCV_NXT] = s[Tcp.SND_NXT]
    s[Tcp.RCV_HIGHEST] = s[Tcp.SND_NXT] - 1
    s[Tcp.DELAYED_PACKET] = s[Tcp.SND_NXT]
    s[Tcp.RTO] = timer.length(p, s)
    return free


def first_of(p: Any) -> Any:
    """Return the number of the first data packet."""
    return kind.first_of(p)


def start(p: Any, s: Any, g: Any, now: Any) -> None:
    """Start sending."""
    allow_all(p, s, g)


@noinline
def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the next packet to send, NONE, or FULL. Call it until it returns NONE.

    While the engine blocks the sender (`blocked`), only a forced retransmission is returned.
    """
    packet = s[Tcp.FORCED]
    last = s[Tcp.LAST_WRITTEN]
    forced = packet != NONE
    if forced:
        s[Tcp.FORCED] = NONE
    elif blocked:
        if s[Tcp.RECOVERY_MAY_SEND] != 0 or s[Tcp.SND_NXT] <= min(s[Tcp.SEND_LIMIT], last):
            s[Tcp.WAS_BLOCKED] = 1
        return np.int64(NONE)
    elif s[Tcp.SND_NXT] <= min(s[Tcp.SEND_LIMIT], last):
        packet = s[Tcp.SND_NXT]
        s[Tcp.SND_NXT] += 1
    elif s[Tcp.RECOVERY_MAY_SEND] != 0:
        packet = variant.next_packet(s, p, s[Tcp.HIGHEST_ACK], s[Tcp.SND_NXT], last, g[0])
        s[Tcp.SND_NXT] = max(s[Tcp.SND_NXT], packet + 1)
        if TIMESTAMPS and packet - s[Tcp.HIGHEST_ACK] >= p[RowP.RING]:
            return np.int64(FULL)
    if packet == NONE:
        return packet
    if not forced:
        s[Tcp.WAS_BLOCKED] = 0
    note_sent(p, s, packet, now)
    return packet


def note_sent(p: Any, s: Any, packet: Any, now: Any) -> None:
    """Process the sending of a packet: count it, start the timer, start an RTT measurement."""
    variant.on_send(s, p, packet, now)
    if s[Tcp.HIGHEST_ACK] == s[Tcp.SND_MAX]:  # nothing else is in flight
        s[Tcp.TIMER_EXPIRY] = now + s[Tcp.RTO]
    first = kind.first_of(p)
    if packet >= first:
        s[Tcp.SENT] += 1
    else:
        s[Tcp.HANDSHAKES] += 1
    if packet > s[Tcp.SND_MAX]:
        s[Tcp.SND_MAX] = packet
        association.note_first_sent(p, s, packet, now)
        if s[Tcp.RTT_SEQ] == ENDLESS:
            s[Tcp.RTT_SEQ] = packet
            s[Tcp.RTT_TS] = now
    elif packet >= first:
        s[Tcp.RETRANSMITTED] += 1


def transmission_id(s: Any, now: Any) -> Any:
    """Return the id of the latest transmission, for `note_transmission` at the receiver."""
    if TIMESTAMPS:
        return variant.transmission_id(s)
    return np.int64(0)


def resume(p: Any, s: Any, g: Any) -> Any:
    """Process the end of blocking; return True if a packet was held back."""
    if s[Tcp.WAS_BLOCKED] == 0:
        return False
    s[Tcp.WAS_BLOCKED] = 0
    s[Tcp.RECOVERY_MAY_SEND] = 0
    if kind.sack_of(p) and s[Tcp.PHASE] == Phase.RECOVERY:
        s[Tcp.RECOVERY_MAY_SEND] = 1
    else:
        allow_all(p, s, g)
    return True


def finished(s: Any) -> Any:
    """Return True if all data are acknowledged."""
    return s[Tcp.HIGHEST_ACK] == s[Tcp.LAST_PACKET]


def advance(p: Any, s: Any, ack: Any) -> None:
    """Advance the cumulative acknowledgement to `ack`, and let the application refill the socket buffer."""
    s[Tcp.HIGHEST_ACK] = ack
    if p[TcpP.SEND_BUFFER] > 0 and s[Tcp.LAST_WRITTEN] - ack <= p[TcpP.SEND_WAKE]:
        s[Tcp.LAST_WRITTEN] = min(s[Tcp.LAST_PACKET], ack + p[TcpP.SEND_BUFFER])


@noinline
def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Process an ACK that arrives at the sender."""
    if ACKS_ARE_IMPLICIT:
        at, ack = np.int64(0), ack_id - 1
    else:
        s[Tcp.CONSUMED] = ack_id + 1
        at = ack_at(p, s, ack_id)
        ack = global_memory(s)[at + Ack.CUMULATIVE]
    highest_ack, last = s[Tcp.HIGHEST_ACK], s[Tcp.LAST_PACKET]
    news = ack > highest_ack or (ack == highest_ack and highest_ack < last)  # false once all is acknowledged
    if TIMESTAMPS:
        if news:
            on_timestamped_ack(p, s, g, constants, now, at, ack)
    else:
        if news:
            kind.on_ack(p, ack - highest_ack, now, s[Tcp.RTT], g[1:])
        if PAUSES and s[Tcp.PROBING] != 0:
            note_ack_in_pause(p, s, now, at, ack)
        elif ack > highest_ack:
            on_new_data(p, s, g, constants, now, at, ack)
        elif news:
            on_duplicate_ack(p, s, g, constants, now, at)
        else:
            actions = np.int64(SEND) if ACKS_ARE_IMPLICIT else variant.on_old_ack(row_of(p, s, g, constants))
            allow(p, s, g[0], actions, NONE)


def on_timestamped_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, at: Any, ack: Any) -> None:
    """Process an ACK with a timestamp, for a scheme that keeps its own window."""
    echo = global_memory(s)[at + Ack.TIMESTAMP]
    s[Tcp.RTT_TS] = echo
    timer.measure_rtt(p, s, now)
    srtt = (s[Tcp.SRTT] >> 3) * p[TcpP.TICK]
    row = row_of(p, s, g, constants)
    g[0], s[Tcp.SSTHRESH], actions = variant.on_ack(
        row, clock_of(s, now), srtt, echo, at, ack, s[Tcp.SND_MAX], s[Tcp.SSTHRESH]
    )
    if actions & REDUCE:
        s[Tcp.FAST_RETRANSMITS] += 1
        s[Tcp.REDUCTIONS] += 1
    advance(p, s, ack)
    s[Tcp.TIMER_EXPIRY] = now + s[Tcp.RTO] if ack < s[Tcp.LAST_PACKET] else FOREVER
    allow(p, s, g[0], SEND, NONE)


def on_new_data(p: Any, s: Any, g: Any, constants: Any, now: Any, at: Any, ack: Any) -> None:
    """Process an ACK of new data."""
    row = row_of(p, s, g, constants)
    previous_ack = s[Tcp.HIGHEST_ACK]
    actions, forced, cwnd = np.int64(SEND), np.int64(NONE), g[0]
    if s[Tcp.PHASE] != Phase.NORMAL:
        cwnd, actions, forced = variant.on_ack_in_recovery(row, at, ack, previous_ack, cwnd)
    advance(p, s, ack)
    s[Tcp.SND_NXT] = max(s[Tcp.SND_NXT], ack + 1)
    if actions & PARTIAL_ACK:
        if actions & RESTART_TIMER:
            s[Tcp.TIMER_EXPIRY] = now + s[Tcp.RTO]
        if actions & END_BACKOFF or ack >= s[Tcp.RTT_SEQ]:
            s[Tcp.BACKOFF] = 1
            s[Tcp.RTO] = timer.length(p, s)
        if not kind.sack_of(p) and ack >= s[Tcp.RTT_SEQ]:
            s[Tcp.RTT_SEQ] = ENDLESS
    else:
        if ack >= s[Tcp.RTT_SEQ]:
            s[Tcp.RTT_SEQ] = ENDLESS
            timer.measure_rtt(p, s, now)
        s[Tcp.TIMER_EXPIRY] = now + s[Tcp.RTO]
        if actions & NO_GROWTH:
            s[Tcp.DUPACKS] = 0
        else:
            window = Window(cwnd, s[Tcp.SSTHRESH], s[Tcp.DUPACKS])
            window, forced = variant.grow(row, clock_of(s, now), ack, previous_ack, s[Tcp.SND_NXT], window)
            cwnd = window.cwnd
            s[Tcp.SSTHRESH] = window.ssthresh
            s[Tcp.DUPACKS] = window.dupacks
        if ack == 0 and kind.first_of(p) == 1 and p[TcpP.HANDSHAKE] > 0:
            cwnd = float(s[Tcp.INITIAL_WINDOW])
        if ack == s[Tcp.LAST_PACKET]:  # all data have been acknowledged
            s[Tcp.TIMER_EXPIRY] = FOREVER
            forced = np.int64(NONE)
    g[0] = cwnd  # last, as ACK processing would wait for memory if it read cwnd again
    allow(p, s, cwnd, actions, forced)


def on_duplicate_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, at: Any) -> None:
    """Process a duplicate ACK while data are in flight."""
    row = row_of(p, s, g, constants)
    window, actions, forced = variant.on_dup_ack(row, clock_of(s, now), at, sent_of(s), window_of(s, g))
    if actions & REDUCE:
        s[Tcp.FAST_RETRANSMITS] += 1
        if actions & BACK_OFF:
            timer.back_off_timer(p, s)
        elif actions & AVOIDED:
            s[Tcp.AVOIDED] += 1
        else:
            s[Tcp.REDUCTIONS] += 1
        s[Tcp.TIMER_EXPIRY] = now + s[Tcp.RTO]
        s[Tcp.RTT_SEQ] = ENDLESS
        if actions & GO_BACK:
            s[Tcp.SND_NXT] = s[Tcp.HIGHEST_ACK] + 1
    if PAUSES and actions & PAUSE:
        s[Tcp.FAST_RETRANSMITS] += 1
        s[Tcp.DUPACKS] = window.dupacks
        begin_pause(p, s, now, PauseCause.DUPLICATES)
    else:
        set_window(s, g, window)
        allow(p, s, window.cwnd, actions, forced)


@noinline
def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Process the expiry of the retransmission or probe timer."""
    if PAUSES and s[Tcp.PROBING] != 0:  # a probe or its reply was lost
        s[Tcp.PROBE_REPLIES] = 0
        s[Tcp.RTT_WORSE] = 0
        request_probe(p, s, now)
    else:
        s[Tcp.TIMEOUTS] += 1
        what = np.int64(TimeoutAction.FALL_BACK)
        if kind.first_of(p) == 1 and s[Tcp.HIGHEST_ACK] < 0:  # lost SYN: start with one packet
            s[Tcp.INITIAL_WINDOW] = min(s[Tcp.INITIAL_WINDOW], np.int64(1))
        elif PAUSES:
            what = np.int64(
                variant.timeout_action(s[Tcp.RTO_ESTIMATE], s[Tcp.PREVIOUS_RTO_ESTIMATE], s[Tcp.BACKOFF])
            )
        if PAUSES and what == TimeoutAction.PAUSE:
            begin_pause(p, s, now, PauseCause.TIMER)
        elif PAUSES and what == TimeoutAction.KEEP_WINDOW:
            s[Tcp.AVOIDED] += 1
            timer.back_off_timer(p, s)
            resume_sending(p, s, g, now)
        else:
            timer.fall_back(p, s, g, constants, now)
