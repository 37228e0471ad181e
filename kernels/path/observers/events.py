"""Events of a path that observers may record (`base.observers`). Here nothing is recorded.

`m` is scratch. An observer has the constants `WORDS`, its words of scratch, and `COLUMNS`, the number of its
outcomes, which follow those of `Out` in the order of the observers.
"""

from typing import Any

import numpy as np


def prepare(m: Any, free: Any) -> Any:
    """Initialise the observer, whose words begin at `free`; return the next free word."""
    return free


def on_enqueued(p: Any, m: Any, at: Any, t: Any, free: Any) -> None:
    """Record a packet that enters a hop, whose words begin at `at`, at time `t`, and leaves its server at
    `free` [ns]."""


def on_delivered(p: Any, m: Any, s: Any, t: Any, packet: Any) -> None:
    """Record new data in a packet of association `s` that arrives at time t [ns]."""


def on_delay(p: Any, m: Any, delay: Any) -> None:
    """Record new data that arrive `delay` [ns] after they were first sent."""


def begin_series(m: Any) -> Any:
    """Return the state of an observer that is kept in registers while `on_delay_in_series` is called."""
    return np.int64(0)


def on_delay_in_series(p: Any, m: Any, series: Any, delay: Any) -> Any:
    """Record new data of the fast path, as `on_delay` does; return the new state of the observer."""
    return series


def end_series(p: Any, m: Any, series: Any) -> None:
    """Store the state of the observer."""


def report(m: Any, out: Any, at: Any) -> Any:
    """Write the outcomes of the observer from column `at` on; return the next column."""
    return at
