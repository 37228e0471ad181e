"""Memory layout of the fluid of 802.11 networks.

Packets of a flow and their ACKs visit servers on their route: nodes or EDCA functions (numbered from 0), and
behind those, wired legs. Rates are per nanosecond, times in nanoseconds.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.wireless.layout import Radio


class VisitWord(IntEnum):
    """Words of a visit."""

    FLOW = 0
    SERVER = 1
    TO = 2  # the node that receives the frame
    BACK = 3  # 1: of an acknowledgement
    KIND = 4  # one of SOURCE, RELAY, LEG
    FEEDS = 5  # the node that has another frame to send as soon as this one arrives, or NOBODY
    FRAME = 6  # node: bytes of its data frame
    AGREEMENT = 7  # EDCA: its agreement, or NOBODY
    SIZE = 8


SOURCE, RELAY, LEG = range(3)
"""Kinds of visits: the first radio node of a route, another radio node, a wired leg."""


class VisitFloat(IntEnum):
    """Floats of a visit."""

    RATE = 0  # arriving frames
    DONE = 1  # share of them that is forwarded
    SERVICE = 2  # leg: of a packet; node: its exchange if it succeeds, with the DIFS
    VAIN = 3  # node: duration of a collision, with the DIFS
    AIR = 4  # node: its data frame on the air
    CONTROL = 5  # node: RTS, CTS and ACK
    NOISE = 6  # node: probability that noise destroys it
    COLLISION = 7  # node: probability that an attempt collides
    EXPOSED = 8  # node: time in which hidden nodes can destroy it
    PATIENCE = 9  # node: how much later than the others it notices a collision
    STAY = 10  # time that a frame of TCP spends there
    FULL = 11  # frames that found no room after the warm-up
    GIVEN_UP = 12  # that were given up after too many attempts
    ON_AIR = 13  # time of data frames on the air
    ANSWER = 14  # leg: to make an acknowledgement
    READ = 15  # leg: packets that its application reads at once; 0: it does not read
    BATCH = 16  # packets that are served together; 1 without EDCA
    WANT = 17  # EDCA: packets that wait when its function gains access
    CUSTOMERS = 18  # EDCA: groups of packets of its flow that are served apart
    SIZE = 19


class ServerFloat(IntEnum):
    """Floats of a server: a node or a leg."""

    LOAD = 0  # arriving frames
    SERVICE = 1  # time for one
    BUSY = 2  # share of the time
    QUEUE = 3  # frames of TCP in it
    OPEN = 4  # share of the time that UDP occupies it
    ROOM = 5  # frames
    CROWD = 6  # by how much too many frames TCP would have in it, at least 1
    # Nodes.
    TAU = 7  # probability to attempt in a slot
    ATTEMPT = 8  # probability to attempt if it always had a frame, in slots of the mean length
    SLOT = 9  # mean length of a slot as it sees them, its own attempts included
    TRIES = 10  # attempts of a frame
    FAILED = 11  # attempts of a frame without an answer
    DROP = 12  # frames that it gives up
    EXCHANGE = 13  # mean of VisitFloat.SERVICE
    VAIN = 14  # mean of VisitFloat.VAIN
    NOISE = 15
    COLLISION = 16
    PATIENCE = 17  # mean of VisitFloat.PATIENCE
    OCCUPIED = 18  # time that attempts of a frame occupy the channel
    TRAIN = 19  # time of a success, with frames that follow it at once
    FRAMES = 20  # taken after the warm-up
    ATTEMPTS = 21
    FAILURES = 22
    GIVEN_UP = 23
    REFUSED = 24
    FED = 25  # frames that bring it one to send
    OWN = 26  # frames that it sends because it had them, not because one came
    CONTENDED = 27  # attempts of a frame that others may disturb
    # EDCA functions.
    CYCLE = 28  # between two services of an agreement if the function always has packets
    BATCH = 29  # packets of a PPDU
    SEVERAL = 30  # PPDUs of an access
    REQUEST = 31  # mean duration of a BlockAckReq
    ANSWERED = 32  # the same, with its BlockAck
    REQUESTED = 33  # share of the failures that are followed by a BlockAckReq
    DATA = 34  # share of the attempts that are data
    ACCEPTED = 35  # share of the packets of UDP that find room
    SPLIT = 36  # PPDUs that the end of a TXOP splits, per PPDU
    RECEIVERS = 37
    SLOTS = 38  # of an access
    VARIATION = 39  # squared coefficient of variation of these
    RELEASED = 40  # receivers that one access serves
    PARENT = 41  # 1 + the function whose PPDUs give it something to send; 0: none
    SIZE = 42


class AgreementFloat(IntEnum):
    """Floats of an agreement of EDCA."""

    PACKETS = 0  # per time
    BYTES = 1  # of subframes of A-MPDUs per time
    MPDUS = 2  # per time
    MOST = 3  # PPDUs per time of the flow that needs most
    SUM = 4  # PPDUs per time if flows do not share them
    WANTED = 5  # packets that wait when it is served
    PPDUS = 6  # per time
    COUNT = 7  # MPDUs of a PPDU
    AIR = 8  # duration of a PPDU
    EXCHANGE = 9  # duration of an exchange that succeeds
    FIRST = 10  # duration of its first frame
    SINGLE = 11  # share of PPDUs after whose failure no BlockAckReq is sent
    REQUEST = 12  # duration of a BlockAckReq
    BLOCK_ACK = 13  # duration of a BlockAck
    FIXED = 14  # time of an exchange without its MPDUs
    SIZE = 15


class FlowFloat(IntEnum):
    """Floats of a flow."""

    RATE = 0  # data packets sent
    THROUGH = 1  # share of them that arrives
    PER_ACK = 2  # data packets for each acknowledgement
    TRIP = 3  # TCP: time that packets need besides servers
    OFFERED = 4  # packets sent after the warm-up
    ARRIVED = 5  # packets that arrived after the warm-up
    TOTAL = 6  # packets that arrived since the start
    ACKS = 7  # acknowledgements sent after the warm-up
    LOSS = 8  # share of packets that is lost by the channel
    WINDOW = 9  # packets in flight, if queues were long enough
    SIZE = 10


class FlowWord(IntEnum):
    """Words of a flow."""

    FIRST = 0  # its first visit
    ACTIVE = 1  # 1: it sends in this step
    COMPLETED = 2  # when it was complete [ns], or NEVER
    SIZE = 3


def radios(p: Any) -> Any:
    """Return the number of servers of the medium: EDCA functions, or nodes."""
    return p[Radio.FUNCTIONS] if p[Radio.FUNCTIONS] > 0 else p[Radio.NODES]


def words_of_flow(flow: Any) -> Any:
    """Return the first word of a flow."""
    return flow * FlowWord.SIZE


def words_of_visit(p: Any, visit: Any) -> Any:
    """Return the first word of a visit; `p`: columns of Radio."""
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
    """Return the word with the mask of nodes that a node receives frames from or sends frames to."""
    return order(p, visits) + radios(p) + node


def agreement(p: Any, visits: Any, number: Any) -> Any:
    """Return the first float of an agreement."""
    return floats_of_visit(p, visits) + number * AgreementFloat.SIZE


def apart(p: Any, visits: Any) -> Any:
    """Return the first float of the matrix of functions: how often two contend at once."""
    return agreement(p, visits, p[Radio.AGREEMENTS])
