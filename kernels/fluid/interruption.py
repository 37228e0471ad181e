"""Interruptions of SCTP: chunks lost in an outage or a handover, and the time without SACKs.

`path` is the number of the path, `packets` its window, sent from `t` on, `rtt` its round trip [ns].
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import MobileP, ReliableP, RowP
from netcarlo.kernels.fluid import gaps, handovers
from netcarlo.kernels.fluid.failover import (
    PathFloat,
    PathWord,
    Row,
    Word,
    acknowledged,
    at_most_missing,
    expire,
    place_of,
    send_on,
)
from netcarlo.kernels.fluid.repair import journey_of, repair, retransmit_first, wait_for_timer
from netcarlo.kernels.fluid.route import Route, RouteWord
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowWord
from netcarlo.kernels.sctp.paths import ASSOCIATION_MAX_RETRANS


def cross_outage(row: Row, route: Route, path: Any, packets: Any, t: Any, rtt: Any) -> Any:
    """Simulate a round trip in which an outage of both directions of a hop loses data or SACKs.

    Returns when the next round trip begins [ns]. SACKs clock the data: without SACKs no more data are sent.
    """
    p, hops, losses, m, g, out = row.p, row.hops, row.losses, row.m, row.g, row.out
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    w = q[PathWord.ROUTE :]
    packets = at_most_missing(row, packets)
    goes, again = packets, t + np.int64(rtt)
    clocked = m[Word.ACK_CLOCKED] == 1 and m[Word.SINGLE_PACKET] == 0
    if clocked and w[RouteWord.RESUME] > t + np.int64(float(packets) * route.service):
        goes = sent_before(w[RouteWord.STOP], t, route, packets)
    hits = sent_before(w[RouteWord.UP], t, route, goes) - sent_before(w[RouteWord.DOWN], t, route, goes)
    through = goes - hits
    new = max(at_most_missing(row, packets + through) - packets, np.int64(0))
    more = min(sent_before(w[RouteWord.STOP], again, route, through), new) if goes == packets else np.int64(0)
    also = sent_before(w[RouteWord.UP], again, route, more)
    also -= sent_before(w[RouteWord.DOWN], again, route, more)
    send_on(row, path, (goes + more) << ONE_BITS)
    out[Out.DROPS_OUTAGE] += hits + also
    at_random = gaps.lose(p, hops, losses, w, path, (through + more - also) << ONE_BITS)
    out[Out.DROPS_RANDOM] += at_random
    measures = retransmit_first(m, (through + more - also) << ONE_BITS)
    m[Word.SINGLE_PACKET] = 0
    ends_in_it = hits > 0 and sent_before(w[RouteWord.UP], t, route, goes) == goes
    last = sent_before(w[RouteWord.DOWN], t, route, goes) if ends_in_it else goes
    last_sack = again + np.int64(float(last) * route.service)  # when the last SACK would arrive
    if m[FlowWord.DELAYED] == 1 and last & 1 == 1:
        last_sack += p[ReliableP.ACK_DELAY]
    hits += also + at_random
    if last > 0 and (last_sack >= w[RouteWord.RESUME] or last_sack < w[RouteWord.STOP]):
        m[Word.ACK_CLOCKED] = 1
        acknowledged(row, q, f, through << ONE_BITS, rtt, t < m[Word.RECOVERED_AT], measures)
        if last_sack >= w[RouteWord.RESUME]:
            again = max(again, w[RouteWord.RESUME])
        if hits > 0:
            again = repair(row, path, goes + more, hits, again, rtt)
        return again
    m[Word.ACK_CLOCKED] = 0
    expires = t
    if more > 0:
        expires = again + np.int64(float(more) * route.service)
    elif clocked:
        expires += np.int64(float(goes) * route.service)
    m[Word.TO_RETRANSMIT] += hits << ONE_BITS
    if m[Word.TO_RETRANSMIT] == 0:  # only SACKs were lost, so the retransmission is a duplicate
        m[Word.TO_RETRANSMIT] = ONE
        m[FlowWord.DUPLICATES] += ONE
    return wait_for_timer(row, path, expires + q[PathWord.RTO])


def hand_over(row: Row, route: Route, path: Any, packets: Any, t: Any, rtt: Any) -> Any:
    """Simulate a round trip in which the host changes its router: some chunks are lost, others arrive late.

    Returns when the next round trip begins [ns]. Chunks that arrived before the handover are acknowledged,
    and their SACKs clock out as many new chunks.
    """
    p, hops, losses, m, g, out = row.p, row.hops, row.losses, row.m, row.g, row.out
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    w, room = q[PathWord.ROUTE :], m[journey_of(hops) + handovers.Word.ROOM]
    again = t + np.int64(rtt)
    packets = at_most_missing(row, packets)
    early = sent_before(w[RouteWord.DOWN], t, route, packets)
    lost_by = sent_before(w[RouteWord.UP], t, route, packets)
    goes = at_most_missing(row, packets + early)
    more = min(sent_before(w[RouteWord.UP], again, route, early), goes - packets)  # also lost
    hits = lost_by - early + more
    late = goes - early - hits
    over = np.int64(0)
    if w[RouteWord.RESUME] > again:  # late packets are buffered
        over = max(late - room, np.int64(0))
        out[Out.DROPS_BUFFER] += over
    late -= over
    out[Out.DROPS_BUFFER if room == 0 and p[MobileP.BUFFER] > 0 else Out.DROPS_HANDOVER] += hits
    send_on(row, path, goes << ONE_BITS)
    at_random = gaps.lose(p, hops, losses, w, path, (early + late) << ONE_BITS)
    out[Out.DROPS_RANDOM] += at_random
    hits += over + at_random
    if at_random == early + late:
        early, late = np.int64(0), np.int64(0)
    expires = t  # after the last SACK that has arrived
    if early > 0:
        measures = retransmit_first(m, early << ONE_BITS)
        acknowledged(row, q, f, early << ONE_BITS, rtt, t < m[Word.RECOVERED_AT], measures)
        expires = again + np.int64(float(early) * route.service)
    elif m[Word.ACK_CLOCKED] == 1 and m[Word.SINGLE_PACKET] == 0:
        expires += np.int64(float(packets) * route.service)
    expires += q[PathWord.RTO]
    m[Word.SINGLE_PACKET] = 0
    comes = max(again, w[RouteWord.RESUME])
    if late == 0:
        m[Word.ACK_CLOCKED] = 0
        m[Word.TO_RETRANSMIT] += hits << ONE_BITS
        return wait_for_timer(row, path, expires)
    m[Word.ACK_CLOCKED] = 1
    if expires < comes:  # spurious timeout
        while expires < min(comes, p[RowP.END]) and m[Word.ERRORS] <= ASSOCIATION_MAX_RETRANS:
            expire(row, path, expires)
            send_on(row, path, np.int64(ONE))
            m[FlowWord.DUPLICATES] += ONE
            expires += q[PathWord.RTO]
        if m[Word.ERRORS] > ASSOCIATION_MAX_RETRANS:
            return expires
    elif hits > 0:
        retransmit_first(m, late << ONE_BITS)
        return repair(row, path, goes, hits, comes, rtt)
    measures = retransmit_first(m, late << ONE_BITS)
    m[Word.TO_RETRANSMIT] += hits << ONE_BITS
    seen = max(rtt, float(comes - max(t, w[RouteWord.UP])))
    acknowledged(row, q, f, late << ONE_BITS, seen, hits > 0 or t < m[Word.RECOVERED_AT], measures)
    return comes


def sent_before(moment: Any, t: Any, route: Route, most: Any) -> Any:
    """Return how many packets of a burst that begins at `t` are sent before `moment` [ns], at most `most`."""
    return np.int64(min(max(float(moment - t) / route.service + 0.999, 0.0), float(most)))
