"""Before and after a run of the ad hoc engine: scratch laid out, outcomes written, rows of a trace."""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import METRE, Manet, ManetOut, NodeOut
from netcarlo.kernels.adhoc.state import (
    ASIDE,
    BUFFER,
    BUFFER_WORDS,
    CACHE,
    COUNTS,
    DATA,
    FLOW_AT,
    FRAME_WORDS,
    FREE,
    KEYS,
    LENGTH_BITS,
    LENGTH_MASK,
    LEVELS,
    N_BROKEN_AT,
    N_BUFFER,
    N_CACHE,
    N_CHECK_AT,
    N_COUNT,
    N_CUR,
    N_CW,
    N_DELAYED_AT,
    N_DUE_AT,
    N_END,
    N_FRAME,
    N_HEAD,
    N_HOLD_AT,
    N_LAST_REQUEST,
    N_LINK,
    N_MEMO,
    N_RECEIVED,
    N_RING,
    N_RINGED,
    N_ROUTING_RING,
    N_TAP,
    N_VX,
    N_VY,
    N_WAITING,
    NO_KEY,
    NO_TIME,
    NODE_BITS,
    NODE_COUNTS,
    NODE_MASK,
    NODE_WORDS,
    NODES,
    NUMBER_SHIFT,
    OUTAGE_SINCE,
    PAIRS,
    ROUTE,
    ROUTING_ROOM,
    SEEN,
    SHOWN_ROUTE,
    START_OF_NODES,
    STATE,
    TAP_WORDS,
    TRACED,
    WAITING_SINCE,
)
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import EVENT_LINK, EVENT_PLACE, EVENT_ROUTE, NEVER, P, Trace
from netcarlo.kernels.tcp import sender

_KIND = 15
_COLUMNS, _NODE_COLUMNS = int(ManetOut.COLUMNS), int(NodeOut.COLUMNS)
_NETWORK = int(Manet.COLUMNS)


def make_report(
    dev: Callable[[Any], Any], association: sender.Association, first_gap: Any, begin: Any
) -> tuple[Any, Any]:
    """Compile `(prepare, write)` for a target.

    `prepare(parameters, times, places, losses, m, f)`: before the start.  `write(m, end, out)`: the outcomes
    of a run that ended at `end`.
    """
    first = association.first

    @cold
    def prepare(parameters: Any, times: Any, places: Any, losses: Any, m: Any, f: Any) -> None:
        for i in range(_NETWORK):
            m[i] = parameters[i]
        n = m[Manet.NODES]
        for i in range(_NETWORK, START_OF_NODES):
            m[i] = 0
        m[NODES] = START_OF_NODES
        free = m[NODES] + n * NODE_WORDS
        m[KEYS] = free
        m[LEVELS] = m[KEYS] + n + 1
        m[PAIRS] = m[LEVELS] + n
        m[SEEN] = m[PAIRS] + 2 * n * n
        m[ASIDE] = m[SEEN] + n * n
        free = m[ASIDE] + m[Manet.QUEUE] + ROUTING_ROOM
        for i in range(m[NODES], m[SEEN]):
            m[i] = 0
        for i in range(m[SEEN], m[ASIDE]):
            m[i] = -1
        for i in range(n + 1):
            m[m[KEYS] + i] = NO_KEY
        m[FLOW_AT] = m[P.START]
        m[WAITING_SINCE] = NO_TIME
        m[OUTAGE_SINCE] = NO_TIME
        # Not a loop over columns: libnvvm unrolls it and then misplaces later words of `m` (13.0 to 13.5).
        m[COUNTS + ManetOut.FIRST_RX] = NEVER
        m[COUNTS + ManetOut.LAST_RX] = NEVER
        m[COUNTS + ManetOut.COMPLETED] = NEVER
        m[COUNTS + ManetOut.FINISHED] = NEVER
        for i in range(n):
            at = m[NODES] + i * NODE_WORDS
            m[at + N_CW] = m[Manet.CW_MIN]
            m[at + N_END] = NO_KEY
            m[at + N_DELAYED_AT] = NO_KEY
            m[at + N_DUE_AT] = NO_KEY
            m[at + N_CHECK_AT] = NO_KEY
            m[at + N_MEMO] = -1
            m[at + N_HOLD_AT] = NO_TIME
            m[at + N_BROKEN_AT] = NO_TIME
            m[at + N_LAST_REQUEST] = NO_TIME
            m[at + N_RINGED] = NO_TIME
            m[at + N_TAP + 3] = NO_TIME
            m[at + N_TAP + TAP_WORDS + 3] = NO_TIME
            m[at + N_CACHE] = free
            for entry in range(free, free + CACHE):
                m[entry] = 0
            m[at + N_RING] = free + CACHE
            m[at + N_ROUTING_RING] = m[at + N_RING] + FRAME_WORDS * m[Manet.QUEUE]
            free = m[at + N_ROUTING_RING] + FRAME_WORDS * ROUTING_ROOM
            if i == m[Manet.SOURCE] or i == m[Manet.SINK]:
                m[at + N_BUFFER] = free
                free += BUFFER * BUFFER_WORDS
            first_gap(m, losses, np.int64(i))
        begin(m, times, places)
        m[STATE] = free
        m[FREE] = free + association.prepare(m, m[free:], f, m[P.LIMIT], m[P.CLOCK_PHASE])

    def is_data(frame: Any) -> Any:
        return frame & _KIND == DATA and frame >> NUMBER_SHIFT >= first

    is_data = dev(is_data)

    @cold
    def in_flight(m: Any) -> Any:
        count = np.int64(0)
        for i in range(m[Manet.NODES]):
            at = m[NODES] + i * NODE_WORDS
            if m[at + N_CUR] != 0 and m[at + N_RECEIVED] == 0 and is_data(m[at + N_FRAME]):
                count += 1
            for k in range(m[at + N_COUNT]):
                slot = (m[at + N_HEAD] + k) % m[Manet.QUEUE]
                if is_data(m[m[at + N_RING] + FRAME_WORDS * slot]):
                    count += 1
            for k in range(m[at + N_WAITING]):
                if is_data(m[m[at + N_BUFFER] + BUFFER_WORDS * k + 1]):
                    count += 1
        return count

    in_flight = dev(in_flight)

    @cold
    def write(m: Any, end: Any, out: Any) -> None:
        s = m[m[STATE] :]
        for i in range(out.shape[0]):
            out[i] = 0
        for column in range(_COLUMNS):
            out[column] = m[COUNTS + column]
        out[ManetOut.ELAPSED] = end
        out[ManetOut.SENT] = s[sender.SENT]
        out[ManetOut.RETRANSMITTED] = s[sender.REPEATED]
        out[ManetOut.ACKED] = max(s[sender.ACKED] - first + 1, 0)
        out[ManetOut.TIMEOUTS] = s[sender.TIMEOUTS]
        out[ManetOut.FAST_RETRANSMITS] = s[sender.FAST_RETRANSMITS]
        out[ManetOut.CWND_CUTS] = s[sender.CUTS]
        out[ManetOut.HANDSHAKES] = s[sender.HANDSHAKES]
        out[ManetOut.PROBES] = s[sender.PROBES]
        out[ManetOut.PROBE_CYCLES] = s[sender.PROBE_CYCLES]
        out[ManetOut.PROBE_TIME] = s[sender.PROBE_TIME]
        if s[sender.PROBING] != 0:
            out[ManetOut.PROBE_TIME] += end - s[sender.PROBING_SINCE]
        out[ManetOut.SPARED] = s[sender.SPARED]
        if m[WAITING_SINCE] != NO_TIME:
            out[ManetOut.WAITED] += end - m[WAITING_SINCE]
        out[ManetOut.IN_FLIGHT] = in_flight(m)
        to = _COLUMNS
        for i in range(m[Manet.NODES]):
            at = m[NODES] + i * NODE_WORDS + NODE_COUNTS
            for column in range(_NODE_COLUMNS):
                out[to + column] = m[at + column]
            to += _NODE_COLUMNS

    return dev(prepare), dev(write)


