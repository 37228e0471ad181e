"""Flow whose endpoints are those of the TCP of current Linux of the path twin."""

from typing import TYPE_CHECKING, Any

from tests.twins.linux.bbr import PacedSender
from tests.twins.linux.bbr3 import Bbr3Sender
from tests.twins.linux.controls import CONTROLS
from tests.twins.linux.own import OwnSender
from tests.twins.linux.receiver import FIRST, LinuxReceiver
from tests.twins.linux.sender import LinuxSender
from tests.twins.path.link import Packet
from tests.twins.wireless.clock import Turn
from tests.twins.wireless.flows import Association
from tests.twins.wireless.tables import FlowParameters

if TYPE_CHECKING:
    from tests.twins.wireless.world import World


class Linux(Association):
    first_data = FIRST

    def __init__(
        self, world: "World", number: int, columns: Any, control: str, parameters: FlowParameters
    ) -> None:
        super().__init__(world, number, columns)
        kind = {"bbr": PacedSender, "bbr3": Bbr3Sender, "own": OwnSender}.get(control, LinuxSender)
        own = CONTROLS.get(control, CONTROLS["reno"])()
        self.sender = kind(self.clock, self.outcomes, parameters, self.transmit, own)
        self.sender.flow = number
        self.receiver = LinuxReceiver(self.clock, self.outcomes, parameters, self.send_back)
        self.clock.at(columns.START, Turn.FIRST, self.sender.start)

    def arrive(self, packet: Packet) -> None:
        self.receiver.receive(packet)

    def arrive_back(self, packet: Packet) -> None:
        self.sender.receive(packet)
        self._note_finished(self.sender.una == self.sender.end)

    def close(self) -> None:
        self.receiver.delayed.stop()
        self.receiver.merging.stop()

    def pump(self) -> None:
        """Send without waiting for queue space."""
