"""Client and server over two paths (RFC 9000, sections 8.2 and 9)."""

from typing import Any

from netcarlo.kernels.base.layout import NEVER, Out
from tests.twins.outcomes import Outcomes
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet, Path
from tests.twins.quic.packets import AckFrame, Challenge
from tests.twins.quic.receiver import QuicReceiver
from tests.twins.quic.sender import MS, QuicSender


class Client(QuicSender):
    """Client that sends over one path, and migrates to a validated one after too many probe timeouts in a
    row.
    """

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Any, paths: list[Path]
    ) -> None:
        super().__init__(simulation, outcomes, parameters, self.send_here)
        self.paths, self.here = paths, 0
        self.challenges: list[int] = []  # unanswered, of this validation
        self.validation = Timer(simulation, Rank.VALIDATION, self.unanswered)
        self.heard = 0
        self.failovers: list[int] = []

    def send_here(self, packet: Packet) -> None:
        if packet.kind == "data":
            self.outcomes.add(Out.SENT_ALTERNATE, self.here)
        self.paths[self.here].send(packet)

    def on_expiry(self) -> None:
        before = self.outcomes.values[Out.TIMEOUTS]
        super().on_expiry()
        expired = self.outcomes.values[Out.TIMEOUTS] > before
        if expired and self.timeouts >= self.p.MIGRATE_AFTER and not self.challenges:
            self.challenge()

    def challenge(self) -> None:
        """Send a PATH_CHALLENGE on the other path; the second and last one has twice the timeout (8.2.4)."""
        self.challenges.append(self.number())
        timeout = max(self.smoothed + max(4 * self.variation, MS), 3 * self.p.INITIAL_RTT) + self.p.ACK_DELAY
        self.validation.start(max(timeout * len(self.challenges), 1))
        datagram = Packet("challenge", 1200 + self.p.HEADER, Challenge(self.challenges[-1]))
        self.paths[1 - self.here].send(datagram)

    def unanswered(self) -> None:
        self.time = self.simulation.now
        if len(self.challenges) == 1:
            self.challenge()
        else:
            self.challenges = []
        self.hold()
        self.transmit()

    def receive(self, packet: Packet) -> None:
        if not isinstance(packet.content, Challenge):
            self.heard = self.simulation.now
            super().receive(packet)
        elif packet.content.number in self.challenges:
            self.time = self.simulation.now
            self.migrate()
            self.hold()
            self.transmit()

    def migrate(self) -> None:
        """Migrate (section 9.4): reset the state of the path, and send all data in flight again."""
        self.here = 1 - self.here
        self.failovers.append(self.time - self.heard)
        self.challenges = []
        unsent = dict.fromkeys(self.out[number].part for number in sorted(self.out))
        self.queue += [part for part in unsent if part not in self.acknowledged and part not in self.queue]
        self.out = {}
        self.control = self.new_control()
        self.rtt = self.smallest = 0
        self.smoothed, self.variation = self.p.INITIAL_RTT, self.p.INITIAL_RTT // 2
        self.first_sample = self.recovery_since = -1
        self.timeouts = self.probes = self.paced_until = self.release = 0
        self.loss_time = None
        self.timer.stop()
        self.validation.stop()

    @property
    def longest_failover(self) -> int:
        return max(self.failovers, default=NEVER)


class Server(QuicReceiver):
    """Server that sends ACKs over the path of the newest data (9.3), other responses over the path of the
    request (8.2.2).
    """

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Any, paths: list[Path]
    ) -> None:
        super().__init__(simulation, outcomes, parameters, self.reply)
        self.paths = paths
        self.of_data = self.of_latest = 0

    def reply(self, packet: Packet) -> None:
        to = self.of_data if isinstance(packet.content, AckFrame) else self.of_latest
        self.paths[to].send_back(packet)

    def receive(self, packet: Packet) -> None:
        self.timer.expire_if_due()
        self.of_latest = packet.path
        if isinstance(packet.content, Challenge):
            self.note(packet.content.number)
            self.send_back(Packet("response", 1200 + self.p.HEADER, packet.content))
            return
        if packet.kind == "data":
            silence = self.simulation.now - self.outcomes.values[Out.LAST_RX]
            if self.outcomes.values[Out.LAST_RX] != NEVER:
                self.outcomes.values[Out.SILENCE] = max(self.outcomes.values[Out.SILENCE], silence)
            if packet.content.number > self.largest:
                self.of_data = packet.path
        super().receive(packet)
