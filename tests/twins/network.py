"""Links and paths of one row."""

from collections.abc import Callable, Iterator
from itertools import count

from netcarlo.kernels.base.layout import CHANCE_BITS, STREAM_CHANNEL, STREAM_LOSS, Hop, Out, Rows
from tests.twins.outcomes import Outcomes
from tests.twins.parameters import Parameters, outages_of
from tests.twins.path.engine import Rank, Simulation
from tests.twins.path.link import CrossTraffic, Link, Path
from tests.twins.path.mobility import Time
from tests.twins.path.mobility.access import Access
from tests.twins.path.mobility.host import MobilePath
from tests.twins.path.mobility.radio import Radio
from tests.twins.path.mobility.schedule import plan
from tests.twins.path.mobility.signalling import Signalling
from tests.twins.path.mobility.timelines import Timeline, astray_times, make_timeline
from tests.twins.path.varying import Varying, read
from tests.twins.random_numbers import Streams

NEVER_LOSES = 0xFFFFFFFF


class Network:
    """Builds the network between the hosts of row `row`."""

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Parameters, streams: Streams,
        rows: Rows, row: int, *, arrival_first: bool,
    ) -> None:
        self.simulation = simulation
        self.outcomes = outcomes
        self.parameters = parameters
        self.streams = streams
        self.rows = rows
        self.row = row
        self.arrival_first = arrival_first  # see `Server`

    def hops(self, path: int) -> int:
        return int(self.rows.hops[self.row, path, :, Hop.PRESENT].sum())

    def path(self, path: int) -> Path:
        """Return a path with hops and outages."""
        hops = range(self.hops(path))
        forward = [self.link(path, hop, 0, self.outages(path, hop)) for hop in hops]
        backward = [self.link(path, hop, 1, self.outages(path, hop)) for hop in reversed(hops)]
        found = Path(path, forward, backward)
        if found.reorders:
            found.late = lambda: self.outcomes.add(Out.REORDERED)
        return found

    def mobile_path(self) -> MobilePath:
        """Return path 0 with a mobile host after its last hop, whose outages are a schedule."""
        p = self.parameters
        radio = self.hops(0) - 1
        up = self.delay(radio, 1) + p.MAP_TO_AR
        down = p.MAP_TO_AR + self.delay(radio, 0)
        timelines: list[Timeline] = []
        astray: list[list[tuple[Time, Time]]] = [[]]  # place by place
        handovers = plan(p, self.streams, [start for start, _ in self.outages(0, radio)])
        for handover in handovers:
            signalling = Signalling(
                p, self.streams, handover.number, up=up, down=down,
                backbone_up=sum(self.delay(hop, 1) for hop in range(radio)),
                backbone_down=sum(self.delay(hop, 0) for hop in range(radio)),
            )
            if handover.false_alarm:
                astray[-1].append(astray_times(p, signalling, handover))
            else:
                timelines.append(make_timeline(p, signalling, handover))
                astray.append([])
        for first in handovers[:1]:
            self.outcomes.expect_outage(first.down)
        self.outcomes.add(Out.HANDOVERS, len(timelines))
        self.outcomes.add(Out.PREPARED, sum(line.prepared for line in timelines))
        self.outcomes.add(Out.FALSE_ALARMS, len(handovers) - len(timelines))

        byte_time, delay, limit, _ = self.columns(0, radio)[:4]
        air = Radio(
            self.simulation, byte_time=byte_time, delay=delay, limit=limit, gaps=self.gaps(0, radio, 0),
            arrival_first=self.arrival_first,
        )
        self.cross_traffic(0, radio, air.accept_cross)
        access = Access(self.simulation, self.outcomes, p, timelines, astray, air)
        forward = [self.link(0, hop, 0, self.outages(0, hop)) for hop in range(radio)]
        backward = [self.link(0, hop, 1, self.outages(0, hop)) for hop in reversed(range(radio))]
        backward.insert(0, self.link(0, radio, 1, []))
        return MobilePath(
            self.simulation, self.outcomes, forward, access, backward, map_to_router=p.MAP_TO_AR
        )

    def link(self, path: int, hop: int, direction: int, outages: list[tuple[int, int]]) -> Link:
        byte_time, delay, limit, _ = self.columns(path, hop)[4 * direction : 4 * direction + 4]
        tick, tick_phase = self.columns(path, hop)[Hop.TICK : Hop.TICK_PHASE + 1]
        link = Link(
            self.simulation, byte_time=byte_time, delay=delay, limit=limit, lost=self.outcomes.lost,
            gaps=self.gaps(path, hop, direction), tick=tick if direction == 0 else 0, tick_phase=tick_phase,
            varying=self.varying(path, hop, direction), arrival_first=self.arrival_first,
        )
        link.outages = outages
        for start, end in outages:
            self.simulation.at(start, Rank.LINK_DOWN, link.go_down)
            self.simulation.at(end, Rank.LINK_UP, link.come_up)
            if path == 0:
                self.outcomes.expect_outage(start)
        if direction == 0:
            self.cross_traffic(path, hop, link.accept_cross)
        return link

    def columns(self, path: int, hop: int) -> list[int]:
        return [int(value) for value in self.rows.hops[self.row, path, hop]]

    def delay(self, hop: int, direction: int) -> int:
        return self.columns(0, hop)[4 * direction + 1]

    def cross_traffic(self, path: int, hop: int, take: Callable[[int], None]) -> None:
        every, size, first = self.columns(path, hop)[Hop.CROSS_EVERY : Hop.CROSS_FIRST + 1]
        CrossTraffic(self.simulation, take, every=every, size=size, first=first)

    def outages(self, path: int, hop: int) -> list[tuple[int, int]]:
        return outages_of(self.rows, self.row, path, hop)

    def varying(self, path: int, hop: int, direction: int) -> Varying | None:
        first = self.columns(path, hop)[Hop.VARIES + direction]
        if not first:
            return None
        pairs = [(int(one), int(other)) for one, other in self.rows.outages[self.row, path, hop, first:]]
        stream = STREAM_LOSS + (path * 64 + hop) * 2 + direction
        return Varying(read(pairs), self.streams, stream)

    def gaps(self, path: int, hop: int, direction: int) -> Iterator[int] | None:
        stream = STREAM_LOSS + (path * 64 + hop) * 2 + direction
        columns = self.columns(path, hop)
        calm, burst = ([int(value) for value in self.rows.losses[columns[column]]]
                       for column in (4 * direction + 3, Hop.BURST_LOSS + direction))  # fmt: skip
        if columns[Hop.CHANCES + direction]:
            chances = columns[Hop.CHANCES + direction], columns[Hop.BURST_CHANCES + direction]
            return bursty(self.streams, stream, (calm, burst), chances)
        return None if calm[-1] == NEVER_LOSES else self.streams.gaps(stream, calm)


def bursty(
    streams: Streams, stream: int, thresholds: tuple[list[int], list[int]], chances: tuple[int, int]
) -> Iterator[int]:
    """Yield the numbers of survivors before each loss of a channel with two states."""
    state = survivors = 0
    for k in count():
        survivors += streams.gap(stream, thresholds[state], k)
        first, second = (word // 2 for word in streams.block(STREAM_CHANNEL + stream, k)[:2])
        loss, turn = divmod(chances[state], 1 << CHANCE_BITS)
        lost = first < loss
        if not lost or second < turn:
            state = 1 - state
        if lost:
            yield survivors
            survivors = 0
        else:
            survivors += 1  # the packet after which the channel turned
