"""The flow: one of the TCPs of the path twin over the changing route."""

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

ORDER = {Rank.HOP: 0, Rank.RETRANSMISSION: 1, Rank.DELAYED_ACK: 2}
"""Of events at the same time: the start, timeouts, delayed acknowledgements."""


class Clock(Simulation):
    """The events of the flow, at the time of the whole."""

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
        super().at(time, ORDER[Rank(rank)], action, *arguments, order=order)


class Flow:
    def __init__(self, world: "World", protocol: str) -> None:
        p = world.p
        self.world = world
        self.counters = world.counters
        self.clock = Clock(world)
        sender, control = tcp_of(protocol)
        self.sender = sender(self.clock, self.counters.of_tcp, p, self._put_out, control())
        self.sender.send_probe = self._put_probe_out
        self.receiver = Receiver(
            self.clock, self.counters.of_tcp, first=self.sender.next_number, first_data=sender.first_data,
            ack_every=p.ACK_EVERY, ack_delay=p.ACK_DELAY, ack_size=p.ACK, block_size=p.SACK_BLOCK,
            sack=sender.sack, send_back=self._acknowledge,
        )  # fmt: skip
        self.errors = Errors(world.tables, STREAM_RESIDUAL, world.net.RESIDUAL)
        self.errors_at_source = Errors(world.tables, STREAM_RESIDUAL + 1, world.net.ACK_RESIDUAL)
        self.errors_at_sink = Errors(world.tables, STREAM_RESIDUAL + 2, world.net.ACK_RESIDUAL)
        self.clock.at(p.START, Rank.HOP, self.sender.start)

    def _put_out(self, packet: Packet) -> None:
        packet.sent = self.world.now
        self.world.routers[self.world.source].send(Kind.DATA, packet)

    def _put_probe_out(self, number: int) -> None:
        packet = Packet("probe", self.world.p.HEADER, number)
        self.world.routers[self.world.source].send(Kind.PROBE, packet)

    def _acknowledge(self, packet: Packet) -> None:
        self.counters.add(ManetOut.ACKS_SENT)
        self.world.routers[self.world.sink].send(Kind.ACK, packet)

    def arrive(self, frame: Frame) -> None:
        """A frame has reached the host it is for."""
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
            if frame.kind == Kind.DATA:
                self.receiver.corrupted(frame.packet.content)
        elif frame.kind == Kind.DATA:
            self.receiver.receive(frame.packet)
        else:
            self.world.routers[self.world.sink].send(Kind.REPLY, frame.packet)

    def _arrive_at_source(self, frame: Frame) -> None:
        assert frame.packet is not None
        if self.errors_at_source.strike():
            if frame.kind == Kind.ACK:
                self.counters.add(ManetOut.ACK_DROPS)
        elif frame.kind == Kind.ACK:
            self.sender.receive(frame.packet)
            if self.sender.finished and self.counters.values[ManetOut.FINISHED] == NEVER:
                self.counters.values[ManetOut.FINISHED] = self.world.now
        else:
            self.sender.on_probe_reply(frame.packet.content)

    def notice(self) -> None:
        """The source has learnt of a broken link."""
        self.sender.on_notice()

    def dropped(self, frame: Frame, cause: ManetOut) -> None:
        """A frame was lost; `cause` is for data."""
        if frame.is_data:
            self.counters.add(cause)
        elif frame.kind == Kind.ACK:
            self.counters.add(ManetOut.ACK_DROPS)

    def count(self) -> None:
        """What the sender counts itself, when the run is over."""
        values, sender = self.counters.values, self.sender
        values[ManetOut.PROBES] = sender.probes
        values[ManetOut.PROBE_CYCLES] = sender.pauses
        values[ManetOut.PROBE_TIME] = sender.paused_until(self.world.now)
        values[ManetOut.SPARED] = sender.spared
