"""The columns of the arrays that go into the shared engine and come out of it.

As in `netcarlo.kernels.base.layout`, times are int64 nanoseconds and sizes bytes.  A link is one direction of
a cable between two routers, with a queue of its own; each flow has a source host and a sink host of its
own, behind access links without limit or loss.
"""

from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.rows import Table
from netcarlo.kernels.shared.classes import ClassOut

MAX_FLOWS = 1024
MAX_LINKS = 256
MAX_HOPS = 16
"""Links in a route."""

NOWHERE = -1
"""Fills a route behind its last link."""


class Shared(IntEnum):
    """Parameters of a row (columns of `SharedRows.parameters`, behind those of `P`, of which the engine
    reads SEED, SCENARIO, REPLICATION, END, SAMPLE and RING)."""

    FLOWS = len(P)  # number of flows
    LINKS = auto()  # number of links
    WARM_UP = auto()  # the window of measurement begins [ns]; it lasts until END
    CLASSES = auto()  # number of classes of flows that come and go
    DELAY_CLASSES = auto()  # number of classes whose delays are measured
    COLUMNS = auto()


class Flow(IntEnum):
    """A flow (last axis of `SharedRows.flows`, behind the columns of `P`, which hold its transport: START,
    LIMIT, WINDOW, DATA, HEADER, ACK, INTERVAL and the like; SEED, END and SAMPLE are those of the row; RING
    is room for packets in flight, 0: as the window asks)."""

    KIND = len(P)  # number of its sender, see `senders`
    HOPS = auto()  # links on the route of the data, at least 1
    BACK_HOPS = auto()  # links on the route of the acknowledgements (TCP), at least 1
    ROUTE = len(P) + 3  # numbers of the links on the route of the data, MAX_HOPS columns
    BACK = ROUTE + MAX_HOPS  # the same of the acknowledgements, MAX_HOPS columns
    # Access links: BYTE_TIME_BITS fraction bits.
    ACCESS = BACK + MAX_HOPS  # source host to first router, data [ns / byte]
    ACCESS_BACK = auto()  # first router to source host, acknowledgements [ns / byte]
    SOURCE_DELAY = auto()  # of that cable, one way [ns]
    SINK = auto()  # last router to sink host, data [ns / byte]
    SINK_BACK = auto()  # sink host to last router, acknowledgements [ns / byte]
    SINK_DELAY = auto()  # of that cable, one way [ns]
    ECN = auto()  # 1: routers may mark its data packets instead of dropping them
    ON = auto()  # UDP: mean length of the exponential times of sending [ns]; 0: always
    OFF = auto()  # UDP: mean length of the exponential times of silence between them [ns]
    PERIODS = auto()  # row of `losses` with the probability PERIOD: of UDP, and of arrivals
    # Flows that come and go, see `arrivals`; 0 of all others.
    CLASS = auto()  # the class of the flows that this slot is for, from 1 on
    SLOTS = auto()  # a source of arrivals: they take this slot or one of those behind it, so many in all
    GAP = auto()  # of a Poisson source: mean time from arrival to arrival [ns]; 0: a user, who thinks
    SIZES = auto()  # where the points of the sizes begin in `constants` [byte]
    THINKS = auto()  # of a user: where those of the times between downloads do [ns]
    LATENCY = auto()  # ideal time of a transfer: of the handshake and of the first packet [ns],
    PACKET_TIME = auto()  # and of each further one, at the bottleneck [ns]
    BACKUP = auto()  # column of this line, behind these, with another route, see `detours`; 0: none
    DELAY_CLASS = auto()  # class whose delay statistics count its packets, from 1 on, see `delays`; 0: none
    BOUND = auto()  # of such a flow: packets that take longer are late [ns]; FOREVER: none are
    COLUMNS = auto()


