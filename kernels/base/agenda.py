"""What happens next, by the keys of all that events may come from: times, and what decides at equal ones."""

from typing import Any

import numpy as np


def earliest(m: Any, keys: Any, count: Any) -> Any:
    """Whose key is the least of the `count` keys from word `keys` of scratch on, and that key.

    At equal keys it is the first.  A scan: for some dozens nothing is faster, and nothing has to be kept.
    """
    key = m[keys]
    who = np.int64(0)
    for i in range(1, count):
        if m[keys + i] < key:
            key = m[keys + i]
            who = np.int64(i)
    return who, key
