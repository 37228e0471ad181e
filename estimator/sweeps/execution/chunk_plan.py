"""Division of the missing cells of a sweep into chunks, and the order of the chunks."""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcarlo.sweeps.execution.chunk import Chunk

CHUNK_S = 10.0
"""Target duration of a chunk [s]: long compared with its overhead, and a small loss if a worker dies."""

GROWTH = 4
"""Maximum ratio of the size of a chunk to that of the largest finished one, because costs are measured."""

LARGEST_CHUNK = 1 << 16
"""Default maximum number of replications in a chunk of several groups. It bounds the memory of a worker."""

Cells = NDArray[np.int64]
"""Numbers of cells, int64[n]."""


@dataclass(frozen=True)
class Task:
    """Cells of a chunk."""

    cells: Cells
    """All missing cells of some groups, ascending, int64[n]."""
    suspect: bool = False
    """True for a single group whose chunk was lost before."""


@dataclass
class GroupCost:
    """Measured cost of groups. A later plan for similar groups can reuse it."""

    largest: int = 0
    """Number of groups in the largest finished chunk."""
    group_s: float = 0.0
    """Time of a group [s]."""


class ChunkPlan:
    """Queue of all missing cells in chunks of whole groups.

    `missing` is bool[cells]. `replications` of a cell bounds the memory. With `order`, int64[n], only these
    cells are dealt out, in this order. `chunk` fixes the number of cells of a chunk; by default a chunk takes
    `chunk_s` seconds and has at most `most` replications.
    """

    def __init__(
        self,
        missing: NDArray[np.bool_],
        *,
        group: int = 1,
        replications: int = 1,
        order: Cells | None = None,
        chunk: int | None = None,
        chunk_s: float = CHUNK_S,
        most: int = LARGEST_CHUNK,
        group_cost: GroupCost | None = None,
    ) -> None:
        self.group, self.missing, self.replications = group, missing, replications
        if order is not None:
            self.missing = np.zeros_like(missing)
            self.missing[order] = missing[order]
        any_missing = np.logical_or.reduceat(self.missing, np.arange(0, len(missing), group))
        if order is None:
            self.groups = np.flatnonzero(any_missing)
        else:
            groups, first = np.unique(order // group, return_index=True)
            groups = groups[np.argsort(first)]
            self.groups = groups[any_missing[groups]]
        self.cells = int(np.count_nonzero(self.missing))
        self._at = 0
        self._again: deque[Task] = deque()
        self._suspects: deque[Task] = deque()
        self._fixed = None if chunk is None else max(1, chunk // group)
        self._chunk_s, self._most = chunk_s, most
        self._pace = group_cost or GroupCost()

    def __bool__(self) -> bool:
        """Return True if there are further chunks."""
        return bool(self._again or self._suspects) or self._at < len(self.groups)

    def next_task(self, in_flight: int, *, alone: bool) -> Task | None:
        """Return the next chunk, with about `in_flight` chunks at the same time; None if none can be started
        now.

        Suspects come last and run `alone`, because the death of a worker counts for all its chunks.
        """
        if self._again:
            return self._again.popleft()
        if self._at < len(self.groups):
            n = self._size(in_flight)
            groups = self.groups[self._at : self._at + n]
            self._at += n
            cells = (groups[:, None] * self.group + np.arange(self.group)).ravel()
            cells = cells[cells < len(self.missing)]
            return Task(np.sort(cells[self.missing[cells]]))
        return self._suspects.popleft() if self._suspects and alone else None

    def record_cost(self, cells: Cells, chunk: Chunk) -> None:
        """Record the cost of a finished chunk."""
        n = len(np.unique(cells // self.group))
        group_s = max(chunk.wall_s, 1e-6) / n
        group_cost = self._pace
        group_cost.group_s = (group_cost.group_s + group_s) / 2 if group_cost.largest else group_s
        group_cost.largest = max(group_cost.largest, n)
        self.replications = max(self.replications, -(-chunk.networks // len(cells)))

    def retry(self, task: Task) -> bool:
        """Queue a lost chunk again, in halves or as a suspect. Return False if it must be given up."""
        borders = np.flatnonzero(np.diff(task.cells // self.group)) + 1
        if borders.size:
            halves = np.split(task.cells, [borders[borders.size // 2]])
            self._again.extend(Task(half) for half in halves)
        elif not task.suspect:
            self._suspects.append(Task(task.cells, suspect=True))
        return borders.size > 0 or not task.suspect

    def _size(self, in_flight: int) -> int:
        """Return the number of groups in the next chunk."""
        if self._fixed:
            return self._fixed
        if not self._pace.largest:
            return 1
        n = min(int(self._chunk_s / self._pace.group_s), GROWTH * self._pace.largest)
        n = min(n, self._most // (self.group * self.replications))
        share = (len(self.groups) - self._at) // in_flight
        return max(
            1, min(n, max(share, n // 8))
        )  # chunks become smaller, so that all workers finish together
