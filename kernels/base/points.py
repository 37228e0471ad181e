"""Numbers of any distribution by points of its inverse distribution function, with integers alone.

From word `at` of an array on, there are the number of points, and for each its probability times 2**32 and
its value, both integers. Probabilities increase from 0 to 2**32. The function is linear between points; two
points with the same probability are a jump.
"""

from typing import Any

import numpy as np

SHARE_BITS = 20
"""Bits of resolution between two points; values must be below 2**42."""


def value(points: Any, at: Any, word: Any) -> Any:
    """Return the value at which the distribution function is `word` / 2**32."""
    low, high = np.int64(0), np.int64(points[at]) - 1
    while high - low > 1:
        middle = (low + high) >> np.int64(1)
        if np.int64(points[at + 1 + 2 * middle]) <= word:
            low = middle
        else:
            high = middle
    below, least = np.int64(points[at + 1 + 2 * low]), np.int64(points[at + 2 + 2 * low])
    above, most = np.int64(points[at + 1 + 2 * high]), np.int64(points[at + 2 + 2 * high])
    share = ((word - below) << np.int64(SHARE_BITS)) // (above - below)
    return least + ((most - least) * share >> np.int64(SHARE_BITS))
