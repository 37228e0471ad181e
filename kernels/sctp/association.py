"""An SCTP association of one path as a machine that an engine drives with events, as `tcp.association`.

Each end numbers the packets that it puts out, whatever they carry, and keeps what is in them in a ring of
`P.RING`.  A packet that is still on its way when its place is needed makes the association `overfull`.  What
an end wants to put out waits in its ring until the engine takes it.

The receiver may be ahead of the sender: it shares no word with it but TSNs, and SACKs name what it had then.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import PATHS, STATUS_OK, STATUS_RING_FULL, Out, P, Trace
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
"""Of float memory."""
WORDS = STATE_SIZE
"""Of scratch, without its rings."""

_FORTH = np.int64(0)  # the way of the sender,
_BACK = np.int64(PATHS)  # and that of the receiver


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
    """Words of scratch of an association with this window and `P.RING`, or of many."""
    return state.scratch_words(2, ring)


@noinline
def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Before the start; `limit` chunks are to be sent, by association `flow` of the row.

    Rings are laid out from word `free` of `s` on; returns the next free one.
    """
    handshake.prepare(p, s, np.int64(1), limit, flow)
    return state.lay_out(p, s, np.int64(2), free)


@noinline
def start(p: Any, s: Any, g: Any, now: Any) -> None:
    """The application begins to send."""
    handshake.t1_due(p, s, now)


# Packets.


def place_of(p: Any, s: Any, way: Any, number: Any) -> Any:
    """Where a packet on its way is in scratch."""
    w = way_at(way)
    if s[w + Way.OLDEST] + s[w + Way.WAITING] - number > p[P.RING]:
        s[OUTCOMES + Out.STATUS] = STATUS_RING_FULL
    return packet_at(p, s, way, number)


def next_of(s: Any, way: Any) -> Any:
    """The next packet that an end puts out, NONE or FULL."""
    w = way_at(way)
    if s[OUTCOMES + Out.STATUS] != STATUS_OK:
        return np.int64(FULL)
    if s[w + Way.WAITING] == 0:
        return np.int64(NONE)
    s[w + Way.WAITING] -= 1
    s[w + Way.OLDEST] += 1
    return s[w + Way.OLDEST] - 1


def overfull(s: Any) -> Any:
    """A packet on its way was overwritten: what comes of the row is worthless."""
    return s[OUTCOMES + Out.STATUS] != STATUS_OK


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """A packet of the sender [byte]."""
    return s[place_of(p, s, _FORTH, packet) + Packet.SIZE]


