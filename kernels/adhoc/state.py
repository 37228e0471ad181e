"""Words of scratch of the ad hoc engine, by name."""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.adhoc.layout import Manet, ManetOut, NodeOut
from netcarlo.kernels.base.bind import slot

NO_KEY = 1 << 62
"""Key, or time, of an event that is not scheduled."""

NO_TIME = -(10**15)
"""Time in the past that stands for no event [ns]."""

SET_ROOM, ROUTE_ROOM = 4, 2
"""Words that are reserved for a set of nodes and for a route: those of the largest networks, see `size`."""
FRAME_ROOM = 1 + 2 * ROUTE_ROOM
"""Words that are reserved for a frame."""


def behind(member: Any, words: int) -> int:
    """Return the number of the word after a member of an enumeration that has several words."""
    return int(member) + words


class Word(IntEnum):
    """Words of a row, following the columns of `Manet`.

    After the last one follow the counted outcomes (`ManetOut`), the nodes (`Node`), and the tables whose
    first words are named here.
    """

    # First words of tables.
    KEYS = int(Manet.COLUMNS)  # time and phase of the next event of each node, then of the flow
    LEVELS = auto()  # sets of nodes at each depth of a breadth-first search
    PAIRS = auto()  # next changes of the link and sense bit of each pair of nodes i < j [ns]
    SEEN = auto()  # last request that each node has seen, by origin
    ASIDE = auto()  # first words of frames that have been removed from a queue
    ASSOCIATION = auto()  # words of the association
    DELAYS = auto()  # delays of data, see `observers.delays`
    # Events that are not a node's.
    FLOW_AT = auto()  # start of the sender [ns]
    TOPOLOGY_AT = auto()  # next change of a leg, link or sense bit [ns]
    MOVED = auto()  # node whose leg ended last
    PARTNER = auto()  # next node with which a pair's changes are to be computed; NODES: none
    # The network.
    ON_AIR = auto()  # set of the nodes with an exchange in progress
    VERSION = behind(ON_AIR, SET_ROOM)  # number of link changes so far
    LAST_ID = auto()  # id of the latest route request
    NO_START = auto()  # 1: source and sink never have the required distance
    # The flow.
    ROUTE = auto()  # route of the last data packet sent by the source; its first word is 0 if there was none
    NOTICE = behind(ROUTE, ROUTE_ROOM)  # 1: the source has been notified of a broken link
    FULL = auto()  # 1: too many packets in flight
    WAITING_SINCE = auto()  # since when packets of the source wait for a route [ns]; NO_TIME: no packet waits
    # Residual errors, in the order of STREAM_RESIDUAL: two words each, see `Countdown`.
    GAP_OF_DATA = auto()  # data segments until the sink's host loses one
    GAPS_OF_DATA = auto()  # gaps of data segments drawn so far
    GAP_AT_SOURCE = auto()  # segments without data until the source's host loses one
    GAPS_AT_SOURCE = auto()
    GAP_AT_SINK = auto()  # segments without data until the sink's host loses one
    GAPS_AT_SINK = auto()
    # Statistics of the topology.
    INTEGRATED = auto()  # time up to which the statistics are integrated [ns]
    HOPS = auto()  # hops of the shortest path from source to sink, 0: no path
    SPLIT = auto()  # 1: a node is not reachable from the source
    LINKS = auto()  # set of the nodes within range
    KEPT = auto()  # route that is kept until it breaks; its first word is 0 if there is none
    KEPT_SINCE = behind(KEPT, ROUTE_ROOM)  # start of that route [ns]
    OUTAGE_SINCE = auto()  # start of the outage [ns]; NO_TIME: no outage, or one since time 0
    # The trace.
    TRACED = auto()  # number of rows written
    SHOWN_ROUTE = auto()  # last ROUTE in the trace
    SHOWN_PROBING = behind(SHOWN_ROUTE, ROUTE_ROOM)  # last probing state of the sender in the trace


COUNTS = int(Word.SHOWN_PROBING) + 1
"""First word of the outcomes that are counted, columns of `ManetOut`."""

NODES = COUNTS + int(ManetOut.COLUMNS)
"""First word of the nodes, NODE_WORDS each."""


