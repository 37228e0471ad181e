"""Pairs that describe the varying service of a hop, and the words of its state."""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER

FLAT_TABLE: Any = slot("flat_table")
"""True if the table is one-dimensional, False if it has one row per pair."""

STEPS = 1
OPPORTUNITIES = 2


class Head(IntEnum):
    """Pairs before the first entry of a trace."""

    POLICER = 0
    TRACE = auto()
    PERIOD = auto()
    """Period of the trace, and the number of pairs of the jitter."""
    LINE = auto()
    FRAMING = auto()
    CELLS = auto()
    SHAPER = auto()
    PEAK = auto()
    LOSS = auto()


HEAD = len(Head)
"""Number of pairs before the first entry."""

JITTER_BITS = 8
"""Binary logarithm of the number of pairs of quantiles of a jitter."""

STALLED = 1 << 61
"""Departure time of a packet that never leaves [ns]."""

DROPPED = -1


class Varying(IntEnum):
    """Words of scratch of a hop with varying service, in one direction."""

    TABLE = 0
    """Number of the first pair of its table."""
    BUCKET_FULL_AT = auto()
    """Time at which the policer's bucket is full again [ns]."""
    PERIOD_START = auto()
    """Start of the current repetition of the trace [ns]; -1: the position in the trace is unknown."""
    ENTRY = auto()
    """Current entry of the trace."""
    BYTES_LEFT = auto()
    """Bytes that can still leave at this opportunity."""
    LAST_ARRIVAL = auto()
    """Arrival time of the latest packet at the far end [ns]."""
    PACKETS = auto()
    """Number of packets that have left the queue."""
    SHAPER_FULL_AT = auto()
    """Time at which the shaper's bucket is full again [ns]."""
    PEAK_FULL_AT = auto()
    """Time at which the bucket of its peak rate is full again [ns]."""
    CORRELATED = auto()
    """Latest number of the correlated loss [2**-32]."""


WORDS = len(Varying)


def first(table: Any, pair: Any) -> Any:
    """Return the first number of a pair."""
    if FLAT_TABLE:
        return table[2 * pair] - FOREVER
    return table[pair, 0] - FOREVER


def second(table: Any, pair: Any) -> Any:
    """Return the second number of a pair."""
    if FLAT_TABLE:
        return table[2 * pair + 1]
    return table[pair, 1]


@noinline
def prepare(m: Any, v: Any, pair: Any) -> None:
    """Initialise the words from `v` on, of a hop whose table begins with this pair."""
    m[v + Varying.TABLE] = pair
    m[v + Varying.BUCKET_FULL_AT] = 0
    m[v + Varying.PACKETS] = 0
    m[v + Varying.CORRELATED] = 0
    reset(m, v)


@noinline
def reset(m: Any, v: Any) -> None:
    """Empty queue and wire: discard the state of packets in transit.

    The shaper's buckets are full again, as after `tbf_reset` of Linux.
    """
    m[v + Varying.PERIOD_START] = -1
    m[v + Varying.LAST_ARRIVAL] = 0
    m[v + Varying.SHAPER_FULL_AT] = 0
    m[v + Varying.PEAK_FULL_AT] = 0
