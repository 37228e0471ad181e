"""SCTP association of one path, driven by the events of an engine, as `tcp.association`.

Each endpoint numbers all packets that it sends, and keeps their contents in a ring of `RowP.RING`. A packet
that is still in flight when its place is needed makes the association `overfull`. Packets that an endpoint is
to send wait in its ring until the engine sends them.

The engine may process the receiver ahead of the sender: they share no words but TSNs, and SACKs refer to the
state of the receiver when they were sent.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import PATHS, STATUS_OK, STATUS_RING_FULL, Out, Trace
from netcarlo.kernels.base.parameters import RowP, SctpP
from netcarlo.kernels.endpoints.defaults import FULL as FULL
from netcarlo.kernels.endpoints.defaults import NONE as NONE
from netcarlo.kernels.sctp import ends, handshake, state
from netcarlo.kernels.sctp.state import (
    FIRST_WAY,
    OUTCOMES,
    STATE_SIZE,
    Chunk,
    Event,
    Kind,
    Packet,
    Way,
    Word,
    chunk_at,
    packet_at,
    way_at,
)

FLOATS = 0
"""Words of float memory."""
WORDS = STATE_SIZE
"""Words of scratch without the rings."""

_FORTH = np.int64(0)  # way of the sender
_BACK = np.int64(PATHS)  # way of the receiver


class Counter(IntEnum):
    """Words of scratch that an engine may read."""

    SENT = OUTCOMES + Out.SENT
    RETRANSMITTED = OUTCOMES + Out.RETRANSMITTED
    HANDSHAKES = OUTCOMES + Out.HANDSHAKES
    TIMEOUTS = OUTCOMES + Out.TIMEOUTS
    FAST_RETRANSMITS = OUTCOMES + Out.FAST_RETRANSMITS
    REDUCTIONS = OUTCOMES + Out.CWND_CUTS
    ACKED = Word.CUM
    OUT_OF_ORDER = Word.BUFFERED
    RTT = FIRST_WAY + Way.RTT
    AVOIDED = Word.NOTHING
    PROBING = Word.NOTHING
    PROBING_SINCE = Word.NOTHING
    PROBES = Word.NOTHING
    PROBE_CYCLES = Word.NOTHING
    PROBE_TIME = Word.NOTHING


def scratch_words(window: Any, ring: Any) -> Any:
    """Return the words of scratch of one or many associations with this window and `RowP.RING`."""
    return state.scratch_words(2, ring)


@noinline
def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Initialise the association, number `flow` of the row, which will send `limit` chunks.

    Rings are laid out from word `free` of `s` on; returns the next free one.
    """
    handshake.prepare(p, s, np.int64(1), limit, flow)
    return state.lay_out(p, s, np.int64(2), free)


@noinline
def start(p: Any, s: Any, g: Any, now: Any) -> None:
    """Open the association: send INIT (RFC 9260, section 5.1)."""
    handshake.t1_due(p, s, now)


# Packets.


def place_of(p: Any, s: Any, way: Any, number: Any) -> Any:
    """Return the word where a packet in flight begins."""
    w = way_at(way)
    if s[w + Way.OLDEST] + s[w + Way.WAITING] - number > p[RowP.RING]:
        s[OUTCOMES + Out.STATUS] = STATUS_RING_FULL
    return packet_at(p, s, way, number)


def next_of(s: Any, way: Any) -> Any:
    """Return the next packet that an endpoint sends, NONE or FULL."""
    w = way_at(way)
    if s[OUTCOMES + Out.STATUS] != STATUS_OK:
        return np.int64(FULL)
    if s[w + Way.WAITING] == 0:
        return np.int64(NONE)
    s[w + Way.WAITING] -= 1
    s[w + Way.OLDEST] += 1
    return s[w + Way.OLDEST] - 1


def overfull(s: Any) -> Any:
    """Return whether a packet in flight was overwritten: then the outcomes of the row are invalid."""
    return s[OUTCOMES + Out.STATUS] != STATUS_OK


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the size of a packet of the sender [byte]."""
    return s[place_of(p, s, _FORTH, packet) + Packet.SIZE]


def is_last(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet of the sender carries the last chunk, which may be shorter than the others."""
    return s[place_of(p, s, _FORTH, packet) + Packet.NUMBER] == s[Word.LIMIT]


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the size of a packet of the receiver [byte]."""
    return s[place_of(p, s, _BACK, ack_id) + Packet.SIZE]


def is_data(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet of the sender carries data."""
    return s[place_of(p, s, _FORTH, packet) + Packet.KIND] == Kind.DATA


def is_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return whether a packet of the receiver is a SACK."""
    return s[place_of(p, s, _BACK, ack_id) + Packet.KIND] == Kind.SACK


def cumulative_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the cumulative TSN ack of a SACK."""
    return s[place_of(p, s, _BACK, ack_id) + Packet.NUMBER]


