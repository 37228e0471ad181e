"""The columns of the arrays that go into a kernel and come out of it.

Everything a kernel reads or writes is one row of an array per replication; times are int64
nanoseconds, sizes bytes, windows packets.  The enumerations below name the columns.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.histogram import bins
from netcarlo.kernels.base.rows import Table

NS = 1e9
"""Nanoseconds in a second."""

MS = 1_000_000
"""A millisecond [ns]."""

ENDLESS = 1 << 62
"""`P.LIMIT` of a transfer without end, `Hop.QUEUE` of a queue without limit is 0."""

NEVER = -1
"""The value of a time in `Out` that did not happen."""

FOREVER = (1 << 62) - 1
"""Start of an outage that never comes (pads `Rows.outages`)."""

BYTE_TIME_BITS = 20
"""Fraction bits of `Hop.BYTE_TIME` [ns / byte]."""

PATHS = 2
"""Paths in `Rows.hops`; transports with one path use the first."""


class P(IntEnum):
    """Parameters of one replication (columns of `Rows.parameters`, int64)."""

    SEED = 0  # key of every random stream
    SCENARIO = 1  # second part of the stream address
    REPLICATION = 2  # third part of the stream address
    START = 3  # the application starts [ns]
    END = 4  # the observation ends [ns]
    LIMIT = 5  # data packets to send, or ENDLESS
    WINDOW = 6  # receiver's window: most packets in flight (TCP)
    DATA = 7  # payload of a data packet [byte]
    HEADER = 8  # header of a data packet on the wire [byte]
    ACK = 9  # acknowledgement on the wire [byte]
    SACK_BLOCK = 10  # each SACK block adds [byte]
    HANDSHAKE = 11  # SYN on the wire [byte]; 0: no handshake
    INITIAL_WINDOW = 12  # cwnd after the handshake [packet]
    INITIAL_SSTHRESH = 13  # [packet]; SCTP: [byte]
    TICK = 14  # granularity of the sender's RTT clock [ns]
    MIN_RTO = 15  # [ns]
    MAX_RTO = 16  # [ns]
    INITIAL_RTO = 17  # [ns]
    DUPACKS = 18  # duplicate ACKs (SCTP: missing reports) that trigger fast retransmit
    ACK_EVERY = 19  # in-order packets per ACK: 1, or 2 (delayed ACK)
    ACK_DELAY = 20  # a delayed ACK waits at most [ns]
    SAMPLE = 21  # cwnd and RTT are sampled at (k + 1/2) of this interval [ns]
    RING = 22  # capacity of the in-flight rings, a power of two (set by the launcher)
    VEGAS_ALPHA = 23  # [packet]
    VEGAS_BETA = 24  # [packet]
    VEGAS_GAMMA = 25  # [packet]
    N_PATHS = 26  # SCTP: paths in use, 1 or 2
    RWND = 27  # SCTP: receiver window [byte]
    CHUNK_HEADER = 28  # SCTP: DATA chunk header, part of a chunk's size [byte]
    PATH_MAX_RETRANS = 29  # SCTP: timeouts in a row that a path survives
    HEARTBEAT = 30  # SCTP: heartbeat interval [ns]; 0: none
    INITIAL_CWND = 31  # SCTP: cwnd of a fresh path [byte]
    SSTHRESH_FLOOR = 32  # SCTP: least ssthresh after a timeout [byte]
    PROBE_FIRST = 33  # SCTP: 1 if a heartbeat exchange precedes the first data
    SACK_FIRST = 34  # SCTP: 1 if the first DATA packet is acknowledged at once
    MAX_BURST = 35  # SCTP: packets a SACK may release at once
    RESPONSE_ALTERNATE = 36  # SCTP: 1 if retransmissions go to the other path
    CLOCK_PHASE = 37  # how far the sender's RTT clock is into a tick at time 0 [ns]
    HANDOVER = 38  # handover protocol, one of the constants below; the rest is for mobile hosts only
    HANDOVERS = 39  # most handovers of the run
    SCHEDULE = 40  # when they come: one of the SCHEDULE_ constants
    FIRST_HANDOVER = 41  # periodic: the first [ns]
    EVERY = 42  # periodic: from one to the next; random: to cross a cell along its diameter [ns]
    LEAST_STAY = 43  # least time at an access router [ns]
    DOMAIN_SIZE = 44  # access routers under one MAP; 0: all
    OUTAGE = 45  # the radio link is down during a handover [ns]
    OUTAGE_JITTER = 46  # half-width of the uniform variation of OUTAGE [ns]
    ANTICIPATION = 47  # time from the earliest signalling to link down [ns]
    PREPARATION = 48  # the new access router needs to accept the host (address check) [ns]
    ANNOUNCE = 49  # from link up to the host's first message at a prepared router [ns]
    DETECTION = 50  # the same at an unprepared one: movement detection, new address [ns]
    MAP_TO_AR = 51  # one-way delay between a MAP and its access routers [ns]
    MAP_TO_MAP = 52  # one-way delay between two MAPs [ns]
    HOME_AGENT = 53  # one-way delay of the home agent from a MAP, and from the sender [ns]
    BUFFER = 54  # packets that an access router holds for a host
    SETTLE = 55  # HIMIPv6: quiet time of the tunnel before the n-buffer opens [ns]
    PING_PONG = 56  # probability that the host soon returns, times 2**32
    PING_PONG_STAY = 57  # time that it stays before it returns [ns]
    FALSE_ALARM = 58  # probability that an anticipated handover does not come, times 2**32
    FALSE_ALARM_TIME = 59  # time from the handover that does not come to its cancellation [ns]
    MARGIN = 60  # least time from the answer at the host to link down in a prepared handover [ns]
    SIGNAL_LOSS = 61  # probability that a signalling message is lost on the radio link, times 2**32
    SEND_BUFFER = 62  # most data packets in the sender's socket buffer, sent ones included; 0: no limit
    SEND_WAKE = 63  # packets left in SEND_BUFFER, at most, when a writer that found it full goes on
    INTERVAL = 64  # UDP: from one datagram to the next [ns]; 0 for all other transports
    STOP = 65  # UDP: nothing is put out at or after [ns]
    QUEUES = 66  # 1: `Queues` stands behind the outcomes
    SLOW_START = 67  # today's Linux: one of `linux.slow_start.SlowStart`
    MESSAGES = 68  # today's Linux: how its application writes, one of the MESSAGES_ constants
    MESSAGE_SIZES = 69  # word of the constants where the points of their sizes begin [byte]
    MESSAGE_WAITS = 70  # the same of the waits between them [ns]
    IDLE_RESTART = 71  # today's Linux: 1 if the window shrinks while nothing is sent
    LATE = 72  # data that took longer are late [ns]; 0: delays are not measured
    SPREAD = 73  # UDP: width of uniformly distributed gaps around INTERVAL, at most 2**31 [ns]; 0: equal gaps
    SHORT = 74  # bytes by which the payload of the last data packet falls short of DATA; 0: it does not
    FAILBACK = 75  # SCTP: 1 if new data return to the primary path when it is active again


class Hop(IntEnum):
    """One FIFO hop (last axis of `Rows.hops`); `R_` is the direction of the ACKs."""

    BYTE_TIME = 0  # ns per byte, BYTE_TIME_BITS fraction bits; 0: infinitely fast
    DELAY = 1  # propagation [ns]
    QUEUE = 2  # packets held, the one in transmission included; 0: no limit
    LOSS = 3  # row of `Rows.losses`
    R_BYTE_TIME = 4
    R_DELAY = 5
    R_QUEUE = 6
    R_LOSS = 7
    PRESENT = 8  # 1 if this path has this hop, else 0
    CROSS_EVERY = 9  # constant bit rate cross traffic in the direction of the data: interval [ns]; 0: none
    CROSS_SIZE = 10  # its packets on the wire [byte]
    CROSS_FIRST = 11  # arrival of the first [ns]
    TICK = 12  # data leaves the far end at multiples of this [ns]; 0: at any time
    TICK_PHASE = 13  # plus this [ns]
    BURST_LOSS = 14  # row of `Rows.losses` in bursts of loss
    R_BURST_LOSS = 15
    CHANCES = 16  # outside bursts: P(lost) and P(turns | lost) of a packet to which something happens
    R_CHANCES = 17  # 0: there are no bursts
    BURST_CHANCES = 18  # the same in bursts
    R_BURST_CHANCES = 19
    VARIES = 20  # pair of `Rows.outages` where what varies is written, see `base.varying`; 0: nothing does
    R_VARIES = 21


CHANCE_BITS = 31
"""Bits of a probability in `Hop.CHANCES`: that of a loss stands before that of a turn."""

LOSSES = [Hop.LOSS, Hop.R_LOSS, Hop.BURST_LOSS, Hop.R_BURST_LOSS]
"""Columns of a hop that name lines of `Rows.losses`."""


class Out(IntEnum):
    """Outcomes of one replication (columns of the result, int64).  Data packets only; a SYN is
    counted in HANDSHAKES alone.  IN_FLIGHT to FALSE_ALARMS are for mobile hosts only, but that paths
    on which packets overtake each other have IN_FLIGHT and REORDERED, too."""

    STATUS = 0  # one of the STATUS_ constants
    SENT = 1  # data packets put out, retransmissions included
    RETRANSMITTED = 2  # of those, sent before
    RECEIVED = 3  # data packets that arrived, duplicates included
    DELIVERED = 4  # distinct data packets that arrived
    IN_ORDER = 5  # length of the gap-free prefix of those
    ACKED = 6  # data packets cumulatively acknowledged at the sender
    TIMEOUTS = 7  # retransmission timeouts of data
    FAST_RETRANSMITS = 8
    CWND_CUTS = 9  # reductions of cwnd: timeouts and entered recoveries
    DROPS_QUEUE = 10  # data packets dropped by a full queue
    DROPS_RANDOM = 11  # data packets lost at random
    DROPS_OUTAGE = 12  # data packets handed to a hop that was down
    DESTROYED = 13  # data packets destroyed in queue or on the wire when a hop went down
    ACK_DROPS = 14  # acknowledgements lost, all causes
    HANDSHAKES = 15  # SYNs put out
    SENT_ALTERNATE = 16  # data packets put out on the second path
    FIRST_RX = 17  # first data arrival [ns] or NEVER
    LAST_RX = 18  # last data arrival [ns] or NEVER
    RESUME_TX = 19  # sending time of the packet below [ns] or NEVER
    RESUME_RX = 20  # first data arrival after the first outage of path 0 began [ns] or NEVER
    COMPLETED = 21  # arrival of the last missing packet of a finite transfer [ns] or NEVER
    CWND_SUM = 22  # sum of sampled min(cwnd, window) [packet / 1024]; what exceeds a word: CWND_SUM_HIGH
    RTT_SUM = 23  # sum of the sampled latest RTT measurements [ns]; what exceeds a word: RTT_SUM_HIGH
    SAMPLES = 24  # number of samples
    RTT_SAMPLES = 25  # of those, taken after the first RTT measurement
    IN_FLIGHT = 26  # data packets and copies on their way or in a buffer at the end
    DROPS_HANDOVER = 27  # data packets at an access router, or in the air, that the host had left
    DROPS_BUFFER = 28  # data packets that found a handover buffer full
    BUFFERED = 29  # data packets that waited in a handover buffer
    TUNNELLED = 30  # data packets sent on from the old access router to the new one
    COPIES = 31  # copies made of data packets on the way (bicast, simulcast)
    DISCARDED = 32  # data packets and copies that were thrown away because the other one serves
    REORDERED = 33  # data packets that arrived after one put out later
    SILENCE = 34  # longest time between two arrivals of data [ns]; of SCTP over paths, too
    HANDOVERS = 35  # handovers begun, false alarms not counted
    PREPARED = 36  # of those, prepared before the link went down
    FALSE_ALARMS = 37
    CWND_SUM_HIGH = 38  # of CWND_SUM [2**63 packet / 1024]
    RTT_SUM_HIGH = 39  # of RTT_SUM [2**63 ns]


class Queues(IntEnum):
    """Columns behind `Out` of models that measure queues: that of the hop where packets were held longest."""

    HELD = 0  # time that data packets and handshakes were held, summed [ns]; what exceeds a word: HELD_HIGH
    HELD_HIGH = 1  # [2**63 ns]


class Failover(IntEnum):
    """Columns behind all others of SCTP over two paths; 0 in rows with one path."""

    LONGEST = 0  # longest time from a path's last answer until new data take the other one [ns], or NEVER
    COLUMNS = 1


class Messages(IntEnum):
    """Columns behind all others of models whose application writes messages, of those that have arrived."""

    COMPLETED = 0  # how many
    TIME = 1  # sum of the times from writing to the arrival of the last missing packet [ns]
    IDLE = 2  # time in which all was acknowledged and nothing to send, after the first message [ns]
    SHORT = 3  # what their last packets lack of whole ones [byte]
    TIMES = 4  # histogram of the times [2**10 ns], up to 73 min
    COLUMNS = TIMES + bins(27)


class Trace(IntEnum):
    """Columns of a trace (float64, one row per event), times in seconds."""

    TIME = 0
    EVENT = 1  # one of the EVENT_ constants
    SEQUENCE = 2  # packet number (TCP: 1 is the first data packet; SCTP: TSN from 1)
    PATH = 3
    CWND = 4  # [packet]
    SSTHRESH = 5  # [packet]
    RTO = 6  # [s]
    ACKED = 7  # highest cumulative acknowledgement at the sender
    FLOW = 8  # 802.11: twice its number, and 1 more for acknowledgements; shared links: see `Carries`
    # Shared links only.
    RTT = 9  # the latest measurement of the sender [s]; 0: none yet
    BYTES = 10  # a packet at a link; at its sink the payload that was not there before
    DOWN = 11  # 1: dropped or lost because the link is down


class Carries(IntEnum):
    """What a packet of shared links carries: to be added to four times the number of its flow."""

    DATA = 0
    ACK = 1
    CONTROL = 2  # of a handshake, a heartbeat, a probe


# Handover protocols (`P.HANDOVER`).
MIPV6 = 1
HMIPV6 = 2
FMIPV6 = 3
S_BINDING = 4
S_MIP = 5
FHMIPV6 = 6
HIMIPV6 = 7

SCHEDULE_GIVEN = 0
"""Handovers begin when the outages of the last hop (the radio) begin."""
SCHEDULE_PERIODIC = 1
SCHEDULE_RANDOM = 2

MESSAGES_PAUSE = 1
"""The application writes the next message a while after all of the present one is acknowledged;"""
MESSAGES_EVERY = 2
"""or a while after it began to write that, if all of it is acknowledged by then."""

STATUS_OK = 0
STATUS_RING_FULL = 1
"""More packets in flight than `P.RING`: run the row again with a larger ring."""
STATUS_TRACE_FULL = 2
STATUS_NO_START = 3
"""No draw of an ad hoc network has its source and sink as far apart as asked."""
STATUS_NO_NUMBER = 4
"""A flow of shared links sent more packets than have numbers."""

EVENT_SEND = 1
EVENT_ACK = 2
EVENT_TIMEOUT = 3
EVENT_RECEIVE = 4
EVENT_LOST = 5
# Ad hoc networks only.
EVENT_PLACE = 6  # a leg begins: SEQUENCE node, CWND and SSTHRESH where [m], RTO and ACKED its velocity [m/s]
EVENT_LINK = 7  # between nodes SEQUENCE and PATH: CWND 1 it is there, 0 it is gone
EVENT_ROUTE = 8  # the data go another way: SEQUENCE 0, 1, ... the node PATH; a single -1: none
EVENT_STATE = 9  # SEQUENCE 1: the sender begins to probe or is frozen, 0: it goes on
# 802.11 only.
EVENT_DROP = 10  # a full queue at node PATH, or beside the radio (-1); shared links: any queue
# SCTP only; SEQUENCE says who probes the path: 0 the sender, 1 the receiver.
EVENT_HEARTBEAT = 11  # is put out
EVENT_HEARTBEAT_RECEIVE = 12  # arrives; an established end answers at once
EVENT_HEARTBEAT_ACK = 13  # the answer arrives
# Shared links only; PATH is the link, -1 at a host.
EVENT_ENTER = 14  # a packet comes to a link
EVENT_LEAVE = 15  # it has been transmitted, or the link goes down while it is in the queue
EVENT_RECOVERY = 16  # a sender begins to repair a loss without waiting for its timer
EVENT_BEGIN = 17  # a flow of BYTES begins in a slot

# Random streams of a replication (fourth part of the stream address).
STREAM_HEARTBEAT = 2  # + 512 flow; draw 2 k + end: its k-th jitter
STREAM_MOBILITY = 3  # draw k: handover k
STREAM_SIGNALLING = 4  # draw (handover * 8 + message) * 8 + attempt
STREAM_CYCLE = 5  # + 512 flow; draw k: where the k-th cycle of gains of BBR begins
STREAM_MESSAGE = 6  # draw k: the size of message k, and the wait after it
STREAM_LOSS = 16  # + (path * 64 + hop) * 2 + direction
STREAM_DATAGRAM = 1 << 26  # + flow; draw k: the gap from datagram k to k + 1; not of shared links
STREAM_VARYING = 1 << 28  # + stream of the gaps; draw k: jitter and loss by a trace of the k-th packet
STREAM_CHANNEL = 1 << 29  # + stream of the gaps; draw k: what happens after the k-th
STREAM_HOST = 1 << 31  # + 31-bit name hash: quantities drawn on the host


class Rows(NamedTuple):
    """What a kernel reads: one row per replication, `n` in all.

    `H` is the largest hop count, `K` the largest number of outages on a hop, `C` the number of
    constants of a user's congestion control, `m` the number of distinct loss probabilities.
    """

    parameters: NDArray[np.int64]  # [n, len(P)]
    constants: NDArray[np.float64]  # [n, C]
    hops: NDArray[np.int64]  # [n, PATHS, H, len(Hop)]
    outages: NDArray[np.int64]  # [n, PATHS, H, K, 2]: start, end [ns], ascending; then see `base.varying`
    losses: NDArray[np.uint32]  # [m, 32]: digit thresholds, see `loss.thresholds`

    @property
    def filling(self) -> tuple[int, int, int, int]:
        """See `rows`."""
        return 0, 0, 0, FOREVER

    def renumbered(self, line: NDArray[np.int64]) -> "Rows":
        """See `rows`."""
        hops = self.hops.copy()
        hops[..., LOSSES] = line[hops[..., LOSSES]]
        return self._replace(hops=hops)

    def tables(self) -> tuple[int, tuple[Table, ...]]:
        """See `rows`."""
        measured = (self.parameters[:, P.QUEUES] > 0).any()
        found = [Table("queues", len(Queues), 1, 1)] if measured else []
        if (self.parameters[:, P.LATE] > 0).any():
            found.append(Table("delays", DelayOut.COLUMNS, 1, 1))
        if (self.parameters[:, P.MESSAGES] > 0).any():
            found.append(Table("messages", Messages.COLUMNS, 1, 1))
        two = int((self.parameters[:, P.N_PATHS] == PATHS).any())
        found.append(Table("failover", Failover.COLUMNS, two, two))
        return len(Out), tuple(found)
