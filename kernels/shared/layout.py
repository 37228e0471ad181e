"""Columns of the arrays that the shared engine reads and writes.

As in `netcarlo.kernels.base.layout`, times are int64 nanoseconds and sizes are bytes. A link is one direction
of a cable between two routers, with a queue of its own. Each flow has a source host and a sink host of its
own, behind access links without queue limit or loss.
"""

from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.parameters import P
from netcarlo.kernels.base.rows import Table

MAX_FLOWS = 1024
"""Maximum flows of a row."""
MAX_LINKS = 1024
"""Maximum links of a row."""
MAX_HOPS = 64
"""Maximum links of a route."""

NOWHERE = -1
"""Filler of a list of links after the last link of a route."""


class Shared(IntEnum):
    """Parameters of a row, columns of `SharedRows.parameters` after those of `P`.

    Of `P` the engine reads SEED, SCENARIO, REPLICATION, END, SAMPLE and RING.
    """

    FLOWS = len(P)  # number of flows
    LINKS = auto()  # number of links
    WARM_UP = auto()  # start of the measurement window [ns], which lasts until END
    CLASSES = auto()  # number of classes of flows that arrive and depart
    DELAY_CLASSES = auto()  # number of classes whose delays are measured
    COLUMNS = auto()


class Flow(IntEnum):
    """Flow: last axis of `SharedRows.flows`, after the columns of `P`, which describe its transport.

    Of `P` these are START, LIMIT, WINDOW, DATA, HEADER, ACK, INTERVAL and similar; SEED, END and SAMPLE
    are those of the row; RING is the room for packets in flight, 0 for the room that the window needs.
    The links of its routes are after its columns, from ROUTE on; see `routes_of`.
    """

    KIND = len(P)  # number of its sender, see `senders`
    HOPS = auto()  # links on the route of the data, at least 1
    BACK_HOPS = auto()  # links on the route of the acknowledgements (TCP), at least 1
    # Access links: BYTE_TIME_BITS fraction bits.
    ACCESS = auto()  # source host to first router, data [ns / byte]
    ACCESS_BACK = auto()  # first router to source host, acknowledgements [ns / byte]
    SOURCE_DELAY = auto()  # one-way delay of the cable to the source host [ns]
    SINK = auto()  # last router to sink host, data [ns / byte]
    SINK_BACK = auto()  # sink host to last router, acknowledgements [ns / byte]
    SINK_DELAY = auto()  # one-way delay of the cable to the sink host [ns]
    ECN = auto()  # 1: routers may mark its data packets instead of dropping them
    ON = auto()  # UDP: mean length of the exponential on periods [ns]; 0: always on
    OFF = auto()  # UDP: mean length of the exponential off periods between them [ns]
    PERIODS = auto()  # row of `losses` with the probability PERIOD: for UDP, and for arrivals
    # Slots of flows that arrive and depart, see `arrivals`; 0 for all others. From PERIODS on as in
    # `base.arrivals.Source`.
    CLASS = auto()  # class of the flows that use this slot, from 1 on
    SLOTS = auto()  # source of arrivals: number of slots that they use, this one and those behind it
    GAP = auto()  # Poisson source: mean time between arrivals [ns]; 0: a user, who thinks
    SIZES = auto()  # word of `constants` at which the points of the sizes begin [byte]
    THINKS = auto()  # user: word of `constants` at which the points of the think times begin [ns]
    LATENCY = auto()  # ideal time of a transfer: handshake and first packet [ns]
    PACKET_TIME = auto()  # ideal time of a transfer: each further packet, at the bottleneck [ns]
    BACKUP = auto()  # column of this flow, after its routes, with its backup route, see `detours`; 0: none
    DELAY_CLASS = auto()  # class whose delay statistics count its packets, from 1 on, see `delays`; 0: none
    BOUND = auto()  # delay above which packets of such a flow are late [ns]; FOREVER: none are
    COLUMNS = auto()
    ROUTE = COLUMNS
    """Links on the route of the data, HOPS columns; then those on the route of the acknowledgements."""


