"""A QUIC connection over two paths whose client moves to the other one after probe timeouts.

Source: RFC 9000, sections 8.2 and 9. The client, which sends the data, validates the other path with
PATH_CHALLENGE and then sends everything there; when it begins is up to an implementation. It resets the
congestion control and the RTT (section 9.4), and sends the data of all packets in flight again, as Chromium
does, so that these do not concern the new path. The server sends to the address of the newest data (section
9.3). It does not validate that address: its limit of three times the bytes received exceeds its ACKs by far.

The functions replace those of `association`. Words that they need follow those of `state.Word`.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, NEVER
from netcarlo.kernels.base.parameters import MigrationP, QuicP, ReliableP, RowP
from netcarlo.kernels.quic import association, receiver, sender, state, timers
from netcarlo.kernels.quic.state import (
    INFINITE,
    INITIAL_BYTES,
    NONE,
    Answer,
    Fate,
    Packet,
    Word,
    answer_at,
    packet_at,
)

CHALLENGE = -3
"""Value of `Packet.CHUNK` of a packet with PATH_CHALLENGE; it follows the rounds of the handshake."""
CHALLENGES = 2
"""Packets with PATH_CHALLENGE of a validation at most, of which the second follows a timeout [n]."""


class Own(IntEnum):
    """Words of an association besides those of `state.Word`."""

    PATH = state.STATE_SIZE
    """Path over which the client sends."""
    VALIDATION = auto()
    """Packets with PATH_CHALLENGE sent by this validation of the other path [n]; 0: there is none."""
    CHALLENGE_DUE = auto()
    """1 if PATH_CHALLENGE is to be sent, else 0."""
    FIRST_CHALLENGE = auto()
    """Number of the first packet of this validation."""
    TIMER = auto()
    """Time at which PATH_CHALLENGE is sent again or the validation fails [ns], or FOREVER."""
    REPLIED = auto()
    """Time of the latest packet from the server other than PATH_RESPONSE [ns]."""
    LONGEST_FAILOVER = auto()
    """Longest time from that packet until a migration [ns], or NEVER."""
    ARRIVAL = auto()
    """Path of the latest packet that reached the server."""
    SERVER_PATH = auto()
    """Path over which the server sends ACK frames."""
    SIZE = auto()
    """Words of an association without its rings."""


WORDS = int(Own.SIZE)
"""Words of scratch without the rings."""


def scratch_words(window: Any, ring: Any) -> Any:
    """Return the words of scratch of an association with this `RowP.RING`."""
    return state.scratch_words(window, ring) + WORDS - state.STATE_SIZE


@noinline
def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Set up a connection that sends `limit` chunks; return the next free word."""
    for word in range(state.STATE_SIZE, WORDS):
        s[word] = 0
    s[Own.TIMER] = FOREVER
    s[Own.LONGEST_FAILOVER] = NEVER
    return association.prepare(p, s, g, limit, phase, flow, free)


