"""Columns of the arrays that the 802.11 engine reads and writes.

As in `netcarlo.kernels.base.layout`, times are int64 nanoseconds and sizes bytes. The composition of a
network differs from row to row, so its tables follow one another in one array, `network`, and the columns of
`Radio` give the start of each table.
"""

from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.parameters import P
from netcarlo.kernels.base.rows import Table

MOST_NODES = 64
"""Maximum number of nodes: each is a bit of a 64-bit mask."""

MOST_FLOWS = 1 << 10
"""Maximum number of flows, limited by the bits of a frame word."""

NOBODY = -1
"""Value that stands for no node, no leg, or no link."""


class Radio(IntEnum):
    """Parameters of the channel and the tables (columns of `WifiRows.parameters`, following those of `P`)."""

    NODES = len(P)  # number of nodes
    FLOWS = auto()
    LINKS = auto()
    LEGS = auto()
    RATES = auto()
    # Where the tables begin in a row of `network`.
    FLOWS_AT = auto()
    LINKS_AT = auto()
    LEGS_AT = auto()
    RATES_AT = auto()
    TRANSPORTS_AT = auto()  # if flows have transports of their own: the columns of `P` of each flow
    PATHS_AT = auto()  # links by number: the paths of all flows, one after the other
    # What is measured, and the channel.
    WARM_UP = auto()  # start of the measurement window [ns]
    BIN = auto()  # length of the intervals of `FlowOut.BEST` [ns]; 0: none
    SLOT = auto()  # slot time [ns]
    SIFS = auto()  # SIFS [ns]
    EIFS = auto()  # EIFS: wait after a frame that was not decoded [ns]
    CW_MIN = auto()  # minimum contention window [slot]
    CW_MAX = auto()
    SHORT_RETRY = auto()  # maximum attempts of an RTS, or of a frame without RTS
    LONG_RETRY = auto()  # maximum attempts of a frame after an RTS
    RTS_THRESHOLD = auto()  # DCF: frames longer than this are preceded by an RTS [byte]
    PROTECTION = auto()  # rate of a CTS-to-self before OFDM frames, or NOBODY
    BURST = auto()  # data frames per access to the channel
    RATE_CONTROL = auto()  # one of the constants below
    ARF_UP = auto()  # consecutive successes that raise the rate
    ARF_DOWN = auto()  # consecutive failures that lower the rate
    ARF_TIMER = auto()  # attempts after which the rate is raised in any case
    AARF_FACTOR = auto()  # AARF: a failed probe multiplies ARF_UP by this
    AARF_MOST = auto()  # AARF: maximum ARF_UP
    BACK_PRESSURE = auto()  # 1: a full queue stops the TCP or SCTP of its own node instead of dropping
    MAC_OVERHEAD = auto()  # bytes added to a packet in a frame (LLC, MAC header, FCS)
    GATEWAY_BURST = auto()  # BURST of the last node, the gateway
    DELAY_CLASSES = auto()  # number of classes whose delays are measured
    ARRIVAL_CLASSES = auto()  # number of classes of flows that arrive and depart
    OUTAGES = auto()  # number of outages of the last node, see `outages`
    OUTAGES_AT = auto()  # start of these outages in a row of `network`
    # EDCA, see `edca`.
    FUNCTIONS = auto()  # number of EDCA functions
    FUNCTIONS_AT = auto()
    AGREEMENTS = auto()  # number of agreements
    AGREEMENTS_AT = auto()
    PATH_WORDS = auto()  # number of links of all paths; the agreements of the same hops follow them
    RTS_RATE = auto()  # rate of RTS and CTS, or NOBODY for the rate of the answer
    CF_END_RATE = auto()  # rate of CF-End
    MOST_TIME = auto()  # maximum duration of a PPDU [ns]
    BAR_AFTER_MISSED = auto()  # 1: a BlockAckReq follows a missing BlockAck
    ERRORS_AT = auto()  # rate control: P(noise destroys an MPDU) [2**-32], by link and rate
    RETRY_PER_MPDU = auto()  # 1: attempts of each MPDU are limited; 0: consecutive failures of the function
    FQ_QUANTUM = auto()  # FQ-CoDel: bytes of a flow per round
    AQL_LOW = auto()  # estimated airtime up to which MSDUs of a receiver are released to the hardware [ns]
    AQL_HIGH = auto()  # as AQL_LOW while the node has released less than AQL_TOTAL [ns]
    AQL_TOTAL = auto()  # estimated airtime of the node up to which AQL_HIGH applies [ns]
    COLUMNS = auto()


