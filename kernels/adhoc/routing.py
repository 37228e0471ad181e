"""Dynamic source routing as it matters to transport, and what is left of it with an ideal router.

Source: RFC 4728 in the form of ns-2: replies from caches, route errors, salvage, routes learnt from what is
overheard, gratuitous replies that shorten a route in use.  With the ideal router a packet takes the shortest
path there is when it is put out.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.discovery import Discovery
from netcarlo.kernels.adhoc.layout import DSR, MOST_ROUTE, Manet, ManetOut, NodeOut
from netcarlo.kernels.adhoc.routes import Routes
from netcarlo.kernels.adhoc.state import (
    ASIDE,
    COUNTS,
    DATA,
    FRAME_WORDS,
    FROM_SHIFT,
    HAS_BROKEN_SHIFT,
    HOP_SHIFT,
    ID_SHIFT,
    LENGTH_MASK,
    N_BROKEN_AT,
    N_COUNT,
    N_FROM,
    N_HEAD,
    N_HOLD,
    N_HOLD_AT,
    N_LINK,
    N_RING,
    N_ROUTING_COUNT,
    N_ROUTING_HEAD,
    N_ROUTING_RING,
    N_TAP,
    N_TO,
    NODE_COUNTS,
    NODE_MASK,
    NODE_WORDS,
    NODES,
    NOTICE,
    NUMBER_SHIFT,
    ONE_HOP,
    ONE_SALVAGE,
    PROBE,
    REPLY,
    REQUEST,
    ROUTE_ERROR,
    ROUTE_REPLY,
    ROUTING_ROOM,
    SALVAGE_SHIFT,
    SEEN,
    TAP_WORDS,
    TO_SHIFT,
    TTL_SHIFT,
)
from netcarlo.kernels.base.inline import cold

_MS = 10**6
HOLD = 1000 * _MS
"""A route in use is looked at, and a gratuitous reply repeated, after this time."""
MOST_SALVAGES = 15
_KIND = 15
_FORTH = DATA, PROBE
_FORWARDED = NODE_COUNTS + NodeOut.FORWARDED


class Routing(NamedTuple):
    """The compiled functions of routing; `m` is scratch, a frame is (frame, route, load), see `state`."""

    hear_request: Any
    """`(m, n, t, frame, route, load)`: node n has decoded a route request."""
    hear: Any
    """`(m, j, t, frame, route, load) -> bool`: the next node of a frame has it; True: it is for its host."""
    overheard: Any
    """`(m, i, j, t, frame, route, load)`: what node i sent to j was also decoded by others."""
    broken: Any
    """`(m, i, j, t, frame, route, load, gone)`: node i gives up the link to j; `gone`: the frame crossed."""


def make_routing(dev: Callable[[Any], Any], enqueue: Any, routes: Routes, discovery: Discovery) -> Routing:
    """Compile `Routing` for a target; `enqueue` is that of `Medium`."""
    node, position, part, reverse, join, single, add, dead, find = routes
    send, found_route, jittered, drop = discovery[:4]

    @cold
    def hear_request(m: Any, n: Any, t: Any, frame: Any, route: Any, load: Any) -> None:
        if load >> HAS_BROKEN_SHIFT & 1:
            dead(m, n, load >> FROM_SHIFT & NODE_MASK, load >> TO_SHIFT & NODE_MASK)
        origin = node(route, np.int64(0))
        if n == origin:
            return
        length = route & LENGTH_MASK
        seen = m[SEEN] + n * m[Manet.NODES] + origin
        number = load >> ID_SHIFT
        target = load & NODE_MASK
        if n == target:
            m[seen] = max(m[seen], number)
            if length < MOST_ROUTE:
                found = join(route, single(n))
                back = reverse(found)
                add(m, n, back)
                jittered(m, n, t, np.int64(ROUTE_REPLY), back, found)
            return
        if m[seen] >= number or length >= MOST_ROUTE or position(route, n) >= 0:
            return
        m[seen] = number
        so_far = join(route, single(n))
        rest = find(m, n, target)
        if rest != 0 and length + (rest & LENGTH_MASK) <= MOST_ROUTE:
            apart = True
            for k in range(rest & LENGTH_MASK):
                apart = apart and position(route, node(rest, np.int64(k))) < 0
            if apart:
                back = reverse(so_far)
                add(m, n, back)
                enqueue(m, n, t, np.int64(ROUTE_REPLY), back, join(route, rest))
                return
        if load >> TTL_SHIFT & 1:
            jittered(m, n, t, np.int64(REQUEST), so_far, load)

    @cold
    def hear(m: Any, j: Any, t: Any, frame: Any, route: Any, load: Any) -> Any:
        at = m[NODES] + j * NODE_WORDS
        kind = frame & _KIND
        frame += ONE_HOP
        hop = frame >> HOP_SHIFT & 15
        length = route & LENGTH_MASK
        if hop < length - 1:
            m[at + _FORWARDED] += 1
            if kind == ROUTE_ERROR:
                dead(m, j, load & NODE_MASK, load >> 6 & NODE_MASK)
            if m[Manet.ROUTING] == DSR:
                add(m, j, part(route, hop, length))
            enqueue(m, j, t, frame, route, load)
            return False
        if kind == ROUTE_REPLY:
            add(m, j, load)
            found_route(m, j, t)
            return False
        if kind == ROUTE_ERROR:
            dead(m, j, load & NODE_MASK, load >> 6 & NODE_MASK)
            m[at + N_FROM] = load & NODE_MASK
            m[at + N_TO] = load >> 6 & NODE_MASK
            m[at + N_BROKEN_AT] = t
            if j == m[Manet.SOURCE]:
                m[NOTICE] = 1
            return False
        return True

    @cold
    def tap(m: Any, n: Any, t: Any, hop: Any, frame: Any, route: Any, load: Any) -> None:
        # Node n has overheard a frame that node `hop` of the route has sent.
        at = m[NODES] + n * NODE_WORDS
        kind = frame & _KIND
        length = route & LENGTH_MASK
        if kind == ROUTE_ERROR:
            dead(m, n, load & NODE_MASK, load >> 6 & NODE_MASK)
        if kind == ROUTE_REPLY:
            where = position(load, n)
            if where >= 0 and where < (load & LENGTH_MASK) - 1:
                add(m, n, part(load, where, load & LENGTH_MASK))
        where = position(route, n)
        if where < 0:
            if 1 + length - hop <= MOST_ROUTE:
                add(m, n, join(single(n), part(route, hop, length)))
            return
        if where < length - 1:
            add(m, n, part(route, where, length))
        if kind <= REPLY and where > hop + 1:
            if m[at + N_HOLD] == route and t - m[at + N_HOLD_AT] < HOLD:
                return
            m[at + N_HOLD] = route
            m[at + N_HOLD_AT] = t
            m[COUNTS + ManetOut.SHORTENED] += 1
            so_far = part(route, np.int64(0), hop + 1)
            back = join(single(n), reverse(so_far))
            add(m, n, back)
            enqueue(m, n, t, np.int64(ROUTE_REPLY), back, join(so_far, part(route, where, length)))

    tap = dev(tap)

    def overheard(m: Any, i: Any, j: Any, t: Any, frame: Any, route: Any, load: Any) -> None:
        if m[Manet.ROUTING] != DSR:
            return
        at = m[NODES] + i * NODE_WORDS
        kind = frame & _KIND
        hop = frame >> HOP_SHIFT & 15
        links = m[at + N_LINK]
        if kind <= REPLY:
            memory = at + N_TAP + TAP_WORDS * (kind & 1)
            if (
                m[memory] == route
                and m[memory + 1] == hop
                and m[memory + 2] == links
                and t - m[memory + 3] < HOLD
            ):
                return
            m[memory] = route
            m[memory + 1] = hop
            m[memory + 2] = links
            m[memory + 3] = t
        origin = node(route, np.int64(0))
        for n in range(m[Manet.NODES]):
            if links >> n & 1 and n != j and n != origin:
                tap(m, np.int64(n), t, hop, frame, route, load)

    overheard = dev(cold(overheard))

    @cold
    def undeliverable(m: Any, i: Any, t: Any, frame: Any) -> None:
        kind = frame & _KIND
        if kind > REPLY:
            return
        forth = kind in _FORTH
        if i == (m[Manet.SOURCE] if forth else m[Manet.SINK]):
            send(m, i, t, kind, frame >> NUMBER_SHIFT)
            return
        route = find(m, i, m[Manet.SINK] if forth else m[Manet.SOURCE])
        if route != 0 and frame >> SALVAGE_SHIFT & 15 < MOST_SALVAGES:
            m[COUNTS + ManetOut.SALVAGED] += 1
            enqueue(m, i, t, (frame & ~np.int64(15 << HOP_SHIFT)) + ONE_SALVAGE, route, np.int64(0))
        else:
            drop(m, frame, np.int64(ManetOut.DROPS_ROUTE))

    undeliverable = dev(undeliverable)

    @cold
    def take_out(m: Any, at: Any, j: Any, head: Any, count: Any, ring: Any, room: Any, aside: Any) -> Any:
        # Frames of a queue whose next node is j go to word `aside` and on; returns how many.
        taken = np.int64(0)
        kept = np.int64(0)
        for k in range(m[at + count]):
            slot = (m[at + head] + k) % room
            source = m[at + ring] + FRAME_WORDS * slot
            hop = m[source] >> HOP_SHIFT & 15
            if m[source] & _KIND != REQUEST and node(m[source + 1], hop + 1) == j:
                m[aside + taken] = m[source]
                taken += 1
            else:
                to = m[at + ring] + FRAME_WORDS * ((m[at + head] + kept) % room)
                for word in range(FRAME_WORDS):
                    m[to + word] = m[source + word]
                kept += 1
        m[at + count] = kept
        return taken

    take_out = dev(take_out)

    @cold
    def broken(m: Any, i: Any, j: Any, t: Any, frame: Any, route: Any, load: Any, gone: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        m[COUNTS + ManetOut.BREAKS] += 1
        if m[at + N_LINK] >> j & 1:
            m[COUNTS + ManetOut.FALSE_BREAKS] += 1
        dsr = m[Manet.ROUTING] == DSR
        if dsr:
            dead(m, i, i, j)
        if not gone:
            undeliverable(m, i, t, frame)
        aside = m[ASIDE]
        taken = take_out(
            m, at, j, np.int64(N_ROUTING_HEAD), np.int64(N_ROUTING_COUNT), np.int64(N_ROUTING_RING),
            np.int64(ROUTING_ROOM), aside,
        )  # fmt: skip
        taken += take_out(
            m, at, j, np.int64(N_HEAD), np.int64(N_COUNT), np.int64(N_RING), m[Manet.QUEUE], aside + taken
        )
        for k in range(taken - 1, -1, -1):  # the last first, as in ns-2: they are put out in reverse
            undeliverable(m, i, t, m[aside + k])
        if dsr and node(route, np.int64(0)) != i:
            m[COUNTS + ManetOut.ROUTE_ERRORS] += 1
            hop = frame >> HOP_SHIFT & 15
            back = reverse(part(route, np.int64(0), hop + 1))
            enqueue(m, i, t, np.int64(ROUTE_ERROR), back, j << 6 | i)
        kind = frame & _KIND
        if i == m[Manet.SOURCE] and kind in _FORTH:
            m[NOTICE] = 1

    return Routing(dev(hear_request), dev(hear), overheard, dev(broken))
