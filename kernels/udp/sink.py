"""Record of the datagrams that a sink has received, which may be duplicated or reordered: a bitmap of the
latest `RowP.RING`.

`begin` is the word of scratch `m` where the record begins.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.bits import clear_bits, set_bit, test_bit
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP


class Sink(IntEnum):
    """Words of the sink; the bitmap follows."""

    HIGHEST = 0
    """Highest datagram that has arrived, or -1."""
    BITS = 1


OLD, TWICE, NEW = -1, 0, 1
"""Results of `arrive`: the datagram is older than the bitmap, a duplicate, or new."""


def scratch_words(ring: Any) -> Any:
    """Return the words of scratch with a bitmap of `ring` datagrams."""
    return int(Sink.BITS) + ring // 64


@noinline
def prepare(m: Any, p: Any, begin: Any) -> Any:
    """Lay out the sink; returns the next free word."""
    m[begin + Sink.HIGHEST] = -1
    free = begin + Sink.BITS + (p[RowP.RING] >> 6)
    for word in range(begin + Sink.BITS, free):
        m[word] = 0
    return free


def arrive(m: Any, p: Any, begin: Any, number: Any) -> Any:
    """Record a datagram that arrives; returns NEW, TWICE or OLD."""
    mask, bits = p[RowP.RING] - 1, begin + Sink.BITS
    highest = m[begin + Sink.HIGHEST]
    if number + mask < highest:
        return np.int64(OLD)
    if number > highest:
        clear_bits(m, bits, mask, max(highest + 1, number - mask), number)
        m[begin + Sink.HIGHEST] = number
    elif test_bit(m, bits, mask, number):
        return np.int64(TWICE)
    set_bit(m, bits, mask, number)
    return np.int64(NEW)
