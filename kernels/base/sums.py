"""Sums that outgrow a word: in ten days of samples or of waiting packets, nanoseconds pass 2**63."""

from collections.abc import Callable
from typing import Any

import numpy as np

_MOST = (1 << 63) - 1


def make_add(dev: Callable[[Any], Any]) -> Any:
    """Compile `add(m, low, high, amount)`: word `low` of `m` plus 2**63 times word `high` grows by `amount`.

    Amounts are not negative.
    """

    def add(m: Any, low: Any, high: Any, amount: Any) -> None:
        room = np.int64(_MOST) - amount
        if m[low] > room:
            m[low] -= room + 1
            m[high] += 1
        else:
            m[low] += amount

    return dev(add)


def make_add_times(dev: Callable[[Any], Any]) -> Any:
    """Compile `add_times(m, low, high, count, amount)`: `add`, so many times."""
    add = make_add(dev)

    def add_times(m: Any, low: Any, high: Any, count: Any, amount: Any) -> None:
        at_once = np.int64(_MOST) // max(amount, np.int64(1))
        while count > 0:
            add(m, low, high, min(count, at_once) * amount)
            count -= at_once

    return dev(add_times)
