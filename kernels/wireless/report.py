"""Outcomes of a run of the 802.11 engine: reset after the warm-up, written at the end."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import STATUS_OK, STATUS_RING_FULL
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.ring import entry
from netcarlo.kernels.wireless.layout import Flow, FlowOut, Node, NodeOut, Radio, WifiOut
from netcarlo.kernels.wireless.state import (
    FLOW_COUNTS,
    NODE_COUNTS,
    FlowState,
    LegState,
    Mac,
    Word,
    flow_at,
    leg_at,
    node_at,
)
from netcarlo.kernels.wireless.stock import count

hosts: Any = slot("hosts")
senders: Any = slot("senders")
queues: Any = slot("queues")
ONE_WAY: Any = slot("one_way")
observer: Any = slot("observer")


@noinline
def end_warm_up(m: Any, t: Any) -> None:
    """Reset the counters at the end of the warm-up."""
    for flow in range(m[Radio.FLOWS]):
        at = flow_at(m, flow)
        for column in range(FlowOut.COLUMNS):
            if column < FlowOut.FIRST_RX or column > FlowOut.SOURCE_DONE:
                m[at + FLOW_COUNTS + column] = 0
        m[at + FlowState.DELAY_NS] = 0
        hosts.add_counters(m, flow, np.int64(-1))
    for j in range(m[Radio.NODES]):
        at = node_at(m, j)
        for column in range(NodeOut.COLUMNS):
            m[at + NODE_COUNTS + column] = 0
        queues.clear(m, at)
        m[at + NODE_COUNTS + NodeOut.QUEUE_MOST] = m[at + Mac.COUNT]
        m[at + Mac.COUNTED_AT] = t
        m[at + Mac.BUSY_SINCE] = t
    _take_stock(m, np.int64(FlowOut.IN_FLIGHT_BEFORE), np.int64(NodeOut.IN_QUEUE_BEFORE))


@noinline
def report(m: Any, nodes: Any, out: Any) -> None:
    """Write the outcomes."""
    _take_stock(m, np.int64(FlowOut.IN_FLIGHT), np.int64(NodeOut.IN_QUEUE))
    for i in range(out.shape[0]):
        out[i] = 0
    out[WifiOut.EVENTS] = m[Word.FRAMES]
    to = np.int64(WifiOut.COLUMNS)
    for flow in range(m[Radio.FLOWS]):
        _report_flow(m, flow, out, to)
        to += FlowOut.COLUMNS
    each = NodeOut.COLUMNS + queues.COLUMNS
    to = observer.report(m, nodes, out, np.int64(out.shape[0])) - nodes.shape[0] * each
    for j in range(m[Radio.NODES]):
        _report_node(m, j, out, to)
        to += each
    out[WifiOut.STATUS] = STATUS_RING_FULL if m[Word.FULL] != 0 else STATUS_OK


@noinline
def _take_stock(m: Any, flow_column: Any, node_column: Any) -> None:
    """Count packets in queues and legs, or waiting for room, in these columns of `FlowOut` and `NodeOut`."""
    for flow in range(m[Radio.FLOWS]):
        at = flow_at(m, flow)
        m[at + FLOW_COUNTS + flow_column] = 0
        if not ONE_WAY and m[at + Flow.TCP] != 0:
            m[at + FLOW_COUNTS + flow_column] = senders.data_waiting(m, flow)
    for j in range(m[Radio.NODES]):
        at = node_at(m, j)
        m[at + NODE_COUNTS + node_column] = m[at + Mac.COUNT]
        queues.count_data(m, j, at, flow_column)
    for leg in range(m[Radio.LEGS]):
        at = leg_at(m, leg)
        for i in range(m[at + LegState.COUNT]):
            count(m, m[entry(m, at + LegState.HEAD, 2, i) + 1], flow_column)


def _report_flow(m: Any, flow: Any, out: Any, to: Any) -> None:
    """Write the outcomes of a flow from column `to` on."""
    counts = flow_at(m, flow) + FLOW_COUNTS
    hosts.add_counters(m, flow, np.int64(1))
    for column in range(FlowOut.COLUMNS):
        out[to + column] = m[counts + column]


def _report_node(m: Any, j: Any, out: Any, to: Any) -> None:
    """Write the outcomes of a node from column `to` on."""
    at = node_at(m, j)
    counts = at + NODE_COUNTS
    m[counts + NodeOut.QUEUE_SUM] += m[at + Mac.COUNT] * (m[RowP.END] - m[at + Mac.COUNTED_AT])
    m[counts + NodeOut.QUEUE_SUM] //= 1000
    if m[Word.ON_AIR] & m[at + Node.SENSE] != 0:
        m[counts + NodeOut.BUSY] += m[RowP.END] - m[at + Mac.BUSY_SINCE]
    for column in range(NodeOut.COLUMNS):
        out[to + column] = m[counts + column]
    queues.write(m, at, out, to + NodeOut.COLUMNS)
