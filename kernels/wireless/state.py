"""Words of scratch of the 802.11 engine.

The row's parameters come first, so that scratch serves as the array of parameters too.  Behind them lie the
words of `Word`, notes for the trace, the next event of everything, and then nodes, rates, links, legs and
flows, each a record of its columns in the row and of what the engine adds: `Mac`, `AirTime`, `LinkState`, ...
All times are in ns.
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
"""True if flows have transports of their own: the columns of `P` and the kind of the flow, which precede its
association."""
OWN_WORDS = len(P) + 1


class Word(IntEnum):
    """Words of the network."""

    ON_AIR = Radio.COLUMNS  # mask of the nodes that are sending
    # The words where these begin.
    NODES = auto()
    LINKS = auto()
    RATES = auto()
    LEGS = auto()
    FLOWS = auto()
    PATHS = auto()  # as in the row
    DELAYS = auto()  # outcomes of classes of flows, see `observers.delays`
    CLASSES = auto()  # outcomes of classes of flows that arrive and depart, see `arriving`
    OUTAGE = auto()  # times that the gateway has gone down and come back: it is down if odd
    # EDCA, see `edca.state`.
    FUNCTIONS = auto()
    AGREEMENTS = auto()
    MINSTREL = auto()  # see `minstrel`
    QUEUES = auto()  # FQ-CoDel: a queue for each word of the paths
    OWED = auto()  # 1: datagrams of saturated sources have left their queues in the present event
    EARLY = auto()  # time by which an MSDU was complete before the present event [ns]
    SHRUNK = auto()  # node whose queue has become shorter in the present event, or NOBODY
    # What happens.
    FRAMES = auto()  # frames put on the air
    FULL = auto()  # 1: a ring was too small
    TRACED = auto()  # rows of the trace so far
    NOTES = auto()  # notes since the trace was last written


NOTE_WORDS, NOTE_ROOM = 3, 64
"""A note for the trace: event, frame and node; of more notes at once the last ones are kept."""
FIRST_NOTE = max(Word) + 1
START_OF_KEYS = FIRST_NOTE + NOTE_WORDS * NOTE_ROOM
"""The next event of every node, then leg, then flow: time * 4 + `Phase`; and the outage, if any may come."""
NO_EVENT = (1 << 60) - 1
"""The time of an event that does not come; four times that is still a number."""


class Phase(IntEnum):
    """The order of events at the same time."""

    END = 0  # a transmission ends
    FLOW = 1  # an event of a flow or a leg
    TIMEOUT = 2  # no answer has come, or nothing has followed an RTS
    START = 3  # transmissions begin


class Frame(IntEnum):
    """Kinds of frames on the air."""

    DATA = 0
    RTS = 1
    CTS = 2
    ACK = 3
    SELF = 4  # CTS to self
    BLOCK_ACK = 5
    REQUEST = 6  # BlockAckReq
    CF_END = 7
    CONTINUE = 8  # the next exchange of a TXOP, whose frame is not chosen yet
    RETRY = 9  # the same after a failure, unless another node transmits before
    ACCESS = 10  # what its functions send, although another node has begun within the time of CCA


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
    """A node, behind the columns of `Node`."""

    # Its next events, NO_EVENT for those that do not come.
    END = len(Node)  # its transmission ends
    TIMEOUT = auto()  # it has waited long enough for an answer
    RESET = auto()  # it gives up the NAV that an RTS set
    START = auto()  # it answers, or goes on after SIFS
    # Backoff.
    SINCE = auto()  # the slots count from then on
    SLOTS = auto()  # slots left
    CW = auto()  # contention window [slot]
    DRAWS = auto()  # backoffs drawn
    # When the channel became free.
    RX = auto()  # its last reception ended, plus SIFS; plus EIFS less two slots if that failed
    TX = auto()  # its last transmission ended
    QUIET = auto()  # the last transmission that it senses ended
    LATE = auto()  # its last wait for an answer ended
    NAV = auto()  # others have reserved the channel until then
    NAV_OF_RTS = auto()  # the NAV that the last RTS set
    BUSY_SINCE = auto()  # the first of the transmissions that it senses began
    # Its reception.
    LOCK = auto()  # node that it receives from, or NOBODY
    LOCKED_AT = auto()  # begin of that reception
    CORRUPT = auto()  # 1: that reception was disturbed
    DISTURBED = auto()  # time for which it was
    DISTURBED_SINCE = auto()  # the disturbance at present began
    # Its transmission.
    FRAME = auto()  # kind, one of `Frame`
    TO = auto()  # node, or NOBODY
    RATE = auto()  # row of the rate table
    DURATION = auto()  # for how long it reserves the channel, from its end on
    # What it begins at START.
    NEXT = auto()  # kind of frame
    ANSWER_TO = auto()  # node
    ANSWER_RATE = auto()  # row of the rate table
    ANSWER_DURATION = auto()  # DURATION of the frame that it answers
    # Its exchange.
    WAITING = auto()  # one of `Wait`
    SHORT = auto()  # failed attempts without RTS, or of the RTS
    LONG = auto()  # failed attempts after an RTS
    BURST = auto()  # exchanges since it gained the channel
    DATA_RATE = auto()  # rate of the data, or NOBODY before it is chosen
    WITH_RTS = auto()  # 1: an RTS announces the data
    AIR = auto()  # the data's time on the air
    HEAD_RECEIVED = auto()  # 1: the head of the queue has been received, though not acknowledged
    # Its queue, words as in `Ring`: frames (see `frame`), the one that it sends first.
    HEAD = auto()
    COUNT = auto()
    ROOM = auto()
    RING = auto()
    COUNTED_AT = auto()  # NodeOut.QUEUE_SUM counts until then
    # EDCA: its exchange.
    FUNCTION = auto()  # word of the function that has access
    AGREEMENT = auto()  # word of the agreement
    MPDUS = auto()  # number of MPDUs of the PPDU
    SIZE = auto()  # size of the PPDU [byte]
    TXOP_END = auto()  # end of its transmission opportunity [ns]; 0: one exchange
    FIRST_EXCHANGE = auto()  # 1: no exchange of it has succeeded yet
    REQUESTS = auto()  # functions with a pending BlockAckReq
    RELEASED = auto()  # estimated airtime of the MSDUs that are released to the hardware and not closed [ns]
    HOLDER = auto()  # holder of the TXOP for which its NAV was set last, or NOBODY
    ANSWER_AGREEMENT = auto()  # word of the agreement of the BlockAck that it begins at START


NODE_COUNTS = max(Mac) + 1
"""The node's outcomes, as in `NodeOut`."""
NODE_WORDS = NODE_COUNTS + NodeOut.COLUMNS


