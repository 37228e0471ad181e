"""Where an SCTP association keeps its state: words of int64 scratch, named.

The first words are the times of everything that can happen next, in the order in which ties are
resolved; the next event is the earliest of them.  A *way* is a path seen from one end: way
`end * PATHS + path`, so the sender's ways are 0 and 1 and the receiver's 2 and 3.  Both ends keep
the same words for a way, because both probe it with heartbeats; the receiver leaves most unused.
"""

from typing import Any

from netcarlo.kernels.base.layout import FOREVER, PATHS, Out, P, Rows
from netcarlo.kernels.path.hops import scratch_words

OFF = FOREVER
"""The time of an event that is not pending."""

NONE = -1

SENDER = 0
RECEIVER = 1
WAYS = 2 * PATHS

# Events: the word of scratch that holds the time; OFF when not pending.
ARRIVAL = 0  # + way: the oldest packet put out on it arrives at the other end
T1 = 4  # INIT or COOKIE-ECHO unanswered
T3 = 5  # + path: data unacknowledged
DEGRADE = 7  # + path: nothing sent for one RTO
SACK_TIMER = 9  # the receiver holds back an acknowledgement
HEARTBEAT_TIMEOUT = 10  # + way: heartbeat unanswered
HEARTBEAT_TIMER = 14  # + end: time to probe an idle path
EVENTS = 16

# An end, at ENDPOINT + end * ENDPOINT_SIZE.
STATE = 0
PRIMARY = 1  # the way that is primary
CURRENT = 2  # the way that new data takes
ERRORS = 3  # timeouts in a row on all active ways
TIMER_START = 4  # when the heartbeat timer was started [ns]
DRAWS = 5  # heartbeat jitters drawn
ENDPOINT_SIZE = 6
ENDPOINT = EVENTS

# Values of STATE.
CLOSED = 0
COOKIE_WAIT = 1
COOKIE_ECHOED = 2
ESTABLISHED = 3

# A way, at WAY + way * WAY_SIZE.
STATUS = 0
WAY_ERRORS = 1  # timeouts in a row
RTO = 2  # [ns]
SRTT = 3  # [ns], 0 before the first measurement
RTTVAR = 4  # [ns]
RTT = 5  # latest measurement [ns]
IDLE_SINCE = 6  # when new data or a heartbeat was last sent [ns]
CWND = 7  # [byte]
SSTHRESH = 8  # [byte]
PARTIAL = 9  # partial_bytes_acked [byte]
OUTSTANDING = 10  # [byte]
TIMING = 11  # 1 while a chunk measures the RTT
NEWLY = 12  # bytes newly acknowledged by the SACK at hand
FIRST = 13  # first outstanding TSN, NONE before it is known
OLDEST = 14  # ring of packets: the oldest entry
FLYING = 15  # ring of packets: entries on their way
WAITING = 16  # ring of packets: entries after those, to be put out when the event at hand is over
LAST_BYTE_TIME = 17  # of the last hop, as Hop.BYTE_TIME
LAST_DELAY = 18  # of the last hop [ns]
WAY_SIZE = 19
WAY = ENDPOINT + 2 * ENDPOINT_SIZE

# Values of STATUS.
INACTIVE = 0
ACTIVE = 1
UNCONFIRMED = 2

# The sender.
_SENDER = WAY + WAYS * WAY_SIZE
CUM = _SENDER  # cumulative TSN acknowledgement point
LAST_TSN = _SENDER + 1  # highest TSN sent
NEWEST = _SENDER + 2  # highest TSN newly acknowledged
RECOVER = _SENDER + 3  # no second cwnd cut for losses up to this TSN
HIGHEST = _SENDER + 4  # highest outstanding TSN seen at a fast retransmit
PEER_RWND = _SENDER + 5  # [byte]
SEND_NEW = _SENDER + 6  # new data may be sent
BURST_LIMITED = _SENDER + 7  # Max.Burst applies
BURST = _SENDER + 8  # packets of the burst so far
MARKED = _SENDER + 9  # chunks marked for retransmission
TRIES = _SENDER + 10  # INITs and COOKIE-ECHOs repeated
CHUNK = _SENDER + 11  # size of a chunk [byte]
# The receiver.
_RECEIVER = _SENDER + 12
RCV_CUM = _RECEIVER  # all TSNs up to this one have arrived
BLOCKS = _RECEIVER + 1  # gap ack blocks
BUFFERED = _RECEIVER + 2  # chunks beyond RCV_CUM
UNACKED = _RECEIVER + 3  # packets since the last SACK
REPLY_WAY = _RECEIVER + 4  # the way back to where the last packet came from
ACCEPTED = _RECEIVER + 5  # distinct chunks accepted so far
FIRST_OUTAGE = _RECEIVER + 6  # when the first outage of path 0 begins [ns]
# The outcomes, at COUNT + Out.X.
PACKETS = _RECEIVER + 7  # the word where the rings of packets begin
CHUNKS = _RECEIVER + 8  # the word where the ring of chunks begins
PUTS = _RECEIVER + 9  # packets put out so far
COUNT = _RECEIVER + 10
STATE_SIZE = COUNT + len(Out)  # here the state of the hops begins

# A packet: an entry of the ring of its way, at `packet(p, s, way, index)`.
ARRIVES = 0  # [ns]
KIND = 1
SIZE = 2  # on the wire [byte]
NUMBER = 3  # DATA: TSN; SACK: cumulative TSN; heartbeats: when the request was sent [ns]
SENT = 4  # DATA: when it was put out [ns]; SACK: receiver window [byte]
SEEN = 5  # SACK: chunks accepted when it was sent, 0 if it reports no gap
ORDER = 6  # the how-manieth packet of the association
PACKET_SIZE = 7

# Values of KIND.
INIT = 0
INIT_ACK = 1
COOKIE_ECHO = 2
COOKIE_ACK = 3
DATA = 4
SACK = 5
HEARTBEAT = 6
HEARTBEAT_ACK = 7

# Sizes on the wire in ns-2: IPv4 20, SCTP 12, and the chunk (a cookie that carries nothing).
INIT_BYTES = 56
COOKIE_BYTES = 36
HEARTBEAT_BYTES = 56

# A chunk that is not cumulatively acknowledged, at `chunk(p, s, tsn)`.
CHUNK_WAY = 0  # the way it was last sent
MARK = 1
GAP_ACKED = 2
FAST_DONE = 3  # had its fast retransmit
REPORTS = 4  # missing reports
SENDS = 5
TIMED = 6  # sending time if it measures the RTT [ns], else 0
ACCEPT_NUMBER = 7  # it was the how-manieth distinct chunk accepted by the receiver; 0: not yet
IN_PARTIAL = 8  # its gap acknowledgement is in partial_bytes_acked
CHUNK_SIZE = 9

# Values of MARK.
UNMARKED = 0
FAST = 1
TIMED_OUT = 2


def scratch(rows: Rows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    ring = int(rows.parameters[:, P.RING].max(initial=0))
    return scratch_words(rows) + STATE_SIZE + ring * (WAYS * PACKET_SIZE + CHUNK_SIZE), 0


def packet(p: Any, s: Any, way: Any, index: Any) -> Any:
    """Where the entry `index` of a way's ring begins."""
    return s[PACKETS] + (way * p[P.RING] + (index & (p[P.RING] - 1))) * PACKET_SIZE


def chunk(p: Any, s: Any, tsn: Any) -> Any:
    """Where the words of a chunk begin."""
    return s[CHUNKS] + (tsn & (p[P.RING] - 1)) * CHUNK_SIZE
