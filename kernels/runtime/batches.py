"""Order and size of launches: the costliest rows first, on a device as many as take about a second.

Threads of a warp run side by side, and a block frees its place when its last row is done. So rows of similar
cost are launched together, and the longest first. Outcomes do not depend on it.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.rows import AnyRows, take

LAUNCH_S = 1.0
"""Target duration of a launch [s], estimated from earlier ones.

A launch cannot be interrupted, and a device with a display aborts one that takes several seconds.
"""

LARGEST = 1 << 20
"""Maximum number of rows of a launch: a dozen for each thread that a large device runs at once."""


def costs(model: Any, rows: AnyRows) -> NDArray[np.float64]:
    """Return the relative cost of each row, float64[n].

    A few rows are processed at a time, so that temporary arrays stay in the processor's cache.
    """
    n, step = len(rows.parameters), 1 << 13
    parts = [take(rows, slice(lo, lo + step)) for lo in range(0, n, step)]
    return np.concatenate([model.cost(part) for part in parts])


class BatchSize:
    """Number of rows that one device takes at a time."""

    def __init__(self, fewest: int) -> None:
        """Start with `fewest` rows, which run at once: a launch of fewer would take as long."""
        self.fewest = self.rows = fewest
        self.room = LARGEST
        """Maximum number of rows that fit in memory."""
        self.cost = 0.0

    def learn(self, rows: int, cost: float, seconds: float) -> None:
        """Update the size after a launch of `rows` rows with this total cost and duration [s]."""
        self.cost = cost * LAUNCH_S / max(seconds, 1e-9)
        self.rows = max(2 * rows, self.fewest)  # at most twice as many, as costs are estimates


class Batch(NamedTuple):
    """Rows of a launch, in order of cost."""

    lo: int
    hi: int
    rows: NDArray[np.int64]
    """Numbers of the rows."""
    cost: float


class Batches:
    """Deals rows with these costs, float64[n], to the threads that drive devices."""

    def __init__(self, cost: NDArray[np.float64]) -> None:
        cost = np.clip(np.nan_to_num(cost), 1.0, 1e18)
        self._order = np.argsort(-cost, kind="stable")
        self._before = np.concatenate([[0.0], np.cumsum(cost[self._order])])
        self._left = [(0, len(cost))]
        self._lock = threading.Lock()

    def take(self, batch_size: BatchSize) -> Batch | None:
        """Return the next rows for a device; None if none are left."""
        with self._lock:
            lo, end = self._left.pop() if self._left else (0, 0)
            if lo == end:
                return None
            hi = int(np.searchsorted(self._before, self._before[lo] + batch_size.cost, side="right")) - 1
            hi = max(
                lo + 1, min(max(hi, lo + batch_size.fewest), lo + batch_size.rows, lo + batch_size.room, end)
            )
            if hi < end:
                self._left.append((hi, end))
            return Batch(lo, hi, self._order[lo:hi], float(self._before[hi] - self._before[lo]))

    def put_back(self, batch: Batch) -> None:
        """Put back a batch for which there was no room."""
        with self._lock:
            self._left.append((batch.lo, batch.hi))
