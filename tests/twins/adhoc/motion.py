"""Motion of nodes: each model is a generator of straight legs."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

from netcarlo.kernels.adhoc.layout import (
    GAUSS_MARKOV,
    GIVEN,
    RANDOM_DIRECTION,
    RANDOM_WAYPOINT,
    STATIC,
    STREAM_MOTION,
)
from netcarlo.kernels.base.layout import FOREVER
from tests.twins.adhoc.tables import Spot, Tables

MICRO = 10**6  # microseconds in a second
US = 1000

Draw = Callable[[int], list[int]]


@dataclass(frozen=True)
class Leg:
    """Motion from (x, y) at a constant velocity from `begin` to `end`."""

    begin: int  # [ns]
    x: int
    y: int
    vx: int
    vy: int
    end: int

    def position(self, time: int) -> tuple[int, int]:
        passed = (time - self.begin) // US
        return self.x + self.vx * passed // MICRO, self.y + self.vy * passed // MICRO


def between(low: int, high: int, word: int) -> int:
    return low + ((high - low) * word >> 32)


def _start(net: Any, draw: Draw) -> tuple[int, int, int]:
    words = draw(0)
    return -net.MOTION_BEFORE, between(0, net.WIDTH, words[0]), between(0, net.HEIGHT, words[1])


def static(net: Any, draw: Draw) -> Iterator[Leg]:
    time, x, y = _start(net, draw)
    yield Leg(time, x, y, 0, 0, FOREVER)


def random_waypoint(net: Any, draw: Draw) -> Iterator[Leg]:
    time, x, y = _start(net, draw)
    for k in count(1):
        words = draw(k)
        dx = between(0, net.WIDTH, words[0]) - x
        dy = between(0, net.HEIGHT, words[1]) - y
        speed = between(net.SPEED_MIN, net.SPEED_MAX, words[2])
        distance = int(math.sqrt(dx * dx + dy * dy))
        vx = dx * speed // max(distance, 1)
        vy = dy * speed // max(distance, 1)
        leg = Leg(time, x, y, vx, vy, time + US * max(distance * MICRO // speed, 1))
        yield leg
        time = leg.end
        x, y = leg.position(time)
        if net.PAUSE_MAX > 0:
            pause = Leg(time, x, y, 0, 0, time + US * max(between(net.PAUSE_MIN, net.PAUSE_MAX, words[3]), 1))
            yield pause
            time = pause.end


def random_direction(net: Any, draw: Draw) -> Iterator[Leg]:
    time, x, y = _start(net, draw)
    for k in count(1):
        for attempt in range(16):  # a random point in a ring gives a direction without sines
            words = draw(16 * k + attempt)
            ux = (words[0] - 2**31) >> 8
            uy = (words[1] - 2**31) >> 8
            square = ux * ux + uy * uy
            if 2**40 <= square <= 2**46:
                break
        else:
            ux, uy, square = 2**23, 0, 2**46
        length = int(math.sqrt(square))
        speed = between(net.SPEED_MIN, net.SPEED_MAX, words[2])
        rest = max(between(0, 2 * net.LEG, words[3]), 1)
        for leg in _mirrored(net, time, x, y, ux * speed // length, uy * speed // length, rest):
            yield leg
            time = leg.end
            x, y = leg.position(time)


def gauss_markov(net: Any, draw: Draw) -> Iterator[Leg]:
    time, x, y = _start(net, draw)
    vx = vy = 0
    for k in count(1):
        w0, w1, w2, w3 = draw(k)
        fresh_x = net.SPEED_MAX * _nearly_normal(w0, w1) >> 10
        fresh_y = net.SPEED_MAX * _nearly_normal(w2, w3) >> 10
        if k == 1:
            vx, vy = fresh_x, fresh_y
        else:
            vx = (net.MEMORY * vx + net.FRESH * fresh_x) >> 16
            vy = (net.MEMORY * vy + net.FRESH * fresh_y) >> 16
        for leg in _mirrored(net, time, x, y, vx, vy, net.LEG):
            yield leg
            time = leg.end
            x, y = leg.position(time)
            vx, vy = leg.vx, leg.vy


def _nearly_normal(a: int, b: int) -> int:
    """Return an approximately normal number: a scaled sum of four uniform ones."""
    return (((a >> 16) + (a & 65535) + (b >> 16) + (b & 65535) - 131070) * 1774) >> 16


def _mirrored(net: Any, time: int, x: int, y: int, vx: int, vy: int, rest: int) -> Iterator[Leg]:
    """Yield legs of motion between walls for `rest` [us]."""
    while True:
        x = min(max(x, 0), net.WIDTH)
        y = min(max(y, 0), net.HEIGHT)
        to_wall_x = _time_to_wall(x, vx, net.WIDTH)
        to_wall_y = _time_to_wall(y, vy, net.HEIGHT)
        to_wall = min(to_wall_x, to_wall_y)
        if to_wall >= rest:
            yield Leg(time, x, y, vx, vy, time + US * rest)
            return
        leg = Leg(time, x, y, vx, vy, time + US * to_wall)
        yield leg
        time = leg.end
        x, y = leg.position(time)
        rest -= to_wall
        if to_wall_x <= to_wall:
            vx = -vx
        if to_wall_y <= to_wall:
            vy = -vy


def _time_to_wall(x: int, v: int, width: int) -> int:
    """Return the time until a wall is reached [us]."""
    if v == 0:
        return FOREVER
    return (width - x) * MICRO // v if v > 0 else x * MICRO // -v


def given(spots: list[Spot]) -> Iterator[Leg]:
    time, x, y = spots[0]
    yield Leg(time, x, y, 0, 0, time)
    for (begin, xa, ya), (end, xb, yb) in pairwise(spots):
        duration = max((end - begin) // US, 1)
        yield Leg(begin, xa, ya, (xb - xa) * MICRO // duration, (yb - ya) * MICRO // duration, end)
    time, x, y = spots[-1]
    yield Leg(time, x, y, 0, 0, FOREVER)


MODELS = {
    STATIC: static, RANDOM_WAYPOINT: random_waypoint, RANDOM_DIRECTION: random_direction,
    GAUSS_MARKOV: gauss_markov,
}  # fmt: skip


def legs_of(tables: Tables, node: int, attempt: int) -> Iterator[Leg]:
    """Return the legs of a node as drawn in an attempt."""
    if tables.net.MOBILITY == GIVEN:
        return given(tables.places[node])
    block, place = divmod(node, 64)  # each block of 64 nodes has streams for 2**15 attempts
    stream = STREAM_MOTION + block * (64 << 15) + place + 64 * attempt
    return MODELS[tables.net.MOBILITY](tables.net, lambda k: tables.streams.block(stream, k))


def attempt_that_fits(tables: Tables) -> int:
    """Return the first attempt with the required distance of source and sink at the start of the flow."""
    net, start = tables.net, tables.p.START
    if net.APART_MAX == 0:
        return 0
    for attempt in range(1 << 15):
        movers = [Mover(legs_of(tables, node, attempt), start) for node in (net.SOURCE, net.SINK)]
        (ax, ay), (bx, by) = (mover.leg.position(start) for mover in movers)
        if net.APART_MIN**2 <= (ax - bx) ** 2 + (ay - by) ** 2 <= net.APART_MAX**2:
            return attempt
    raise ValueError("source and sink are never so far apart")


class Mover:
    """Moving node and its present leg."""

    def __init__(self, legs: Iterator[Leg], now: int = 0) -> None:
        self._legs = legs
        self.leg = next(legs)
        self.go_on(now)

    def go_on(self, now: int) -> None:
        """Advance to the leg that ends after `now`."""
        while self.leg.end <= now:
            self.leg = next(self._legs)
