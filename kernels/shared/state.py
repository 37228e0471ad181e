"""State of the shared engine: words of int64 scratch `m`.

Scratch consists of a few fixed words, and of one block for each flow and each link with all its state,
because nearby words are cheap to access. `b` is where the block of a flow or link begins.
"""

from collections.abc import Callable
from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.varying import Varying
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.aqm.state import scratch_words as aqm_words
from netcarlo.kernels.shared.layout import Flow, FlowOut, Link, LinkOut, Shared, SharedRows, of_classes


class Word(IntEnum):
    """Fixed words of scratch.

    The tree of keys, the table of the blocks of flows and the tree of arrivals follow, as large as the
    row requires, then the blocks of the links and those of the flows.
    """

    STATUS = 0  # STATUS_OK, or the reason why the row ends: STATUS_RING_FULL if some ring was too small
    CLOCK = 1  # key of the clock event
    LINKS = 2  # first block of a link
    BLOCKS = 3  # table of the blocks of flows, see `block_of`
    ARRIVALS = 4  # tree of arrivals, see `agenda`
    BITS = 4  # bits of the number of a flow or link: the word BITS plus its class of events, see `agenda`
    FLOW_BITS = 5  # bits of the number of a flow: those of the first class
    LINK_BITS = 8  # bits of the number of a link: those of the last class
    # Parts of a packet word, see `packet`.
    HOP_MASK = auto()  # mask of the links passed
    FLOW_SHIFT = auto()  # first bit of the flow
    FLOW_MASK = auto()  # mask of the flow
    NUMBER_SHIFT = auto()  # first bit of the number of the packet
    CLASSES = auto()  # outcomes of classes of flows
    DELAYS = auto()  # delay statistics by class
    HORIZON = auto()  # time until which events may be processed early, see `lookahead` [ns]
    CONNECTING = auto()  # flows that may still send packets shorter than their data, see `lookahead`
    CATCHING_UP = (
        auto()
    )  # block of a link whose acknowledgements are processed first, see `lookahead`; 0: none
    TREE = auto()  # keys of events, see `agenda`
    EARLIEST = auto()  # earliest key: node 1 of the tree
    SIZE = TREE  # number of fixed words; the rest is as large as the row requires


class Fifo(IntEnum):
    """Words of a FIFO, see `fifo`."""

    HEAD = 0  # entries removed
    TAIL = 1  # entries appended
    BEGIN = 2  # word at which the entries begin
    MASK = 3  # entries that there is room for, a power of two, minus 1
    SIZE = 4


class FlowWord(IntEnum):
    """Block of a flow after its columns of `Flow`; its association and rings follow. Its routes are before
    the block, see `link_of`."""

    NEXT = int(Flow.COLUMNS)  # time of its start, or of its next datagram [ns]
    SOURCE_BUSY = auto()  # time until which its source host transmits data [ns]
    SINK_BUSY = auto()  # time until which its last router transmits data [ns]
    SINK_BACK_BUSY = auto()  # time until which its sink host transmits acknowledgements [ns]
    ACCESS_BACK_BUSY = auto()  # time until which its first router transmits acknowledgements [ns]
    ECHOES_CE = auto()  # 1 if the sink echoes congestion
    NEXT_DATAGRAM = auto()  # number of the next datagram (UDP)
    ON_UNTIL = auto()  # end of the on period [ns] (UDP)
    PERIODS = auto()  # lengths of periods drawn (UDP)
    ARRIVING_AFTER_END = auto()  # data packets that arrive after the end
    LOOKAHEAD = auto()  # 1 if acknowledgements are processed early, see `lookahead`
    SAMPLE = auto()  # time of the next sample of its sender [ns]
    ARRIVED = auto()  # UDP: datagrams at its sink, including the warm-up; else 1 from the first data on
    # Slot of flows that arrive and depart, see `arrivals`; up to THINK_TIME as in
    # `base.arrivals.SlotState`.
    NEXT_ARRIVAL = auto()  # next arrival at its source [ns], or FOREVER
    ARRIVALS = auto()  # arrivals at its source so far
    STARTED = auto()  # start of its flow [ns], or NEVER
    FLOW_SIZE = auto()  # size of its flow [byte]
    THINK_TIME = auto()  # think time of its user after the flow has arrived [ns]
    IN_FLIGHT = auto()  # packets of its flow in flight
    LAST_LEFT = auto()  # latest time at which a packet of its flow arrived or was lost [ns]
    DETOUR = auto()  # current or next detour of data, see `detours`
    BACK_DETOUR = auto()  # current or next detour of acknowledgements
    LATEST = auto()  # first of the words of `delays.DelayState`
    JITTER = auto()
    OCTAVE = auto()
    TO_LINK = Flow.COLUMNS + 25  # FIFO of data on their way to the first link
    BACK_TO_LINK = TO_LINK + Fifo.SIZE  # FIFO of acknowledgements on their way to the first link
    TO_SOURCE = BACK_TO_LINK + Fifo.SIZE  # FIFO of acknowledgements on their way to the source host
    COUNTS = TO_SOURCE + Fifo.SIZE  # columns of FlowOut
    ASSOCIATION = COUNTS + FlowOut.COLUMNS


