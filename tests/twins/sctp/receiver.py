"""Receiver of an SCTP association (ns-2.35 `sctp.cc`), which sends SACKs over the path of the data."""

from dataclasses import dataclass, field
from typing import Any

from netcarlo.kernels.base.layout import Out
from tests.twins.outcomes import Outcomes
from tests.twins.path.engine import Rank, Timer
from tests.twins.path.link import Packet
from tests.twins.sctp.endpoint import COOKIE, INIT, Destination, Endpoint


@dataclass
class Sack:
    """SACK: cumulative TSN, gap blocks first..last above it, and receive window [byte]."""

    cumulative: int
    blocks: list[tuple[int, int]] = field(default_factory=list)
    window: int = 0


class SctpReceiver(Endpoint[Destination]):
    """Receiver that sends a SACK for every second packet, after a delay, or at once for gaps and
    duplicates.
    """

    sacks_discarded = False
    """True if data that do not fit into the receive window are acknowledged, too."""

    def __init__(self, outcomes: Outcomes, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, end=1, **named)
        self.outcomes = outcomes
        self.cumulative = 0
        self.above: set[int] = set()  # arrived above a gap
        self.duplicates: set[int] = set()  # to be reported in the next SACK
        self.packets_since_sack = 0
        self.timer = Timer(self.simulation, Rank.SACK, self.waited_long_enough)
        self.reply_path = 0

    def receive(self, packet: Packet) -> None:
        """Process a packet that arrives on path `packet.path`."""
        if packet.last_hop < self.parameters.ACK_DELAY:  # ns-2 sets the timer before it passes the packet on
            self.timer.expire_if_due()
        self.reply_path = packet.path
        if packet.kind == "init" and not self.established:
            self.transmit(packet.path, Packet("init ack", INIT, None))
        elif packet.kind == "cookie":
            self.transmit(packet.path, Packet("cookie ack", COOKIE, None))
            if not self.established:
                self.established = True
                self.begin_heartbeats()
        elif packet.kind == "heartbeat" and self.established:
            self.answer_heartbeat(packet)
        elif packet.kind == "heartbeat ack" and self.established:
            self.on_heartbeat_ack(packet)
        elif packet.kind == "data":
            self.receive_data(packet)

    def catch_up(self) -> None:
        """Process timers that are due now before a packet that arrives now."""
        for timer in (self.timer, *self.unanswered, self.idle_timer):
            timer.expire_if_due()

    def close(self) -> None:
        super().close()
        self.timer.stop()

    def room(self) -> int:
        """Return the free space of the receive window [byte]."""
        p = self.parameters
        return int(p.RWND - len(self.above) * (p.DATA + p.CHUNK_HEADER))

    def receive_data(self, packet: Packet) -> None:
        p = self.parameters
        number: int = packet.content
        now = False  # send a SACK at once
        if not self.established:
            self.outcomes.arrived(packet, None, self.simulation.now)
            return
        if p.ACK_EVERY < 2 or (number == 1 and p.SACK_FIRST):
            now = True
        else:
            self.packets_since_sack += 1
            if self.packets_since_sack == 1:
                self.timer.start(p.ACK_DELAY)
            elif self.packets_since_sack == 2:
                self.packets_since_sack = 0
                self.timer.stop()
                now = True
        fits = self.room() >= p.DATA + p.CHUNK_HEADER
        fits |= self.sacks_discarded and number == self.cumulative + 1  # it frees space in the window
        self.outcomes.arrived(packet, number if fits else None, self.simulation.now)
        if not fits:
            now = self.sacks_discarded
        elif number <= self.cumulative or number in self.above:
            self.duplicates.add(number)
            now = True
        else:
            self.above.add(number)
            while self.cumulative + 1 in self.above:
                self.cumulative += 1
                self.above.remove(self.cumulative)
        self.outcomes.values[Out.IN_ORDER] = self.cumulative
        if self.above:
            self.packets_since_sack = 0
            self.timer.stop()
            now = True
        if now:
            self.send_sack()

    def waited_long_enough(self) -> None:
        self.packets_since_sack = 0
        self.send_sack()

    def send_sack(self) -> None:
        p = self.parameters
        blocks: list[tuple[int, int]] = []
        for number in sorted(self.above):
            if blocks and blocks[-1][1] == number - 1:
                blocks[-1] = (blocks[-1][0], number)
            else:
                blocks.append((number, number))
        size = p.ACK + p.SACK_BLOCK * (len(blocks) + len(self.duplicates))
        self.duplicates = set()
        self.transmit(self.reply_path, Packet("ack", size, Sack(self.cumulative, blocks, self.room())))
