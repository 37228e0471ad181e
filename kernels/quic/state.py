"""State of a QUIC connection that carries one stream: the words of its scratch by name.

Names are those of RFC 9002, appendix A.3 and B.2, where it has them. The sender numbers its packets from 0
and never repeats a number; handshake and data share one packet number space. A *chunk* is the data of one
packet: the stream is cut into chunks of `RowP.DATA` bytes, numbered from 0. A lost chunk is sent again in a
new packet.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base import bits
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import QuicP, RowP

NONE = -1
"""Value that stands for no packet, no chunk or no time."""
INFINITE = np.int64(1 << 60)
"""Slow start threshold before the first congestion event [bytes]."""
MAX_RANGES = 32
"""ACK ranges that the receiver keeps, a power of two; older ones are dropped (RFC 9000, section 13.2.3)."""
INITIAL_BYTES = np.int64(1200)
"""UDP payload of a datagram of the client during the handshake (RFC 9000, section 14.1) [bytes]."""
AMPLIFICATION = 3
"""Factor by which a server's bytes may exceed those received from an unvalidated address (RFC 9000, section
8)."""


class Word(IntEnum):
    """Words of an association, those of the sender first."""

    LIMIT = 0
    """Chunks to send [n], or ENDLESS."""
    DATAGRAM = auto()
    """UDP payload of a full packet [bytes] (`max_datagram_size`)."""
    PHASE = auto()
    """State of the handshake at the sender (`Phase`)."""
    ROUND = auto()
    """Number of the exchange of the handshake, from 1."""
    HELLO = auto()
    """1 if a handshake packet is to be sent, else 0."""
    NOW = auto()
    """Time of the latest event at the sender [ns]."""
    NEXT_NUMBER = auto()
    """Number of the next packet."""
    OLDEST = auto()
    """Lowest number of a data packet that is neither acknowledged nor lost; NEXT_NUMBER if there is none."""
    LARGEST_ACKED = auto()
    """Largest acknowledged packet number (`largest_acked_packet`), or NONE."""
    ARRIVALS_ACKED = auto()
    """Arrivals at the receiver that ACK frames have reported [n]."""
    NEXT_CHUNK = auto()
    """Next chunk that was never sent."""
    UNACKED_CHUNK = auto()
    """Lowest chunk that is not acknowledged."""
    LOST_FIRST = auto()
    """Number of the first entry of the queue of lost chunks."""
    LOST_END = auto()
    """Number after its last entry."""
    IN_FLIGHT = auto()
    """UDP payload of data packets that are neither acknowledged nor lost (`bytes_in_flight`) [bytes]; the
    last packet counts as a full one."""
    PROBES = auto()
    """Probe packets to send (RFC 9002, section 6.2.4) [n]."""
    PROBE_CHUNK = auto()
    """Lowest unacknowledged chunk that no probe packet of this timeout carries."""
    # Round-trip times and timers.
    LATEST_RTT = auto()
    """Latest RTT sample [ns] (`latest_rtt`)."""
    SMOOTHED_RTT = auto()
    """Smoothed RTT [ns] (`smoothed_rtt`)."""
    RTT_VARIATION = auto()
    """RTT variation [ns] (`rttvar`)."""
    MIN_RTT = auto()
    """Minimum RTT [ns] (`min_rtt`)."""
    FIRST_SAMPLE = auto()
    """Time of the first RTT sample [ns] (`first_rtt_sample`), or NONE."""
    PTO_COUNT = auto()
    """Probe timeouts in a row (`pto_count`)."""
    LAST_SENT = auto()
    """Time at which the latest data packet was sent, or the latest probe timeout expired [ns]."""
    LOSS_TIME = auto()
    """Time at which the next packet is lost by the time threshold [ns] (`loss_time`), or FOREVER."""
    TIMER = auto()
    """Expiry of the loss detection timer or of that of the handshake [ns], or FOREVER."""
    PACE_AT = auto()
    """Time until which the packets sent so far last at the pacing rate [ns]."""
    RELEASE = auto()
    """Earliest time at which pacing lets the next packet leave [ns]."""
    PACE_TIMER = auto()
    """Expiry of the pacing timer [ns], or FOREVER."""
    # Congestion control.
    CWND = auto()
    """Congestion window [bytes] (`congestion_window`)."""
    SSTHRESH = auto()
    """Slow start threshold [bytes] (`ssthresh`)."""
    RECOVERY_START = auto()
    """Time at which the latest recovery period began [ns] (`congestion_recovery_start_time`), or NONE."""
    STASH = auto()
    """Remainder of the growth of the window in congestion avoidance, in the unit of the control."""
    W_MAX = auto()
    """CUBIC: window before the latest reduction [bytes], lower with fast convergence; 0: none yet."""
    EPOCH = auto()
    """CUBIC: start of congestion avoidance [ns] (`t_epoch`), or NONE."""
    K = auto()
    """CUBIC: time from the epoch to the plateau [s / 1024]."""
    W_EST = auto()
    """CUBIC: window of Reno in the same epoch [bytes]."""
    W_EST_STASH = auto()
    """CUBIC: remainder of the growth of W_EST."""
    CWND_PRIOR = auto()
    """CUBIC: window before the latest reduction [bytes] (`cwnd_prior`)."""
    # HyStart++.
    HYSTART = auto()
    """1 until the first reduction if HyStart++ may end slow start, else 0."""
    ROUND_END = auto()
    """Packet number whose acknowledgement ends the round (`windowEnd`)."""
    ROUND_MIN = auto()
    """Minimum RTT of the round (`currentRoundMinRTT`) [ns], or FOREVER."""
    LAST_ROUND_MIN = auto()
    """Minimum RTT of the round before (`lastRoundMinRTT`) [ns], or FOREVER."""
    ROUND_SAMPLES = auto()
    """RTT samples of the round (`rttSampleCount`) [n]."""
    CSS = auto()
    """Number of the round of conservative slow start, from 1; 0 outside it."""
    CSS_BASELINE = auto()
    """Minimum RTT with which it began (`cssBaselineMinRtt`) [ns]."""
    # Counters.
    SENT = auto()
    """Data packets sent [n]."""
    RETRANSMITTED = auto()
    """Data packets with a chunk that was sent before [n]."""
    HELLOS = auto()
    """Handshake packets of the sender [n]."""
    TIMEOUTS = auto()
    """Probe timeouts [n]."""
    RECOVERIES = auto()
    """Recovery periods (RFC 9002, section 7.3.2) [n]."""
    REDUCTIONS = auto()
    """Reductions of the window: recovery periods and persistent congestion [n]."""
    LAST_ACKED = auto()
    """Last chunk that is acknowledged with all before it, or NONE."""
    ZERO = auto()
    """0, for counters that QUIC does not have."""
    OVERFULL = auto()
    """1 if the place of a packet in flight was needed for another one."""
    # The receiver.
    OPEN = auto()
    """1 since the first handshake packet arrived, else 0."""
    EXPECTED = auto()
    """Lowest chunk that is missing."""
    HIGHEST = auto()
    """Highest chunk that has arrived, or NONE."""
    OUT_OF_ORDER = auto()
    """Chunks beyond EXPECTED that have arrived [n]."""
    ARRIVALS = auto()
    """Packets that have arrived, copies excluded [n]."""
    LARGEST = auto()
    """Largest packet number that has arrived, or NONE."""
    LARGEST_AT = auto()
    """Time of its arrival [ns]."""
    FLOOR = auto()
    """Lowest packet number that may still be acknowledged: older ranges were dropped."""
    FIRST_RANGE = auto()
    """Number of the lowest ACK range."""
    END_RANGE = auto()
    """Number after that of the highest ACK range."""
    UNREPORTED = auto()
    """Data packets since the latest ACK [n]."""
    ACK_AT = auto()
    """Expiry of the timer of delayed ACKs [ns], or FOREVER."""
    NEXT_ANSWER = auto()
    """Number of the receiver's next packet."""
    # Words at which rings begin.
    PACKETS = auto()
    """Ring of the sender's packets by number (`Packet`)."""
    CHUNKS = auto()
    """Ring of chunks by number (`Chunk`)."""
    LOST = auto()
    """Ring of lost chunks that wait for retransmission, in the order in which they were found lost."""
    LOG = auto()
    """Ring of the numbers of packets in the order of their arrival."""
    ANSWERS = auto()
    """Ring of the receiver's packets by number (`Answer`)."""
    ARRIVED = auto()
    """Bitmap of the chunks that have arrived beyond EXPECTED."""
    RANGES = auto()
    """ACK ranges by number, ascending: pairs (first number, number after the last)."""


