"""Dynamic source routing: nodes request routes when they need them, and cache those that they overhear."""

from typing import TYPE_CHECKING

from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.layout import FOREVER
from tests.twins.adhoc.frames import Discovery, Frame, Kind
from tests.twins.adhoc.routing import MS, NO_ROUTE, Route, Router

if TYPE_CHECKING:
    from tests.twins.adhoc.world import World

CACHE = 64
LONG_AGO = -(10**15)
SECOND = 1000 * MS


class Cache:
    """Cache of paths that begin at one node."""

    def __init__(self) -> None:
        self.paths: list[Route] = [()] * CACHE
        self.pointer = 0

    def find(self, dest: int) -> Route:
        """Return the shortest cached path to a node."""
        known = [path for path in self.paths if dest in path[1:]]
        if not known:
            return NO_ROUTE
        best = min(known, key=lambda path: path.index(dest))
        return best[: best.index(dest) + 1]

    def add(self, path: Route) -> None:
        for k, known in enumerate(self.paths):
            if known == path[: len(known)]:
                self.paths[k] = path
                return
            if path == known[: len(path)]:
                return
        self.paths[self.pointer] = path
        self.pointer = (self.pointer + 1) % CACHE

    def remove(self, a: int, b: int) -> None:
        """Truncate all paths at a link."""
        for k, path in enumerate(self.paths):
            for index in range(len(path) - 1):
                if path[index] == a and path[index + 1] == b:
                    self.paths[k] = path[: index + 1] if index > 0 else ()
                    break


