"""Motion of nodes: legs of constant velocity, and the times at which two nodes enter or leave each other's
range.

Sources: random waypoint, Broch et al. (MobiCom 1998); random direction with reflection, Nain et al. (INFOCOM
2005); Gauss-Markov, Liang and Haas (INFOCOM 1999). A leg is given by position and velocity at its start, so a
position is a product; the distance of two nodes crosses a limit at the roots of a quadratic. All of it is
computed with integers, or with products, quotients and square roots, which are rounded alike on every target.

`m` is scratch, `at` the first word of a node in it.
"""

import math
from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import (
    GAUSS_MARKOV,
    GIVEN,
    MOST_ATTEMPTS,
    MOST_SMALL,
    RANDOM_WAYPOINT,
    STATIC,
    STREAM_MOTION,
    Manet,
    Place,
)
from netcarlo.kernels.adhoc.state import NODE_WORDS, NODES, Node, Word
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw

_MICROSECOND = 1000
_SECOND = 10**6  # [us]
_HALF = 1 << 31
_SHORTEST, _LONGEST = 1 << 40, 1 << 46  # limits of the squared length of random direction vectors
_TRIES = 16
_MEAN = 131070  # mean of the sum of four 16-bit numbers
_NORMAL = 1774  # (sum - _MEAN) * _NORMAL >> 16 has standard deviation 1024
_NEVER_NS = 9e17


def position(m: Any, i: Any, t: Any) -> Any:
    """Return the position (x, y) of node i at time `t`, which must be on its current leg."""
    at = NODES + i * NODE_WORDS
    us = (t - m[at + Node.T0]) // _MICROSECOND
    x = m[at + Node.X] + m[at + Node.VX] * us // _SECOND
    y = m[at + Node.Y] + m[at + Node.VY] * us // _SECOND
    return x, y


@noinline
def set_out(m: Any, times: Any, places: Any) -> None:
    """Put every node on its leg at time 0. Set NO_START if source and sink cannot have the required
    distance."""
    zero = np.int64(0)
    for i in range(m[Manet.NODES]):
        _set_out(m, times, places, np.int64(i), zero, zero)
    if m[Manet.APART_MAX] > 0:
        _set_apart(m, times, places)


@noinline
def _set_apart(m: Any, times: Any, places: Any) -> None:
    """Draw source and sink again until they have the required distance; other nodes are not affected."""
    source, sink, start = m[Manet.SOURCE], m[Manet.SINK], m[RowP.START]
    least, most = m[Manet.APART_MIN], m[Manet.APART_MAX]
    m[Word.NO_START] = 1
    for k in range(MOST_ATTEMPTS):
        attempt = np.int64(k)
        _set_out(m, times, places, source, attempt, start)
        _set_out(m, times, places, sink, attempt, start)
        ax, ay = position(m, source, start)
        bx, by = position(m, sink, start)
        square = (bx - ax) * (bx - ax) + (by - ay) * (by - ay)
        if least * least <= square <= most * most:
            _set_out(m, times, places, source, attempt, np.int64(0))
            _set_out(m, times, places, sink, attempt, np.int64(0))
            m[Word.NO_START] = 0
            break


def stream(i: Any, attempt: Any) -> Any:
    """Return the random stream of the motion of node i.

    Attempts of 64 nodes are in a block of MOST_SMALL * MOST_ATTEMPTS streams; there are four such blocks.
    """
    block, place = i // MOST_SMALL, i % MOST_SMALL
    return STREAM_MOTION + MOST_SMALL * (MOST_ATTEMPTS * block + attempt) + place


@noinline
def _set_out(m: Any, times: Any, places: Any, i: Any, attempt: Any, until: Any) -> None:
    """Put node i on its leg at time `until`; every attempt draws another trajectory."""
    at = NODES + i * NODE_WORDS
    m[at + Node.STREAM] = stream(i, attempt)
    m[at + Node.LEG] = 0
    m[at + Node.REST] = 0
    m[at + Node.PAUSE] = 0
    if m[Manet.MOBILITY] == GIVEN:
        m[at + Node.X] = places[i, 0, Place.X]
        m[at + Node.Y] = places[i, 0, Place.Y]
        m[at + Node.T1] = times[i, 0]
        m[at + Node.LEG] = -1
    else:
        a, b, _, _ = draw(
            m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], m[at + Node.STREAM], np.int64(0)
        )
        m[at + Node.X] = _even(np.int64(0), m[Manet.WIDTH], a)
        m[at + Node.Y] = _even(np.int64(0), m[Manet.HEIGHT], b)
        m[at + Node.T0] = -m[Manet.MOTION_BEFORE]
        m[at + Node.T1] = m[at + Node.T0]
    advance(m, times, places, i, until)


