"""Memory layout of the fluid of 802.11 networks.

Packets of a flow and their ACKs visit the servers on their route. Servers are nodes or EDCA functions
(numbered from 0), followed by wired legs. Rates are per nanosecond, times in nanoseconds.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.wireless.layout import Radio


class VisitWord(IntEnum):
    """Words of a visit: a flow's packets or ACKs at one server."""

    FLOW = 0
    SERVER = 1
    TO = 2  # node that receives the frame
    BACK = 3  # 1: visit of ACKs
    KIND = 4  # one of SOURCE, RELAY, LEG
    FEEDS = 5  # node that gets another frame to send as soon as this one is received, or NOBODY
    FRAME = 6  # node: size of the data frame [byte]
    AGREEMENT = 7  # EDCA: number of its agreement, or NOBODY
    SIZE = 8


SOURCE, RELAY, LEG = range(3)
"""Kinds of visits: the first radio node of a route, another radio node, a wired leg."""


class VisitFloat(IntEnum):
    """Floats of a visit."""

    RATE = 0  # arrival rate of frames [1 / ns]
    DONE = 1  # share of the arriving frames that is forwarded
    SERVICE = 2  # leg: service time of a packet; node: duration of a successful exchange with the DIFS [ns]
    VAIN = 3  # node: duration of a collision, with the DIFS [ns]
    AIR = 4  # node: duration of the data frame [ns]
    CONTROL = 5  # node: duration of RTS, CTS and ACK [ns]
    NOISE = 6  # node: probability that noise destroys the frame
    COLLISION = 7  # node: probability that an attempt collides
    EXPOSED = 8  # node: time in which hidden nodes can destroy the frame [ns]
    PATIENCE = 9  # node: extra time it needs to detect its collision, compared to other nodes [ns]
    STAY = 10  # sojourn time of a TCP frame at the server [ns]
    FULL = 11  # frames dropped by the full queue after the warm-up [n]
    GIVEN_UP = 12  # frames dropped at the retry limit after the warm-up [n]
    ON_AIR = 13  # airtime of data frames after the warm-up [ns]
    ANSWER = 14  # leg: time to generate an ACK [ns]
    READ = 15  # leg: packets that its application reads at once; 0: no application
    BATCH = 16  # packets that are served together; 1 without EDCA
    WANT = 17  # EDCA: packets that wait when its function gains access
    CUSTOMERS = 18  # EDCA: groups of packets of its flow that are served separately
    SIZE = 19


class ServerFloat(IntEnum):
    """Floats of a server: a node, an EDCA function or a leg."""

    LOAD = 0  # arrival rate of frames [1 / ns]
    SERVICE = 1  # mean service time of a frame [ns]
    BUSY = 2  # utilisation
    QUEUE = 3  # mean number of TCP frames at the server
    OPEN = 4  # utilisation by UDP
    ROOM = 5  # size of the queue [frame]
    CROWD = 6  # factor by which TCP windows would overfill the queue, at least 1
    # Nodes.
    TAU = 7  # probability of an attempt in a slot
    ATTEMPT = 8  # probability of an attempt in a slot of mean length if the node were always backlogged
    SLOT = 9  # mean slot length as the node observes it, its own attempts included [ns]
    TRIES = 10  # attempts per frame
    FAILED = 11  # unanswered attempts per frame
    DROP = 12  # share of the frames dropped at the retry limit
    EXCHANGE = 13  # mean of VisitFloat.SERVICE [ns]
    VAIN = 14  # mean of VisitFloat.VAIN [ns]
    NOISE = 15  # mean of VisitFloat.NOISE
    COLLISION = 16  # mean of VisitFloat.COLLISION
    PATIENCE = 17  # mean of VisitFloat.PATIENCE [ns]
    OCCUPIED = 18  # channel time of the attempts of a frame [ns]
    TRAIN = 19  # channel time of a success, with the frames that follow it at once [ns]
    FRAMES = 20  # frames served after the warm-up [n]
    ATTEMPTS = 21  # attempts after the warm-up [n]
    FAILURES = 22  # unanswered attempts after the warm-up [n]
    GIVEN_UP = 23  # frames dropped at the retry limit after the warm-up [n]
    REFUSED = 24  # frames dropped by the full queue after the warm-up [n]
    FED = 25  # rate of received frames that give the node a frame to send [1 / ns]
    OWN = 26  # share of its frames that it sends from its queue rather than in response to a received one
    CONTENDED = 27  # attempts per frame that may collide
    # EDCA functions.
    CYCLE = 28  # time between two services of an agreement if the function is always backlogged [ns]
    BATCH = 29  # packets per PPDU
    SEVERAL = 30  # PPDUs per access
    REQUEST = 31  # mean duration of a BlockAckReq [ns]
    ANSWERED = 32  # mean duration of a BlockAckReq with its BlockAck [ns]
    REQUESTED = 33  # share of the failures that are followed by a BlockAckReq
    DATA = 34  # share of the attempts that are data
    ACCEPTED = 35  # share of the UDP packets that the queue accepts
    SPLIT = 36  # PPDUs that the end of a TXOP splits, per PPDU
    RECEIVERS = 37  # receivers with packets [n]
    SLOTS = 38  # backoff slots per access
    VARIATION = 39  # squared coefficient of variation of SLOTS
    RELEASED = 40  # receivers that one access serves
    PARENT = 41  # 1 + number of the function whose PPDUs give it something to send; 0: none
    SIZE = 42


