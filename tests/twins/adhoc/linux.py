"""Flow whose endpoints are those of the TCP of current Linux of the path twin."""

from typing import TYPE_CHECKING

from tests.twins.adhoc.flow import Association
from tests.twins.linux.bbr import PacedSender
from tests.twins.linux.bbr3 import Bbr3Sender
from tests.twins.linux.controls import CONTROLS
from tests.twins.linux.own import OwnSender
from tests.twins.linux.receiver import LinuxReceiver
from tests.twins.linux.sender import LinuxSender
from tests.twins.path.engine import Rank

if TYPE_CHECKING:
    from tests.twins.adhoc.world import World


class Linux(Association):
    def __init__(self, world: "World", control: str) -> None:
        super().__init__(world)
        kind = {"bbr": PacedSender, "bbr3": Bbr3Sender, "own": OwnSender}.get(control, LinuxSender)
        own = CONTROLS.get(control, CONTROLS["reno"])()
        self.sender = kind(self.clock, self.counters.of_tcp, world.p, self.transmit, own)
        self.sender.widens = True
        self.receiver = LinuxReceiver(self.clock, self.counters.of_tcp, world.p, self.send_back)
        self.clock.at(world.p.START, Rank.HOP, self.sender.start)

    def finished(self) -> bool:
        return self.sender.una == self.sender.end
