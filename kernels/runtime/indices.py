"""Array indices without support for negative values, for both of Numba's compilers.

By default negative indices count from the end, which no model uses, and there is no option. Engines, which
mostly read and write scratch, are a third faster without. These functions replace `fix_integer_index` and
`fix_slice`.
"""

from typing import Any

from numba.core import types


def cast(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """Return an index as a machine word."""
    return context.cast(builder, index, kind, types.intp)


def clip(builder: Any, view: Any, size: Any) -> None:
    """Clip the end of a slice to the end of the array."""
    view.stop = builder.select(builder.icmp_signed("<", view.stop, size), view.stop, size)
