"""Sums that outgrow a word: in ten days of samples or of waiting packets, nanoseconds pass 2**63."""

from typing import Any

import numpy as np

_MOST = (1 << 63) - 1


def add(m: Any, low: Any, high: Any, amount: Any) -> None:
    """Word `low` of `m` plus 2**63 times word `high` grows by `amount`, which is not negative."""
    room = np.int64(_MOST) - amount
    if m[low] > room:
        m[low] -= room + 1
        m[high] += 1
    else:
        m[low] += amount


def add_times(m: Any, low: Any, high: Any, count: Any, amount: Any) -> None:
    """`add`, so many times."""
    at_once = np.int64(_MOST) // max(amount, np.int64(1))
    while count > 0:
        add(m, low, high, min(count, at_once) * amount)
        count -= at_once