class Link(IntEnum):
    """A link (last axis of `SharedRows.links`)."""

    BYTE_TIME = 0  # ns per byte, BYTE_TIME_BITS fraction bits
    DELAY = 1  # propagation [ns]
    QUEUE = 2  # packets held, the one in transmission included; 0: no limit
    LOSS = 3  # row of `losses`: packets lost at its far end
    ROOM = 4  # packets that are expected on it at most, waiting and on the wire (a power of two)
    RED = 5  # one of the constants below
    RED_MIN_TH = 6  # mean queue from which on packets are dropped or marked [packet]
    RED_MAX_TH = 7  # mean queue from which on all are, or twice that (RED_GENTLE) [packet]
    RED_MAX_P = 8  # of dropping or marking where the mean queue comes to RED_MAX_TH, times 2**16
    RED_WEIGHT = 9  # the mean follows the queue with 2**-RED_WEIGHT
    RED_PACKET_TIME = 10  # time of a packet of mean size: an idle queue counts as such arrivals [ns]
    RED_GENTLE = 11  # 1: from RED_MAX_TH to twice that the probability rises to 1
    AQM = 12  # active queue management that decides when packets leave: one of the constants below
    AQM_MARKS = 13  # 1: data of flows with ECN is marked instead of dropped
    AQM_TARGET = 14  # queue delay that it aims at [ns]
    AQM_INTERVAL = 15  # CoDel: the queue is above the target for so long at first; PIE: between updates [ns]
    AQM_MTU = 16  # so many bytes, PIE: twice as many, are no queue [byte]
    FQ_QUANTUM = 17  # credit of a queue in a round [byte]
    PIE_BURST = 18  # such a burst is let pass [ns]
    PIE_ALPHA = 19  # times the queue delay above the target [2**-48 / ns]
    PIE_BETA = 20  # times what the queue delay has grown [2**-48 / ns]
    VARIES = 21  # pair of this line, behind these columns, where what varies is written, see `base.varying`
    OUTAGES = 22  # pair of this line with its first outage: start and end [ns], see `outages`
    OUTAGES_END = 23  # the pair behind its last one
    COLUMNS = 24  # an even number


TABLE = Link.COLUMNS // 2
"""The first pair behind the columns: `Link.VARIES` of a link that varies."""


DROP_TAIL = 0
RED_DROPS = 1
RED_MARKS = 2

NO_AQM = 0
CODEL = 1
PIE = 2
FQ_CODEL = 3


class SharedOut(IntEnum):
    """The first outcomes of a row; those of the flows (`FlowOut`) and of the links (`LinkOut`) follow."""

    STATUS = 0  # one of the STATUS_ constants of `base.layout`
    EVENTS = 1  # events simulated
    COLUMNS = 2


class FlowOut(IntEnum):
    """Outcomes of a flow, counted from the end of the warm-up.

    Data packets only are counted; a SYN is counted in HANDSHAKES alone. For every flow, SENT +
    IN_FLIGHT_BEFORE = RECEIVED + DROPS_QUEUE + DROPS_RANDOM + IN_FLIGHT.
    """

    SENT = 0  # data packets put out, retransmissions included
    RETRANSMITTED = 1
    RECEIVED = 2  # data packets that arrived, duplicates included
    DELIVERED = 3  # distinct data packets that arrived
    IN_ORDER = 4  # TCP: data packets in the gap-free prefix
    USEFUL = 5  # new payload that the slower of last link and sink's cable passed on in the window [byte]
    ACKED = 6  # data packets cumulatively acknowledged at the sender
    IN_FLIGHT_BEFORE = 7  # data packets in flight at the end of the warm-up
    DROPS_QUEUE = 8  # data packets dropped by queues (RED and AQM included)
    DROPS_RANDOM = 9  # data packets lost at random
    IN_FLIGHT = 10  # data packets in flight at the end
    ACKS_SENT = 11
    ACK_DROPS = 12  # all causes
    MARKED = 13  # marks that RED or AQM put on its packets
    TIMEOUTS = 14
    FAST_RETRANSMITS = 15
    CWND_CUTS = 16  # reductions of cwnd
    HANDSHAKES = 17  # SYNs put out
    COMPLETED = 18  # arrival of the last missing packet of a finite transfer [ns] or NEVER (warm-up included)
    FINISHED = 19  # TCP: its acknowledgement at the sender [ns] or NEVER (warm-up included)
    CWND_SUM = 20  # sum of sampled min(cwnd, window) [packet / 1024]
    RTT_SUM = 21  # sum of the sampled latest RTT measurements [ns] ...
    RTT_SUM_HIGH = 22  # ... and what exceeds a word of it [2**63 ns]
    SAMPLES = 23  # number of samples
    RTT_SAMPLES = 24  # of those, taken after the first RTT measurement
    COLUMNS = 25


