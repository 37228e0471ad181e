"""Circular bitmaps in words of scratch."""

from typing import Any

import numpy as np

_ONE = np.int64(1)


def test(m: Any, at: Any, mask: Any, i: Any) -> Any:
    """Whether bit `i` is set in the circular bitmap of `mask + 1` bits at word `at` of scratch."""
    place = i & mask
    return (m[at + (place >> 6)] >> np.int64(place & 63)) & _ONE != 0


def put(m: Any, at: Any, mask: Any, i: Any) -> None:
    """Set bit `i` of such a bitmap."""
    place = i & mask
    m[at + (place >> 6)] |= _ONE << np.int64(place & 63)


def drop(m: Any, at: Any, mask: Any, i: Any) -> None:
    """Clear bit `i` of such a bitmap."""
    place = i & mask
    m[at + (place >> 6)] &= ~(_ONE << np.int64(place & 63))
