"""Interruptions of SCTP: what is lost in an outage or a handover, and how long SACKs stay away.

`way` is the path in question, `packets` its window, put out from `t` on, `rtt` its round trip [ns].
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import Out, P
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
    put_out,
)
from netcarlo.kernels.fluid.repair import journey_of, pay, repair, wait_for_timer
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowWord
from netcarlo.kernels.fluid.way import Way, WayWord
from netcarlo.kernels.sctp.paths import ASSOCIATION_MAX_RETRANS


def meet_outage(row: Row, way: Way, path: Any, packets: Any, t: Any, rtt: Any) -> Any:
    """A round trip in which data or SACKs are lost in an outage, which takes both directions of a hop.

    Returns when the next begins [ns].  SACKs clock data out: without them nothing more goes, nor is lost.
    """
    p, hops, losses, m, g, out = row.p, row.hops, row.losses, row.m, row.g, row.out
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    w = q[PathWord.WAY :]
    packets = at_most_missing(row, packets)
    goes, again = packets, t + np.int64(rtt)
    clocked = m[Word.FLOWING] == 1 and m[Word.ONE_ONLY] == 0
    if clocked and w[WayWord.RESUME] > t + np.int64(float(packets) * way.each):
        goes = by(w[WayWord.STOP], t, way, packets)
    hits = by(w[WayWord.UP], t, way, goes) - by(w[WayWord.DOWN], t, way, goes)
    through = goes - hits
    new = max(at_most_missing(row, packets + through) - packets, np.int64(0))
    more = min(by(w[WayWord.STOP], again, way, through), new) if goes == packets else np.int64(0)
    also = by(w[WayWord.UP], again, way, more) - by(w[WayWord.DOWN], again, way, more)
    put_out(row, path, (goes + more) << ONE_BITS)
    out[Out.DROPS_OUTAGE] += hits + also
    at_random = gaps.lose(p, hops, losses, w, path, (through + more - also) << ONE_BITS)
    out[Out.DROPS_RANDOM] += at_random
    measures = pay(m, (through + more - also) << ONE_BITS)
    m[Word.ONE_ONLY] = 0
    ends_in_it = hits > 0 and by(w[WayWord.UP], t, way, goes) == goes
    last = by(w[WayWord.DOWN], t, way, goes) if ends_in_it else goes
    told = again + np.int64(float(last) * way.each)  # when the last SACK would come
    if m[FlowWord.DELAYED] == 1 and last & 1 == 1:
        told += p[P.ACK_DELAY]
    hits += also + at_random
    if last > 0 and (told >= w[WayWord.RESUME] or told < w[WayWord.STOP]):
        m[Word.FLOWING] = 1
        acknowledged(row, q, f, through << ONE_BITS, rtt, t < m[Word.REPAIRED], measures)
        if told >= w[WayWord.RESUME]:
            again = max(again, w[WayWord.RESUME])
        if hits > 0:
            again = repair(row, path, goes + more, hits, again, rtt)
        return again
    m[Word.FLOWING] = 0
    expires = t
    if more > 0:
        expires = again + np.int64(float(more) * way.each)
    elif clocked:
        expires += np.int64(float(goes) * way.each)
    m[Word.DEBT] += hits << ONE_BITS
    if m[Word.DEBT] == 0:  # what goes first has arrived before
        m[Word.DEBT] = ONE
        m[FlowWord.REPEATED] += ONE
    return wait_for_timer(row, path, expires + q[PathWord.RTO])


def move(row: Row, way: Way, path: Any, packets: Any, t: Any, rtt: Any) -> Any:
    """A round trip in which the host changes its router: a part of it is lost, a part comes late.

    Returns when the next begins [ns].  What arrived before is answered and lets as much out again.
    """
    p, hops, losses, m, g, out = row.p, row.hops, row.losses, row.m, row.g, row.out
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    w, room = q[PathWord.WAY :], m[journey_of(hops) + handovers.Word.ROOM]
    again = t + np.int64(rtt)
    packets = at_most_missing(row, packets)
    early, lost_by = by(w[WayWord.DOWN], t, way, packets), by(w[WayWord.UP], t, way, packets)
    goes = at_most_missing(row, packets + early)
    more = min(by(w[WayWord.UP], again, way, early), goes - packets)  # lost, too
    hits = lost_by - early + more
    late = goes - early - hits
    over = np.int64(0)
    if w[WayWord.RESUME] > again:  # they wait
        over = max(late - room, np.int64(0))
        out[Out.DROPS_BUFFER] += over
    late -= over
    out[Out.DROPS_BUFFER if room == 0 and p[P.BUFFER] > 0 else Out.DROPS_HANDOVER] += hits
    put_out(row, path, goes << ONE_BITS)
    at_random = gaps.lose(p, hops, losses, w, path, (early + late) << ONE_BITS)
    out[Out.DROPS_RANDOM] += at_random
    hits += over + at_random
    if at_random == early + late:
        early, late = np.int64(0), np.int64(0)
    expires = t  # after the last SACK that has come
    if early > 0:
        measures = pay(m, early << ONE_BITS)
        acknowledged(row, q, f, early << ONE_BITS, rtt, t < m[Word.REPAIRED], measures)
        expires = again + np.int64(float(early) * way.each)
    elif m[Word.FLOWING] == 1 and m[Word.ONE_ONLY] == 0:
        expires += np.int64(float(packets) * way.each)
    expires += q[PathWord.RTO]
    m[Word.ONE_ONLY] = 0
    comes = max(again, w[WayWord.RESUME])
    if late == 0:
        m[Word.FLOWING] = 0
        m[Word.DEBT] += hits << ONE_BITS
        return wait_for_timer(row, path, expires)
    m[Word.FLOWING] = 1
    if expires < comes:  # the timer has gone off, for nothing
        while expires < min(comes, p[P.END]) and m[Word.ERRORS] <= ASSOCIATION_MAX_RETRANS:
            expire(row, path, expires)
            put_out(row, path, np.int64(ONE))
            m[FlowWord.REPEATED] += ONE
            expires += q[PathWord.RTO]
        if m[Word.ERRORS] > ASSOCIATION_MAX_RETRANS:
            return expires
    elif hits > 0:
        pay(m, late << ONE_BITS)
        return repair(row, path, goes, hits, comes, rtt)
    measures = pay(m, late << ONE_BITS)
    m[Word.DEBT] += hits << ONE_BITS
    seen = max(rtt, float(comes - max(t, w[WayWord.UP])))
    acknowledged(row, q, f, late << ONE_BITS, seen, hits > 0 or t < m[Word.REPAIRED], measures)
    return comes


def by(moment: Any, t: Any, way: Way, most: Any) -> Any:
    """Packets of a burst that begins at `t` which are put out before a moment."""
    return np.int64(min(max(float(moment - t) / way.each + 0.999, 0.0), float(most)))
