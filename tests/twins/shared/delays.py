"""Delays of received data, and their statistics by class."""

from typing import TYPE_CHECKING

from netcarlo.kernels.base.delays import DelayOut
from tests.twins.linux.receiver import Data
from tests.twins.outcomes import WORD, Outcomes
from tests.twins.path.link import Packet
from tests.twins.shared.arrivals import Slot, edges, histogram

if TYPE_CHECKING:
    from tests.twins.shared.world import World

EDGES = edges(DelayOut.COLUMNS - DelayOut.DELAYS)


class Noted(Outcomes):
    """Counters of a flow, and arrival times of new data."""

    def __init__(self, *, limit: int) -> None:
        super().__init__(limit=limit)
        self.first_put_out: dict[int, int] = {}
        self.arrivals: list[tuple[int, int]] = []  # time, and delay [ns]

    def note_sent(self, packet: Packet, now: int) -> None:
        number = packet.content.number if isinstance(packet.content, Data) else packet.content
        if packet.kind == "data":
            self.first_put_out.setdefault(number, now)

    def arrived(self, packet: Packet, sequence: int | None, now: int) -> None:
        if sequence is not None and sequence not in self.delivered:
            self.arrivals.append((now, now - self.first_put_out[sequence]))
        super().arrived(packet, sequence, now)


class Gauge:
    """Delay statistics of a class."""

    def __init__(self, *, warm_up: int = 0) -> None:
        self.warm_up = warm_up
        self.packets: list[tuple[int, int, bool]] = []  # delay and jitter [ns], whether it is late

    def take(self, arrivals: list[tuple[int, int]], bound: int) -> None:
        """Add the delays of a flow."""
        jitter, before = 0, None  # [ns / 16]
        for time, delay in arrivals:
            if before is not None:
                jitter += abs(delay - before) - (jitter + 8) // 16
            before = delay
            if time >= self.warm_up:
                self.packets.append((delay, jitter // 16, delay > bound))

    def values(self) -> list[int]:
        """Return the columns of `DelayOut`."""
        found = [len(self.packets), sum(late for _, _, late in self.packets)]
        found += reversed(divmod(sum(delay for delay, _, _ in self.packets), WORD))
        found.append(sum(jitter for _, jitter, _ in self.packets))
        return found + histogram([delay // 128 for delay, _, _ in self.packets], EDGES)


def gauges_of(world: "World") -> list[Gauge]:
    """Return the delay statistics of the classes, after the run."""
    found = [Gauge(warm_up=world.tables.p.WARM_UP) for _ in range(world.tables.p.DELAY_CLASSES)]
    for flow in world.flows:
        if flow.columns.DELAY_CLASS:
            for one in flow.flows if isinstance(flow, Slot) else [flow]:
                found[flow.columns.DELAY_CLASS - 1].take(one.outcomes.arrivals, flow.columns.BOUND)
    return found
