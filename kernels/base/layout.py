"""Columns of the arrays that a kernel reads and writes.

A kernel reads and writes one row of each array per replication. Times are int64 nanoseconds, sizes bytes,
windows packets. The enumerations below name the columns.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.histogram import bins
from netcarlo.kernels.base.parameters import LinuxP, RowP, SctpP
from netcarlo.kernels.base.rows import Table

NS = 1e9
"""Nanoseconds in a second."""

MS = 1_000_000
"""Nanoseconds in a millisecond."""

ENDLESS = 1 << 62
"""Value of `RowP.LIMIT` for an unlimited transfer. (An unlimited queue has `Hop.QUEUE` 0.)"""

NEVER = -1
"""Value in `Out` of the time of an event that did not occur."""

FOREVER = (1 << 62) - 1
"""Time of an event that never occurs, such as the start of an outage (pads `Rows.outages`)."""

BYTE_TIME_BITS = 20
"""Fraction bits of `Hop.BYTE_TIME` [ns / byte]."""

PATHS = 2
"""Number of paths in `Rows.hops`; transports with one path use the first."""
MPTCP_PATHS = 4
"""Number of paths in `Rows.hops` of MPTCP, which uses the first `MptcpP.SUBFLOWS`."""


class Hop(IntEnum):
    """Columns of a FIFO hop (last axis of `Rows.hops`); the prefix `R_` denotes the direction of the ACKs."""

    BYTE_TIME = 0  # transmission time per byte [ns], BYTE_TIME_BITS fraction bits; 0: infinitely fast
    DELAY = 1  # propagation delay [ns]
    QUEUE = 2  # maximum packets held, the one in transmission included; 0: unlimited
    LOSS = 3  # row of `Rows.losses`
    R_BYTE_TIME = 4
    R_DELAY = 5
    R_QUEUE = 6
    R_LOSS = 7
    PRESENT = 8  # 1 if this path has this hop, else 0
    CROSS_EVERY = 9  # interval of constant bit rate cross traffic along with the data [ns]; 0: none
    CROSS_SIZE = 10  # packet size of cross traffic [bytes]
    CROSS_FIRST = 11  # arrival of its first packet [ns]
    TICK = 12  # data leave the far end at multiples of this interval plus TICK_PHASE [ns]; 0: at any time
    TICK_PHASE = 13  # phase of the ticks [ns]
    BURST_LOSS = 14  # row of `Rows.losses` during bursts of loss
    R_BURST_LOSS = 15
    CHANCES = 16  # outside bursts: P(lost) and P(change of state | lost) at an event of the channel
    R_CHANCES = 17  # 0: no bursts
    BURST_CHANCES = 18  # the same probabilities during bursts
    R_BURST_CHANCES = 19
    VARIES = 20  # pair of `Rows.outages` with the table of a time-varying hop (`base.varying`); 0: constant
    R_VARIES = 21


CHANCE_BITS = 31
"""Bits of a probability in `Hop.CHANCES`; that of a loss is above that of a change of state."""

LOSSES = [Hop.LOSS, Hop.R_LOSS, Hop.BURST_LOSS, Hop.R_BURST_LOSS]
"""Columns of a hop that contain rows of `Rows.losses`."""


class Out(IntEnum):
    """Outcomes of one replication (columns of the result, int64).

    Only data packets count; a SYN is counted in HANDSHAKES alone. IN_FLIGHT to FALSE_ALARMS are for mobile
    hosts only, except that paths with reordering have IN_FLIGHT and REORDERED, too.
    """

    STATUS = 0  # one of the STATUS_ constants
    SENT = 1  # data packets sent, retransmissions included
    RETRANSMITTED = 2  # data packets retransmitted
    RECEIVED = 3  # data packets that arrived, duplicates included
    DELIVERED = 4  # distinct data packets that arrived
    IN_ORDER = 5  # data packets received without a gap
    ACKED = 6  # data packets cumulatively acknowledged at the sender
    TIMEOUTS = 7  # retransmission timeouts of data
    FAST_RETRANSMITS = 8
    CWND_CUTS = 9  # reductions of cwnd: timeouts and recoveries
    DROPS_QUEUE = 10  # data packets dropped by a full queue
    DROPS_RANDOM = 11  # data packets lost at random
    DROPS_OUTAGE = 12  # data packets sent to a hop that was down
    DESTROYED = 13  # data packets lost in the queue or on the wire when a hop went down
    ACK_DROPS = 14  # ACKs lost, all causes
    HANDSHAKES = 15  # SYNs sent
    SENT_ALTERNATE = 16  # data packets sent on paths other than the first
    FIRST_RX = 17  # first arrival of data [ns] or NEVER
    LAST_RX = 18  # last arrival of data [ns] or NEVER
    RESUME_TX = 19  # send time of the packet of RESUME_RX [ns] or NEVER
    RESUME_RX = 20  # first arrival of data after the start of the first outage of path 0 [ns] or NEVER
    COMPLETED = 21  # arrival of the last missing packet of a finite transfer [ns] or NEVER
    CWND_SUM = 22  # sum of sampled min(cwnd, window) [packets / 1024], low word
    RTT_SUM = 23  # sum of sampled latest RTT measurements [ns], low word
    SAMPLES = 24  # number of samples
    RTT_SAMPLES = 25  # number of samples after the first RTT measurement
    IN_FLIGHT = 26  # data packets and copies in flight or buffered at the end
    DROPS_HANDOVER = 27  # data packets lost at an access router that the host had left, or on its link
    DROPS_BUFFER = 28  # data packets dropped by a full handover buffer
    BUFFERED = 29  # data packets held in a handover buffer
    TUNNELLED = 30  # data packets tunnelled from the old access router to the new one
    COPIES = 31  # copies of data packets made in the network (bicast, simulcast)
    DISCARDED = 32  # data packets and copies discarded because the other one is used
    REORDERED = 33  # data packets that arrived after one sent later
    SILENCE = 34  # longest time between two arrivals of data [ns]; also of SCTP over paths
    HANDOVERS = 35  # handovers, without false alarms
    PREPARED = 36  # handovers prepared before the link went down
    FALSE_ALARMS = 37
    CWND_SUM_HIGH = 38  # high word of CWND_SUM [2**63 packets / 1024]
    RTT_SUM_HIGH = 39  # high word of RTT_SUM [2**63 ns]


class Queues(IntEnum):
    """Columns after `Out` of models that measure queues: the hop with the longest total time in the queue."""

    HELD = 0  # sum of the times that data packets and SYNs spent on the hop [ns], low word
    HELD_HIGH = 1  # high word of that sum [2**63 ns]


class Failover(IntEnum):
    """Columns after all others of SCTP over two paths; 0 in rows with one path."""

    LONGEST = 0  # longest time from the last reply of a path until new data use the other path [ns], or NEVER
    COLUMNS = 1


class Subflows(IntEnum):
    """Columns after all others of MPTCP, data packets at the level of the connection."""

    REINJECTED = 0  # data packets given to a subflow although another one had them
    REORDERED = 1  # data packets that waited at the receiver for data of another subflow
    STALE = 2  # subflows that became stale
    DELIVERED = 3  # + path: data packets that its subflow was the first to deliver
    COLUMNS = DELIVERED + PATHS


class FurtherSubflows(IntEnum):
    """Columns after those of `Subflows` where a row of a launch has more than two subflows."""

    DELIVERED = 0  # + path - PATHS: data packets that its subflow was the first to deliver
    COLUMNS = MPTCP_PATHS - PATHS


WITH_SUBFLOWS = 2
"""Value of `RowP.QUEUES` in rows of MPTCP."""


class Messages(IntEnum):
    """Columns after all others of models whose application writes messages: messages that have arrived."""

    COMPLETED = 0  # number of messages
    TIME = 1  # sum of the times from writing to the arrival of the last missing packet [ns]
    IDLE = 2  # time without data to send or unacknowledged, after the first message [ns]
    SHORT = 3  # sum of the bytes that last packets lack
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
    FLOW = 8  # 802.11: twice the number of the flow, plus 1 for ACKs; shared links: see `Carries`
    # Shared links only.
    RTT = 9  # latest RTT measurement of the sender [s]; 0: none yet
    BYTES = 10  # at a link: size of the packet; at its receiver: newly received payload
    DOWN = 11  # 1: dropped or lost because the link is down


class Carries(IntEnum):
    """Content of a packet of shared links, added to four times the number of its flow."""

    DATA = 0
    ACK = 1
    CONTROL = 2  # handshake, heartbeat, probe


# Handover protocols (`MobileP.HANDOVER`).
MIPV6 = 1
HMIPV6 = 2
FMIPV6 = 3
S_BINDING = 4
S_MIP = 5
FHMIPV6 = 6
HIMIPV6 = 7

SCHEDULE_GIVEN = 0
"""Schedule in which handovers begin with the outages of the last hop (the radio link)."""
SCHEDULE_PERIODIC = 1
"""Schedule of periodic handovers."""
SCHEDULE_RANDOM = 2
"""Schedule of a host that crosses random chords of round cells."""

MESSAGES_PAUSE = 1
"""Mode in which the next message is written some time after the present one is acknowledged."""
MESSAGES_EVERY = 2
"""Mode in which the next message is written some time after the start of the present one.

