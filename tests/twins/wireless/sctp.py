"""Flow whose endpoints are those of an SCTP association with one path of the path twin."""

from typing import TYPE_CHECKING, Any

from tests.twins.path.link import Packet
from tests.twins.sctp.endpoint import Destination
from tests.twins.sctp.ends import ends
from tests.twins.wireless.clock import Phase, ReceiverClock, SenderClock, Turn
from tests.twins.wireless.flows import Association
from tests.twins.wireless.tables import FlowParameters

if TYPE_CHECKING:
    from tests.twins.wireless.world import World


class Sctp(Association):
    first_data = 1

    def __init__(self, world: "World", number: int, columns: Any, parameters: FlowParameters) -> None:
        super().__init__(world, number, columns)
        self.parameters = parameters
        at_sender, at_receiver = (
            clock(world.simulation, Phase.FLOW, number) for clock in (SenderClock, ReceiverClock)
        )
        sender, receiver, road = ends(parameters)
        self.sender = sender(
            self.outcomes, at_sender, parameters, world.streams, flow=number,
            destinations=[road(0, parameters)], transmit=lambda _, packet: self.transmit(packet),
        )  # fmt: skip
        self.receiver = receiver(
            self.outcomes, at_receiver, parameters, world.streams, flow=number,
            destinations=[Destination(0, parameters)], transmit=lambda _, packet: self.send_back(packet),
        )  # fmt: skip
        self.held: list[Packet] = []
        self.clock.at(columns.START, Turn.FIRST, self.sender.start)

    def send(self, packet: Packet) -> None:
        self.held.append(packet)
        self.pump()

    def pump(self) -> None:
        """Keep all packets waiting, in order, while the queue of the source's own node is full."""
        while self.held and not (self.entrance is not None and self.entrance.is_full()):
            super().send(self.held.pop(0))

    def waiting(self) -> list[Packet]:
        return self.held

    def arrive(self, packet: Packet) -> None:
        packet.path = 0
        packet.last_hop = self.parameters.ACK_DELAY  # packets are processed before timers
        self.receiver.receive(packet)

    def arrive_back(self, packet: Packet) -> None:
        packet.path = 0
        self.sender.receive(packet)
