"""Fluid model of an 802.11 network: the equilibrium of its rates in each part of the run.

One thread simulates a network of UDP and TCP flows. Nodes attempt transmissions as often as their frames
require, attempts fail by noise and collisions, and TCP windows fill the remaining capacity. The model reads
the rows of the packet engine and writes the same outcomes.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import ENDLESS, NEVER, STATUS_OK
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.fluid.wireless import balance, medium, rates, routes
from netcarlo.kernels.fluid.wireless.edca import medium as edca
from netcarlo.kernels.fluid.wireless.state import (
    LEG,
    SOURCE,
    AgreementFloat,
    FlowFloat,
    FlowWord,
    ServerFloat,
    VisitFloat,
    VisitWord,
    floats_of_flow,
    floats_of_visit,
    radios,
    server,
    words_of_flow,
    words_of_visit,
)
from netcarlo.kernels.wireless.layout import (
    CATEGORIES,
    CategoryOut,
    Flow,
    FlowOut,
    Function,
    NodeOut,
    Radio,
    WifiOut,
    WifiRows,
)

EDCA: Any = slot("edca")
"""True for EDCA, False for the DCF."""
ROUNDS = 150
"""Iterations of the damped fixed point; further ones change rates by less than a thousandth."""
SETTLED = 50
"""Iterations before rate control starts. Rate control is slow compared to access and queues: a cell that its
initial rates overload stays overloaded, because collisions lower the rates."""
STEPS = 64
"""Steps of a run; flows start and stop between steps."""
_OF_CATEGORIES = CATEGORIES * CategoryOut.COLUMNS
_FLOW, _FUNCTION = len(Flow), len(Function)


def scratch_words(rows: WifiRows) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    most, legs = (int(rows.parameters[:, column].max(initial=0)) for column in (Radio.FLOWS, Radio.LEGS))
    flows = rows.network[:, : most * _FLOW].reshape(len(rows.network), most, _FLOW)  # FLOWS_AT is 0
    present = np.arange(most) < rows.parameters[:, Radio.FLOWS, None]
    each = np.where(present, flows[:, :, Flow.FORTH] + flows[:, :, Flow.BACK] + 4, 0)
    visits = int(each.sum(axis=1).max(initial=0))
    functions, agreements = (
        int(rows.parameters[:, column].max(initial=0)) for column in (Radio.FUNCTIONS, Radio.AGREEMENTS)
    )
    radio = max(rows.nodes.shape[1], functions)
    servers = radio + legs
    words = most * FlowWord.SIZE + visits * VisitWord.SIZE + 2 * radio
    floats = servers * ServerFloat.SIZE + most * FlowFloat.SIZE + visits * VisitFloat.SIZE
    control = rows.parameters[:, [Radio.ARF_UP, Radio.ARF_DOWN]].sum(axis=1)
    floats += agreements * AgreementFloat.SIZE + functions * functions
    return words, floats + int(control.max(initial=0))


def simulate(
    p: Any, constants: Any, nodes: Any, network: Any, losses: Any, m: Any, f: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    visits = routes.init_layout(p, nodes, network, losses, m, f)
    for column in range(len(out)):
        out[column] = 0
    for k in range(STEPS):
        begin, end = p[RowP.END] * k // STEPS, p[RowP.END] * (k + 1) // STEPS
        if _change(p, network, m, (begin + end) // 2):
            balance.begin(p, network, m, f, visits)
            for done in range(ROUNDS):
                balance.offer(p, network, m, f, visits)
                if EDCA:
                    edca.share(p, nodes, network, m, f, visits)
                else:
                    medium.share(p, nodes, m, f, visits)
                    if done >= SETTLED:
                        rates.adapt(p, network, m, f, visits)
            out[WifiOut.EVENTS] += ROUNDS * visits
        inside = float(max(end - max(begin, p[Radio.WARM_UP]), 0))
        _count_flows(p, network, m, f, begin, end, inside)
        _count_visits(p, network, m, f, visits, inside)
        _count_nodes(p, f, inside)
    _report(p, network, m, f, visits, out, nodes.shape[0])
    out[WifiOut.STATUS] = STATUS_OK
    return 0


def _change(p: Any, network: Any, m: Any, t: Any) -> Any:
    """Update which flows send at time `t` [ns]; return whether the set of active flows has changed."""
    changed = False
    for i in range(p[Radio.FLOWS]):
        w, flow = m[words_of_flow(i) :], network[p[Radio.FLOWS_AT] + i * _FLOW :]
        active = 1 if flow[Flow.START] <= t < flow[Flow.STOP] and w[FlowWord.COMPLETED] == NEVER else 0
        if flow[Flow.LIMIT] <= 0 or flow[Flow.FORTH] == 0:
            active = 0
        if flow[Flow.TCP] == 0 and flow[Flow.LIMIT] < ENDLESS:
            last = flow[Flow.START] + flow[Flow.LIMIT] * flow[Flow.INTERVAL]
            active = active if t < last else 0
        if active != w[FlowWord.ACTIVE]:
            w[FlowWord.ACTIVE] = active
            changed = True
    return changed


def _count_flows(p: Any, network: Any, m: Any, f: Any, begin: Any, end: Any, inside: Any) -> None:
    """Count the packets of the flows in a step, `inside` ns of which are measured."""
    for i in range(p[Radio.FLOWS]):
        w, g = m[words_of_flow(i) :], f[floats_of_flow(p, i) :]
        if w[FlowWord.ACTIVE] == 0:
            continue
        limit = network[p[Radio.FLOWS_AT] + i * _FLOW + Flow.LIMIT]
        rate = g[FlowFloat.RATE] * g[FlowFloat.THROUGH]
        amount, counted = rate * float(end - begin), inside
        if network[p[Radio.FLOWS_AT] + i * _FLOW + Flow.TCP] != 0 and limit < ENDLESS:
            left = float(limit) - g[FlowFloat.TOTAL]
            if amount >= left:
                w[FlowWord.COMPLETED] = begin + int(left / rate)
                counted = float(max(w[FlowWord.COMPLETED] - max(begin, p[Radio.WARM_UP]), 0))
                amount = left
        g[FlowFloat.TOTAL] += amount
        g[FlowFloat.OFFERED] += g[FlowFloat.RATE] * counted
        g[FlowFloat.ARRIVED] += rate * counted
        g[FlowFloat.ACKS] += rate / max(g[FlowFloat.PER_ACK], 1.0) * counted


def _count_visits(p: Any, network: Any, m: Any, f: Any, visits: Any, inside: Any) -> None:
    """Count the frames that arrive at the servers in a step, and their losses."""
    for visit in range(visits):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        if m[words_of_flow(w[VisitWord.FLOW]) + FlowWord.ACTIVE] == 0:
            v[VisitFloat.RATE] = 0.0
        o, came = f[server(w[VisitWord.SERVER]) :], v[VisitFloat.RATE] * inside
        taken = came
        if network[p[Radio.FLOWS_AT] + w[VisitWord.FLOW] * _FLOW + Flow.TCP] == 0:
            taken = came * min(1.0, 1.0 / max(o[ServerFloat.OPEN], 1e-9))
        v[VisitFloat.FULL] += came / o[ServerFloat.ACCEPTED] - taken
        if w[VisitWord.KIND] != LEG:
            v[VisitFloat.GIVEN_UP] += taken * o[ServerFloat.DROP]
            v[VisitFloat.ON_AIR] += taken * o[ServerFloat.TRIES] * v[VisitFloat.AIR]


def _count_nodes(p: Any, f: Any, inside: Any) -> None:
    """Count the attempts of the nodes in a step."""
    for j in range(radios(p)):
        g = f[server(j) :]
        if g[ServerFloat.LOAD] > 0.0:
            frames = min(g[ServerFloat.LOAD], 1.0 / g[ServerFloat.SERVICE]) * inside
            g[ServerFloat.FRAMES] += frames
            g[ServerFloat.ATTEMPTS] += frames * g[ServerFloat.TRIES]
            g[ServerFloat.FAILURES] += frames * g[ServerFloat.FAILED]
            g[ServerFloat.GIVEN_UP] += frames * g[ServerFloat.DROP]
            g[ServerFloat.REFUSED] += g[ServerFloat.LOAD] * inside - frames


def _report(p: Any, network: Any, m: Any, f: Any, visits: Any, out: Any, most: Any) -> None:
    """Write the outcomes of flows and of `most` nodes to `out`."""
    for i in range(p[Radio.FLOWS]):
        g, flow = f[floats_of_flow(p, i) :], network[p[Radio.FLOWS_AT] + i * _FLOW :]
        counts = out[WifiOut.COLUMNS + i * FlowOut.COLUMNS :]
        for column in range(FlowOut.FIRST_RX, FlowOut.SOURCE_DONE + 1):
            counts[column] = NEVER
        counts[FlowOut.DELAY_SUM] = NEVER
        offered = int(g[FlowFloat.OFFERED])
        arrived = min(int(g[FlowFloat.ARRIVED]), offered)
        if flow[Flow.TCP] == 0:
            offered = _put_out(flow, min(p[RowP.END], flow[Flow.STOP])) - _put_out(flow, p[Radio.WARM_UP])
            offered = max(offered, 0)
            if g[FlowFloat.OFFERED] > 0.0:
                arrived = int(float(offered) * min(g[FlowFloat.ARRIVED] / g[FlowFloat.OFFERED], 1.0) + 0.5)
            counts[FlowOut.ARRIVED] = arrived
            counts[FlowOut.LOST] = offered - arrived
            every = max(flow[Flow.INTERVAL], 1)
            last = flow[Flow.START] + (min(flow[Flow.LIMIT], p[RowP.END] // every + 2) - 1) * every
            if arrived == offered and flow[Flow.LIMIT] > 0 and last < min(p[RowP.END], flow[Flow.STOP]):
                counts[FlowOut.COMPLETED] = last
        else:
            counts[FlowOut.IN_ORDER] = arrived
            counts[FlowOut.COMPLETED] = m[words_of_flow(i) + FlowWord.COMPLETED]
            counts[FlowOut.ACKS_SENT] = int(g[FlowFloat.ACKS])
        counts[FlowOut.SENT] = offered
        counts[FlowOut.RECEIVED] = arrived
        counts[FlowOut.DELIVERED] = arrived
    for visit in range(visits):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        counts = out[WifiOut.COLUMNS + w[VisitWord.FLOW] * FlowOut.COLUMNS :]
        if w[VisitWord.BACK] == 0:
            if w[VisitWord.KIND] == LEG:
                counts[FlowOut.DROPS_LEG] += int(v[VisitFloat.FULL])
            elif w[VisitWord.KIND] == SOURCE:
                counts[FlowOut.DROPS_SOURCE] += int(v[VisitFloat.FULL])
            else:
                counts[FlowOut.DROPS_RELAY] += int(v[VisitFloat.FULL])
            counts[FlowOut.RETRY_LOST] += int(v[VisitFloat.GIVEN_UP])
        if w[VisitWord.KIND] != LEG:
            to = _node(p, network, out, most, w[VisitWord.SERVER])
            out[to + NodeOut.AIR_DATA] += int(v[VisitFloat.ON_AIR])
    for j in range(radios(p)):
        g, to = f[server(j) :], _node(p, network, out, most, j)
        out[to + NodeOut.QUEUED] += int(g[ServerFloat.FRAMES])
        out[to + NodeOut.DROPS] += int(g[ServerFloat.REFUSED])
        out[to + NodeOut.ATTEMPTS] += int(g[ServerFloat.ATTEMPTS])
        out[to + NodeOut.FAILED] += int(g[ServerFloat.FAILURES])
        out[to + NodeOut.SUCCEEDED] += int(g[ServerFloat.FRAMES] - g[ServerFloat.GIVEN_UP])
        out[to + NodeOut.RETRY_DROPS] += int(g[ServerFloat.GIVEN_UP])


def _node(p: Any, network: Any, out: Any, most: Any, j: Any) -> Any:
    """Return the index at which the outcomes of the node of server `j` begin; `out` ends with `most`
    nodes."""
    node, columns = j, int(NodeOut.COLUMNS)
    if EDCA:
        node = network[p[Radio.FUNCTIONS_AT] + j * _FUNCTION + Function.NODE]
        columns += _OF_CATEGORIES
    return len(out) - (most - node) * columns


def _put_out(flow: Any, t: Any) -> Any:
    """Return the number of packets that a UDP flow sends before time `t` [ns]."""
    every = max(flow[Flow.INTERVAL], 1)
    return min(max((t - flow[Flow.START] + every - 1) // every, 0), flow[Flow.LIMIT])