class LinkOut(IntEnum):
    """Outcomes of a link, counted from the end of the warm-up."""

    ARRIVALS = 0  # packets that reached the queue
    ARRIVALS_BEFORE = 1  # packets that reached the queue during the warm-up
    DROPS = 2  # packets dropped (RED and AQM included)
    DROPS_BEFORE = 3  # of those, reached the queue during the warm-up (AQM)
    EARLY = 4  # of DROPS, by RED or AQM with room in the queue
    MARKS = 5  # packets marked by RED or AQM
    SENT = 6  # packets whose transmission began
    BUSY = 7  # time of transmission [ns]
    WAITING = 8  # packets that wait at the end
    LOST = 9  # packets lost at random, among those whose transmission began or would have
    QUEUE_SUM = 10  # integral of the number waiting [packet ns] ...
    QUEUE_SUM_HIGH = 11  # ... and what exceeds a word of it [2**63 packet ns]
    WAIT_MAX = 12  # longest wait for transmission, of packets that reach the queue and are not dropped [ns]
    COLUMNS = 13


# Random streams (fourth part of the stream address).
STREAM_LINK = 1 << 20  # + link; draw k: gap to its next lost packet
STREAM_PIE = 9 << 20  # + link; draw k: the k-th packet that meets its probability
STREAM_RED = 3 << 20  # + link; draw k: the k-th packet that meets a probability between 0 and 1
STREAM_DATAGRAM = 1 << 21  # + flow; draw k: the time from packet k to k + 1
STREAM_PERIOD = 1 << 22  # + flow; draw k: length of its k-th time of sending (even) or silence (odd)
STREAM_ARRIVAL = 11 << 20  # + source; draw k: the gap before its arrival k
STREAM_SIZE = 10 << 20  # + source; draw k: the size of its arrival k, and how long its user thinks after it


class SharedRows(NamedTuple):
    """What the shared engine reads: one row per replication, `n` in all.

    `P.WINDOW` of `parameters` is 0: rings are as large as the windows of the flows ask, times `P.RING` / 64.
    """

    parameters: NDArray[np.int64]  # [n, Shared.COLUMNS]: those of `P`, then those of `Shared`
    constants: NDArray[np.float64]  # [n, C]: distributions of classes of flows, as points (`base.points`)
    flows: NDArray[np.int64]  # [n, F, Flow.COLUMNS + B], B words of another route
    links: NDArray[np.int64]  # [n, L, Link.COLUMNS + 2 K], K pairs of what varies, and of outages
    losses: NDArray[np.uint32]  # [m, 32]: digit thresholds, see `loss.thresholds`

    @property
    def filling(self) -> tuple[int, int, int, int]:
        """See `rows`."""
        return 0, 0, 0, 0

    def renumbered(self, line: NDArray[np.int64]) -> "SharedRows":
        """See `rows`."""
        flows, links = self.flows.copy(), self.links.copy()
        flows[:, :, Flow.PERIODS] = line[flows[:, :, Flow.PERIODS]]
        links[:, :, Link.LOSS] = line[links[:, :, Link.LOSS]]
        return self._replace(flows=flows, links=links)

    def tables(self) -> tuple[int, tuple[Table, ...]]:
        """See `rows`: those of the flows and of the links."""
        flows, links = self.flows.shape[1], self.links.shape[1]
        return SharedOut.COLUMNS, (
            Table("flows", FlowOut.COLUMNS, flows, flows),
            Table("links", LinkOut.COLUMNS, links, links),
            Table("classes", 1, of_classes(self), of_classes(self)),
        )


PERIOD = 1.0 / 1024.0
"""Exponential times are geometric ones: so many packets of a link that loses one in 1,024, each 1/1024 of
the mean."""


def outcomes(rows: SharedRows) -> int:
    """Columns of the outcomes of `rows`."""
    flows, links = rows.flows.shape[1], rows.links.shape[1]
    return int(SharedOut.COLUMNS + flows * FlowOut.COLUMNS + links * LinkOut.COLUMNS + of_classes(rows))


def classes(rows: SharedRows) -> int:
    """Classes of flows that come and go."""
    return int(rows.parameters[:, Shared.CLASSES].max(initial=0))


def delay_classes(rows: SharedRows) -> int:
    """Classes whose delays are measured."""
    return int(rows.parameters[:, Shared.DELAY_CLASSES].max(initial=0))


def of_classes(rows: SharedRows) -> int:
    """Columns of the outcomes of both, in this order; in a row they follow each other without a gap."""
    each = rows.parameters[:, Shared.CLASSES] * int(ClassOut.COLUMNS)
    each = each + rows.parameters[:, Shared.DELAY_CLASSES] * int(DelayOut.COLUMNS)
    return int(each.max(initial=0))
