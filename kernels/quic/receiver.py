"""Receiver: ACK ranges, and the times at which ACK frames are sent.

Source: RFC 9000, sections 13.2 and 19.3. An ACK frame stands for the packets among the first so many arrivals
from a lowest number on, which are those of its ranges.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base import bits
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import QuicP, ReliableP, RowP
from netcarlo.kernels.quic.state import (
    AMPLIFICATION,
    INITIAL_BYTES,
    MAX_RANGES,
    NONE,
    Answer,
    Packet,
    Word,
    answer_at,
    packet_at,
    range_at,
)

DELAY_UNIT = 8_000
"""Unit of the field ACK Delay: 2**ack_delay_exponent us, 8 us by default (RFC 9000, section 18.2) [ns]."""


def _answer(p: Any, s: Any, hello: Any, size: Any) -> Any:
    """Return the number of a new packet of the receiver of so many bytes."""
    number = s[Word.NEXT_ANSWER]
    at = answer_at(p, s, number)
    s[at + Answer.HELLO] = hello
    s[at + Answer.SIZE] = size
    s[Word.NEXT_ANSWER] = number + 1
    return number


def reply(p: Any, s: Any, number: Any, stage: Any) -> Any:
    """Answer handshake packet `number` of round `stage` with a part of the server's flight, as one packet."""
    most = AMPLIFICATION * INITIAL_BYTES
    part = min(p[QuicP.SERVER_FLIGHT], most) if stage == 1 else p[QuicP.SERVER_FLIGHT] - most
    datagrams = (part + INITIAL_BYTES - 1) // INITIAL_BYTES
    return _answer(p, s, number, part + datagrams * p[RowP.HEADER])


@noinline
def acknowledge(p: Any, s: Any, t: Any) -> Any:
    """Return the number of a new ACK frame (RFC 9000, section 19.3)."""
    further = s[Word.END_RANGE] - s[Word.FIRST_RANGE] - 1
    number = _answer(p, s, np.int64(NONE), p[ReliableP.ACK] + further * p[ReliableP.SACK_BLOCK])
    at = answer_at(p, s, number)
    s[at + Answer.LARGEST] = s[Word.LARGEST]
    s[at + Answer.FLOOR] = s[Word.FLOOR]
    s[at + Answer.ARRIVALS] = s[Word.ARRIVALS]
    s[at + Answer.DELAY] = (t - s[Word.LARGEST_AT]) // DELAY_UNIT * DELAY_UNIT
    s[Word.UNREPORTED] = 0
    s[Word.ACK_AT] = FOREVER
    return number


@noinline
def is_known(s: Any, number: Any) -> Any:
    """Return whether a packet has arrived before, or is too old to tell (RFC 9000, section 12.3)."""
    if number < s[Word.FLOOR]:
        return True
    last = s[Word.END_RANGE] - 1
    while last >= s[Word.FIRST_RANGE] and number < s[range_at(s, last)]:
        last -= 1
    return last >= s[Word.FIRST_RANGE] and number < s[range_at(s, last) + 1]


@noinline
def record(p: Any, s: Any, t: Any, number: Any) -> None:
    """Add a packet that arrives for the first time to the log and to the ACK ranges."""
    if s[Word.ARRIVALS] - s[Word.ARRIVALS_ACKED] >= p[RowP.RING]:
        s[Word.OVERFULL] = 1
    s[s[Word.LOG] + (s[Word.ARRIVALS] & (p[RowP.RING] - 1))] = number
    s[Word.ARRIVALS] += 1
    if number > s[Word.LARGEST]:
        s[Word.LARGEST] = number
        s[Word.LARGEST_AT] = t
    place = s[Word.END_RANGE]  # the packet belongs before this range, and behind the one below it
    while place > s[Word.FIRST_RANGE] and number < s[range_at(s, place - 1)]:
        place -= 1
    below, above = range_at(s, place - 1), range_at(s, place)
    follows = place > s[Word.FIRST_RANGE] and s[below + 1] == number
    precedes = place < s[Word.END_RANGE] and s[above] == number + 1
    if follows and precedes:
        s[below + 1] = s[above + 1]
        _move(s, place + 1, np.int64(-1))
    elif follows:
        s[below + 1] = number + 1
    elif precedes:
        s[above] = number
    else:
        _insert(s, place, number)


