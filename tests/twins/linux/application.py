"""Application that pauses between messages, and the reaction of its sender to a pause."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from netcarlo.kernels.base.layout import MESSAGES_EVERY, STREAM_MESSAGE, Messages
from tests.twins.linux.bbr import PacedSender
from tests.twins.linux.receiver import FIRST, LinuxReceiver
from tests.twins.linux.sender import LinuxSender
from tests.twins.path.engine import Rank, Simulation
from tests.twins.random_numbers import Streams
from tests.twins.shared.arrivals import edges, value_at

EDGES = edges(Messages.COLUMNS - Messages.TIMES)


class Application:
    """Application that sends one message after the other, and observes both endpoints."""

    def __init__(
        self, simulation: Simulation, sender: LinuxSender, receiver: LinuxReceiver, streams: Streams,
        constants: Sequence[int],
    ) -> None:
        self.simulation, self.sender, self.receiver, self.streams = simulation, sender, receiver, streams
        self.p = sender.p
        self.sizes = self.points(constants, self.p.MESSAGE_SIZES)
        self.waits = self.points(constants, self.p.MESSAGE_WAITS)
        self.written = 0
        self.began = self.wait = 0
        self.sleeps = False
        self.arrived: list[int] = []  # completion times of messages [ns]
        self.idle = self.short = 0
        sender.end = FIRST
        sender.writes = True

    @staticmethod
    def points(constants: Sequence[int], at: int) -> list[tuple[int, int]]:
        return [(constants[at + 1 + 2 * k], constants[at + 2 + 2 * k]) for k in range(constants[at])]

    def start(self) -> None:
        self.sender.start()
        if self.sender.connected:
            self.sleep(0)

    def at_receiver(self, receive: Callable[..., None]) -> Callable[..., None]:
        """Return a function that receives a packet and then checks whether a message is complete."""

        def looks(packet: Any) -> None:
            receive(packet)
            if self.receiver.expected == self.sender.end and len(self.arrived) < self.written:
                self.arrived.append(self.simulation.now - self.began)
                self.short += self.sender.short

        return looks

    def at_sender(self, receive: Callable[..., None]) -> Callable[..., None]:
        """Return a function that processes an ACK and then checks whether all data are acknowledged."""

        def looks(packet: Any) -> None:
            receive(packet)
            if self.sender.connected and self.sender.una == self.sender.end and not self.sleeps:
                self.rest()

        return looks

    def rest(self) -> None:
        now = self.simulation.now
        if self.written == 0:
            self.sleep(100_000)
            return
        wait = self.wait
        if self.p.MESSAGES == MESSAGES_EVERY:
            wait = max(self.began + self.wait - now, 0)
        self.idle += max(min(now + wait, self.p.END) - now, 0)
        self.sleep(wait)

    def sleep(self, wait: int) -> None:
        self.sleeps = True
        self.simulation.at(self.simulation.now + wait, Rank.WRITE, self.write)

    def write(self) -> None:
        words = self.streams.block(STREAM_MESSAGE, self.written)
        size, self.wait = max(value_at(words[0], self.sizes), 1), value_at(words[1], self.waits)
        if self.written > 0:
            self.wake()
        if isinstance(self.sender, PacedSender):
            self.sender.app_limited = max(self.sender.delivered, 1)
        self.sleeps = False
        self.written += 1
        self.began = self.simulation.now
        packets = -(-size // self.p.DATA)
        self.sender.end += packets
        self.sender.short = packets * self.p.DATA - size
        self.sender.push("new")

    def wake(self) -> None:
        """Restart after a pause: halve the window for each idle timeout (RFC 2861); CUBIC's clock excludes
        the pause.
        """
        sender = self.sender
        if isinstance(sender, PacedSender):
            return
        clock = sender.clocks
        idle = sender.jiffies - clock.jiffies(sender.last_sent)
        timeouts = (idle - 1) // sender.rto if idle > 0 else 0
        if self.p.IDLE_RESTART and timeouts:
            sender.ssthresh = sender.present_ssthresh()
            least = min(sender.p.INITIAL_WINDOW, sender.cwnd)
            sender.cwnd = max(sender.cwnd >> timeouts, least)
        sender.control.idle(sender.jiffies, idle)

    def outcomes(self) -> list[int]:
        """Return the columns of `Messages`."""
        counts = [0] * len(EDGES)
        for time in self.arrived:
            counts[bisect_right(EDGES, time // 1024) - 1] += 1
        return [len(self.arrived), sum(self.arrived), self.idle, self.short, *counts]
