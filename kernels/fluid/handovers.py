"""Handovers in a fluid: lost packets, and an interruption until the other packets arrive late.

The timelines are those of the packet engine (`path.mobility.handovers`). Each handover has three times, as
the sender observes them: packets sent from DOWN to UP are lost, ACKs stop a round trip after DOWN, and from
RESUME on ACKs arrive for packets that were buffered, bicast or forwarded.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, S_BINDING, S_MIP, Hop, Rows
from netcarlo.kernels.base.parameters import MobileP, RowP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.fluid.route import HopWord, Route, RouteWord
from netcarlo.kernels.path.mobility import handovers
from netcarlo.kernels.path.mobility.timeline import WORDS, Handover


class Word(IntEnum):
    """Words of the handovers of a mobile host."""

    RADIO = 0  # number of the radio hop
    TO_MAP = 1  # one-way delay from the sender to the MAP [ns]
    ON_AIR = 2  # one-way delay of the radio link [ns]
    BACK = 3  # one-way delay of an ACK from the host to the sender [ns]
    WIRED = 4  # 1: the slowest hop is upstream of the MAP
    COUNT = 5  # number of handovers
    NEXT = 6  # number of the next handover
    KEPT = 7  # 1: DOWN, UP and RESUME of the path are those of a handover
    ROOM = 8  # free buffer space during that handover [packet]
    STATE = 9  # first word of the state shared by all handovers


_TABLE = Word.STATE + handovers.STATE_WORDS


def scratch_words(rows: Rows) -> int:
    """Return the number of handover words that any row of `rows` needs."""
    return _TABLE + WORDS * int(rows.parameters[:, MobileP.HANDOVERS].max(initial=0))


def radio_of(hops: Any) -> Any:
    """Return the number of the radio hop, which is the last hop."""
    count = np.int64(0)
    for hop in range(hops.shape[1]):
        count += hops[0, hop, Hop.PRESENT]
    return count - 1


def prepare(p: Any, hops: Any, outages: Any, w: Any, j: Any, out: Any, route: Route) -> Any:
    """Plan all handovers and return the `Route` to the host.

    `w` are the words of the path, `j` those of the handovers.
    """
    for word in range(_TABLE):
        j[word] = 0
    radio = radio_of(hops)
    times = w[RouteWord.HOPS + HopWord.SIZE * radio :]
    j[Word.RADIO] = radio
    j[Word.TO_MAP] = times[HopWord.ENTERS]
    j[Word.ON_AIR] = times[HopWord.LEAVES] - times[HopWord.ENTERS]
    j[Word.BACK] = times[HopWord.RETURNS] + p[MobileP.MAP_TO_AR]
    size = p[RowP.DATA] + p[RowP.CHUNK_HEADER] + p[RowP.HEADER]
    j[Word.WIRED] = 1 if float(on_wire(size, hops[0, radio, Hop.BYTE_TIME])) < route.service else 0
    state, table = np.int64(Word.STATE), np.int64(_TABLE)
    j[Word.COUNT] = handovers.plan_all(p, hops, outages, j, out, state, table, radio)
    base = route.base_rtt + 2 * p[MobileP.MAP_TO_AR]
    more = np.int64(float(2 * p[MobileP.MAP_TO_AR]) / route.service)
    capacity, one_way = route.capacity + more, route.one_way + p[MobileP.MAP_TO_AR]
    return Route(base, route.service, capacity, route.loss, route.loss_odds, one_way)


def find(p: Any, w: Any, j: Any, t: Any, rtt: Any, wait: Any, packets: Any) -> None:
    """Set DOWN, UP and RESUME to the next handover after `t` [ns], if it begins before the next outage.

    Round trips last `rtt`, of which `wait` in queues [ns], with `packets` in flight.
    """
    j[Word.KEPT] = 0
    going = True
    while going and j[Word.NEXT] < j[Word.COUNT]:
        at = _TABLE + j[Word.NEXT] * WORDS
        down, up, resume = _seen_by_sender(p, j, at, wait, float(packets) / float(rtt))
        going = up <= t and resume <= t + rtt
        if going:
            j[Word.NEXT] += 1
        elif down < w[RouteWord.DOWN]:
            w[RouteWord.DOWN], w[RouteWord.UP], w[RouteWord.RESUME] = down, up, resume
            j[Word.KEPT] = 1


def _seen_by_sender(p: Any, j: Any, at: Any, wait: Any, rate: Any) -> Any:
    """Return DOWN, UP and RESUME of a handover, as the sender observes it [ns].

    The sender sends at `rate` [packet / ns]; `wait` is the queueing delay [ns].
    """
    j[Word.ROOM] = p[MobileP.BUFFER]
    queued = wait if j[Word.WIRED] == 1 else np.int64(0)
    to_map = j[Word.TO_MAP] + queued
    to_router = to_map + p[MobileP.MAP_TO_AR]
    if j[at + Handover.UP] == j[at + Handover.DOWN]:  # a false alarm: only misrouted packets are lost
        if j[at + Handover.ASTRAY] == FOREVER:
            return np.int64(0), np.int64(0), np.int64(0)
        return j[at + Handover.ASTRAY] - to_router, j[at + Handover.DOWN] - to_router, np.int64(0)
    # Sending time of the last packet that the old router delivers.
    last = j[at + Handover.DOWN] - to_router - (wait - queued) - j[Word.ON_AIR]
    saved, comes = j[at + Handover.AT_CN], j[at + Handover.AT_CN] + to_router
    if j[at + Handover.AT_MAP] - to_map < saved:
        saved = j[at + Handover.AT_MAP] - to_map
        comes = j[at + Handover.AT_MAP] + p[MobileP.MAP_TO_AR] + j[at + Handover.DETOUR]
    if j[at + Handover.FORWARD] - to_router < saved:
        saved = j[at + Handover.FORWARD] - to_router
        comes = j[at + Handover.FORWARD] + j[at + Handover.TUNNEL]
    down = min(last, saved)  # packets sent later do not arrive through the old router
    if j[at + Handover.KEPT] < FOREVER and j[at + Handover.DOWN] - to_router < saved:
        saved = j[at + Handover.DOWN] - to_router
        comes = j[at + Handover.KEPT] + j[at + Handover.TUNNEL]
    copied = j[at + Handover.COPY] - (to_router if p[MobileP.HANDOVER] == S_BINDING else to_map)
    if copied < saved:
        later = to_router + j[at + Handover.DETOUR]
        if p[MobileP.HANDOVER] in (
            S_BINDING,
            S_MIP,
        ):  # copies of packets that the old router delivered occupy the buffer
            j[Word.ROOM] -= min(np.int64(float(max(last - copied, 0)) * rate), j[Word.ROOM])
            if j[Word.ROOM] == 0:
                copied = j[at + Handover.RELEASE] - later
        if copied < saved:
            saved = copied
            comes = max(last, copied) + later
            if p[MobileP.HANDOVER] == S_MIP:
                comes = max(comes, j[at + Handover.HOLD])
    arrival = max(comes, j[at + Handover.RELEASE]) + j[Word.ON_AIR]
    return down, max(saved, down), arrival + j[Word.BACK]
