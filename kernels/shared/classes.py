"""The outcomes of a class of flows that come and go: counts, and histograms by size of flow."""

from enum import IntEnum

from netcarlo.kernels.base.histogram import bins

SMALL = 10_000
"""Flows are told apart by size: up to so many bytes, up to ten times as many, and so on,"""
SIZES = 4
"""in so many sizes; the last ones are larger."""

TIME_SHIFT = 10
"""Times are counted in 2**10 ns,"""
SLOWDOWN_BITS = 5
"""and slowdowns in 1/32."""
MEAN_BITS = 10
"""Slowdowns are summed up in 1/1024."""


class SizeOut(IntEnum):
    """Outcomes of the flows of a size that started after the warm-up and arrived in full."""

    FLOWS = 0
    TIME = 1  # sum of their completion times [ns]
    SLOWDOWN = 2  # sum of their slowdowns [1 / 1024]
    TIMES = 3  # histogram of completion times, up to 73 min
    SLOWDOWNS = TIMES + bins(27)  # histogram of slowdowns, up to 16,384
    COLUMNS = SLOWDOWNS + bins(14)


class ClassOut(IntEnum):
    """Outcomes of a class, counted from the end of the warm-up."""

    ARRIVALS = 0  # flows that started or found no slot
    BLOCKED = 1  # flows that found no slot
    COMPLETED = 2  # flows that arrived in full, those that started during the warm-up included
    ACTIVE = 3  # flows in progress at the end
    PACKETS = 4  # data packets of COMPLETED
    OFFERED = 5  # payload of ARRIVALS [byte]
    ACTIVE_BEFORE = 6  # flows in progress at the end of the warm-up
    SHORT = 7  # what last packets lack of whole ones, of flows that were acknowledged in full [byte]
    SIZE = 8  # the columns of SizeOut, by size
    COLUMNS = SIZE + SIZES * SizeOut.COLUMNS
