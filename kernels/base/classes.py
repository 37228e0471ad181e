"""Outcomes of a class of flows that arrive and depart: counts, and histograms by flow size."""

from enum import IntEnum

from netcarlo.kernels.base.histogram import bins

SMALL = 10_000
"""Upper limit of the smallest size class [byte]; each further class reaches ten times as far."""
SIZES = 4
"""Number of size classes; the last one is unbounded."""

TIME_SHIFT = 10
"""Binary logarithm of the unit of completion times [ns]."""
SLOWDOWN_BITS = 5
"""Fraction bits of the slowdowns in histograms."""
MEAN_BITS = 10
"""Fraction bits of the sum of slowdowns."""


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
    SHORT = 7  # bytes by which last packets are shorter, of flows acknowledged in full
    SIZE = 8  # the columns of SizeOut, by size
    COLUMNS = SIZE + SIZES * SizeOut.COLUMNS
