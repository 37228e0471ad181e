"""Dynamic source routing to the extent that it affects transport, and ideal routing.

Source: RFC 4728 as implemented by ns-2: replies from caches, route errors, salvaging, routes learned from
overheard frames, gratuitous replies that shorten a route in use. With ideal routing a packet uses the
shortest path at the time at which it is sent. `m` is scratch, `t` the time [ns].
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import frames
from netcarlo.kernels.adhoc.cache import add, dead, find
from netcarlo.kernels.adhoc.discovery import found, jittered, send
from netcarlo.kernels.adhoc.frames import (
    FROM_SHIFT,
    HAS_BROKEN_SHIFT,
    HOP_SHIFT,
    ID_SHIFT,
    NODE_BITS,
    NODE_MASK,
    ONE_HOP,
    ONE_SALVAGE,
    TO_SHIFT,
    TTL_SHIFT,
    Frame,
    Kind,
    afresh,
    goes_forth,
    hop_of,
    kind_of,
    plain,
    salvages_of,
)
from netcarlo.kernels.adhoc.layout import DSR, Manet, ManetOut, NodeOut
from netcarlo.kernels.adhoc.state import (
    COUNTS,
    NODE_COUNTS,
    NODE_WORDS,
    NODES,
    TAP_WORDS,
    Node,
    Tap,
    Word,
    routes,
    sets,
)
from netcarlo.kernels.adhoc.station import drop, enqueue
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.base.ring import Ring, entry

HOLD = 1000 * MS
"""Time in which similar transmissions are not examined, and a gratuitous reply is not repeated [ns]."""
MOST_SALVAGES = 15
_FORWARDED = NODE_COUNTS + NodeOut.FORWARDED


@noinline
def hear_request(m: Any, n: Any, t: Any, frame: Any) -> None:
    """Process a route request decoded by node n."""
    route, load = frame.route, routes.unpacked(frame.load)
    if load >> HAS_BROKEN_SHIFT & 1:
        dead(m, n, load >> FROM_SHIFT & NODE_MASK, load >> TO_SHIFT & NODE_MASK)
    origin = routes.node(route, np.int64(0))
    if n == origin:
        return
    length = routes.length(route)
    seen = m[Word.SEEN] + n * m[Manet.NODES] + origin
    number = load >> ID_SHIFT
    target = load & NODE_MASK
    if n == target:
        m[seen] = max(m[seen], number)
        if length < routes.most(m):
            whole = routes.join(route, routes.single(n))
            back = routes.reverse(whole)
            add(m, n, back)
            jittered(m, n, t, Frame(np.int64(Kind.ROUTE_REPLY), back, whole))
        return
    if m[seen] >= number or length >= routes.most(m) or routes.position(route, n) >= 0:
        return
    m[seen] = number
    so_far = routes.join(route, routes.single(n))
    rest = find(m, n, target)
    if routes.exists(rest) and length + routes.length(rest) <= routes.most(m) and _are_apart(route, rest):
        back = routes.reverse(so_far)
        add(m, n, back)
        enqueue(m, n, t, Frame(np.int64(Kind.ROUTE_REPLY), back, routes.join(route, rest)))
    elif load >> TTL_SHIFT & 1:
        jittered(m, n, t, Frame(np.int64(Kind.REQUEST), so_far, frame.load))


def _are_apart(route: Any, rest: Any) -> Any:
    """Return whether two routes have no node in common."""
    apart = True
    for k in range(routes.length(rest)):
        apart = apart and routes.position(route, routes.node(rest, np.int64(k))) < 0
    return apart


@noinline
def hear(m: Any, j: Any, t: Any, frame: Any) -> Any:
    """Receive a frame at its next hop, node j; return whether it is for the host there."""
    at = NODES + j * NODE_WORDS
    kind = kind_of(frame.head)
    route, load = frame.route, frame.load
    hop = hop_of(frame.head) + 1
    length = routes.length(route)
    broken_link = routes.unpacked(load)
    if hop < length - 1:
        m[at + _FORWARDED] += 1
        if kind == Kind.ROUTE_ERROR:
            dead(m, j, broken_link & NODE_MASK, broken_link >> NODE_BITS & NODE_MASK)
        if m[Manet.ROUTING] == DSR:
            add(m, j, routes.part(route, hop, length))
        enqueue(m, j, t, Frame(frame.head + ONE_HOP, route, load))
    elif kind == Kind.ROUTE_REPLY:
        add(m, j, load)
        found(m, j, t)
    elif kind == Kind.ROUTE_ERROR:
        m[at + Node.FROM] = broken_link & NODE_MASK
        m[at + Node.TO] = broken_link >> NODE_BITS & NODE_MASK
        dead(m, j, m[at + Node.FROM], m[at + Node.TO])
        m[at + Node.BROKEN_AT] = t
        if j == m[Manet.SOURCE]:
            m[Word.NOTICE] = 1
    return hop >= length - 1 and kind <= Kind.REPLY


@noinline
def overheard(m: Any, i: Any, j: Any, t: Any, frame: Any) -> None:
    """Let neighbours that decoded a frame from node i to node j learn routes from it."""
    if m[Manet.ROUTING] != DSR:
        return
    kind = kind_of(frame.head)
    hop = hop_of(frame.head)
    links = sets.read(m, NODES + i * NODE_WORDS + Node.LINK)
    if kind <= Kind.REPLY:
        tap = NODES + i * NODE_WORDS + Node.TAP + TAP_WORDS * (kind & 1)
        if (
            routes.equal(routes.read(m, tap + Tap.ROUTE), frame.route)
            and m[tap + Tap.HOP] == hop
            and sets.equal(sets.read(m, tap + Tap.LINKS), links)
            and t - m[tap + Tap.TIME] < HOLD
        ):
            return
        routes.write(m, tap + Tap.ROUTE, frame.route)
        m[tap + Tap.HOP] = hop
        sets.write(m, tap + Tap.LINKS, links)
        m[tap + Tap.TIME] = t
    origin = routes.node(frame.route, np.int64(0))
    for n in range(m[Manet.NODES]):
        if sets.has(links, n) and n != j and n != origin:
            _overhear(m, np.int64(n), t, frame)


@noinline
def _overhear(m: Any, n: Any, t: Any, frame: Any) -> None:
    """Learn routes from a frame that node n has overheard from the current hop of the frame."""
    at = NODES + n * NODE_WORDS
    kind = kind_of(frame.head)
    hop = hop_of(frame.head)
    route, load = frame.route, frame.load
    length = routes.length(route)
    if kind == Kind.ROUTE_ERROR:
        broken_link = routes.unpacked(load)
        dead(m, n, broken_link & NODE_MASK, broken_link >> NODE_BITS & NODE_MASK)
    if kind == Kind.ROUTE_REPLY:
        where = routes.position(load, n)
        if where >= 0 and where < routes.length(load) - 1:
            add(m, n, routes.part(load, where, routes.length(load)))
    where = routes.position(route, n)
    if where < 0:
        if 1 + length - hop <= routes.most(m):
            add(m, n, routes.join(routes.single(n), routes.part(route, hop, length)))
        return
    if where < length - 1:
        add(m, n, routes.part(route, where, length))
    if kind <= Kind.REPLY and where > hop + 1:
        if routes.equal(routes.read(m, at + Node.HOLD), route) and t - m[at + Node.HOLD_AT] < HOLD:
            return
        routes.write(m, at + Node.HOLD, route)
        m[at + Node.HOLD_AT] = t
        m[COUNTS + ManetOut.SHORTENED] += 1
        so_far = routes.part(route, np.int64(0), hop + 1)
        back = routes.join(routes.single(n), routes.reverse(so_far))
        add(m, n, back)
        shorter = routes.join(so_far, routes.part(route, where, length))
        enqueue(m, n, t, Frame(np.int64(Kind.ROUTE_REPLY), back, shorter))


@noinline
def broken(m: Any, i: Any, j: Any, t: Any, frame: Any, gone: Any) -> None:
    """Process a broken link from node i to node j.

    `gone`: the receiver has got the frame that node i tried to send.
    """
    at = NODES + i * NODE_WORDS
    m[COUNTS + ManetOut.BREAKS] += 1
    if sets.holds(m, at + Node.LINK, j):
        m[COUNTS + ManetOut.FALSE_BREAKS] += 1
    dsr = m[Manet.ROUTING] == DSR
    if dsr:
        dead(m, i, i, j)
    if not gone:
        _undeliverable(m, i, t, frame.head)
    aside = m[Word.ASIDE]
    taken = _take_out(m, at + Node.ROUTING_HEAD, j, aside)
    taken += _take_out(m, at + Node.PACKETS_HEAD, j, aside + taken)
    for k in range(taken - 1, -1, -1):  # in reverse order, as in ns-2
        _undeliverable(m, i, t, m[aside + k])
    if dsr and routes.node(frame.route, np.int64(0)) != i:
        m[COUNTS + ManetOut.ROUTE_ERRORS] += 1
        back = routes.reverse(routes.part(frame.route, np.int64(0), hop_of(frame.head) + 1))
        link = routes.packed(j << NODE_BITS | i)
        enqueue(m, i, t, Frame(np.int64(Kind.ROUTE_ERROR), back, link))
    if i == m[Manet.SOURCE] and goes_forth(frame.head):
        m[Word.NOTICE] = 1


@noinline
def _take_out(m: Any, queue: Any, j: Any, aside: Any) -> Any:
    """Remove the frames with next hop j from a queue; store their first words from word `aside` on.

    Returns the number of these frames.
    """
    taken = np.int64(0)
    kept = np.int64(0)
    for k in range(m[queue + Ring.COUNT]):
        frame = frames.read(m, entry(m, queue, frames.words(), k))
        if kind_of(frame.head) != Kind.REQUEST and routes.node(frame.route, hop_of(frame.head) + 1) == j:
            m[aside + taken] = frame.head
            taken += 1
        else:
            frames.write(m, entry(m, queue, frames.words(), kept), frame)
            kept += 1
    m[queue + Ring.COUNT] = kept
    return taken


@noinline
def _undeliverable(m: Any, i: Any, t: Any, head: Any) -> None:
    """Retransmit a packet from its host, salvage it, or drop it, because node i cannot forward it."""
    if kind_of(head) > Kind.REPLY:
        return
    forth = goes_forth(head)
    if i == (m[Manet.SOURCE] if forth else m[Manet.SINK]):
        send(m, i, t, afresh(head))
        return
    route = find(m, i, m[Manet.SINK] if forth else m[Manet.SOURCE])
    if routes.exists(route) and salvages_of(head) < MOST_SALVAGES:
        m[COUNTS + ManetOut.SALVAGED] += 1
        enqueue(m, i, t, plain((head & ~np.int64(15 << HOP_SHIFT)) + ONE_SALVAGE, route))
    else:
        drop(m, head, np.int64(ManetOut.DROPS_ROUTE))