# The sender.


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the next packet to send, NONE or FULL. While `blocked`, all packets wait."""
    if blocked:
        return np.int64(NONE)
    return next_of(s, _FORTH)


def may_send(p: Any, s: Any) -> Any:
    """Return whether `next_segment` would return a packet or FULL."""
    return s[way_at(_FORTH) + Way.WAITING] > 0 or s[OUTCOMES + Out.STATUS] != STATUS_OK


def resume(p: Any, s: Any, g: Any) -> Any:
    """Return whether packets have waited for room in the queue."""
    return s[way_at(_FORTH) + Way.WAITING] > 0


@noinline
def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Process a packet of the receiver at the sender."""
    ends.at_sender(p, s, now, _FORTH, place_of(p, s, _BACK, ack_id))


@noinline
def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Process the sender's timer that expires first."""
    ends.expire(p, s, now, _timer(s))


def due(s: Any) -> Any:
    """Return when the sender's next timer expires [ns]."""
    return s[_timer(s)]


@noinline
def _timer(s: Any) -> Any:
    timer = _earlier(s, np.int64(Event.T1), np.int64(Event.T3))
    timer = _earlier(s, timer, np.int64(Event.DEGRADE))
    timer = _earlier(s, timer, np.int64(Event.HEARTBEAT_TIMEOUT))
    return _earlier(s, timer, np.int64(Event.HEARTBEAT_TIMER))


def _earlier(s: Any, one: Any, other: Any) -> Any:
    return other if s[other] < s[one] else one


def finished(s: Any) -> Any:
    """Return whether all data are acknowledged."""
    return s[Word.CUM] == s[Word.LIMIT]


def all_sent(s: Any) -> Any:
    """Return whether all data have been sent."""
    return s[Word.LAST_TSN] == s[Word.LIMIT]


@noinline
def data_waiting(p: Any, s: Any) -> Any:
    """Return how many data packets wait for room in the queue."""
    first, count = s[way_at(_FORTH) + Way.OLDEST], np.int64(0)
    for number in range(first, first + s[way_at(_FORTH) + Way.WAITING]):
        count += s[packet_at(p, s, _FORTH, number) + Packet.KIND] == Kind.DATA
    return count


def acked(p: Any, s: Any) -> Any:
    """Return how many data chunks are acknowledged cumulatively."""
    return s[Word.CUM]


def cwnd_of(p: Any, s: Any, g: Any) -> Any:
    """Return cwnd or the receiver's window, whichever is smaller [packet / 1024]."""
    return 1024 * min(s[way_at(_FORTH) + Way.CWND], p[SctpP.RWND]) // s[Word.CHUNK]


def sequence_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the TSN of the data of a packet, for traces; NONE if it has no data."""
    at = place_of(p, s, _FORTH, packet)
    return s[at + Packet.NUMBER] if s[at + Packet.KIND] == Kind.DATA else np.int64(NONE)


def show(s: Any, g: Any, trace: Any, n: Any) -> None:
    """Write the state of the sender to row n of a trace; windows in chunks."""
    w = way_at(_FORTH)
    trace[n, Trace.CWND] = s[w + Way.CWND] / s[Word.CHUNK]
    trace[n, Trace.SSTHRESH] = s[w + Way.SSTHRESH] / s[Word.CHUNK]
    trace[n, Trace.RTO] = s[w + Way.RTO] / 1e9
    trace[n, Trace.ACKED] = s[Word.CUM]


# The receiver.


@noinline
def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """Process a packet of the sender that arrives at time t [ns].

    Returns the packet with which the receiver answers, NONE or FULL; and whether new data have arrived.
    """
    accepted = s[Word.ACCEPTED]
    ends.at_receiver(p, s, t, _BACK, place_of(p, s, _FORTH, packet))
    return next_of(s, _BACK), s[Word.ACCEPTED] > accepted


@noinline
def on_delay(p: Any, s: Any) -> Any:
    """Process the receiver's timer that expires first; returns the packet to send, NONE or FULL."""
    timer = _timer_at_sink(s)
    ends.expire(p, s, s[timer], timer)
    return next_of(s, _BACK)


def due_at_receiver(s: Any) -> Any:
    """Return when the receiver's next timer expires [ns]."""
    return s[_timer_at_sink(s)]


@noinline
def _timer_at_sink(s: Any) -> Any:
    timer = _earlier(s, np.int64(Event.SACK_TIMER), np.int64(Event.HEARTBEAT_TIMEOUT + PATHS))
    return _earlier(s, timer, np.int64(Event.HEARTBEAT_TIMER + 1))


def in_order(p: Any, s: Any) -> Any:
    """Return how many data chunks the receiver has without a gap."""
    return s[Word.RCV_CUM]


def complete(p: Any, s: Any) -> Any:
    """Return whether the receiver has all data."""
    return s[Word.ACCEPTED] == s[Word.LIMIT]


def delay_of(p: Any, s: Any, t: Any, packet: Any) -> Any:
    """Return the time since the data of a packet were first sent [ns]."""
    tsn = s[place_of(p, s, _FORTH, packet) + Packet.NUMBER]
    return t - s[chunk_at(p, s, tsn) + Chunk.BORN]
