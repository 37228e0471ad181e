"""Wired leg of a route: a FIFO server, a delay, optionally ticks, and a slowly varying speed.

A packet may have arrived `world.early` ns ago, with an MPDU inside a PPDU. A packet that would have left
before now leaves now, and is early, too. An application may read the delivered packets on the same processor,
only while no packet is served.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.wireless.layout import STREAM_SWING
from tests.twins.path.link import Packet
from tests.twins.random_numbers import Streams
from tests.twins.wireless.clock import Clock, Turn

if TYPE_CHECKING:
    from tests.twins.wireless.world import World


class Server:
    """FIFO server that releases packets in order."""

    def __init__(self, world: "World", clock: Clock, streams: Streams, number: int, columns: Any) -> None:
        self.world = world
        self.clock = clock
        self.streams = streams
        self.number = number
        self.columns = columns
        self.inside: list[tuple[Packet, Callable[[Packet], None], int]] = []
        self.free = 0
        self.last_release = 0
        self.unread = 0  # packets of `inside` that the application can read
        self.reading = 0  # packets that it reads now
        self.read_end = 0
        self.rest = 0  # bytes of a partly read packet

    def enter(self, packet: Packet, deliver: Callable[[Packet], None]) -> bool:
        """Accept a packet for `deliver`; return False if the queue is full."""
        c = self.columns
        if len(self.inside) >= c.ROOM:
            return False
        start = max(self.clock.now - self.world.early, self.free)
        service = self.service(packet.size, start)
        self.free = start + service
        self.postpone(service)
        release = max(self.on_tick(self.free + c.DELAY), self.last_release)
        self.last_release = release
        self.inside.append((packet, deliver, release))
        self.clock.at(max(release, self.clock.now), Turn.SECOND, self.release)
        return True

    def release(self) -> None:
        if self.columns.READ == 0:
            self.leave(more=False)
            return
        self.unread += 1
        if self.reading == 0:
            self.read()

    def leave(self, *, more: bool) -> None:
        packet, deliver, release = self.inside.pop(0)
        packet.more = more
        self.world.early = 0 if self.columns.READ else self.clock.now - release
        deliver(packet)
        self.world.early = 0

    def read(self) -> None:
        """Let the application read at most READ bytes."""
        c = self.columns
        got = self.rest
        while self.reading < self.unread and got < c.READ:
            self.reading += 1
            got += c.SIZE
        self.rest = max(got - c.READ, 0)
        start = max(self.clock.now, self.free)
        self.read_end = start + self.at_speed((got - self.rest) * c.READ_TIME // c.SIZE, start)
        self.clock.at(self.read_end, Turn.FIRST, self.end_read)

    def end_read(self) -> None:
        if self.reading == 0 or self.clock.now != self.read_end:  # it was interrupted
            return
        packets, self.reading = self.reading, 0
        for left in reversed(range(packets)):
            self.unread -= 1
            self.leave(more=left > 0)
        if self.unread > 0:
            self.read()

    def postpone(self, time: int) -> None:
        """Delay the application, because serving packets interrupts it."""
        if self.reading > 0:
            self.read_end += time
            self.clock.at(self.read_end, Turn.FIRST, self.end_read)

    def occupy(self, time: int) -> None:
        """Keep the server busy for `time` [ns] with other work."""
        if time > 0:  # otherwise an early packet could not be served in the past
            self.free = max(self.free, self.clock.now) + time
            self.postpone(time)

    def service(self, size: int, start: int) -> int:
        c = self.columns
        return self.at_speed(((size + c.OVERHEAD) * c.BYTE_TIME + 2**19) // 2**20 + c.PACKET_TIME, start)

    def at_speed(self, time: int, start: int) -> int:
        """Return the duration of work from `start` on that takes `time` on average [ns]."""
        c = self.columns
        if c.SWING:
            time += time * c.SWING * self.deviation(start // c.SWING_EVERY) // 2**30
        return int(time)

    def deviation(self, interval: int) -> int:
        """Return an approximately normal number with standard deviation 1024: the sum of four uniform
        ones.
        """
        words = self.streams.block(STREAM_SWING + self.number, interval)
        return (sum(word // 2**16 for word in words) - 131070) * 1774 // 2**16

    def on_tick(self, time: int) -> int:
        c = self.columns
        return time + (c.PHASE - time) % c.TICK if c.TICK else time
