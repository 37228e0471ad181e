"""An SCTP association over one path or two whose links go down and come back, round trip by round trip.

The windows of RFC 4960 section 7.2 in packets, which are chunks; a timer and an error count for each path,
the change to the other path, and where chunks are sent again (sections 6.3, 6.4 and 8) in the form of the
packet engine (`docs/models/sctp.md`).  A step is a round trip, or the time to the next loss; outages, timers
and the change of the path are events with exact times.

`m` begins with the words of a flow (`FlowWord`); those of the association and its paths follow.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import ENDLESS, FOREVER, NEVER, PATHS, Out, P, Rows
from netcarlo.kernels.fluid import gaps
from netcarlo.kernels.fluid.failover import (
    PathFloat,
    PathWord,
    Word,
    acknowledged,
    expire,
    halved,
    measure,
    place_of,
    put_out,
    target,
    window_of,
)
from netcarlo.kernels.fluid.report import report, sample
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowWord
from netcarlo.kernels.fluid.trouble import Cause, until_trouble
from netcarlo.kernels.fluid.way import Way, WayWord, find_outage, forget, is_down, prepare, words
from netcarlo.kernels.sctp.paths import ASSOCIATION_MAX_RETRANS
from netcarlo.kernels.sctp.state import HEARTBEAT_BYTES
from netcarlo.kernels.shared.layout import FlowOut


def scratch_words(rows: Rows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    return Word.PATHS + PATHS * (PathWord.WAY + words(rows.hops.shape[2])), PATHS * PathFloat.SIZE


def simulate(
    p: Any, constants: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, trace: Any
) -> Any:
    """Integrate one row; see `models` for the arguments."""
    for word in range(len(m)):
        m[word] = 0
    for column in range(len(out)):
        out[column] = 0
    out[Out.COMPLETED] = NEVER
    chunk = p[P.DATA] + p[P.CHUNK_HEADER]
    m[FlowWord.LIMIT] = p[P.LIMIT] << ONE_BITS if p[P.LIMIT] < ENDLESS else ENDLESS
    m[FlowWord.DELAYED] = 1 if p[P.ACK_EVERY] > 1 else 0
    m[Word.MOST] = p[P.RWND] // chunk
    t = _connect(p, hops, outages, losses, m)
    for path in range(p[P.N_PATHS]):
        _prepare_path(p, hops, losses, m, g, path, float(chunk))
        before = (2 if path == 0 else 0) + p[P.PROBE_FIRST]
        gaps.prepare(p, hops, losses, m[place_of(hops, path) + PathWord.WAY :], path, before)
    while t < p[P.END] and out[Out.COMPLETED] == NEVER and m[Word.ERRORS] <= ASSOCIATION_MAX_RETRANS:
        t = _advance(p, hops, outages, losses, m, g, out, t)
    report(m, out)
    return 0


def _connect(p: Any, hops: Any, outages: Any, losses: Any, m: Any) -> Any:
    # Two exchanges on the first path, and a heartbeat on each if they are to be confirmed: when the first
    # data are put out [ns].
    t, probed = p[P.START], np.int64(0)
    for path in range(p[P.N_PATHS]):
        q = m[place_of(hops, path) :]
        q[PathWord.RTO] = p[P.INITIAL_RTO]
        way = prepare(p, hops, losses, q[PathWord.WAY :], path, np.int64(HEARTBEAT_BYTES))
        find_outage(hops, outages, q[PathWord.WAY :], path, t)
        if path == 0:
            while is_down(q[PathWord.WAY :], t) and t < p[P.END]:
                t += q[PathWord.RTO]
                q[PathWord.RTO] = min(2 * q[PathWord.RTO], p[P.MAX_RTO])
                find_outage(hops, outages, q[PathWord.WAY :], path, t)
            t += 2 * way.base
        if p[P.PROBE_FIRST] == 1:
            measure(p, q, way.base)
            probed = max(probed, way.base)
    return t + probed


def _prepare_path(p: Any, hops: Any, losses: Any, m: Any, g: Any, path: Any, chunk: Any) -> None:
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    size = p[P.DATA] + p[P.CHUNK_HEADER] + p[P.HEADER]
    way = prepare(p, hops, losses, q[PathWord.WAY :], path, size)
    forget(hops, q[PathWord.WAY :])  # what it was for the packets of the handshake
    q[PathWord.BASE], q[PathWord.ROOM], q[PathWord.CHANCE] = way.base, way.room, way.chance
    f[PathFloat.EACH] = way.each
    f[PathFloat.CWND] = float(p[P.INITIAL_CWND]) / chunk
    f[PathFloat.SSTHRESH] = float(p[P.INITIAL_SSTHRESH]) / chunk


def _advance(p: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, t: Any) -> Any:
    # What is to be sent again elsewhere, or a round trip on the current path; when the next begins [ns].
    if m[Word.DEBT] > 0:
        to = target(p, hops, m, m[Word.OWING], t)
        if to != m[Word.CURRENT]:
            return _repeat_elsewhere(p, hops, outages, losses, m, g, out, to, t)
    path = m[Word.CURRENT]
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    w = q[PathWord.WAY :]
    if w[WayWord.UP] <= t:
        find_outage(hops, outages, w, path, t)
    before = t
    way = Way(q[PathWord.BASE], f[PathFloat.EACH], q[PathWord.ROOM], q[PathWord.CHANCE])
    packets = np.int64(1) if m[Word.ONE_ONLY] == 1 else window_of(m, f)
    rtt: Any = _round_trip(p, way, packets)
    wanted = packets
    if t < m[Word.REFILLED]:
        packets = min(packets, m[Word.LEFT] + (p[P.MAX_BURST] if t >= m[Word.REPAIRED] else 0))
    else:
        packets = _answered(p, way, packets)
    burst = np.int64(min(float(packets) * way.each, rtt))  # its packets go one after the other, then none
    meets = w[WayWord.DOWN] < t + burst or w[WayWord.STOP] < t + np.int64(rtt) + burst
    if meets and w[WayWord.RESUME] > t and gaps.least(hops, w, path) >= packets << ONE_BITS:
        after = _meet_outage(p, hops, outages, losses, way, m, g, out, path, packets, t, rtt)
        sample(p, f[PathFloat.CWND], out, before, min(after, p[P.END]), rtt)
        return after
    length, part, cause = until_trouble(
        p, way, np.int64(FOREVER), t, packets, rtt, packets << ONE_BITS, gaps.least(hops, w, path),
        m[Word.REPAIRED],
    )  # fmt: skip
    flow: Any = np.int64(float(packets) * part * ONE)
    gone = out[Out.DROPS_QUEUE] + out[Out.DROPS_RANDOM] + out[Out.DROPS_OUTAGE]
    left = m[FlowWord.LIMIT] - (m[FlowWord.SENT] - (gone << ONE_BITS) - m[FlowWord.REPEATED])
    if flow >= left:
        more = float(left) / float(max(flow, 1))
        out[Out.COMPLETED] = t + np.int64(float(length) * more) + (way.base >> 1)
        m[FlowWord.SENT] += min(left, 0)  # more went out than there is
        flow = max(left, 0)
        cause = Cause.NOTHING
    put_out(m, out, path, flow)
    out[Out.DROPS_RANDOM] += gaps.lose(p, hops, losses, w, path, flow)
    m[Word.DEBT] -= min(m[Word.DEBT], flow)
    if flow > 0:
        limited = t < m[Word.REPAIRED] or (t < m[Word.REFILLED] and packets < wanted)
        acknowledged(p, m, q, f, flow, rtt, limited)
        m[Word.ONE_ONLY] = 0
    t += length
    if cause != Cause.NOTHING:
        t = _suffer(p, hops, outages, losses, way, m, g, out, path, cause, t, rtt)
    m[Word.FLOWING] = 0 if m[Word.ONE_ONLY] == 1 else 1
    sample(p, f[PathFloat.CWND], out, before, min(t, p[P.END]), rtt)
    return t


def _round_trip(p: Any, way: Way, packets: Any) -> Any:
    # With so many packets out [ns]; of two that a SACK answers the first waits for the second, and a single
    # one for the timer.
    base = float(way.base)
    if p[P.ACK_EVERY] > 1:
        base += way.each if packets > 1 else float(p[P.ACK_DELAY])
    return max(base, float(min(packets, way.room)) * way.each)


def _answered(p: Any, way: Way, packets: Any) -> Any:
    # Of so many packets out, those whose SACK comes within the round trip: where the path falls idle the odd
    # one waits for the next.
    idle = float(packets) * way.each < float(way.base)
    return packets - (packets & 1) if p[P.ACK_EVERY] > 1 and packets > 1 and idle else packets


def _suffer(
    p: Any, hops: Any, outages: Any, losses: Any, way: Way, m: Any, g: Any, out: Any, path: Any, cause: Any,
    t: Any, rtt: Any,
) -> Any:  # fmt: skip
    # Packets are lost at `t`; returns when the sender has begun to repair that [ns].
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    if cause == Cause.OVERFLOW:
        f[PathFloat.CWND] = min(f[PathFloat.CWND], float(way.room + 1))
    packets = np.int64(1) if m[Word.ONE_ONLY] == 1 else window_of(m, f)
    put_out(m, out, path, packets << ONE_BITS)
    m[Word.DEBT] -= min(m[Word.DEBT], packets << ONE_BITS)
    hits = np.int64(0)
    acknowledged(p, m, q, f, packets << ONE_BITS, rtt, t < m[Word.REPAIRED])
    if cause == Cause.OVERFLOW:
        hits = min(max(window_of(m, f) - way.room, np.int64(1)), packets)
        out[Out.DROPS_QUEUE] += hits
    at_random = gaps.lose(p, hops, losses, q[PathWord.WAY :], path, (packets - hits) << ONE_BITS)
    out[Out.DROPS_RANDOM] += at_random
    hits += at_random
    m[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += max(at_random - 1, np.int64(0))  # each is seen by itself
    m[Word.ONE_ONLY] = 0
    t += np.int64(rtt)
    return _repair(p, hops, outages, losses, m, g, out, path, packets, hits, t, rtt)


def _meet_outage(
    p: Any, hops: Any, outages: Any, losses: Any, way: Way, m: Any, g: Any, out: Any, path: Any, packets: Any,
    t: Any, rtt: Any,
) -> Any:  # fmt: skip
    # A round trip from `t` on in which data or SACKs are lost in an outage, which takes both directions of a
    # hop; when the next begins [ns].  SACKs clock data out: without them nothing more goes, nor is lost.
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    w = q[PathWord.WAY :]
    goes, again = packets, t + np.int64(rtt)
    clocked = m[Word.FLOWING] == 1 and m[Word.ONE_ONLY] == 0
    if clocked and w[WayWord.RESUME] > t + np.int64(float(packets) * way.each):
        goes = _by(w[WayWord.STOP], t, way, packets)
    hits = _by(w[WayWord.UP], t, way, goes) - _by(w[WayWord.DOWN], t, way, goes)
    through = goes - hits
    more = _by(w[WayWord.STOP], again, way, through) if goes == packets else np.int64(0)
    also = _by(w[WayWord.UP], again, way, more) - _by(w[WayWord.DOWN], again, way, more)
    put_out(m, out, path, (goes + more) << ONE_BITS)
    out[Out.DROPS_OUTAGE] += hits + also
    at_random = gaps.lose(p, hops, losses, w, path, (through + more - also) << ONE_BITS)
    out[Out.DROPS_RANDOM] += at_random
    m[Word.DEBT] -= min(m[Word.DEBT], (through + more - also) << ONE_BITS)
    m[Word.ONE_ONLY] = 0
    ends_in_it = hits > 0 and _by(w[WayWord.UP], t, way, goes) == goes
    last = _by(w[WayWord.DOWN], t, way, goes) if ends_in_it else goes
    told = again + np.int64(float(last) * way.each)  # when the last SACK would come
    if m[FlowWord.DELAYED] == 1 and last & 1 == 1:
        told += p[P.ACK_DELAY]
    hits += also + at_random
    if last > 0 and (told >= w[WayWord.RESUME] or told < w[WayWord.STOP]):
        m[Word.FLOWING] = 1
        acknowledged(p, m, q, f, through << ONE_BITS, rtt, t < m[Word.REPAIRED])
        if told >= w[WayWord.RESUME]:
            again = max(again, w[WayWord.RESUME])
        if hits > 0:
            again = _repair(p, hops, outages, losses, m, g, out, path, goes + more, hits, again, rtt)
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
    return _wait_for_timer(p, hops, outages, m, g, out, path, expires + q[PathWord.RTO])


def _by(moment: Any, t: Any, way: Way, most: Any) -> Any:
    # Packets of a burst that begins at `t` which are put out before a moment.
    return np.int64(min(max(float(moment - t) / way.each + 0.999, 0.0), float(most)))


def _repair(
    p: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, path: Any, packets: Any,
    hits: Any, t: Any, rtt: Any,
) -> Any:  # fmt: skip
    # At `t` the SACKs of a window begin to tell of so many losses; when the sender has begun to repair [ns].
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    m[Word.DEBT] += hits << ONE_BITS
    m[Word.OWING] = path
    wait = _until_reported(p, m, packets, hits, rtt)
    if 0 <= wait < q[PathWord.RTO]:
        t += wait
        f[PathFloat.SSTHRESH] = halved(p, m, f)
        f[PathFloat.CWND] = f[PathFloat.SSTHRESH]
        m[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
        m[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
        m[Word.REPAIRED] = t + np.int64(rtt)
        m[Word.REFILLED] = m[Word.REPAIRED] + np.int64(rtt)
        m[Word.LEFT] = max(m[Word.MOST] - packets + hits, np.int64(1))  # what came waits for what is missing
        if not _gets_through(p, hops, losses, m, out, hits, t):
            path = target(p, hops, m, path, t)
            t = _wait_for_timer(p, hops, outages, m, g, out, path, t + m[place_of(hops, path) + PathWord.RTO])
    else:
        t = _wait_for_timer(p, hops, outages, m, g, out, path, t + q[PathWord.RTO])
    return t


def _until_reported(p: Any, m: Any, packets: Any, hits: Any, rtt: Any) -> Any:
    # How long it takes until enough SACKs report the losses [ns]; -1: it needs the timer.  Each SACK with a
    # gap lets another packet out, unless the receiver has no more room.
    follow = packets - hits
    if follow < (p[P.DUPACKS] if packets >= m[Word.MOST] else 1):
        return np.int64(-1)
    rounds = (p[P.DUPACKS] + follow - 1) // follow - 1
    return np.int64(rtt) * rounds


def _gets_through(p: Any, hops: Any, losses: Any, m: Any, out: Any, hits: Any, t: Any) -> Any:
    # Whether what is sent again is not lost again: reports have a chunk sent again only once.  If it is, it
    # is put out here; else it goes with the windows.
    path = target(p, hops, m, m[Word.OWING], t)
    w = m[place_of(hops, path) + PathWord.WAY :]
    if gaps.least(hops, w, path) >= hits << ONE_BITS:
        return True
    put_out(m, out, path, hits << ONE_BITS)
    lost = gaps.lose(p, hops, losses, w, path, hits << ONE_BITS)
    out[Out.DROPS_RANDOM] += lost
    m[Word.DEBT] += (lost - hits) << ONE_BITS
    return False


def _wait_for_timer(p: Any, hops: Any, outages: Any, m: Any, g: Any, out: Any, path: Any, t: Any) -> Any:
    # The timer of a path expires at `t`, and so do those after it until a packet gets through; when that is
    # put out [ns].
    waits = True
    while waits and t < p[P.END] and m[Word.ERRORS] <= ASSOCIATION_MAX_RETRANS:
        expire(p, hops, outages, m, g, path, t)
        m[Word.OWING] = path
        path = target(p, hops, m, path, t)
        w = m[place_of(hops, path) + PathWord.WAY :]
        find_outage(hops, outages, w, path, t)
        waits = is_down(w, t)
        if waits:
            put_out(m, out, path, np.int64(ONE))
            out[Out.DROPS_OUTAGE] += 1
            t += m[place_of(hops, path) + PathWord.RTO]
    m[Word.ONE_ONLY] = 1
    return t


def _repeat_elsewhere(
    p: Any, hops: Any, outages: Any, losses: Any, m: Any, g: Any, out: Any, path: Any, t: Any
) -> Any:
    # What is to be sent again goes out on the other path: new data wait until all of it has; until when [ns].
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    w = q[PathWord.WAY :]
    find_outage(hops, outages, w, path, t)
    debt = (m[Word.DEBT] + ONE - 1) >> ONE_BITS
    packets = np.int64(1) if m[Word.ONE_ONLY] == 1 else min(debt, window_of(m, f))
    put_out(m, out, path, packets << ONE_BITS)
    if is_down(w, t):
        out[Out.DROPS_OUTAGE] += packets
        return _wait_for_timer(p, hops, outages, m, g, out, path, t + q[PathWord.RTO])
    lost = gaps.lose(p, hops, losses, w, path, packets << ONE_BITS)
    out[Out.DROPS_RANDOM] += lost
    way = Way(q[PathWord.BASE], f[PathFloat.EACH], q[PathWord.ROOM], q[PathWord.CHANCE])
    rtt = _round_trip(p, way, packets)
    m[Word.DEBT] = (debt - packets + lost) << ONE_BITS
    if lost > 0:
        m[Word.OWING] = path
        return _wait_for_timer(p, hops, outages, m, g, out, path, t + np.int64(rtt) + q[PathWord.RTO])
    acknowledged(p, m, q, f, packets << ONE_BITS, rtt, False)
    if m[Word.DEBT] > 0 or m[Word.ONE_ONLY] == 1:
        t += np.int64(rtt)
    m[Word.ONE_ONLY] = 0
    return t
