"""A QUIC connection that carries one stream, as a machine that an engine drives (`endpoints.contract`)."""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import Trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.quic import acks, receiver, sender, state, timers
from netcarlo.kernels.quic.state import (
    INITIAL_BYTES,
    NONE,
    Answer,
    Chunk,
    Packet,
    Word,
    answer_at,
    chunk_at,
    packet_at,
)

FLOATS = 0
"""Words of float memory."""
WORDS = state.STATE_SIZE
"""Words of scratch without the rings."""


class Counter(IntEnum):
    """Words of scratch that an engine may read."""

    SENT = Word.SENT
    RETRANSMITTED = Word.RETRANSMITTED
    HANDSHAKES = Word.HELLOS
    TIMEOUTS = Word.TIMEOUTS
    FAST_RETRANSMITS = Word.RECOVERIES
    REDUCTIONS = Word.REDUCTIONS
    ACKED = Word.LAST_ACKED
    OUT_OF_ORDER = Word.OUT_OF_ORDER
    RTT = Word.LATEST_RTT
    AVOIDED = Word.ZERO
    PROBING = Word.ZERO
    PROBING_SINCE = Word.ZERO
    PROBES = Word.ZERO
    PROBE_CYCLES = Word.ZERO
    PROBE_TIME = Word.ZERO


@noinline
def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Set up a connection that sends `limit` chunks; return the next free word."""
    state.prepare(p, s, limit)
    return state.lay_out(p, s, free)


def start(p: Any, s: Any, g: Any, now: Any) -> None:
    """Begin the handshake."""
    sender.start(p, s, now)


# Packets.


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the size of a packet of the sender with UDP and IP headers [byte]."""
    chunk = s[packet_at(p, s, packet) + Packet.CHUNK]
    if chunk < 0:
        return p[RowP.HEADER] + INITIAL_BYTES
    return p[RowP.HEADER] + s[Word.DATAGRAM] - (p[RowP.SHORT] if chunk + 1 == s[Word.LIMIT] else 0)


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the size of a packet of the receiver with UDP and IP headers [byte]."""
    return s[answer_at(p, s, ack_id) + Answer.SIZE]


def is_data(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet of the sender carries data."""
    return s[packet_at(p, s, packet) + Packet.CHUNK] >= 0


def is_last(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet carries the last chunk, which may be shorter than the others."""
    return s[packet_at(p, s, packet) + Packet.CHUNK] + 1 == s[Word.LIMIT]


def is_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return whether a packet of the receiver is an ACK frame, not an answer of the handshake."""
    return s[answer_at(p, s, ack_id) + Answer.HELLO] == NONE


def cumulative_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the Largest Acknowledged of an ACK frame, for traces [packet number]."""
    return s[answer_at(p, s, ack_id) + Answer.LARGEST]


def sequence_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the chunk of a packet, for traces; negative if it has none."""
    return s[packet_at(p, s, packet) + Packet.CHUNK]


# The sender.


def may_send(p: Any, s: Any) -> Any:
    """Return whether `next_segment` would return a packet or FULL."""
    return sender.may_send(p, s)


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the number of the packet to send now, NONE or FULL. While `blocked`, all packets wait."""
    if blocked:
        return np.int64(NONE)
    return sender.next_packet(p, s, now)


def resume(p: Any, s: Any, g: Any) -> Any:
    """Return whether packets have waited for room in the queue."""
    return sender.may_send(p, s)


@noinline
def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Process a packet of the receiver at the sender."""
    s[Word.NOW] = now
    at = answer_at(p, s, ack_id)
    if s[at + Answer.HELLO] == NONE:
        acks.on_ack(p, s, at)
    else:
        acks.on_reply(p, s, s[at + Answer.HELLO])
    timers.start_pacing(p, s)


def due(s: Any) -> Any:
    """Return when the sender's next timer expires [ns]."""
    return min(s[Word.TIMER], s[Word.PACE_TIMER])


@noinline
def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Process the timers of the sender that expire now."""
    s[Word.NOW] = now
    if s[Word.TIMER] == now:
        acks.on_timer(p, s)
    timers.start_pacing(p, s)


def finished(s: Any) -> Any:
    """Return whether all data are acknowledged."""
    return s[Word.UNACKED_CHUNK] == s[Word.LIMIT]


def all_sent(s: Any) -> Any:
    """Return whether all data have been sent."""
    return s[Word.NEXT_CHUNK] == s[Word.LIMIT]


def acked(p: Any, s: Any) -> Any:
    """Return how many chunks are acknowledged with all before them."""
    return s[Word.UNACKED_CHUNK]


def overfull(s: Any) -> Any:
    """Return whether the place of a packet in flight was reused: then the run is repeated."""
    return s[Word.OVERFULL] != 0


def cwnd_of(p: Any, s: Any, g: Any) -> Any:
    """Return the congestion window or the receive window, whichever is smaller [packet / 1024]."""
    return min(1024 * s[Word.CWND] // s[Word.DATAGRAM], 1024 * p[RowP.WINDOW])


def show(s: Any, g: Any, trace: Any, n: Any) -> None:
    """Write the state of the sender to row n of a trace: windows in packets, the smoothed RTT as RTO."""
    trace[n, Trace.CWND] = s[Word.CWND] / s[Word.DATAGRAM]
    trace[n, Trace.SSTHRESH] = s[Word.SSTHRESH] / s[Word.DATAGRAM]
    trace[n, Trace.RTO] = s[Word.SMOOTHED_RTT] / 1e9
    trace[n, Trace.ACKED] = s[Word.LAST_ACKED]


# The receiver.


def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """Process a packet of the sender that arrives at time t [ns]; see `receiver.on_packet`."""
    return receiver.on_packet(p, s, t, packet)


def due_at_receiver(s: Any) -> Any:
    """Return when the timer of delayed ACKs expires [ns]."""
    return s[Word.ACK_AT]


@noinline
def on_delay(p: Any, s: Any) -> Any:
    """Send the ACK whose delay ends now."""
    return receiver.acknowledge(p, s, s[Word.ACK_AT])


def in_order(p: Any, s: Any) -> Any:
    """Return how many chunks the receiver has without a gap."""
    return s[Word.EXPECTED]


def complete(p: Any, s: Any) -> Any:
    """Return whether the receiver has all data."""
    return s[Word.EXPECTED] == s[Word.LIMIT]


def delay_of(p: Any, s: Any, t: Any, packet: Any) -> Any:
    """Return the time since the data of a packet were first sent [ns]."""
    return t - s[chunk_at(p, s, s[packet_at(p, s, packet) + Packet.CHUNK]) + Chunk.BORN]
