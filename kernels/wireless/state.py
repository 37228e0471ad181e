"""Words of scratch of the 802.11 engine.

The parameters of the row come first, so scratch also serves as the array of parameters. They are followed by
the words of `Word`, the notes for the trace, the keys of the next events, and then nodes, rates, links, legs
and flows. Each of these records has its columns of the row, followed by words of the engine: `Mac`,
`AirTime`, `LinkState`, ... All times are in ns.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import DelayOut, DelayState
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import P
from netcarlo.kernels.wireless.layout import Flow, FlowOut, Leg, Link, Node, NodeOut, Radio, Rate, WifiRows

OWN: Any = slot("own_transports")
"""True if flows have transports of their own: the columns of `P` and the kind of the flow precede its
association."""
OWN_WORDS = len(P) + 1


class Word(IntEnum):
    """Words of the network."""

    ON_AIR = Radio.COLUMNS  # mask of the transmitting nodes
    # The words where these begin.
    NODES = auto()
    LINKS = auto()
    RATES = auto()
    LEGS = auto()
    FLOWS = auto()
    PATHS = auto()  # as in the row
    DELAYS = auto()  # outcomes of classes of flows, see `observers.delays`
    CLASSES = auto()  # outcomes of classes of flows that arrive and depart, see `arriving`
    OUTAGE = auto()  # starts and ends of outages of the gateway so far: the gateway is down if odd
    # EDCA, see `edca.state`.
    FUNCTIONS = auto()
    AGREEMENTS = auto()
    MINSTREL = auto()  # see `minstrel`
    QUEUES = auto()  # FQ-CoDel: a queue for each word of the paths
    OWED = auto()  # 1: datagrams of saturated sources have left their queues in the current event
    EARLY = auto()  # time by which an MSDU was complete before the current event [ns]
    SHRUNK = auto()  # node whose queue has become shorter in the current event, or NOBODY
    # What happens.
    FRAMES = auto()  # frames transmitted
    FULL = auto()  # 1: a ring was too small
    TRACED = auto()  # rows of the trace written so far
    NOTES = auto()  # notes since the trace was last updated


NOTE_WORDS, NOTE_ROOM = 3, 64
"""Note for the trace: event, frame and node. If there are more notes at once, the last ones are kept."""
FIRST_NOTE = max(Word) + 1
START_OF_KEYS = FIRST_NOTE + NOTE_WORDS * NOTE_ROOM
"""Keys of the next events of all nodes, then legs, then flows: time * 4 + `Phase`; then that of the next
outage, if any."""
NO_EVENT = (1 << 60) - 1
"""Time that stands for no event; four times this value is still an int64."""


class Phase(IntEnum):
    """Order of events at the same time."""

    END = 0  # end of a transmission
    FLOW = 1  # event of a flow or a leg
    TIMEOUT = 2  # no answer has arrived, or no frame has followed an RTS
    START = 3  # start of transmissions


class Frame(IntEnum):
    """Kinds of frames on the air."""

    DATA = 0
    RTS = 1
    CTS = 2
    ACK = 3
    SELF = 4  # CTS-to-self
    BLOCK_ACK = 5
    REQUEST = 6  # BlockAckReq
    CF_END = 7
    CONTINUE = 8  # next exchange of a TXOP, whose frame is not chosen yet
    RETRY = 9  # as CONTINUE after a failure, unless another node transmits before
    ACCESS = 10  # frame of its functions, although another node has started within the CCA time


NOTHING, FRESH, CONCLUDED = range(3)
"""Meaning of a reception: nothing to do, new data, or the acknowledgement of the node's own data."""


class Wait(IntEnum):
    """Frame that a node waits for, or how its exchange ended (until `exchange.conclude`)."""

    NOTHING = 0
    CTS = Frame.CTS
    ACK = Frame.ACK
    BLOCK_ACK = Frame.BLOCK_ACK
    SUCCEEDED = -1
    FAILED = -2