class AgreementFloat(IntEnum):
    """Floats of a Block Ack agreement of EDCA."""

    PACKETS = 0  # packet rate [1 / ns]
    BYTES = 1  # rate of A-MPDU subframes [byte / ns]
    MPDUS = 2  # MPDU rate [1 / ns]
    MOST = 3  # PPDU rate of the flow that needs most [1 / ns]
    SUM = 4  # PPDU rate if flows do not share PPDUs [1 / ns]
    WANTED = 5  # packets that wait when the agreement is served
    PPDUS = 6  # PPDU rate [1 / ns]
    COUNT = 7  # MPDUs per PPDU
    AIR = 8  # duration of a PPDU [ns]
    EXCHANGE = 9  # duration of a successful exchange [ns]
    FIRST = 10  # duration of its first frame [ns]
    SINGLE = 11  # share of the PPDUs after whose failure no BlockAckReq is sent
    REQUEST = 12  # duration of a BlockAckReq [ns]
    BLOCK_ACK = 13  # duration of a BlockAck [ns]
    FIXED = 14  # duration of an exchange without its MPDUs [ns]
    SIZE = 15


class FlowFloat(IntEnum):
    """Floats of a flow."""

    RATE = 0  # sending rate of data packets [1 / ns]
    THROUGH = 1  # share of the data packets that is delivered
    PER_ACK = 2  # data packets per ACK
    TRIP = 3  # TCP: round-trip delay outside the servers [ns]
    OFFERED = 4  # packets sent after the warm-up [n]
    ARRIVED = 5  # packets delivered after the warm-up [n]
    TOTAL = 6  # packets delivered since the start [n]
    ACKS = 7  # ACKs sent after the warm-up [n]
    LOSS = 8  # share of the packets lost by the channel
    WINDOW = 9  # packets in flight if queues were long enough
    SIZE = 10


class FlowWord(IntEnum):
    """Words of a flow."""

    FIRST = 0  # number of its first visit
    ACTIVE = 1  # 1: the flow sends in this step
    COMPLETED = 2  # completion time [ns], or NEVER
    SIZE = 3


def radios(p: Any) -> Any:
    """Return the number of servers of the radio medium: EDCA functions, or nodes."""
    return p[Radio.FUNCTIONS] if p[Radio.FUNCTIONS] > 0 else p[Radio.NODES]


def words_of_flow(flow: Any) -> Any:
    """Return the first word of a flow."""
    return flow * FlowWord.SIZE


def words_of_visit(p: Any, visit: Any) -> Any:
    """Return the first word of a visit; `p` are the columns of `Radio`."""
    return p[Radio.FLOWS] * FlowWord.SIZE + visit * VisitWord.SIZE


def server(server: Any) -> Any:
    """Return the first float of a server."""
    return server * ServerFloat.SIZE


def floats_of_flow(p: Any, flow: Any) -> Any:
    """Return the first float of a flow."""
    return (radios(p) + p[Radio.LEGS]) * ServerFloat.SIZE + flow * FlowFloat.SIZE


def floats_of_visit(p: Any, visit: Any) -> Any:
    """Return the first float of a visit."""
    return floats_of_flow(p, p[Radio.FLOWS]) + visit * VisitFloat.SIZE


def order(p: Any, visits: Any) -> Any:
    """Return the first word of the list of nodes or functions, sorted by the duration of their collisions."""
    return words_of_visit(p, visits)


def fed(p: Any, visits: Any, node: Any) -> Any:
    """Return the word with the mask of nodes from which a node receives frames or to which it sends
    frames."""
    return order(p, visits) + radios(p) + node


def agreement(p: Any, visits: Any, number: Any) -> Any:
    """Return the first float of an agreement."""
    return floats_of_visit(p, visits) + number * AgreementFloat.SIZE


def apart(p: Any, visits: Any) -> Any:
    """Return the first float of the matrix of functions: how often two contend at once, relative to
    independent ones."""
    return agreement(p, visits, p[Radio.AGREEMENTS])
