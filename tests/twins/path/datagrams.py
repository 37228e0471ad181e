"""UDP source over a path."""

from typing import TYPE_CHECKING

from netcarlo.kernels.base.layout import Out
from tests.twins.jitter import gap
from tests.twins.path.engine import Rank
from tests.twins.path.link import Packet, Path
from tests.twins.random_numbers import Streams

if TYPE_CHECKING:
    from tests.twins.outcomes import Outcomes
    from tests.twins.parameters import Parameters
    from tests.twins.path.engine import Simulation


class Datagrams:
    """Datagrams from START on, before STOP, at most LIMIT."""

    def __init__(
        self, simulation: "Simulation", outcomes: "Outcomes", parameters: "Parameters", path: Path
    ) -> None:
        self.simulation = simulation
        self.outcomes = outcomes
        self.parameters = parameters
        self.path = path
        path.connect(self._arrive, lambda packet: None)
        self.streams = Streams(parameters.SEED, parameters.SCENARIO, parameters.REPLICATION)
        self._expect(0, parameters.START)

    def _expect(self, k: int, time: int) -> None:
        p = self.parameters
        if time < p.STOP and k < p.LIMIT:
            self.simulation.at(time, Rank.HOP, self._send, k)

    def _send(self, k: int) -> None:
        self.outcomes.add(Out.SENT)
        p = self.parameters
        self.path.send(Packet("data", p.DATA + p.HEADER - (p.SHORT if k == p.LIMIT - 1 else 0), k))
        self._expect(k + 1, self.simulation.now + gap(self.streams, k, p.INTERVAL, p.SPREAD))

    def _arrive(self, packet: Packet) -> None:
        self.outcomes.arrived(packet, packet.content, self.simulation.now)