class Dsr(Router):
    def __init__(self, world: "World", number: int) -> None:
        super().__init__(world, number)
        self.cache = Cache()
        self.seen: dict[int, int] = {}  # number of the latest request of each node
        self.outstanding = 0
        self.last_request = LONG_AGO
        self.ring: int | None = None  # time of a request to neighbours only
        self.broken_link: tuple[int, int, int] | None = None  # from, to, time of the error
        self.delayed: tuple[int, Frame] | None = None
        self.passed: list[tuple[Route, int, set[int], int] | None] = [None, None]  # listeners by direction
        self.hold: tuple[Route, int] | None = None  # a shortened route, and the time

    def find(self, dest: int) -> Route:
        return self.cache.find(dest)

    def learn(self, path: Route) -> None:
        self.cache.add(path)

    def forget(self, a: int, b: int) -> None:
        self.cache.remove(a, b)

    # Requests.

    def ask(self, dest: int) -> None:
        wait = min(500 * MS << (2 * self.outstanding), 10 * SECOND)
        if self.now >= self.last_request + wait:
            self.outstanding = min(self.outstanding + 1, 15)
            self.last_request = self.ring = self.now
            self._originate(dest, spreads=False)
        elif self.ring is not None and self.now - self.ring > 30 * MS:
            self.ring = None
            self._originate(dest, spreads=True)

    def _originate(self, dest: int, *, spreads: bool) -> None:
        self.counters.add(ManetOut.DISCOVERIES)
        self.world.requests += 1
        broken = None
        if self.broken_link is not None and self.now - self.broken_link[2] < SECOND:
            broken = self.broken_link[:2]
            if spreads:
                self.broken_link = None
        discovery = Discovery(dest, spreads, self.world.requests, broken)
        self._jittered(Frame(Kind.REQUEST, (self.number,), load=discovery))

    def _jittered(self, frame: Frame) -> None:
        """Send after a random jitter, or at once if another frame waits already."""
        if self.delayed is None:
            self.delayed = (self.now + self.words.below(10 * MS), frame)
        else:
            self.station.enqueue(frame)

    def next_delayed(self) -> int:
        return FOREVER if self.delayed is None else self.delayed[0]

    def delay_is_over(self) -> None:
        assert self.delayed is not None
        frame = self.delayed[1]
        self.delayed = None
        self.station.enqueue(frame)

    def hear_request(self, frame: Frame) -> None:
        discovery, path, me = frame.load, frame.route, self.number
        if discovery.broken is not None:
            self.forget(*discovery.broken)
        origin = path[0]
        if me == origin:
            return
        latest = self.seen.get(origin, -1)
        if me == discovery.dest:
            self.seen[origin] = max(latest, discovery.number)
            if len(path) <= self.most_hops:
                self._reply((*path, me))
            return
        if latest >= discovery.number or me in path or len(path) > self.most_hops:
            return
        self.seen[origin] = discovery.number
        rest = self.find(discovery.dest)
        if rest and not set(rest) & set(path) and len(path) + len(rest) <= self.most_hops + 1:
            back = _reversed((*path, me))
            self.learn(back)
            self.station.enqueue(Frame(Kind.ROUTE_REPLY, back, load=path + rest))
        elif discovery.spreads:
            self._jittered(Frame(Kind.REQUEST, (*path, me), load=discovery))

    def _reply(self, found: Route) -> None:
        """Send a route reply from the destination."""
        back = _reversed(found)
        self.learn(back)
        self._jittered(Frame(Kind.ROUTE_REPLY, back, load=found))

    # Replies and errors.

    def hear_reply(self, frame: Frame) -> None:
        self.learn(frame.load)
        self.outstanding = 0
        self.last_request = LONG_AGO
        self.ring = None
        released = 0
        for waiting in [w for w in self.buffer if not w.is_due]:
            route = self.find(self.dest_of(waiting.kind))
            if route:
                if released == 0:
                    self._leave(waiting, route)
                else:
                    waiting.route = route
                    waiting.due = self.now + 30 * MS * released
                released += 1

    def hear_error(self, frame: Frame) -> None:
        self.forget(*frame.load)
        self.broken_link = (*frame.load, self.now)
        if self.number == self.world.source:
            self.world.notice()

    def report(self, frame: Frame) -> None:
        self.counters.add(ManetOut.ROUTE_ERRORS)
        back = _reversed(frame.route[: frame.hop + 1])
        link = (self.number, frame.route[frame.hop + 1])
        self.station.enqueue(Frame(Kind.ROUTE_ERROR, back, load=link))

    # Learning from what others send.

    def overheard(self, frame: Frame) -> None:
        index, route = frame.hop, frame.route
        neighbours = self.world.topology.linked[self.number]
        if not frame.is_routing:
            direction = 0 if frame.kind in (Kind.DATA, Kind.PROBE) else 1
            before = self.passed[direction]
            same = before is not None and before[:3] == (route, index, neighbours)
            if same and before is not None and self.now - before[3] < SECOND:
                return
            self.passed[direction] = (route, index, set(neighbours), self.now)
        for m in sorted(neighbours - {route[index + 1], route[0]}):
            self.world.routers[m].overhear(frame)  # type: ignore[attr-defined]

    def overhear(self, frame: Frame) -> None:
        """Process a frame that a neighbour has sent to another node."""
        me, index, route = self.number, frame.hop, frame.route
        if frame.kind == Kind.ROUTE_ERROR:
            self.forget(*frame.load)
        if frame.kind == Kind.ROUTE_REPLY and me in frame.load[:-1]:
            self.learn(frame.load[frame.load.index(me) :])
        if me in route[:-1]:
            self.learn(route[route.index(me) :])
        elif me not in route and len(route) - index <= self.most_hops:
            self.learn((me, *route[index:]))
        if not frame.is_routing and me in route and route.index(me) > index + 1:
            self._shorten(route, index)

    def _shorten(self, route: Route, index: int) -> None:
        """Reply with a route without the nodes between place `index` and this node."""
        if self.hold is not None and self.hold[0] == route and self.now - self.hold[1] < SECOND:
            return
        self.hold = (route, self.now)
        self.counters.add(ManetOut.SHORTENED)
        back = (self.number, *_reversed(route[: index + 1]))
        self.learn(back)
        short = route[: index + 1] + route[route.index(self.number) :]
        self.station.enqueue(Frame(Kind.ROUTE_REPLY, back, load=short))


def _reversed(route: Route) -> Route:
    return tuple(reversed(route))
