"""Where an association of today's Linux keeps its state: words of its scratch by name.

Packets are numbered: 0 is the SYN, 1 the ACK that ends the handshake, data begin at FIRST; every segment is
full.  The sender's clock has microseconds, its timers jiffies, its timestamps milliseconds, as the kernel's.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import P

PACED: Any = slot("paced")
"""The control sets a rate and the window at every ACK, from samples of the delivery rate."""
TUNED: Any = slot("tuned")
"""The receiver's window is what it tells (`autotuning`)."""

NONE = -1
"""No packet; no measurement."""
FULL = -2
"""More packets on their way than `P.RING`."""

SYN = np.int64(0)
ACK_OF_SYN = np.int64(1)
FIRST = np.int64(2)
"""The first data packet."""

INFINITE = 0x7FFFFFFF
"""The slow start threshold before the first loss [packet]."""

BLOCKS = 3
"""SACK blocks beside a timestamp, that of a duplicate included (RFC 2883)."""
KEPT = 4
"""SACK blocks that the receiver remembers."""


class State(IntEnum):
    """Of loss recovery: what comes later in this list has the right of way."""

    OPEN = 0
    DISORDER = 1
    """Something is missing, and not known to be lost."""
    CWR = 2
    """The window shrinks for another reason than a loss that is being repaired."""
    RECOVERY = 3
    LOSS = 4
    """After a timeout."""


class Timer(IntEnum):
    """What the sender's one timer is for."""

    OFF = 0
    RETRANSMISSION = 1
    PROBE = 2
    """The tail loss probe."""
    REORDERING = 3
    """Something is lost unless it is reported by then."""
    WAKING = 4
    """The application is told that the connection is there."""


class Send(IntEnum):
    """What may go out first."""

    NEW = 0
    LOST = 1
    """Lost packets, then new ones."""
    NEW_FIRST = 2
    """New packets, and lost ones if there is none (F-RTO)."""


class Flag(IntEnum):
    """Bits of `Packet.FLAGS`; the bits above are the number of the latest retransmission."""

    LOST = 1
    AGAIN = 2
    """Sent again, and that copy is in flight."""
    EVER = 4
    """Sent again at any time."""
    PUSH = 8
    """It ends a burst: the receiver's application is to be told."""


FLAG_BITS = 4


