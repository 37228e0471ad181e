"""Access cables of hosts, and shared links with a queue."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.shared.layout import DROP_TAIL, RED_MARKS, STREAM_LINK, STREAM_RED, TABLE, LinkOut
from tests.twins.path.link import Packet
from tests.twins.path.varying import NEVER_LEAVES, Varying, read
from tests.twins.shared.clock import Phase
from tests.twins.shared.red import Red, Verdict

if TYPE_CHECKING:
    from tests.twins.shared.flows import Flow
    from tests.twins.shared.world import World


def transmission_time(size: int, byte_time: int) -> int:
    return (size * byte_time + 2**19) >> 20


@dataclass(eq=False)
class Segment:
    """A packet of a flow on its route."""

    flow: "Flow"
    packet: Packet
    route: list["Link"]
    deliver: Callable[["Segment", int], None]  # called with the end of its transmission by the last link
    hop: int = 0
    sending: tuple[int, int] = (0, 0)  # begin and end of its transmission by the present link
    congested: bool = False  # data: marked by a router (CE)
    reduced: bool = False  # data: the sender has reduced its window (CWR)
    echo: bool = False  # ACK: echo of a mark (ECE)

    @property
    def is_ack(self) -> bool:
        return self.packet.kind in ("ack", "reply")


class Cable:
    """Access cable between a host and its router: a rate, a delay, and an unlimited queue."""

    def __init__(self, byte_time: int, delay: int) -> None:
        self.byte_time = byte_time
        self.delay = delay
        self.free_at = 0

    def pass_through(self, size: int, time: int) -> int:
        """Return the arrival of a packet that enters at `time`, which never decreases from call to call
        [ns].
        """
        self.free_at = max(time, self.free_at) + transmission_time(size, self.byte_time)
        return self.free_at + self.delay


@dataclass(frozen=True)
class Service:
    """Packet that a link has accepted."""

    came: int
    begins: int  # start of its transmission, maybe after the end of the run
    ends: int
    begun: bool = True  # True if it started before the link failed


class Link:
    def __init__(self, world: "World", number: int, columns: Any) -> None:
        self.world = world
        self.number = number
        self.columns = columns
        self.gaps = world.tables.gaps(STREAM_LINK + number, columns.LOSS)
        self.survivors_left = next(self.gaps) if self.gaps is not None else -1
        self.red = Red(columns, world.tables.streams, STREAM_RED + number)
        self.varying = None
        if columns.VARIES:
            description = read(world.tables.pairs[number])
            self.varying = Varying(description, world.tables.streams, STREAM_LINK + number)
        first, end = (max(k - TABLE, 0) for k in (columns.OUTAGES, columns.OUTAGES_END))
        self.outages = world.tables.pairs[number][first:end]  # present and future outages, in order
        self.free_at = 0
        self.departures: list[int] = []  # of the packets held: those waiting, and one in transmission
        self.services: list[Service] = []
        self.counts = dict.fromkeys((c for c in LinkOut if c != LinkOut.COLUMNS), 0)

    def enter(self, segment: Segment) -> None:
        """Process a packet that arrives at the queue."""
        now = self.world.agenda.now
        self.counts[LinkOut.ARRIVALS] += 1
        if self._is_down(now):
            self.counts[LinkOut.DROPS] += 1
            segment.flow.lost(segment, "queue")
            return
        self.departures = [time for time in self.departures if time > now]
        full = 0 < self.columns.QUEUE <= len(self.departures)
        if self._policed(segment) or full or self._dropped_early(segment):
            self.counts[LinkOut.DROPS] += 1
            segment.flow.lost(segment, "queue")
            return
        begins, self.free_at = self._transmission(now, segment.packet.size)
        self.departures.append(self.free_at)
        if self.outages and self.free_at + self.columns.DELAY > self.outages[0][0]:
            self._destroys(segment, begins)
            return
        self.services.append(Service(now, begins, self.free_at))
        segment.sending = (begins, self.free_at)
        self._travels(segment)

    def _transmission(self, came: int, size: int) -> tuple[int, int]:
        """Return start and end of the transmission of a packet that arrives at `came`.

        The start is after the end of the run if the transmission never ends."""
        begins, duration = max(came, self.free_at), transmission_time(size, self.columns.BYTE_TIME)
        if self.varying is None:
            return begins, begins + duration
        begins, end = self.varying.transmission(came, self.free_at, size, duration)
        return (begins if self.free_at < NEVER_LEAVES else self.world.tables.p.END + 1), end

    def _is_down(self, now: int) -> bool:
        while self.outages and self.outages[0][1] <= now:
            start, _ = self.outages.pop(0)
            self.departures = []
            self.free_at = min(self.free_at, start)
        return bool(self.outages) and self.outages[0][0] <= now

    def _destroys(self, segment: Segment, begins: int) -> None:
        """Process a packet that is lost because the link fails before its arrival."""
        now, down = self.world.agenda.now, self.outages[0][0]
        self.services.append(Service(now, min(begins, down), min(self.free_at, down), begins < down))
        self.counts[LinkOut.LOST] += 1
        segment.flow.lost(segment, "random")

    def _policed(self, segment: Segment) -> bool:
        size = segment.packet.size
        return self.varying is not None and self.varying.is_policed(self.world.agenda.now, size)

    def _travels(self, segment: Segment) -> None:
        """Schedule the arrival of a transmitted packet at the far end."""
        arrives, gone = self.free_at + self.columns.DELAY, False
        if self.varying and self.free_at < NEVER_LEAVES:
            arrives, gone = self.varying.arrival(self.free_at, self.columns.DELAY)
        if gone or self._lost_at_random():
            self.counts[LinkOut.LOST] += 1
            segment.flow.lost(segment, "random")
        else:
            self._send_on(segment, arrives)

    def _send_on(self, segment: Segment, time: int) -> None:
        segment.hop += 1
        if segment.hop < len(segment.route):
            next_link = segment.route[segment.hop]
            self.world.agenda.plan(time, Phase.LINK, self.number, next_link.enter, segment)
        elif segment.flow.detours is not None:  # packets on the backup route may overtake it
            self.world.agenda.plan(time, Phase.LINK, self.number, segment.deliver, segment, time)
        else:
            segment.deliver(segment, time)

    def _dropped_early(self, segment: Segment) -> bool:
        """Return True if random early detection drops the packet; it may mark the packet instead."""
        c = self.columns
        if c.RED == DROP_TAIL:
            return False
        idle = None if self.departures or not self.services else self.world.agenda.now - self.free_at
        verdict = self.red.judge(len(self.departures), idle)
        marks = c.RED == RED_MARKS and segment.flow.columns.ECN == 1 and not segment.is_ack
        if verdict == Verdict.HIT and marks:
            segment.congested = True
            self.counts[LinkOut.MARKS] += 1
            segment.flow.marked += 1
            return False
        self.counts[LinkOut.EARLY] += verdict != Verdict.PASS
        return verdict != Verdict.PASS

    def _lost_at_random(self) -> bool:
        if self.gaps is None:
            return False
        if self.survivors_left == 0:
            self.survivors_left = next(self.gaps)
            return True
        self.survivors_left -= 1
        return False

    def warm_up_ends(self) -> None:
        """Start to count at the end of the warm-up."""
        self.counts |= {LinkOut.ARRIVALS_BEFORE: self.counts[LinkOut.ARRIVALS]}
        self.counts |= dict.fromkeys(
            (LinkOut.ARRIVALS, LinkOut.DROPS, LinkOut.EARLY, LinkOut.MARKS, LinkOut.LOST), 0
        )

    def longest_wait(self, services: list[Service]) -> int:
        """Return the longest wait, until the end of the run at most, of packets that arrived after the
        warm-up [ns].
        """
        p = self.world.tables.p
        waits = (min(one.begins, p.END) - one.came for one in services if one.came >= p.WARM_UP)
        return max(waits, default=0)

    def values(self) -> list[int]:
        """Return the columns of `LinkOut`."""
        p = self.world.tables.p
        sent = [service for service in self.services if service.begins <= p.END]
        self.counts[LinkOut.SENT] = sum(service.begun and service.begins >= p.WARM_UP for service in sent)
        self.counts[LinkOut.BUSY] = sum(max(0, min(s.ends, p.END) - max(s.begins, p.WARM_UP)) for s in sent)
        self.counts[LinkOut.WAITING] = len(self.services) - len(sent)
        self.counts[LinkOut.WAIT_MAX] = self.longest_wait(self.services)
        waited = sum(max(0, min(s.begins, p.END) - max(s.came, p.WARM_UP)) for s in self.services)
        self.counts[LinkOut.QUEUE_SUM_HIGH], self.counts[LinkOut.QUEUE_SUM] = divmod(waited, 2**63)
        return [self.counts[column] for column in LinkOut if column != LinkOut.COLUMNS]
