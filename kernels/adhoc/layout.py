"""The columns of the arrays that go into the ad hoc engine and come out of it.

As in `netcarlo.kernels.base.layout`, times are int64 nanoseconds and sizes bytes.  Lengths are int64 in units
of 2**-16 m and speeds in units of 2**-16 m/s: so positions and the moments at which links come and go are
computed with integers, and are the same on every target.
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
"""Maximum number of nodes of a route, both ends included, in networks of up to MOST_SMALL nodes and of
more."""

METRE = 1 << 16
"""Units of length in a metre."""


class Manet(IntEnum):
    """Parameters of the network (columns of `ManetRows.parameters`, behind those of `P`)."""

    NODES = len(P)  # number of nodes
    SOURCE = auto()  # the node that sends
    SINK = auto()  # the node that receives
    OBSERVE = auto()  # one of the constants below
    # How nodes move.
    MOBILITY = auto()  # one of the constants below
    WIDTH = auto()  # of the area
    HEIGHT = auto()
    SPEED_MIN = auto()  # least speed of a leg, drawn evenly
    SPEED_MAX = auto()  # greatest speed; Gauss-Markov: both are the standard deviation on each axis
    PAUSE_MIN = auto()  # least pause after a leg of random waypoint, drawn evenly [us]
    PAUSE_MAX = auto()  # longest [us]
    LEG = auto()  # mean time of a leg of random direction, step of Gauss-Markov [us]
    MEMORY = auto()  # Gauss-Markov: weight of the old speed, times 2**16
    FRESH = auto()  # Gauss-Markov: weight of what is drawn, times 2**16
    MOTION_BEFORE = auto()  # time that nodes have moved before time 0 [ns]
    # Radio.
    RANGE = auto()  # a frame is decoded up to this distance
    SENSE = auto()  # a frame is sensed up to this distance, not below RANGE
    CAPTURE = auto()  # an interferer this many times as far away does no harm: square of it times 2**10
    # Medium access.
    SLOT = auto()  # [ns]
    SIFS = auto()
    EIFS = auto()  # wait after a frame that was sensed and not decoded [ns]
    CW_MIN = auto()  # slots
    CW_MAX = auto()
    SHORT_RETRY = auto()  # attempts of an RTS
    LONG_RETRY = auto()  # attempts of a data frame
    PREAMBLE = auto()  # preamble and PLCP header [ns]
    RTS = auto()  # time on air, preamble included [ns]
    CTS = auto()
    MAC_ACK = auto()
    BYTE_TIME = auto()  # of a unicast data frame [ns]
    BROADCAST_BYTE_TIME = auto()  # [ns]
    OVERHEAD = auto()  # bytes that network and MAC layer add to a packet
    QUEUE = auto()  # most packets that wait in a node, the one being sent not counted
    # Errors: rows of `ManetRows.losses`.
    FRAME_LOSS = auto()  # each frame at the radio that it is for
    RESIDUAL = auto()  # data segments that reach the sink's host
    ACK_RESIDUAL = auto()  # segments without data that reach a host: ACKs, probes, a SYN
    ROUTING = auto()  # one of the constants below
    # Source and sink are so far apart when the flow starts.
    APART_MIN = auto()
    APART_MAX = auto()  # 0: any distance
    COLUMNS = auto()


OBSERVE_END = 0
OBSERVE_COMPLETION = 1
"""The run ends when the last acknowledgement of a finite transfer is back."""

MOST_ATTEMPTS = 1 << 15
"""Maximum number of draws of source and sink until they have the required distance."""

STATIC = 0
RANDOM_WAYPOINT = 1
RANDOM_DIRECTION = 2
GAUSS_MARKOV = 3
GIVEN = 4
"""Mobility by given tables of times and places."""

DSR = 0
IDEAL = 1
"""Every packet takes the shortest path of that moment; no control traffic."""


class Place(IntEnum):
    """A place where a node is at a time (last axis of `ManetRows.places`); it moves straight to the next."""

    X = 0
    Y = 1


class ManetOut(IntEnum):
    """The first outcomes of a row; those of the nodes (`NodeOut`) and of delays (`base.delays`) follow.

    Data segments only: what else an association puts out counts in HANDSHAKES at most.  Statistics of the
    network, from CONNECTED on, are integrals over the time ELAPSED; they count in microseconds.
    """

    STATUS = 0  # one of the STATUS_ constants of `base.layout`
    EXCHANGES = 1  # frames put on the air, with their RTS, CTS and ACK
    ELAPSED = 2  # end of the run [ns]
    # The flow.
    SENT = 3  # data segments put out, retransmissions included
    RETRANSMITTED = 4
    RECEIVED = 5  # data segments that reached the receiver, duplicates included
    DELIVERED = 6  # distinct ones
    IN_ORDER = 7
    ACKED = 8  # data segments cumulatively acknowledged at the sender
    TIMEOUTS = 9
    FAST_RETRANSMITS = 10
    CWND_CUTS = 11
    HANDSHAKES = 12  # SYNs put out
    PROBES = 13  # probe segments put out
    PROBE_CYCLES = 14  # times that the sender stopped to probe, or was frozen
    PROBE_TIME = 15  # time for which it was stopped or frozen [ns]
    SPARED = 16  # losses after which the window was not reduced
    DROPS_QUEUE = 17  # data segments that found a queue full
    DROPS_ROUTE = 18  # given up on a broken link without another route
    DROPS_BUFFER = 19  # that waited for a route in vain
    DROPS_RANDOM = 20  # lost to residual errors
    ACKS_SENT = 21
    ACK_DROPS = 22  # all causes
    IN_FLIGHT = 23  # data segments on the way, or waiting for a route, at the end
    FIRST_RX = 24  # first arrival of data [ns] or NEVER
    LAST_RX = 25
    COMPLETED = 26  # arrival of the last missing segment of a finite transfer [ns] or NEVER
    FINISHED = 27  # its acknowledgement is back [ns] or NEVER
    HOPS = 28  # hops of the data segments that reached the sink's node, summed
    ARRIVED = 29  # data segments that reached the sink's node
    # Routing.
    BREAKS = 30  # links that the MAC gave up
    FALSE_BREAKS = 31  # of those, links that were there
    DISCOVERIES = 32  # route requests originated
    ROUTING_FRAMES = 33  # requests, replies and errors put on the air
    ROUTE_ERRORS = 34  # originated
    SALVAGED = 35  # packets sent on another route by the node that found the link broken
    SHORTENED = 36  # gratuitous replies: a later node of a route heard the packet itself
    WAITED = 37  # time during which the source had packets and no route [ns]
    # The network.
    CONNECTED = 38  # time with a path between source and sink [us]
    SPLIT = 39  # time during which some node is out of reach of the source [us]
    HOPS_1 = 40  # time with a shortest path of one hop [us]
    HOPS_2 = 41
    HOPS_3 = 42
    HOPS_4 = 43
    HOPS_5 = 44  # or more
    HOPS_SHORTEST = 45  # hops of the shortest path, integrated [hop us]
    HOPS_KEPT = 46  # hops of a route that is kept until it breaks, integrated [hop us]
    KEPT_BREAKS = 47  # breaks of such routes
    KEPT_LIFE = 48  # life of the routes that broke, summed [us]
    OUTAGES = 49  # times without a path that began and ended in the run
    OUTAGE_TIME = 50  # their length, summed [us]
    LINK_CHANGES = 51  # links that came or went
    LINK_TIME = 52  # number of links, integrated [link us]
    COLUMNS = 53


class NodeOut(IntEnum):
    """Outcomes of a node.  It is idle for the rest of the time."""

    TRANSMIT = 0  # [ns]
    RECEIVE = 1  # frames for it [ns]
    OVERHEAR = 2  # frames for others that it senses [ns]
    SENT = 3  # frames put on the air
    FAILED = 4  # of those, without an answer
    FORWARDED = 5  # packets of others passed on
    DROPS = 6  # packets that found its queue full
    COLUMNS = 7


# Random streams (fourth part of the stream address).
STREAM_BACKOFF = 1 << 20  # + node; draw k: its k-th backoff
STREAM_FRAME = 1 << 21  # + node; draw k: gap to the k-th frame that its radio loses
STREAM_RESIDUAL = 1 << 22  # + 0: data at the sink, 1, 2: without data at source, sink; draw k: gap
STREAM_MOTION = 1 << 23  # see `motion.stream`; draw 0: where a node starts, then leg by leg
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
