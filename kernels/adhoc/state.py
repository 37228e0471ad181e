"""Words of scratch of the ad hoc engine, by name."""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.adhoc.layout import Manet, ManetOut, NodeOut
from netcarlo.kernels.base.bind import slot

NO_KEY = 1 << 62
"""Key, or time, of an event that is not scheduled."""

NO_TIME = -(10**15)
"""A time in the past at which nothing happened [ns]."""

SET_ROOM, ROUTE_ROOM = 4, 2
"""Words that are reserved for a set of nodes and for a route: those of the largest networks, see `size`."""
FRAME_ROOM = 1 + 2 * ROUTE_ROOM
"""Words that are reserved for a frame."""


def behind(member: Any, words: int) -> int:
    """Return the number of the word behind a member of an enumeration that has several words."""
    return int(member) + words


class Word(IntEnum):
    """Words of a row, behind the columns of `Manet`.

    Behind the last come the outcomes that are counted (`ManetOut`), the nodes (`Node`), and the tables
    whose first words are named here.
    """

    # First words of tables.
    KEYS = int(Manet.COLUMNS)  # time and phase of the next event of each node, then of the flow
    LEVELS = auto()  # sets of the nodes at each depth of a breadth-first search
    PAIRS = auto()  # next changes of the link and sense bit of each pair of nodes i < j [ns]
    SEEN = auto()  # for each node and origin, the last request that the node has seen
    ASIDE = auto()  # first words of frames that have been taken out of a queue
    ASSOCIATION = auto()  # the association
    DELAYS = auto()  # delays of data, see `observers.delays`
    # Events that are not a node's.
    FLOW_AT = auto()  # the sender starts [ns]
    TOPOLOGY_AT = auto()  # next change of a leg, link or sense bit [ns]
    MOVED = auto()  # node whose leg has ended last
    PARTNER = auto()  # the next node with which its pair is to be foreseen; NODES: none
    # The network.
    ON_AIR = auto()  # set of the nodes that have an exchange under way
    VERSION = behind(ON_AIR, SET_ROOM)  # changes of links so far
    LAST_ID = auto()  # of a route request
    NO_START = auto()  # 1: source and sink are never as far apart as asked
    # The flow.
    ROUTE = auto()  # of the last data packet that the source has sent; its first word is 0 if there was none
    NOTICE = behind(ROUTE, ROUTE_ROOM)  # 1: the source has learnt of a broken link
    FULL = auto()  # 1: too many packets on their way
    WAITING_SINCE = auto()  # packets of the source wait for a route [ns]; NO_TIME: none does
    # Residual errors, in the order of STREAM_RESIDUAL: two words each, see `Countdown`.
    GAP_OF_DATA = auto()  # data segments until the sink's host loses one
    GAPS_OF_DATA = auto()  # such gaps drawn so far
    GAP_AT_SOURCE = auto()  # segments without data until the source's host loses one
    GAPS_AT_SOURCE = auto()
    GAP_AT_SINK = auto()  # segments without data until the sink's host loses one
    GAPS_AT_SINK = auto()
    # Statistics of the topology.
    INTEGRATED = auto()  # up to here [ns]
    HOPS = auto()  # of the shortest path from source to sink, 0: none
    SPLIT = auto()  # 1: a node is out of reach of the source
    LINKS = auto()  # links there are
    KEPT = auto()  # route that is kept until it breaks; its first word is 0 if there is none
    KEPT_SINCE = behind(KEPT, ROUTE_ROOM)  # begin of that route [ns]
    OUTAGE_SINCE = auto()  # begin of the outage [ns]; NO_TIME: none, or it lasts from time 0
    # The trace.
    TRACED = auto()  # rows so far
    SHOWN_ROUTE = auto()  # last ROUTE in it
    SHOWN_PROBING = behind(SHOWN_ROUTE, ROUTE_ROOM)  # last state of the sender in it


COUNTS = int(Word.SHOWN_PROBING) + 1
"""First word of the outcomes that are counted, columns of `ManetOut`."""

NODES = COUNTS + int(ManetOut.COLUMNS)
"""First word of the nodes, NODE_WORDS each."""


