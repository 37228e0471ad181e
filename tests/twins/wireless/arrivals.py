"""Flows that arrive and depart over 802.11, with the sources of the twin of shared links."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.arrivals import STREAM_ARRIVAL
from netcarlo.kernels.base.layout import NEVER
from netcarlo.kernels.wireless.layout import FlowOut
from tests.twins.path.link import Packet
from tests.twins.random_numbers import Streams
from tests.twins.shared import arrivals
from tests.twins.wireless.clock import Clock, Phase, Turn
from tests.twins.wireless.counters import FlowOutcomes

if TYPE_CHECKING:
    from tests.twins.wireless.world import World


class Slot(arrivals.Slot):
    """Slot: one of the flows of a row, which carries arriving flows one after the other."""

    world: "World"  # type: ignore[assignment]

    @property
    def now(self) -> int:
        return self.world.simulation.now

    @property
    def _payload(self) -> int:
        return int(self.columns.SIZE)

    @property
    def latest(self) -> Any:
        return self.flows[-1]

    @property
    def forth(self) -> Any:
        return self.latest.forth

    def is_free(self) -> bool:
        over = self.latest.finished != NEVER and not any(p.path == self.number for p in self.world.packets())
        return len(self.flows) == 1 or over

    def _let_arrive(self, flow: Any, arrives: Any) -> None:
        flow.forth.arrive = arrives

    def _ideal(self, packets: int, size: int) -> int:
        """Return 0: the slowdown is not measured."""
        return 0

    def departed(self) -> bool:
        """Return False: no flow keeps a queue filled."""
        return False

    def refill(self) -> None:
        """Do nothing: no flow keeps a queue filled."""

    def returned(self, node: int) -> None:
        """Do nothing: no flow keeps a queue filled."""

    def waiting(self) -> list[Packet]:
        waiting: list[Packet] = self.latest.waiting()
        return waiting

    @property
    def outcomes(self) -> "SlotOutcomes":
        return SlotOutcomes(self)


class SlotOutcomes:
    """Combined outcomes of the flows of a slot."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.each: list[FlowOutcomes] = [flow.outcomes for flow in slot.flows]  # type: ignore[misc]

    @property
    def all_arrivals(self) -> list[tuple[int, int]]:
        return [arrival for outcomes in self.each for arrival in outcomes.all_arrivals]

    def reset(self, *, in_flight: int) -> None:
        """Reset the counters at the end of the warm-up."""
        self.slot.active_before = self.slot.is_active()
        for outcomes in self.each:
            outcomes.reset(in_flight=0)
        self.each[0].reset(in_flight=in_flight)

    def columns(self, *, in_flight: int) -> list[int]:
        """Return the columns of `FlowOut`: sums, except times, which are those of the first, last or latest
        flow.
        """
        rows = [outcomes.columns(in_flight=0) for outcomes in self.each]
        found = [sum(values) for values in zip(*rows, strict=True)]
        for column, choose in ((FlowOut.FIRST_RX, min), (FlowOut.LAST_RX, max)):
            found[column] = choose((row[column] for row in rows if row[column] != NEVER), default=NEVER)
        for column in (FlowOut.COMPLETED, FlowOut.SOURCE_DONE):
            found[column] = rows[-1][column]
        found[FlowOut.IN_FLIGHT] = in_flight
        found[FlowOut.DELAY_SUM] = sum(sum(outcomes.delays) for outcomes in self.each) // 1000
        together = self.each[-1]
        together.arrivals = [time for outcomes in self.each for time in outcomes.arrivals]
        found[FlowOut.BEST] = together.best()
        return found


class Source(arrivals.Source):
    world: "World"  # type: ignore[assignment]

    def _gaps(self) -> Iterator[int]:
        gaps = self.world.gaps(STREAM_ARRIVAL + self.number, self.columns.PERIODS)
        assert gaps is not None
        return gaps

    @property
    def now(self) -> int:
        return self.world.simulation.now

    def _streams(self) -> Streams:
        return self.world.streams

    def _plan(self, time: int) -> None:
        Clock(self.world.simulation, Phase.FLOW, self.number).at(time, Turn.ARRIVAL, self._comes)


class Class(arrivals.Class):
    source = Source


def classes_of(world: "World") -> list[Class]:
    """Return the classes of a row, with their slots in order."""
    slots: list[Any] = [flow for flow in world.flows if isinstance(flow, Slot)]
    most = max((slot.columns.CLASS for slot in slots), default=0)
    return [Class(world, [s for s in slots if k == s.columns.CLASS]) for k in range(1, most + 1)]  # type: ignore[arg-type]
