"""How nodes move: legs of constant velocity, and when two nodes come into reach or leave it.

Sources: random waypoint, Broch et al. (MobiCom 1998); random direction with reflection, Nain et al. (INFOCOM
2005); Gauss-Markov, Liang and Haas (INFOCOM 1999).  A leg is given by place and velocity at its start, so a
place is a product; the distance of two nodes changes sign where a quadratic has its roots.  All of it is
computed with integers, or with products, quotients and square roots, which are rounded in the same way
everywhere.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.layout import (
    GAUSS_MARKOV,
    GIVEN,
    MOST_ATTEMPTS,
    MOST_NODES,
    RANDOM_WAYPOINT,
    STATIC,
    STREAM_MOTION,
    Manet,
    Place,
)
from netcarlo.kernels.adhoc.state import (
    N_LEG,
    N_MIRROR,
    N_PAUSE,
    N_REST,
    N_STREAM,
    N_T0,
    N_T1,
    N_VX,
    N_VY,
    N_X,
    N_Y,
    NO_START,
    NODE_WORDS,
    NODES,
)
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, P
from netcarlo.kernels.base.philox import make_draw

_MICROSECOND = 1000
_SECOND = 10**6  # [us]
_HALF = 1 << 31
_SHORTEST, _LONGEST = 1 << 40, 1 << 46  # squares of direction vectors that are accepted
_TRIES = 16
_MEAN = 131070  # of the sum of four 16-bit numbers
_NORMAL = 1774  # (sum - _MEAN) * _NORMAL >> 16 has standard deviation 1024
_NEVER_NS = 9e17


class Motion(NamedTuple):
    """The compiled functions of motion; `m` is scratch."""

    place: Any
    """`(m, i, t) -> (x, y)` of node i."""
    begin: Any
    """`(m, times, places)`: every node is on the leg that holds at time 0."""
    advance: Any
    """`(m, times, places, i, now)`: node i goes on to the leg that holds after `now`."""
    change: Any
    """`(m, i, j, now, inside, reach) -> int`: when the distance of two nodes, now inside `reach` or not,
    becomes greater or smaller than that [ns]; FOREVER: not on these legs."""


def make_motion(dev: Callable[[Any], Any]) -> Motion:
    """Compile `Motion` for a target."""
    draw = make_draw(dev)

    def even(low: Any, high: Any, word: Any) -> Any:
        return low + (((high - low) * np.int64(word)) >> 32)

    even = dev(even)

    def place(m: Any, i: Any, t: Any) -> Any:
        at = m[NODES] + i * NODE_WORDS
        us = (t - m[at + N_T0]) // _MICROSECOND
        return m[at + N_X] + m[at + N_VX] * us // _SECOND, m[at + N_Y] + m[at + N_VY] * us // _SECOND

    place = dev(place)

    @cold
    def random_waypoint(m: Any, i: Any, at: Any) -> Any:
        # Velocity and duration [us] of a leg.
        if m[at + N_PAUSE] > 0:
            us = m[at + N_PAUSE]
            m[at + N_PAUSE] = 0
            m[at + N_VX] = 0
            m[at + N_VY] = 0
            return us
        m[at + N_LEG] += 1
        a, b, c, d = draw(m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], m[at + N_STREAM], m[at + N_LEG])
        dx = even(np.int64(0), m[Manet.WIDTH], a) - m[at + N_X]
        dy = even(np.int64(0), m[Manet.HEIGHT], b) - m[at + N_Y]
        speed = even(m[Manet.SPEED_MIN], m[Manet.SPEED_MAX], c)
        way = np.int64(math.sqrt(float(dx * dx + dy * dy)))
        m[at + N_VX] = dx * speed // max(way, 1)
        m[at + N_VY] = dy * speed // max(way, 1)
        if m[Manet.PAUSE_MAX] > 0:
            m[at + N_PAUSE] = max(even(m[Manet.PAUSE_MIN], m[Manet.PAUSE_MAX], d), 1)
        return max(way * _SECOND // speed, 1)

    random_waypoint = dev(random_waypoint)

    @cold
    def random_direction(m: Any, i: Any, at: Any) -> Any:
        m[at + N_LEG] += 1
        ux, uy, square = np.int64(1 << 23), np.int64(0), np.int64(_LONGEST)
        for attempt in range(_TRIES):
            number = m[at + N_LEG] * _TRIES + attempt
            a, b, c, d = draw(m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], m[at + N_STREAM], number)
            tx = (np.int64(a) - _HALF) >> 8
            ty = (np.int64(b) - _HALF) >> 8
            if _SHORTEST <= tx * tx + ty * ty <= _LONGEST:
                ux, uy, square = tx, ty, tx * tx + ty * ty
                break
        length = np.int64(math.sqrt(float(square)))
        speed = even(m[Manet.SPEED_MIN], m[Manet.SPEED_MAX], c)
        m[at + N_VX] = ux * speed // length
        m[at + N_VY] = uy * speed // length
        return max(even(np.int64(0), 2 * m[Manet.LEG], d), 1)

    random_direction = dev(random_direction)

    def normal(a: Any, b: Any) -> Any:
        # About normal, standard deviation 1024.
        low = np.uint64(65535)
        half = np.uint64(16)
        total = np.int64((a >> half) + (a & low) + (b >> half) + (b & low))
        return ((total - _MEAN) * _NORMAL) >> 16

    normal = dev(normal)

    @cold
    def gauss_markov(m: Any, i: Any, at: Any) -> Any:
        m[at + N_LEG] += 1
        a, b, c, d = draw(m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], m[at + N_STREAM], m[at + N_LEG])
        vx = m[Manet.SPEED_MAX] * normal(a, b) >> 10
        vy = m[Manet.SPEED_MAX] * normal(c, d) >> 10
        if m[at + N_LEG] > 1:
            vx = (m[Manet.MEMORY] * m[at + N_VX] + m[Manet.FRESH] * vx) >> 16
            vy = (m[Manet.MEMORY] * m[at + N_VY] + m[Manet.FRESH] * vy) >> 16
        m[at + N_VX] = vx
        m[at + N_VY] = vy
        return m[Manet.LEG]

    gauss_markov = dev(gauss_markov)

    def to_wall(x: Any, v: Any, size: Any) -> Any:
        if v > 0:
            return (size - x) * _SECOND // v
        return x * _SECOND // -v if v < 0 else np.int64(FOREVER)

    to_wall = dev(to_wall)

    @cold
    def bounce(m: Any, i: Any, at: Any) -> Any:
        # A leg that ends at a wall; what is left of it follows with the velocity mirrored.
        if m[at + N_REST] > 0:
            us = m[at + N_REST]
            if m[at + N_MIRROR] & 1:
                m[at + N_VX] = -m[at + N_VX]
            if m[at + N_MIRROR] & 2:
                m[at + N_VY] = -m[at + N_VY]
        elif m[Manet.MOBILITY] == GAUSS_MARKOV:
            us = gauss_markov(m, i, at)
        else:
            us = random_direction(m, i, at)
        m[at + N_X] = min(max(m[at + N_X], 0), m[Manet.WIDTH])
        m[at + N_Y] = min(max(m[at + N_Y], 0), m[Manet.HEIGHT])
        in_x = to_wall(m[at + N_X], m[at + N_VX], m[Manet.WIDTH])
        in_y = to_wall(m[at + N_Y], m[at + N_VY], m[Manet.HEIGHT])
        wall = min(in_x, in_y)
        m[at + N_REST] = 0
        if wall < us:
            m[at + N_REST] = us - wall
            m[at + N_MIRROR] = (1 if in_x <= wall else 0) | (2 if in_y <= wall else 0)
            us = wall
        return us

    bounce = dev(bounce)

    @cold
    def given(m: Any, times: Any, places: Any, i: Any, at: Any) -> None:
        k = m[at + N_LEG] + 1
        m[at + N_LEG] = k
        m[at + N_X] = places[i, k, Place.X]
        m[at + N_Y] = places[i, k, Place.Y]
        m[at + N_VX] = 0
        m[at + N_VY] = 0
        m[at + N_T1] = FOREVER
        if k + 1 < times.shape[1] and times[i, k + 1] < FOREVER:
            m[at + N_T1] = times[i, k + 1]
            us = max((m[at + N_T1] - m[at + N_T0]) // _MICROSECOND, 1)
            m[at + N_VX] = (places[i, k + 1, Place.X] - places[i, k, Place.X]) * _SECOND // us
            m[at + N_VY] = (places[i, k + 1, Place.Y] - places[i, k, Place.Y]) * _SECOND // us

    given = dev(given)

    @cold
    def advance(m: Any, times: Any, places: Any, i: Any, now: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        mobility = m[Manet.MOBILITY]
        while m[at + N_T1] <= now:
            t = m[at + N_T1]
            m[at + N_X], m[at + N_Y] = place(m, i, t)
            m[at + N_T0] = t
            if mobility == GIVEN:
                given(m, times, places, i, at)
                continue
            if mobility == STATIC:
                m[at + N_T1] = FOREVER
                continue
            us = random_waypoint(m, i, at) if mobility == RANDOM_WAYPOINT else bounce(m, i, at)
            m[at + N_T1] = t + us * _MICROSECOND

    advance = dev(advance)

    @cold
    def set_out(m: Any, times: Any, places: Any, i: Any, attempt: Any, until: Any) -> None:
        # Node i is on the leg that holds then; every attempt draws another way.
        at = m[NODES] + i * NODE_WORDS
        m[at + N_STREAM] = STREAM_MOTION + i + MOST_NODES * attempt
        m[at + N_LEG] = 0
        m[at + N_REST] = 0
        m[at + N_PAUSE] = 0
        if m[Manet.MOBILITY] == GIVEN:
            m[at + N_X] = places[i, 0, Place.X]
            m[at + N_Y] = places[i, 0, Place.Y]
            m[at + N_T1] = times[i, 0]
            m[at + N_LEG] = -1
        else:
            a, b, _, _ = draw(m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], m[at + N_STREAM], np.int64(0))
            m[at + N_X] = even(np.int64(0), m[Manet.WIDTH], a)
            m[at + N_Y] = even(np.int64(0), m[Manet.HEIGHT], b)
            m[at + N_T0] = -m[Manet.MOTION_BEFORE]
            m[at + N_T1] = m[at + N_T0]
        advance(m, times, places, i, until)

    set_out = dev(set_out)

    @cold
    def begin(m: Any, times: Any, places: Any) -> None:
        zero = np.int64(0)
        for i in range(m[Manet.NODES]):
            set_out(m, times, places, np.int64(i), zero, zero)
        if m[Manet.APART_MAX] == 0:
            return
        # Source and sink are drawn together until they fit; their legs do not depend on those of others.
        source, sink, start = m[Manet.SOURCE], m[Manet.SINK], m[P.START]
        least, most = m[Manet.APART_MIN], m[Manet.APART_MAX]
        for k in range(MOST_ATTEMPTS):
            attempt = np.int64(k)
            set_out(m, times, places, source, attempt, start)
            set_out(m, times, places, sink, attempt, start)
            ax, ay = place(m, source, start)
            bx, by = place(m, sink, start)
            square = (bx - ax) * (bx - ax) + (by - ay) * (by - ay)
            if least * least <= square <= most * most:
                set_out(m, times, places, source, attempt, zero)
                set_out(m, times, places, sink, attempt, zero)
                return
        m[NO_START] = 1

    @cold
    def change(m: Any, i: Any, j: Any, now: Any, inside: Any, reach: Any) -> Any:
        one, other = m[NODES] + i * NODE_WORDS, m[NODES] + j * NODE_WORDS
        vx = m[other + N_VX] - m[one + N_VX]
        vy = m[other + N_VY] - m[one + N_VY]
        square = vx * vx + vy * vy
        if square == 0:
            return np.int64(FOREVER)
        ax, ay = place(m, i, now)
        bx, by = place(m, j, now)
        dx, dy = bx - ax, by - ay
        along = dx * vx + dy * vy
        if not inside and along >= 0:
            return np.int64(FOREVER)
        across = 8 * abs(dx * vy - dy * vx)
        q = np.int64(math.sqrt(float(square)) * float(reach) * 8.0)
        if q <= across:  # they only touch the circle, or miss it
            return now if inside else np.int64(FOREVER)
        half = np.int64(math.sqrt(float(q - across) * float(q + across)))
        way = -8 * along + (half if inside else -half)
        ns = float(way) / float(8 * square) * 1e9
        if ns >= _NEVER_NS:
            return np.int64(FOREVER)
        return now + max(np.int64(ns), np.int64(0))

    return Motion(place, dev(begin), advance, dev(change))
