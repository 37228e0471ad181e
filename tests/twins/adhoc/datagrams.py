"""Flow of datagrams without acknowledgements."""

from typing import TYPE_CHECKING

from netcarlo.kernels.adhoc.layout import STREAM_RESIDUAL, ManetOut
from netcarlo.kernels.base.layout import NEVER, Out
from tests.twins.adhoc.flow import Clock
from tests.twins.adhoc.frames import Frame, Kind
from tests.twins.adhoc.tables import Errors
from tests.twins.jitter import gap
from tests.twins.path.engine import Rank
from tests.twins.path.link import Packet
from tests.twins.random_numbers import Streams

if TYPE_CHECKING:
    from tests.twins.adhoc.world import World


class Datagrams:
    """Source that sends a datagram every INTERVAL from START until STOP, at most LIMIT."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.counters = world.counters
        self.clock = Clock(world)
        self.errors = Errors(world.tables, STREAM_RESIDUAL, world.net.RESIDUAL)
        p = world.p
        self.streams = Streams(p.SEED, p.SCENARIO, p.REPLICATION)
        self._expect(0, p.START)

    def _expect(self, k: int, time: int) -> None:
        p = self.world.p
        if time < p.STOP and k < p.LIMIT:
            self.clock.at(time, Rank.HOP, self._send, k)

    def _send(self, k: int) -> None:
        self.counters.of_tcp.add(Out.SENT)
        p = self.world.p
        packet = Packet("data", p.DATA + p.HEADER - (p.SHORT if k == p.LIMIT - 1 else 0), k)
        self.counters.note_sent(packet, self.world.now)
        self.world.routers[self.world.source].send(Kind.DATA, packet)
        self._expect(k + 1, self.world.now + gap(self.streams, k, p.INTERVAL, p.SPREAD))

    def arrive(self, frame: Frame) -> None:
        """Process a datagram that has reached its destination."""
        assert frame.packet is not None
        self.counters.add(ManetOut.HOPS, frame.hop)
        self.counters.add(ManetOut.ARRIVED)
        if self.errors.strike():
            self.counters.add(ManetOut.DROPS_RANDOM)
            return
        outcomes = self.counters.of_tcp
        outcomes.arrived(frame.packet, frame.packet.content, self.world.now)
        if outcomes.values[Out.COMPLETED] != NEVER:
            self.counters.values[ManetOut.FINISHED] = outcomes.values[Out.COMPLETED]

    def notice(self) -> None:
        """Ignore the notice of a broken link."""

    def dropped(self, frame: Frame, cause: ManetOut) -> None:
        """Count a lost frame; `cause` applies to data."""
        if frame.is_data:
            self.counters.add(cause)

    def count(self) -> None:
        """Do nothing: all counters are up to date."""
