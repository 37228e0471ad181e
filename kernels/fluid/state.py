"""Where the fluid model of shared links keeps what in its scratch and float memory.

Packets, bytes and probabilities are whole numbers with ONE_BITS fraction bits, so that sums of flows do
not depend on how a target rounds; expected losses have UNIT_BITS.
"""

from netcarlo.kernels.fluid import window
from netcarlo.kernels.shared.layout import FlowOut, LinkOut

ONE_BITS = 20
ONE = 1 << ONE_BITS
UNIT_BITS = 2 * ONE_BITS
"""Of a packet times a probability."""

# Words of a link.
ARRIVED = 0  # in this step [packet]
ACCEPTED = 1  # of those, not dropped early [packet]
BYTES = 2  # theirs
CAPACITY = 3  # of a step [byte]
BACKLOG = 4  # [byte]
HELD = 5  # [packet]
TAIL = 6  # probability that a full queue drops
EARLY = 7  # that RED drops or marks
MARKING = 8  # 1: it marks
SHARE = 9  # of what comes in goes out
RANDOM = 10  # probability of a loss behind the queue
LINK_COUNTS = 11
LINK_WORDS = LINK_COUNTS + LinkOut.COLUMNS

# Floats of a link.
WAIT = 0  # in the queue [step]
MEAN = 1  # RED's mean queue [packet]
LINK_FLOATS = 2

# Words of a flow.
STATE = 0
UNTIL = 1  # step at which the state ends
HITS = 2  # packets lost in this round trip
HAZARD = 3  # losses that may still be expected before the next
DRAWS = 4
BACKOFF = 5  # of the timer
KIND = 6
SIZE = 7  # on the wire [byte]
ACK = 8  # [byte]
SENT = 9  # [packet]
DROPPED = 10  # by queues, beside the whole ones counted in FlowOut [packet, UNIT_BITS]; so LOST to LOST_ACKS
LOST = 11  # at random [packet, UNIT_BITS]
ROUTE = 12  # where its links begin in scratch
HOPS = 13
BACK_HOPS = 14
LIMIT = 15  # [packet]
ECN = 16
DELAYED = 17  # 1: an ACK for every second packet
MIN_RTO = 18  # [step]
MARK_HAZARD = 19  # as HAZARD, of marks
MARKED = 20  # [packet, UNIT_BITS]
ACKS = 21  # [packet]
LOST_ACKS = 22  # [packet, UNIT_BITS]
RATE = 23  # UDP: packets per step
TOGGLE = 24  # UDP: next change between sending and silence [ns]
PERIOD = 25  # UDP: number of such changes
QUIET = 26  # UDP: 1 in a silence
REPEATED = 27  # arrived for the second time [packet]
TWICE = 28  # will do so next [packet]
FLOW_COUNTS = 29
FLOW_WORDS = FLOW_COUNTS + FlowOut.COLUMNS

# Floats of a flow, behind those of its window.
BASE = window.WORDS  # round trip without queues [step]
ACCESS = window.WORDS + 1  # its access link takes at most so much [packet / step]
FLOW_FLOATS = window.WORDS + 2

# States of a flow.
IDLE = 0  # not yet started
OPEN = 1
HIT = 2  # a packet is lost or marked, and the sender does not know
REPAIR = 3  # fast recovery
SILENCE = 4  # it waits for its timer
DONE = 5

# Random streams (fourth part of the stream address), behind those of the packet engine.
STREAM_LOSS = 1 << 23  # + flow; draw k: expected losses between loss k - 1 and loss k
STREAM_REPAIR = 2 << 23  # + flow; draw k (mod 2**32): whether what repairs a loss seen at k is lost itself
STREAM_MARK = 3 << 23  # + flow; draw k: as STREAM_LOSS, of marks
