"""Flow whose endpoints are those of an SCTP association with one path of the path twin."""

from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.layout import NEVER, Out
from tests.twins.outcomes import Outcomes
from tests.twins.path.link import Packet
from tests.twins.sctp.endpoint import Destination
from tests.twins.sctp.ends import ends
from tests.twins.shared.clock import Phase, ReceiverClock, SenderClock, Turn
from tests.twins.shared.flows import Association
from tests.twins.shared.links import Segment

if TYPE_CHECKING:
    from tests.twins.shared.world import World


class Sctp(Association):
    def __init__(self, world: "World", number: int, columns: Any) -> None:
        super().__init__(world, number, columns)
        streams = world.tables.streams
        sender, receiver, road = ends(columns)
        self.sender = sender(
            self.outcomes, SenderClock(self.agenda, number), columns, streams, flow=number,
            destinations=[road(0, columns)], transmit=lambda _, packet: self.transmit(packet),
        )  # fmt: skip
        self.receiver = receiver(
            self.outcomes, ReceiverClock(self.agenda, number), columns, streams, flow=number,
            destinations=[Destination(0, columns)], transmit=lambda _, packet: self.send_back(packet),
        )  # fmt: skip
        self.coming: list[Segment] = []  # past the last link
        self.agenda.plan(columns.START, Phase.HOST, number, self.sender.start, turn=Turn.START)

    def _deliver(self, segment: Segment, time: int) -> None:
        super()._deliver(segment, time)
        self.coming.append(segment)

    def arrive(self, segment: Segment) -> None:
        self.receiver.catch_up()
        self.take_in(segment)

    def take_in(self, segment: Segment) -> None:
        """Process a packet at the receiver; duplicate or discarded data are not useful."""
        self.coming.remove(segment)
        before = self.receiver.outcomes.values[Out.DELIVERED]
        self.receiver.receive(segment.packet)
        if segment in self.through and self.receiver.outcomes.values[Out.DELIVERED] == before:
            self.through.remove(segment)

    def arrive_back(self, segment: Segment) -> None:
        self.sender.receive(segment.packet)
        if self.sender.cumulative == self.columns.LIMIT and self.finished == NEVER:
            self.finished = self.agenda.now

    def useful(self) -> int:
        """Return the useful payload, including data that reach the receiver before they are processed."""
        self.receiver.outcomes = Outcomes(limit=self.columns.LIMIT)
        self.receiver.outcomes.delivered = set(self.outcomes.delivered)
        self.receiver.transmit = _nowhere
        for segment in list(self.coming):
            self.take_in(segment)
        return super().useful()

    def sample(self) -> None:
        road = self.sender.current
        self.outcomes.add(Out.SAMPLES)
        self.outcomes.add(Out.CWND_SUM, min(road.cwnd, self.columns.RWND) * 1024 // self.sender.chunk_size)
        if road.latest_rtt > 0:
            self.outcomes.add(Out.RTT_SUM, road.latest_rtt)
            self.outcomes.add(Out.RTT_SAMPLES)


def _nowhere(path: int, packet: Packet) -> None:
    """Discard a packet after the end of the run."""
