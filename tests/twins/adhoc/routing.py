"""Common parts of all routing protocols, and ideal routing, which knows all links."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from netcarlo.kernels.adhoc.layout import STREAM_ROUTING, ManetOut, NodeOut
from netcarlo.kernels.base.layout import FOREVER
from tests.twins.adhoc.frames import Frame, Kind
from tests.twins.adhoc.links import shortest
from tests.twins.adhoc.tables import Words
from tests.twins.path.link import Packet

if TYPE_CHECKING:
    from tests.twins.adhoc.world import World

MS = 10**6
BUFFER_ROOM = 64
MOST_WAIT = 30_000 * MS  # in the buffer
MOST_SALVAGES = 15
NO_ROUTE: tuple[int, ...] = ()

Route = tuple[int, ...]


@dataclass(eq=False)
class Waiting:
    """Packet in the buffer. With a route, it is sent at time `due`."""

    kind: Kind
    packet: Packet
    since: int
    route: Route = NO_ROUTE
    due: int = FOREVER

    @property
    def is_due(self) -> bool:
        return self.due < FOREVER


class Router:
    """Routing agent of a node: sends the packets of its host and forwards those of others."""

    def __init__(self, world: "World", number: int) -> None:
        self.world = world
        self.number = number
        self.station = world.stations[number]
        self.counters = world.counters
        self.most_hops = world.topology.most_hops
        self.words = Words(world.tables.streams, STREAM_ROUTING + number)
        self.buffer: list[Waiting] = []
        self.check_at = FOREVER

    @property
    def now(self) -> int:
        return self.world.now

    # Hooks of the routing protocols.

    def find(self, dest: int) -> Route:
        raise NotImplementedError

    def ask(self, dest: int) -> None:
        """React to a packet without a route."""

    def learn(self, path: Route) -> None:
        """Learn a path that begins at this node."""

    def forget(self, a: int, b: int) -> None:
        """Forget a broken link."""

    def report(self, frame: Frame) -> None:
        """Send a route error to the source of a frame that could not be sent over its link."""

    def hear_request(self, frame: Frame) -> None: ...

    def hear_reply(self, frame: Frame) -> None: ...

    def hear_error(self, frame: Frame) -> None: ...

    def overheard(self, frame: Frame) -> None:
        """Process a frame of this node that others have overheard."""

    def link_has_come(self) -> None:
        """React to a new link anywhere in the network."""

    # Packets of this host.

    def dest_of(self, kind: Kind) -> int:
        return self.world.sink if kind in (Kind.DATA, Kind.PROBE) else self.world.source

    def origin_of(self, kind: Kind) -> int:
        return self.world.source if kind in (Kind.DATA, Kind.PROBE) else self.world.sink

    def send(self, kind: Kind, packet: Packet) -> None:
        dest = self.dest_of(kind)
        route = self.find(dest)
        if route:
            self.station.enqueue(Frame(kind, route, packet=packet))
            return
        if len(self.buffer) >= BUFFER_ROOM:
            oldest = min(self.buffer, key=lambda waiting: waiting.since)
            self._drop(oldest)
        self.buffer.append(Waiting(kind, packet, self.now))
        if self.check_at == FOREVER:
            self._check_later()
        self.ask(dest)

    def _drop(self, waiting: Waiting) -> None:
        self.buffer.remove(waiting)
        self.world.dropped(Frame(waiting.kind, NO_ROUTE, packet=waiting.packet), ManetOut.DROPS_BUFFER)

    def _check_later(self) -> None:
        self.check_at = self.now + 30 * MS + self.words.below(30 * MS)

    def waits(self) -> bool:
        """Return True if packets of this node have no route."""
        return any(not waiting.is_due for waiting in self.buffer)

    def _leave(self, waiting: Waiting, route: Route) -> None:
        self.buffer.remove(waiting)
        self.station.enqueue(Frame(waiting.kind, route, packet=waiting.packet))

    def check(self) -> None:
        """Check the buffered packets for routes and timeouts, and repeat this periodically."""
        for waiting in [w for w in self.buffer if not w.is_due]:
            if self.now - waiting.since > MOST_WAIT:
                self._drop(waiting)
                continue
            route = self.find(self.dest_of(waiting.kind))
            if route:
                self._leave(waiting, route)
            else:
                self.ask(self.dest_of(waiting.kind))
        self.check_at = FOREVER
        if self.waits():
            self._check_later()

    def next_due(self) -> int:
        return min((waiting.due for waiting in self.buffer), default=FOREVER)

    def due(self) -> None:
        """Send one packet that is due."""
        first = min(self.buffer, key=lambda waiting: waiting.due)
        self._leave(first, first.route)

    # Forwarded packets.

    def hear(self, frame: Frame) -> None:
        """Process a frame for this node, whose index in the route is `frame.hop`."""
        last = frame.hop == len(frame.route) - 1
        if not last:
            self.counters.add_to(self.number, NodeOut.FORWARDED)
            if frame.kind == Kind.ROUTE_ERROR:
                self.forget(*frame.load)
            self.learn(frame.route[frame.hop :])
            self.station.enqueue(frame)
        elif frame.kind == Kind.ROUTE_REPLY:
            self.hear_reply(frame)
        elif frame.kind == Kind.ROUTE_ERROR:
            self.hear_error(frame)
        else:
            self.world.to_host(frame)

    def broken(self, frame: Frame, gone: bool) -> bool:
        """Process the failure of a frame's link, which the frame may have crossed nevertheless (`gone`).

        Return whether the flow must be notified.
        """
        i, j = self.number, frame.route[frame.hop + 1]
        self.counters.add(ManetOut.BREAKS)
        if j in self.world.topology.linked[i]:
            self.counters.add(ManetOut.FALSE_BREAKS)
        self.forget(i, j)
        if not gone:
            self._undeliverable(frame)
        for other in reversed(self.station.take_out(j)):
            self._undeliverable(other)
        if frame.route[0] != i:
            self.report(frame)
        return i == self.world.source and frame.kind in (Kind.DATA, Kind.PROBE)

    def _undeliverable(self, frame: Frame) -> None:
        if frame.is_routing:
            return
        assert frame.packet is not None
        if self.number == self.origin_of(frame.kind):
            self.send(frame.kind, frame.packet)
            return
        route = self.find(self.dest_of(frame.kind))
        if route and frame.salvages < MOST_SALVAGES:
            self.station.enqueue(Frame(frame.kind, route, salvages=frame.salvages + 1, packet=frame.packet))
            self.counters.add(ManetOut.SALVAGED)
        else:
            self.world.dropped(frame, ManetOut.DROPS_ROUTE)


class Ideal(Router):
    def find(self, dest: int) -> Route:
        path = shortest(self.world.topology.linked, self.number, dest)
        return tuple(path) if len(path) <= self.most_hops + 1 else NO_ROUTE

    def link_has_come(self) -> None:
        for waiting in list(self.buffer):
            route = self.find(self.dest_of(waiting.kind))
            if route:
                self._leave(waiting, route)
