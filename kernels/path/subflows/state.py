"""Words of scratch of the engine of MPTCP, which follow those of the connection."""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.base.layout import MPTCP_PATHS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.mptcp.state import STATE_WORDS

LANES = 2 * MPTCP_PATHS
"""Paths in either direction: lane `path` carries data, lane MPTCP_PATHS + `path` acknowledgements."""


class Word(IntEnum):
    """Words of the engine."""

    NEXT_SAMPLE = STATE_WORDS
    """Time of the next sample [ns]."""
    FIRST_OUTAGE = auto()
    """Start of the first outage of the first path [ns]."""
    TRACED = auto()
    """Rows of the trace."""
    SENT = auto()
    """Packets that were sent, on all lanes."""
    LATEST = auto()
    """First word of the state of delays, which is not used."""


LANE = int(Word.LATEST) + 1
"""First word of the first lane."""


class Lane(IntEnum):
    """Words of a lane: a ring of packets in flight, in order."""

    BEGIN = 0
    """Word at which the ring begins."""
    HEAD = 1
    """Number of the first packet in flight."""
    TAIL = 2
    """Number of the next packet."""
    SIZE = 3
    """Words of a lane."""


class Entry(IntEnum):
    """Words of a packet in flight."""

    ARRIVES = 0
    """Time of its arrival [ns]."""
    NUMBER = 1
    """Packet, or id of the acknowledgement."""
    SENT = 2
    """Time at which it was sent [ns]."""
    ORDER = 3
    """Number among all packets sent."""
    SIZE = 4
    """Words of an entry."""


HOPS = LANE + LANES * Lane.SIZE
"""First word of the state of the hops."""


def lane_at(lane: Any) -> Any:
    """Return the word at which a lane begins."""
    return LANE + Lane.SIZE * lane


def entry_at(p: Any, m: Any, lane: Any, number: Any) -> Any:
    """Return the word at which a packet in flight begins."""
    return m[lane_at(lane) + Lane.BEGIN] + Entry.SIZE * (number & (p[RowP.RING] - 1))