def is_last(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet of the sender carries the last chunk, which may be shorter than the others."""
    return s[place_of(p, s, _FORTH, packet) + Packet.NUMBER] == s[Word.LIMIT]


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """A packet of the receiver [byte]."""
    return s[place_of(p, s, _BACK, ack_id) + Packet.SIZE]


def is_data(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet of the sender carries data."""
    return s[place_of(p, s, _FORTH, packet) + Packet.KIND] == Kind.DATA


def is_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Whether a packet of the receiver acknowledges data."""
    return s[place_of(p, s, _BACK, ack_id) + Packet.KIND] == Kind.SACK


def cumulative_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """The TSN up to which a SACK says that all have come."""
    return s[place_of(p, s, _BACK, ack_id) + Packet.NUMBER]


# The sender.


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """The next packet to put out, NONE, or FULL.  While `blocked` all wait."""
    if blocked:
        return np.int64(NONE)
    return next_of(s, _FORTH)


def may_send(p: Any, s: Any) -> Any:
    """If not, `next_segment` would give none."""
    return s[way_at(_FORTH) + Way.WAITING] > 0 or s[OUTCOMES + Out.STATUS] != STATUS_OK


def resume(p: Any, s: Any, g: Any) -> Any:
    """No longer blocked; returns whether something has waited for that."""
    return s[way_at(_FORTH) + Way.WAITING] > 0


@noinline
def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """A packet of the receiver arrives at the sender."""
    ends.at_sender(p, s, now, _FORTH, place_of(p, s, _BACK, ack_id))


@noinline
def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """The first of the sender's timers goes off."""
    ends.expire(p, s, now, _timer(s))


def due(s: Any) -> Any:
    """When the sender's next timer goes off [ns]."""
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
    """All there is has been acknowledged."""
    return s[Word.CUM] == s[Word.LIMIT]


def all_sent(s: Any) -> Any:
    """All there is has been put out."""
    return s[Word.LAST_TSN] == s[Word.LIMIT]


@noinline
def data_waiting(p: Any, s: Any) -> Any:
    """Packets with data that are put out, but wait, blocked."""
    first, count = s[way_at(_FORTH) + Way.OLDEST], np.int64(0)
    for number in range(first, first + s[way_at(_FORTH) + Way.WAITING]):
        count += s[packet_at(p, s, _FORTH, number) + Packet.KIND] == Kind.DATA
    return count


def acked(p: Any, s: Any) -> Any:
    """Packets with data that are acknowledged with all before them."""
    return s[Word.CUM]


def cwnd_of(p: Any, s: Any, g: Any) -> Any:
    """The window that counts: cwnd, or the receiver's if that is smaller [packet / 1024]."""
    return 1024 * min(s[way_at(_FORTH) + Way.CWND], p[P.RWND]) // s[Word.CHUNK]


def sequence_of(p: Any, s: Any, packet: Any) -> Any:
    """What a trace calls a packet of the sender: the TSN of its data, or NONE."""
    at = place_of(p, s, _FORTH, packet)
    return s[at + Packet.NUMBER] if s[at + Packet.KIND] == Kind.DATA else np.int64(NONE)


def show(s: Any, g: Any, trace: Any, n: Any) -> None:
    """The state of the sender in row n of a trace; windows in chunks."""
    w = way_at(_FORTH)
    trace[n, Trace.CWND] = s[w + Way.CWND] / s[Word.CHUNK]
    trace[n, Trace.SSTHRESH] = s[w + Way.SSTHRESH] / s[Word.CHUNK]
    trace[n, Trace.RTO] = s[w + Way.RTO] / 1e9
    trace[n, Trace.ACKED] = s[Word.CUM]


# The receiver.


@noinline
def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """A packet of the sender arrives at time t [ns].

    Returns the packet with which the receiver answers, NONE or FULL; and whether data have come that were
    not there before.
    """
    accepted = s[Word.ACCEPTED]
    ends.at_receiver(p, s, t, _BACK, place_of(p, s, _FORTH, packet))
    return next_of(s, _BACK), s[Word.ACCEPTED] > accepted


@noinline
def on_delay(p: Any, s: Any) -> Any:
    """The first of the receiver's timers goes off; returns the packet that goes out, NONE or FULL."""
    timer = _timer_at_sink(s)
    ends.expire(p, s, s[timer], timer)
    return next_of(s, _BACK)


def due_at_receiver(s: Any) -> Any:
    """When the receiver's next timer goes off [ns]."""
    return s[_timer_at_sink(s)]


@noinline
def _timer_at_sink(s: Any) -> Any:
    timer = _earlier(s, np.int64(Event.SACK_TIMER), np.int64(Event.HEARTBEAT_TIMEOUT + PATHS))
    return _earlier(s, timer, np.int64(Event.HEARTBEAT_TIMER + 1))


def in_order(p: Any, s: Any) -> Any:
    """Packets with data that the receiver has without a gap."""
    return s[Word.RCV_CUM]


def complete(p: Any, s: Any) -> Any:
    """The receiver has all the data that there is."""
    return s[Word.ACCEPTED] == s[Word.LIMIT]


def delay_of(p: Any, s: Any, t: Any, packet: Any) -> Any:
    """Time since the data of a packet were first put out [ns]."""
    tsn = s[place_of(p, s, _FORTH, packet) + Packet.NUMBER]
    return t - s[chunk_at(p, s, tsn) + Chunk.BORN]
