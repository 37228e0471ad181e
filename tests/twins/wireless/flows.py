"""Flows: UDP at a constant mean rate, and the TCPs of the path twin over the radio."""

from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.layout import ENDLESS, NEVER, STREAM_DATAGRAM, Out
from netcarlo.kernels.wireless.layout import FlowOut
from tests.twins.jitter import gap
from tests.twins.path.engine import Rank
from tests.twins.path.link import Packet
from tests.twins.run import tcp_of
from tests.twins.tcp.receiver import Receiver
from tests.twins.wireless.clock import Clock, Phase, Turn
from tests.twins.wireless.counters import FlowOutcomes
from tests.twins.wireless.routes import NOBODY, Route
from tests.twins.wireless.tables import FlowParameters

if TYPE_CHECKING:
    from tests.twins.wireless.world import World


class Flow:
    """Common parts of UDP and TCP flows."""

    first_data = 0

    def __init__(self, world: "World", number: int, columns: Any) -> None:
        self.world = world
        self.number = number
        self.columns = columns
        self.clock = Clock(world.simulation, Phase.FLOW, number)
        self.outcomes = FlowOutcomes(
            limit=columns.LIMIT, tcp=bool(columns.TCP), warm_up=world.radio.WARM_UP,
            bin_length=world.radio.BIN, end=world.p.END, saturated=columns.BACKLOG > 0,
            early=lambda: world.early,
        )  # fmt: skip
        self.forth = Route(
            world, before=columns.BEFORE, links=world.tables.path(columns.FORTH_AT, columns.FORTH),
            after=columns.AFTER, arrive=self.arrive, lost=self.outcomes.lost,
            agreements=world.tables.path_agreements(columns.FORTH_AT, columns.FORTH),
        )  # fmt: skip

    def transmit(self, packet: Packet) -> None:
        """Send a data packet (or SYN) from the source."""
        packet.path, packet.sent = self.number, self.clock.now
        self.outcomes.note_sent(packet, self.clock.now, last=self.columns.LIMIT - 1 + self.first_data)
        self.send(packet)

    def send(self, packet: Packet) -> None:
        """Send the first packets."""
        self.forth.send(packet)

    def departed(self) -> bool:
        """Process a data packet that was delivered or lost by the first node (EDCA).

        Return True if the source is saturated.
        """
        return False

    def refill(self) -> None:
        """Keep the queue of a saturated source filled (EDCA)."""

    def returned(self, node: int) -> None:
        """Process the recovery of a failed node (EDCA)."""

    def waiting(self) -> list[Packet]:
        """Return the sent packets that wait for space in the queue of the first node."""
        return []

    def arrive(self, packet: Packet) -> None:
        raise NotImplementedError


class Udp(Flow):
    def __init__(self, world: "World", number: int, columns: Any) -> None:
        super().__init__(world, number, columns)
        self.owed = 0  # packets that a saturated source adds to the queue
        self.next = 0  # its next packet
        if columns.BACKLOG:
            self.clock.at(columns.START, Turn.FIRST, self.fill)
        else:
            self._expect(0, columns.START)

    def fill(self) -> None:
        """Start to keep BACKLOG packets in the queue."""
        self.owed = self.columns.BACKLOG
        self.refill()

    def departed(self) -> bool:
        if self.columns.BACKLOG:
            self.owed += 1
        return bool(self.columns.BACKLOG)

    def returned(self, node: int) -> None:
        if self.columns.BACKLOG and self.clock.now >= self.columns.START and self.forth.first_node == node:
            self.fill()

    def refill(self) -> None:
        owed, self.owed = self.owed, 0
        c = self.columns
        for _ in range(owed):
            if self.clock.now < c.STOP and self.next < c.LIMIT:
                self.next += 1
                self._put(self.next - 1)

    def _expect(self, k: int, time: int) -> None:
        """Schedule packet k."""
        c = self.columns
        if time < c.STOP and k < c.LIMIT:
            self.clock.at(time, Turn.FIRST, self._send, k)

    def _send(self, k: int) -> None:
        c = self.columns
        wait = gap(self.world.streams, k, c.INTERVAL, c.SPREAD, stream=STREAM_DATAGRAM + self.number)
        self._expect(k + 1, self.clock.now + wait)
        self._put(k)

    def _put(self, k: int) -> None:
        c = self.columns
        self.outcomes.add(Out.SENT)
        self.transmit(Packet("data", c.SIZE + c.HEADER - (c.SHORT if k == c.LIMIT - 1 else 0), k))

    def arrive(self, packet: Packet) -> None:
        self.outcomes.arrived(packet, packet.content, self.clock.now)