STATE_SIZE = Word.RANGES + 2 * MAX_RANGES
"""Words of an association without its rings."""


class Phase(IntEnum):
    """State of the handshake at the sender."""

    CLOSED = 0
    WAITING = 1
    ESTABLISHED = 2


class Control(IntEnum):
    """Congestion control, `QuicP.CONTROL`."""

    NEWRENO = 0
    CUBIC = 1


class Packet(IntEnum):
    """Words of a packet of the sender."""

    CHUNK = 0
    """Chunk that it carries; of a handshake packet the negative of its round."""
    SENT = 1
    """Time at which it was sent [ns]."""
    FATE = 2
    """State of the packet at the sender (`Fate`)."""


class Fate(IntEnum):
    """State of a packet at the sender."""

    UNTRACKED = 0
    """Handshake packet."""
    FLYING = 1
    ACKED = 2
    LOST = 3


class Chunk(IntEnum):
    """Words of a chunk."""

    BORN = 0
    """Time of its first transmission [ns]."""
    FLAGS = 1
    """Bits of `Flag`."""


class Flag(IntEnum):
    """Bits of `Chunk.FLAGS`."""

    ACKED = 1
    """Acknowledged."""
    WAITING = 2
    """In the queue of lost chunks."""


class Answer(IntEnum):
    """Words of a packet of the receiver."""

    HELLO = 0
    """Handshake packet that it answers, or NONE: it is an ACK frame."""
    SIZE = 1
    """Size with UDP and IP headers [bytes]."""
    LARGEST = 2
    """Largest Acknowledged."""
    FLOOR = 3
    """Lowest number in the ACK ranges, or lower."""
    ARRIVALS = 4
    """Packets that had arrived when it was sent [n]: those of them from FLOOR on are acknowledged."""
    DELAY = 5
    """ACK Delay as decoded by the sender [ns]."""


