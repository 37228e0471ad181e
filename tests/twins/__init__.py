"""A slow, obvious event-by-event simulator: the twin against which the kernels are checked.

It shares nothing with the kernels but the column names of `netcarlo.kernels.base.layout`.  Times are
integer nanoseconds.  `simulate` takes one row and returns the same outcomes as a kernel, bit for bit.
"""

from tests.twins.run import simulate

__all__ = ["simulate"]