class Node(IntEnum):
    """Node (columns of its table; the queue limit includes the frame in transmission)."""

    QUEUE = 0  # queue limit [frame]
    SENSE = 1  # mask: nodes whose transmissions it senses
    NEAR = 2  # mask: of those, nodes whose data frames it decodes; their signal captures that of the others
    CONTROL = 3  # mask: nodes whose control frames it decodes
    DISTURB_DATA = 4  # mask: nodes whose transmissions destroy a data frame that it receives
    DISTURB_CONTROL = 5  # mask: nodes whose transmissions destroy a control frame that it receives
    FIRST_FUNCTION = 6  # EDCA: number of its first function
    FUNCTIONS = 7  # EDCA: number of its functions, by category


class Link(IntEnum):
    """Link of one hop."""

    FROM = 0
    TO = 1
    RATE = 2  # first rate (row of the rate table)
    LOSS = 3  # row of `WifiRows.losses`: data frames destroyed by noise
    FRAGILITY = 4  # 0: any disturbance destroys a data frame; else 1 + row of `losses`, per microsecond
    LOWEST = 5  # rate control: first and last row of the rate table that it may use
    HIGHEST = 6


class Rate(IntEnum):
    """Rate; rate control moves up and down in this table."""

    SYMBOL = 0  # duration of a symbol [ns]
    SIXTH_BITS = 1  # six times the bits of a symbol
    EXTRA_BITS = 2  # service and tail bits
    PREAMBLE = 3  # preamble and PLCP header [ns]
    EXTENSION = 4  # signal extension [ns]
    ANSWER = 5  # rate of the answering ACK or CTS, and of the RTS (row of this table)
    DSSS = 6  # 1: DSSS rate (802.11b), which needs no protection
    DELIMITED = 7  # 1: a single MPDU is sent as an A-MPDU (VHT, HE)
    STREAMS = 8  # number of spatial streams


class Flow(IntEnum):
    """Flow: UDP at a constant rate, or TCP or SCTP with the columns of `P` of the row or of its own."""

    TCP = 0  # 1 (also of SCTP), or 0 for UDP
    START = 1  # start [ns]
    STOP = 2  # time from which no packet is sent [ns]
    LIMIT = 3  # packets to send, or ENDLESS
    SIZE = 4  # payload of a packet [byte]
    HEADER = 5  # headers of transport (SCTP: also of the chunk) and network layer [byte]
    INTERVAL = 6  # UDP: interval of packets [ns]
    FORTH_AT = 7  # data: first entry in PATHS
    FORTH = 8  # data: number of links
    BACK_AT = 9  # acknowledgements: first entry in PATHS
    BACK = 10  # acknowledgements: number of links
    BEFORE = 11  # leg of the data before the radio network, or NOBODY
    AFTER = 12  # leg of the data after the radio network, or NOBODY
    ACK_BEFORE = 13  # leg of the acknowledgements before the radio network, or NOBODY
    ACK_AFTER = 14  # leg of the acknowledgements after the radio network, or NOBODY
    ACK_COST = 15  # time for which generating an acknowledgement occupies leg AFTER [ns]
    KIND = 16  # number of its sender, see `senders`; 0: UDP, or the TCP of all flows
    ITEM = 17  # number of its item in a list of flows, from 1 on; else 0
    DELAY_CLASS = 18  # class whose delay statistics count its packets, from 1 on, see `delays`; 0: none
    BOUND = 19  # delay above which packets of such a flow are late [ns]; FOREVER: none are
    SPREAD = 20  # UDP: width of uniformly distributed gaps around INTERVAL, at most 2**31 [ns]
    # (0: equal gaps), or -1: exponential gaps
    SHORT = 21  # bytes by which the payload of the last packet is shorter than SIZE
    BACKLOG = 22  # UDP over EDCA: datagrams that a saturated source keeps in its queue; 0: not saturated
    CATEGORY = 23  # EDCA: access category, as in `Function.CATEGORY`
    # Slots of flows that arrive and depart, as in `base.arrivals.Source`; 0 for all others.
    PERIODS = 24
    CLASS = 25
    SLOTS = 26
    GAP = 27
    SIZES = 28
    THINKS = 29