@noinline
def advance(m: Any, times: Any, places: Any, i: Any, now: Any) -> None:
    """Put node i on the next leg at time `now` [ns]."""
    at = NODES + i * NODE_WORDS
    mobility = m[Manet.MOBILITY]
    while m[at + Node.T1] <= now:
        t = m[at + Node.T1]
        m[at + Node.X], m[at + Node.Y] = position(m, i, t)
        m[at + Node.T0] = t
        if mobility == GIVEN:
            _given(m, times, places, i, at)
        elif mobility == STATIC:
            m[at + Node.T1] = FOREVER
        else:
            us = _random_waypoint(m, at) if mobility == RANDOM_WAYPOINT else _bounce(m, at)
            m[at + Node.T1] = t + us * _MICROSECOND


@noinline
def _given(m: Any, times: Any, places: Any, i: Any, at: Any) -> None:
    """Start the next leg of the tables."""
    k = m[at + Node.LEG] + 1
    m[at + Node.LEG] = k
    m[at + Node.X] = places[i, k, Place.X]
    m[at + Node.Y] = places[i, k, Place.Y]
    m[at + Node.VX] = 0
    m[at + Node.VY] = 0
    m[at + Node.T1] = FOREVER
    if k + 1 < times.shape[1] and times[i, k + 1] < FOREVER:
        m[at + Node.T1] = times[i, k + 1]
        us = max((m[at + Node.T1] - m[at + Node.T0]) // _MICROSECOND, 1)
        m[at + Node.VX] = (places[i, k + 1, Place.X] - places[i, k, Place.X]) * _SECOND // us
        m[at + Node.VY] = (places[i, k + 1, Place.Y] - places[i, k, Place.Y]) * _SECOND // us


@noinline
def _random_waypoint(m: Any, at: Any) -> Any:
    """Draw the velocity of a leg to a point in the area, or a pause; return the duration [us]."""
    if m[at + Node.PAUSE] > 0:
        us = m[at + Node.PAUSE]
        m[at + Node.PAUSE] = 0
        m[at + Node.VX] = 0
        m[at + Node.VY] = 0
        return us
    m[at + Node.LEG] += 1
    a, b, c, d = draw(
        m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], m[at + Node.STREAM], m[at + Node.LEG]
    )
    dx = _even(np.int64(0), m[Manet.WIDTH], a) - m[at + Node.X]
    dy = _even(np.int64(0), m[Manet.HEIGHT], b) - m[at + Node.Y]
    speed = _even(m[Manet.SPEED_MIN], m[Manet.SPEED_MAX], c)
    length = np.int64(math.sqrt(float(dx * dx + dy * dy)))
    m[at + Node.VX] = dx * speed // max(length, 1)
    m[at + Node.VY] = dy * speed // max(length, 1)
    if m[Manet.PAUSE_MAX] > 0:
        m[at + Node.PAUSE] = max(_even(m[Manet.PAUSE_MIN], m[Manet.PAUSE_MAX], d), 1)
    return max(length * _SECOND // speed, 1)


@noinline
def _bounce(m: Any, at: Any) -> Any:
    """Continue a leg at a wall with the mirrored velocity; return the remaining duration [us]."""
    if m[at + Node.REST] > 0:
        us = m[at + Node.REST]
        if m[at + Node.MIRROR] & 1:
            m[at + Node.VX] = -m[at + Node.VX]
        if m[at + Node.MIRROR] & 2:
            m[at + Node.VY] = -m[at + Node.VY]
    elif m[Manet.MOBILITY] == GAUSS_MARKOV:
        us = _gauss_markov(m, at)
    else:
        us = _random_direction(m, at)
    m[at + Node.X] = min(max(m[at + Node.X], 0), m[Manet.WIDTH])
    m[at + Node.Y] = min(max(m[at + Node.Y], 0), m[Manet.HEIGHT])
    in_x = _to_wall(m[at + Node.X], m[at + Node.VX], m[Manet.WIDTH])
    in_y = _to_wall(m[at + Node.Y], m[at + Node.VY], m[Manet.HEIGHT])
    wall = min(in_x, in_y)
    m[at + Node.REST] = 0
    if wall < us:
        m[at + Node.REST] = us - wall
        m[at + Node.MIRROR] = (1 if in_x <= wall else 0) | (2 if in_y <= wall else 0)
        us = wall
    return us


@noinline
def _random_direction(m: Any, at: Any) -> Any:
    """Draw the velocity of a leg. Return its intended duration [us]."""
    m[at + Node.LEG] += 1
    ux, uy, square = np.int64(1 << 23), np.int64(0), np.int64(_LONGEST)
    for attempt in range(_TRIES):
        number = m[at + Node.LEG] * _TRIES + attempt
        a, b, c, d = draw(m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], m[at + Node.STREAM], number)
        tx = (np.int64(a) - _HALF) >> 8
        ty = (np.int64(b) - _HALF) >> 8
        if _SHORTEST <= tx * tx + ty * ty <= _LONGEST:
            ux, uy, square = tx, ty, tx * tx + ty * ty
            break
    length = np.int64(math.sqrt(float(square)))
    speed = _even(m[Manet.SPEED_MIN], m[Manet.SPEED_MAX], c)
    m[at + Node.VX] = ux * speed // length
    m[at + Node.VY] = uy * speed // length
    return max(_even(np.int64(0), 2 * m[Manet.LEG], d), 1)


