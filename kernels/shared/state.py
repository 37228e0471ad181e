"""The words of scratch in which the shared engine keeps what is going on.

The engine's `m` is int64 scratch: a few fixed words, and a block for each flow and each link with all that
concerns it: nearby words are cheap.  `b` is where the block of a flow or link begins.
"""

from collections.abc import Callable
from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.varying import Varying
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.aqm.state import scratch_words as aqm_words
from netcarlo.kernels.shared.layout import Flow, FlowOut, Link, LinkOut, Shared, SharedRows, of_classes


class Word(IntEnum):
    """The fixed words.  Behind them: the tree of keys, where the block of each flow begins, and the tree of
    arrivals, all as large as the row asks; then the blocks of the links, then those of the flows."""

    STATUS = 0  # STATUS_OK, or why the row ends here: some ring was too small, STATUS_RING_FULL
    CLOCK = 1  # the key of the clock
    LINKS = 2  # where the blocks of the links begin
    BLOCKS = 3  # where the table of the blocks of flows begins, see `block_of`
    ARRIVALS = 4  # where the tree of arrivals begins, see `agenda`
    BITS = 4  # + class of events, see `agenda`: of the number of a flow or link
    FLOW_BITS = 5  # of a flow: that of the first class
    LINK_BITS = 8  # of a link: that of the last class
    CLASSES = auto()  # where the outcomes of classes begin
    DELAYS = auto()  # where those of delays by class do
    HORIZON = auto()  # until then events may be handled ahead of their time, see `lookahead` [ns]
    CONNECTING = auto()  # flows that may still send packets shorter than their data, see `lookahead`
    CATCHING_UP = (
        auto()
    )  # the block of a link for which acknowledgements are taken first, see `lookahead`, or 0
    TREE = auto()  # the keys of events, see `agenda`
    EARLIEST = auto()  # the first of them: node 1 of the tree
    SIZE = TREE  # the rest is as large as the row asks


class Fifo(IntEnum):
    """The words of a FIFO, see `fifo`."""

    HEAD = 0  # entries taken out
    TAIL = 1  # entries put in
    BEGIN = 2  # the word where they lie
    MASK = 3  # one less than there is room for, a power of two
    SIZE = 4


class FlowWord(IntEnum):
    """The block of a flow: behind its columns of `Flow`.  Its ring and association follow."""

    NEXT = int(Flow.COLUMNS)  # it starts, or its next datagram is put out [ns]
    SOURCE_BUSY = auto()  # its source host puts data on the wire until [ns]
    SINK_BUSY = auto()  # its last router puts data on the wire until [ns]
    SINK_BACK_BUSY = auto()  # its sink host puts acknowledgements on the wire until [ns]
    ACCESS_BACK_BUSY = auto()  # its first router puts acknowledgements on the wire until [ns]
    ECHOES_CE = auto()  # 1: the sink echoes congestion
    NEXT_DATAGRAM = auto()  # UDP: the next datagram
    ON_UNTIL = auto()  # UDP: the time of sending ends [ns]
    PERIODS = auto()  # UDP: lengths of periods drawn
    ARRIVING_AFTER_END = auto()  # data packets that arrive after the end
    LOOKAHEAD = auto()  # 1: acknowledgements are taken ahead of their time, see `lookahead`
    SAMPLE = auto()  # the next sample of its sender is due [ns]
    ARRIVED = auto()  # UDP: datagrams at its sink, those of the warm-up included; else 1 from the first on
    # A slot of flows that come and go, see `arrivals`.
    NEXT_ARRIVAL = auto()  # of its source [ns], or FOREVER
    ARRIVALS = auto()  # of its source, so far
    STARTED = auto()  # its flow came [ns], or NEVER
    FLOW_SIZE = auto()  # the size of its flow
    THINK_TIME = auto()  # how long its user will think when that has arrived [ns]
    IN_FLIGHT = auto()  # packets of its flow on their way
    LAST_LEFT = auto()  # the latest of those that are not arrived or was lost [ns]
    DETOUR = auto()  # the detour of data that is not over, see `detours`
    BACK_DETOUR = auto()  # that of acknowledgements
    LATEST = auto()  # words as in `delays.DelayState`
    JITTER = auto()
    OCTAVE = auto()
    TO_LINK = Flow.COLUMNS + 25  # FIFO of data on their way to the first link
    BACK_TO_LINK = TO_LINK + Fifo.SIZE  # FIFO of acknowledgements on their way to the first link
    TO_SOURCE = BACK_TO_LINK + Fifo.SIZE  # FIFO of acknowledgements on their way to the source host
    COUNTS = TO_SOURCE + Fifo.SIZE  # the columns of FlowOut
    ASSOCIATION = COUNTS + FlowOut.COLUMNS


