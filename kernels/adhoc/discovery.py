"""Packets that wait for a route, and the requests that look for one.

Source: RFC 4728 (DSR) in the form of ns-2: a request that asks the neighbours only, then one to all, with
back-off between; packets that have waited go `SPACING` apart.  With the ideal router: when a link comes.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.layout import DSR, STREAM_ROUTING, Manet, ManetOut
from netcarlo.kernels.adhoc.medium import Medium
from netcarlo.kernels.adhoc.routes import Routes
from netcarlo.kernels.adhoc.state import (
    ACK,
    BUFFER,
    BUFFER_WORDS,
    COUNTS,
    DATA,
    FROM_SHIFT,
    HAS_BROKEN_SHIFT,
    ID_SHIFT,
    LAST_ID,
    N_BROKEN_AT,
    N_BUFFER,
    N_CHECK_AT,
    N_DELAYED,
    N_DELAYED_AT,
    N_DRAWN,
    N_DUE_AT,
    N_FROM,
    N_LAST_REQUEST,
    N_OUTSTANDING,
    N_RINGED,
    N_TO,
    N_WAITING,
    NO_KEY,
    NO_TIME,
    NODE_WORDS,
    NODES,
    NUMBER_SHIFT,
    REQUEST,
    ROUTE,
    TO_SHIFT,
    TTL_SHIFT,
    WAITING_SINCE,
)
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.philox import make_draw

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
PASS_ON = 1000 * _MS
"""A broken link is passed on with a request if it is no older."""
_KIND = 15


class Discovery(NamedTuple):
    """The compiled functions of discovery; `m` is scratch, a frame is (frame, route, load), see `state`."""

    send: Any
    """`(m, i, t, kind, number)`: source or sink puts a packet out."""
    found: Any
    """`(m, i, t)`: node i has learnt a route: packets that wait for it go."""
    jittered: Any
    """`(m, i, t, frame, route, load)`: a frame goes into the queue, a little later."""
    drop: Any
    """`(m, frame, column)`: a packet is dropped; `column` of `ManetOut` for data."""
    delayed: Any
    """`(m, i, t)`: a frame that was delayed goes into the queue."""
    due: Any
    """`(m, i, t)`: a packet that waited for a route, and its turn, goes into the queue."""
    check: Any
    """`(m, i, t)`: packets that wait for a route are looked at."""
    link_comes: Any
    """`(m, t)`: for the ideal router."""


def make_discovery(dev: Callable[[Any], Any], medium: Medium, routes: Routes, first: int) -> Discovery:
    """Compile `Discovery` for a target; data segments are numbered from `first` on."""
    draw = make_draw(dev)
    single, find = routes.single, routes.find
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
        if t - m[at + N_BROKEN_AT] < PASS_ON:
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
    def found(m: Any, i: Any, t: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        m[at + N_OUTSTANDING] = 0
        m[at + N_LAST_REQUEST] = NO_TIME
        m[at + N_RINGED] = NO_TIME
        if m[at + N_WAITING] > 0:
            flush(m, i, t, np.int64(SPACING))

    @cold
    def link_comes(m: Any, t: Any) -> None:
        flush(m, m[Manet.SOURCE], t, np.int64(0))
        flush(m, m[Manet.SINK], t, np.int64(0))

    return Discovery(send, dev(found), jittered, drop, dev(delayed), dev(due), dev(check), dev(link_comes))
