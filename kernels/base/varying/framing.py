"""Framing: bytes that a link adds to each packet, its least size, and ATM cells with 48 bytes in 53.

It is the arithmetic of `cake_calc_overhead` of Linux (`net/sched/sch_cake.c`) and of `overhead`, `mpu` and
`linklayer atm` of tc-stab(8).
"""

from typing import Any

from netcarlo.kernels.base.varying.table import Head, first, second

CELL = 53
"""Size of an ATM cell [byte]."""
CELL_PAYLOAD = 48
"""Payload of an ATM cell [byte]."""


def framed(table: Any, at: Any, size: Any) -> Any:
    """Return the bytes that a packet of `size` bytes takes on the line; `at` is the first pair of the
    table."""
    size = max(size + first(table, at + Head.FRAMING), second(table, at + Head.FRAMING))
    if first(table, at + Head.CELLS) > 0:
        size = (size + (CELL_PAYLOAD - 1)) // CELL_PAYLOAD * CELL
    return size