class LinkState(IntEnum):
    """A link, behind the columns of `Link`."""

    # Rate control.
    GOOD = len(Link)  # successes in a row
    RETRY = auto()  # failures in a row
    TIMER = auto()  # attempts since the rate last changed
    PROBING = auto()  # 1: the rate was just raised
    UP = auto()  # successes in a row that raise the rate
    WAIT = auto()  # attempts after which it is raised anyway
    # Noise.
    GAP = auto()  # data frames until the next that noise destroys
    GAPS = auto()  # gaps drawn so far: this and the one before as in `Countdown`
    ENDURED = auto()  # disturbances drawn


LINK_WORDS = max(LinkState) + 1


class AirTime(IntEnum):
    """A rate, behind the columns of `Rate`: how long control frames take."""

    ANSWER = len(Rate)  # CTS or ACK
    RTS = auto()


RATE_WORDS = max(AirTime) + 1


class LegState(IntEnum):
    """A leg, behind the columns of `Leg`."""

    FREE = len(Leg)  # its server is free from then on
    LAST = auto()  # release of the last packet that came
    # Its packets, words as in `Ring`: when one is released, and its frame.
    HEAD = auto()
    COUNT = auto()
    ROOM = auto()
    RING = auto()
    # The server's speed, and what the application reads.
    INTERVAL = auto()  # number of the interval of length SWING_EVERY that SLOWNESS holds in
    SLOWNESS = auto()  # of the server, relative to the mean, times 2**30
    UNREAD = auto()  # packets at the head that are released, but not read
    READING = auto()  # packets of those that the application reads now
    READ_END = auto()  # end of that read
    REST = auto()  # what is left of a packet that is read in part [byte]


LEG_WORDS = max(LegState) + 1


class FlowState(IntEnum):
    """A flow, behind the columns of `Flow`."""

    NEXT = len(Flow)  # it starts, or FOREVER
    UNCOUNTED = auto()  # UDP: packets put out before the end of the warm-up
    ASSOCIATION = auto()  # the word where its association begins
    BIN = auto()  # number of the interval that FlowOut.BEST looks at
    IN_BIN = auto()  # packets that arrived in it
    OWED = auto()  # saturated source: datagrams that have left its queue and are not replaced
    DELAY_NS = auto()  # what is left over of the delays summed in FlowOut.DELAY_SUM
    # Slot of flows that arrive and depart, see `arriving`; up to THINK_TIME as in `base.arrivals.SlotState`.
    NEXT_ARRIVAL = auto()
    ARRIVALS = auto()
    STARTED = auto()
    FLOW_SIZE = auto()
    THINK_TIME = auto()
    IN_FLIGHT = auto()  # places in queues and legs that its packets occupy
    FINISHED = auto()  # its sender knows that all data have arrived [ns], or NEVER
    LATEST = auto()  # its delays, words as in `DelayState`


FLOW_COUNTS = FlowState.LATEST + DelayState.SIZE
"""The flow's outcomes, as in `FlowOut`."""
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