class LinkWord(IntEnum):
    """The block of a link: behind its columns of `Link`."""

    FREE = int(Link.COLUMNS)  # its transmitter is busy until [ns]
    GAP = auto()  # packets before the next lost one
    GAPS = auto()  # gaps drawn so far: this and the one before as in `Countdown`
    # The times at which packets leave the queue: words as in `Fifo`.
    HEAD = auto()  # packets that are known to have left
    TAIL = auto()  # packets that have come
    DEPARTURES = auto()
    MASK = auto()
    RED_COUNT = auto()  # RED: packets since the last one dropped or marked
    DRAWS = auto()  # RED: decisions drawn
    NUMBER = auto()  # of the link
    FEEDER = auto()  # the block of the only link from which packets come, NOWHERE, or MANY, see `lookahead`
    LOOKAHEAD = auto()  # what the feeder takes next is here so long after it is free, or later [ns]
    IS_FIRST_REVERSE = auto()  # 1: it gets nothing but what sinks answer
    PENDING = auto()  # packets in FIFOs that have this link before them
    SERVICE = auto()  # AQM: its transmitter asks for a packet at [ns]; NO_EVENT: it is idle
    DISCIPLINE = auto()  # AQM: where the words of its queues begin, see `aqm.state`
    VARYING = auto()  # where the words of what varies begin, see `varying`; 0: nothing does
    DOWN = auto()  # its next outage begins, or the one that lasts began [ns], see `outages`
    UP = auto()  # its end [ns]
    OUTAGE = auto()  # the pair of the one behind it
    FIFO = Link.COLUMNS + 20  # packets on their way to another link
    COUNTS = FIFO + Fifo.SIZE  # the columns of LinkOut
    SIZE = COUNTS + LinkOut.COLUMNS


def block_of(m: Any, i: Any) -> Any:
    """Where the block of flow `i` begins."""
    return m[m[Word.BLOCKS] + i]


def scratch_words(
    rows: SharedRows, of_association: Callable[[Any, Any], Any], floats: int
) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs.

    Associations need `floats`, and `of_association` words of a window and ring.
    """
    scale = rows.parameters[:, P.RING, None] // 64
    flows = rows.flows
    used = np.arange(flows.shape[1]) < rows.parameters[:, Shared.FLOWS, None]
    least = np.maximum(2 * flows[:, :, P.WINDOW] + 64, 64)
    ring = 1 << np.ceil(np.log2(least)).astype(np.int64)
    ring = np.where(flows[:, :, P.RING] > 0, flows[:, :, P.RING], ring) * scale
    words = np.where(flows[:, :, Flow.KIND] == UDP, 0, of_association(flows[:, :, P.WINDOW], ring))
    per_flow = np.where(used, FlowWord.ASSOCIATION + words + 6 * ring, 0).sum(axis=1)
    used = np.arange(rows.links.shape[1]) < rows.parameters[:, Shared.LINKS, None]
    per_link = LinkWord.SIZE + 3 * rows.links[:, :, Link.ROOM] * scale + aqm_words(rows, scale)
    per_link += (len(Varying) + 1) * (rows.links[:, :, Link.VARIES] > 0)
    per_link = np.where(used, per_link, 0).sum(axis=1)
    count, n_links = rows.parameters[:, Shared.FLOWS], rows.parameters[:, Shared.LINKS]
    trees = 8 * _leaves(np.maximum(count, n_links)) + count
    if rows.parameters[:, Shared.CLASSES].any():
        trees += 2 * _leaves(count)
    most = int((per_flow + per_link + trees).max(initial=0))
    return Word.SIZE + most + of_classes(rows), floats * flows.shape[1] + rows.links.shape[1]


def _leaves(count: Any) -> Any:
    # The power of two that is no less [n].
    return 1 << np.ceil(np.log2(np.maximum(count, 1))).astype(np.int64)
