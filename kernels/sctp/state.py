"""State of an SCTP association: words of int64 scratch by name.

The first words are the times of all possible next events, in the order in which ties are resolved; the next
event is the earliest of them. A *way* is a path seen from one end: way `end * PATHS + path`, so the sender's
ways are 0 and 1 and the receiver's 2 and 3. Both ends keep the same words for a way, because both probe it
with heartbeats; the receiver does not use most of them.

In all functions `p` are the parameters of a row, `s` is scratch, `now` the time [ns].
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base import bits
from netcarlo.kernels.base.layout import FOREVER, PATHS, Out
from netcarlo.kernels.base.parameters import RowP

OFF = FOREVER
"""Time of an event that is not pending."""

NONE = -1

# NumPy integers, because Numba compiles a function anew for each literal argument.
SENDER = np.int64(0)
RECEIVER = np.int64(1)
WAYS = 2 * PATHS


class Event(IntEnum):
    """Words of scratch with the times of events [ns], OFF when not pending."""

    ARRIVAL = 0  # + way: the oldest packet sent on it arrives at the other end
    T1 = 4  # timer of INIT or COOKIE-ECHO
    T3 = 5  # + path: retransmission timer of data
    DEGRADE = 7  # + path: nothing sent for one RTO
    SACK_TIMER = 9  # timer of the receiver's delayed acknowledgement
    HEARTBEAT_TIMEOUT = 10  # + way: heartbeat unanswered, or with RFC 9260 the next one is due
    HEARTBEAT_TIMER = 14  # + end: time to probe an idle path, as in ns-2


EVENTS = 16


class Word(IntEnum):
    """Words of scratch, following the events."""

    # The sender.
    CUM = 16  # cumulative TSN acknowledgement point
    LAST_TSN = 17  # highest TSN sent
    NEWEST = 18  # highest TSN newly acknowledged
    RECOVER = 19  # no second cwnd reduction for losses up to this TSN
    HIGHEST = 20  # highest outstanding TSN seen at a fast retransmit
    PEER_RWND = 21  # receive window of the peer [byte]
    SEND_NEW = 22  # 1: new data may be sent
    BURST_LIMITED = 23  # 1: Max.Burst applies
    BURST = 24  # packets of the burst so far
    MARKED = 25  # chunks marked for retransmission
    TRIES = 26  # INITs and COOKIE-ECHOs retransmitted
    CHUNK = 27  # size of a chunk [byte]
    LIMIT = 28  # chunks to send, or ENDLESS
    # The receiver.
    RCV_CUM = 29  # all TSNs up to this one have arrived
    BLOCKS = 30  # gap ack blocks
    BUFFERED = 31  # chunks beyond RCV_CUM
    UNACKED = 32  # packets since the last SACK
    REPLY_WAY = 33  # way back on the path of the latest packet received
    ACCEPTED = 34  # distinct chunks accepted so far
    # Both.
    PATHS = 35  # number of paths in use, 1 or 2
    FLOW = 36  # number of the association among those of the row
    CHUNKS = 37  # first word of the ring of chunks
    PUTS = 38  # packets sent so far
    # An engine that has several paths.
    FIRST_OUTAGE = 39  # start of the first outage of path 0 [ns]
    TRACED = 40  # rows of the trace so far
    NOTHING = 41  # always 0
    # The sender, of chunks beyond CUM in the gap ack blocks of the latest SACK:
    REPORTED = 42  # number of these chunks
    TOP = 43  # highest TSN of these chunks; invalid once it is not beyond CUM
    REPORTS = 44  # first word of a bitmap of these chunks, one bit per place in the ring of chunks
    SACK_WAY = 45  # way on which the current SACK arrived
    FAILOVER = 46  # longest failover of the sender so far, as `Failover.LONGEST` [ns] or NEVER


class End(IntEnum):
    """Words of an end, at `end_at(end)`."""

    STATE = 0  # a `State`
    PRIMARY = 1  # primary way
    CURRENT = 2  # way for new data
    ERRORS = 3  # consecutive timeouts on all active ways
    TIMER_START = 4  # start of the heartbeat timer [ns]
    DRAWS = 5  # heartbeat jitters drawn


class State(IntEnum):
    """State of the association at one endpoint (RFC 9260, section 4)."""

    CLOSED = 0
    COOKIE_WAIT = 1
    COOKIE_ECHOED = 2
    ESTABLISHED = 3


class Way(IntEnum):
    """Words of a way, at `way_at(way)`."""

    STATUS = 0  # a `Status`
    ERRORS = 1  # consecutive timeouts of the way
    RTO = 2  # retransmission timeout [ns]
    SRTT = 3  # smoothed RTT [ns], 0 before the first measurement
    RTTVAR = 4  # RTT variation [ns]
    RTT = 5  # latest RTT measurement [ns]
    IDLE_SINCE = 6  # time at which new data or a heartbeat was last sent [ns]
    CWND = 7  # congestion window [byte]
    SSTHRESH = 8  # slow start threshold [byte]
    PARTIAL = 9  # partial_bytes_acked [byte]
    OUTSTANDING = 10  # outstanding data [byte]
    TIMING = 11  # 1 while a chunk measures the RTT
    NEWLY = 12  # bytes newly acknowledged by the current SACK
    FIRST = 13  # first outstanding TSN, NONE before it is known
    OLDEST = 14  # ring of packets: the oldest entry
    FLYING = 15  # ring of packets: entries in flight
    WAITING = 16  # ring of packets: later entries, to be sent at the end of the current event
    RING = 17  # ring of packets: first word
    LAST_BYTE_TIME = 18  # byte time of the last hop, as `Hop.BYTE_TIME`
    LAST_DELAY = 19  # propagation delay of the last hop [ns]
    SILENT_SINCE = 20  # start of the first of the consecutive timeouts [ns]
    # RFC 9260:
    PROBING = 21  # 1 while a heartbeat is unanswered
    NEXT_PROBE = 22  # time of the next heartbeat [ns]
    PERIOD = 23  # start of the heartbeat period [ns]
    PERIODS = 24  # heartbeat periods so far
    UNUSED = 25  # 1 if nothing was sent for an RTO
    FULL = 26  # 1 if cwnd was fully used before the current SACK
    MOVED = 27  # 1 if the current SACK acknowledges the path's first chunk that had not arrived
    NEWEST = 28  # highest TSN of the path that the current SACK newly acknowledges
    RECOVER = 29  # with concurrent multipath transfer, end of the fast recovery of the path


class Status(IntEnum):
    """State of a destination address at one endpoint."""

    INACTIVE = 0
    ACTIVE = 1
    UNCONFIRMED = 2
    POTENTIALLY_FAILED = 3  # RFC 7829


class Packet(IntEnum):
    """Words of an entry of the ring of packets of a way, at `packet_at(p, s, way, index)`."""

    ARRIVES = 0  # arrival time [ns]
    KIND = 1  # a `Kind`
    SIZE = 2  # size on the wire [byte]
    NUMBER = 3  # DATA: TSN; SACK: cumulative TSN; heartbeats: send time of the request [ns]
    SENT = 4  # send time [ns]; SACK:
    LATEST = 4  # TSN of the chunk that it acknowledges, 0 if the timer sent it
    ORDER = 5  # number of the packet in the association
    ROOM = 6  # SACK: receiver window [byte]
    SEEN = 7  # SACK: chunks accepted when it was sent, 0 if it reports no gap


class Kind(IntEnum):
    """Type of the chunk that a packet carries."""

    INIT = 0
    INIT_ACK = 1
    COOKIE_ECHO = 2
    COOKIE_ACK = 3
    DATA = 4
    SACK = 5
    HEARTBEAT = 6
    HEARTBEAT_ACK = 7


# Sizes on the wire in ns-2: IPv4 20, SCTP 12, and the chunk (a cookie that carries nothing).
INIT_BYTES = np.int64(56)
COOKIE_BYTES = np.int64(36)
HEARTBEAT_BYTES = np.int64(56)


class Chunk(IntEnum):
    """Words of a chunk that is not cumulatively acknowledged, at `chunk_at(p, s, tsn)`."""

    WAY = 0  # way of its latest transmission
    MARK = 1  # a `Mark`
    FAST_DONE = 2  # 1: it has been fast retransmitted
    MISSING = 3  # missing reports
    SENDS = 4  # number of transmissions
    TIMED = 5  # sending time if it measures the RTT [ns], else 0
    ACCEPT_NUMBER = 6  # its number among the distinct chunks that the receiver accepted, from 1; 0: not yet
    IN_PARTIAL = 7  # 1: its gap acknowledgement is in partial_bytes_acked; RFC 9260:
    RESENT = 7  # time of its latest retransmission [ns], 0: none
    BORN = 8  # time of its first transmission [ns]


class Mark(IntEnum):
    """Reason for which a chunk is to be retransmitted."""

    UNMARKED = 0
    FAST = 1
    TIMED_OUT = 2


END_SIZE = len(End)
WAY_SIZE = 32
"""Words of a way, a power of two at least the number of words in use, so that addresses are shifts."""
PACKET_SIZE = len(Packet)
CHUNK_SIZE = len(Chunk)

ENDS = EVENTS + len(Word)
"""First word of the ends; the ways follow."""

FIRST_WAY = ENDS + 2 * END_SIZE

OUTCOMES = FIRST_WAY + WAYS * WAY_SIZE
"""First word of the outcomes, as `Out`."""

STATE_SIZE = OUTCOMES + len(Out)
"""Words of an association without its rings."""


def scratch_words(ways: Any, ring: Any) -> Any:
    """Return the words of scratch of an association that sends on this many ways, with this `RowP.RING`."""
    return STATE_SIZE + ring * (ways * PACKET_SIZE + CHUNK_SIZE) + (ring + 63) // 64


def lay_out(p: Any, s: Any, ways: Any, free: Any) -> Any:
    """Lay out the rings from word `free` on: of chunks, and of the packets of every `ways`-th way; and the
    bitmap of reports.

    Returns the first free word.
    """
    s[Word.CHUNKS] = free
    free += p[RowP.RING] * CHUNK_SIZE
    for way in range(0, WAYS, WAYS // ways):
        s[way_at(way) + Way.RING] = free
        free += p[RowP.RING] * PACKET_SIZE
    s[Word.REPORTS] = free
    bits.clear_bits(s, free, p[RowP.RING] - 1, np.int64(0), p[RowP.RING])
    return free + (p[RowP.RING] + 63) // 64


def end_at(end: Any) -> Any:
    """Return the first word of an endpoint."""
    return ENDS + end * END_SIZE


def way_at(way: Any) -> Any:
    """Return the first word of a way."""
    return FIRST_WAY + way * WAY_SIZE


def packet_at(p: Any, s: Any, way: Any, index: Any) -> Any:
    """Return the first word of entry `index` of the ring of packets of a way."""
    return s[way_at(way) + Way.RING] + (index & (p[RowP.RING] - 1)) * PACKET_SIZE


def is_reported(p: Any, s: Any, tsn: Any) -> Any:
    """Return whether a chunk beyond CUM is in a gap ack block of the latest SACK."""
    return bits.test_bit(s, s[Word.REPORTS], p[RowP.RING] - 1, tsn)


def chunk_at(p: Any, s: Any, tsn: Any) -> Any:
    """Return the first word of a chunk."""
    return s[Word.CHUNKS] + (tsn & (p[RowP.RING] - 1)) * CHUNK_SIZE
