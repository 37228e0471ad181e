"""Which rows are taken next: the costliest that are left, on a device as many as take about a second.

The threads of a warp run side by side, and a block makes room when its last row is done: so rows of about the
same cost go together, and the longest ones begin first.  Outcomes depend on none of this.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.rows import AnyRows, take

LAUNCH_S = 1.0
"""A launch is given rows for this time, by how long earlier ones took: it cannot be interrupted, and a device
with a display stops one that takes some seconds."""

LARGEST = 1 << 20
"""Rows of a launch: a dozen for each of the threads that a large device runs at once."""


def costs(model: Any, rows: AnyRows) -> NDArray[np.float64]:
    """What each row costs beside the others, float64[n]: of a few at a time, whose temporary arrays stay in
    the processor's cache."""
    n, step = len(rows.parameters), 1 << 13
    parts = [take(rows, slice(lo, lo + step)) for lo in range(0, n, step)]
    return np.concatenate([model.cost(part) for part in parts])


class BatchSize:
    """How many rows one device takes at a time."""

    def __init__(self, fewest: int) -> None:
        """`fewest` rows run at once: a launch of fewer would last as long, and the first one has no more."""
        self.fewest = self.rows = fewest
        self.room = LARGEST
        """What has room in memory."""
        self.cost = 0.0

    def learn(self, rows: int, cost: float, seconds: float) -> None:
        """A launch of so many rows, of this cost in all, took so long."""
        self.cost = cost * LAUNCH_S / max(seconds, 1e-9)
        self.rows = max(2 * rows, self.fewest)  # not more than twice as many: costs are estimates


class Batch(NamedTuple):
    """Some of the rows, in order of cost."""

    lo: int
    hi: int
    rows: NDArray[np.int64]
    """Their numbers."""
    cost: float


class Batches:
    """Deals out rows of these costs, float64[n], to the threads that drive devices."""

    def __init__(self, cost: NDArray[np.float64]) -> None:
        cost = np.clip(np.nan_to_num(cost), 1.0, 1e18)
        self._order = np.argsort(-cost, kind="stable")
        self._before = np.concatenate([[0.0], np.cumsum(cost[self._order])])
        self._left = [(0, len(cost))]
        self._lock = threading.Lock()

    def take(self, batch_size: BatchSize) -> Batch | None:
        """The next rows for a device; None if none are left."""
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
        """Take back what had no room."""
        with self._lock:
            self._left.append((batch.lo, batch.hi))
