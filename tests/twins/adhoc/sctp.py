"""Flow whose endpoints are those of an SCTP association with one path of the path twin."""

from typing import TYPE_CHECKING

from netcarlo.kernels.base.layout import FOREVER
from tests.twins.adhoc.flow import Association
from tests.twins.path.engine import Rank
from tests.twins.path.link import Packet
from tests.twins.sctp.endpoint import Destination
from tests.twins.sctp.ends import ends

if TYPE_CHECKING:
    from tests.twins.adhoc.world import World


class Sctp(Association):
    def __init__(self, world: "World") -> None:
        super().__init__(world)
        p, streams, outcomes = world.p, world.tables.streams, self.counters.of_tcp
        sender, receiver, road = ends(p)
        self.sender = sender(
            outcomes, self.clock, p, streams, destinations=[road(0, p)], transmit=self._send,
        )  # fmt: skip
        self.receiver = receiver(
            outcomes, self.clock, p, streams, destinations=[Destination(0, p)],
            transmit=lambda _, packet: self.send_back(packet),
        )  # fmt: skip
        self.clock.at(p.START, Rank.HOP, self.sender.start)

    def _send(self, _: int, packet: Packet) -> None:
        packet.last_hop = FOREVER  # processed before simultaneous timers
        self.transmit(packet)

    def finished(self) -> bool:
        return bool(self.sender.cumulative == self.world.p.LIMIT)