class Node(IntEnum):
    """Words of a node; its outcomes (`NodeOut`) follow."""

    # Motion: the current leg.
    STREAM = 0  # random stream of the node's motion
    T0 = auto()  # start of the leg [ns]
    X = auto()  # position at T0, see `layout` for the units
    Y = auto()
    VX = auto()  # velocity
    VY = auto()
    T1 = auto()  # end of the leg, or time at which the node reaches a wall [ns]
    LEG = auto()  # number of the leg
    REST = auto()  # rest of the leg after that wall; 0: no rest, or no wall [us]
    MIRROR = auto()  # velocity component that changes its sign at the wall: 1 VX, 2 VY, 3 both
    PAUSE = auto()  # pause after the leg [us]
    # Topology.
    LINK = auto()  # set of the nodes within transmission range
    SENSE = behind(LINK, SET_ROOM)  # set of the nodes within sensing range
    ROW_AT = behind(SENSE, SET_ROOM)  # next change of its leg, or of a pair with a later node [ns]
    # Medium access.
    SERVING = auto()  # 1: a frame is in service
    RECEIVED = auto()  # 1: the next node has received the frame, but this node does not know
    CW = auto()  # contention window [slots]
    SHORT = auto()  # attempts of the RTS so far
    LONG = auto()  # attempts of the data frame so far
    SLOTS = auto()  # remaining backoff [slot]
    SINCE = auto()  # time since which the backoff counts down [ns]
    AIR = auto()  # a frame is sensed until then [ns]
    BUSY = auto()  # the medium is considered busy until then [ns]
    END = auto()  # end of its exchange [ns]; NO_KEY: no exchange
    OUTCOME = auto()  # outcome of the exchange, see `Outcome`
    BACKOFFS = auto()  # backoffs drawn so far
    GAP = auto()  # frames until its radio loses one
    GAPS = auto()  # gaps drawn so far; GAP and GAPS are as in `Countdown`
    # Queues of packets and of routing frames, words as in `Ring`.
    PACKETS_HEAD = auto()
    PACKETS_COUNT = auto()
    PACKETS_ROOM = auto()
    PACKETS_RING = auto()
    ROUTING_HEAD = auto()
    ROUTING_COUNT = auto()
    ROUTING_ROOM = auto()
    ROUTING_RING = auto()
    # Routes.
    CACHE = auto()  # first word of the route cache
    POINTER = auto()  # position for the next new path
    MEMO_VERSION = auto()  # value of VERSION when MEMO was looked up
    HOLD_AT = auto()  # time at which it shortened HOLD [ns]
    FROM = auto()  # first node of the broken link last reported to it
    TO = auto()  # second node of that link
    BROKEN_AT = auto()  # time of that report [ns]
    # Discovery.
    OUTSTANDING = auto()  # route requests since it last learned a route
    LAST_REQUEST = auto()  # time of its latest route request [ns]
    RINGED = auto()  # time of its latest request, if only to its neighbours, else NO_TIME [ns]
    DELAYED_AT = auto()  # time at which a delayed frame is enqueued [ns]
    DRAWN = auto()  # random words drawn from STREAM_ROUTING
    # Packets that wait for a route, at source and sink.
    BUFFER = auto()  # first word of the buffer, see `Waiting`
    WAITING = auto()  # number of packets that wait
    DUE_AT = auto()  # time at which the next packet with a route is sent [ns]
    CHECK_AT = auto()  # time of the next check of packets without a route [ns]
    # Sets and routes, behind the words that are used most.
    HEARD = auto()  # set of the nodes that decode its broadcast
    FRAME = behind(HEARD, SET_ROOM)  # frame in service
    FRAME_ROUTE = auto()  # route of the frame in service
    DELAYED = behind(FRAME, FRAME_ROOM)  # delayed frame
    MEMO = behind(DELAYED, FRAME_ROOM)  # route to the flow's other end; first word 0: none, or UNKNOWN
    HOLD = behind(MEMO, ROUTE_ROOM)  # last route that it has shortened
    # The last transmission that others overheard, of data and probes; then of their answers: see `Tap`.
    TAP = behind(HOLD, ROUTE_ROOM)


class Tap(IntEnum):
    """Overheard transmission; similar ones soon after it give no new information."""

    ROUTE = 0
    HOP = behind(ROUTE, ROUTE_ROOM)
    LINKS = auto()  # set of those in range
    TIME = behind(LINKS, SET_ROOM)  # time of the transmission [ns]


class Waiting(IntEnum):
    """Packet that waits for a route."""

    SINCE = 0  # start of the wait [ns]
    HEAD = 1  # first word of its frame
    DUE = 2  # time at which it is sent [ns]; NO_KEY: it has no route
    ROUTE = 3  # route on which it will be sent


TAP_WORDS = int(Tap.TIME) + 1
WAITING_WORDS = int(Waiting.ROUTE) + ROUTE_ROOM
NODE_COUNTS = int(Node.TAP) + 2 * TAP_WORDS
"""First of a node's words for its outcomes, columns of `NodeOut`."""
NODE_WORDS = NODE_COUNTS + int(NodeOut.COLUMNS)

CACHE = 64
"""Number of paths in the route cache of a node."""
BUFFER = 64
"""Maximum number of packets of a node that wait for a route."""
ROUTING_FRAMES = 32
"""Maximum number of routing frames that wait in a node."""


class Outcome(IntEnum):
    """Outcome of an exchange: the frame that is lost."""

    OK = 0
    NO_RTS = 1
    NO_CTS = 2
    NO_DATA = 3
    NO_ACK = 4
    BROADCAST = 5  # a frame without an answer


class Phase(IntEnum):
    """Kinds of events; events at the same time are processed in this order."""

    END = 1  # end of an exchange
    DELAYED = 2  # a delayed frame is enqueued
    DUE = 3  # a packet that waited for a route is enqueued
    CHECK = 4  # packets that wait for a route are checked
    FLOW = 5  # an event of the flow
    START = 6  # start of an exchange


observer: Any = slot("observer")
"""Functions that record what happens (`observers.events`)."""

hosts: Any = slot("hosts")
"""Source and sink of the flow (`hosts`)."""

sets: Any = slot("sets")
"""Functions for sets of nodes (`small.sets`, `large.sets`)."""

routes: Any = slot("routes")
"""Functions for routes (`small.routes`, `large.routes`)."""

UNKNOWN = -1
"""Value of Node.MEMO if the route is not known and must be searched for."""

PHASE_BITS, PHASE_MASK = 3, 7
"""A key is a time [ns], then the phase in these bits."""
