"""Flow over a changing route whose endpoints are those of a TCP of the path twin."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.adhoc.layout import STREAM_RESIDUAL, ManetOut
from netcarlo.kernels.base.layout import NEVER
from tests.twins.adhoc.frames import Frame, Kind
from tests.twins.adhoc.tables import Errors
from tests.twins.path.engine import Rank, Simulation
from tests.twins.path.link import Packet
from tests.twins.run import tcp_of
from tests.twins.tcp.receiver import Receiver

if TYPE_CHECKING:
    from tests.twins.adhoc.world import World

_IN_ORDER = [
    *(Rank.HOP, Rank.RETRANSMISSION, Rank.PACING, Rank.DELAYED_ACK),  # PACING has the same rank as T1
    *(Rank.T3, Rank.DEGRADE, Rank.HEARTBEAT, Rank.IDLE),
    *(Rank.SACK, Rank.HEARTBEAT + 2, Rank.IDLE + 1),
]
ORDER = {int(rank): place for place, rank in enumerate(_IN_ORDER)}
"""Order of simultaneous events: the start, timeouts and delayed ACKs of TCP, timers of SCTP's sender,
timers of its receiver.
"""


class Clock(Simulation):
    """Events of the flow on the clock of the network."""

    def __init__(self, world: "World") -> None:
        self._world = world
        super().__init__()

    @property
    def now(self) -> int:
        return self._world.now

    @now.setter
    def now(self, time: int) -> None:
        assert time == self._world.now

    def at(
        self, time: int, rank: int, action: Callable[..., None], *arguments: Any, order: Any = None
    ) -> None:
        super().at(time, ORDER[rank], action, *arguments, order=order)


class Association:
    """Common parts of TCP and SCTP; `sender` and `receiver` are those of the path twin."""

    sender: Any
    receiver: Any

    def __init__(self, world: "World") -> None:
        self.world = world
        self.counters = world.counters
        self.clock = Clock(world)
        self.errors = Errors(world.tables, STREAM_RESIDUAL, world.net.RESIDUAL)
        self.errors_at_source = Errors(world.tables, STREAM_RESIDUAL + 1, world.net.ACK_RESIDUAL)
        self.errors_at_sink = Errors(world.tables, STREAM_RESIDUAL + 2, world.net.ACK_RESIDUAL)

    def transmit(self, packet: Packet) -> None:
        """Send a packet from the source."""
        packet.sent = self.world.now
        self.counters.note_sent(packet, self.world.now)
        self.world.routers[self.world.source].send(Kind.DATA, packet)

    def send_back(self, packet: Packet) -> None:
        """Send a packet from the sink."""
        if packet.kind == "ack":
            self.counters.add(ManetOut.ACKS_SENT)
        self.world.routers[self.world.sink].send(Kind.ACK, packet)

    def arrive(self, frame: Frame) -> None:
        """Process a frame that has reached its destination."""
        if frame.kind in (Kind.DATA, Kind.PROBE):
            self._arrive_at_sink(frame)
        else:
            self._arrive_at_source(frame)

    def _arrive_at_sink(self, frame: Frame) -> None:
        assert frame.packet is not None
        if frame.is_data:
            self.counters.add(ManetOut.HOPS, frame.hop)
            self.counters.add(ManetOut.ARRIVED)
        if (self.errors if frame.is_data else self.errors_at_sink).strike():
            if frame.is_data:
                self.counters.add(ManetOut.DROPS_RANDOM)
            self.destroyed(frame)
        else:
            self.at_sink(frame)

    def _arrive_at_source(self, frame: Frame) -> None:
        assert frame.packet is not None
        if self.errors_at_source.strike():
            if frame.packet.kind == "ack":
                self.counters.add(ManetOut.ACK_DROPS)
            return
        self.at_source(frame)
        if self.finished() and self.counters.values[ManetOut.FINISHED] == NEVER:
            self.counters.values[ManetOut.FINISHED] = self.world.now

    def at_sink(self, frame: Frame) -> None:
        """Process a packet at the sink."""
        self.receiver.receive(frame.packet)

    def at_source(self, frame: Frame) -> None:
        """Process a packet at the source."""
        self.sender.receive(frame.packet)

    def finished(self) -> bool:
        """Return True if all data are acknowledged."""
        raise NotImplementedError

    def destroyed(self, frame: Frame) -> None:
        """Process a packet with a residual error at the sink."""

    def notice(self) -> None:
        """Process the notice of a broken link at the source."""

    def dropped(self, frame: Frame, cause: ManetOut) -> None:
        """Count a lost frame; `cause` applies to data."""
        if frame.is_data:
            self.counters.add(cause)
        elif frame.packet is not None and frame.packet.kind == "ack":
            self.counters.add(ManetOut.ACK_DROPS)

    def count(self) -> None:
        """Read the counters of the sender after the run."""


class Tcp(Association):
    def __init__(self, world: "World", protocol: str) -> None:
        super().__init__(world)
        p = world.p
        sender, control = tcp_of(protocol)
        self.sender = sender(self.clock, self.counters.of_tcp, p, self._send, control())
        self.sender.send_probe = self._send_probe
        self.receiver = Receiver(
            self.clock, self.counters.of_tcp, first=self.sender.next_number, first_data=sender.first_data,
            ack_every=p.ACK_EVERY, ack_delay=p.ACK_DELAY, ack_size=p.ACK, block_size=p.SACK_BLOCK,
            sack=sender.sack, send_back=self.send_back,
        )  # fmt: skip
        self.clock.at(p.START, Rank.HOP, self.sender.start)

    def _send(self, packet: Packet) -> None:
        p = self.world.p
        packet.size = p.HANDSHAKE
        if packet.kind == "data":  # the path twin of Vegas sends packets without a header
            packet.size = p.DATA + p.HEADER - self.sender.missing(packet.content)
        self.transmit(packet)

    def _send_probe(self, number: int) -> None:
        packet = Packet("probe", self.world.p.HEADER, number)
        self.world.routers[self.world.source].send(Kind.PROBE, packet)

    def at_sink(self, frame: Frame) -> None:
        assert frame.packet is not None
        if frame.kind == Kind.DATA:
            self.receiver.receive(frame.packet)
        else:
            self.world.routers[self.world.sink].send(Kind.REPLY, frame.packet)

    def at_source(self, frame: Frame) -> None:
        assert frame.packet is not None
        if frame.kind == Kind.ACK:
            self.sender.receive(frame.packet)
        else:
            self.sender.on_probe_reply(frame.packet.content)

    def finished(self) -> bool:
        return bool(self.sender.finished)

    def destroyed(self, frame: Frame) -> None:
        assert frame.packet is not None
        if frame.kind == Kind.DATA:
            self.receiver.corrupted(frame.packet.content)

    def notice(self) -> None:
        self.sender.on_notice()

    def count(self) -> None:
        values, sender = self.counters.values, self.sender
        values[ManetOut.PROBES] = sender.probes
        values[ManetOut.PROBE_CYCLES] = sender.pauses
        values[ManetOut.PROBE_TIME] = sender.paused_until(self.world.now)
        values[ManetOut.SPARED] = sender.spared
