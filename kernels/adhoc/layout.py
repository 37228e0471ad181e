"""Columns of the arrays that the ad hoc engine reads and writes.

As in `netcarlo.kernels.base.layout`, times are int64 nanoseconds and sizes bytes. Lengths are int64 in units
of 2**-16 m and speeds in units of 2**-16 m/s, so positions and the times of link changes are computed with
integers and are equal on every target.
"""

from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import P, RowP
from netcarlo.kernels.base.rows import Table

MOST_NODES = 256
"""Maximum number of nodes of a network, see `size`."""

MOST_SMALL = 64
"""Maximum number of nodes of a network whose sets of nodes are one word."""

MOST_ROUTE, MOST_LONG_ROUTE = 9, 14
"""Maximum number of nodes of a route, both ends included, in networks of up to MOST_SMALL nodes and in larger
ones."""

METRE = 1 << 16
"""Units of length in a metre."""


class Manet(IntEnum):
    """Parameters of the network (columns of `ManetRows.parameters`, following those of `P`)."""

    NODES = len(P)  # number of nodes
    SOURCE = auto()  # node of the sender
    SINK = auto()  # node of the receiver
    OBSERVE = auto()  # one of the OBSERVE_ constants below
    # How nodes move.
    MOBILITY = auto()  # mobility model, one of the constants below
    WIDTH = auto()  # width of the area
    HEIGHT = auto()
    SPEED_MIN = auto()  # minimum speed of a leg, uniformly distributed
    SPEED_MAX = auto()  # maximum speed; Gauss-Markov: both are the standard deviation on each axis
    PAUSE_MIN = auto()  # minimum pause after a leg of random waypoint, uniformly distributed [us]
    PAUSE_MAX = auto()  # maximum pause [us]
    LEG = auto()  # mean duration of a leg of random direction; step of Gauss-Markov [us]
    MEMORY = auto()  # Gauss-Markov: weight of the previous velocity, times 2**16
    FRESH = auto()  # Gauss-Markov: weight of the random velocity, times 2**16
    MOTION_BEFORE = auto()  # duration of motion before time 0 [ns]
    # Radio.
    RANGE = auto()  # transmission range: a frame is decoded up to this distance
    SENSE = auto()  # sensing range: a frame is sensed up to this distance, at least RANGE
    CAPTURE = auto()  # squared distance ratio, interferer to sender, for capture, times 2**10
    # Medium access.
    SLOT = auto()  # slot time [ns]
    SIFS = auto()
    EIFS = auto()  # EIFS: wait after a frame that was sensed and not decoded [ns]
    CW_MIN = auto()  # minimum contention window [slot]
    CW_MAX = auto()
    SHORT_RETRY = auto()  # maximum attempts of an RTS
    LONG_RETRY = auto()  # maximum attempts of a data frame
    PREAMBLE = auto()  # duration of preamble and PLCP header [ns]
    RTS = auto()  # duration of an RTS, preamble included [ns]
    CTS = auto()
    MAC_ACK = auto()
    BYTE_TIME = auto()  # transmission time of a byte of a unicast data frame [ns]
    BROADCAST_BYTE_TIME = auto()  # transmission time of a byte of a broadcast frame [ns]
    OVERHEAD = auto()  # bytes added to a packet by network and MAC layer
    QUEUE = auto()  # queue limit of a node, the frame in service not counted [packet]
    # Errors: rows of `ManetRows.losses`.
    FRAME_LOSS = auto()  # loss of each frame at the receiving radio
    RESIDUAL = auto()  # loss of data segments at the receiving host
    ACK_RESIDUAL = auto()  # loss of segments without data at a host: ACKs, probes, SYN
    ROUTING = auto()  # routing protocol, one of the constants below
    # Source and sink are so far apart when the flow starts.
    APART_MIN = auto()
    APART_MAX = auto()  # maximum distance of source and sink at the start; 0: any distance
    COLUMNS = auto()


OBSERVE_END = 0
OBSERVE_COMPLETION = 1
"""The run ends when the last acknowledgement of a finite transfer reaches the sender."""

MOST_ATTEMPTS = 1 << 15
"""Maximum number of draws for the required distance of source and sink."""

STATIC = 0
RANDOM_WAYPOINT = 1
RANDOM_DIRECTION = 2
GAUSS_MARKOV = 3
GIVEN = 4
"""Mobility by given tables of times and places."""

DSR = 0
IDEAL = 1
"""Ideal routing: every packet uses the current shortest path; no control traffic."""


class Place(IntEnum):
    """Position of a node at a time (last axis of `ManetRows.places`); the node moves straight to the next
    one."""

    X = 0
    Y = 1


