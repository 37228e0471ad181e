"""Words of scratch of a path's engine."""

from collections.abc import Iterable
from enum import IntEnum, auto

from netcarlo.kernels.path import hops
from netcarlo.kernels.path.mobility import access


class Path(IntEnum):
    """Words of scratch of the engine."""

    NEXT_SAMPLE = 0
    """Time of the next sample [ns]."""
    SAMPLES = auto()
    """Number of samples."""
    RTT_SAMPLES = auto()
    """Number of samples after the first RTT measurement."""
    CWND_SUM = auto()
    """Sum of the sampled windows [packets / 1024], low word (`sums`)."""
    CWND_SUM_HIGH = auto()
    """Sum of the sampled windows, high word."""
    RTT_SUM = auto()
    """Sum of the sampled RTTs [ns], low word (`sums`)."""
    RTT_SUM_HIGH = auto()
    """Sum of the sampled RTTs, high word."""
    DUPLICATES = auto()
    """Data packets received again."""
    FIRST_OUTAGE = auto()
    """Start of the first outage [ns]."""
    LATEST = auto()
    """First word of the state of delays (`observers.delays`)."""
    JITTER = auto()
    OCTAVE = auto()
    DELAYS = auto()
    """First word of the outcomes of delays."""

    # Words that every packet accesses.
    NEWEST_SENT = auto()
    """Latest send time of a packet that has been received [ns]."""
    LAST_RX = auto()
    """Time of the latest arrival of data [ns]."""
    RECORD_AFTER = auto()
    """Time after which the first arrival is recorded [ns]."""
    OVERFLOW = auto()
    """1 if more packets are in flight than rings hold."""
    ACK_RING = auto()
    """First word of the ring of ACKs, arrival [ns] and id of each; with UDP the scratch of the receiver."""
    ACCESS = auto()
    """First word of the state of the access network."""


ACCESS = int(Path.ACCESS)
ASSOCIATION = ACCESS + access.STATE_WORDS
"""First word of the association.

The hops follow it, and all rings follow these, so that words outside of rings have constant addresses.
"""

ENTRY = 2
"""Words of an ACK in the ring."""


def hot_words(of_association: Iterable[tuple[int, int]], words: int) -> tuple[tuple[int, int], ...]:
    """Return the ranges of words of scratch [from, to) that every packet accesses.

    They are those of the engine, those `of_association` among its `words`, and those of the first hop of each
    direction.
    """
    begin = ASSOCIATION + words
    return (
        (int(Path.LAST_RX), Path.ACK_RING + 1),
        *((ASSOCIATION + low, ASSOCIATION + high) for low, high in of_association if low < high),
        *((begin + low, begin + high) for low, high in hops.HOT_WORDS),
    )