def make_trace(dev: Callable[[Any], Any], place: Any) -> tuple[Any, Any, Any, Any]:
    """Compile `(flow, place, link, route)` for a target, which write rows of a trace.

    `flow(m, f, rows, t, event, number, node)`, `place(m, rows, t, i)`, `link(m, rows, t, i, j)`,
    `route(m, rows, t)`.
    """

    @cold
    def record(m: Any, rows: Any, t: Any, event: Any, sequence: Any, node: Any) -> Any:
        n = m[TRACED]
        m[TRACED] = n + 1
        if n >= rows.shape[0]:
            return np.int64(-1)
        rows[n, Trace.TIME] = t * 1e-9
        rows[n, Trace.EVENT] = event
        rows[n, Trace.SEQUENCE] = sequence
        rows[n, Trace.PATH] = node
        return n

    record = dev(record)

    @cold
    def flow(m: Any, f: Any, rows: Any, t: Any, event: Any, number: Any, node: Any) -> None:
        n = record(m, rows, t, event, number, node)
        if n >= 0:
            s = m[m[STATE] :]
            rows[n, Trace.CWND] = f[0]
            rows[n, Trace.SSTHRESH] = s[sender.SSTHRESH]
            rows[n, Trace.RTO] = s[sender.RTO] * 1e-9
            rows[n, Trace.ACKED] = s[sender.ACKED]

    @cold
    def leg(m: Any, rows: Any, t: Any, i: Any) -> None:
        n = record(m, rows, t, np.int64(EVENT_PLACE), i, np.int64(-1))
        if n >= 0:
            at = m[NODES] + i * NODE_WORDS
            x, y = place(m, i, t)
            rows[n, Trace.CWND] = x / METRE
            rows[n, Trace.SSTHRESH] = y / METRE
            rows[n, Trace.RTO] = m[at + N_VX] / METRE
            rows[n, Trace.ACKED] = m[at + N_VY] / METRE

    @cold
    def link(m: Any, rows: Any, t: Any, i: Any, j: Any) -> None:
        n = record(m, rows, t, np.int64(EVENT_LINK), i, j)
        if n >= 0:
            rows[n, Trace.CWND] = m[m[NODES] + i * NODE_WORDS + N_LINK] >> j & 1

    @cold
    def route(m: Any, rows: Any, t: Any) -> None:
        # The way of the data, if it has changed.
        now = m[ROUTE]
        if now == m[SHOWN_ROUTE]:
            return
        m[SHOWN_ROUTE] = now
        event = np.int64(EVENT_ROUTE)
        if now == 0:
            record(m, rows, t, event, np.int64(0), np.int64(-1))
        for k in range(now & LENGTH_MASK):
            record(m, rows, t, event, np.int64(k), now >> (LENGTH_BITS + NODE_BITS * k) & NODE_MASK)

    return dev(flow), dev(leg), dev(link), dev(route)
