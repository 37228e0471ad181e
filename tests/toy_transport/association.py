"""Stop-and-wait as an association (`endpoints.contract`); missing parts come from the defaults."""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.endpoints.defaults import NONE
from tests.toy_transport import TIMEOUT

FLOATS = 0
"""Words of float memory."""


class Word(IntEnum):
    """Words of an association."""

    LIMIT = 0
    """Packets to send [n]."""
    NUMBER = 1
    """Number of the packet that is to be acknowledged next."""
    READY = 2
    """1 if it is to be sent now, else 0."""
    DUE = 3
    """Expiry of the retransmission timer [ns], or FOREVER."""
    FIRST_SENT = 4
    """Time of the first transmission of this packet [ns]."""
    STARTED = 5
    """Packets that have been sent at least once [n]."""
    EXPECTED = 6
    """Number of the packet that the receiver expects."""
    SENT = 7
    """Transmissions [n]."""
    RETRANSMITTED = 8
    """Retransmissions [n]."""
    TIMEOUTS = 9
    """Timeouts [n]."""
    ACKED = 10
    """Last packet that is acknowledged, or -1."""
    ZERO = 11
    """0, for counters that the transport does not have."""


WORDS = len(Word)
"""Words of scratch."""


class Counter(IntEnum):
    """Words of scratch that an engine may read."""

    SENT = Word.SENT
    RETRANSMITTED = Word.RETRANSMITTED
    TIMEOUTS = Word.TIMEOUTS
    HANDSHAKES = Word.ZERO
    FAST_RETRANSMITS = Word.ZERO
    REDUCTIONS = Word.ZERO
    RTT = Word.ZERO
    ACKED = Word.ACKED
    OUT_OF_ORDER = Word.ZERO
    AVOIDED = Word.ZERO
    PROBING = Word.ZERO
    PROBING_SINCE = Word.ZERO
    PROBES = Word.ZERO
    PROBE_CYCLES = Word.ZERO
    PROBE_TIME = Word.ZERO


@noinline
def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Set up an association that sends `limit` packets; returns the next free word."""
    for word in range(WORDS):
        s[word] = 0
    s[Word.LIMIT] = limit
    s[Word.DUE] = FOREVER
    s[Word.ACKED] = -1
    return free


def start(p: Any, s: Any, g: Any, now: Any) -> None:
    """Make the first packet ready."""
    s[Word.READY] = 1


def may_send(p: Any, s: Any) -> Any:
    """Return whether a packet is ready."""
    return s[Word.READY] != 0


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the packet to send now, or NONE if there is none or while the queue is full."""
    if blocked or not may_send(p, s):
        return np.int64(NONE)
    if s[Word.STARTED] == s[Word.NUMBER]:
        s[Word.STARTED] += 1
        s[Word.FIRST_SENT] = now
    else:
        s[Word.RETRANSMITTED] += 1
    s[Word.SENT] += 1
    s[Word.READY] = 0
    s[Word.DUE] = now + TIMEOUT
    return s[Word.NUMBER]


def resume(p: Any, s: Any, g: Any) -> Any:
    """Return whether a packet waits for room in the queue."""
    return s[Word.READY] != 0


def due(s: Any) -> Any:
    """Return when the packet is to be retransmitted [ns]."""
    return s[Word.DUE]


def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Retransmit the packet."""
    s[Word.TIMEOUTS] += 1
    s[Word.READY] = 1
    s[Word.DUE] = FOREVER


def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Make the next packet ready if the current one is acknowledged."""
    if ack_id == s[Word.NUMBER]:
        s[Word.ACKED] = ack_id
        s[Word.NUMBER] += 1
        s[Word.READY] = 1 if s[Word.NUMBER] < s[Word.LIMIT] else 0
        s[Word.DUE] = FOREVER


def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """Acknowledge a packet; returns its number, and whether it arrives for the first time."""
    fresh = packet == s[Word.EXPECTED]
    if fresh:
        s[Word.EXPECTED] += 1
    return packet, fresh


def is_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return True: all packets of the receiver acknowledge data."""
    return True


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the size of a packet of the sender [byte]."""
    return p[RowP.DATA] + p[RowP.HEADER] - (p[RowP.SHORT] if is_last(p, s, packet) else 0)


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the size of an acknowledgement [byte]."""
    return p[ReliableP.ACK]


def is_last(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet is the last one."""
    return packet + 1 == s[Word.LIMIT]


def in_order(p: Any, s: Any) -> Any:
    """Return how many packets have arrived; none is missing."""
    return s[Word.EXPECTED]


def complete(p: Any, s: Any) -> Any:
    """Return whether all packets have arrived."""
    return s[Word.EXPECTED] == s[Word.LIMIT]


def finished(s: Any) -> Any:
    """Return whether all packets are acknowledged."""
    return s[Word.NUMBER] == s[Word.LIMIT]


def all_sent(s: Any) -> Any:
    """Return whether all packets have been sent."""
    return s[Word.STARTED] == s[Word.LIMIT]


def acked(p: Any, s: Any) -> Any:
    """Return how many packets are acknowledged."""
    return s[Word.NUMBER]


def delay_of(p: Any, s: Any, t: Any, packet: Any) -> Any:
    """Return the time since the first transmission of the packet that has just arrived [ns]."""
    return t - s[Word.FIRST_SENT]


def cwnd_of(p: Any, s: Any, g: Any) -> Any:
    """Return a window of one packet [packet / 1024]."""
    return np.int64(1024)


def cumulative_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the packet that an acknowledgement acknowledges."""
    return ack_id
