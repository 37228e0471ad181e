"""Active queue management, directly from the pseudo-code: CoDel, PIE, FQ-CoDel.

Sources: RFC 8289 section 5, RFC 8033 appendix A (marks: section 5.1), RFC 8290 section 4.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt
from typing import Any

from tests.twins.random_numbers import Streams


@dataclass(eq=False)
class Waiting:
    """A packet in a queue."""

    came: int
    size: int
    what: Any


@dataclass(frozen=True)
class Fates:
    """Fates of packets under an algorithm."""

    drop: Callable[[Waiting], None]
    mark: Callable[[Waiting], bool]  # True if the packet was marked instead of dropped


class CoDel:
    def __init__(self, columns: Any, fates: Fates) -> None:
        self.columns = columns
        self.fates = fates
        self.packets: list[Waiting] = []
        self.first_above_time = self.drop_next = self.count = self.lastcount = 0
        self.dropping = False

    def bytes(self) -> int:
        return sum(packet.size for packet in self.packets)

    def enqueue(self, packet: Waiting) -> None:
        self.packets.append(packet)

    def dodequeue(self, now: int) -> tuple[Waiting | None, bool]:
        c = self.columns
        if not self.packets:
            self.first_above_time = 0
            return None, False
        packet = self.packets.pop(0)
        if now - packet.came < c.AQM_TARGET or self.bytes() <= c.AQM_MTU:
            self.first_above_time = 0
            return packet, False
        if self.first_above_time == 0:
            self.first_above_time = now + c.AQM_INTERVAL
            return packet, False
        return packet, now >= self.first_above_time

    def dequeue(self, now: int) -> Waiting | None:
        packet, ok_to_drop = self.dodequeue(now)
        if self.dropping:
            self.dropping = ok_to_drop
            while self.dropping and now >= self.drop_next:
                assert packet is not None
                self.count += 1
                if self.fates.mark(packet):
                    self.drop_next = self.control_law(self.drop_next)
                    return packet
                self.fates.drop(packet)
                packet, self.dropping = self.dodequeue(now)
                if self.dropping:
                    self.drop_next = self.control_law(self.drop_next)
        elif ok_to_drop:
            assert packet is not None
            if not self.fates.mark(packet):
                self.fates.drop(packet)
                packet, _ = self.dodequeue(now)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = 1
            if delta > 1 and now - self.drop_next < 16 * self.columns.AQM_INTERVAL:
                self.count = delta
            self.drop_next = self.control_law(now)
            self.lastcount = self.count
        return packet

    def control_law(self, time: int) -> int:
        """Return the next drop after `time`: interval / sqrt(count) later, rounded down."""
        return time + isqrt(self.columns.AQM_INTERVAL**2 // self.count)


class Fifo:
    """FIFO queue like `bfifo` of Linux; the link applies the limit."""

    def __init__(self) -> None:
        self.packets: list[Waiting] = []

    def enqueue(self, packet: Waiting) -> None:
        self.packets.append(packet)

    def dequeue(self, _now: int) -> Waiting | None:
        return self.packets.pop(0) if self.packets else None


class FqCoDel:
    def __init__(self, columns: Any, fates: Fates) -> None:
        self.columns = columns
        self.fates = fates
        self.queues: dict[Any, CoDel] = {}  # by the fields that distinguish flows
        self.credits: dict[Any, int] = {}
        self.new: list[Any] = []
        self.old: list[Any] = []

    def enqueue(self, packet: Waiting, flow: Any) -> None:
        self.queues.setdefault(flow, CoDel(self.columns, self.fates)).enqueue(packet)
        if flow not in self.new + self.old:
            self.new.append(flow)
            self.credits[flow] = self.columns.FQ_QUANTUM

    def drop_from_fattest(self) -> None:
        waiting = sorted(flow for flow, queue in self.queues.items() if queue.packets)
        flow = max(waiting, key=lambda one: self.queues[one].bytes())
        self.fates.drop(self.queues[flow].packets.pop(0))

    def dequeue(self, now: int) -> Waiting | None:
        while self.new or self.old:
            queues = self.new or self.old
            flow = queues[0]
            if self.credits[flow] <= 0:
                self.credits[flow] += self.columns.FQ_QUANTUM
                queues.pop(0)
                self.old.append(flow)
                continue
            packet = self.queues[flow].dequeue(now)
            if packet is not None:
                self.credits[flow] -= packet.size
                return packet
            was_new = queues is self.new
            queues.pop(0)
            if was_new:
                self.old.append(flow)
        return None

    @property
    def packets(self) -> list[Waiting]:
        return [packet for queue in self.queues.values() for packet in queue.packets]


ONE = 2**40
"""Probability 1 of PIE, whose probabilities are integers."""
CAUTION = ((10**6, 2048), (10**5, 512), (10**4, 128), (1000, 32), (100, 8), (10, 2))
"""Pairs: with a probability below 1 / first, its change is divided by second."""


class Pie:
    """PIE; its queue delay is the time to send all waiting packets."""

    def __init__(
        self, columns: Any, fates: Fates, streams: Streams, stream: int, time: Callable[[int], int]
    ) -> None:
        self.columns = columns
        self.fates = fates
        self.packets: list[Waiting] = []
        self.transmission_time = time
        self.random = self._random(streams, stream)
        self.drop_prob = self.qdelay_old = 0
        self.burst_allowance = columns.PIE_BURST

    @staticmethod
    def _random(streams: Streams, stream: int) -> Iterator[int]:
        number = 0
        while True:
            words = streams.block(stream, number)
            yield (int(words[0]) * 2**32 + int(words[1])) // 2**24
            number += 1

    def qdelay(self) -> int:
        return sum(self.transmission_time(packet.size) for packet in self.packets)

    def hits(self) -> bool:
        """Return True if an arriving packet is to be dropped, or marked."""
        half = self.columns.AQM_TARGET // 2
        if self.drop_prob == 0 and self.qdelay() < half and self.qdelay_old < half:
            self.burst_allowance = self.columns.PIE_BURST
        return self.burst_allowance == 0 and self.drop_early()

    def drop_early(self) -> bool:
        if self.qdelay_old < self.columns.AQM_TARGET // 2 and self.drop_prob < ONE // 5:
            return False
        if sum(packet.size for packet in self.packets) <= 2 * self.columns.AQM_MTU:
            return False
        return next(self.random) < self.drop_prob

    @property
    def may_mark(self) -> bool:
        return self.drop_prob < ONE // 10

    def update(self) -> None:
        """Update the drop probability, every AQM_INTERVAL."""
        c, delay = self.columns, self.qdelay()
        change = c.PIE_ALPHA * (delay - c.AQM_TARGET) + c.PIE_BETA * (delay - self.qdelay_old)
        part = next((part for below, part in CAUTION if self.drop_prob < ONE // below), 1)
        self.drop_prob += change // (256 * part)
        if delay == 0 and self.qdelay_old == 0:
            self.drop_prob -= self.drop_prob // 64
        self.drop_prob = min(max(self.drop_prob, 0), ONE)
        self.qdelay_old = delay
        self.burst_allowance = max(0, self.burst_allowance - c.AQM_INTERVAL)

    def enqueue(self, packet: Waiting) -> None:
        self.packets.append(packet)

    def dequeue(self, _now: int) -> Waiting | None:
        return self.packets.pop(0) if self.packets else None