class ManetOut(IntEnum):
    """First outcomes of a row; those of the nodes (`NodeOut`) and of delays (`base.delays`) follow.

    Only data segments are counted; other packets of an association are counted in HANDSHAKES at most.
    Statistics of the network, from CONNECTED on, are integrals over the time ELAPSED [us].
    """

    STATUS = 0  # one of the STATUS_ constants of `base.layout`
    EXCHANGES = 1  # frames transmitted, with their RTS, CTS and ACK
    ELAPSED = 2  # end of the run [ns]
    # The flow.
    SENT = 3  # data segments sent, retransmissions included
    RETRANSMITTED = 4
    RECEIVED = 5  # data segments received, duplicates included
    DELIVERED = 6  # distinct data segments received
    IN_ORDER = 7
    ACKED = 8  # data segments cumulatively acknowledged at the sender
    TIMEOUTS = 9
    FAST_RETRANSMITS = 10
    CWND_CUTS = 11
    HANDSHAKES = 12  # SYNs sent
    PROBES = 13  # probe segments sent
    PROBE_CYCLES = 14  # number of pauses for probing or frozen periods of the sender
    PROBE_TIME = 15  # total duration of these pauses and periods [ns]
    SPARED = 16  # losses after which the window was not reduced
    DROPS_QUEUE = 17  # data segments dropped by full queues
    DROPS_ROUTE = 18  # data segments dropped on a broken link without another route
    DROPS_BUFFER = 19  # data segments dropped while waiting for a route
    DROPS_RANDOM = 20  # data segments lost to residual errors
    ACKS_SENT = 21
    ACK_DROPS = 22  # acknowledgements dropped or lost, all causes
    IN_FLIGHT = 23  # data segments in flight, or waiting for a route, at the end
    FIRST_RX = 24  # first arrival of data [ns] or NEVER
    LAST_RX = 25
    COMPLETED = 26  # arrival of the last missing segment of a finite transfer [ns] or NEVER
    FINISHED = 27  # its acknowledgement at the sender [ns] or NEVER
    HOPS = 28  # total hops of the data segments that reached the sink's node
    ARRIVED = 29  # data segments that reached the sink's node
    # Routing.
    BREAKS = 30  # link failures reported by the MAC
    FALSE_BREAKS = 31  # of these, links that existed
    DISCOVERIES = 32  # route requests originated
    ROUTING_FRAMES = 33  # route requests, replies and errors transmitted
    ROUTE_ERRORS = 34  # route errors originated
    SALVAGED = 35  # packets salvaged (RFC 4728, section 8.3.6)
    SHORTENED = 36  # gratuitous replies: a later node of a route received the packet directly
    WAITED = 37  # time during which the source had packets and no route [ns]
    # The network.
    CONNECTED = 38  # time with a path between source and sink [us]
    SPLIT = 39  # time during which some node is not reachable from the source [us]
    HOPS_1 = 40  # time with a shortest path of one hop [us]
    HOPS_2 = 41
    HOPS_3 = 42
    HOPS_4 = 43
    HOPS_5 = 44  # time with a shortest path of five or more hops [us]
    HOPS_SHORTEST = 45  # hops of the shortest path, integrated [hop us]
    HOPS_KEPT = 46  # hops of a route that is kept until it breaks, integrated [hop us]
    KEPT_BREAKS = 47  # breaks of routes that are kept until they break
    KEPT_LIFE = 48  # total lifetime of these routes [us]
    OUTAGES = 49  # periods without a path that began and ended in the run
    OUTAGE_TIME = 50  # total duration of these periods [us]
    LINK_CHANGES = 51  # links that appeared or broke
    LINK_TIME = 52  # number of links, integrated [link us]
    COLUMNS = 53


class NodeOut(IntEnum):
    """Outcomes of a node. The node is idle for the rest of the time."""

    TRANSMIT = 0  # time transmitting [ns]
    RECEIVE = 1  # time receiving frames for this node [ns]
    OVERHEAR = 2  # time sensing frames for other nodes [ns]
    SENT = 3  # frames transmitted
    FAILED = 4  # of these, frames without an answer
    FORWARDED = 5  # packets of other nodes forwarded
    DROPS = 6  # packets dropped by its full queue
    COLUMNS = 7


# Random streams (fourth part of the stream address).
STREAM_BACKOFF = 1 << 20  # + node; draw k: its k-th backoff
STREAM_FRAME = 1 << 21  # + node; draw k: gap to the k-th frame that its radio loses
STREAM_RESIDUAL = 1 << 22  # + 0: data at the sink, 1, 2: without data at source, sink; draw k: gap
STREAM_MOTION = 1 << 23  # see `motion.stream`; draw 0: start position of a node, then leg by leg
STREAM_ROUTING = 1 << 24  # + node; draw k: its k-th jitter or interval


LOSSES = [Manet.FRAME_LOSS, Manet.RESIDUAL, Manet.ACK_RESIDUAL]
"""Columns of `Manet` that name lines of `ManetRows.losses`."""


class ManetRows(NamedTuple):
    """Input of the ad hoc engine: one row per replication, `n` in all."""

    parameters: NDArray[np.int64]  # [n, Manet.COLUMNS]: those of `P`, then those of `Manet`
    constants: NDArray[np.float64]  # [n, C]: of a user's congestion control
    times: NDArray[np.int64]  # [n, N, K]: N of the widest row, K at least 1; ascending [ns], FOREVER: none
    places: NDArray[np.int64]  # [n, N, K, len(Place)]: where a node is at that time
    losses: NDArray[np.uint32]  # [m, 32]: digit thresholds, see `loss.thresholds`

    @property
    def filling(self) -> tuple[int, int, int, int]:
        """See `rows`."""
        return 0, 0, FOREVER, 0

    def renumbered(self, line: NDArray[np.int64]) -> "ManetRows":
        """See `rows`."""
        parameters = self.parameters.copy()
        parameters[:, LOSSES] = line[parameters[:, LOSSES]]
        return self._replace(parameters=parameters)

    def tables(self) -> tuple[int, tuple[Table, ...]]:
        """See `rows`: those of the nodes, and of the flow's class if delays are measured."""
        nodes = self.times.shape[1]
        found = [Table("nodes", NodeOut.COLUMNS, nodes, nodes)]
        if (self.parameters[:, RowP.LATE] > 0).any():
            found.append(Table("delays", DelayOut.COLUMNS, 1, 1))
        return ManetOut.COLUMNS, tuple(found)
