"""Path between a sender and a mobile host: backbone hops, a MAP, access routers, a radio link."""

from collections.abc import Callable, Sequence

from netcarlo.kernels.base.layout import Out
from tests.twins.outcomes import Outcomes
from tests.twins.path.engine import Rank, Simulation
from tests.twins.path.link import Link, Packet, Path
from tests.twins.path.mobility.access import Access
from tests.twins.path.mobility.timelines import Timeline


class MobilePath(Path):
    """Path whose far end moves; `backward` begins with the radio link."""

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, forward: list[Link], access: Access,
        backward: list[Link], *, map_to_router: int,
    ) -> None:
        super().__init__(0, forward, backward)
        self.simulation = simulation
        self.outcomes = outcomes
        self.access = access
        self.timelines: Sequence[Timeline] = access.timelines
        self.map_to_router = map_to_router
        forward[-1].deliver = access.on_map
        backward[0].deliver = self._to_map
        self.newest_sent = -1  # latest send time of a packet that has arrived
        self.last_arrival: int | None = None

    def connect(self, receiver: Callable[[Packet], None], sender: Callable[[Packet], None]) -> None:
        def arrive(packet: Packet) -> None:
            if packet.kind == "data":
                self._observe(packet)
            receiver(packet)

        self.access.deliver = arrive
        self.backward[-1].deliver = sender
        self.backward[-1].rank = Rank.ACK

    def send_back(self, packet: Packet) -> None:
        now = self.simulation.now
        if any(line.down < now < line.up for line in self.timelines):
            self.outcomes.lost(packet, "handover")
        else:
            super().send_back(packet)

    def in_flight(self) -> int:
        """Return the data packets and copies between sender and host, waiting ones included."""
        backbone = [packet for link in self.forward for _, packet in link.wire]
        access = [traveller.packet for traveller in self.access.on_the_way]
        return sum(packet.kind == "data" for packet in backbone + access)

    def _to_map(self, packet: Packet) -> None:
        now = self.simulation.now
        self.simulation.at(now + self.map_to_router, Rank.HOP, self.backward[1].accept, packet)

    def _observe(self, packet: Packet) -> None:
        now = self.simulation.now
        if packet.sent < self.newest_sent:
            self.outcomes.add(Out.REORDERED)
        self.newest_sent = max(self.newest_sent, packet.sent)
        if self.last_arrival is not None:
            silence = self.outcomes.values[Out.SILENCE]
            self.outcomes.values[Out.SILENCE] = max(silence, now - self.last_arrival)
        self.last_arrival = now
