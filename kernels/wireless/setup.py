"""Preparation of a run of the 802.11 engine: scratch is laid out and filled from the row."""

from typing import Any

from netcarlo.kernels.base import ring
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.countdown import draw_gap
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import NEVER
from netcarlo.kernels.senders import ALONE, UDP
from netcarlo.kernels.wireless import outages
from netcarlo.kernels.wireless.frame import air_time
from netcarlo.kernels.wireless.layout import NOBODY, STREAM_FRAME, Flow, FlowOut, Leg, Link, Node, Radio, Rate
from netcarlo.kernels.wireless.state import (
    FLOW_COUNTS,
    FLOW_WORDS,
    LEG_WORDS,
    LINK_WORDS,
    NO_EVENT,
    NODE_WORDS,
    RATE_WORDS,
    START_OF_KEYS,
    AirTime,
    FlowState,
    LegState,
    LinkState,
    Mac,
    Word,
    flow_at,
    leg_at,
    link_at,
    node_at,
    rate_at,
    set_key,
)

hosts: Any = slot("hosts")
queues: Any = slot("queues")
observer: Any = slot("observer")

FAILING: Any = slot("failing")

_ANSWER_BYTES = 14  # size of a CTS or an ACK
_RTS_BYTES = 20
_NODE, _LINK, _RATE, _LEG, _FLOW = len(Node), len(Link), len(Rate), len(Leg), len(Flow)


@noinline
def set_up(parameters: Any, nodes: Any, network: Any, losses: Any, m: Any, f: Any) -> None:
    """Set up scratch `m` and the floats `f` of the associations from a row's arrays, see `WifiRows`."""
    for i in range(Radio.COLUMNS):
        m[i] = parameters[i]
    free = _lay_out(m, network)
    _set_up_nodes(m, nodes)
    _set_up_rates(m, network)
    _set_up_links(m, network, losses)
    free = queues.set_up(m, network, free)
    free = _set_up_legs(m, network, free)
    free = _set_up_flows(m, network, f, free)
    observer.prepare(m, free)
    if FAILING:
        outages.lay(m, network)


def _lay_out(m: Any, network: Any) -> Any:
    """Set the first word of each table; returns the next free word."""
    m[Word.ON_AIR] = 0
    m[Word.FRAMES] = 0
    m[Word.FULL] = 0
    m[Word.TRACED] = 0
    m[Word.NOTES] = 0
    m[Word.NODES] = START_OF_KEYS + m[Radio.NODES] + m[Radio.LEGS] + m[Radio.FLOWS]
    if FAILING:
        m[Word.NODES] += 1
    m[Word.RATES] = m[Word.NODES] + m[Radio.NODES] * NODE_WORDS
    m[Word.LINKS] = m[Word.RATES] + m[Radio.RATES] * RATE_WORDS
    m[Word.LEGS] = m[Word.LINKS] + m[Radio.LINKS] * LINK_WORDS
    m[Word.FLOWS] = m[Word.LEGS] + m[Radio.LEGS] * LEG_WORDS
    m[Word.PATHS] = m[Word.FLOWS] + m[Radio.FLOWS] * FLOW_WORDS
    for i in range(START_OF_KEYS, m[Word.NODES]):
        m[i] = NO_EVENT
    for i in range(m[Word.NODES], m[Word.PATHS]):
        m[i] = 0
    paths = network.shape[0] - m[Radio.PATHS_AT]
    _copy(m, m[Word.PATHS], network, m[Radio.PATHS_AT], paths)
    return m[Word.PATHS] + paths


def _copy(m: Any, at: Any, table: Any, begin: Any, count: Any) -> None:
    """Copy `count` numbers of a table, from `begin` on, to word `at`."""
    for i in range(count):
        m[at + i] = table[begin + i]


def _set_up_nodes(m: Any, nodes: Any) -> None:
    for j in range(m[Radio.NODES]):
        at = node_at(m, j)
        for column in range(_NODE):
            m[at + column] = nodes[j, column]
        m[at + Node.DISTURB_DATA] &= m[at + Node.SENSE]  # what a node does not sense does not disturb it
        m[at + Node.DISTURB_CONTROL] &= m[at + Node.SENSE]
        m[at + Mac.END] = NO_EVENT
        m[at + Mac.TIMEOUT] = NO_EVENT
        m[at + Mac.RESET] = NO_EVENT
        m[at + Mac.START] = NO_EVENT
        m[at + Mac.CW] = m[Radio.CW_MIN]
        m[at + Mac.LOCK] = NOBODY
        m[at + Mac.DATA_RATE] = NOBODY
        m[at + Mac.NEXT] = NOBODY


def _set_up_rates(m: Any, network: Any) -> None:
    for rate in range(m[Radio.RATES]):
        at = rate_at(m, rate)
        _copy(m, at, network, m[Radio.RATES_AT] + rate * _RATE, _RATE)
        m[at + AirTime.ANSWER] = air_time(m, _ANSWER_BYTES, rate)
        m[at + AirTime.RTS] = air_time(m, _RTS_BYTES, rate)


def _set_up_links(m: Any, network: Any, losses: Any) -> None:
    for link in range(m[Radio.LINKS]):
        at = link_at(m, link)
        _copy(m, at, network, m[Radio.LINKS_AT] + link * _LINK, _LINK)
        m[at + LinkState.UP] = m[Radio.ARF_UP]
        m[at + LinkState.WAIT] = m[Radio.ARF_TIMER]
        draw_gap(m, losses, m, at + LinkState.GAP, m[at + Link.LOSS], STREAM_FRAME + link)


def _set_up_legs(m: Any, network: Any, free: Any) -> Any:
    for leg in range(m[Radio.LEGS]):
        at = leg_at(m, leg)
        _copy(m, at, network, m[Radio.LEGS_AT] + leg * _LEG, _LEG)
        m[at + LegState.INTERVAL] = -1
        ring.init(m, at + LegState.HEAD, free, m[at + Leg.ROOM])
        free += 2 * m[at + Leg.ROOM]
    return free


def _set_up_flows(m: Any, network: Any, f: Any, free: Any) -> Any:
    for flow in range(m[Radio.FLOWS]):
        at = flow_at(m, flow)
        _copy(m, at, network, m[Radio.FLOWS_AT] + flow * _FLOW, _FLOW)
        m[at + FlowState.NEXT] = m[at + Flow.START]
        m[at + FlowState.BIN] = -1
        for column in range(FlowOut.FIRST_RX, FlowOut.SOURCE_DONE + 1):
            m[at + FLOW_COUNTS + column] = NEVER
        if m[at + Flow.TCP] == 0:
            m[at + Flow.KIND] = UDP
        elif m[at + Flow.KIND] == UDP:  # not of a list of flows
            m[at + Flow.KIND] = ALONE
        free = hosts.prepare(m, flow, f, network, free)
        set_key(m, flow, m[at + Flow.START])
    return free
