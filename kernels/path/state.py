"""Words of scratch of a path's engine."""

from collections.abc import Iterable
from enum import IntEnum, auto

from netcarlo.kernels.path import hops
from netcarlo.kernels.path.mobility import access


class Path(IntEnum):
    """Words of scratch of the engine."""

    NEXT_SAMPLE = 0
    """When the next sample is due [ns]."""
    SAMPLES = auto()
    RTT_SAMPLES = auto()
    CWND_SUM = auto()
    """[packet / 1024], in two words each (`sums`)"""
    CWND_SUM_HIGH = auto()
    RTT_SUM = auto()
    """[ns]"""
    RTT_SUM_HIGH = auto()
    DUPLICATES = auto()
    """Data packets that arrived again."""
    FIRST_OUTAGE = auto()
    """Start of the first outage [ns]."""
    LATEST = auto()
    """Words as in `delays.DelayState`."""
    JITTER = auto()
    OCTAVE = auto()
    DELAYS = auto()
    """Where the outcomes of delays begin."""

    # With every packet.
    NEWEST_SENT = auto()
    """When the newest packet received was put out [ns]."""
    LAST_RX = auto()
    """When data arrived last [ns]."""
    RECORD_AFTER = auto()
    """The first arrival after this time is recorded [ns]."""
    OVERFLOW = auto()
    """1: more is on its way than there is room for."""
    ACK_RING = auto()
    """Where the ring of ACKs begins, arrival [ns] and number of each, or the scratch of a sink."""
    ACCESS = auto()
    """The state of the access network begins here."""


ACCESS = int(Path.ACCESS)
ASSOCIATION = ACCESS + access.STATE_WORDS
"""Here that of the association, behind it that of the hops, and behind this the rings of all: what is no ring
has a constant place."""

ENTRY = 2
"""Words of an ACK in the ring."""


def hot_words(of_association: Iterable[tuple[int, int]], words: int) -> tuple[tuple[int, int], ...]:
    """Words of scratch [from, to) that every packet touches: of the engine, those `of_association` among its
    `words`, of the first hop of each direction."""
    begin = ASSOCIATION + words
    return (
        (int(Path.LAST_RX), Path.ACK_RING + 1),
        *((ASSOCIATION + low, ASSOCIATION + high) for low, high in of_association if low < high),
        *((begin + low, begin + high) for low, high in hops.HOT_WORDS),
    )