class LinkWord(IntEnum):
    """Block of a link after its columns of `Link`."""

    FREE = int(Link.COLUMNS)  # time until which its transmitter is busy [ns]
    GAP = auto()  # packets before the next lost one
    GAPS = auto()  # gaps drawn so far; GAP and GAPS are as in `Countdown`
    # FIFO of the times at which packets leave the queue: words as in `Fifo`.
    HEAD = auto()  # packets known to have left
    TAIL = auto()  # packets that have arrived
    DEPARTURES = auto()
    MASK = auto()
    RED_COUNT = auto()  # RED: packets since the last one dropped or marked
    DRAWS = auto()  # RED, PIE: decisions drawn
    NUMBER = auto()  # number of the link
    FEEDER = auto()  # block of the only link that feeds this one, or none or several, see `lookahead`
    LOOKAHEAD = auto()  # minimum time from the feeder being idle to the arrival of its next packet here [ns]
    IS_FIRST_REVERSE = auto()  # 1 if it receives only packets that sinks send
    PENDING = auto()  # packets in FIFOs that enter this link next
    SERVICE = auto()  # AQM: time at which its transmitter requests a packet [ns]; NO_EVENT: idle
    DISCIPLINE = auto()  # AQM: first word of its queues, see `aqm.state`
    VARYING = auto()  # first word of its varying state, see `varying`; 0: it does not vary
    DOWN = auto()  # start of its current or next outage [ns], see `outages`
    UP = auto()  # end of its current or next outage [ns]
    OUTAGE = auto()  # pair of the outage after that
    FIFO = Link.COLUMNS + 20  # FIFO of packets on their way to another link
    COUNTS = FIFO + Fifo.SIZE  # columns of LinkOut
    SIZE = COUNTS + LinkOut.COLUMNS


def block_of(m: Any, i: Any) -> Any:
    """Return the word at which the block of flow `i` begins."""
    return m[m[Word.BLOCKS] + i]


def place_of_link(b: Any, hop: Any, backward: Any) -> Any:
    """Return the word with the block of link `hop` of a route of the flow with block `b`: of the data, or, if
    `backward`, of the acknowledgements."""
    return b - 2 * hop - (2 if backward else 1)


def next_place(place: Any) -> Any:
    """Return the word with the block of the next link of a route."""
    return place - 2


def words_of_routes(hops: Any, back_hops: Any) -> Any:
    """Return the words before the block of a flow whose routes have so many links."""
    return 2 * max(hops, back_hops)


def scratch_words(
    rows: SharedRows, of_association: Callable[[Any, Any], Any], floats: int
) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs.

    Each association needs `floats`, and `of_association` words by window and ring.
    """
    scale = rows.parameters[:, RowP.RING, None] // 64
    flows = rows.flows
    used = np.arange(flows.shape[1]) < rows.parameters[:, Shared.FLOWS, None]
    least = np.maximum(2 * flows[:, :, RowP.WINDOW] + 64, 64)
    ring = 1 << np.ceil(np.log2(least)).astype(np.int64)
    ring = np.where(flows[:, :, RowP.RING] > 0, flows[:, :, RowP.RING], ring) * scale
    words = np.where(flows[:, :, Flow.KIND] == UDP, 0, of_association(flows[:, :, RowP.WINDOW], ring))
    words = words + 2 * np.maximum(flows[:, :, Flow.HOPS], flows[:, :, Flow.BACK_HOPS])
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
    """Return the power of two that is no less than a count [n]."""
    return 1 << np.ceil(np.log2(np.maximum(count, 1))).astype(np.int64)
