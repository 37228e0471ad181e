"""The receiving end of an SCTP association (ns-2.35 `sctp.cc`): acknowledges where the data came from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from netcarlo.kernels.layout import Out

from tests.naive.engine import Rank, Simulation, Timer
from tests.naive.link import Packet, Path
from tests.naive.outcomes import Outcomes
from tests.naive.parameters import Parameters


@dataclass
class Sack:
    """All up to `cumulative` has arrived, and the blocks first..last above; room for `window` bytes."""

    cumulative: int
    blocks: list[tuple[int, int]] = field(default_factory=list)
    window: int = 0


class SctpReceiver:
    """SACKs every second packet, or after a delay, or at once for gaps and duplicates."""

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Parameters, paths: Sequence[Path]
    ) -> None:
        self.simulation = simulation
        self.outcomes = outcomes
        self.parameters = parameters
        self.paths = paths
        self.cumulative = 0
        self.above: set[int] = set()  # arrived, behind a gap
        self.duplicates: set[int] = set()  # to be named in the next SACK
        self.packets_since_sack = 0
        self.timer = Timer(simulation, Rank.RECEIVER_TIMER, self.waited_long_enough)
        self.reply_path = 0

    def receive(self, packet: Packet) -> None:
        """Something arrived on path `packet.path`."""
        self.reply_path = packet.path
        if packet.kind == "data":
            self.receive_data(packet)
        else:
            answer = {"init": "init ack", "cookie": "cookie ack", "heartbeat": "heartbeat ack"}[packet.kind]
            self.paths[packet.path].send_back(Packet(answer, packet.size, packet.content))

    def receive_data(self, packet: Packet) -> None:
        p = self.parameters
        number: int = packet.content
        self.outcomes.arrived(packet, number, self.simulation.now)
        now = False  # send a SACK at once
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
        if number <= self.cumulative or number in self.above:
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
        window = p.RWND - len(self.above) * (p.DATA + p.CHUNK_HEADER)
        size = p.ACK + p.SACK_BLOCK * (len(blocks) + len(self.duplicates))
        self.duplicates = set()
        self.paths[self.reply_path].send_back(Packet("ack", size, Sack(self.cumulative, blocks, window)))