PACKET_SIZE = len(Packet)
CHUNK_SIZE = len(Chunk)
ANSWER_SIZE = len(Answer)


def scratch_words(window: Any, ring: Any) -> Any:
    """Return the words of scratch of an association with this `RowP.RING`."""
    return STATE_SIZE + ring * (PACKET_SIZE + CHUNK_SIZE + ANSWER_SIZE + 2) + (ring + 63) // 64


def lay_out(p: Any, s: Any, free: Any) -> Any:
    """Lay out the rings from word `free` on; return the first free word."""
    ring = p[RowP.RING]
    s[Word.PACKETS] = free
    s[Word.CHUNKS] = s[Word.PACKETS] + ring * PACKET_SIZE
    s[Word.ANSWERS] = s[Word.CHUNKS] + ring * CHUNK_SIZE
    s[Word.LOST] = s[Word.ANSWERS] + ring * ANSWER_SIZE
    s[Word.LOG] = s[Word.LOST] + ring
    s[Word.ARRIVED] = s[Word.LOG] + ring
    bits.clear_bits(s, s[Word.ARRIVED], ring - 1, np.int64(0), ring)
    return s[Word.ARRIVED] + (ring + 63) // 64


def packet_at(p: Any, s: Any, number: Any) -> Any:
    """Return the first word of a packet of the sender; note it if its place was reused."""
    if s[Word.NEXT_NUMBER] - number > p[RowP.RING]:
        s[Word.OVERFULL] = 1
    return s[Word.PACKETS] + (number & (p[RowP.RING] - 1)) * PACKET_SIZE


def chunk_at(p: Any, s: Any, chunk: Any) -> Any:
    """Return the first word of a chunk from UNACKED_CHUNK on."""
    return s[Word.CHUNKS] + (chunk & (p[RowP.RING] - 1)) * CHUNK_SIZE


def answer_at(p: Any, s: Any, number: Any) -> Any:
    """Return the first word of a packet of the receiver; note it if its place was reused."""
    if s[Word.NEXT_ANSWER] - number > p[RowP.RING]:
        s[Word.OVERFULL] = 1
    return s[Word.ANSWERS] + (number & (p[RowP.RING] - 1)) * ANSWER_SIZE


def range_at(s: Any, number: Any) -> Any:
    """Return the first word of an ACK range."""
    return Word.RANGES + 2 * (number & (MAX_RANGES - 1))


def is_acked(p: Any, s: Any, chunk: Any) -> Any:
    """Return whether a chunk that was sent is acknowledged."""
    return chunk < s[Word.UNACKED_CHUNK] or s[chunk_at(p, s, chunk) + Chunk.FLAGS] & Flag.ACKED != 0


def rounds(p: Any) -> Any:
    """Return the exchanges of the handshake [n]: 2 if the anti-amplification limit interrupts the server's
    flight."""
    return np.int64(2) if p[QuicP.SERVER_FLIGHT] > AMPLIFICATION * INITIAL_BYTES else np.int64(1)


def prepare(p: Any, s: Any, limit: Any) -> None:
    """Set the words before the start; `limit` chunks are to be sent."""
    for word in range(STATE_SIZE):
        s[word] = 0
    s[Word.LIMIT] = limit
    s[Word.DATAGRAM] = p[RowP.DATA] + p[RowP.CHUNK_HEADER]
    for word in (
        Word.LARGEST_ACKED, Word.FIRST_SAMPLE, Word.RECOVERY_START, Word.EPOCH, Word.LAST_ACKED, Word.HIGHEST,
        Word.LARGEST,
    ):  # fmt: skip
        s[word] = NONE
    for word in (
        Word.LOSS_TIME, Word.TIMER, Word.PACE_TIMER, Word.ACK_AT, Word.ROUND_MIN, Word.LAST_ROUND_MIN,
    ):  # fmt: skip
        s[word] = FOREVER
    s[Word.HYSTART] = p[QuicP.HYSTART]
    s[Word.SMOOTHED_RTT] = p[QuicP.INITIAL_RTT]
    s[Word.RTT_VARIATION] = p[QuicP.INITIAL_RTT] // 2
    s[Word.CWND] = p[QuicP.INITIAL_PACKETS] * s[Word.DATAGRAM]
    s[Word.SSTHRESH] = INFINITE
