"""Choice of the next event by the keys of all event sources: time, and a tie-break."""

from typing import Any

import numpy as np


def earliest(m: Any, keys: Any, count: Any) -> Any:
    """Return the index of the smallest of `count` keys from word `keys` of scratch on, and that key.

    Of equal keys the first is chosen. For some dozens of keys a scan is fastest, and it needs no state.
    """
    key = m[keys]
    who = np.int64(0)
    for i in range(1, count):
        if m[keys + i] < key:
            key = m[keys + i]
            who = np.int64(i)
    return who, key