class Leg(IntEnum):
    """FIFO server outside the radio network: a wire, a delay element, or a slow processor and its
    application."""

    BYTE_TIME = 0  # ns per byte, BYTE_TIME_BITS fraction bits
    OVERHEAD = 1  # bytes added to each packet
    PACKET_TIME = 2  # service time per packet, in addition to that of its bytes [ns]
    DELAY = 3  # delay after the server [ns]
    TICK = 4  # packets are released at multiples of this, plus PHASE; 0: at once [ns]
    PHASE = 5  # phase of the ticks [ns]
    ROOM = 6  # limit of the packets held; packets that arrive when it is full are dropped
    SWING = 7  # standard deviation of the server's relative slowness, times 2**20
    SWING_EVERY = 8  # interval after which that slowness changes [ns]
    READ = 9  # maximum that the application reads at once; 0: it reads everything at once [byte]
    READ_TIME = 10  # time to read a packet, while no packet is served [ns]
    SIZE = 11  # size of a packet that is read [byte]


class WifiOut(IntEnum):
    """First outcomes of a row; those of the flows (`FlowOut`), nodes (`NodeOut`) and classes (`base.delays`)
    follow."""

    STATUS = 0  # one of the STATUS_ constants of `base.layout`
    EVENTS = 1  # events simulated
    COLUMNS = 2


class Function(IntEnum):
    """EDCA function: the queue of an access category at a node (IEEE 802.11-2016, 10.22.2)."""

    NODE = 0
    CATEGORY = 1  # 0 voice, 1 video, 2 best effort, 3 background
    AIFS = 2  # AIFS [ns]
    CW_MIN = 3  # minimum contention window [slot]
    CW_MAX = 4
    TXOP = 5  # limit of a transmission opportunity [ns]; 0: one PPDU
    QUEUE = 6  # queue limit [MSDU]
    AMPDU = 7  # maximum size of an A-MPDU [byte]; 0: none
    AMSDU = 8  # maximum size of an A-MSDU [byte]; 0: none
    POOL = 9  # room for MSDUs, including those in a receiver's reorder buffer
    SCHEDULER = 10  # choice of the next receiver, one of the constants below
    FQ = 11  # 1: FQ-CoDel for each receiver, and AQL


FIFO, ROUND_ROBIN, AIRTIME = range(3)
"""Values of `Function.SCHEDULER`."""


class Agreement(IntEnum):
    """Agreement of a function with a receiver: Block Ack, or one MPDU at a time."""

    FUNCTION = 0
    LINK = 1
    WINDOW = 2  # maximum number of unacknowledged MPDUs, a power of two
    BA_BYTES = 3  # size of a BlockAck [byte]
    BLOCK_ACK = 4  # 1: a Block Ack agreement; 0: one MPDU at a time
    REVERSE = 5  # agreement of the category in the opposite direction, or NOBODY
    PSDU = 6  # longest A-MPDU that the receiver supports [byte]
    TARGET = 7  # CoDel: target queueing delay [ns]
    INTERVAL = 8  # CoDel: time for which it must be exceeded before the first drop [ns]
    RTS_THRESHOLD = 9  # PPDUs longer than this are preceded by an RTS [byte]


class CategoryOut(IntEnum):
    """Outcomes of an access category at a node, counted from the end of the warm-up on."""

    PPDUS = 0  # PPDUs with data transmitted
    MPDUS = 1  # MPDUs of these
    RETRIED = 2  # MPDUs of these that were retransmissions
    REQUESTS = 3  # BlockAckReq frames transmitted
    UNANSWERED = 4  # data, RTS or BlockAckReq without an answer
    INTERNAL = 5  # collisions with another category of the node
    AIR = 6  # airtime of PPDUs with data [ns]
    DROPS = 7  # MSDUs dropped by the full queue
    AIR_TO = 8  # airtime of PPDUs with data to this node [ns]
    EARLY = 9  # MSDUs that CoDel dropped
    COLUMNS = 10


