"""The clock, the heap of events, and timers."""

import heapq
from collections.abc import Callable
from enum import IntEnum
from typing import Any


class Rank(IntEnum):
    """Which of several events in the very same nanosecond comes first."""

    SAMPLE = 0  # sees the state before anything of this instant
    LINK_UP = 1
    LINK_DOWN = 2  # spares what arrives now
    ARRIVAL = 3  # packets reach the next hop or the host, the application starts
    RECEIVER_TIMER = 4  # a packet that arrives now comes before the timers
    SENDER_TIMER = 5


class Simulation:
    """Runs actions in the order of their time, then rank, then the order in which they were asked for."""

    def __init__(self) -> None:
        self.now = 0
        self._heap: list[tuple[int, int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0

    def at(self, time: int, rank: Rank, action: Callable[..., None], *arguments: Any) -> None:
        assert time >= self.now, "the past cannot be changed"
        heapq.heappush(self._heap, (time, rank, self._count, action, arguments))
        self._count += 1

    def run(self, end: int) -> None:
        """Run every event up to and at `end`."""
        while self._heap and self._heap[0][0] <= end:
            self.now, _, _, action, arguments = heapq.heappop(self._heap)
            action(*arguments)


class Timer:
    """An alarm that can be moved and stopped."""

    def __init__(self, simulation: Simulation, rank: Rank, action: Callable[[], None]) -> None:
        self._simulation = simulation
        self._rank = rank
        self._action = action
        self._version = 0
        self.pending = False

    def start(self, delay: int) -> None:
        """Ring in `delay` ns, and not at the time set before."""
        self._version += 1
        self.pending = True
        self._simulation.at(self._simulation.now + delay, self._rank, self._ring, self._version)

    def stop(self) -> None:
        self._version += 1
        self.pending = False

    def _ring(self, version: int) -> None:
        if version == self._version:
            self.pending = False
            self._action()
