"""Neighbours of nodes, and the exact times of their changes."""

import math

from netcarlo.kernels.base.layout import FOREVER
from tests.twins.adhoc.motion import Mover, attempt_that_fits, legs_of
from tests.twins.adhoc.tables import Tables

Position = tuple[int, int]


class Topology:
    """Sets of neighbours: `linked` within RANGE, which can decode, and `sensed` within SENSE."""

    def __init__(self, tables: Tables) -> None:
        net = tables.net
        self.now = 0
        self.nodes = range(net.NODES)
        attempt = attempt_that_fits(tables)
        pair = (net.SOURCE, net.SINK)
        self.movers = [Mover(legs_of(tables, node, attempt if node in pair else 0)) for node in self.nodes]
        self.ranges = [net.RANGE, net.SENSE]
        self.most_hops = 8 if net.NODES <= 64 else 13  # of a route
        self.linked: list[set[int]] = [set() for _ in self.nodes]
        self.sensed: list[set[int]] = [set() for _ in self.nodes]
        self.changes: dict[tuple[int, int, int], int] = {}  # (node, other, 0 link or 1 sense): time
        for i in self.nodes:
            for j in range(i + 1, net.NODES):
                for which in (0, 1):
                    (xi, yi), (xj, yj) = self.position(i), self.position(j)
                    if (xi - xj) ** 2 + (yi - yj) ** 2 <= self.ranges[which] ** 2:
                        self._flip(i, j, which)
        for i in self.nodes:
            self._expect_changes_of(i)
        self._find_next()

    def position(self, node: int) -> Position:
        """Return the present position of a node."""
        return self.movers[node].leg.position(self.now)

    def far(self, a: int, b: int) -> int:
        """Return the square of a distance, in coarse units."""
        (xa, ya), (xb, yb) = self.position(a), self.position(b)
        return ((xa - xb) >> 6) ** 2 + ((ya - yb) >> 6) ** 2

    def links(self) -> int:
        return sum(len(neighbours) for neighbours in self.linked) // 2

    @property
    def next_time(self) -> int:
        return self._next[0]

    def step(self) -> tuple[int, int] | None:
        """Process the next event, at `now`. Return the two nodes if a link appears or breaks."""
        _, i, j, which = self._next
        if j == NO_OTHER:
            self.movers[i].go_on(self.now)
            self._expect_changes_of(i)
        else:
            self._flip(i, j, which)
            self.changes[i, j, which] = self._next_change(i, j, which)
        self._find_next()
        return (i, j) if j != NO_OTHER and which == 0 else None

    def _find_next(self) -> None:
        ends = [(mover.leg.end, i, NO_OTHER, 0) for i, mover in enumerate(self.movers)]
        self._next = min(ends + [(time, i, j, which) for (i, j, which), time in self.changes.items()])

    def _flip(self, i: int, j: int, which: int) -> None:
        masks = (self.linked, self.sensed)[which]
        masks[i] ^= {j}
        masks[j] ^= {i}

    def _expect_changes_of(self, node: int) -> None:
        for other in self.nodes:
            if other != node:
                i, j = sorted((node, other))
                for which in (0, 1):
                    self.changes[i, j, which] = self._next_change(i, j, which)

    def _next_change(self, i: int, j: int, which: int) -> int:
        """Return the time at which the distance crosses the range if both nodes keep their velocities."""
        (xi, yi), (xj, yj) = self.position(i), self.position(j)
        dx, dy = xj - xi, yj - yi
        dvx = self.movers[j].leg.vx - self.movers[i].leg.vx
        dvy = self.movers[j].leg.vy - self.movers[i].leg.vy
        a = dvx * dvx + dvy * dvy
        b = dx * dvx + dy * dvy
        c = 8 * abs(dx * dvy - dy * dvx)
        if a == 0:
            return FOREVER
        inside = j in (self.linked, self.sensed)[which][i]
        q = int(math.sqrt(a) * self.ranges[which] * 8.0)
        if q <= c:
            return self.now if inside else FOREVER
        h = int(math.sqrt(float(q - c) * float(q + c)))
        if not inside and b >= 0:
            return FOREVER
        numerator = -8 * b + (h if inside else -h)
        delay = float(numerator) / float(8 * a) * 1e9
        return FOREVER if delay >= 9e17 else self.now + max(int(delay), 0)


NO_OTHER = -1
"""Second node of an event that concerns one node only: the end of a leg."""


def shortest(linked: list[set[int]], first: int, last: int) -> list[int]:
    """Return a shortest path, [] if there is none.

    Of several previous nodes, going back from the last node, the one with the lowest number is chosen."""
    levels = [{first}]
    seen = {first}
    while last not in seen:
        level = {n for m in levels[-1] for n in linked[m]} - seen
        if not level:
            return []
        levels.append(level)
        seen |= level
    path = [last]
    for level in reversed(levels[:-1]):
        path.insert(0, min(m for m in level if path[0] in linked[m]))
    return path


def reachable(linked: list[set[int]], first: int) -> set[int]:
    seen = {first}
    while True:
        more = {n for m in seen for n in linked[m]} - seen
        if not more:
            return seen
        seen |= more
