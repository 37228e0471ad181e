"""Sums that exceed a word: ten days of samples or waiting packets add up to more than 2**63 ns."""

from typing import Any

import numpy as np

_MOST = (1 << 63) - 1


def add(m: Any, low: Any, high: Any, amount: Any) -> None:
    """Add a non-negative `amount` to the sum m[low] + 2**63 * m[high]."""
    room = np.int64(_MOST) - amount
    if m[low] > room:
        m[low] -= room + 1
        m[high] += 1
    else:
        m[low] += amount


def add_times(m: Any, low: Any, high: Any, count: Any, amount: Any) -> None:
    """Add a non-negative `amount` `count` times."""
    at_once = np.int64(_MOST) // max(amount, np.int64(1))
    while count > 0:
        add(m, low, high, min(count, at_once) * amount)
        count -= at_once
