"""All objects of one row, and the next event."""

from collections.abc import Callable

from netcarlo.kernels.adhoc.layout import IDEAL, OBSERVE_COMPLETION, ManetOut, ManetRows
from netcarlo.kernels.base.layout import FOREVER, NEVER
from tests.twins.adhoc.counters import Counters
from tests.twins.adhoc.datagrams import Datagrams
from tests.twins.adhoc.dsr import Dsr
from tests.twins.adhoc.flow import Tcp
from tests.twins.adhoc.frames import Frame
from tests.twins.adhoc.links import Topology
from tests.twins.adhoc.linux import Linux
from tests.twins.adhoc.medium import Medium, Station
from tests.twins.adhoc.quic import Quic
from tests.twins.adhoc.routing import Ideal, Router
from tests.twins.adhoc.sctp import Sctp
from tests.twins.adhoc.statistics import Statistics
from tests.twins.adhoc.tables import Tables

Event = tuple[int, Callable[[], None]]


class World:
    def __init__(self, rows: ManetRows, row: int, *, protocol: str) -> None:
        """Build the network; `protocol` is "sack", "sack_cubic", "linux_cubic", "sctp", "quic", "udp" or the
        like.
        """
        self.now = 0
        self.tables = Tables(rows, row)
        self.p = self.tables.p
        self.net = self.tables.net
        self.source: int = self.net.SOURCE
        self.sink: int = self.net.SINK
        self.difs = self.net.SIFS + 2 * self.net.SLOT
        self.requests = 0  # number of route requests so far
        self.counters = Counters(self.net.NODES, limit=self.p.LIMIT, bound=self.p.LATE)
        self.topology = Topology(self.tables)
        self.statistics = Statistics(self.counters, self.topology, self.source, self.sink)
        nodes = range(self.net.NODES)
        self.stations = [Station(self, n) for n in nodes]
        self.medium = Medium(self)
        self.routers: list[Router] = [
            Ideal(self, n) if self.net.ROUTING == IDEAL else Dsr(self, n) for n in nodes
        ]
        self.flow = self._flow(protocol)

    def _flow(self, protocol: str) -> Datagrams | Linux | Quic | Sctp | Tcp:
        if protocol == "udp":
            return Datagrams(self)
        if protocol.startswith("linux_"):
            return Linux(self, protocol.removeprefix("linux_"))
        if protocol == "quic":
            return Quic(self)
        return Sctp(self) if protocol == "sctp" else Tcp(self, protocol)

    def to_host(self, frame: Frame) -> None:
        self.flow.arrive(frame)

    def notice(self) -> None:
        self.flow.notice()

    def dropped(self, frame: Frame, cause: ManetOut) -> None:
        self.flow.dropped(frame, cause)

    def run(self) -> None:
        while not self._is_over():
            time, action = self._next_event()
            if time > self.p.END:
                self._pass_time(self.p.END)
                break
            self._pass_time(time)
            action()
        self.statistics.integrate(self.topology.links())
        self.flow.count()
        self.counters.values[ManetOut.ELAPSED] = self.now
        self.counters.values[ManetOut.IN_FLIGHT] = self._in_flight()

    def _is_over(self) -> bool:
        """Return True if the run can end early."""
        finished = self.counters.values[ManetOut.FINISHED] != NEVER
        return finished and self.net.OBSERVE == OBSERVE_COMPLETION

    def _pass_time(self, time: int) -> None:
        assert time >= self.now
        if self.routers[self.source].waits():
            self.counters.add(ManetOut.WAITED, time - self.now)
        self.now = self.topology.now = time

    def _next_event(self) -> Event:
        """Return the time and the action of the next event; simultaneous events follow the order of the
        list.
        """
        events: list[Event] = [(self.topology.next_time, self._change_links)]
        events += [(s.end, lambda s=s: self.medium.end(s)) for s in self.stations]  # type: ignore[misc]
        delayed = [router for router in self.routers if isinstance(router, Dsr)]
        events += [(router.next_delayed(), router.delay_is_over) for router in delayed]
        events += [(router.next_due(), router.due) for router in self.routers]
        events += [(router.check_at, router.check) for router in self.routers]
        events += [(self.flow.clock.next_time(), self.flow.clock.step)]
        start = min((station.next_start() for station in self.stations), default=FOREVER)
        events += [(start, self._start)]
        return min(events, key=lambda event: event[0])

    def _change_links(self) -> None:
        pair = self.topology.step()
        if pair is None:
            return
        i, j = pair
        self.statistics.flipped(i, j)
        if j in self.topology.linked[i]:
            for end in (self.source, self.sink):
                self.routers[end].link_has_come()

    def _start(self) -> None:
        self.medium.start([station for station in self.stations if station.next_start() == self.now])

    def _in_flight(self) -> int:
        """Return the data segments in flight or waiting for a route."""
        count = 0
        for station in self.stations:
            if station.current is not None and not station.received:
                count += station.current.is_data
            count += sum(frame.is_data for frame in station.routing + station.others)
        for router in self.routers:
            count += sum(waiting.packet.kind == "data" for waiting in router.buffer)
        return count
