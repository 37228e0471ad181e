"""Clock, event heap, and timers."""

import heapq
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.layout import FOREVER


class Rank(IntEnum):
    """Order of events in the same nanosecond."""

    SAMPLE = 0  # sees the state before anything of this instant
    LINK_UP = 1
    LINK_DOWN = 2  # spares what arrives now
    CROSS = 3  # a packet of others reaches a hop
    TUNNELLED = 4  # a packet that has gone through a tunnel reaches an access router
    HOP = 5  # a packet reaches the next hop, or the application starts
    DATA = 6  # a packet reaches the receiver; of several, in order of sending
    ACK = 7  # a packet reaches the sender; likewise
    DELAYED_ACK = 8  # packets that arrive now come before the timers
    RETRANSMISSION = 9
    PACING = 10  # current Linux
    WRITE = 11  # its application
    VALIDATION = 11  # QUIC over two paths
    T1 = 10  # SCTP: the handshake
    T3 = 11  # + path: retransmission
    DEGRADE = 13  # + path
    SACK = 15
    HEARTBEAT = 16  # + 2 * end + path: unanswered
    IDLE = 20  # + end: time for a heartbeat


class Simulation:
    """Runs actions by time, then rank, then order (that of scheduling, unless given)."""

    def __init__(self) -> None:
        self.now = 0
        self._heap: list[tuple[int, int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0

    def at(
        self, time: int, rank: int, action: Callable[..., None], *arguments: Any, order: int | None = None
    ) -> None:
        """Schedule `action(*arguments)` at `time`; `order` (`next_order`) breaks ties of time and rank."""
        assert time >= self.now, "the past cannot be changed"
        place = self.next_order() if order is None else order
        heapq.heappush(self._heap, (time, rank, place, action, arguments))

    def next_order(self) -> int:
        """Return a number larger than all before."""
        self._count += 1
        return self._count

    def run(self, end: int) -> None:
        """Run every event up to and at `end`."""
        while self.next_time() <= end:
            self.step()

    def next_time(self) -> int:
        """Return the time of the next event, or FOREVER."""
        return self._heap[0][0] if self._heap else FOREVER

    def step(self) -> None:
        """Run the next event."""
        self.now, _, _, action, arguments = heapq.heappop(self._heap)
        action(*arguments)


class Timer:
    """Timer that can be restarted and stopped."""

    def __init__(self, simulation: Simulation, rank: int, action: Callable[[], None]) -> None:
        self._simulation = simulation
        self._rank = rank
        self._action = action
        self._version = 0
        self.pending = False
        self.due = -1

    def start(self, delay: int) -> None:
        """Set the timer to expire in `delay` ns, instead of the time set before."""
        self._version += 1
        self.pending = True
        self.due = self._simulation.now + delay
        self._simulation.at(self.due, self._rank, self._ring, self._version)

    def expire_if_due(self) -> None:
        """Process an expiry that is due now, before anything else."""
        if self.pending and self.due == self._simulation.now:
            self._ring(self._version)

    def stop(self) -> None:
        self._version += 1
        self.pending = False

    def _ring(self, version: int) -> None:
        if self.pending and version == self._version:
            self.pending = False
            self._action()
