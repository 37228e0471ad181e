"""Indices as they are, for both of Numba's compilers.

They would let negative ones count from the end, which no model uses, and have no option for it: the engines
that are mostly reads and writes of scratch are a third faster without.  What is here stands in place of
`fix_integer_index` and `fix_slice`.
"""

from typing import Any

from numba.core import types


def cast(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """An index as a machine word."""
    return context.cast(builder, index, kind, types.intp)


def clip(builder: Any, view: Any, size: Any) -> None:
    """A slice ends where the array does."""
    view.stop = builder.select(builder.icmp_signed("<", view.stop, size), view.stop, size)