class Link(IntEnum):
    """Link: last axis of `SharedRows.links`."""

    BYTE_TIME = 0  # transmission time [ns / byte], BYTE_TIME_BITS fraction bits
    DELAY = 1  # propagation [ns]
    QUEUE = 2  # limit of the packets held, including the one in transmission; 0: no limit; below 0: of bytes
    LOSS = 3  # row of `losses`: packets lost at its far end
    ROOM = 4  # maximum packets expected on it, waiting and on the wire (a power of two)
    RED = 5  # drop-tail or RED: one of the constants below
    RED_MIN_TH = 6  # mean queue from which on packets are dropped or marked [packets]
    RED_MAX_TH = 7  # mean queue from which on all are, or from twice of it with RED_GENTLE [packets]
    RED_MAX_P = 8  # probability of dropping or marking at a mean queue of RED_MAX_TH, times 2**16
    RED_WEIGHT = 9  # weight of the queue in its moving average: 2**-RED_WEIGHT
    RED_PACKET_TIME = 10  # transmission time of a packet of mean size, by which an idle queue ages [ns]
    RED_GENTLE = 11  # 1: the probability rises to 1 between RED_MAX_TH and twice of it
    AQM = 12  # queue whose packets wait until the link takes them: one of the constants below
    AQM_MARKS = 13  # 1: data of flows with ECN are marked instead of dropped
    AQM_TARGET = 14  # target of the queueing delay [ns]
    AQM_INTERVAL = 15  # CoDel: initial interval above the target; PIE: interval between updates [ns]
    AQM_MTU = 16  # bytes that are not regarded as a queue; twice as many with PIE
    FQ_QUANTUM = 17  # credits of a queue per round [byte]
    PIE_BURST = 18  # burst that is not dropped [ns]
    PIE_ALPHA = 19  # weight of the queueing delay above the target [2**-48 / ns]
    PIE_BETA = 20  # weight of the growth of the queueing delay [2**-48 / ns]
    VARIES = 21
    """Pair of this link, after these columns, at which its table begins, see `base.varying`; 0: none."""
    OUTAGES = 22  # pair of this link with its first outage: start and end [ns], see `outages`
    OUTAGES_END = 23  # pair after its last outage
    COLUMNS = 24  # number of columns, which is even


TABLE = Link.COLUMNS // 2
"""First pair after the columns: `Link.VARIES` of a link that varies."""


DROP_TAIL = 0
RED_DROPS = 1
RED_MARKS = 2

NO_AQM = 0
CODEL = 1
PIE = 2
FQ_CODEL = 3
FIFO = 4
"""Drop-tail queue whose limit is in bytes; those with a limit in packets have NO_AQM."""


class SharedOut(IntEnum):
    """First outcomes of a row; those of the flows (`FlowOut`) and of the links (`LinkOut`) follow."""

    STATUS = 0  # one of the STATUS_ constants of `base.layout`
    EVENTS = 1  # events simulated
    COLUMNS = 2


class FlowOut(IntEnum):
    """Outcomes of a flow, counted from the end of the warm-up.

    Only data packets are counted; a SYN is counted in HANDSHAKES alone. For every flow, SENT +
    IN_FLIGHT_BEFORE = RECEIVED + DROPS_QUEUE + DROPS_RANDOM + IN_FLIGHT.
    """

    SENT = 0  # data packets sent, including retransmissions
    RETRANSMITTED = 1
    """Data packets retransmitted."""
    RECEIVED = 2  # data packets that arrived, including duplicates
    DELIVERED = 3  # distinct data packets that arrived
    IN_ORDER = 4  # TCP: data packets in the gap-free prefix
    USEFUL = 5  # new payload transmitted in the window by the slower of last link and sink cable [byte]
    ACKED = 6  # data packets cumulatively acknowledged at the sender
    IN_FLIGHT_BEFORE = 7  # data packets in flight at the end of the warm-up
    DROPS_QUEUE = 8  # data packets dropped by queues (RED and AQM included)
    DROPS_RANDOM = 9  # data packets lost at random
    IN_FLIGHT = 10  # data packets in flight at the end
    ACKS_SENT = 11
    """Acknowledgements sent by the sink."""
    ACK_DROPS = 12  # acknowledgements dropped or lost
    MARKED = 13  # packets marked by RED or AQM
    TIMEOUTS = 14
    """Retransmission timeouts."""
    FAST_RETRANSMITS = 15
    """Fast recoveries."""
    CWND_CUTS = 16  # reductions of cwnd
    HANDSHAKES = 17  # SYNs sent
    COMPLETED = 18
    """Arrival of the last missing packet of a finite transfer [ns] or NEVER (warm-up included)."""
    FINISHED = 19  # TCP: acknowledgement of it at the sender [ns] or NEVER (warm-up included)
    CWND_SUM = 20  # sum of sampled min(cwnd, window) [packet / 1024]
    RTT_SUM = 21  # sum of the sampled latest RTT measurements [ns], low word
    RTT_SUM_HIGH = 22  # sum of the sampled latest RTT measurements, high word [2**63 ns]
    SAMPLES = 23  # number of samples
    RTT_SAMPLES = 24  # number of samples after the first RTT measurement
    COLUMNS = 25


class LinkOut(IntEnum):
    """Outcomes of a link, counted from the end of the warm-up."""

    ARRIVALS = 0  # packets that reached the queue
    ARRIVALS_BEFORE = 1  # packets that reached the queue during the warm-up
    DROPS = 2  # packets dropped, including those by RED and AQM
    DROPS_BEFORE = 3  # packets dropped that reached the queue during the warm-up (AQM)
    EARLY = 4  # packets dropped by RED or AQM although the queue had room
    MARKS = 5  # packets marked by RED or AQM
    SENT = 6  # packets whose transmission began
    BUSY = 7  # time spent transmitting [ns]
    WAITING = 8  # packets that wait at the end
    LOST = 9  # packets lost at random, among those whose transmission began or would have begun
    QUEUE_SUM = 10  # time integral of the number waiting [packet ns], low word
    QUEUE_SUM_HIGH = 11  # time integral of the number waiting, high word [2**63 packet ns]
    WAIT_MAX = 12  # longest wait for transmission of a packet that is not dropped at arrival [ns]
    COLUMNS = 13


