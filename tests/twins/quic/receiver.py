"""Receiver: received packets, and the times of their acknowledgement (RFC 9000, section 13.2)."""

from collections.abc import Callable
from math import ceil
from typing import Any

from netcarlo.kernels.base.layout import Out
from tests.twins.outcomes import Outcomes
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet
from tests.twins.quic.packets import AckFrame, Hello

MOST_RANGES = 32


def ranges_of(numbers: set[int]) -> list[tuple[int, int]]:
    """Return the runs of consecutive numbers, ascending."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


class QuicReceiver:
    """Receiver that sends an ACK for a number of packets, after a delay, or at once for packets out of
    order.
    """

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Any, send_back: Callable[[Packet], None]
    ) -> None:
        self.simulation, self.outcomes, self.p, self.send_back = simulation, outcomes, parameters, send_back
        self.keys = False
        self.numbers: set[int] = set()  # of packets in the ranges
        self.too_old = 0  # lower numbers cannot be distinguished from copies
        self.largest, self.largest_at = -1, 0
        self.stream: set[int] = set()
        self.without_gap = 0
        self.unacknowledged = 0
        self.acks = 0
        self.timer = Timer(simulation, Rank.DELAYED_ACK, self.acknowledge)

    def receive(self, packet: Packet) -> None:
        self.timer.expire_if_due()
        if isinstance(packet.content, Hello):
            self.keys = True
            self.note(packet.content.number)
            self.answer(packet.content)
        else:
            self.receive_data(packet)

    def is_copy(self, number: int) -> bool:
        return number < self.too_old or number in self.numbers

    def note(self, number: int) -> None:
        """Add a packet to the ranges, and drop the lowest range if there are too many."""
        if self.is_copy(number):
            return
        self.numbers.add(number)
        if number > self.largest:
            self.largest, self.largest_at = number, self.simulation.now
        ranges = ranges_of(self.numbers)
        if len(ranges) > MOST_RANGES:
            self.too_old = ranges[1][0]
            self.numbers = {n for n in self.numbers if n >= self.too_old}

    def receive_data(self, packet: Packet) -> None:
        number, part = packet.content.number, int(packet.content)
        if not self.keys or self.is_copy(number):
            self.outcomes.arrived(packet, None, self.simulation.now)
            return
        in_order = number == self.largest + 1
        self.note(number)
        self.outcomes.arrived(packet, part, self.simulation.now)
        self.stream.add(part)
        while self.without_gap in self.stream:
            self.without_gap += 1
        self.outcomes.values[Out.IN_ORDER] = self.without_gap
        self.unacknowledged += 1
        if not in_order or self.unacknowledged >= self.p.ACK_EVERY:
            self.acknowledge()
        elif not self.timer.pending:
            self.timer.start(self.p.ACK_DELAY)

    def acknowledge(self) -> None:
        self.timer.stop()
        self.unacknowledged = 0
        self.acks += 1
        ranges = ranges_of(self.numbers)
        delay = (self.simulation.now - self.largest_at) // 8_000 * 8_000
        size = self.p.ACK + (len(ranges) - 1) * self.p.SACK_BLOCK
        self.send_back(Packet("ack", size, AckFrame(self.acks, ranges, delay)))

    def answer(self, hello: Hello) -> None:
        """Send the flight of the server, or its first part: three times the bytes received from the
        client.
        """
        flight = self.p.SERVER_FLIGHT
        part = min(flight, 3600) if hello.stage == 1 else flight - 3600
        self.send_back(Packet("flight", part + ceil(part / 1200) * self.p.HEADER, hello))
