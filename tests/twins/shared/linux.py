"""Flow whose endpoints are those of the TCP of current Linux of the path twin."""

from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.layout import ENDLESS, NEVER, Out
from tests.twins.linux.bbr import PacedSender
from tests.twins.linux.bbr3 import Bbr3Sender
from tests.twins.linux.controls import CONTROLS
from tests.twins.linux.own import OwnSender
from tests.twins.linux.receiver import LinuxReceiver
from tests.twins.linux.sender import LinuxSender
from tests.twins.shared.clock import HostClock, Phase, Turn
from tests.twins.shared.flows import Association
from tests.twins.shared.links import Segment

if TYPE_CHECKING:
    from tests.twins.shared.world import World


class Linux(Association):
    def __init__(self, world: "World", number: int, columns: Any, control: str) -> None:
        super().__init__(world, number, columns)
        clock = HostClock(self.agenda, number)
        kind = {"bbr": PacedSender, "bbr3": Bbr3Sender, "own": OwnSender}.get(control, LinuxSender)
        own = CONTROLS.get(control, CONTROLS["reno"])()
        self.sender = kind(clock, self.outcomes, columns, self.transmit, own)
        self.sender.flow = number
        self.receiver = LinuxReceiver(clock, self.outcomes, columns, self.send_back)
        self.agenda.plan(columns.START, Phase.HOST, number, self.sender.start, turn=Turn.START)

    def close(self) -> None:
        self.receiver.delayed.stop()
        self.receiver.merging.stop()

    def arrive(self, segment: Segment) -> None:
        self.receiver.receive(segment.packet)

    def arrive_back(self, segment: Segment) -> None:
        self.sender.receive(segment.packet)
        everything = self.columns.LIMIT != ENDLESS and self.sender.una == self.sender.end
        if everything and self.finished == NEVER:
            self.finished = self.agenda.now

    def sample(self) -> None:
        self.outcomes.add(Out.SAMPLES)
        self.outcomes.add(Out.CWND_SUM, 1024 * min(self.sender.cwnd, self.columns.WINDOW))
        if self.sender.rtt > 0:
            self.outcomes.add(Out.RTT_SUM, self.sender.rtt)
            self.outcomes.add(Out.RTT_SAMPLES)