class Node(IntEnum):
    """Words of a node; its outcomes (`NodeOut`) follow."""

    # Motion: the present leg.
    STREAM = 0  # random stream of the node's motion
    T0 = auto()  # begin of the leg [ns]
    X = auto()  # position at T0, see `layout` for the units
    Y = auto()
    VX = auto()  # velocity
    VY = auto()
    T1 = auto()  # end of the leg, or the node is at a wall [ns]
    LEG = auto()  # number of the leg
    REST = auto()  # time that is left of the leg at that wall; 0: none, or no wall [us]
    MIRROR = auto()  # velocity that changes its sign at the wall: 1 VX, 2 VY, 3 both
    PAUSE = auto()  # pause after the leg [us]
    # Topology.
    LINK = auto()  # set of the nodes within range
    SENSE = behind(LINK, SET_ROOM)  # set of those within sensing range
    ROW_AT = behind(SENSE, SET_ROOM)  # next change of its leg, or of a pair with a later node [ns]
    # Medium access.
    SERVING = auto()  # 1: a frame is in service
    RECEIVED = auto()  # 1: the next node has it, which this one does not know
    CW = auto()  # contention window [slots]
    SHORT = auto()  # attempts of its RTS
    LONG = auto()  # attempts of the frame itself
    SLOTS = auto()  # backoff that is left [slots]
    SINCE = auto()  # the backoff counts from then on [ns]
    AIR = auto()  # some frame is sensed until then [ns]
    BUSY = auto()  # the medium is taken to be busy until then [ns]
    END = auto()  # its exchange ends [ns]; NO_KEY: it has none
    OUTCOME = auto()  # of the exchange, see `Outcome`
    BACKOFFS = auto()  # drawn so far
    GAP = auto()  # frames until its radio loses one
    GAPS = auto()  # gaps drawn so far: this and the one before as in `Countdown`
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
    POINTER = auto()  # position that the next new path takes
    MEMO_VERSION = auto()  # VERSION when MEMO was looked up
    HOLD_AT = auto()  # when it shortened HOLD [ns]
    FROM = auto()  # first node of the broken link that was last reported to it
    TO = auto()  # second node of that link
    BROKEN_AT = auto()  # time of that report [ns]
    # Discovery.
    OUTSTANDING = auto()  # requests since it has learnt a route
    LAST_REQUEST = auto()  # when it last sent one [ns]
    RINGED = auto()  # when it asked its neighbours only, and nobody else since; or NO_TIME [ns]
    DELAYED_AT = auto()  # when a delayed frame goes into the queue [ns]
    DRAWN = auto()  # random words of STREAM_ROUTING
    # Packets that wait for a route, at source and sink.
    BUFFER = auto()  # first word, see `Waiting`
    WAITING = auto()  # packets that wait
    DUE_AT = auto()  # when the next one that has a route goes [ns]
    CHECK_AT = auto()  # next check of those without a route [ns]
    # Sets and routes, behind the words that are used most.
    HEARD = auto()  # set of the nodes that decode its broadcast
    FRAME = behind(HEARD, SET_ROOM)  # frame in service
    FRAME_ROUTE = auto()  # its route
    DELAYED = behind(FRAME, FRAME_ROOM)  # frame that is delayed
    MEMO = behind(DELAYED, FRAME_ROOM)  # route to the flow's other end; its first word is 0: none, or UNKNOWN
    HOLD = behind(MEMO, ROUTE_ROOM)  # last route that it has shortened
    # The last transmission that others overheard, of data and probes; then of their answers: see `Tap`.
    TAP = behind(HOLD, ROUTE_ROOM)


class Tap(IntEnum):
    """Transmission that neighbours have overheard: similar ones soon after it give no new information."""

    ROUTE = 0
    HOP = behind(ROUTE, ROUTE_ROOM)
    LINKS = auto()  # set of those in range
    TIME = behind(LINKS, SET_ROOM)  # [ns]


class Waiting(IntEnum):
    """Packet that waits for a route."""

    SINCE = 0  # [ns]
    HEAD = 1  # first word of its frame
    DUE = 2  # it goes [ns]; NO_KEY: it has no route
    ROUTE = 3  # which it will take


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
    """Outcome of an exchange: the frame of it that is lost."""

    OK = 0
    NO_RTS = 1
    NO_CTS = 2
    NO_DATA = 3
    NO_ACK = 4
    BROADCAST = 5  # a frame without an answer


class Phase(IntEnum):
    """Kinds of events; events at the same time are processed in this order."""

    END = 1  # of an exchange
    DELAYED = 2  # a frame that was delayed goes into the queue
    DUE = 3  # a packet that waited for a route goes into the queue
    CHECK = 4  # packets that wait for a route are looked at
    FLOW = 5  # an event of the flow
    START = 6  # of an exchange


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