class Mac(IntEnum):
    """Words of a node, following its columns of `Node`."""

    # Next events, NO_EVENT if not scheduled.
    END = len(Node)  # end of its transmission
    TIMEOUT = auto()  # end of its wait for an answer
    RESET = auto()  # reset of the NAV that an RTS set
    START = auto()  # start of its answer, or of its next frame after SIFS
    # Backoff.
    SINCE = auto()  # time since which backoff slots count
    SLOTS = auto()  # remaining backoff slots
    CW = auto()  # contention window [slot]
    DRAWS = auto()  # backoffs drawn so far
    # When the channel became free.
    RX = auto()  # end of its last reception, plus SIFS; after a failed one plus EIFS less two slots
    TX = auto()  # end of its last transmission
    QUIET = auto()  # end of the last transmission that it senses
    LATE = auto()  # end of its last wait for an answer
    NAV = auto()  # time until which other nodes have reserved the channel
    NAV_OF_RTS = auto()  # NAV set by the last RTS
    BUSY_SINCE = auto()  # start of the first of the transmissions that it senses
    # Its reception.
    LOCK = auto()  # node that it receives from, or NOBODY
    LOCKED_AT = auto()  # start of that reception
    CORRUPT = auto()  # 1: that reception was disturbed
    DISTURBED = auto()  # total time for which that reception was disturbed
    DISTURBED_SINCE = auto()  # start of the current disturbance
    # Its transmission.
    FRAME = auto()  # kind of the frame, one of `Frame`
    TO = auto()  # receiving node, or NOBODY
    RATE = auto()  # rate, as row of the rate table
    DURATION = auto()  # time for which it reserves the channel after its end
    # What it begins at START.
    NEXT = auto()  # kind of the frame
    ANSWER_TO = auto()  # node to which it answers
    ANSWER_RATE = auto()  # rate of the answer, as row of the rate table
    ANSWER_DURATION = auto()  # DURATION of the frame to which it answers
    # Its exchange.
    WAITING = auto()  # one of `Wait`
    SHORT = auto()  # failed attempts without RTS, or of the RTS
    LONG = auto()  # failed attempts after an RTS
    BURST = auto()  # exchanges since it gained access to the channel
    DATA_RATE = auto()  # rate of the data, or NOBODY before it is chosen
    WITH_RTS = auto()  # 1: an RTS announces the data
    AIR = auto()  # duration of the data frame
    HEAD_RECEIVED = auto()  # 1: the head of the queue has been received, but not acknowledged
    # Its queue, words as in `Ring`: frames (see `frame`), the one that it sends first.
    HEAD = auto()
    COUNT = auto()
    ROOM = auto()
    RING = auto()
    COUNTED_AT = auto()  # time up to which NodeOut.QUEUE_SUM is integrated
    # EDCA: its exchange.
    FUNCTION = auto()  # word of the function that has access
    AGREEMENT = auto()  # word of the agreement
    MPDUS = auto()  # number of MPDUs of the PPDU
    SIZE = auto()  # size of the PPDU [byte]
    TXOP_END = auto()  # end of its transmission opportunity [ns]; 0: one exchange
    FIRST_EXCHANGE = auto()  # 1: no exchange of it has succeeded yet
    REQUESTS = auto()  # functions with a pending BlockAckReq
    RELEASED = auto()  # estimated airtime of MSDUs released to the hardware and not completed [ns]
    HOLDER = auto()  # holder of the TXOP for which its NAV was set last, or NOBODY
    ANSWER_AGREEMENT = auto()  # word of the agreement of the BlockAck that it sends at START


NODE_COUNTS = max(Mac) + 1
"""First word of the outcomes of a node (`NodeOut`)."""
NODE_WORDS = NODE_COUNTS + NodeOut.COLUMNS


class LinkState(IntEnum):
    """Words of a link, following its columns of `Link`."""

    # Rate control.
    GOOD = len(Link)  # consecutive successes
    RETRY = auto()  # consecutive failures
    TIMER = auto()  # attempts since the rate last changed
    PROBING = auto()  # 1: the rate was just raised
    UP = auto()  # consecutive successes that raise the rate
    WAIT = auto()  # attempts after which the rate is raised in any case
    # Noise.
    GAP = auto()  # data frames until noise destroys the next one
    GAPS = auto()  # gaps drawn so far; GAP and GAPS are as in `Countdown`
    ENDURED = auto()  # disturbances drawn so far


LINK_WORDS = max(LinkState) + 1


class AirTime(IntEnum):
    """Words of a rate, following its columns of `Rate`: durations of control frames."""

    ANSWER = len(Rate)  # CTS or ACK
    RTS = auto()


RATE_WORDS = max(AirTime) + 1


