"""Link with AQM: packets wait until the transmitter requests one."""

from typing import TYPE_CHECKING, Any

from netcarlo.kernels.shared.layout import CODEL, FIFO, FQ_CODEL, STREAM_PIE, LinkOut
from tests.twins.shared.aqm import CoDel, Fates, Fifo, FqCoDel, Pie, Waiting
from tests.twins.shared.clock import Phase
from tests.twins.shared.links import Link, Segment, Service, transmission_time

if TYPE_CHECKING:
    from tests.twins.shared.world import World


class ManagedLink(Link):
    def __init__(self, world: "World", number: int, columns: Any) -> None:
        super().__init__(world, number, columns)
        fates = Fates(self._drop, self._mark)
        self.queue: CoDel | FqCoDel | Pie | Fifo
        if columns.AQM == CODEL:
            self.queue = CoDel(columns, fates)
        elif columns.AQM == FQ_CODEL:
            self.queue = FqCoDel(columns, fates)
        elif columns.AQM == FIFO:
            self.queue = Fifo()
        else:
            self.queue = Pie(columns, fates, world.tables.streams, STREAM_PIE + number, self._takes)
            self._plan_update(columns.AQM_INTERVAL)
        self.sending = 0  # bytes of the packet in transmission, or of the latest one
        self.asks = False  # True if the transmitter will request a packet
        self.dropped: list[Service] = []  # waiting packets that were dropped

    def _takes(self, size: int) -> int:
        return transmission_time(size, self.columns.BYTE_TIME)

    def enter(self, segment: Segment) -> None:
        now = self.world.agenda.now
        self.counts[LinkOut.ARRIVALS] += 1
        packet = Waiting(now, segment.packet.size, segment)
        if self._policed(segment):
            self.counts[LinkOut.DROPS] += 1
            segment.flow.lost(segment, "queue")
            return
        if self.columns.AQM != FQ_CODEL and (self._is_over([packet]) or self._refuses(packet)):
            self.counts[LinkOut.DROPS] += 1
            segment.flow.lost(segment, "queue")
            return
        if isinstance(self.queue, FqCoDel):
            back = segment.route is not segment.flow.route
            self.queue.enqueue(packet, (back, segment.flow.number))
            while self._is_over([]):
                self.queue.drop_from_fattest()
        else:
            self.queue.enqueue(packet)
        if not self.asks:
            self._ask_at(now)

    def _is_over(self, more: list[Waiting]) -> bool:
        """Return True if the packets held, and `more`, exceed the limit: packets above 0, bytes below.

        The packet in transmission counts. Like `bfifo_enqueue`, a packet is dropped if it would make the
        bytes exceed the limit.
        """
        sizes = [packet.size for packet in [*self.queue.packets, *more]]
        if self.free_at > self.world.agenda.now:
            sizes.append(self.sending)
        limit = self.columns.QUEUE
        return sum(sizes) > -limit if limit < 0 else 0 < limit < len(sizes)

    def _refuses(self, packet: Waiting) -> bool:
        if not isinstance(self.queue, Pie) or not self.queue.hits():
            return False
        if self.queue.may_mark and self._mark(packet):
            return False
        self.counts[LinkOut.EARLY] += 1
        return True

    def _ask_at(self, time: int) -> None:
        self.asks = True
        self.world.agenda.plan(time, Phase.LINK, self.number, self._serve, turn=-1)

    def _serve(self) -> None:
        now, self.asks = self.world.agenda.now, False
        packet = self.queue.dequeue(now)
        if packet is None:
            return
        segment = packet.what
        begins, self.free_at = self._transmission(packet.came, packet.size)
        self.sending = packet.size
        self.services.append(Service(packet.came, begins, self.free_at))
        segment.sending = (begins, self.free_at)
        self._ask_at(self.free_at)
        self._travels(segment)

    def _drop(self, packet: Waiting) -> None:
        now = self.world.agenda.now
        overfull = self.columns.AQM == FQ_CODEL and self._is_over([packet])
        self.dropped.append(Service(packet.came, now, now))
        self.counts[LinkOut.DROPS] += 1
        self.counts[LinkOut.EARLY] += not overfull
        packet.what.flow.lost(packet.what, "queue")

    def _mark(self, packet: Waiting) -> bool:
        segment = packet.what
        if self.columns.AQM_MARKS == 0 or segment.flow.columns.ECN == 0 or segment.is_ack:
            return False
        segment.congested = True
        self.counts[LinkOut.MARKS] += 1
        segment.flow.marked += 1
        return True

    def _plan_update(self, time: int) -> None:
        self.world.agenda.plan(time, Phase.CLOCK, 0, self._update)

    def _update(self) -> None:
        assert isinstance(self.queue, Pie)
        self.queue.update()
        self._plan_update(self.world.agenda.now + self.columns.AQM_INTERVAL)

    def values(self) -> list[int]:
        p = self.world.tables.p
        still = [Service(packet.came, p.END + 1, p.END + 1) for packet in self.queue.packets]
        sent, self.services = self.services, [*self.services, *still]
        super().values()
        self.counts[LinkOut.WAIT_MAX] = self.longest_wait(sent)
        self.services = [*sent, *self.dropped, *still]
        waited = sum(max(0, min(s.begins, p.END) - max(s.came, p.WARM_UP)) for s in self.services)
        self.counts[LinkOut.QUEUE_SUM_HIGH], self.counts[LinkOut.QUEUE_SUM] = divmod(waited, 2**63)
        late = [s for s in self.dropped if s.came < p.WARM_UP <= s.begins]
        self.counts[LinkOut.DROPS_BEFORE] = len(late)
        return [self.counts[column] for column in LinkOut if column != LinkOut.COLUMNS]