class Tcp(IntEnum):
    """Words of an association's scratch."""

    # The sender.
    UNA = 0
    """The first packet that is not acknowledged."""
    NXT = auto()
    """The next new packet."""
    LAST = auto()
    """The last packet there is."""
    CONNECTED = auto()
    """1: the handshake is over."""
    CWND = auto()
    """Congestion window [packet]."""
    SSTHRESH = auto()
    """Slow start threshold [packet]."""
    COUNTED = auto()
    """Packets acknowledged since the window grew."""
    SACKED = auto()
    """Packets reported above UNA,"""
    LOST = auto()
    """those thought lost, sent again or not,"""
    AGAIN = auto()
    """and those sent again and in flight."""
    HIGHEST = auto()
    """Behind the highest packet reported, or UNA."""
    STATE = auto()
    """Of loss recovery (`State`)."""
    HIGH = auto()
    """NXT when the state began."""
    PRIOR_WINDOW = auto()
    """CWND before the reduction."""
    PRIOR_SSTHRESH = auto()
    """What SSTHRESH will be again if the reduction is undone; 0: it will not."""
    PRR_DELIVERED = auto()
    """Packets delivered,"""
    PRR_OUT = auto()
    """and put out since the reduction began."""
    UNDO_FROM = auto()
    """UNA when the reduction began, or NONE: it cannot be undone."""
    UNDO_AGAIN = auto()
    """Retransmissions since then that were not reported as duplicates."""
    FIRST_AGAIN = auto()
    """Timestamp of the first retransmission [ms], or NONE; during the handshake the timestamp of the first
    SYN."""
    FRTO = auto()
    """1: the timeout may turn out spurious."""
    PROBED = auto()
    """NXT when a tail loss probe was sent, or NONE;"""
    PROBE_AGAIN = auto()
    """1: that was a retransmission."""
    DELIVERED = auto()
    """Packets known to have arrived."""
    LOSSES = auto()
    """Packets found lost so far, retransmissions as well."""
    # RACK.
    RACK_SENT = auto()
    """When the packet was sent [us] that was sent last of those that arrived,"""
    RACK_PACKET = auto()
    """its number,"""
    RACK_RTT = auto()
    """the latest round trip of a packet that arrived [us],"""
    RACK_NEWS = auto()
    """and 1 if packets are to be judged anew."""
    REORDERING = auto()
    """Most packets by which one was seen to be late,"""
    REORDERED = auto()
    """and 1 if any was."""
    WIDTH = auto()
    """So many quarters of the least round trip may a packet be late;"""
    WIDENED_END = auto()
    """NXT when that grew,"""
    WIDE_FOR = auto()
    """and recoveries until it is one again."""
    JUDGED = auto()
    """Packets below were reported, found lost, or sent again."""
    LOG_FIRST = auto()
    """Number of the first retransmission in the log,"""
    LOG_END = auto()
    """and of the next."""
    NEXT_LOST = auto()
    """No packet below is to be sent again."""
    AGAIN_END = auto()
    """No packet from here on was ever sent again."""
    # Round trips and timers.
    SRTT = auto()
    """Smoothed RTT [us / 8], 0: unknown."""
    MDEV = auto()
    """Smoothed deviation [us / 4],"""
    MDEV_MAX = auto()
    """the largest of this round trip,"""
    RTTVAR = auto()
    """and what the timeout takes for it."""
    RTT_END = auto()
    """NXT when that round trip began."""
    LEAST_RTT = auto()
    """[us], INFINITE: unknown"""
    RTT = auto()
    """Smoothed RTT [ns]."""
    RTO = auto()
    """Length of the retransmission timer, backed off [jiffy]."""
    RETRIES = auto()
    """Timeouts since anything new was acknowledged."""
    TIMER = auto()
    """What runs (`Timer`),"""
    DEADLINE = auto()
    """and when it goes off [ns], or FOREVER."""
    RESTART = auto()
    """1: the timer begins anew when all has been sent that this event allows."""
    TICK_US = auto()
    """A jiffy [us],"""
    MOST_JIFFIES = auto()
    """and the longest time that the timer runs [jiffy]."""
    PHASE = auto()
    """How far the clocks are ahead of the simulation's [ns]."""
    # What an event allows.
    FORCED = auto()
    """A packet to send whatever the window, or NONE."""
    SEND = auto()
    """See `Send`."""
    PUSH = auto()
    """1: the window may have room."""
    PUSHED = auto()
    """1: new packets have gone out at this event."""
    BURST = auto()
    """New packets of a burst still to go out,"""
    LARGE = auto()
    """1: of more than one."""
    LIMITED = auto()
    """1: the window limited what was in flight,"""
    MOST_OUT = auto()
    """the most packets out"""
    LIMITED_END = auto()
    """until this one is acknowledged."""
    # Counters.
    SENT = auto()
    RETRANSMITTED = auto()
    HANDSHAKES = auto()
    TIMEOUTS = auto()
    FAST_RETRANSMITS = auto()
    REDUCTIONS = auto()
    PROBES = auto()
    """Tail loss probes."""
    UNDOS = auto()
    FLOW = auto()
    """The number of the association among others."""
    NOTHING = auto()
    """Always 0."""

    # The receiver.
    RCV_NXT = auto()
    """The next packet in order,"""
    RCV_WUP = auto()
    """and what it was in the latest ACK."""
    RCV_HIGHEST = auto()
    """Highest packet that has arrived."""
    OUT_OF_ORDER = auto()
    """Packets held out of order."""
    DUPLICATES = auto()
    """Packets that arrived again."""
    QUICK = auto()
    """So many ACKs more are sent at once."""
    PENDING = auto()
    """Time at which a delayed ACK, or during the handshake the SYN-ACK again, is sent [ns], or FOREVER."""
    MERGED_UNTIL = auto()
    """Time at which a delayed ACK that stands for several in a gap is sent [ns], or FOREVER."""
    MERGED = auto()
    """ACKs that the delayed ACK of a gap stands for."""
    GAP_ACKS = auto()
    """ACKs sent at once in the gap"""
    GAP_AT = auto()
    """at this packet."""
    STAMP = auto()
    """When the packet that is about to arrive was put out [ns]."""
    ECHO = auto()
    """The timestamp that ACKs carry back [ns]."""
    DUPLICATE = auto()
    """A packet that arrived again, to be reported by the next ACK, or NONE."""
    SYN_AT = auto()
    """Time at which the latest SYN-ACK was sent [ns]."""
    SYN_ACKS = auto()
    """SYN-ACKs retransmitted by the receiver's timer."""
    RCV_RTT = auto()
    """Round trip of the handshake as the receiver saw it [ns], 0: unknown."""
    LAST_RX = auto()
    """When data arrived last [ns]."""
    NEXT_ACK = auto()
    """Id of the next ACK."""
    CONSUMED = auto()
    """ACKs with a smaller id are not needed any more."""
    BLOCK_COUNT = auto()
    """SACK blocks remembered, the newest first,"""
    OVERFULL = auto()
    """1: more is out than there is room for."""

    # A window that is tuned: the sender.
    WINDOW = auto()
    """The receiver's window as it is known [packet],"""
    WINDOW_END = auto()
    """and the packet behind it."""
    ANSWERED_AT = auto()
    """When the ACK went out that came last [ns], or NONE."""
    # The receiver.
    RCV_TOLD = auto()
    """The window that is told [packet],"""
    RCV_ROOM = auto()
    """and what it may grow to."""
    RCV_ECHO = auto()
    """The newest timestamp of an ACK that a packet echoed [ms], or NONE;"""
    READ_RTT = auto()
    """smoothed round trip by these [ns / 8], 0: unknown."""
    READ_SPACE = auto()
    """Packets that the application read in a round trip,"""
    READ_NXT = auto()
    """which began at this packet"""
    READ_AT = auto()
    """and time [ns]."""
    TUNING = auto()
    """Where the ring of `autotuning` begins."""

    # Where things begin in scratch.
    PACKETS = auto()
    """By packet, what the sender knows (`Packet`)."""
    LOG = auto()
    """By number of a retransmission, the packet."""
    REPORTED = auto()
    """The sender's bitmap of packets reported by SACK blocks."""
    BITS = auto()
    """The receiver's bitmap of packets that have arrived out of order."""
    ACKS = auto()
    """Ring of ACKs in flight (`Ack`)."""
    RECORDS = auto()
    """By packet, what samples of the delivery rate need (`rate.Record`)."""
    BLOCK = auto()
    """The receiver's blocks, pairs (left, right)."""


