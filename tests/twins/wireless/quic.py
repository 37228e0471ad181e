"""Flow whose endpoints are those of a QUIC connection of the path twin."""

from typing import TYPE_CHECKING, Any

from tests.twins.path.link import Packet
from tests.twins.quic.receiver import QuicReceiver
from tests.twins.quic.sender import QuicSender
from tests.twins.wireless.clock import Turn
from tests.twins.wireless.flows import Association
from tests.twins.wireless.tables import FlowParameters

if TYPE_CHECKING:
    from tests.twins.wireless.world import World


class Quic(Association):
    def __init__(self, world: "World", number: int, columns: Any, parameters: FlowParameters) -> None:
        super().__init__(world, number, columns)
        self.sender = QuicSender(self.clock, self.outcomes, parameters, self.transmit)
        self.receiver = QuicReceiver(self.clock, self.outcomes, parameters, self.send_back)
        if self.entrance is not None:
            self.sender.is_blocked = self.entrance.is_full
        self.clock.at(columns.START, Turn.FIRST, self.sender.start)

    def arrive(self, packet: Packet) -> None:
        self.receiver.receive(packet)

    def arrive_back(self, packet: Packet) -> None:
        self.sender.receive(packet)

    def pump(self) -> None:
        """Send the packets that wait for queue space."""
        self.sender.transmit()