class Association(Flow):
    """Flow whose sink sends acknowledgements."""

    def __init__(self, world: "World", number: int, columns: Any) -> None:
        super().__init__(world, number, columns)
        self.back = Route(
            world, before=columns.ACK_BEFORE, links=world.tables.path(columns.BACK_AT, columns.BACK),
            after=columns.ACK_AFTER, arrive=self.arrive_back, lost=self.outcomes.lost,
            agreements=world.tables.path_agreements(columns.BACK_AT, columns.BACK),
        )  # fmt: skip
        self.finished = NEVER  # when the source knew that all data have arrived
        self.entrance = None  # queue that holds the source back when it is full
        if world.radio.BACK_PRESSURE and columns.BEFORE == NOBODY:
            self.entrance = self.forth.entrance(0)
            self.world.stations[self.forth.first_node].on_room[number] = self.pump

    def send_back(self, packet: Packet) -> None:
        """Send a packet from the sink."""
        packet.path = self.number
        if packet.kind == "ack":
            self.outcomes.more[FlowOut.ACKS_SENT] += 1
            if self.columns.AFTER != NOBODY:
                self.world.legs[self.columns.AFTER].occupy(self.columns.ACK_COST)
        self.back.send(packet)

    def arrive_back(self, packet: Packet) -> None:
        raise NotImplementedError

    def pump(self) -> None:
        """Continue after a frame has left the queue."""
        raise NotImplementedError

    def close(self) -> None:
        """Discard the state of the endpoints, including a running timer of the receiver."""
        raise NotImplementedError

    def _note_finished(self, finished: bool) -> None:
        if finished and self.finished == NEVER and self.columns.LIMIT != ENDLESS:
            self.finished = self.clock.now


class Tcp(Association):
    def __init__(
        self, world: "World", number: int, columns: Any, protocol: str, parameters: FlowParameters
    ) -> None:
        sender, control = tcp_of(protocol)
        self.first_data = sender.first_data
        super().__init__(world, number, columns)
        self.sender = sender(self.clock, self.outcomes, parameters, self.transmit, control())
        self.sender.send_probe = self._put_probe_out
        self.receiver = Receiver(
            self.clock, self.outcomes, first=self.sender.next_number, first_data=sender.first_data,
            ack_every=parameters.ACK_EVERY, ack_delay=parameters.ACK_DELAY, ack_size=parameters.ACK,
            block_size=parameters.SACK_BLOCK, sack=sender.sack, send_back=self.send_back,
        )  # fmt: skip
        self.held = False
        if self.entrance is not None:
            self.sender.may_send = self._has_room
        self.clock.at(columns.START, Rank.HOP, self.sender.start)

    def transmit(self, packet: Packet) -> None:
        if packet.kind == "data":  # the path twin of Vegas sends packets without a header
            packet.size = self.columns.SIZE + self.columns.HEADER - self.sender.missing(packet.content)
        super().transmit(packet)

    def _put_probe_out(self, number: int) -> None:
        self.forth.send(Packet("probe", self.columns.HEADER, number, path=self.number))

    def arrive(self, packet: Packet) -> None:
        if packet.kind == "probe":
            self.back.send(Packet("reply", packet.size, packet.content, path=self.number))
        else:
            self.receiver.receive(packet)

    def arrive_back(self, packet: Packet) -> None:
        if packet.kind == "reply":
            self.sender.on_probe_reply(packet.content)
        else:
            self.sender.receive(packet)
            self._note_finished(self.sender.finished)

    def close(self) -> None:
        self.receiver.timer.stop()

    def _has_room(self) -> bool:
        """Return True if the first queue has space; otherwise the sender is held."""
        assert self.entrance is not None
        self.held = self.entrance.is_full()
        return not self.held

    def pump(self) -> None:
        if self.held:
            self.held = False
            self.sender.resume()