@noinline
def _gauss_markov(m: Any, at: Any) -> Any:
    """Draw the velocity of a step. Return its intended duration [us]."""
    m[at + Node.LEG] += 1
    a, b, c, d = draw(
        m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], m[at + Node.STREAM], m[at + Node.LEG]
    )
    vx = m[Manet.SPEED_MAX] * _normal(a, b) >> 10
    vy = m[Manet.SPEED_MAX] * _normal(c, d) >> 10
    if m[at + Node.LEG] > 1:
        vx = (m[Manet.MEMORY] * m[at + Node.VX] + m[Manet.FRESH] * vx) >> 16
        vy = (m[Manet.MEMORY] * m[at + Node.VY] + m[Manet.FRESH] * vy) >> 16
    m[at + Node.VX] = vx
    m[at + Node.VY] = vy
    return m[Manet.LEG]


def _to_wall(x: Any, v: Any, size: Any) -> Any:
    """Return the time [us] until a node at `x` with velocity `v` is at 0 or `size`."""
    if v > 0:
        return (size - x) * _SECOND // v
    return x * _SECOND // -v if v < 0 else np.int64(FOREVER)


def _even(low: Any, high: Any, word: Any) -> Any:
    """Return a uniform random number in [low, high), from 32 random bits."""
    return low + (((high - low) * np.int64(word)) >> 32)


def _normal(a: Any, b: Any) -> Any:
    """Return an approximately normal random number with standard deviation 1024, from twice 32 random
    bits."""
    low = np.uint64(65535)
    half = np.uint64(16)
    total = np.int64((a >> half) + (a & low) + (b >> half) + (b & low))
    return ((total - _MEAN) * _NORMAL) >> 16


def encounter(m: Any, i: Any, j: Any, now: Any) -> Any:
    """Return the relative motion of two nodes.

    It is the square of their relative velocity, and its products along and across the line from i to j.
    """
    one, other = NODES + i * NODE_WORDS, NODES + j * NODE_WORDS
    vx = m[other + Node.VX] - m[one + Node.VX]
    vy = m[other + Node.VY] - m[one + Node.VY]
    ax, ay = position(m, i, now)
    bx, by = position(m, j, now)
    dx, dy = bx - ax, by - ay
    return vx * vx + vy * vy, dx * vx + dy * vy, 8 * abs(dx * vy - dy * vx)


def crossing(square: Any, along: Any, across: Any, now: Any, inside: Any, reach: Any) -> Any:
    """Return when the distance of two nodes crosses `reach` [ns], or FOREVER if not on these legs.

    `inside`: the distance is smaller now. The first three arguments are those of `encounter`.
    """
    if square == 0 or (not inside and along >= 0):
        return np.int64(FOREVER)
    q = np.int64(math.sqrt(float(square)) * float(reach) * 8.0)
    if q <= across:  # the trajectory only touches the circle, or misses it
        return now if inside else np.int64(FOREVER)
    half = np.int64(math.sqrt(float(q - across) * float(q + across)))
    numerator = -8 * along + (half if inside else -half)
    ns = float(numerator) / float(8 * square) * 1e9
    if ns >= _NEVER_NS:
        return np.int64(FOREVER)
    return now + max(np.int64(ns), np.int64(0))