If the present one is not acknowledged by then, the next one follows its acknowledgement.
"""

STATUS_OK = 0
STATUS_RING_FULL = 1
"""Status if more packets are in flight than `RowP.RING`: run the row again with a larger ring."""
STATUS_TRACE_FULL = 2
"""Status if the trace is full: run the row again with a longer trace."""
STATUS_NO_START = 3
"""Status if no draw of an ad hoc network has its source and sink at the requested distance."""
STATUS_NO_NUMBER = 4
"""Status if a flow of shared links sent more packets than there are packet numbers."""

EVENT_SEND = 1
EVENT_ACK = 2
EVENT_TIMEOUT = 3
EVENT_RECEIVE = 4
EVENT_LOST = 5
# Ad hoc networks only.
EVENT_PLACE = 6  # start of a leg: SEQUENCE node, CWND and SSTHRESH position [m], RTO and ACKED velocity [m/s]
EVENT_LINK = 7  # link between nodes SEQUENCE and PATH: CWND 1 up, 0 down
EVENT_ROUTE = 8  # change of route: SEQUENCE 0, 1, ... node PATH; a single -1: no route
EVENT_STATE = 9  # SEQUENCE 1: the sender starts to probe or is frozen, 0: it resumes
# 802.11 only.
EVENT_DROP = 10  # full queue at node PATH, or outside of the radio network (-1); shared links: any queue
# SCTP only; SEQUENCE is the endpoint that probes the path: 0 the sender, 1 the receiver.
EVENT_HEARTBEAT = 11  # HEARTBEAT sent
EVENT_HEARTBEAT_RECEIVE = 12  # HEARTBEAT received; an established endpoint replies at once
EVENT_HEARTBEAT_ACK = 13  # HEARTBEAT ACK received
# Shared links only; PATH is the link, -1 at a host.
EVENT_ENTER = 14  # arrival of a packet at a link
EVENT_LEAVE = 15  # end of its transmission, or outage of the link while it is in the queue
EVENT_RECOVERY = 16  # start of a loss recovery without a timeout
EVENT_BEGIN = 17  # start of a flow of BYTES in a slot

# Random streams of a replication (fourth part of the stream address).
STREAM_HEARTBEAT = 2  # + 512 flow; draw 2 k + endpoint: jitter of its k-th heartbeat; RFC 9260: 4 k + way
STREAM_MOBILITY = 3  # draw k: handover k
STREAM_SIGNALLING = 4  # draw (handover * 8 + message) * 8 + attempt
STREAM_CYCLE = 5  # + 512 flow; draw k: start of the k-th gain cycle of BBR
STREAM_MESSAGE = 6  # draw k: size of message k, and the wait after it
STREAM_LOSS = 16  # + (path * 64 + hop) * 2 + direction
STREAM_DATAGRAM = 1 << 26  # + flow; draw k: interval from datagram k to k + 1; not for shared links
STREAM_VARYING = 1 << 28  # + stream of the gaps; draw k: jitter and loss of the k-th packet by a trace
STREAM_CHANNEL = 1 << 29  # + stream of the gaps; draw k: event after the k-th gap
STREAM_HOST = 1 << 31  # + 31-bit name hash: quantities drawn on the host


class Rows(NamedTuple):
    """Arrays that a kernel reads: one row per replication, `n` in all.

    `H` is the maximum number of hops, `K` the maximum number of outages of a hop, `C` the number of constants
    of a user's congestion control, `m` the number of distinct loss probabilities.
    """

    parameters: NDArray[np.int64]  # [n, len(P)]
    constants: NDArray[np.float64]  # [n, C]
    hops: NDArray[np.int64]  # [n, PATHS or MPTCP_PATHS, H, len(Hop)]
    outages: NDArray[np.int64]  # [n, paths, H, K, 2]: start, end [ns], ascending; then see `base.varying`
    losses: NDArray[np.uint32]  # [m, 32]: digit thresholds, see `loss.thresholds`

    @property
    def filling(self) -> tuple[int, int, int, int]:
        """Return the padding of the arrays (`rows.AnyRows`)."""
        return 0, 0, 0, FOREVER

    def renumbered(self, line: NDArray[np.int64]) -> "Rows":
        """Return the rows with another table of losses (`rows.AnyRows`)."""
        hops = self.hops.copy()
        hops[..., LOSSES] = line[hops[..., LOSSES]]
        return self._replace(hops=hops)

    def tables(self) -> tuple[int, tuple[Table, ...]]:
        """Return the tables of outcomes (`rows.AnyRows`)."""
        measured = (self.parameters[:, RowP.QUEUES] == 1).any()
        found = [Table("queues", len(Queues), 1, 1)] if measured else []
        if (self.parameters[:, RowP.LATE] > 0).any():
            found.append(Table("delays", DelayOut.COLUMNS, 1, 1))
        if (self.parameters[:, LinuxP.MESSAGES] > 0).any():
            found.append(Table("messages", Messages.COLUMNS, 1, 1))
        subflows = self.parameters[:, RowP.QUEUES] == WITH_SUBFLOWS
        two = int(((self.parameters[:, SctpP.N_PATHS] == PATHS) & ~subflows).any())
        found.append(Table("failover", Failover.COLUMNS, two, two))
        if subflows.any():
            found.append(Table("subflows", Subflows.COLUMNS, 1, 1))
            further = int((self.parameters[subflows, SctpP.N_PATHS] > PATHS).any())
            found.append(Table("further_subflows", FurtherSubflows.COLUMNS, further, further))
        return len(Out), tuple(found)