CATEGORIES = 4


class FlowOut(IntEnum):
    """Outcomes of a flow, counted from the end of the warm-up on."""

    SENT = 0  # data packets sent, retransmissions included
    RETRANSMITTED = 1
    RECEIVED = 2  # data packets that arrived, duplicates included
    DELIVERED = 3  # distinct data packets that arrived
    IN_ORDER = 4  # TCP: data packets in the gap-free prefix
    DROPS_SOURCE = 5  # data packets dropped by the queue of the first radio node
    DROPS_RELAY = 6  # data packets dropped by the queues of further radio nodes
    DROPS_LEG = 7  # data packets dropped by a full leg
    RETRY_LOST = 8  # data packets dropped by the MAC at the retry limit and not received
    ACKS_SENT = 9
    ACKS_LOST = 10  # acknowledgements lost, all causes
    IN_FLIGHT = 11  # data packets in flight at the end
    IN_FLIGHT_BEFORE = 12  # data packets in flight at the end of the warm-up
    TIMEOUTS = 13
    FAST_RETRANSMITS = 14
    CWND_CUTS = 15
    FIRST_RX = 16  # first arrival of data [ns] or NEVER (warm-up included)
    LAST_RX = 17
    COMPLETED = 18  # arrival of the last missing packet of a finite transfer [ns] or NEVER (warm-up included)
    SOURCE_DONE = 19  # time at which its last packet is first sent [ns] or NEVER (warm-up included)
    BEST = 20  # maximum number of packets that arrived in an interval of length BIN
    DELAY_SUM = 21  # sum of the times from first sending to arrival of all distinct packets [us]
    ARRIVED = 22  # UDP: data packets sent after the warm-up that arrived
    LOST = 23  # UDP: data packets sent after the warm-up that were lost
    DELAYS = 24  # first of the DELAY_BINS counts of these delays
    COLUMNS = 24 + 96


DELAY_BINS = 96
"""Bins of the delay: 4 in each octave from 2**DELAY_LOW ns on, the first and the last open."""
DELAY_LOW = 13


class NodeOut(IntEnum):
    """Outcomes of a node, counted from the end of the warm-up on."""

    QUEUED = 0  # frames enqueued
    DROPS = 1  # frames dropped by the full queue
    ATTEMPTS = 2  # data frames (or the RTS before them) transmitted
    FAILED = 3  # of these, frames without an answer
    SUCCEEDED = 4  # frames acknowledged
    RETRY_DROPS = 5  # frames dropped at the retry limit
    RECEIVED = 6  # data frames received for the first time
    DUPLICATES = 7  # data frames received again
    COLLIDED = 8  # data frames to this node destroyed by another transmission, or that found it occupied
    NOISE = 9  # data frames to this node that noise destroyed
    AIR_DATA = 10  # airtime of its data frames [ns]
    AIR_FAILED = 11  # airtime of its data frames without an answer [ns]
    AIR_CONTROL = 12  # airtime of its RTS, CTS and ACK frames [ns]
    BUSY = 13  # time for which it senses other nodes [ns]
    QUEUE_SUM = 14  # integral of the queue [frame us]
    QUEUE_MOST = 15
    IN_QUEUE = 16  # frames in the queue at the end
    IN_QUEUE_BEFORE = 17  # frames in the queue at the end of the warm-up
    COLUMNS = 18


FIXED = 0
ARF = 1
AARF = 2
MINSTREL = 3  # with EDCA

# Random streams (fourth part of the stream address).
STREAM_BACKOFF = 1 << 20  # + node; draw k: its k-th backoff
STREAM_FRAME = 1 << 21  # + link; draw k: gap to its next frame lost to noise
STREAM_DISTURBED = 3 << 20  # + link; draw k: disturbance that the k-th disturbed data frame survives
STREAM_RATES = 5 << 20  # + link; draw k: the k-th random rate of Minstrel-HT
STREAM_SWING = 1 << 22  # + leg; draw k: its slowness in interval k


