"""TCP receiver: cumulative acknowledgements, delayed or not, with or without SACK blocks."""

from collections.abc import Callable
from dataclasses import dataclass

from netcarlo.kernels.base.layout import Out
from tests.twins.outcomes import Outcomes
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet

SACK_BLOCKS = 3


@dataclass
class Ack:
    """Acknowledgement: `number` is the last packet before the first gap; blocks are [left, right).

    `marked`: the receiver saw the packet after `number` corrupted. `echo`: send time of the packet that was
    the next in order after the previous ACK, or of a later transmission of one acknowledged before.
    """

    number: int
    blocks: list[tuple[int, int]]
    marked: bool = False
    echo: int = 0


class SackHistory:
    """SACK blocks of an acknowledgement: the newest first, then those sent before."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, int]] = []

    def blocks(
        self, newest: int, duplicate: bool, cumulative: int, highest: int, seen: set[int]
    ) -> list[tuple[int, int]]:
        """Return the blocks to send after packet `newest` has arrived."""
        if cumulative >= highest and self.stack:
            self.stack = []
            return []
        if cumulative >= highest and not duplicate:
            return []
        above = newest > cumulative
        right = newest
        while right in seen or right <= cumulative:
            right += 1
        left = right if above else 0
        while above and left - 1 in seen:
            left -= 1
        named = [(left, right)] if above else []
        k = 0
        while len(named) < SACK_BLOCKS and k < len(self.stack):
            if left <= self.stack[k][0] and self.stack[k][1] <= right:
                del self.stack[k]  # the newest block covers it
            else:
                named.append(self.stack[k])
                k += 1
        if above:
            self.stack = [(left, right), *self.stack][:SACK_BLOCKS]
        return named


class Receiver:
    """Receiver that acknowledges at once, or (`ack_every` 2) waits for a second packet or `ack_delay` ns."""

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, *, first: int, first_data: int, ack_every: int,
        ack_delay: int, ack_size: int, block_size: int, sack: bool, send_back: Callable[[Packet], None],
    ) -> None:
        self.simulation = simulation
        self.outcomes = outcomes
        self.expected = first  # the lowest number that has not arrived
        self.first_data = first_data
        self.highest = 0
        self.seen: set[int] = set()  # numbers from `expected` on that have arrived
        self.delayed = ack_every == 2
        self.ack_delay = ack_delay
        self.ack_size = ack_size
        self.block_size = block_size
        self.history = SackHistory() if sack else None
        self.send_back = send_back
        self.timer = Timer(simulation, Rank.DELAYED_ACK, self._waited_long_enough)
        self.waiting = -1  # the packet with a delayed acknowledgement
        self.duplicate = False  # the newest packet had arrived before
        self.destroyed: set[int] = set()  # numbers from `expected` on that arrived destroyed
        self.echo = 0  # the timestamp to send back [ns]
        self.acknowledged = 0  # number in the latest ACK

    def receive(self, packet: Packet) -> None:
        number: int = packet.content
        if number >= self.first_data:
            self.outcomes.arrived(packet, number, self.simulation.now)
        if number <= self.acknowledged + 1:
            self.echo = max(self.echo, packet.sent)
        self.duplicate = number < self.expected or number in self.seen
        self.highest = max(self.highest, number)
        if not self.duplicate:
            self.seen.add(number)
        while self.expected in self.seen:
            self.seen.remove(self.expected)
            self.destroyed.discard(self.expected)
            self.expected += 1
        self.outcomes.values[Out.IN_ORDER] = max(0, self.expected - self.first_data)

        in_sequence = number == self.expected - 1 and number == self.highest
        may_wait = not self.timer.pending or packet.more
        if self.delayed and may_wait and in_sequence and number != 0:
            self.waiting = number
            if not self.timer.pending:
                self.timer.start(self.ack_delay)
        else:
            self.timer.stop()
            self._acknowledge(number)

    def corrupted(self, number: int) -> None:
        """Process a corrupted packet whose number is known."""
        if number >= self.expected:
            self.destroyed.add(number)

    def _waited_long_enough(self) -> None:
        self._acknowledge(self.waiting)

    def _acknowledge(self, newest: int) -> None:
        self.acknowledged = cumulative = self.expected - 1
        blocks: list[tuple[int, int]] = []
        if self.history is not None:
            blocks = self.history.blocks(newest, self.duplicate, cumulative, self.highest, self.seen)
        size = self.ack_size + len(blocks) * self.block_size
        marked = cumulative + 1 in self.destroyed
        self.send_back(Packet("ack", size, Ack(cumulative, blocks, marked, self.echo)))
