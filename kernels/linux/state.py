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
AUTOTUNING: Any = slot("autotuning")
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

SACK_BLOCKS_SENT = 3
"""SACK blocks beside a timestamp, that of a duplicate included (RFC 2883)."""
SACK_BLOCKS_KEPT = 4
"""SACK blocks that the receiver remembers."""


class CaState(IntEnum):
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
    LOSS_PROBE = 2
    """The tail loss probe."""
    REO_TIMEOUT = 3
    """Something is lost unless it is reported by then."""
    WAKE_UP = 4
    """The application is told that the connection is there."""


class Rexmit(IntEnum):
    """What may go out first."""

    NONE = 0
    LOST = 1
    """Lost packets, then new ones."""
    NEW = 2
    """New packets, and lost ones if there is none (F-RTO)."""


class Flag(IntEnum):
    """Bits of `Packet.FLAGS`; the bits above are the number of the latest retransmission."""

    LOST = 1
    RETRANS = 2
    """Sent again, and that copy is in flight."""
    EVER_RETRANS = 4
    """Sent again at any time."""
    PSH = 8
    """It ends a burst: the receiver's application is to be told."""


FLAG_BITS = 4


class Tcp(IntEnum):
    """Words of an association's scratch."""

    # The sender.
    SND_UNA = 0
    """The first packet that is not acknowledged."""
    SND_NXT = auto()
    """The next new packet."""
    LAST = auto()
    """The last packet there is."""
    ESTABLISHED = auto()
    """1: the handshake is over."""
    CWND = auto()
    """Congestion window [packet]."""
    SSTHRESH = auto()
    """Slow start threshold [packet]."""
    CWND_CNT = auto()
    """Packets acknowledged since the window grew."""
    SACKED_OUT = auto()
    """Packets reported above UNA,"""
    LOST_OUT = auto()
    """those thought lost, sent again or not,"""
    RETRANS_OUT = auto()
    """and those sent again and in flight."""
    HIGHEST_SACK = auto()
    """Behind the highest packet reported, or UNA."""
    CA_STATE = auto()
    """Of loss recovery (`State`)."""
    HIGH_SEQ = auto()
    """NXT when the state began."""
    PRIOR_CWND = auto()
    """CWND before the reduction."""
    PRIOR_SSTHRESH = auto()
    """What SSTHRESH will be again if the reduction is undone; 0: it will not."""
    PRR_DELIVERED = auto()
    """Packets delivered,"""
    PRR_OUT = auto()
    """and put out since the reduction began."""
    UNDO_MARKER = auto()
    """UNA when the reduction began, or NONE: it cannot be undone."""
    UNDO_RETRANS = auto()
    """Retransmissions since then that were not reported as duplicates."""
    RETRANS_STAMP = auto()
    """Timestamp of the first retransmission [ms], or NONE; during the handshake the timestamp of the first
    SYN."""
    FRTO = auto()
    """1: the timeout may turn out spurious."""
    TLP_HIGH_SEQ = auto()
    """NXT when a tail loss probe was sent, or NONE;"""
    TLP_RETRANS = auto()
    """1: that was a retransmission."""
    DELIVERED = auto()
    """Packets known to have arrived."""
    LOST_TOTAL = auto()
    """Packets found lost so far, retransmissions as well."""
    # RACK.
    RACK_XMIT_TIME = auto()
    """When the packet was sent [us] that was sent last of those that arrived,"""
    RACK_PACKET = auto()
    """its number,"""
    RACK_RTT = auto()
    """the latest round trip of a packet that arrived [us],"""
    RACK_ADVANCED = auto()
    """and 1 if packets are to be judged anew."""
    REORDERING = auto()
    """Most packets by which one was seen to be late,"""
    REORDERING_SEEN = auto()
    """and 1 if any was."""
    REO_WND_STEPS = auto()
    """So many quarters of the least round trip may a packet be late;"""
    DSACK_ROUND = auto()
    """NXT when that grew,"""
    REO_WND_PERSIST = auto()
    """and recoveries until it is one again."""
    RACK_SCAN_START = auto()
    """Packets below were reported, found lost, or sent again."""
    RETRANS_LOG_FIRST = auto()
    """Number of the first retransmission in the log,"""
    RETRANS_LOG_END = auto()
    """and of the next."""
    RETRANSMIT_HINT = auto()
    """No packet below is to be sent again."""
    RETRANS_END = auto()
    """No packet from here on was ever sent again."""
    # Round trips and timers.
    SRTT_US = auto()
    """Smoothed RTT [us / 8], 0: unknown."""
    MDEV_US = auto()
    """Smoothed deviation [us / 4],"""
    MDEV_MAX_US = auto()
    """the largest of this round trip,"""
    RTTVAR_US = auto()
    """and what the timeout takes for it."""
    RTT_SEQ = auto()
    """NXT when that round trip began."""
    MIN_RTT_US = auto()
    """[us], INFINITE: unknown"""
    SRTT_NS = auto()
    """Smoothed RTT [ns]."""
    RTO = auto()
    """Length of the retransmission timer, backed off [jiffy]."""
    RETRANSMITS = auto()
    """Timeouts since anything new was acknowledged."""
    TIMER = auto()
    """What runs (`Timer`),"""
    DEADLINE = auto()
    """and when it goes off [ns], or FOREVER."""
    RESTART_TIMER = auto()
    """1: the timer begins anew when all has been sent that this event allows."""
    JIFFY_US = auto()
    """A jiffy [us],"""
    MAX_RTO_JIFFIES = auto()
    """and the longest time that the timer runs [jiffy]."""
    CLOCK_PHASE = auto()
    """How far the clocks are ahead of the simulation's [ns]."""
    # What an event allows.
    FORCED = auto()
    """A packet to send whatever the window, or NONE."""
    REXMIT = auto()
    """See `Send`."""
    TRY_SEND = auto()
    """1: the window may have room."""
    NEW_SENT = auto()
    """1: new packets have gone out at this event."""
    BURST_LEFT = auto()
    """New packets of a burst still to go out,"""
    LARGE_BURST = auto()
    """1: of more than one."""
    IS_CWND_LIMITED = auto()
    """1: the window limited what was in flight,"""
    MAX_PACKETS_OUT = auto()
    """the most packets out"""
    CWND_USAGE_SEQ = auto()
    """until this one is acknowledged."""
    # Counters.
    SENT = auto()
    RETRANSMITTED = auto()
    SYNS_SENT = auto()
    TIMEOUTS = auto()
    FAST_RETRANSMITS = auto()
    CWND_REDUCTIONS = auto()
    LOSS_PROBES = auto()
    """Tail loss probes."""
    UNDOS = auto()
    FLOW = auto()
    """The number of the association among others."""
    ZERO = auto()
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
    QUICK_ACKS = auto()
    """So many ACKs more are sent at once."""
    ACK_DEADLINE = auto()
    """Time at which a delayed ACK, or during the handshake the SYN-ACK again, is sent [ns], or FOREVER."""
    COMPRESSED_ACK_DEADLINE = auto()
    """Time at which a delayed ACK that stands for several in a gap is sent [ns], or FOREVER."""
    COMPRESSED_ACKS = auto()
    """ACKs that the delayed ACK of a gap stands for."""
    DUP_ACK_COUNTER = auto()
    """ACKs sent at once in the gap"""
    COMPRESSED_ACK_RCV_NXT = auto()
    """at this packet."""
    RCV_TSVAL = auto()
    """When the packet that is about to arrive was put out [ns]."""
    TS_RECENT = auto()
    """The timestamp that ACKs carry back [ns]."""
    DSACK_PACKET = auto()
    """A packet that arrived again, to be reported by the next ACK, or NONE."""
    SYN_ACK_AT = auto()
    """Time at which the latest SYN-ACK was sent [ns]."""
    SYN_ACK_RETRANSMITS = auto()
    """SYN-ACKs retransmitted by the receiver's timer."""
    RCV_RTT = auto()
    """Round trip of the handshake as the receiver saw it [ns], 0: unknown."""
    LRCVTIME = auto()
    """When data arrived last [ns]."""
    NEXT_ACK_ID = auto()
    """Id of the next ACK."""
    ACKS_CONSUMED = auto()
    """ACKs with a smaller id are not needed any more."""
    NUM_SACKS = auto()
    """SACK blocks remembered, the newest first,"""
    OVERFULL = auto()
    """1: more is out than there is room for."""

    # A window that is tuned: the sender.
    SND_WND = auto()
    """The receiver's window as it is known [packet],"""
    SND_WND_END = auto()
    """and the packet behind it."""
    NEWEST_ACK_AT = auto()
    """When the ACK went out that came last [ns], or NONE."""
    # The receiver.
    RCV_WND = auto()
    """The window that is told [packet],"""
    WINDOW_CLAMP = auto()
    """and what it may grow to."""
    RCV_RTT_LAST_TSECR = auto()
    """The newest timestamp of an ACK that a packet echoed [ms], or NONE;"""
    RCV_RTT_EST = auto()
    """smoothed round trip by these [ns / 8], 0: unknown."""
    RCVQ_SPACE = auto()
    """Packets that the application read in a round trip,"""
    RCVQ_SEQ = auto()
    """which began at this packet"""
    RCVQ_TIME = auto()
    """and time [ns]."""
    AUTOTUNING_RING = auto()
    """Where the ring of `autotuning` begins."""

    # Where things begin in scratch.
    PACKETS = auto()
    """By packet, what the sender knows (`Packet`)."""
    RETRANS_LOG = auto()
    """By number of a retransmission, the packet."""
    SACKED_BITS = auto()
    """The sender's bitmap of packets reported by SACK blocks."""
    OUT_OF_ORDER_BITS = auto()
    """The receiver's bitmap of packets that have arrived out of order."""
    ACK_RING = auto()
    """Ring of ACKs in flight (`Ack`)."""
    RATE_RECORDS = auto()
    """By packet, what samples of the delivery rate need (`rate.Record`)."""
    SACK_BLOCKS = auto()
    """The receiver's blocks, pairs (left, right)."""


