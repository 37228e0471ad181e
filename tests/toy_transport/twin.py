"""Twin of stop-and-wait, and its flows in the twins of networks."""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.layout import NEVER, Out
from tests.toy_transport import TIMEOUT
from tests.twins.adhoc import flow as adhoc
from tests.twins.path.engine import Rank, Timer
from tests.twins.path.link import Packet
from tests.twins.run import sample_until_end
from tests.twins.shared import flows as shared
from tests.twins.shared.clock import HostClock, Phase, Turn
from tests.twins.shared.links import Segment
from tests.twins.wireless import flows as wireless


def size_of(p: Any, packet: Packet) -> int:
    """Return the size of a data packet [byte]."""
    return int(p.DATA + p.HEADER - (p.SHORT if packet.content == p.LIMIT - 1 else 0))


class Sender:
    """Sender of packets 0 to `limit` - 1, one by one."""

    def __init__(self, clock: Any, outcomes: Any, limit: int, transmit: Callable[[Packet], None]) -> None:
        self.outcomes = outcomes
        self.limit = limit
        self.transmit = transmit
        self.is_blocked: Callable[[], bool] = lambda: False
        self.acknowledged: list[int] = []
        self.sent: set[int] = set()
        self.waits = False
        self.timer = Timer(clock, Rank.RETRANSMISSION, self._expired)

    @property
    def finished(self) -> bool:
        return len(self.acknowledged) == self.limit

    def send(self) -> None:
        """Send the first unacknowledged packet, as soon as the queue has space."""
        self.waits = self.is_blocked()
        if self.waits:
            return
        number = len(self.acknowledged)
        self.outcomes.add(Out.SENT)
        if number in self.sent:
            self.outcomes.add(Out.RETRANSMITTED)
        self.sent.add(number)
        self.timer.start(TIMEOUT)
        self.transmit(Packet("data", 0, number))

    def receive(self, packet: Packet) -> None:
        if packet.content != len(self.acknowledged):
            return
        self.timer.stop()
        self.acknowledged.append(packet.content)
        self.outcomes.add(Out.ACKED)
        self.waits = False
        if not self.finished:
            self.send()

    def _expired(self) -> None:
        self.outcomes.add(Out.TIMEOUTS)
        self.send()


class Receiver:
    """Receiver that acknowledges every packet."""

    def __init__(self, clock: Any, outcomes: Any, size: int, send_back: Callable[[Packet], None]) -> None:
        self.clock = clock
        self.outcomes = outcomes
        self.size = size
        self.send_back = send_back

    def receive(self, packet: Packet) -> None:
        self.outcomes.arrived(packet, packet.content, self.clock.now)
        self.outcomes.values[Out.IN_ORDER] = len(self.outcomes.delivered)
        self.send_back(Packet("ack", self.size, packet.content))


class SharedFlow(shared.Association):
    """Flow over shared links."""

    def __init__(self, world: Any, number: int, columns: Any, protocol: str) -> None:
        super().__init__(world, number, columns)
        clock = HostClock(self.agenda, number)
        self.sender = Sender(clock, self.outcomes, columns.LIMIT, self.transmit)
        self.receiver = Receiver(clock, self.outcomes, columns.ACK, self.send_back)
        self.agenda.plan(columns.START, Phase.HOST, number, self.sender.send, turn=Turn.START)

    def transmit(self, packet: Packet, *, reduced: bool = False) -> None:
        packet.size = size_of(self.columns, packet)
        super().transmit(packet)

    def arrive(self, segment: Segment) -> None:
        self.receiver.receive(segment.packet)

    def arrive_back(self, segment: Segment) -> None:
        self.sender.receive(segment.packet)
        if self.sender.finished and self.finished == NEVER:
            self.finished = self.agenda.now

    def sample(self) -> None:
        self.outcomes.add(Out.SAMPLES)
        self.outcomes.add(Out.CWND_SUM, 1024)


def run_over_path(protocol: str, simulation: Any, outcomes: Any, parameters: Any, path: Any) -> None:
    """Run the flow of a path, in place of `run.run_tcp`."""

    def transmit(packet: Packet) -> None:
        packet.size = size_of(parameters, packet)
        path.send(packet)

    sender = Sender(simulation, outcomes, parameters.LIMIT, transmit)
    receiver = Receiver(simulation, outcomes, parameters.ACK, path.send_back)
    path.connect(receiver.receive, sender.receive)
    simulation.at(parameters.START, Rank.HOP, sender.send)
    sample_until_end(simulation, outcomes, parameters, lambda: 1024, lambda: 0)
    simulation.run(parameters.END)


class AdhocFlow(adhoc.Association):
    """Flow of an ad hoc network."""

    def __init__(self, world: Any, protocol: str) -> None:
        super().__init__(world)
        self.sender = Sender(self.clock, self.counters.of_tcp, world.p.LIMIT, self.transmit)
        self.receiver = Receiver(self.clock, self.counters.of_tcp, world.p.ACK, self.send_back)
        self.clock.at(world.p.START, Rank.HOP, self.sender.send)

    def transmit(self, packet: Packet) -> None:
        packet.size = size_of(self.world.p, packet)
        super().transmit(packet)

    def finished(self) -> bool:
        return bool(self.sender.finished)

    def count(self) -> None:
        assert not self.counters.values[ManetOut.PROBES]


class WirelessFlow(wireless.Association):
    """Flow of an 802.11 network."""

    def __init__(self, world: Any, number: int, columns: Any, protocol: str, parameters: Any) -> None:
        super().__init__(world, number, columns)
        self.sender = Sender(self.clock, self.outcomes, columns.LIMIT, self.transmit)
        self.receiver = Receiver(self.clock, self.outcomes, parameters.ACK, self.send_back)
        if self.entrance is not None:
            self.sender.is_blocked = self.entrance.is_full
        self.clock.at(columns.START, Rank.HOP, self.sender.send)

    def transmit(self, packet: Packet) -> None:
        c = self.columns
        packet.size = c.SIZE + c.HEADER - (c.SHORT if packet.content == c.LIMIT - 1 else 0)
        super().transmit(packet)

    def arrive(self, packet: Packet) -> None:
        self.receiver.receive(packet)

    def arrive_back(self, packet: Packet) -> None:
        self.sender.receive(packet)

    def pump(self) -> None:
        if self.sender.waits:
            self.sender.send()
