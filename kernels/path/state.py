"""Words of scratch of a path's engine."""

from enum import IntEnum, auto

from netcarlo.kernels.path.mobility import access


class Path(IntEnum):
    """Words of scratch of the engine."""

    SAMPLE = 0
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
    LAST_RX = auto()
    """When data arrived last [ns]."""
    NEWEST = auto()
    """When the newest packet received was put out [ns]."""
    OUTAGE = auto()
    """Start of the first outage [ns]."""
    WATCH = auto()
    """The first arrival after this time is recorded [ns]."""
    FULL = auto()
    """1: more is on its way than there is room for."""
    RING = auto()
    """Where the ring of ACKs begins: arrival [ns] and number of each;"""
    ASSOCIATION = auto()
    """and the scratch of the association, or of the sink of datagrams."""
    ACCESS = auto()
    """The state of the access network begins here."""


ACCESS = int(Path.ACCESS)
HOPS = ACCESS + access.STATE_WORDS
"""Here that of the hops."""

ENTRY = 2
"""Words of an ACK in the ring."""
