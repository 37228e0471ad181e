"""Medium access: an exchange of RTS, CTS, data and ACK is one event, whose outcome is decided at its
start.
"""

from enum import Enum
from typing import TYPE_CHECKING

from netcarlo.kernels.adhoc.layout import STREAM_BACKOFF, STREAM_FRAME, ManetOut, NodeOut
from netcarlo.kernels.base.layout import FOREVER
from tests.twins.adhoc.frames import Frame, Kind, on_air
from tests.twins.adhoc.tables import Errors, Words

if TYPE_CHECKING:
    from tests.twins.adhoc.world import World

ROUTING_ROOM = 32


class Outcome(Enum):
    BROADCAST = 0
    NO_RTS = 1  # the RTS was not received
    NO_CTS = 2
    NO_DATA = 3
    NO_ACK = 4
    OK = 5


class Station:
    """Queues and backoff of a node."""

    def __init__(self, world: "World", number: int) -> None:
        self.world = world
        self.net = world.net
        self.number = number
        self.words = Words(world.tables.streams, STREAM_BACKOFF + number)
        self.errors = Errors(world.tables, STREAM_FRAME + number, world.net.FRAME_LOSS)
        self.current: Frame | None = None  # the frame in service
        self.received = False  # the frame in service was received but its ACK lost
        self.routing: list[Frame] = []
        self.others: list[Frame] = []
        self.cw = self.net.CW_MIN
        self.short = self.long = 0  # failures of the frame in service
        self.slots = 0
        self.since = 0  # start of the backoff slots [ns]
        self.air = 0  # end of the transmissions of others that it senses [ns]
        self.busy = 0  # earliest time to begin [ns]
        self.end = FOREVER  # end of its own exchange, or FOREVER
        self.outcome = Outcome.OK  # outcome of that exchange
        self.heard: list[int] = []  # nodes that received the broadcast

    @property
    def on_the_air(self) -> bool:
        return self.end < FOREVER

    def is_free(self, now: int) -> bool:
        return self.air <= now

    def next_start(self) -> int:
        if self.current is None or self.on_the_air:
            return FOREVER
        return int(self.since + self.slots * self.net.SLOT)

    def enqueue(self, frame: Frame) -> None:
        queue, room = (self.routing, ROUTING_ROOM) if frame.is_routing else (self.others, self.net.QUEUE)
        if len(queue) >= room:
            self.world.counters.add_to(self.number, NodeOut.DROPS)
            self.world.dropped(frame, ManetOut.DROPS_QUEUE)
            return
        queue.append(frame)
        if self.current is None:
            self.next_frame()

    def next_frame(self) -> None:
        self.current = None
        for queue in (self.routing, self.others):
            if self.current is None and queue:
                self.current = queue.pop(0)
                self.received = False
                self.back_off()

    def back_off(self) -> None:
        self.slots = self.words.below(self.cw + 1)
        self.since = max(self.world.now, self.busy) + self.world.difs

    def fail(self) -> None:
        """Retry the frame after another backoff."""
        self.cw = min(2 * self.cw + 1, self.net.CW_MAX)
        self.back_off()

    def reset(self) -> None:
        self.short = self.long = 0
        self.cw = self.net.CW_MIN

    def occupy(self, until: int) -> None:
        """Sense a transmission of others until a time."""
        now = self.world.now
        waits = self.current is not None and not self.on_the_air
        if waits and now > self.since:
            self.slots -= min(self.slots, (now - self.since) // self.net.SLOT)
        self.busy = max(self.busy, until)
        if waits:
            self.since = self.busy + self.world.difs

    def take_out(self, next_node: int) -> list[Frame]:
        """Remove and return the frames to a node from the queues."""
        taken = [frame for frame in self.routing + self.others if frame.next_node == next_node]
        self.routing = [frame for frame in self.routing if frame.next_node != next_node]
        self.others = [frame for frame in self.others if frame.next_node != next_node]
        return taken


class Medium:
    def __init__(self, world: "World") -> None:
        self.world = world
        self.net = world.net
        self.topology = world.topology
        self.stations = world.stations

    # Exchanges start.

    def start(self, batch: list[Station]) -> None:
        """Start all transmissions of this instant."""
        starters = [station.number for station in batch]
        self._disturb(starters)
        for station in batch:
            frame = station.current
            assert frame is not None
            if frame.kind == Kind.REQUEST:
                station.outcome = Outcome.BROADCAST
                station.heard = [
                    n for n in sorted(self.topology.linked[station.number])
                    if n not in starters and not self.stations[n].on_the_air
                    and self.stations[n].is_free(self.world.now)
                    and self._clear(station.number, n, starters) and not self._lost(n)
                ]  # fmt: skip
            else:
                station.outcome = self._unicast(station.number, frame, starters)
        for station in batch:
            self._put_on_air(station, starters)

    def _disturb(self, starters: list[int]) -> None:
        """Destroy data frames on the air by transmissions of hidden nodes."""
        for station in self.stations:
            i, frame = station.number, station.current
            if not station.on_the_air or station.outcome not in (Outcome.OK, Outcome.NO_ACK):
                continue
            assert frame is not None
            j = frame.route[frame.hop + 1]
            if not self._clear(i, j, starters):
                if station.outcome == Outcome.OK:
                    self._spend(i, NodeOut.FAILED, 1)
                station.outcome = Outcome.NO_DATA
                self._spend(j, NodeOut.TRANSMIT, -self.net.MAC_ACK)
                self._spend(i, NodeOut.RECEIVE, -self.net.MAC_ACK)

    def _unicast(self, i: int, frame: Frame, starters: list[int]) -> Outcome:
        j = frame.route[frame.hop + 1]
        receiver = self.stations[j]
        if j in starters or receiver.on_the_air or not receiver.is_free(self.world.now):
            return Outcome.NO_RTS
        if j not in self.topology.linked[i] or not self._clear(i, j, starters):
            return Outcome.NO_RTS
        for listener, failure in (
            (j, Outcome.NO_RTS), (i, Outcome.NO_CTS), (j, Outcome.NO_DATA), (i, Outcome.NO_ACK),
        ):  # fmt: skip
            if self._lost(listener):
                return failure
        return Outcome.OK

    def _lost(self, n: int) -> bool:
        return self.stations[n].errors.strike()

    def _clear(self, i: int, n: int, starters: list[int]) -> bool:
        """Return True if no other transmission that starts now interferes at n with that of i."""
        far = self.topology.far
        return all(
            far(k, n) * 1024 >= self.net.CAPTURE * far(i, n)
            for k in starters
            if k != i and k in self.topology.sensed[n]
        )

    def _put_on_air(self, station: Station, starters: list[int]) -> None:
        frame = station.current
        assert frame is not None
        count = self.world.counters.add
        count(ManetOut.EXCHANGES)
        if frame.is_routing:
            count(ManetOut.ROUTING_FRAMES)
        self._spend(station.number, NodeOut.SENT, 1)
        if station.outcome not in (Outcome.OK, Outcome.BROADCAST):
            self._spend(station.number, NodeOut.FAILED, 1)
        station.slots = 0
        if station.outcome == Outcome.BROADCAST:
            self._broadcast(station, frame, starters)
        else:
            self._exchange(station, frame, starters)
        station.air = max(station.air, station.end)
        station.busy = max(station.busy, station.end)

    def _spend(self, n: int, column: NodeOut, amount: int) -> None:
        self.world.counters.add_to(n, column, amount)

    def _broadcast(self, station: Station, frame: Frame, starters: list[int]) -> None:
        i, now = station.number, self.world.now
        duration = on_air(frame, self.world.p, self.net)
        station.end = now + duration
        self._spend(i, NodeOut.TRANSMIT, duration)
        for n in sorted(self.topology.sensed[i] - set(starters)):
            other = self.stations[n]
            free = other.is_free(now)
            decodes = n in self.topology.linked[i] and free and self._clear(i, n, starters)
            if free:
                self._spend(n, NodeOut.RECEIVE if n in station.heard else NodeOut.OVERHEAR, duration)
            other.occupy(station.end + (0 if decodes else self.net.EIFS))
            other.air = max(other.air, station.end)

    def _exchange(self, station: Station, frame: Frame, starters: list[int]) -> None:
        net, now, outcome = self.net, self.world.now, station.outcome
        i, j = station.number, frame.route[frame.hop + 1]
        duration = on_air(frame, self.world.p, net)
        whole_end = now + net.RTS + net.SIFS + net.CTS + net.SIFS + duration + net.SIFS + net.MAC_ACK
        cts = outcome != Outcome.NO_RTS
        sent = outcome in (Outcome.NO_DATA, Outcome.NO_ACK, Outcome.OK)
        got = outcome in (Outcome.NO_ACK, Outcome.OK)
        air_i = net.RTS + (duration if sent else 0)
        air_j = (net.CTS if cts else 0) + (net.MAC_ACK if got else 0)
        end_i = whole_end - net.MAC_ACK - net.SIFS if sent else now + net.RTS
        end_j = whole_end if sent else now + net.RTS + net.SIFS + net.CTS
        station.end = end_j
        around = self.topology.sensed[i] | (self.topology.sensed[j] if cts else set())
        for n in sorted(around - {i} - set(starters)):
            other = self.stations[n]
            hears_i = n in self.topology.sensed[i]
            hears_j = cts and n != j and n in self.topology.sensed[j]
            free = other.is_free(now)
            if n == j:
                if free:
                    self._spend(j, NodeOut.RECEIVE, air_i)
                self._spend(j, NodeOut.TRANSMIT, air_j)
                until = whole_end if cts else end_i + net.EIFS  # it waits for data, even in vain
                lasts = whole_end if cts else end_i
            else:
                if free:
                    heard = (air_i if hears_i else 0) + (air_j if hears_j else 0)
                    self._spend(n, NodeOut.OVERHEAR, heard)
                told_by_i = hears_i and n in self.topology.linked[i] and free and self._clear(i, n, starters)
                told_by_j = hears_j and n in self.topology.linked[j]
                cts_end = now + net.RTS + net.SIFS + net.CTS  # the data frame may be too far away
                lasts = (end_j if hears_j else end_i) if hears_i else cts_end
                until = whole_end if told_by_i or told_by_j else lasts + net.EIFS
                if hears_i and hears_j and not told_by_j:
                    until = max(until, end_j + net.EIFS)
            other.occupy(until)
            other.air = max(other.air, lasts)
        self._spend(i, NodeOut.TRANSMIT, air_i)
        self._spend(i, NodeOut.RECEIVE, air_j)

    # Exchanges end.

    def end(self, station: Station) -> None:
        station.end = FOREVER
        frame = station.current
        assert frame is not None
        if station.outcome == Outcome.BROADCAST:
            station.next_frame()
            for m in sorted(station.heard):
                self.world.routers[m].hear_request(frame)
        elif station.outcome in (Outcome.NO_RTS, Outcome.NO_CTS):
            station.short += 1
            if station.short >= self.net.SHORT_RETRY:
                self._give_up(station, frame)
            else:
                station.fail()
        elif station.outcome in (Outcome.NO_DATA, Outcome.NO_ACK):
            station.short = 0
            station.long += 1
            if station.outcome == Outcome.NO_ACK and not station.received:
                station.received = True
                self._hand_over(station.number, frame)
            if station.long >= self.net.LONG_RETRY:
                self._give_up(station, frame)
            else:
                station.fail()
        else:
            fresh = not station.received
            station.reset()
            station.next_frame()
            if fresh:
                self._hand_over(station.number, frame)

    def _hand_over(self, i: int, frame: Frame) -> None:
        """Pass on a frame that was received for the first time; other nodes overhear it."""
        self.world.routers[frame.route[frame.hop + 1]].hear(frame.moved_on())
        self.world.routers[i].overheard(frame)

    def _give_up(self, station: Station, frame: Frame) -> None:
        gone = station.received
        station.reset()
        station.current = None
        notice = self.world.routers[station.number].broken(frame, gone)
        if station.current is None:
            station.next_frame()
        if notice:
            self.world.notice()
