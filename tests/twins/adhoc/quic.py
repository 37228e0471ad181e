"""Flow whose endpoints are those of a QUIC connection of the path twin."""

from typing import TYPE_CHECKING

from tests.twins.adhoc.flow import Association
from tests.twins.path.engine import Rank
from tests.twins.quic.receiver import QuicReceiver
from tests.twins.quic.sender import QuicSender

if TYPE_CHECKING:
    from tests.twins.adhoc.world import World


class Quic(Association):
    def __init__(self, world: "World") -> None:
        super().__init__(world)
        self.sender = QuicSender(self.clock, self.counters.of_tcp, world.p, self.transmit)
        self.receiver = QuicReceiver(self.clock, self.counters.of_tcp, world.p, self.send_back)
        self.clock.at(world.p.START, Rank.HOP, self.sender.start)

    def finished(self) -> bool:
        return self.sender.finished
