"""The columns of the arrays that go into the 802.11 engine and come out of it.

As in `netcarlo.kernels.base.layout`, times are int64 nanoseconds and sizes bytes.  What a network
consists of differs from row to row, so its tables lie one after the other in one array, `network`, and
the columns of `Radio` say where each begins.
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
"""A node is a bit of a 64-bit mask."""

MOST_FLOWS = 1 << 10
"""Maximum number of flows: a frame has bits for this many."""

NOBODY = -1
"""No node, no leg, no link."""


class Radio(IntEnum):
    """Parameters of the channel and the tables (columns of `WifiRows.parameters`, behind those of `P`)."""

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
    TRANSPORTS_AT = auto()  # where flows have transports of their own: the columns of `P` of each
    PATHS_AT = auto()  # links by number, the paths of all flows one after the other
    # What is measured, and the channel.
    WARM_UP = auto()  # counting begins [ns]
    BIN = auto()  # length of the intervals of `FlowOut.BEST` [ns]; 0: none
    SLOT = auto()  # [ns]
    SIFS = auto()  # [ns]
    EIFS = auto()  # after a frame that was not decoded [ns]
    CW_MIN = auto()  # slots
    CW_MAX = auto()
    SHORT_RETRY = auto()  # attempts of an RTS, or of a frame without one
    LONG_RETRY = auto()  # attempts of a frame after an RTS
    RTS_THRESHOLD = auto()  # DCF: frames longer than this are announced by an RTS [byte]
    PROTECTION = auto()  # rate of a CTS to self before OFDM frames, or NOBODY
    BURST = auto()  # data frames per access to the channel
    RATE_CONTROL = auto()  # one of the constants below
    ARF_UP = auto()  # successes in a row that raise the rate
    ARF_DOWN = auto()  # failures in a row that lower it
    ARF_TIMER = auto()  # attempts after which it is raised anyway
    AARF_FACTOR = auto()  # AARF: a failed probe multiplies ARF_UP by this
    AARF_MOST = auto()  # AARF: largest ARF_UP
    BACK_PRESSURE = auto()  # 1: a full queue stops the TCP or SCTP of its own node instead of dropping
    MAC_OVERHEAD = auto()  # bytes a frame on air is longer than the packet (LLC, MAC header, FCS)
    GATEWAY_BURST = auto()  # BURST of the last node
    DELAY_CLASSES = auto()  # number of classes whose delays are measured
    ARRIVAL_CLASSES = auto()  # number of classes of flows that arrive and depart
    OUTAGES = auto()  # of the last node, see `outages`
    OUTAGES_AT = auto()  # where these begin in a row of `network`
    # EDCA, see `edca`.
    FUNCTIONS = auto()  # number of EDCA functions
    FUNCTIONS_AT = auto()
    AGREEMENTS = auto()  # number of agreements
    AGREEMENTS_AT = auto()
    PATH_WORDS = auto()  # links of all paths; the agreements of the same hops follow them
    RTS_RATE = auto()  # rate of RTS and CTS, or NOBODY for that of the answer
    CF_END_RATE = auto()  # rate of CF-End
    MOST_TIME = auto()  # maximum duration of a PPDU [ns]
    BAR_AFTER_MISSED = auto()  # 1: a BlockAckReq follows a BlockAck that did not come
    ERRORS_AT = auto()  # with rate control: chances of 2**32 that noise destroys an MPDU, by link and rate
    RETRY_PER_MPDU = auto()  # 1: attempts of each MPDU are limited; 0: failures in a row of the function
    FQ_QUANTUM = auto()  # FQ-CoDel: bytes of a flow in a round
    AQL_LOW = auto()  # estimated airtime up to which MSDUs of a receiver are released to the hardware [ns]
    AQL_HIGH = auto()  # the same while the node has released less than AQL_TOTAL [ns]
    AQL_TOTAL = auto()  # [ns]
    COLUMNS = auto()


class Node(IntEnum):
    """A node (columns of its table; the queue counts the frame that is being sent)."""

    QUEUE = 0  # most frames
    SENSE = 1  # mask: nodes whose transmissions it senses
    NEAR = 2  # mask: of those, nodes whose data frames it decodes; their signal beats that of the others
    CONTROL = 3  # mask: nodes whose control frames it decodes
    DISTURB_DATA = 4  # mask: nodes whose transmissions destroy a data frame that it receives
    DISTURB_CONTROL = 5  # the same for a control frame
    FIRST_FUNCTION = 6  # EDCA: number of its first function
    FUNCTIONS = 7  # EDCA: number of its functions, by category


class Link(IntEnum):
    """A link of one hop."""

    FROM = 0
    TO = 1
    RATE = 2  # first rate (row of the rate table)
    LOSS = 3  # row of `WifiRows.losses`: data frames that noise destroys
    FRAGILITY = 4  # 0: any disturbance destroys a data frame; else 1 + row of `losses`, for each microsecond
    LOWEST = 5  # rate control: first and last row of the rate table that it may use
    HIGHEST = 6


class Rate(IntEnum):
    """A rate; rate control goes up and down in this table."""

    SYMBOL = 0  # [ns]
    SIXTH_BITS = 1  # six times the bits of a symbol
    EXTRA_BITS = 2  # service and tail bits
    PREAMBLE = 3  # preamble and PLCP header [ns]
    EXTENSION = 4  # signal extension [ns]
    ANSWER = 5  # rate of the ACK or CTS that answers, and of the RTS (row of this table)
    DSSS = 6  # 1: 802.11b, needs no protection
    DELIMITED = 7  # 1: an MPDU that is alone is sent as an A-MPDU of one (VHT, HE)
    STREAMS = 8  # number of spatial streams


class Flow(IntEnum):
    """A flow: UDP at a constant rate, or TCP (or SCTP) as the columns of `P` say, of the row or its own."""

    TCP = 0  # 1 (also of SCTP), or 0 for UDP
    START = 1  # [ns]
    STOP = 2  # nothing is put out after [ns]
    LIMIT = 3  # packets to send, or ENDLESS
    SIZE = 4  # payload of a packet [byte]
    HEADER = 5  # added by transport (SCTP: of the chunk, too) and network layer [byte]
    INTERVAL = 6  # UDP: from one packet to the next [ns]
    FORTH_AT = 7  # data: first entry in PATHS
    FORTH = 8  # data: number of links
    BACK_AT = 9  # acknowledgements: first entry in PATHS
    BACK = 10  # acknowledgements: number of links
    BEFORE = 11  # leg that data passes before the radio, or NOBODY
    AFTER = 12  # leg that data passes after the radio, or NOBODY
    ACK_BEFORE = 13  # leg that acknowledgements pass before the radio, or NOBODY
    ACK_AFTER = 14  # leg that acknowledgements pass after the radio, or NOBODY
    ACK_COST = 15  # time that making an acknowledgement occupies leg AFTER [ns]
    KIND = 16  # number of its sender, see `senders`; 0: UDP, or the TCP of all flows
    ITEM = 17  # of a list of flows: which item of it, from 1 on; else 0
    DELAY_CLASS = 18  # the class in whose delays its packets are counted, from 1 on, see `delays`; 0: none
    BOUND = 19  # of such a flow: packets that take longer are late [ns]; FOREVER: none are
    SPREAD = 20  # UDP: width of uniformly distributed gaps around INTERVAL, at most 2**31 [ns]
    # (0: equal gaps), or -1: exponential gaps
    SHORT = 21  # bytes by which the payload of the last packet falls short of SIZE
    BACKLOG = 22  # UDP over EDCA: datagrams that a saturated source keeps in its queue; 0: see INTERVAL
    CATEGORY = 23  # EDCA: access category, as in `Function.CATEGORY`
    # Slots of flows that arrive and depart, as in `base.arrivals.Source`; 0 for all others.
    PERIODS = 24
    CLASS = 25
    SLOTS = 26
    GAP = 27
    SIZES = 28
    THINKS = 29


class Leg(IntEnum):
    """A FIFO server outside the radio: a wire, a delay element, a slow processor and its application."""

    BYTE_TIME = 0  # ns per byte, BYTE_TIME_BITS fraction bits
    OVERHEAD = 1  # bytes added to each packet
    PACKET_TIME = 2  # time of the server for a packet, besides that for its bytes [ns]
    DELAY = 3  # behind the server [ns]
    TICK = 4  # packets are released at multiples of this, plus PHASE; 0: at once [ns]
    PHASE = 5  # [ns]
    ROOM = 6  # most packets in it: what comes when it is full is lost
    SWING = 7  # standard deviation of the server's relative slowness, times 2**20
    SWING_EVERY = 8  # that slowness changes after this time [ns]
    READ = 9  # most that the application reads at once; 0: it has everything at once [byte]
    READ_TIME = 10  # to read a packet, while no packet is served [ns]
    SIZE = 11  # size of a packet that is read [byte]


class WifiOut(IntEnum):
    """The first outcomes of a row; those of the flows (`FlowOut`), of the nodes (`NodeOut`) and of
    classes of flows (`base.delays`) follow."""

    STATUS = 0  # one of the STATUS_ constants of `base.layout`
    EVENTS = 1  # events simulated
    COLUMNS = 2


class Function(IntEnum):
    """An EDCA function: the queue of an access category at a node (IEEE 802.11-2016, 10.22.2)."""

    NODE = 0
    CATEGORY = 1  # 0 voice, 1 video, 2 best effort, 3 background
    AIFS = 2  # [ns]
    CW_MIN = 3  # slots
    CW_MAX = 4
    TXOP = 5  # limit of a transmission opportunity [ns]; 0: one PPDU
    QUEUE = 6  # most MSDUs
    AMPDU = 7  # maximum size of an A-MPDU [byte]; 0: none
    AMSDU = 8  # maximum size of an A-MSDU [byte]; 0: none
    POOL = 9  # room for MSDUs, also for those that a receiver holds back
    SCHEDULER = 10  # choice of the receiver that is served next, one of the constants below
    FQ = 11  # 1: FQ-CoDel for each receiver, and AQL


FIFO, ROUND_ROBIN, AIRTIME = range(3)
"""Values of `Function.SCHEDULER`."""


class Agreement(IntEnum):
    """A function and a receiver."""

    FUNCTION = 0
    LINK = 1
    WINDOW = 2  # most MPDUs that are not acknowledged, a power of two
    BA_BYTES = 3  # size of a BlockAck [byte]
    BLOCK_ACK = 4  # 1: a Block Ack agreement; 0: one MPDU at a time
    REVERSE = 5  # agreement of the category in the opposite direction, or NOBODY
    PSDU = 6  # longest A-MPDU that the receiver supports [byte]
    TARGET = 7  # CoDel: target queueing delay [ns]
    INTERVAL = 8  # CoDel: time for which it must be exceeded before the first drop [ns]
    RTS_THRESHOLD = 9  # PPDUs longer than this are announced by an RTS [byte]


class CategoryOut(IntEnum):
    """Outcomes of an access category at a node, counted from the end of the warm-up on."""

    PPDUS = 0  # PPDUs with data put on air
    MPDUS = 1  # MPDUs of these
    RETRIED = 2  # MPDUs of these that were sent before
    REQUESTS = 3  # BlockAckReq frames put on air
    UNANSWERED = 4  # data, RTS or BlockAckReq without an answer
    INTERNAL = 5  # collisions with another category of the node
    AIR = 6  # PPDUs with data on the air [ns]
    DROPS = 7  # MSDUs that found the queue full
    AIR_TO = 8  # PPDUs with data to this node on the air [ns]
    EARLY = 9  # MSDUs that CoDel dropped
    COLUMNS = 10


CATEGORIES = 4


class FlowOut(IntEnum):
    """Outcomes of a flow, counted from the end of the warm-up on."""

    SENT = 0  # data packets put out, retransmissions included
    RETRANSMITTED = 1
    RECEIVED = 2  # data packets that arrived, duplicates included
    DELIVERED = 3  # distinct data packets that arrived
    IN_ORDER = 4  # TCP: data packets in the gap-free prefix
    DROPS_SOURCE = 5  # data packets dropped by the queue of the first radio node
    DROPS_RELAY = 6  # by the queues of the others
    DROPS_LEG = 7  # by a full leg
    RETRY_LOST = 8  # given up by the MAC, and not received either
    ACKS_SENT = 9
    ACKS_LOST = 10  # all causes
    IN_FLIGHT = 11  # data packets in flight at the end
    IN_FLIGHT_BEFORE = 12  # data packets in flight at the end of the warm-up
    TIMEOUTS = 13
    FAST_RETRANSMITS = 14
    CWND_CUTS = 15
    FIRST_RX = 16  # first arrival of data [ns] or NEVER (warm-up included)
    LAST_RX = 17
    COMPLETED = 18  # arrival of the last missing packet of a finite transfer [ns] or NEVER (warm-up included)
    SOURCE_DONE = 19  # its last packet is first put out [ns] or NEVER (warm-up included)
    BEST = 20  # most packets that arrived in one interval of length BIN
    DELAY_SUM = 21  # from first being put out to arrival, of all distinct packets [us]
    ARRIVED = 22  # UDP: data packets put out after the warm-up that arrived
    LOST = 23  # UDP: data packets put out after the warm-up that were lost
    DELAYS = 24  # the first of DELAY_BINS counts of those delays
    COLUMNS = 24 + 96


DELAY_BINS = 96
"""Bins of the delay: 4 in each octave from 2**DELAY_LOW ns on, the first and the last open."""
DELAY_LOW = 13


class NodeOut(IntEnum):
    """Outcomes of a node, counted from the end of the warm-up on."""

    QUEUED = 0  # frames taken into the queue
    DROPS = 1  # frames that found it full
    ATTEMPTS = 2  # data frames (RTS where there is one) put on the air
    FAILED = 3  # of those, without an answer
    SUCCEEDED = 4  # frames acknowledged
    RETRY_DROPS = 5  # frames given up
    RECEIVED = 6  # data frames received for the first time
    DUPLICATES = 7  # data frames received again
    COLLIDED = 8  # data frames to this node that another transmission destroyed, or found it occupied
    NOISE = 9  # data frames to this node that noise destroyed
    AIR_DATA = 10  # its data frames on the air [ns]
    AIR_FAILED = 11  # of those, without an answer [ns]
    AIR_CONTROL = 12  # its RTS, CTS and ACK [ns]
    BUSY = 13  # it senses others [ns]
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
STREAM_DISTURBED = 3 << 20  # + link; draw k: the disturbance that the k-th disturbed data frame endures
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
