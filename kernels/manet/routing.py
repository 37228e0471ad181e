"""Dynamic source routing as it matters to transport, and an ideal router as the bound.

Source: RFC 4728 in the form of ns-2: requests that first ask the neighbours only, back-off between requests,
replies from caches, route errors, salvage, routes learnt from what is overheard, gratuitous replies that
shorten a route in use.  With the ideal router a packet takes the shortest path there is when it is put out.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.hints import cold
from netcarlo.kernels.layout import P
from netcarlo.kernels.manet.layout import DSR, MOST_ROUTE, STREAM_ROUTING, Manet, ManetOut, NodeOut
from netcarlo.kernels.manet.medium import Medium
from netcarlo.kernels.manet.routes import Routes
from netcarlo.kernels.manet.state import (
    ACK,
    ASIDE,
    BUFFER,
    BUFFER_WORDS,
    COUNTS,
    DATA,
    FRAME_WORDS,
    FROM_SHIFT,
    HAS_BROKEN_SHIFT,
    HOP_SHIFT,
    ID_SHIFT,
    LAST_ID,
    LENGTH_MASK,
    N_BROKEN_AT,
    N_BUFFER,
    N_CHECK_AT,
    N_COUNT,
    N_DELAYED,
    N_DELAYED_AT,
    N_DRAWN,
    N_DUE_AT,
    N_FROM,
    N_HEAD,
    N_HOLD,
    N_HOLD_AT,
    N_LAST_REQUEST,
    N_LINK,
    N_OUTSTANDING,
    N_RING,
    N_RINGED,
    N_ROUTING_COUNT,
    N_ROUTING_HEAD,
    N_ROUTING_RING,
    N_TAP,
    N_TO,
    N_WAITING,
    NO_KEY,
    NO_TIME,
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
    ROUTE,
    ROUTE_ERROR,
    ROUTE_REPLY,
    ROUTING_ROOM,
    SALVAGE_SHIFT,
    SEEN,
    TAP_WORDS,
    TO_SHIFT,
    TTL_SHIFT,
    WAITING_SINCE,
)
from netcarlo.kernels.philox import make_draw

_MS = 10**6
REQUEST_PERIOD = 500 * _MS
"""Wait after the first request [ns]; four times as long after each further one."""
REQUEST_MOST = 10_000 * _MS
RING_WAIT = 30 * _MS
"""A request to the neighbours only is followed by one to all after this time."""
JITTER = 10 * _MS
"""Requests, and replies of the node that was looked for, wait up to this time."""
CHECK = 30 * _MS
"""Packets that wait for a route are looked at again after this time, and up to twice that."""
SPACING = 30 * _MS
"""Packets that have waited for a route are sent with these intervals."""
WAIT_MOST = 30_000 * _MS
"""Packets wait no longer for a route."""
HOLD = 1000 * _MS
"""A route in use is looked at, and a gratuitous reply repeated, after this time; a broken link is passed on
with a request if it is no older."""
MOST_SALVAGES = 15
_KIND = 15
_FORTH = DATA, PROBE
_FORWARDED = NODE_COUNTS + NodeOut.FORWARDED


class Routing(NamedTuple):
    """The compiled functions of routing; `m` is scratch, a frame is (frame, route, load), see `state`."""

    send: Any
    """`(m, i, t, kind, number)`: source or sink puts a packet out."""
    hear_request: Any
    """`(m, n, t, frame, route, load)`: node n has decoded a route request."""
    hear: Any
    """`(m, j, t, frame, route, load) -> bool`: the next node of a frame has it; True: it is for its host."""
    overheard: Any
    """`(m, i, j, t, frame, route, load)`: what node i sent to j was also decoded by others."""
    broken: Any
    """`(m, i, j, t, frame, route, load, gone)`: node i gives up the link to j; `gone`: the frame crossed."""
    delayed: Any
    """`(m, i, t)`: a frame that was delayed goes into the queue."""
    due: Any
    """`(m, i, t)`: a packet that waited for a route, and its turn, goes into the queue."""
    check: Any
    """`(m, i, t)`: packets that wait for a route are looked at."""
    link_comes: Any
    """`(m, t)`: for the ideal router."""


def make_routing(dev: Callable[[Any], Any], medium: Medium, routes: Routes, first: int) -> Routing:
    """Compile `Routing` for a target; data segments are numbered from `first` on."""
    draw = make_draw(dev)
    node, position, part, reverse, join, single, add, dead, find = routes
    rekey, enqueue = medium.rekey, medium.enqueue

    def random_part(m: Any, i: Any, span: Any) -> Any:
        at = m[NODES] + i * NODE_WORDS
        number = m[at + N_DRAWN]
        m[at + N_DRAWN] = number + 1
        a, _, _, _ = draw(m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], STREAM_ROUTING + i, number)
        return (np.int64(a) * span) >> 32

    random_part = dev(cold(random_part))

    def drop(m: Any, frame: Any, column: Any) -> None:
        kind = frame & _KIND
        if kind == DATA and frame >> NUMBER_SHIFT >= first:
            m[COUNTS + column] += 1
        elif kind == ACK:
            m[COUNTS + ManetOut.ACK_DROPS] += 1

    drop = dev(cold(drop))

    @cold
    def jittered(m: Any, i: Any, t: Any, frame: Any, route: Any, load: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        if m[at + N_DELAYED_AT] < NO_KEY:
            enqueue(m, i, t, frame, route, load)
            return
        m[at + N_DELAYED_AT] = t + random_part(m, i, np.int64(JITTER))
        m[at + N_DELAYED] = frame
        m[at + N_DELAYED + 1] = route
        m[at + N_DELAYED + 2] = load
        rekey(m, i)

    jittered = dev(jittered)

    @cold
    def delayed(m: Any, i: Any, t: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        m[at + N_DELAYED_AT] = NO_KEY
        rekey(m, i)
        enqueue(m, i, t, m[at + N_DELAYED], m[at + N_DELAYED + 1], m[at + N_DELAYED + 2])

    @cold
    def originate(m: Any, i: Any, j: Any, t: Any, ttl: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        m[COUNTS + ManetOut.DISCOVERIES] += 1
        m[LAST_ID] += 1
        load = m[LAST_ID] << ID_SHIFT | ttl << TTL_SHIFT | j
        if t - m[at + N_BROKEN_AT] < HOLD:
            load |= np.int64(1) << HAS_BROKEN_SHIFT | m[at + N_FROM] << FROM_SHIFT | m[at + N_TO] << TO_SHIFT
            if ttl == 1:
                m[at + N_BROKEN_AT] = NO_TIME
        jittered(m, i, t, np.int64(REQUEST), single(i), load)

    originate = dev(originate)

    @cold
    def request(m: Any, i: Any, j: Any, t: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        wait = min(np.int64(REQUEST_PERIOD) << (2 * m[at + N_OUTSTANDING]), np.int64(REQUEST_MOST))
        if t >= m[at + N_LAST_REQUEST] + wait:
            m[at + N_OUTSTANDING] = min(m[at + N_OUTSTANDING] + 1, 15)
            m[at + N_LAST_REQUEST] = t
            m[at + N_RINGED] = t
            originate(m, i, j, t, np.int64(0))
        elif m[at + N_RINGED] != NO_TIME and t - m[at + N_RINGED] > RING_WAIT:
            m[at + N_RINGED] = NO_TIME
            originate(m, i, j, t, np.int64(1))

    request = dev(request)

    @cold
    def schedule(m: Any, i: Any, t: Any) -> None:
        m[m[NODES] + i * NODE_WORDS + N_CHECK_AT] = t + CHECK + random_part(m, i, np.int64(CHECK))
        rekey(m, i)

    schedule = dev(schedule)

    @cold
    def remove(m: Any, at: Any, k: Any) -> None:
        # The k-th packet leaves the buffer of the node at word `at`.
        m[at + N_WAITING] -= 1
        begin = m[at + N_BUFFER]
        for word in range(begin + BUFFER_WORDS * k, begin + BUFFER_WORDS * m[at + N_WAITING]):
            m[word] = m[word + BUFFER_WORDS]

    remove = dev(remove)

    @cold
    def reckon(m: Any, i: Any, t: Any) -> None:
        # The buffer of node i has changed: its next due time, and how long the source has waited.
        at = m[NODES] + i * NODE_WORDS
        next_due = np.int64(NO_KEY)
        waiting = False
        for k in range(m[at + N_WAITING]):
            due_at = m[m[at + N_BUFFER] + BUFFER_WORDS * k + 2]
            next_due = min(next_due, due_at)
            waiting = waiting or due_at >= NO_KEY
        m[at + N_DUE_AT] = next_due
        rekey(m, i)
        if i == m[Manet.SOURCE]:
            if waiting and m[WAITING_SINCE] == NO_TIME:
                m[WAITING_SINCE] = t
            if not waiting and m[WAITING_SINCE] != NO_TIME:
                m[COUNTS + ManetOut.WAITED] += t - m[WAITING_SINCE]
                m[WAITING_SINCE] = NO_TIME

    reckon = dev(reckon)

    @cold
    def wait(m: Any, i: Any, j: Any, t: Any, frame: Any) -> None:
        # A packet without a route goes into the buffer.
        at = m[NODES] + i * NODE_WORDS
        begin = m[at + N_BUFFER]
        if m[at + N_WAITING] == BUFFER:
            oldest = np.int64(0)
            for k in range(1, BUFFER):
                if m[begin + BUFFER_WORDS * k] < m[begin + BUFFER_WORDS * oldest]:
                    oldest = np.int64(k)
            drop(m, m[begin + BUFFER_WORDS * oldest + 1], np.int64(ManetOut.DROPS_BUFFER))
            remove(m, at, oldest)
        to = begin + BUFFER_WORDS * m[at + N_WAITING]
        m[to] = t
        m[to + 1] = frame
        m[to + 2] = NO_KEY
        m[to + 3] = 0
        m[at + N_WAITING] += 1
        reckon(m, i, t)
        if m[at + N_CHECK_AT] >= NO_KEY:
            schedule(m, i, t)
        if m[Manet.ROUTING] == DSR:
            request(m, i, j, t)

    wait = dev(wait)

    def other_end(m: Any, i: Any) -> Any:
        return m[Manet.SINK] if i == m[Manet.SOURCE] else m[Manet.SOURCE]

    other_end = dev(other_end)

    def send(m: Any, i: Any, t: Any, kind: Any, number: Any) -> None:
        frame = number << NUMBER_SHIFT | kind
        j = other_end(m, i)
        route = find(m, i, j)
        if kind == DATA:
            m[ROUTE] = route
        if route != 0:
            enqueue(m, i, t, frame, route, np.int64(0))
        else:
            wait(m, i, j, t, frame)

    send = dev(cold(send))

    @cold
    def flush(m: Any, i: Any, t: Any, spacing: Any) -> None:
        # Packets that wait and now have a route go, `spacing` apart.
        at = m[NODES] + i * NODE_WORDS
        j = other_end(m, i)
        turn = np.int64(0)
        k = np.int64(0)
        while k < m[at + N_WAITING]:
            to = m[at + N_BUFFER] + BUFFER_WORDS * k
            route = find(m, i, j) if m[to + 2] >= NO_KEY else np.int64(0)
            if route == 0:
                k += 1
            elif turn == 0:
                frame = m[to + 1]
                remove(m, at, k)
                enqueue(m, i, t, frame, route, np.int64(0))
                turn += spacing
            else:
                m[to + 2] = t + turn
                m[to + 3] = route
                turn += spacing
                k += 1
        reckon(m, i, t)

    flush = dev(flush)

    @cold
    def due(m: Any, i: Any, t: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        k = np.int64(0)
        while m[m[at + N_BUFFER] + BUFFER_WORDS * k + 2] != t:
            k += 1
        to = m[at + N_BUFFER] + BUFFER_WORDS * k
        frame, route = m[to + 1], m[to + 3]
        remove(m, at, k)
        reckon(m, i, t)
        enqueue(m, i, t, frame, route, np.int64(0))

    @cold
    def check(m: Any, i: Any, t: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        j = other_end(m, i)
        left = False
        k = np.int64(0)
        while k < m[at + N_WAITING]:
            to = m[at + N_BUFFER] + BUFFER_WORDS * k
            if m[to + 2] < NO_KEY:
                k += 1
                continue
            frame = m[to + 1]
            if t - m[to] > WAIT_MOST:
                remove(m, at, k)
                drop(m, frame, np.int64(ManetOut.DROPS_BUFFER))
                continue
            route = find(m, i, j)
            if route != 0:
                remove(m, at, k)
                enqueue(m, i, t, frame, route, np.int64(0))
                continue
            if m[Manet.ROUTING] == DSR:
                request(m, i, j, t)
            left = True
            k += 1
        m[at + N_CHECK_AT] = NO_KEY
        reckon(m, i, t)
        if left:
            schedule(m, i, t)

    @cold
    def link_comes(m: Any, t: Any) -> None:
        flush(m, m[Manet.SOURCE], t, np.int64(0))
        flush(m, m[Manet.SINK], t, np.int64(0))

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
            m[at + N_OUTSTANDING] = 0
            m[at + N_LAST_REQUEST] = NO_TIME
            m[at + N_RINGED] = NO_TIME
            if m[at + N_WAITING] > 0:
                flush(m, j, t, np.int64(SPACING))
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

    return Routing(
        send, dev(hear_request), dev(hear), overheard, dev(broken), dev(delayed), dev(due), dev(check),
        dev(link_comes),
    )  # fmt: skip