def _is_challenge(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet of the sender carries PATH_CHALLENGE."""
    return s[packet_at(p, s, packet) + Packet.CHUNK] == CHALLENGE


# Paths of packets.


def path_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the path of a packet that the sender sends now."""
    return 1 - s[Own.PATH] if _is_challenge(p, s, packet) else s[Own.PATH]


def path_of_answer(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the path of a packet that the receiver sends now (RFC 9000, sections 8.2.2 and 9.3)."""
    return s[Own.SERVER_PATH] if association.is_ack(p, s, ack_id) else s[Own.ARRIVAL]


def note_path(s: Any, path: Any) -> None:
    """Record the path of the packet that `on_data` is about to process."""
    s[Own.ARRIVAL] = path


def longest_failover(s: Any) -> Any:
    """Return the longest time from the latest packet of the server until a migration [ns], or NEVER."""
    return s[Own.LONGEST_FAILOVER]


# The sender.


def may_send(p: Any, s: Any) -> Any:
    """Return whether `next_segment` would return a packet or FULL."""
    return s[Own.CHALLENGE_DUE] > 0 or sender.may_send(p, s)


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the number of the packet to send now, NONE or FULL."""
    if s[Own.CHALLENGE_DUE] > 0 and s[Word.NEXT_NUMBER] - s[Word.OLDEST] < p[RowP.RING]:
        s[Own.CHALLENGE_DUE] = 0
        number = sender._number(p, s, now, np.int64(CHALLENGE), np.int64(Fate.UNTRACKED))
        sender.skip(p, s)
        return number
    return sender.next_packet(p, s, now)


@noinline
def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Process a packet of the receiver at the sender."""
    hello = s[answer_at(p, s, ack_id) + Answer.HELLO]
    if hello == NONE or not _is_challenge(p, s, hello):
        s[Own.REPLIED] = now
        association.on_ack(p, s, g, constants, now, ack_id)
    elif s[Own.VALIDATION] > 0 and hello >= s[Own.FIRST_CHALLENGE]:
        s[Word.NOW] = now
        _migrate(p, s)
        timers.start_pacing(p, s)


def due(s: Any) -> Any:
    """Return when the sender's next timer expires [ns]."""
    return min(association.due(s), s[Own.TIMER])


@noinline
def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Process the timers of the sender that expire now, those of the validation after the others."""
    if association.due(s) <= now:
        timeouts = s[Word.TIMEOUTS]
        association.on_timeout(p, s, g, constants, now)
        late = s[Word.TIMEOUTS] > timeouts and s[Word.PTO_COUNT] >= p[MigrationP.MIGRATE_AFTER]
        if late and s[Own.VALIDATION] == 0:
            s[Own.FIRST_CHALLENGE] = s[Word.NEXT_NUMBER]
            _challenge(p, s)
        return
    s[Word.NOW] = now
    if s[Own.VALIDATION] < CHALLENGES:
        _challenge(p, s)
    else:
        s[Own.VALIDATION] = 0
        s[Own.TIMER] = FOREVER
    timers.start_pacing(p, s)


def _challenge(p: Any, s: Any) -> None:
    """Send PATH_CHALLENGE, again after a timeout, and give up after three of them (RFC 9000, section 8.2.4).

    The timeout is the larger one of the probe timeout and that of a new path.
    """
    current = s[Word.SMOOTHED_RTT] + max(4 * s[Word.RTT_VARIATION], timers.GRANULARITY)
    timeout = max(current, 3 * p[QuicP.INITIAL_RTT]) + p[ReliableP.ACK_DELAY]
    s[Own.VALIDATION] += 1
    s[Own.CHALLENGE_DUE] = 1
    s[Own.TIMER] = s[Word.NOW] + max(s[Own.VALIDATION] * timeout, np.int64(1))


@noinline
def _migrate(p: Any, s: Any) -> None:
    """Move to the other path, which is valid now (RFC 9000, section 9.4)."""
    s[Own.PATH] = 1 - s[Own.PATH]
    s[Own.VALIDATION] = 0
    s[Own.CHALLENGE_DUE] = 0
    s[Own.TIMER] = FOREVER
    s[Own.LONGEST_FAILOVER] = max(s[Own.LONGEST_FAILOVER], s[Word.NOW] - s[Own.REPLIED])
    for number in range(s[Word.OLDEST], s[Word.NEXT_NUMBER]):
        at = packet_at(p, s, number)
        if s[at + Packet.FATE] == Fate.FLYING:
            s[at + Packet.FATE] = Fate.LOST
            sender.put_back(p, s, s[at + Packet.CHUNK])
    sender.skip(p, s)
    for word in (
        Word.IN_FLIGHT, Word.PROBES, Word.PTO_COUNT, Word.LATEST_RTT, Word.MIN_RTT, Word.PACE_AT,
        Word.RELEASE, Word.STASH, Word.W_MAX, Word.W_EST, Word.W_EST_STASH, Word.CWND_PRIOR,
        Word.ROUND_END, Word.ROUND_SAMPLES, Word.CSS,
    ):  # fmt: skip
        s[word] = 0
    for word in (Word.FIRST_SAMPLE, Word.RECOVERY_START, Word.EPOCH):
        s[word] = NONE
    for word in (Word.LOSS_TIME, Word.TIMER, Word.ROUND_MIN, Word.LAST_ROUND_MIN):
        s[word] = FOREVER
    s[Word.HYSTART] = p[QuicP.HYSTART]
    s[Word.SMOOTHED_RTT] = p[QuicP.INITIAL_RTT]
    s[Word.RTT_VARIATION] = p[QuicP.INITIAL_RTT] // 2
    s[Word.CWND] = p[QuicP.INITIAL_PACKETS] * s[Word.DATAGRAM]
    s[Word.SSTHRESH] = INFINITE


# The receiver.


@noinline
def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """Process a packet of the sender that arrives at time t [ns]; see `receiver.on_packet`.

    PATH_RESPONSE, too, is in a datagram of 1,200 bytes (RFC 9000, section 8.2.2).
    """
    if _is_challenge(p, s, packet):
        receiver.record(p, s, t, packet)
        return receiver._answer(p, s, packet, p[RowP.HEADER] + INITIAL_BYTES), False
    if packet > s[Word.LARGEST]:
        s[Own.SERVER_PATH] = s[Own.ARRIVAL]
    return receiver.on_packet(p, s, t, packet)