CONTROL = Tcp.SACK_BLOCKS + 2 * SACK_BLOCKS_KEPT
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

    CUMULATIVE = 0
    """The first packet that is missing."""
    TSECR = 1
    """Timestamp of the packet that it answers [ns]."""
    DSACK = 2
    """A packet that arrived twice, or NONE."""
    NUM_SACKS = 3
    """SACK blocks besides,"""
    SACK_BLOCKS = 4
    """pairs (left, right)."""


ACK_WORDS = Ack.SACK_BLOCKS + 2 * SACK_BLOCKS_SENT


def scratch_words(window: Any, ring: Any) -> Any:
    """Words of scratch of an association with this `P.RING`, or of many."""
    return END + ring // 64 * 2 + ring * (PACKET_WORDS + 1 + int(ACK_WORDS)) + 8


def paced_scratch_words(window: Any, ring: Any) -> Any:
    """The same where the control sets a rate."""
    return scratch_words(window, ring) + RECORD_WORDS * ring


def init_layout(p: Any, s: Any, free: Any) -> Any:
    """Lay out the rings from word `free` on; returns the next free one."""
    ring = p[P.RING]
    s[Tcp.PACKETS] = free
    s[Tcp.RETRANS_LOG] = free + PACKET_WORDS * ring
    s[Tcp.SACKED_BITS] = s[Tcp.RETRANS_LOG] + ring
    s[Tcp.OUT_OF_ORDER_BITS] = s[Tcp.SACKED_BITS] + (ring >> 6)
    s[Tcp.ACK_RING] = s[Tcp.OUT_OF_ORDER_BITS] + (ring >> 6)
    for i in range(s[Tcp.SACKED_BITS], s[Tcp.ACK_RING]):
        s[i] = 0
    s[Tcp.RATE_RECORDS] = s[Tcp.ACK_RING] + ring * ACK_WORDS
    return s[Tcp.RATE_RECORDS] + (RECORD_WORDS * ring if PACED else 0)


def packet_at(p: Any, s: Any, packet: Any) -> Any:
    """Where the words of a packet begin."""
    return s[Tcp.PACKETS] + PACKET_WORDS * (packet & (p[P.RING] - 1))


def ack_at(p: Any, s: Any, ack_id: Any) -> Any:
    """Where the words of an acknowledgement begin."""
    return s[Tcp.ACK_RING] + ACK_WORDS * (ack_id & (p[P.RING] - 1))


def in_flight(s: Any) -> Any:
    """Packets thought to be in the network (RFC 6675: pipe)."""
    return s[Tcp.SND_NXT] - s[Tcp.SND_UNA] - s[Tcp.SACKED_OUT] - s[Tcp.LOST_OUT] + s[Tcp.RETRANS_OUT]


def snd_wnd(p: Any, s: Any) -> Any:
    """The receiver's window as the sender knows it [packet]."""
    return s[Tcp.SND_WND] if AUTOTUNING else p[P.WINDOW]


def in_cwnd_reduction(s: Any) -> Any:
    """Whether the window follows proportional rate reduction."""
    return s[Tcp.CA_STATE] == CaState.CWR or s[Tcp.CA_STATE] == CaState.RECOVERY
