"""Where the 802.11 engine keeps what it knows: words of scratch.

The row's parameters come first, so that scratch serves as the array of parameters too; then the words below,
then nodes, links, rates, legs and flows.
"""

import numpy as np

from netcarlo.kernels.wireless.layout import Flow, FlowOut, Leg, Link, Node, NodeOut, Radio, Rate, WifiRows

_HEADER = int(Radio.COLUMNS)
(
    ON_AIR,  # mask of the nodes that are sending
    NODES,  # where the nodes begin ...
    LINKS,
    RATES,
    LEGS,
    FLOWS,
    PATHS,
    BURSTS,  # frames put on the air
    FULL,  # 1: a ring was too small
    FREE,  # end of it all
    LOST,  # frames lost since the trace was written, and from here on what they are
) = range(_HEADER, _HEADER + 11)
LOST_WORDS, LOST_ROOM = 3, 64
"""A lost frame: the event, the frame, the node; of more at once the trace has the last ones."""
START_OF_KEYS = _HEADER + 11 + LOST_WORDS * LOST_ROOM
"""The next event of every node, then leg, then flow: time * 4 + phase."""

# Phases of events at the same time.
END_PHASE = 0
FLOW_PHASE = 1
TIMEOUT_PHASE = 2
START_PHASE = 3
NO_EVENT = (1 << 60) - 1
"""The time of an event that does not come; four times that is still a number."""

# A node.
(
    QUEUE, SENSE, NEAR, CONTROL, DISTURB_DATA, DISTURB_CONTROL,  # as in `Node`
    END,  # of its transmission
    TIMEOUT,  # of its wait for an answer
    RESET,  # the NAV that an RTS set may be given up
    START,  # it answers, or goes on
    SINCE, SLOTS,  # the backoff: counted from then, slots left
    RX, TX, QUIET, NAV, LATE,  # when a reception, a transmission, the noise of others, ... ended
    CW, SHORT, LONG, BURST, WAITING, DRAWS,
    LOCK, LOCKED_AT, CORRUPT, DISTURBED, DISTURBED_SINCE,  # the node that it receives from
    FRAME, TO, RATE, DURATION, AIR,  # what it puts, or has put, on the air; AIR of the data
    NEXT, ANSWER_TO, ANSWER_RATE, ANSWER_DURATION,  # what it starts with at START
    DATA_RATE, WITH_RTS, HEAD_RECEIVED,
    RING, HEAD, COUNT, COUNTED_AT, BUSY_SINCE, NAV_OF_RTS,
) = range(46)  # fmt: skip
NODE_COUNTS = 46
NODE_WORDS = NODE_COUNTS + int(NodeOut.COLUMNS)

# A link: the columns of `Link`, then rate control and noise.
L_GOOD, L_RETRY, L_TIMER, L_PROBING, L_UP, L_WAIT, L_GAP, L_LOSSES, L_ENDURED = range(
    len(Link), len(Link) + 9
)
LINK_WORDS = len(Link) + 9

# A rate: the columns of `Rate`, then the time on air of an answer (14 byte) and of an RTS (20 byte).
R_ANSWER_TIME, R_RTS_TIME = len(Rate), len(Rate) + 1
RATE_WORDS = len(Rate) + 2

# A leg: the columns of `Leg`, then its server and its ring of (release, frame).
G_FREE, G_LAST, G_RING, G_HEAD, G_COUNT, G_INTERVAL, G_SLOWNESS = range(len(Leg), len(Leg) + 7)
G_UNREAD = len(Leg) + 7  # frames at the head that are released, but not read
G_READING = len(Leg) + 8  # of those, what the application reads now ...
G_READ_END = len(Leg) + 9  # ... until [ns]
G_REST = len(Leg) + 10  # of a packet that is read in part, what is left [byte]
LEG_WORDS = len(Leg) + 11

# A flow: the columns of `Flow`, then its source, counts, and where its association begins.
F_NEXT, F_NUMBER, F_ARRIVED, F_STATE, F_BIN, F_IN_BIN = range(len(Flow), len(Flow) + 6)
F_DELAY_NS = len(Flow) + 6  # what is left over of the delays summed in FlowOut.DELAY_SUM
FLOW_COUNTS = len(Flow) + 7
FLOW_WORDS = FLOW_COUNTS + int(FlowOut.COLUMNS)

# A frame in a queue or a leg: flow, hop, direction (1: acknowledgement) and packet in one word.
FLOW_BITS, HOP_BITS = 10, 7
_DIRECTION = FLOW_BITS + HOP_BITS
PACKET_SHIFT = _DIRECTION + 1
FLOW_MASK = (1 << FLOW_BITS) - 1
HOP_MASK = (1 << HOP_BITS) - 1
ONE_HOP = 1 << FLOW_BITS
BACKWARD = 1 << _DIRECTION

# Kinds of frames on the air.
DATA, RTS, CTS, ACK, SELF = range(5)

# What a node waits for (WAITING): nothing (0), CTS, ACK, or the end of an exchange that
SUCCEEDED, FAILED = -1, -2


def words(rows: WifiRows, association: int) -> int:
    """Words of scratch that any row of `rows` needs; `association` words for a TCP flow."""
    p = rows.parameters
    queues = rows.nodes[..., Node.QUEUE].sum(axis=1)
    rooms = np.zeros(len(p), np.int64)
    for leg in range(int(p[:, Radio.LEGS].max())):
        at = p[:, Radio.LEGS_AT] + leg * len(Leg) + Leg.ROOM
        room = rows.network[np.arange(len(p)), np.minimum(at, rows.network.shape[1] - 1)]
        rooms += np.where(leg < p[:, Radio.LEGS], room, 0)
    total = (
        START_OF_KEYS
        + p[:, [Radio.NODES, Radio.LEGS, Radio.FLOWS]].sum(axis=1)
        + p[:, Radio.NODES] * NODE_WORDS
        + p[:, Radio.LINKS] * LINK_WORDS
        + p[:, Radio.RATES] * RATE_WORDS
        + p[:, Radio.LEGS] * LEG_WORDS
        + p[:, Radio.FLOWS] * (FLOW_WORDS + association)
        + rows.network.shape[1]
        + queues
        + 2 * rooms
    )
    return int(total.max())
