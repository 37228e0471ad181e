"""Before and after a run of the 802.11 engine: scratch laid out, counters set back, outcomes written."""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, NEVER, STATUS_OK, STATUS_RING_FULL, P
from netcarlo.kernels.tcp import sender
from netcarlo.kernels.wireless.layout import (
    NOBODY,
    Flow,
    FlowOut,
    Leg,
    Link,
    Node,
    NodeOut,
    Radio,
    Rate,
    WifiOut,
)
from netcarlo.kernels.wireless.state import (
    BACKWARD,
    BURSTS,
    BUSY_SINCE,
    COUNT,
    COUNTED_AT,
    CW,
    DATA_RATE,
    DISTURB_CONTROL,
    DISTURB_DATA,
    END,
    F_BIN,
    F_DELAY_NS,
    F_NEXT,
    F_STATE,
    FLOW_COUNTS,
    FLOW_MASK,
    FLOW_WORDS,
    FLOWS,
    FREE,
    FULL,
    G_COUNT,
    G_HEAD,
    G_INTERVAL,
    G_RING,
    HEAD,
    HEAD_RECEIVED,
    L_UP,
    L_WAIT,
    LEG_WORDS,
    LEGS,
    LINK_WORDS,
    LINKS,
    LOCK,
    LOST,
    NEXT,
    NO_EVENT,
    NODE_COUNTS,
    NODE_WORDS,
    NODES,
    ON_AIR,
    PACKET_SHIFT,
    PATHS,
    QUEUE,
    R_ANSWER_TIME,
    R_RTS_TIME,
    RATE_WORDS,
    RATES,
    RESET,
    RING,
    SENSE,
    START,
    START_OF_KEYS,
    TIMEOUT,
)

_CLOCK_STEP = 7919  # the clocks of senders differ [ns]
_ANSWER_BYTES = 14
_RTS_BYTES = 20
_NODE, _LINK, _RATE, _LEG, _FLOW = len(Node), len(Link), len(Rate), len(Leg), len(Flow)
_WIFI_OUT, _FLOW_OUT, _NODE_OUT = int(WifiOut.COLUMNS), int(FlowOut.COLUMNS), int(NodeOut.COLUMNS)
_NOW, _BEFORE = int(FlowOut.IN_FLIGHT), int(FlowOut.IN_FLIGHT_BEFORE)
_QUEUE_NOW, _QUEUE_BEFORE = int(NodeOut.IN_QUEUE), int(NodeOut.IN_QUEUE_BEFORE)