# Random streams (fourth part of the stream address).
STREAM_LINK = 1 << 20  # + link; draw k: gap to its next lost packet
STREAM_PIE = 9 << 20  # + link; draw k: the k-th packet that meets its probability
STREAM_RED = 3 << 20  # + link; draw k: the k-th packet that meets a probability between 0 and 1
STREAM_DATAGRAM = 1 << 21  # + flow; draw k: the time from packet k to k + 1
STREAM_PERIOD = 1 << 22  # + flow; draw k: length of its k-th time of sending (even) or silence (odd)


class SharedRows(NamedTuple):
    """Input of the shared engine: one row per replication, `n` in all.

    `RowP.WINDOW` of `parameters` is 0: rings are as large as the windows of the flows require, times
    `RowP.RING` / 64.
    """

    parameters: NDArray[np.int64]  # [n, Shared.COLUMNS]: those of `P`, then those of `Shared`
    constants: NDArray[np.float64]  # [n, C]: distributions of classes of flows, as points (`base.points`)
    flows: NDArray[np.int64]  # int64[n, F, Flow.COLUMNS + W], with W words of routes and backup routes
    links: NDArray[np.int64]  # int64[n, L, Link.COLUMNS + 2 K], with K pairs of varying tables and outages
    losses: NDArray[np.uint32]  # [m, 32]: digit thresholds, see `loss.thresholds`

    @property
    def filling(self) -> tuple[int, int, int, int]:
        """Return the filling values, see `rows`."""
        return 0, 0, 0, 0

    def renumbered(self, line: NDArray[np.int64]) -> "SharedRows":
        """Return rows with renumbered lines of `losses`, see `rows`."""
        flows, links = self.flows.copy(), self.links.copy()
        flows[:, :, Flow.PERIODS] = line[flows[:, :, Flow.PERIODS]]
        links[:, :, Link.LOSS] = line[links[:, :, Link.LOSS]]
        return self._replace(flows=flows, links=links)

    def tables(self) -> tuple[int, tuple[Table, ...]]:
        """Return the tables of flows, links and classes, see `rows`."""
        flows, links = self.flows.shape[1], self.links.shape[1]
        return SharedOut.COLUMNS, (
            Table("flows", FlowOut.COLUMNS, flows, flows),
            Table("links", LinkOut.COLUMNS, links, links),
            Table("classes", 1, of_classes(self), of_classes(self)),
        )


def routes_of(flows: NDArray[np.int64], *, back: bool = False) -> NDArray[np.int64]:
    """Return the links on the routes of flows [..., columns], NOWHERE after the last.

    The routes are those of the data, or those `back` of the acknowledgements. The last axis is as long as the
    longest of them.
    """
    hops = flows[..., [Flow.BACK_HOPS if back else Flow.HOPS]]
    k = np.arange(max(int(hops.max(initial=0)), 1))
    at = Flow.ROUTE + k + flows[..., [Flow.HOPS]] * back
    links = np.take_along_axis(flows, np.minimum(at, flows.shape[-1] - 1), axis=-1)
    return np.where(k < hops, links, NOWHERE)


def with_routes(
    flows: NDArray[np.int64], forth: NDArray[np.int64], back: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return flows [..., Flow.COLUMNS] followed by the first HOPS and BACK_HOPS links of their routes
    [..., H]."""
    hops, back_hops = flows[..., [Flow.HOPS]], flows[..., [Flow.BACK_HOPS]]
    k = np.arange(int((hops + back_hops).max(initial=0)))
    links = np.zeros((*flows.shape[:-1], len(k)), np.int64)
    links[k < hops] = forth[np.arange(forth.shape[-1]) < hops]
    links[(k >= hops) & (k < hops + back_hops)] = back[np.arange(back.shape[-1]) < back_hops]
    return np.concatenate([flows, links], axis=-1)


PERIOD = 1.0 / 1024.0
"""Loss probability that generates exponential times as geometric ones, in units of 1/1024 of the mean: the
packets of a link that loses one packet in 1,024."""


def outcomes(rows: SharedRows) -> int:
    """Return the number of outcome columns of `rows`."""
    flows, links = rows.flows.shape[1], rows.links.shape[1]
    return int(SharedOut.COLUMNS + flows * FlowOut.COLUMNS + links * LinkOut.COLUMNS + of_classes(rows))


def classes(rows: SharedRows) -> int:
    """Return the number of classes of flows that arrive and depart."""
    return int(rows.parameters[:, Shared.CLASSES].max(initial=0))


def delay_classes(rows: SharedRows) -> int:
    """Return the number of classes whose delays are measured."""
    return int(rows.parameters[:, Shared.DELAY_CLASSES].max(initial=0))


def of_classes(rows: SharedRows) -> int:
    """Return the columns of the outcomes of both kinds of classes, in this order; in a row they are
    contiguous."""
    each = rows.parameters[:, Shared.CLASSES] * int(ClassOut.COLUMNS)
    each = each + rows.parameters[:, Shared.DELAY_CLASSES] * int(DelayOut.COLUMNS)
    return int(each.max(initial=0))