@noinline
def _insert(s: Any, place: Any, number: Any) -> None:
    """Insert a range of one packet before range `place`; drop the lowest range if there are too many."""
    if s[Word.END_RANGE] - s[Word.FIRST_RANGE] == MAX_RANGES:
        if place == s[Word.FIRST_RANGE]:
            s[Word.FLOOR] = s[range_at(s, place)]
            return
        s[Word.FIRST_RANGE] += 1
        s[Word.FLOOR] = number
        if place > s[Word.FIRST_RANGE]:
            s[Word.FLOOR] = s[range_at(s, s[Word.FIRST_RANGE])]
    _move(s, place, np.int64(1))
    at = range_at(s, place)
    s[at] = number
    s[at + 1] = number + 1


def _move(s: Any, first: Any, by: Any) -> None:
    """Move the ranges from `first` on by one place, upwards or downwards."""
    count = s[Word.END_RANGE] - first
    for k in range(count):
        source = first + k if by < 0 else s[Word.END_RANGE] - 1 - k
        old, new = range_at(s, source), range_at(s, source + by)
        s[new] = s[old]
        s[new + 1] = s[old + 1]
    s[Word.END_RANGE] += by


@noinline
def deliver(p: Any, s: Any, chunk: Any) -> Any:
    """Take in a chunk; return whether it arrives for the first time."""
    mask = p[RowP.RING] - 1
    if chunk < s[Word.EXPECTED] or bits.test_bit(s, s[Word.ARRIVED], mask, chunk):
        return False
    s[Word.HIGHEST] = max(s[Word.HIGHEST], chunk)
    if chunk > s[Word.EXPECTED]:
        bits.set_bit(s, s[Word.ARRIVED], mask, chunk)
        s[Word.OUT_OF_ORDER] += 1
        return True
    s[Word.EXPECTED] = chunk + 1
    if s[Word.OUT_OF_ORDER] > 0:
        end = bits.run_end(s, s[Word.ARRIVED], mask, chunk + 1, s[Word.HIGHEST] + 1)
        bits.clear_bits(s, s[Word.ARRIVED], mask, chunk + 1, end)
        s[Word.OUT_OF_ORDER] -= end - chunk - 1
        s[Word.EXPECTED] = end
    return True


@noinline
def on_packet(p: Any, s: Any, t: Any, number: Any) -> Any:
    """Process a packet of the sender that arrives at time t [ns].

    Returns the number of the packet with which the receiver answers, or NONE, and whether new data arrived.
    An ACK is due for every `ACK_EVERY`-th data packet, and at once if a packet is missing before it or it is
    late (RFC 9000, section 13.2.1). Data that arrive before the first handshake packet cannot be decrypted.
    """
    chunk = s[packet_at(p, s, number) + Packet.CHUNK]
    known, expected = is_known(s, number), s[Word.LARGEST] + 1
    if chunk < 0:
        s[Word.OPEN] = 1
        if not known:
            record(p, s, t, number)
        return reply(p, s, number, -chunk), False
    if known or s[Word.OPEN] == 0:
        return np.int64(NONE), False
    record(p, s, t, number)
    fresh = deliver(p, s, chunk)
    s[Word.UNREPORTED] += 1
    if number != expected or s[Word.UNREPORTED] >= p[ReliableP.ACK_EVERY]:
        return acknowledge(p, s, t), fresh
    if s[Word.ACK_AT] == FOREVER:
        s[Word.ACK_AT] = t + p[ReliableP.ACK_DELAY]
    return np.int64(NONE), fresh
