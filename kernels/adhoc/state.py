"""Where the ad hoc engine keeps things in scratch: words by name."""

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet, ManetOut, ManetRows, NodeOut

# Words of a row, behind the columns of `Manet`.
NODES = int(Manet.COLUMNS)  # where the nodes begin
KEYS = NODES + 1  # and the keys: time and phase of the next event of each node
PAIRS = NODES + 2  # next changes of link and sense bit of each pair i < j
SEEN = NODES + 3  # last request of each origin that each node has seen
LEVELS = NODES + 4  # of a breadth-first search
STATE = NODES + 5  # where the association begins
FREE = NODES + 6
LAST_ID = NODES + 7  # of a route request
NOTICE = NODES + 8  # 1: the source has learnt of a broken link
ROUTE = NODES + 9  # of the last data packet that the source has put out, 0: there was none
FLOW_AT = NODES + 10  # the sender starts [ns]
TOPOLOGY_AT = NODES + 11  # next topology event [ns]
FULL = NODES + 12  # 1: too many acknowledgements on their way
NO_START = NODES + 22  # 1: source and sink are never as far apart as asked
ASIDE = NODES + 26  # where frames taken out of a queue lie for a moment
TRACED = NODES + 27  # rows of the trace
SHOWN_ROUTE = NODES + 28  # what the trace has shown of route
SHOWN_PROBING = NODES + 29  # and state of the sender
ON_AIR = NODES + 30  # mask of the nodes that have an exchange under way
R_GAP = NODES + 31  # segments until the next residual error: data at the sink; without data at source, sink
R_GAPS = NODES + 34  # gaps drawn so far
# Statistics of the network.
LAST = NODES + 13  # integrated up to here [ns]
HOPS = NODES + 14  # of the shortest path, 0: none
SPLIT = NODES + 15
KEPT = NODES + 16  # route that is kept until it breaks, 0: none
KEPT_SINCE = NODES + 17
OUTAGE_SINCE = NODES + 18  # NO_TIME: no outage, or one that lasts from the beginning
LINK_COUNT = NODES + 19
VERSION = NODES + 20  # changes of links
WAITING_SINCE = NODES + 21  # NO_TIME: the source has a route, or nothing to send
COUNTS = NODES + 37  # columns of `ManetOut`
START_OF_NODES = COUNTS + int(ManetOut.COLUMNS)

# A frame: three words.
#   kind (4 bits), hop (4), salvages (4), number; route; load.
FRAME_WORDS = 3
HOP_SHIFT, SALVAGE_SHIFT, NUMBER_SHIFT = 4, 8, 12
ONE_HOP = 1 << HOP_SHIFT
ONE_SALVAGE = 1 << SALVAGE_SHIFT
DATA, ACK, PROBE, REPLY, REQUEST, ROUTE_REPLY, ROUTE_ERROR = range(7)

# A route: number of nodes (4 bits), then 6 bits a node.
LENGTH_BITS, NODE_BITS = 4, 6
LENGTH_MASK, NODE_MASK = 15, 63

# The load of a request: target, time to live (1 bit), whether there is a broken link, that, and its id.
TTL_SHIFT, HAS_BROKEN_SHIFT, FROM_SHIFT, TO_SHIFT, ID_SHIFT = 6, 7, 8, 14, 20

CACHE = 64
"""Paths in a node's route cache."""
BUFFER = 64
"""Packets that wait for a route."""
BUFFER_WORDS = 4  # since, first word of the frame, due, route
ROUTING_ROOM = 32
"""Routing packets that wait in a node."""

# A node.
(
    N_STREAM, N_T0, N_X, N_Y, N_VX, N_VY, N_T1, N_LEG, N_REST, N_MIRROR, N_PAUSE,
    N_LINK, N_SENSE, N_ROW_AT,
    N_CUR, N_FRAME, _1, _2, N_RECEIVED, N_CW, N_SHORT, N_LONG, N_SLOTS, N_SINCE, N_AIR, N_BUSY, N_END,
    N_OUTCOME, N_BACKOFFS, N_HEARD, N_GAP, N_GAPS,
    N_HEAD, N_COUNT, N_RING, N_ROUTING_HEAD, N_ROUTING_COUNT, N_ROUTING_RING,
    N_CACHE, N_POINTER, N_MEMO, N_MEMO_VERSION, N_HOLD, N_HOLD_AT, N_FROM, N_TO, N_BROKEN_AT,
    N_OUTSTANDING, N_LAST_REQUEST, N_RINGED, N_DELAYED_AT, N_DELAYED, _3, _4, N_DRAWN,
    N_TAP, _5, _6, _7, _8, _9, _10, _11,
    N_BUFFER, N_WAITING, N_DUE_AT, N_CHECK_AT,
) = range(67)  # fmt: skip
TAP_WORDS = 4  # route, hop, links, time; for each direction
NODE_COUNTS = 67
NODE_WORDS = NODE_COUNTS + int(NodeOut.COLUMNS)

# Outcomes of an exchange.
OK, NO_RTS, NO_CTS, NO_DATA, NO_ACK, BROADCAST = range(6)

# Phases: what comes first at equal times.
END_PHASE, DELAYED_PHASE, DUE_PHASE, CHECK_PHASE, START_PHASE = 1, 2, 3, 4, 6
PHASE_BITS = 3
FLOW_PHASE = 5
NO_KEY = 1 << 62
NO_TIME = -(10**15)


def words(rows: ManetRows, association: int) -> int:
    """Words of scratch that any row of `rows` needs; `association` words for the TCP association."""
    p = rows.parameters
    n = p[:, Manet.NODES]
    of_node = NODE_WORDS + 1 + 1 + CACHE + FRAME_WORDS * (p[:, Manet.QUEUE] + ROUTING_ROOM)
    total = (
        START_OF_NODES
        + n * of_node
        + 3 * n * n
        + 2 * BUFFER * BUFFER_WORDS
        + p[:, Manet.QUEUE]
        + ROUTING_ROOM
        + association
    )
    return int(np.max(total, initial=0))
