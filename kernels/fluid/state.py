"""Memory layout of the fluid models: int64 scratch and float64 memory.

Packets, bytes and probabilities are fixed-point numbers with ONE_BITS fraction bits, so sums over flows do
not depend on the rounding of a target; expected losses have UNIT_BITS.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.shared.layout import FlowOut, LinkOut, Shared

ONE_BITS = 20
ONE = 1 << ONE_BITS
UNIT_BITS = 2 * ONE_BITS
"""Fraction bits of a packet times a probability."""

PACKET = 2.0**-ONE_BITS
"""Factor that converts packets with ONE_BITS to floats."""


class Codel(IntEnum):
    """Words of CoDel in a link or a queue; the first five are the variables of RFC 8289, section 5.3."""

    FIRST_ABOVE_TIME = 0  # [ns]; 0: the queueing delay is below the target
    DROPPING = 1
    DROP_NEXT = 2  # [ns]
    COUNT = 3
    LAST_COUNT = 4
    DUE = 5  # drops that are due
    UNTIL_DROP = 6  # arrivals until the next of them [packet]
    SPACING = 7  # arrivals between two of them [packet]
    SIZE = 8


class LinkWord(IntEnum):
    """Words of a link, or of one of its queues with FQ-CoDel."""

    ARRIVED = 0  # packets that arrive in this step [packet]
    ACCEPTED = 1  # arrivals that RED does not drop early [packet]
    BYTES = 2  # bytes of the accepted arrivals [byte]
    CAPACITY = 3  # bytes that the link serves in a step [byte]
    BACKLOG = 4  # waiting in the queue [byte]
    QUEUED = 5  # packets waiting in the queue [packet]
    TAIL = 6  # probability that a full queue drops
    EARLY = 7  # probability that RED drops or marks
    MARKING = 8  # 1: RED marks
    SHARE = 9  # share of the arrivals that the link forwards in a step
    RANDOM = 10  # probability of a loss behind the queue
    DUE = 11  # bytes not yet served of packets that get through to the receivers [byte]
    COUNTS = 12  # the columns of LinkOut
    QUEUES = 12 + LinkOut.COLUMNS  # FQ-CoDel: first word of its first queue; of a queue, of the next; 0: none
    FLOATS = 13 + LinkOut.COLUMNS  # FQ-CoDel: first float of a queue
    CODEL = 14 + LinkOut.COLUMNS  # the words of CoDel, `Codel`
    SIZE = 14 + LinkOut.COLUMNS + Codel.SIZE


class LinkFloat(IntEnum):
    """Floats of a link, or of one of its queues with FQ-CoDel."""

    WAIT = 0  # in the queue [step]
    MEAN = 1  # RED's mean queue [packet]
    DUE = 2  # the time in which DUE is served [step]
    DUE_BEFORE = 3  # value of DUE at the beginning of the step [step]
    SIZE = 4


class FlowWord(IntEnum):
    """Words of a flow."""

    NUMBER = 0
    KIND = 1
    STATE = 2  # one of State
    UNTIL = 3  # when the state ends [step; of a path: ns]
    LOST_IN_ROUND = 4  # packets lost in this round trip
    HAZARD = 5  # losses that may still be expected before the next
    MARK_HAZARD = 6  # marks that may still be expected before the next
    DRAWS = 7  # exponential numbers drawn
    BACKOFF = 8  # factor of the timer
    MIN_RTO = 9  # [step; of a path: ns]
    LIMIT = 10  # [packet]
    DATA = 11  # a data packet on the wire [byte]
    ACK = 12  # an acknowledgement on the wire [byte]
    DELAYED = 13  # 1: an ACK for every second packet
    ECN = 14  # 1: routers may mark its packets
    ROUTE = 15  # where its links begin in scratch, of the data, then of the ACKs: first word and first float
    HOPS = 16  # links on the way of the data
    BACK_HOPS = 17  # on the way of the acknowledgements
    SENT = 18  # [packet]
    DUPLICATES_DUE = 19  # packets that are going to arrive for the second time [packet]
    DUPLICATES = 20  # packets that did [packet]
    ACKS = 21  # [packet]
    DROPPED = 22  # by queues, beside the whole ones counted in FlowOut [packet, UNIT_BITS]
    LOST = 23  # lost at random, beside the whole ones counted in FlowOut [packet, UNIT_BITS]
    MARKED = 24  # marked, beside the whole ones counted in FlowOut [packet, UNIT_BITS]
    LOST_ACKS = 25  # lost ACKs, beside the whole ones counted in FlowOut [packet, UNIT_BITS]
    RATE = 26  # UDP: [packet / step]
    TOGGLE = 27  # UDP: next change between sending and silence [ns]
    PERIOD = 28  # UDP: number of such changes
    SILENT = 29  # UDP: 1 in a silence
    RECOVER = 30  # packets until duplicate ACKs begin a repair again [packet]
    SRTT = 31  # as `tcp.rto` [tick / 8]; words from here to BEFORE are of a flow that is alone
    RTTVAR = 32  # [tick / 4]
    RTO = 33  # the timeout that follows from them [ns]
    PREVIOUS_RTO = 34  # value of RTO before the last measurement [ns]
    OUTCOMES = 35  # where those of its class begin, if its delays are measured
    ONE_WAY = 36  # of its data without queues [ns]
    REMAINDER = (
        37  # of a packet that is not counted among the delays [packet]; of a path: whole ones that are
    )
    AFTER_END = 38  # packets that get through and arrive after the end [packet]
    COUNTED = 39  # of a path: packets that get through, as `arrivals` has counted them
    THROUGH = 40  # of shared links: packets of this step that get through
    AFTER_WARM_UP = 41  # packets sent before the end of the warm-up that arrive after it [packet]
    HITS = 42  # packets that CoDel dropped in this step
    ECHOES = 43  # packets that CoDel marked in this step
    DEBT = 44  # dropped by CoDel, but not yet taken from what the flow sends [packet]
    COUNTS = 45  # the columns of FlowOut
    SIZE = 45 + FlowOut.COLUMNS


class FlowFloat(IntEnum):
    """Floats of a flow; its windows are in packets."""

    CWND = 0
    SSTHRESH = 1
    RECEIVE_WINDOW = 2  # the receiver's window
    MIN_RTT = 3  # smallest measured round trip
    W_MAX = 4  # BIC, CUBIC: window at which packets were lost last, or a little less; 0: not yet
    EPOCH = 5  # CUBIC: when growth began; 0: not yet [s / 1024]
    K = 6  # CUBIC: from then to the plateau [s / 1024]
    ORIGIN = 7  # CUBIC: the window there
    W_EST = 8  # CUBIC: window that standard TCP would have reached since the epoch
    ALPHA = 9  # Vegas: least packets of its own in queues
    BETA = 10  # Vegas: most
    GAMMA = 11  # Vegas: so many end slow start
    RAW_BANDWIDTH = 12  # Westwood: bandwidth, filtered once [byte / ms]
    BANDWIDTH = 13  # Westwood: filtered twice
    TICK = 14  # of the sender's clock [unit of the RTT]
    BASE = 15  # round trip without queues [step]
    ACCESS = 16  # capacity of its access link [packet / step]
    TIMED = 17  # round trips since the last measurement of one
    ACKED = 18  # Westwood: packets acknowledged since the last sample of the bandwidth
    SAMPLE_TIME = 19  # Westwood: time since then [unit of the RTT]
    MS = 20  # a millisecond [unit of the RTT]
    # Today's Linux (`linux`):
    SERVICE = 21  # a packet at the slowest link [unit of the RTT]
    ACK_EVERY = 22  # packets for each ACK
    SLOW_START = 23  # value of LinuxP.SLOW_START
    ROUND = 24  # part of the round trip that has passed
    ROUND_CWND = 25  # window at its beginning; 0: none has begun
    ROUND_RTT = 26  # round trip then [unit of the RTT]
    LAST_RTT = 27  # the same of the round trip before it; 0: none
    RTT_BEFORE_LAST = 28  # and of the one before that
    CSS_ROUND = 29  # HyStart++: rounds of conservative slow start; 0 outside of it
    CSS_RTT = 30  # HyStart++: round trip at its beginning [unit of the RTT]
    # BBR (`bbr`):
    PACE = 31  # pacing rate [packet / unit of the RTT]
    MODE = 32  # one of Mode
    MODE_TIME = 33  # time in this mode, or phase [unit of the RTT]
    PHASE = 34  # of the cycle of bandwidth probing
    AGE = 35  # time since the minimum RTT was measured [unit of the RTT]
    BW = 36  # largest delivery rate of the present half of the filter [packet / unit of the RTT]
    BW_BEFORE = 37  # of the half before it
    BW_ROUNDS = 38  # round trips of the present half
    FULL_BW = 39  # bandwidth that must grow by a quarter for startup to go on
    FULL_COUNT = 40  # round trips in which it did not
    ALONE = 41  # 1: it is alone on its path
    # BBR v3 (`bbr3`):
    SHORT_TERM = 42  # bound of the window since losses, until the next probe [packet]
    LONG_TERM = 43  # bound of the window by the losses of probes [packet]
    SINCE_PROBE = 44  # time since a cycle began [unit of the RTT]
    SLOPE = 45  # packets by which a probe raises LONG_TERM in its next round trip
    SINCE_LOSS = 46  # round trips since the last one with losses
    SIZE = 47


class State(IntEnum):
    """States of a flow."""

    IDLE = 0  # not yet started
    OPEN = 1
    LOSS = 2  # a packet is lost or marked, and the sender does not know
    RECOVERY = 3  # fast recovery
    RTO_WAIT = 4  # it waits for its timer
    DONE = 5
    PROBE_WAIT = 6  # it waits for the answer to a tail loss probe


def is_waiting(s: Any) -> Any:
    """Return whether a flow sends nothing until its timer expires or its tail loss probe is answered."""
    return s[FlowWord.STATE] == State.RTO_WAIT or s[FlowWord.STATE] == State.PROBE_WAIT


# Random streams (fourth part of the stream address), behind those of the packet engine.
STREAM_LOSS = 1 << 23  # + flow; draw k: expected losses between loss k - 1 and loss k
STREAM_REPAIR = 2 << 23  # + flow; draw k (mod 2**32): loss of a retransmission at time k
STREAM_MARK = 3 << 23  # + flow; draw k: as STREAM_LOSS, of marks
STREAM_CODEL = 4 << 23  # + link; draw k: place of the first drop after step k


def words_of_link(link: Any) -> Any:
    """Return the first word of a link in scratch."""
    return link * LinkWord.SIZE


def floats_of_link(link: Any) -> Any:
    """Return the first float of a link in memory."""
    return link * LinkFloat.SIZE


def words_of_flow(p: Any, flow: Any) -> Any:
    """Return the first word of a flow in scratch, behind those of the links; `p`: columns of Shared."""
    return p[Shared.LINKS] * LinkWord.SIZE + flow * FlowWord.SIZE


def floats_of_flow(p: Any, flow: Any) -> Any:
    """Return the first float of a flow in memory, behind those of the links."""
    return p[Shared.LINKS] * LinkFloat.SIZE + flow * FlowFloat.SIZE


def words_on_route(m: Any, s: Any, hop: Any) -> Any:
    """Return the first word of a link on the route of a flow with the words `s`, or of the flow's own queue
    there."""
    return m[s[FlowWord.ROUTE] + 2 * hop]


def floats_on_route(m: Any, s: Any, hop: Any) -> Any:
    """Return its first float."""
    return m[s[FlowWord.ROUTE] + 2 * hop + 1]
