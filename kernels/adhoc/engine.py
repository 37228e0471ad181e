"""A mobile ad hoc network with one flow: nodes move, links come and go, routes break, TCP has to cope.

One thread simulates a network.  The next event is the earliest among the nodes' keys, the flow and the
topology; a scan finds it, so there is no heap and no allocation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import report, state
from netcarlo.kernels.adhoc.discovery import make_discovery
from netcarlo.kernels.adhoc.layout import (
    IDEAL,
    OBSERVE_COMPLETION,
    STREAM_RESIDUAL,
    Manet,
    ManetOut,
    ManetRows,
    NodeOut,
)
from netcarlo.kernels.adhoc.medium import make_medium
from netcarlo.kernels.adhoc.motion import make_motion
from netcarlo.kernels.adhoc.routes import make_routes
from netcarlo.kernels.adhoc.routing import make_routing
from netcarlo.kernels.adhoc.state import (
    ACK,
    BROADCAST,
    CHECK_PHASE,
    COUNTS,
    DATA,
    DELAYED_PHASE,
    DUE_PHASE,
    END_PHASE,
    FLOW_AT,
    FLOW_PHASE,
    FULL,
    HOP_SHIFT,
    KEYS,
    LENGTH_MASK,
    N_CUR,
    N_CW,
    N_END,
    N_FRAME,
    N_HEARD,
    N_LINK,
    N_LONG,
    N_OUTCOME,
    N_RECEIVED,
    N_SHORT,
    NO_ACK,
    NO_CTS,
    NO_KEY,
    NO_RTS,
    NO_START,
    NODE_WORDS,
    NODES,
    NOTICE,
    NUMBER_SHIFT,
    PHASE_BITS,
    PROBE,
    R_GAP,
    R_GAPS,
    REPLY,
    REQUEST,
    ROUTE_REPLY,
    STATE,
    TOPOLOGY_AT,
)
from netcarlo.kernels.adhoc.topology import LEG, LINK, make_topology
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_LOST,
    EVENT_RECEIVE,
    EVENT_SEND,
    EVENT_STATE,
    EVENT_TIMEOUT,
    FOREVER,
    NEVER,
    STATUS_NO_START,
    STATUS_OK,
    STATUS_RING_FULL,
    STATUS_TRACE_FULL,
    P,
)
from netcarlo.kernels.base.loss import make_gap
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.tcp import sender

_KIND = 15
_FORTH = DATA, PROBE
_UNANSWERED = NO_RTS, NO_CTS
_REQUEST_BYTES, _REPLY_BYTES, _ERROR_BYTES, _HOP_BYTES = 12, 8, 16, 4


def outcomes(rows: ManetRows) -> int:
    """Columns of the outcomes of `rows`."""
    return int(ManetOut.COLUMNS + rows.times.shape[1] * NodeOut.COLUMNS)


def scratch_words(rows: ManetRows) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row of `rows` needs."""
    window, ring = (int(rows.parameters[:, column].max()) for column in (P.WINDOW, P.RING))
    return state.words(rows, int(sender.scratch_words(window, ring))), sender.FLOATS


