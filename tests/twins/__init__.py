"""Slow and simple event-by-event simulator: the twin with which the kernels are compared.

It shares nothing with the kernels except the column names of `netcarlo.kernels.base.layout`. Times are
integer nanoseconds. `simulate` takes one row and returns the outcomes of a kernel, bit for bit.
"""

from tests.twins.run import simulate

__all__ = ["simulate"]
