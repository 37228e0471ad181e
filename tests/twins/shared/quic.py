"""Flow whose endpoints are those of a QUIC connection of the path twin."""

from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.layout import NEVER, Out
from tests.twins.quic.receiver import QuicReceiver
from tests.twins.quic.sender import QuicSender
from tests.twins.shared.clock import HostClock, Phase, Turn
from tests.twins.shared.flows import Association
from tests.twins.shared.links import Segment

if TYPE_CHECKING:
    from tests.twins.shared.world import World


class Quic(Association):
    def __init__(self, world: "World", number: int, columns: Any) -> None:
        super().__init__(world, number, columns)
        clock = HostClock(self.agenda, number)
        self.sender = QuicSender(clock, self.outcomes, columns, self.transmit)
        self.receiver = QuicReceiver(clock, self.outcomes, columns, self.send_back)
        self.agenda.plan(columns.START, Phase.HOST, number, self.sender.start, turn=Turn.START)

    def arrive(self, segment: Segment) -> None:
        self.receiver.receive(segment.packet)

    def arrive_back(self, segment: Segment) -> None:
        self.sender.receive(segment.packet)
        if self.sender.finished and self.finished == NEVER:
            self.finished = self.agenda.now

    def sample(self) -> None:
        self.outcomes.add(Out.SAMPLES)
        self.outcomes.add(Out.CWND_SUM, self.sender.window_1024())
        if self.sender.rtt > 0:
            self.outcomes.add(Out.RTT_SUM, self.sender.rtt)
            self.outcomes.add(Out.RTT_SAMPLES)