class WifiRows(NamedTuple):
    """Input of the 802.11 engine: one row per replication, `n` in all."""

    parameters: NDArray[np.int64]  # [n, Radio.COLUMNS]: those of `P`, then those of `Radio`
    constants: NDArray[np.float64]  # [n, C]: of a user's congestion control
    nodes: NDArray[np.int64]  # [n, N, len(Node)]
    network: NDArray[np.int64]  # [n, W]: flows, links, legs, rates, transports, outages, paths
    losses: NDArray[np.uint32]  # [m, 32]: digit thresholds, see `loss.thresholds`

    @property
    def filling(self) -> tuple[int, int, int, int]:
        """See `rows`."""
        return 0, 0, 0, 0

    def renumbered(self, line: NDArray[np.int64]) -> "WifiRows":
        """See `rows`."""
        network = self.network.copy()
        k = np.arange(int(self.parameters[:, Radio.LINKS].max(initial=0)))
        at = self.parameters[:, Radio.LINKS_AT, None] + k * len(Link)
        i, j = np.nonzero(k < self.parameters[:, Radio.LINKS, None])
        loss, fragile = at[i, j] + Link.LOSS, at[i, j] + Link.FRAGILITY
        network[i, loss] = line[network[i, loss]]
        some = network[i, fragile] > 0
        i, fragile = i[some], fragile[some]
        network[i, fragile] = 1 + line[network[i, fragile] - 1]
        k = np.arange(int(self.parameters[:, Radio.FLOWS].max(initial=0)))
        flow = self.parameters[:, Radio.FLOWS_AT, None] + k * len(Flow)
        i, j = np.nonzero(k < self.parameters[:, Radio.FLOWS, None])
        i, flow = (some[network[i, flow[i, j] + Flow.CLASS] > 0] for some in (i, flow[i, j]))
        network[i, flow + Flow.PERIODS] = line[network[i, flow + Flow.PERIODS]]
        return self._replace(network=network)

    @property
    def node_columns(self) -> int:
        """Return the columns of the outcomes of a node: `NodeOut`, with EDCA also `CategoryOut` of each
        category."""
        edca = self.parameters[:, Radio.FUNCTIONS].any()
        return NodeOut.COLUMNS + (CATEGORIES * CategoryOut.COLUMNS if edca else 0)

    @property
    def most_flows(self) -> int:
        """Return the number of flows for which `network` has room."""
        return int(self.parameters[:, Radio.LINKS_AT].max(initial=0)) // len(Flow)

    def tables(self) -> tuple[int, tuple[Table, ...]]:
        """See `rows`: those of the flows, of the nodes and of classes of flows."""
        flows, nodes = int(self.parameters[:, Radio.FLOWS].max(initial=0)), self.nodes.shape[1]
        return WifiOut.COLUMNS, (
            Table("flows", FlowOut.COLUMNS, flows, self.most_flows),
            Table("nodes", self.node_columns, nodes, nodes),
            Table("arrivals", ClassOut.COLUMNS, arrival_classes(self), arrival_classes(self)),
            Table("classes", DelayOut.COLUMNS, delay_classes(self), delay_classes(self)),
        )


def delay_classes(rows: WifiRows) -> int:
    """Return the number of classes whose delays are measured, at least that of arriving flows if there are
    any."""
    delays, arrivals = (
        int(rows.parameters[:, column].max(initial=0))
        for column in (Radio.DELAY_CLASSES, Radio.ARRIVAL_CLASSES)
    )
    return max(delays, arrivals) if delays > 0 else 0


def arrival_classes(rows: WifiRows) -> int:
    """Return the number of classes of arriving flows, at least that of measured delays if there are any."""
    arrivals = int(rows.parameters[:, Radio.ARRIVAL_CLASSES].max(initial=0))
    return max(arrivals, delay_classes(rows)) if arrivals > 0 else 0


def of_classes(rows: WifiRows) -> int:
    """Return the columns of the outcomes of both kinds of classes."""
    return delay_classes(rows) * DelayOut.COLUMNS + arrival_classes(rows) * ClassOut.COLUMNS
