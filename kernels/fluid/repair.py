"""Loss recovery of SCTP in the fluid: by gap reports in SACKs or by the timer, on either path.

Source: RFC 4960, sections 6.3 and 7.2, as implemented by the packet engine (`docs/models/sctp.md`). `m` are
the words of a row, `g` its floats; `path` is the number of the path, `t` and `rtt` are times [ns].
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.fluid import gaps, handovers
from netcarlo.kernels.fluid.failover import (
    PathFloat,
    PathWord,
    Row,
    Word,
    acknowledged,
    expire,
    halved,
    place_of,
    send_on,
    target,
    until_revived,
    window_of,
)
from netcarlo.kernels.fluid.route import Route, find_outage, is_down
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowWord
from netcarlo.kernels.sctp.paths import ASSOCIATION_MAX_RETRANS
from netcarlo.kernels.shared.layout import FlowOut

MOBILE: Any = slot("mobile")  # whether the last hop is the radio link of a mobile host


def journey_of(hops: Any) -> Any:
    """Return the first handover word of a mobile host, following those of the only path."""
    return place_of(hops, 1)


def find_fixed_outage(row: Row, path: Any, t: Any) -> None:
    """Find the next outage for packets sent at `t` or later; those of a radio link are handovers."""
    hops, outages, m = row.hops, row.outages, row.m
    w = m[place_of(hops, path) + PathWord.ROUTE :]
    if MOBILE:
        find_outage(hops[:, : handovers.radio_of(hops)], outages, w, path, t)
    else:
        find_outage(hops, outages, w, path, t)


def find_interruption(row: Row, path: Any, t: Any, rtt: Any, packets: Any) -> None:
    """Find the next outage or handover; round trips last `rtt` [ns] with `packets` in flight."""
    p, hops, m = row.p, row.hops, row.m
    find_fixed_outage(row, path, t)
    if MOBILE:
        q = m[place_of(hops, path) :]
        wait = max(rtt - q[PathWord.BASE_RTT], np.int64(0))
        handovers.find(p, q[PathWord.ROUTE :], m[journey_of(hops) :], t, rtt, wait, packets)


def round_trip(p: Any, route: Route, packets: Any) -> Any:
    """Return the round trip with `packets` packets in flight [ns].

    Of two packets that a SACK acknowledges, the first waits for the second; a single one waits for the
    delayed-ACK timer.
    """
    base = float(route.base_rtt)
    if p[ReliableP.ACK_EVERY] > 1:
        base += route.service if packets > 1 else float(p[ReliableP.ACK_DELAY])
    return max(base, float(min(packets, route.capacity)) * route.service)


def retransmit_first(m: Any, flow: Any) -> Any:
    """Send `flow` [packet, ONE_BITS], retransmissions first; return whether it measures the RTT.

    To a mobile host retransmissions do not measure it (Karn's algorithm), so the timer stays backed off until
    new data are sent: handovers follow one another. On other paths an outage is over by then.
    """
    new = flow > m[Word.TO_RETRANSMIT]
    m[Word.TO_RETRANSMIT] -= min(m[Word.TO_RETRANSMIT], flow)
    return new or not MOBILE


def repair(row: Row, path: Any, packets: Any, hits: Any, t: Any, rtt: Any) -> Any:
    """Process the SACKs that report losses from `t` on; return when retransmission has begun [ns]."""
    hops, m, g = row.hops, row.m, row.g
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    m[Word.TO_RETRANSMIT] += hits << ONE_BITS
    m[Word.LOST_ON] = path
    wait = _until_reported(row, packets, hits, rtt)
    if 0 <= wait < q[PathWord.RTO]:
        t += wait
        f[PathFloat.SSTHRESH] = halved(row, f)
        f[PathFloat.CWND] = f[PathFloat.SSTHRESH]
        m[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
        m[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
        m[Word.RECOVERED_AT] = t + np.int64(rtt)
        m[Word.REFILLED_AT] = m[Word.RECOVERED_AT] + np.int64(rtt)
        m[Word.WINDOW_LEFT] = max(
            m[Word.RECEIVE_WINDOW] - packets + hits, np.int64(1)
        )  # data beyond a gap occupy the buffer
        if not _gets_through(row, hits, t):
            path = target(row, path, t)
            t = wait_for_timer(row, path, t + m[place_of(hops, path) + PathWord.RTO])
    else:
        t = wait_for_timer(row, path, t + q[PathWord.RTO])
    return t


def _until_reported(row: Row, packets: Any, hits: Any, rtt: Any) -> Any:
    """Return the time until enough SACKs report the losses [ns]; -1 if only the timer can.

    Each SACK with a gap report allows another packet to be sent, unless the receive buffer is full.
    """
    p, m = row.p, row.m
    follow = packets - hits
    if follow < (p[ReliableP.DUPACKS] if packets >= m[Word.RECEIVE_WINDOW] else 1):
        return np.int64(-1)
    rounds = (p[ReliableP.DUPACKS] + follow - 1) // follow - 1
    return np.int64(rtt) * rounds


def _gets_through(row: Row, hits: Any, t: Any) -> Any:
    """Return whether no retransmission is lost: gap reports retransmit a chunk only once.

    If one is lost, all are sent here; otherwise they are sent with the following windows.
    """
    p, hops, losses, m, out = row.p, row.hops, row.losses, row.m, row.out
    path = target(row, m[Word.LOST_ON], t)
    w = m[place_of(hops, path) + PathWord.ROUTE :]
    if gaps.until_loss(hops, w, path) >= hits << ONE_BITS:
        return True
    send_on(row, path, hits << ONE_BITS)
    lost = gaps.lose(p, hops, losses, w, path, hits << ONE_BITS)
    out[Out.DROPS_RANDOM] += lost
    m[Word.TO_RETRANSMIT] += (lost - hits) << ONE_BITS
    return False


def wait_for_timer(row: Row, path: Any, t: Any) -> Any:
    """Let the timer of a path expire at `t` and repeatedly after it.

    Returns when a packet is delivered or another path becomes current [ns].
    """
    p, hops, m, out = row.p, row.hops, row.m, row.out
    waits = True
    while waits and t < p[RowP.END] and m[Word.ERRORS] <= ASSOCIATION_MAX_RETRANS:
        expire(row, path, t)
        m[Word.LOST_ON] = path
        path = target(row, path, t)
        q = m[place_of(hops, path) :]
        find_interruption(row, path, t, q[PathWord.BASE_RTT], np.int64(1))
        waits = is_down(q[PathWord.ROUTE :], t)
        if waits:
            send_on(row, path, np.int64(ONE))
            if MOBILE and m[journey_of(hops) + handovers.Word.KEPT] == 1:
                out[Out.DROPS_HANDOVER] += 1
            else:
                out[Out.DROPS_OUTAGE] += 1
            expires = t + q[PathWord.RTO]
            t = until_revived(row, t, expires)
            waits = t == expires
    m[Word.SINGLE_PACKET] = 1
    return t


def repeat_elsewhere(row: Row, path: Any, t: Any) -> Any:
    """Retransmit lost chunks on the other path; return when the next step begins [ns].

    New data wait until all lost chunks have been retransmitted.
    """
    p, hops, outages, losses, m, g, out = row.p, row.hops, row.outages, row.losses, row.m, row.g, row.out
    q, f = m[place_of(hops, path) :], g[path * PathFloat.SIZE :]
    w = q[PathWord.ROUTE :]
    find_outage(hops, outages, w, path, t)
    debt = (m[Word.TO_RETRANSMIT] + ONE - 1) >> ONE_BITS
    packets = np.int64(1) if m[Word.SINGLE_PACKET] == 1 else min(debt, window_of(m, f))
    send_on(row, path, packets << ONE_BITS)
    if is_down(w, t):
        out[Out.DROPS_OUTAGE] += packets
        return wait_for_timer(row, path, t + q[PathWord.RTO])
    lost = gaps.lose(p, hops, losses, w, path, packets << ONE_BITS)
    out[Out.DROPS_RANDOM] += lost
    base, room, chance = q[PathWord.BASE_RTT], q[PathWord.CAPACITY], q[PathWord.LOSS]
    route = Route(base, f[PathFloat.SERVICE], room, chance, np.int64(0), q[PathWord.ONE_WAY])
    rtt = round_trip(p, route, packets)
    m[Word.TO_RETRANSMIT] = (debt - packets + lost) << ONE_BITS
    if lost > 0:
        m[Word.LOST_ON] = path
        return wait_for_timer(row, path, t + np.int64(rtt) + q[PathWord.RTO])
    acknowledged(row, q, f, packets << ONE_BITS, rtt, False, True)
    if m[Word.TO_RETRANSMIT] > 0 or m[Word.SINGLE_PACKET] == 1:
        t += np.int64(rtt)
    m[Word.SINGLE_PACKET] = 0
    return t
