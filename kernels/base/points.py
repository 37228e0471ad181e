"""Numbers of any distribution, by points of its inverse distribution function and integers alone.

From word `at` of an array on there stand the number of points, and for each its probability times 2**32 and
its value, both whole.  Probabilities rise from 0 to 2**32 and the function is linear between points; where
two have the same probability it jumps.
"""

from typing import Any

import numpy as np

SHARE_BITS = 20
"""Resolution between two points; values lie below 2**42."""


def value(points: Any, at: Any, word: Any) -> Any:
    """The value where the distribution function is `word` / 2**32."""
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