class LegState(IntEnum):
    """Words of a leg, following its columns of `Leg`."""

    FREE = len(Leg)  # time from which its server is free
    LAST = auto()  # release time of the last packet that arrived
    # Its packets, words as in `Ring`: when one is released, and its frame.
    HEAD = auto()
    COUNT = auto()
    ROOM = auto()
    RING = auto()
    # The server's speed, and what the application reads.
    INTERVAL = auto()  # number of the interval of length SWING_EVERY to which SLOWNESS applies
    SLOWNESS = auto()  # relative slowness of the server, times 2**30; 0 is the mean
    UNREAD = auto()  # packets at the head that are released, but not yet read
    READING = auto()  # packets that the application is reading
    READ_END = auto()  # end of that read
    REST = auto()  # unread part of a packet that is read in part [byte]


LEG_WORDS = max(LegState) + 1


class FlowState(IntEnum):
    """Words of a flow, following its columns of `Flow`."""

    NEXT = len(Flow)  # start of the flow, or FOREVER
    UNCOUNTED = auto()  # UDP: packets sent before the end of the warm-up
    ASSOCIATION = auto()  # first word of its association
    BIN = auto()  # number of the current interval of FlowOut.BEST
    IN_BIN = auto()  # packets that arrived in the current interval
    OWED = auto()  # saturated source: datagrams that have left its queue and are not replaced
    DELAY_NS = auto()  # remainder of the delays summed in FlowOut.DELAY_SUM
    # Slot of flows that arrive and depart, see `arriving`; up to THINK_TIME as in `base.arrivals.SlotState`.
    NEXT_ARRIVAL = auto()
    ARRIVALS = auto()
    STARTED = auto()
    FLOW_SIZE = auto()
    THINK_TIME = auto()
    IN_FLIGHT = auto()  # places in queues and legs that its packets occupy
    FINISHED = auto()  # time at which the sender knows that all data have arrived [ns], or NEVER
    LATEST = auto()  # delay state of the flow, words as in `DelayState`


FLOW_COUNTS = FlowState.LATEST + DelayState.SIZE
"""First word of the outcomes of a flow (`FlowOut`)."""
FLOW_WORDS = FLOW_COUNTS + FlowOut.COLUMNS


def node_at(m: Any, node: Any) -> Any:
    """Return the word where a node begins."""
    return m[Word.NODES] + node * NODE_WORDS


def link_at(m: Any, link: Any) -> Any:
    """Return the word where a link begins."""
    return m[Word.LINKS] + link * LINK_WORDS


def link_number(m: Any, at: Any) -> Any:
    """Return the number of the link that begins at a word."""
    return (at - m[Word.LINKS]) // LINK_WORDS


def rate_at(m: Any, rate: Any) -> Any:
    """Return the word where a rate begins."""
    return m[Word.RATES] + rate * RATE_WORDS


def leg_at(m: Any, leg: Any) -> Any:
    """Return the word where a leg begins."""
    return m[Word.LEGS] + leg * LEG_WORDS


def flow_at(m: Any, flow: Any) -> Any:
    """Return the word where a flow begins."""
    return m[Word.FLOWS] + flow * FLOW_WORDS


def set_key(m: Any, flow: Any, t: Any) -> None:
    """Set the key of a flow to an event at time t [ns]."""
    key = t << 2 | Phase.FLOW if t < FOREVER else np.int64(NO_EVENT)
    m[START_OF_KEYS + m[Radio.NODES] + m[Radio.LEGS] + flow] = key


def words(rows: WifiRows, each: int, queues: Any) -> int:
    """Return the words of scratch that any row needs, with `each` for the association of a flow and
    `queues` [n] for the queues of the nodes."""
    p = rows.parameters
    rooms = np.zeros(len(p), np.int64)
    for leg in range(int(p[:, Radio.LEGS].max())):
        at = p[:, Radio.LEGS_AT] + leg * len(Leg) + Leg.ROOM
        room = rows.network[np.arange(len(p)), np.minimum(at, rows.network.shape[1] - 1)]
        rooms += np.where(leg < p[:, Radio.LEGS], room, 0)
    total = (
        START_OF_KEYS
        + 1
        + p[:, [Radio.NODES, Radio.LEGS, Radio.FLOWS]].sum(axis=1)
        + p[:, Radio.NODES] * NODE_WORDS
        + p[:, Radio.LINKS] * LINK_WORDS
        + p[:, Radio.RATES] * RATE_WORDS
        + p[:, Radio.LEGS] * LEG_WORDS
        + p[:, Radio.FLOWS] * (FLOW_WORDS + each)
        + rows.network.shape[1]
        + queues
        + 2 * rooms
        + p[:, Radio.DELAY_CLASSES] * DelayOut.COLUMNS
        + p[:, Radio.ARRIVAL_CLASSES] * ClassOut.COLUMNS
    )
    return int(total.max())