def make_report(
    dev: Callable[[Any], Any], association: Any, place: Any, next_of_flow: Any, air_time: Any, first_gap: Any
) -> tuple[Any, Any, Any]:
    """Compile `(prepare, warm, report)` for a target; `association` is None if there are UDP flows only.

    `prepare(parameters, nodes, network, losses, m, f)`: before the start.  `warm(m, t)`: the warm-up is over,
    counting begins.  `report(m, nodes, out)`: the outcomes.
    """
    tcp = association is not None
    first = association.first if tcp else 0

    def count_data(m: Any, frame: Any, column: Any) -> None:
        at = place(m, frame & FLOW_MASK)
        counted = not tcp or m[at + Flow.TCP] == 0 or frame >> PACKET_SHIFT >= first
        if frame & BACKWARD == 0 and counted:
            m[at + FLOW_COUNTS + column] += 1

    count_data = dev(count_data)

    @cold
    def take_stock(m: Any, t: Any, flow_column: Any, node_column: Any) -> None:
        # What is in queues and legs at time t.
        for flow in range(m[Radio.FLOWS]):
            m[place(m, flow) + FLOW_COUNTS + flow_column] = 0
        for j in range(m[Radio.NODES]):
            at = m[NODES] + j * NODE_WORDS
            m[at + NODE_COUNTS + node_column] = m[at + COUNT]
            for i in range(m[at + COUNT]):
                if i > 0 or m[at + HEAD_RECEIVED] == 0:
                    count_data(m, m[m[at + RING] + (m[at + HEAD] + i) % m[at + QUEUE]], flow_column)
        for leg in range(m[Radio.LEGS]):
            at = m[LEGS] + leg * LEG_WORDS
            for i in range(m[at + G_COUNT]):
                place_in_ring = (m[at + G_HEAD] + i) % m[at + Leg.ROOM]
                count_data(m, m[m[at + G_RING] + 2 * place_in_ring + 1], flow_column)

    take_stock = dev(take_stock)

    @cold
    def warm(m: Any, t: Any) -> None:
        for flow in range(m[Radio.FLOWS]):
            counts = place(m, flow) + FLOW_COUNTS
            for column in range(_FLOW_OUT):
                if column < int(FlowOut.FIRST_RX) or column > int(FlowOut.SOURCE_DONE):
                    m[counts + column] = 0
            m[place(m, flow) + F_DELAY_NS] = 0
            if tcp and m[place(m, flow) + Flow.TCP] != 0:
                s = m[m[place(m, flow) + F_STATE] :]
                for word in (
                    sender.SENT,
                    sender.REPEATED,
                    sender.TIMEOUTS,
                    sender.FAST_RETRANSMITS,
                    sender.CUTS,
                ):
                    s[word] = 0
        for j in range(m[Radio.NODES]):
            at = m[NODES] + j * NODE_WORDS
            for column in range(_NODE_OUT):
                m[at + NODE_COUNTS + column] = 0
            m[at + NODE_COUNTS + NodeOut.QUEUE_MOST] = m[at + COUNT]
            m[at + COUNTED_AT] = t
            m[at + BUSY_SINCE] = t
        take_stock(m, t, np.int64(_BEFORE), np.int64(_QUEUE_BEFORE))

    warm = dev(warm)

    @cold
    def prepare(parameters: Any, nodes: Any, network: Any, losses: Any, m: Any, f: Any) -> None:
        for i in range(Radio.COLUMNS):
            m[i] = parameters[i]
        n, n_legs, n_flows = m[Radio.NODES], m[Radio.LEGS], m[Radio.FLOWS]
        m[ON_AIR] = 0
        m[BURSTS] = 0
        m[FULL] = 0
        m[LOST] = 0
        free = START_OF_KEYS + n + n_legs + n_flows
        for i in range(START_OF_KEYS, free):
            m[i] = NO_EVENT
        m[NODES] = free
        m[RATES] = m[NODES] + n * NODE_WORDS
        m[LINKS] = m[RATES] + m[Radio.RATES] * RATE_WORDS
        m[LEGS] = m[LINKS] + m[Radio.LINKS] * LINK_WORDS
        m[FLOWS] = m[LEGS] + n_legs * LEG_WORDS
        m[PATHS] = m[FLOWS] + n_flows * FLOW_WORDS
        free = m[PATHS] + network.shape[0] - m[Radio.PATHS_AT]
        for i in range(m[NODES], m[PATHS]):
            m[i] = 0
        for i in range(network.shape[0] - m[Radio.PATHS_AT]):
            m[m[PATHS] + i] = network[m[Radio.PATHS_AT] + i]
        for j in range(n):
            at = m[NODES] + j * NODE_WORDS
            for column in range(_NODE):
                m[at + column] = nodes[j, column]
            m[at + DISTURB_DATA] &= m[at + SENSE]  # what a node does not sense does not disturb it
            m[at + DISTURB_CONTROL] &= m[at + SENSE]
            m[at + END] = NO_EVENT
            m[at + TIMEOUT] = NO_EVENT
            m[at + RESET] = NO_EVENT
            m[at + START] = NO_EVENT
            m[at + CW] = m[Radio.CW_MIN]
            m[at + LOCK] = NOBODY
            m[at + DATA_RATE] = NOBODY
            m[at + NEXT] = NOBODY
            m[at + RING] = free
            free += m[at + QUEUE]
        for rate in range(m[Radio.RATES]):
            at = m[RATES] + rate * RATE_WORDS
            for column in range(_RATE):
                m[at + column] = network[m[Radio.RATES_AT] + rate * _RATE + column]
            m[at + R_ANSWER_TIME] = air_time(m, _ANSWER_BYTES, rate)
            m[at + R_RTS_TIME] = air_time(m, _RTS_BYTES, rate)
        for link in range(m[Radio.LINKS]):
            at = m[LINKS] + link * LINK_WORDS
            for column in range(_LINK):
                m[at + column] = network[m[Radio.LINKS_AT] + link * _LINK + column]
            m[at + L_UP] = m[Radio.ARF_UP]
            m[at + L_WAIT] = m[Radio.ARF_TIMER]
            first_gap(m, losses, link)
        for leg in range(n_legs):
            at = m[LEGS] + leg * LEG_WORDS
            for column in range(_LEG):
                m[at + column] = network[m[Radio.LEGS_AT] + leg * _LEG + column]
            m[at + G_INTERVAL] = -1
            m[at + G_RING] = free
            free += 2 * m[at + Leg.ROOM]
        for flow in range(n_flows):
            at = place(m, flow)
            for column in range(_FLOW):
                m[at + column] = network[m[Radio.FLOWS_AT] + flow * _FLOW + column]
            start = m[at + Flow.START]
            m[at + F_NEXT] = start
            m[at + F_BIN] = -1
            for column in range(int(FlowOut.FIRST_RX), int(FlowOut.SOURCE_DONE) + 1):
                m[at + FLOW_COUNTS + column] = NEVER
            if tcp and m[at + Flow.TCP] != 0:
                m[at + F_STATE] = free
                phase = m[P.CLOCK_PHASE] + _CLOCK_STEP * flow
                g = f[flow * sender.FLOATS :]
                free += association.prepare(m, m[free:], g, m[at + Flow.LIMIT], phase)
            elif start >= m[at + Flow.STOP] or m[at + Flow.LIMIT] <= 0:
                m[at + F_NEXT] = FOREVER
            next_of_flow(m, flow)
        m[FREE] = free

    prepare = dev(prepare)

    @cold
    def report(m: Any, nodes: Any, out: Any) -> None:
        end = m[P.END]
        take_stock(m, end, np.int64(_NOW), np.int64(_QUEUE_NOW))
        for i in range(out.shape[0]):
            out[i] = 0
        out[WifiOut.STATUS] = STATUS_RING_FULL if m[FULL] != 0 else STATUS_OK
        out[WifiOut.EVENTS] = m[BURSTS]
        to = _WIFI_OUT
        for flow in range(m[Radio.FLOWS]):
            at = place(m, flow)
            counts = at + FLOW_COUNTS
            if tcp and m[at + Flow.TCP] != 0:
                s = m[m[at + F_STATE] :]
                m[counts + FlowOut.SENT] = s[sender.SENT]
                m[counts + FlowOut.RETRANSMITTED] = s[sender.REPEATED]
                m[counts + FlowOut.TIMEOUTS] = s[sender.TIMEOUTS]
                m[counts + FlowOut.FAST_RETRANSMITS] = s[sender.FAST_RETRANSMITS]
                m[counts + FlowOut.CWND_CUTS] = s[sender.CUTS]
            for column in range(_FLOW_OUT):
                out[to + column] = m[counts + column]
            to += _FLOW_OUT
        to = out.shape[0] - nodes.shape[0] * _NODE_OUT
        for j in range(m[Radio.NODES]):
            at = m[NODES] + j * NODE_WORDS
            counts = at + NODE_COUNTS
            m[counts + NodeOut.QUEUE_SUM] += m[at + COUNT] * (end - m[at + COUNTED_AT])
            m[counts + NodeOut.QUEUE_SUM] //= 1000
            if m[ON_AIR] & m[at + SENSE] != 0:
                m[counts + NodeOut.BUSY] += end - m[at + BUSY_SINCE]
            for column in range(_NODE_OUT):
                out[to + column] = m[counts + column]
            to += _NODE_OUT

    return prepare, warm, dev(report)
