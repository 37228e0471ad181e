"""Which cells of a sweep come next, and how many of them make a chunk."""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcarlo.sweeps.execution.chunk import Chunk

CHUNK_S = 10.0
"""Seconds that a chunk should take: long beside its overhead, short enough to lose."""

GROWTH = 4
"""A chunk is at most this many times larger than any finished one: costs are known only by measuring."""

LARGEST_CHUNK = 1 << 16
"""Replications of a chunk (of more than one group) unless told: bounds the memory of a worker."""

Cells = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """The cells of a chunk."""

    cells: Cells
    """int64[n], ascending, all missing ones of their groups."""
    suspect: bool = False
    """A single group that was lost once already."""


@dataclass
class Pace:
    """What is known of the cost of groups; a later plan for the like of them goes on with it."""

    largest: int = 0
    """Groups of the largest finished chunk."""
    group_s: float = 0.0


class Plan:
    """Deals out every missing cell once, in chunks of whole groups.

    `missing`, bool[cells]; `replications` of a cell, for a bound on memory; `order`, int64[n]: these
    cells only, in this order; `chunk`: cells of a chunk, instead of as many as take `chunk_s` or have `most`
    replications.
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
        pace: Pace | None = None,
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
        self._pace = pace or Pace()

    def __bool__(self) -> bool:
        """Whether there is something to deal out."""
        return bool(self._again or self._suspects) or self._at < len(self.groups)

    def take(self, in_flight: int, *, alone: bool) -> Task | None:
        """The next chunk of about `in_flight` at once; None if nothing can be started now.

        Suspects come last and each of them `alone`: a worker's death counts against all chunks it held.
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

    def learn(self, cells: Cells, chunk: Chunk) -> None:
        """Note what a chunk cost."""
        n = len(np.unique(cells // self.group))
        group_s = max(chunk.wall_s, 1e-6) / n
        pace = self._pace
        pace.group_s = (pace.group_s + group_s) / 2 if pace.largest else group_s
        pace.largest = max(pace.largest, n)
        self.replications = max(self.replications, -(-chunk.networks // len(cells)))

    def retry(self, task: Task) -> bool:
        """Whether a chunk that was lost will be dealt out again: in halves, or as a suspect."""
        borders = np.flatnonzero(np.diff(task.cells // self.group)) + 1
        if borders.size:
            halves = np.split(task.cells, [borders[borders.size // 2]])
            self._again.extend(Task(half) for half in halves)
        elif not task.suspect:
            self._suspects.append(Task(task.cells, suspect=True))
        return borders.size > 0 or not task.suspect

    def _size(self, in_flight: int) -> int:
        """Groups of the next chunk."""
        if self._fixed:
            return self._fixed
        if not self._pace.largest:
            return 1
        n = min(int(self._chunk_s / self._pace.group_s), GROWTH * self._pace.largest)
        n = min(n, self._most // (self.group * self.replications))
        share = (len(self.groups) - self._at) // in_flight
        return max(1, min(n, max(share, n // 8)))  # smaller ones last, so that all workers end together