CONTROL = Tcp.BLOCK + 2 * KEPT
"""Words of the congestion control."""
CONTROL_WORDS = 80
END = CONTROL + CONTROL_WORDS
"""Words of an association before what is laid out at the start."""


class Packet(IntEnum):
    """Words of a packet that is out."""

    SENT = 0
    """When it was put out last [us]."""
    FLAGS = 1


PACKET_WORDS = len(Packet)
RECORD_WORDS = 4


class Ack(IntEnum):
    """Words of an acknowledgement in the ring."""

    NEXT = 0
    """The first packet that is missing."""
    ECHO = 1
    """Timestamp of the packet that it answers [ns]."""
    DUPLICATE = 2
    """A packet that arrived twice, or NONE."""
    COUNT = 3
    """SACK blocks besides,"""
    BLOCK = 4
    """pairs (left, right)."""


ACK_WORDS = Ack.BLOCK + 2 * BLOCKS


def scratch_words(window: Any, ring: Any) -> Any:
    """Words of scratch of an association with this `P.RING`, or of many."""
    return END + ring // 64 * 2 + ring * (PACKET_WORDS + 1 + int(ACK_WORDS)) + 8


def paced_scratch_words(window: Any, ring: Any) -> Any:
    """The same where the control sets a rate."""
    return scratch_words(window, ring) + RECORD_WORDS * ring


def lay_out(p: Any, s: Any, free: Any) -> Any:
    """Lay out the rings from word `free` on; returns the next free one."""
    ring = p[P.RING]
    s[Tcp.PACKETS] = free
    s[Tcp.LOG] = free + PACKET_WORDS * ring
    s[Tcp.REPORTED] = s[Tcp.LOG] + ring
    s[Tcp.BITS] = s[Tcp.REPORTED] + (ring >> 6)
    s[Tcp.ACKS] = s[Tcp.BITS] + (ring >> 6)
    for i in range(s[Tcp.REPORTED], s[Tcp.ACKS]):
        s[i] = 0
    s[Tcp.RECORDS] = s[Tcp.ACKS] + ring * ACK_WORDS
    return s[Tcp.RECORDS] + (RECORD_WORDS * ring if PACED else 0)


def packet_at(p: Any, s: Any, packet: Any) -> Any:
    """Where the words of a packet begin."""
    return s[Tcp.PACKETS] + PACKET_WORDS * (packet & (p[P.RING] - 1))


def ack_at(p: Any, s: Any, ack_id: Any) -> Any:
    """Where the words of an acknowledgement begin."""
    return s[Tcp.ACKS] + ACK_WORDS * (ack_id & (p[P.RING] - 1))


def in_flight(s: Any) -> Any:
    """Packets thought to be in the network (RFC 6675: pipe)."""
    return s[Tcp.NXT] - s[Tcp.UNA] - s[Tcp.SACKED] - s[Tcp.LOST] + s[Tcp.AGAIN]


def window_of(p: Any, s: Any) -> Any:
    """The receiver's window as the sender knows it [packet]."""
    return s[Tcp.WINDOW] if TUNED else p[P.WINDOW]


def reducing(s: Any) -> Any:
    """Whether the window follows proportional rate reduction."""
    return s[Tcp.STATE] == State.CWR or s[Tcp.STATE] == State.RECOVERY
