"""Memory layout of the fluid models: int64 scratch and float64 memory.

Packets, bytes and probabilities are fixed-point numbers with ONE_BITS fraction bits, so sums over flows do
not depend on a target's rounding; expected losses have UNIT_BITS.
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
    DROPPING = 1  # 1: in the dropping state
    DROP_NEXT = 2  # [ns]
    COUNT = 3  # drops since entering the dropping state [n]
    LAST_COUNT = 4  # value of COUNT when the dropping state was entered last [n]
    DUE = 5  # drops that are due [n]
    UNTIL_DROP = 6  # arrivals until the next due drop [packet]
    SPACING = 7  # arrivals between two due drops [packet]
    SIZE = 8


class LinkWord(IntEnum):
    """Words of a link, or of one of its queues with FQ-CoDel."""

    ARRIVED = 0  # arrivals in this step [packet]
    ACCEPTED = 1  # arrivals that RED does not drop early [packet]
    BYTES = 2  # bytes of the accepted arrivals [byte]
    CAPACITY = 3  # bytes that the link serves in a step [byte]
    BACKLOG = 4  # bytes waiting in the queue [byte]
    QUEUED = 5  # packets waiting in the queue [packet]
    TAIL = 6  # probability that the full queue drops a packet
    EARLY = 7  # probability that RED drops or marks a packet
    MARKING = 8  # 1: RED marks instead of dropping
    SHARE = 9  # share of the arrivals that the link forwards in a step
    RANDOM = 10  # probability of a random loss after the queue
    DUE = 11  # unserved bytes of packets that will be delivered [byte]
    COUNTS = 12  # the columns of LinkOut
    QUEUES = 12 + LinkOut.COLUMNS  # FQ-CoDel: first word of the first, or next, queue; 0: none
    FLOATS = 13 + LinkOut.COLUMNS  # FQ-CoDel: first float of a queue
    CODEL = 14 + LinkOut.COLUMNS  # the words of CoDel, `Codel`
    SIZE = 14 + LinkOut.COLUMNS + Codel.SIZE


class LinkFloat(IntEnum):
    """Floats of a link, or of one of its queues with FQ-CoDel."""

    WAIT = 0  # queueing delay [step]
    MEAN = 1  # RED's mean queue [packet]
    DUE = 2  # time in which LinkWord.DUE is served [step]
    DUE_BEFORE = 3  # value of DUE at the beginning of the step [step]
    SIZE = 4


class FlowWord(IntEnum):
    """Words of a flow."""

    NUMBER = 0  # number of the flow
    KIND = 1  # number of its sender, see `senders`
    STATE = 2  # one of State
    UNTIL = 3  # when the state ends [step; of a path: ns]
    LOST_IN_ROUND = 4  # packets lost in this round trip [n]
    HAZARD = 5  # expected losses until the next loss
    MARK_HAZARD = 6  # expected marks until the next mark
    DRAWS = 7  # exponential numbers drawn [n]
    BACKOFF = 8  # back-off factor of the timer
    MIN_RTO = 9  # minimum RTO [step; of a path: ns]
    LIMIT = 10  # packets of the transfer [packet]
    DATA = 11  # size of a data packet on the wire [byte]
    ACK = 12  # size of an ACK on the wire [byte]
    DELAYED = 13  # 1: an ACK for every second packet
    ECN = 14  # 1: routers may mark its packets
    ROUTE = 15  # first word of its route: for each link of data, then of ACKs, first word and first float
    HOPS = 16  # number of links on the route of the data
    BACK_HOPS = 17  # number of links on the route of the ACKs
    SENT = 18  # packets sent [packet]
    DUPLICATES_DUE = 19  # packets that will arrive for the second time [packet]
    DUPLICATES = 20  # packets that have arrived for the second time [packet]
    ACKS = 21  # ACKs sent [packet]
    DROPPED = 22  # fraction of a packet dropped by queues; FlowOut counts whole ones [packet, UNIT_BITS]
    LOST = 23  # fraction of a packet lost at random; FlowOut counts whole ones [packet, UNIT_BITS]
    MARKED = 24  # fraction of a marked packet; FlowOut counts whole ones [packet, UNIT_BITS]
    LOST_ACKS = 25  # fraction of a lost ACK; FlowOut counts whole ones [packet, UNIT_BITS]
    RATE = 26  # UDP: sending rate [packet / step]
    TOGGLE = 27  # UDP: next change between on and off [ns]
    PERIOD = 28  # UDP: number of on and off periods
    SILENT = 29  # UDP: 1 in an off period
    RECOVER = 30  # packets until duplicate ACKs can start fast retransmit again [packet]
    SRTT = 31  # as in `tcp.rto` [tick / 8]; words from here to PREVIOUS_RTO are used by a single flow
    RTTVAR = 32  # as in `tcp.rto` [tick / 4]
    RTO = 33  # retransmission timeout [ns]
    PREVIOUS_RTO = 34  # value of RTO before the last measurement [ns]
    OUTCOMES = 35  # first word of the delay outcomes of its class; 0: not measured
    ONE_WAY = 36  # one-way delay of its data without queues [ns]
    REMAINDER = 37  # fraction of a packet not yet counted in delays; of a path: packets counted [packet]
    AFTER_END = 38  # packets delivered after the end of the run [packet]
    COUNTED = 39  # of a path: delivered packets counted by `arrivals` [packet]
    THROUGH = 40  # of shared links: packets of this step that will be delivered [packet]
    AFTER_WARM_UP = 41  # packets sent before the end of the warm-up that arrive after it [packet]
    HITS = 42  # packets that CoDel dropped in this step
    ECHOES = 43  # packets that CoDel marked in this step
    BURST = 43  # of a path: 1 if the next window is sent at once, after a pause (`probing`)
    DEBT = 44  # dropped by CoDel, but not yet subtracted from what the flow sends [packet]
    COUNTS = 45  # the columns of FlowOut
    SIZE = 45 + FlowOut.COLUMNS


class FlowFloat(IntEnum):
    """Floats of a flow; its windows are in packets."""

    CWND = 0  # congestion window [packet]
    SSTHRESH = 1  # slow start threshold [packet]
    RECEIVE_WINDOW = 2  # receive window [packet]
    MIN_RTT = 3  # minimum measured RTT [unit of the RTT]
    W_MAX = 4  # BIC, CUBIC: window at the last loss, or less by fast convergence; 0: no loss yet
    EPOCH = 5  # CUBIC: start of the growth epoch; 0: not started [s / 1024]
    K = 6  # CUBIC: time from the start of the epoch to the plateau [s / 1024]
    ORIGIN = 7  # CUBIC: window at the plateau [packet]
    W_EST = 8  # CUBIC: window that standard TCP would have reached in the epoch [packet]
    ALPHA = 9  # Vegas: fewest own packets in queues [packet]
    BETA = 10  # Vegas: most own packets in queues [packet]
    GAMMA = 11  # Vegas: own packets in queues that end slow start [packet]
    RAW_BANDWIDTH = 12  # Westwood: bandwidth, filtered once [byte / ms]
    BANDWIDTH = 13  # Westwood: bandwidth, filtered twice [byte / ms]
    TICK = 14  # tick of the sender's clock [unit of the RTT]
    BASE = 15  # RTT without queues [step]
    ACCESS = 16  # capacity of its access link [packet / step]
    TIMED = 17  # round trips since the last RTT measurement
    ACKED = 18  # Westwood: packets acknowledged since the last sample of the bandwidth
    SAMPLE_TIME = 19  # Westwood: time since the last sample of the bandwidth [unit of the RTT]
    MS = 20  # a millisecond [unit of the RTT]
    # Today's Linux (`linux`):
    SERVICE = 21  # transmission time of a packet at the slowest link [unit of the RTT]
    ACK_EVERY = 22  # packets for each ACK
    SLOW_START = 23  # value of LinuxP.SLOW_START
    ROUND = 24  # elapsed part of the current round trip
    ROUND_CWND = 25  # window at the start of the round trip [packet]; 0: no round trip has started
    ROUND_RTT = 26  # RTT at the start of the round trip [unit of the RTT]
    LAST_RTT = 27  # ROUND_RTT of the previous round trip; 0: none
    RTT_BEFORE_LAST = 28  # ROUND_RTT of the round trip before the previous one; 0: none
    CSS_ROUND = 29  # HyStart++: rounds of conservative slow start; 0 outside of it
    CSS_RTT = 30  # HyStart++: RTT at the start of conservative slow start [unit of the RTT]
    # BBR (`bbr`):
    PACE = 31  # pacing rate [packet / unit of the RTT]
    MODE = 32  # current mode, one of `Mode`
    MODE_TIME = 33  # time in this mode or phase [unit of the RTT]
    PHASE = 34  # phase of the cycle of bandwidth probing
    AGE = 35  # time since the minimum RTT was measured [unit of the RTT]
    BW = 36  # largest delivery rate in the current half of the filter [packet / unit of the RTT]
    BW_BEFORE = 37  # largest delivery rate in the previous half [packet / unit of the RTT]
    BW_ROUNDS = 38  # round trips in the current half of the filter
    FULL_BW = 39  # bandwidth that must grow by 25 % for STARTUP to continue
    FULL_COUNT = 40  # round trips without that growth
    ALONE = 41  # 1: the flow is alone on its path
    # BBR v3 (`bbr3`):
    SHORT_TERM = 42  # bound of the window after losses, until the next probe [packet]
    LONG_TERM = 43  # bound of the window after losses in probes [packet]
    SINCE_PROBE = 44  # time since the start of the cycle [unit of the RTT]
    SLOPE = 45  # packets by which a probe raises LONG_TERM in its next round trip [packet]
    SINCE_LOSS = 46  # round trips since the last round trip with losses
    SIZE = 47


class State(IntEnum):
    """States of a flow."""

    IDLE = 0  # not yet started
    OPEN = 1  # no loss detected
    LOSS = 2  # a packet is lost or marked, and the sender has not detected it yet
    RECOVERY = 3  # fast recovery
    RTO_WAIT = 4  # waits for the retransmission timer
    DONE = 5  # completed
    PROBE_WAIT = 6  # waits for the ACK of a tail loss probe


def is_waiting(s: Any) -> Any:
    """Return whether a flow sends nothing until its timer expires or its tail loss probe is answered."""
    return s[FlowWord.STATE] == State.RTO_WAIT or s[FlowWord.STATE] == State.PROBE_WAIT


# Random streams (fourth part of the stream address), following those of the packet engine.
STREAM_LOSS = 1 << 23  # + flow; draw k: expected losses between loss k - 1 and loss k
STREAM_REPAIR = 2 << 23  # + flow; draw k (mod 2**32): loss of a retransmission at time k
STREAM_MARK = 3 << 23  # + flow; draw k: as STREAM_LOSS, of marks
STREAM_CODEL = 4 << 23  # + link; draw k: position of the first drop after step k


def words_of_link(link: Any) -> Any:
    """Return the first word of a link in scratch."""
    return link * LinkWord.SIZE


def floats_of_link(link: Any) -> Any:
    """Return the first float of a link in memory."""
    return link * LinkFloat.SIZE


def words_of_flow(p: Any, flow: Any) -> Any:
    """Return the first word of a flow in scratch, after those of the links; `p` are the columns of
    `Shared`."""
    return p[Shared.LINKS] * LinkWord.SIZE + flow * FlowWord.SIZE


def floats_of_flow(p: Any, flow: Any) -> Any:
    """Return the first float of a flow in memory, after those of the links."""
    return p[Shared.LINKS] * LinkFloat.SIZE + flow * FlowFloat.SIZE


def words_on_route(m: Any, s: Any, hop: Any) -> Any:
    """Return the first word of a link on the route of a flow with the words `s`.

    With FQ-CoDel it is the first word of the flow's queue at that link.
    """
    return m[s[FlowWord.ROUTE] + 2 * hop]


def floats_on_route(m: Any, s: Any, hop: Any) -> Any:
    """Return the first float of a link, or of the flow's queue there, on the route of a flow."""
    return m[s[FlowWord.ROUTE] + 2 * hop + 1]
