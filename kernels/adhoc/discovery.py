"""Route discovery: route requests, and packets that wait for a route.

Source: RFC 4728 (DSR) as implemented by ns-2: a request goes to the neighbours only, then one to the whole
network, with exponential back-off between requests. Packets that have waited are sent `SPACING` apart. With
the ideal router waiting packets are sent when a link appears. `m` is scratch, `t` the time [ns].
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import frames
from netcarlo.kernels.adhoc.cache import find
from netcarlo.kernels.adhoc.frames import (
    FROM_SHIFT,
    HAS_BROKEN_SHIFT,
    ID_SHIFT,
    TO_SHIFT,
    TTL_SHIFT,
    Frame,
    Kind,
    plain,
)
from netcarlo.kernels.adhoc.layout import DSR, STREAM_ROUTING, Manet, ManetOut
from netcarlo.kernels.adhoc.state import (
    BUFFER,
    COUNTS,
    NO_KEY,
    NO_TIME,
    NODE_WORDS,
    NODES,
    WAITING_WORDS,
    Node,
    Waiting,
    Word,
    routes,
)
from netcarlo.kernels.adhoc.station import drop, enqueue, rekey
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw

REQUEST_PERIOD = 500 * MS
"""Wait after the first request [ns]; four times as long after each further one."""
REQUEST_MOST = 10_000 * MS
RING_WAIT = 30 * MS
"""Time from a request to the neighbours until the request to the whole network [ns]."""
JITTER = 10 * MS
"""Maximum random delay of requests, and of replies from the target of a request [ns]."""
CHECK = 30 * MS
"""Minimum time between checks of the packets that wait for a route; at most twice that [ns]."""
SPACING = 30 * MS
"""Interval between packets that are sent after waiting for a route [ns]."""
WAIT_MOST = 30_000 * MS
"""Maximum time that a packet waits for a route [ns]."""
PASS_ON = 1000 * MS
"""Maximum age of a broken link that is reported in a route request [ns]."""


@noinline
def send(m: Any, i: Any, t: Any, head: Any) -> None:
    """Send a packet of node i, the source or the sink; `head` is the first word of its frame."""
    j = _other_end(m, i)
    route = find(m, i, j)
    if frames.kind_of(head) == Kind.DATA:
        routes.write(m, Word.ROUTE, route)
    if routes.exists(route):
        enqueue(m, i, t, plain(head, route))
    else:
        _wait(m, i, j, t, head)


def _other_end(m: Any, i: Any) -> Any:
    """Return the sink if node i is the source, and the source if it is the sink."""
    return m[Manet.SINK] if i == m[Manet.SOURCE] else m[Manet.SOURCE]


# Delayed frames.


@noinline
def _random_part(m: Any, i: Any, span: Any) -> Any:
    """Return a uniform random number in [0, span): the next one of the routing stream of node i."""
    at = NODES + i * NODE_WORDS
    number = m[at + Node.DRAWN]
    m[at + Node.DRAWN] = number + 1
    a, _, _, _ = draw(m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], STREAM_ROUTING + i, number)
    return (np.int64(a) * span) >> 32


@noinline
def jittered(m: Any, i: Any, t: Any, frame: Any) -> None:
    """Enqueue a frame at node i after a random delay, or at once if another frame is already delayed."""
    at = NODES + i * NODE_WORDS
    if m[at + Node.DELAYED_AT] < NO_KEY:
        enqueue(m, i, t, frame)
    else:
        m[at + Node.DELAYED_AT] = t + _random_part(m, i, np.int64(JITTER))
        frames.write(m, at + Node.DELAYED, frame)
        rekey(m, i)


@noinline
def delayed(m: Any, i: Any, t: Any) -> None:
    """Enqueue the delayed frame of node i; called at DELAYED_AT."""
    at = NODES + i * NODE_WORDS
    m[at + Node.DELAYED_AT] = NO_KEY
    rekey(m, i)
    enqueue(m, i, t, frames.read(m, at + Node.DELAYED))


# Requests.


@noinline
def _request(m: Any, i: Any, j: Any, t: Any) -> None:
    """Request a route from node i to node j, unless a request was sent recently."""
    at = NODES + i * NODE_WORDS
    pause = min(np.int64(REQUEST_PERIOD) << (2 * m[at + Node.OUTSTANDING]), np.int64(REQUEST_MOST))
    if t >= m[at + Node.LAST_REQUEST] + pause:
        m[at + Node.OUTSTANDING] = min(m[at + Node.OUTSTANDING] + 1, 15)
        m[at + Node.LAST_REQUEST] = t
        m[at + Node.RINGED] = t
        _originate(m, i, j, t, np.int64(0))
    elif m[at + Node.RINGED] != NO_TIME and t - m[at + Node.RINGED] > RING_WAIT:
        m[at + Node.RINGED] = NO_TIME
        _originate(m, i, j, t, np.int64(1))


@noinline
def _originate(m: Any, i: Any, j: Any, t: Any, ttl: Any) -> None:
    """Send a route request of node i for node j: to its neighbours, or with `ttl` 1 to all nodes."""
    at = NODES + i * NODE_WORDS
    m[COUNTS + ManetOut.DISCOVERIES] += 1
    m[Word.LAST_ID] += 1
    load = m[Word.LAST_ID] << ID_SHIFT | ttl << TTL_SHIFT | j
    if t - m[at + Node.BROKEN_AT] < PASS_ON:
        broken = m[at + Node.FROM] << FROM_SHIFT | m[at + Node.TO] << TO_SHIFT
        load |= np.int64(1) << HAS_BROKEN_SHIFT | broken
        if ttl == 1:
            m[at + Node.BROKEN_AT] = NO_TIME
    jittered(m, i, t, Frame(np.int64(Kind.REQUEST), routes.single(i), routes.packed(load)))


# Packets that wait for a route.


@noinline
def _wait(m: Any, i: Any, j: Any, t: Any, head: Any) -> None:
    """Buffer a packet of node i to node j, which has no route; a full buffer drops its oldest packet."""
    at = NODES + i * NODE_WORDS
    begin = m[at + Node.BUFFER]
    if m[at + Node.WAITING] == BUFFER:
        oldest = np.int64(0)
        for k in range(1, BUFFER):
            if (
                m[begin + WAITING_WORDS * k + Waiting.SINCE]
                < m[begin + WAITING_WORDS * oldest + Waiting.SINCE]
            ):
                oldest = np.int64(k)
        drop(m, m[begin + WAITING_WORDS * oldest + Waiting.HEAD], np.int64(ManetOut.DROPS_BUFFER))
        _remove(m, at, oldest)
    to = begin + WAITING_WORDS * m[at + Node.WAITING]
    m[to + Waiting.SINCE] = t
    m[to + Waiting.HEAD] = head
    m[to + Waiting.DUE] = NO_KEY
    m[to + Waiting.ROUTE] = 0
    m[at + Node.WAITING] += 1
    _reckon(m, i, t)
    if m[at + Node.CHECK_AT] >= NO_KEY:
        _schedule(m, i, t)
    if m[Manet.ROUTING] == DSR:
        _request(m, i, j, t)


@noinline
def _remove(m: Any, at: Any, k: Any) -> None:
    """Remove the k-th packet from the buffer of the node at word `at`."""
    m[at + Node.WAITING] -= 1
    begin = m[at + Node.BUFFER]
    for word in range(begin + WAITING_WORDS * k, begin + WAITING_WORDS * m[at + Node.WAITING]):
        m[word] = m[word + WAITING_WORDS]


@noinline
def _reckon(m: Any, i: Any, t: Any) -> None:
    """Update the next due time of the buffer of node i, and the total waiting time of the source."""
    at = NODES + i * NODE_WORDS
    next_due = np.int64(NO_KEY)
    waits = False
    for k in range(m[at + Node.WAITING]):
        due_at = m[m[at + Node.BUFFER] + WAITING_WORDS * k + Waiting.DUE]
        next_due = min(next_due, due_at)
        waits = waits or due_at >= NO_KEY
    m[at + Node.DUE_AT] = next_due
    rekey(m, i)
    if i == m[Manet.SOURCE]:
        if waits and m[Word.WAITING_SINCE] == NO_TIME:
            m[Word.WAITING_SINCE] = t
        if not waits and m[Word.WAITING_SINCE] != NO_TIME:
            m[COUNTS + ManetOut.WAITED] += t - m[Word.WAITING_SINCE]
            m[Word.WAITING_SINCE] = NO_TIME


@noinline
def _schedule(m: Any, i: Any, t: Any) -> None:
    """Schedule a check of the buffer of node i."""
    m[NODES + i * NODE_WORDS + Node.CHECK_AT] = t + CHECK + _random_part(m, i, np.int64(CHECK))
    rekey(m, i)


@noinline
def check(m: Any, i: Any, t: Any) -> None:
    """Send buffered packets of node i that have a route, and drop those that waited too long.

    Called at CHECK_AT.
    """
    at = NODES + i * NODE_WORDS
    j = _other_end(m, i)
    left = False
    k = np.int64(0)
    while k < m[at + Node.WAITING]:
        to = m[at + Node.BUFFER] + WAITING_WORDS * k
        head = m[to + Waiting.HEAD]
        stays = m[to + Waiting.DUE] < NO_KEY
        if not stays and t - m[to + Waiting.SINCE] > WAIT_MOST:
            _remove(m, at, k)
            drop(m, head, np.int64(ManetOut.DROPS_BUFFER))
        elif not stays:
            route = find(m, i, j)
            if routes.exists(route):
                _remove(m, at, k)
                enqueue(m, i, t, plain(head, route))
            else:
                if m[Manet.ROUTING] == DSR:
                    _request(m, i, j, t)
                left = True
                stays = True
        if stays:
            k += 1
    m[at + Node.CHECK_AT] = NO_KEY
    _reckon(m, i, t)
    if left:
        _schedule(m, i, t)


@noinline
def _flush(m: Any, i: Any, t: Any, spacing: Any) -> None:
    """Schedule the buffered packets of node i that have a route, `spacing` [ns] apart."""
    at = NODES + i * NODE_WORDS
    j = _other_end(m, i)
    turn = np.int64(0)
    k = np.int64(0)
    while k < m[at + Node.WAITING]:
        to = m[at + Node.BUFFER] + WAITING_WORDS * k
        route = find(m, i, j) if m[to + Waiting.DUE] >= NO_KEY else routes.none()
        if not routes.exists(route):
            k += 1
        elif turn == 0:
            head = m[to + Waiting.HEAD]
            _remove(m, at, k)
            enqueue(m, i, t, plain(head, route))
            turn += spacing
        else:
            m[to + Waiting.DUE] = t + turn
            routes.write(m, to + Waiting.ROUTE, route)
            turn += spacing
            k += 1
    _reckon(m, i, t)


@noinline
def due(m: Any, i: Any, t: Any) -> None:
    """Send the next due packet in the buffer of node i; called at DUE_AT."""
    at = NODES + i * NODE_WORDS
    k = np.int64(0)
    while m[m[at + Node.BUFFER] + WAITING_WORDS * k + Waiting.DUE] != t:
        k += 1
    to = m[at + Node.BUFFER] + WAITING_WORDS * k
    head, route = m[to + Waiting.HEAD], routes.read(m, to + Waiting.ROUTE)
    _remove(m, at, k)
    _reckon(m, i, t)
    enqueue(m, i, t, plain(head, route))


@noinline
def found(m: Any, i: Any, t: Any) -> None:
    """Schedule the buffered packets of node i for which it has learned a route."""
    at = NODES + i * NODE_WORDS
    m[at + Node.OUTSTANDING] = 0
    m[at + Node.LAST_REQUEST] = NO_TIME
    m[at + Node.RINGED] = NO_TIME
    if m[at + Node.WAITING] > 0:
        _flush(m, i, t, np.int64(SPACING))


@noinline
def link_comes(m: Any, t: Any) -> None:
    """Send the packets at source and sink that have a route now; called only with the ideal router."""
    _flush(m, m[Manet.SOURCE], t, np.int64(0))
    _flush(m, m[Manet.SINK], t, np.int64(0))