def make(dev: Callable[[Any], Any], make_variant: Any, control: Any) -> Any:
    """Compile the simulation of one row for a target; see `models` for its arguments."""
    association = sender.make_association(dev, make_variant, control)
    first = association.first
    size_of_ack = association.size_of_ack
    gap = make_gap(dev, make_draw(dev))

    @cold
    def size_of(m: Any, frame: Any, route: Any, load: Any) -> Any:
        kind = frame & _KIND
        if kind == DATA:
            return m[P.HANDSHAKE] if frame >> NUMBER_SHIFT < first else m[P.DATA] + m[P.HEADER]
        if kind == ACK:
            return size_of_ack(m, m[m[STATE] :], frame >> NUMBER_SHIFT)
        if kind <= REPLY:
            return m[P.HEADER]
        length = route & LENGTH_MASK
        if kind == REQUEST:
            return _REQUEST_BYTES + _HOP_BYTES * length
        if kind == ROUTE_REPLY:
            return _REPLY_BYTES + _HOP_BYTES * (length + (load & LENGTH_MASK))
        return _ERROR_BYTES + _HOP_BYTES * length

    motion = make_motion(dev)
    topology = make_topology(dev, motion)
    routes = make_routes(dev, topology.route)
    medium = make_medium(dev, motion.place, first, dev(size_of))
    discovery = make_discovery(dev, medium, routes, first)
    send, link_comes = discovery.send, discovery.link_comes
    route_delayed, route_due, route_check = discovery.delayed, discovery.due, discovery.check
    hear_request, hear, overheard, broken = make_routing(dev, medium.enqueue, routes, discovery)
    next_frame, backoff = medium.next_frame, medium.backoff
    start_frames, next_node = medium.start, medium.next_node
    topology_event, close_topology = topology.event, topology.close
    prepare, write_out = report.make_report(dev, association, medium.first_gap, topology.begin)
    trace_flow, trace_place, trace_link, trace_route = report.make_trace(dev, motion.place)

    @cold
    def residual(m: Any, losses: Any, end: Any, row: Any) -> Any:
        # A segment that has reached its host is lost after all; `end`: see STREAM_RESIDUAL.
        if m[R_GAPS + end] == 0:
            m[R_GAPS + end] = 1
            m[R_GAP + end] = gap(
                losses, row, m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], STREAM_RESIDUAL + end, np.int64(0)
            )
        if m[R_GAP + end] > 0:
            m[R_GAP + end] -= 1
            return False
        number = m[R_GAPS + end]
        m[R_GAPS + end] = number + 1
        m[R_GAP + end] = gap(
            losses, row, m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], STREAM_RESIDUAL + end, number
        )
        return True

    residual = dev(residual)

    @cold
    def next_of_flow(m: Any) -> None:
        s = m[m[STATE] :]
        event = min(m[FLOW_AT], min(s[sender.DEADLINE], s[sender.PENDING]))
        key = event << PHASE_BITS | FLOW_PHASE if event < FOREVER else np.int64(NO_KEY)
        m[m[KEYS] + m[Manet.NODES]] = key

    next_of_flow = dev(next_of_flow)

    @cold
    def pump(m: Any, f: Any, t: Any, rows: Any) -> None:
        # Put out what the sender may, or a probe.
        s = m[m[STATE] :]
        while True:
            packet = association.take(m, s, f, t, False)
            if packet < 0:
                break
            send(m, m[Manet.SOURCE], t, np.int64(DATA), packet)
        number = association.probe(m, s, t)
        if number >= 0:
            send(m, m[Manet.SOURCE], t, np.int64(PROBE), number)
        next_of_flow(m)
        if rows.shape[0] > 0:
            trace_route(m, rows, t)
            if s[sender.PROBING] != m[state.SHOWN_PROBING]:
                m[state.SHOWN_PROBING] = s[sender.PROBING]
                trace_flow(m, f, rows, t, np.int64(EVENT_STATE), s[sender.PROBING], m[Manet.SOURCE])

    pump = dev(pump)

    @cold
    def send_answer(m: Any, t: Any, serial: Any) -> None:
        if serial == sender.FULL:
            m[FULL] = 1
        elif serial >= 0:
            m[COUNTS + ManetOut.ACKS_SENT] += 1
            send(m, m[Manet.SINK], t, np.int64(ACK), serial)

    send_answer = dev(send_answer)

    @cold
    def at_sink(m: Any, f: Any, losses: Any, t: Any, frame: Any, rows: Any) -> None:
        s = m[m[STATE] :]
        kind, packet = frame & _KIND, frame >> NUMBER_SHIFT
        data = kind == DATA and packet >= first
        if data:
            m[COUNTS + ManetOut.HOPS] += (frame >> HOP_SHIFT & 15) + 1
            m[COUNTS + ManetOut.ARRIVED] += 1
        trace = rows.shape[0] > 0
        end = np.int64(0) if data else np.int64(2)
        if residual(m, losses, end, m[Manet.RESIDUAL] if data else m[Manet.ACK_RESIDUAL]):
            if data:
                m[COUNTS + ManetOut.DROPS_RANDOM] += 1
                if trace:
                    trace_flow(m, f, rows, t, np.int64(EVENT_LOST), packet, m[Manet.SINK])
            if kind == DATA:
                association.corrupted(m, s, packet)
            return
        if kind == PROBE:
            send(m, m[Manet.SINK], t, np.int64(REPLY), packet)
            return
        before = s[sender.EXPECTED]
        serial, fresh = association.on_data(m, s, t, packet, False)
        if data:
            m[COUNTS + ManetOut.RECEIVED] += 1
            m[COUNTS + ManetOut.LAST_RX] = t
            m[COUNTS + ManetOut.IN_ORDER] += s[sender.EXPECTED] - max(before, first)
            if m[COUNTS + ManetOut.FIRST_RX] == NEVER:
                m[COUNTS + ManetOut.FIRST_RX] = t
            if fresh:
                m[COUNTS + ManetOut.DELIVERED] += 1
            if m[COUNTS + ManetOut.COMPLETED] == NEVER and association.complete(s):
                m[COUNTS + ManetOut.COMPLETED] = t
            if trace:
                trace_flow(m, f, rows, t, np.int64(EVENT_RECEIVE), packet, m[Manet.SINK])
        send_answer(m, t, serial)
        next_of_flow(m)

    at_sink = dev(at_sink)

    @cold
    def at_source(m: Any, f: Any, constants: Any, losses: Any, t: Any, frame: Any, rows: Any) -> None:
        s = m[m[STATE] :]
        kind, number = frame & _KIND, frame >> NUMBER_SHIFT
        if residual(m, losses, np.int64(1), m[Manet.ACK_RESIDUAL]):
            if kind == ACK:
                m[COUNTS + ManetOut.ACK_DROPS] += 1
            return
        if kind == ACK:
            association.on_ack(m, s, f, constants, t, number)
            if m[COUNTS + ManetOut.FINISHED] == NEVER and association.finished(s):
                m[COUNTS + ManetOut.FINISHED] = t
            if rows.shape[0] > 0:
                trace_flow(m, f, rows, t, np.int64(EVENT_ACK), s[sender.ACKED], m[Manet.SOURCE])
        else:
            association.on_probe(m, s, f, constants, t, number)
        pump(m, f, t, rows)

    at_source = dev(at_source)

    @cold
    def noticed(m: Any, f: Any, constants: Any, t: Any, rows: Any) -> None:
        # The source has learnt of a broken link.
        m[NOTICE] = 0
        association.on_notice(m, m[m[STATE] :], f, constants, t)
        pump(m, f, t, rows)

    noticed = dev(noticed)

    @cold
    def hand_over(
        m: Any, f: Any, constants: Any, losses: Any, i: Any, t: Any,
        frame: Any, route: Any, load: Any, rows: Any,
    ) -> None:  # fmt: skip
        # A frame of node i has crossed its link.
        hop = frame >> HOP_SHIFT & 15
        j = routes.node(route, hop + 1)
        if hear(m, j, t, frame, route, load):
            kind = frame & _KIND
            if kind in _FORTH:
                at_sink(m, f, losses, t, frame, rows)
            else:
                at_source(m, f, constants, losses, t, frame, rows)
        elif m[NOTICE] != 0:
            noticed(m, f, constants, t, rows)
        overheard(m, i, j, t, frame, route, load)

    hand_over = dev(hand_over)

    @cold
    def give_up(m: Any, f: Any, constants: Any, i: Any, t: Any, rows: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        m[at + N_SHORT] = 0
        m[at + N_LONG] = 0
        m[at + N_CW] = m[Manet.CW_MIN]
        frame, route, load = m[at + N_FRAME], m[at + N_FRAME + 1], m[at + N_FRAME + 2]
        j = next_node(m, i)
        m[at + N_CUR] = 0
        if rows.shape[0] > 0 and frame & _KIND == DATA:
            trace_flow(m, f, rows, t, np.int64(EVENT_LOST), frame >> NUMBER_SHIFT, i)
        broken(m, i, j, t, frame, route, load, m[at + N_RECEIVED] != 0)
        if m[at + N_CUR] == 0:
            next_frame(m, i, t)
        if m[NOTICE] != 0:
            noticed(m, f, constants, t, rows)

    give_up = dev(give_up)

    @cold
    def at_end(m: Any, f: Any, constants: Any, losses: Any, i: Any, t: Any, rows: Any) -> None:
        # An exchange that node i began is over.
        at = m[NODES] + i * NODE_WORDS
        m[at + N_END] = NO_KEY
        m[state.ON_AIR] &= ~(np.int64(1) << i)
        outcome = m[at + N_OUTCOME]
        frame, route, load = m[at + N_FRAME], m[at + N_FRAME + 1], m[at + N_FRAME + 2]
        if outcome == BROADCAST:
            heard = m[at + N_HEARD]
            next_frame(m, i, t)
            for n in range(m[Manet.NODES]):
                if heard >> n & 1:
                    hear_request(m, np.int64(n), t, frame, route, load)
            return
        fresh = m[at + N_RECEIVED] == 0
        if outcome in _UNANSWERED:
            m[at + N_SHORT] += 1
            failed = m[at + N_SHORT] >= m[Manet.SHORT_RETRY]
        else:
            m[at + N_SHORT] = 0
            if outcome == state.OK:
                m[at + N_LONG] = 0
                m[at + N_CW] = m[Manet.CW_MIN]
                next_frame(m, i, t)
                if fresh:
                    hand_over(m, f, constants, losses, i, t, frame, route, load, rows)
                return
            m[at + N_LONG] += 1
            if outcome == NO_ACK and fresh:
                m[at + N_RECEIVED] = 1
                hand_over(m, f, constants, losses, i, t, frame, route, load, rows)
            failed = m[at + N_LONG] >= m[Manet.LONG_RETRY]
        if failed:
            give_up(m, f, constants, i, t, rows)
        else:
            m[at + N_CW] = min(2 * m[at + N_CW] + 1, m[Manet.CW_MAX])
            backoff(m, i, t)

    at_end = dev(at_end)

    @cold
    def at_flow(m: Any, f: Any, constants: Any, t: Any, rows: Any) -> None:
        s = m[m[STATE] :]
        if m[FLOW_AT] == t:
            m[FLOW_AT] = FOREVER
            association.start(m, s, f)
            pump(m, f, t, rows)
        elif s[sender.DEADLINE] == t:
            timeouts = s[sender.TIMEOUTS]
            association.on_timeout(m, s, f, constants, t)
            if rows.shape[0] > 0 and s[sender.TIMEOUTS] > timeouts:
                trace_flow(m, f, rows, t, np.int64(EVENT_TIMEOUT), s[sender.ACKED] + 1, m[Manet.SOURCE])
            pump(m, f, t, rows)
        else:
            send_answer(m, t, association.on_delay(m, s))
            next_of_flow(m)

    at_flow = dev(at_flow)

    @cold
    def at_topology(m: Any, times: Any, places: Any, t: Any, rows: Any) -> None:
        what, i, j = topology_event(m, times, places, t)
        comes = what == LINK and m[m[NODES] + i * NODE_WORDS + N_LINK] >> j & 1
        if comes and m[Manet.ROUTING] == IDEAL:
            link_comes(m, t)
        if rows.shape[0] > 0:
            if what == LEG:
                trace_place(m, rows, t, i)
            elif what == LINK:
                trace_link(m, rows, t, i, j)

    at_topology = dev(at_topology)

    @cold
    def at_start(m: Any, f: Any, losses: Any, i: Any, t: Any, rows: Any) -> None:
        starters = start_frames(m, losses, i, t)
        if rows.shape[0] > 0:
            for k in range(m[Manet.NODES]):
                at = m[NODES] + k * NODE_WORDS
                if starters >> k & 1 and m[at + N_FRAME] & _KIND == DATA:
                    number = m[at + N_FRAME] >> NUMBER_SHIFT
                    trace_flow(m, f, rows, t, np.int64(EVENT_SEND), number, np.int64(k))

    at_start = dev(at_start)

    @cold
    def at_node(m: Any, f: Any, constants: Any, losses: Any, i: Any, key: Any, rows: Any) -> None:
        t = key >> PHASE_BITS
        phase = key & 7
        if phase == END_PHASE:
            at_end(m, f, constants, losses, i, t, rows)
        elif phase == DELAYED_PHASE:
            route_delayed(m, i, t)
        elif phase == DUE_PHASE:
            route_due(m, i, t)
        elif phase == CHECK_PHASE:
            route_check(m, i, t)
        else:
            at_start(m, f, losses, i, t, rows)

    at_node = dev(at_node)

    @cold
    def simulate(
        parameters: Any,
        constants: Any,
        times: Any,
        places: Any,
        losses: Any,
        m: Any,
        f: Any,
        out: Any,
        rows: Any,
    ) -> Any:
        prepare(parameters, times, places, losses, m, f)
        if m[NO_START] != 0:
            out[ManetOut.STATUS] = STATUS_NO_START
            return np.int64(0)
        next_of_flow(m)
        if rows.shape[0] > 0:
            for i in range(m[Manet.NODES]):
                trace_place(m, rows, np.int64(0), np.int64(i))
                for j in range(i + 1, m[Manet.NODES]):
                    if m[m[NODES] + i * NODE_WORDS + N_LINK] >> j & 1:
                        trace_link(m, rows, np.int64(0), np.int64(i), np.int64(j))
        end = m[P.END]
        keys = m[KEYS]
        n = m[Manet.NODES]
        completion = m[Manet.OBSERVE] == OBSERVE_COMPLETION
        while True:
            key = m[keys]
            who = np.int64(0)
            for i in range(1, n + 1):
                if m[keys + i] < key:
                    key = m[keys + i]
                    who = np.int64(i)
            t = key >> PHASE_BITS
            if m[TOPOLOGY_AT] <= t:
                t = m[TOPOLOGY_AT]
                if t > end:
                    break
                at_topology(m, times, places, t, rows)
                continue
            if t > end:
                break
            if who == n:
                at_flow(m, f, constants, t, rows)
            else:
                at_node(m, f, constants, losses, who, key, rows)
            if completion and m[COUNTS + ManetOut.FINISHED] != NEVER:
                end = t
                break
        close_topology(m, end)
        write_out(m, end, out)
        if m[FULL] != 0:
            out[ManetOut.STATUS] = STATUS_RING_FULL
        elif m[state.TRACED] > rows.shape[0] and rows.shape[0] > 0:
            out[ManetOut.STATUS] = STATUS_TRACE_FULL
        else:
            out[ManetOut.STATUS] = STATUS_OK
        return m[state.TRACED]

    return dev(simulate)
