"""Routes of the flows through an 802.11 network: the servers on each, and the duration of a frame at each."""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import BYTE_TIME_BITS
from netcarlo.kernels.base.parameters import ReliableP
from netcarlo.kernels.fluid.wireless.state import (
    LEG,
    RELAY,
    SOURCE,
    FlowFloat,
    FlowWord,
    ServerFloat,
    VisitFloat,
    VisitWord,
    fed,
    floats_of_flow,
    floats_of_visit,
    order,
    radios,
    server,
    words_of_flow,
    words_of_visit,
)
from netcarlo.kernels.wireless.layout import NOBODY, Agreement, Flow, Function, Leg, Link, Node, Radio, Rate

EDCA: Any = slot("edca")
"""True for EDCA, False for the DCF."""
ANSWER_BYTES = 14
"""Size of an Ack or CTS [byte]."""
RTS_BYTES = 20
_BYTE = 1.0 / (1 << BYTE_TIME_BITS)
_FLOW, _LINK, _LEG, _RATE = len(Flow), len(Link), len(Leg), len(Rate)
_FUNCTION, _AGREEMENT = len(Function), len(Agreement)
_NO_LOSS = 0xFFFFFFFF


class Row(NamedTuple):
    """Arrays of a row."""

    p: Any
    """Columns of the scenario (`Radio`)."""
    nodes: Any
    """Columns of the nodes (`Node`)."""
    network: Any
    """Flows, links, legs and rates, one after the other."""
    losses: Any
    """Loss table, see `base.loss`."""
    m: Any
    """Scratch: words of the flows (`FlowWord`) and visits (`VisitWord`)."""
    f: Any
    """Floats of servers, flows and visits."""


def init_layout(p: Any, nodes: Any, network: Any, losses: Any, m: Any, f: Any) -> Any:
    """Initialise the words and floats of servers, flows and visits; return the number of visits."""
    row = Row(p, nodes, network, losses, m, f)
    for k in range(radios(p) + p[Radio.LEGS]):
        g = f[server(k) :]
        for column in range(ServerFloat.SIZE):
            g[column] = 0.0
        leg = p[Radio.LEGS_AT] + (k - radios(p)) * _LEG
        if k >= radios(p):
            room = network[leg + Leg.ROOM]
        elif EDCA:
            room = network[p[Radio.FUNCTIONS_AT] + k * _FUNCTION + Function.QUEUE]
        else:
            room = nodes[k, Node.QUEUE]
        g[ServerFloat.ROOM] = float(max(room, 1))
        g[ServerFloat.CROWD] = 1.0
        g[ServerFloat.ACCEPTED] = 1.0
        g[ServerFloat.SLOT] = float(p[Radio.SLOT])
    visits = np.int64(0)
    for i in range(p[Radio.FLOWS]):
        w, g = m[words_of_flow(i) :], f[floats_of_flow(p, i) :]
        flow = network[p[Radio.FLOWS_AT] + i * _FLOW :]
        for column in range(FlowFloat.SIZE):
            g[column] = 0.0
        w[FlowWord.FIRST] = visits
        w[FlowWord.ACTIVE] = 0
        w[FlowWord.COMPLETED] = -1
        g[FlowFloat.PER_ACK] = float(max(p[ReliableP.ACK_EVERY], 1))
        data = flow[Flow.SIZE] + flow[Flow.HEADER]
        visits = _leg(row, visits, i, flow[Flow.BEFORE], data, 0, 0)
        for hop in range(flow[Flow.FORTH]):
            visits = _link(row, visits, i, flow[Flow.FORTH_AT], hop, data, 0)
        cost = flow[Flow.ACK_COST] if flow[Flow.TCP] != 0 else flow[Flow.TCP]
        visits = _leg(row, visits, i, flow[Flow.AFTER], data, 0, cost)
        if flow[Flow.TCP] != 0:
            visits = _leg(row, visits, i, flow[Flow.ACK_BEFORE], p[ReliableP.ACK], 1, 0)
            for hop in range(flow[Flow.BACK]):
                at = flow[Flow.BACK_AT]
                visits = _link(row, visits, i, at, hop, p[ReliableP.ACK], 1)
            visits = _leg(row, visits, i, flow[Flow.ACK_AFTER], p[ReliableP.ACK], 1, 0)
    for j in range(radios(p)):
        m[order(p, visits) + j] = j
        m[fed(p, visits, j)] = 0
    for i in range(p[Radio.FLOWS]):
        first, last = m[words_of_flow(i) + FlowWord.FIRST], end_of(p, m, i, visits)
        for visit in range(first, last):
            following = visit + 1 if visit + 1 < last else first
            if visit + 1 < last or network[p[Radio.FLOWS_AT] + i * _FLOW + Flow.TCP] != 0:
                _feed(p, m, visits, visit, following)
    return visits


def _feed(p: Any, m: Any, visits: Any, visit: Any, following: Any) -> None:
    """Record that a frame of a visit gives the following one a frame to send at once, if both are at
    nodes."""
    a, b = m[words_of_visit(p, visit) :], m[words_of_visit(p, following) :]
    if a[VisitWord.KIND] != LEG and b[VisitWord.KIND] != LEG:
        a[VisitWord.FEEDS] = b[VisitWord.SERVER]
        if EDCA:
            return
        one, other = a[VisitWord.SERVER], b[VisitWord.SERVER]
        m[fed(p, visits, one)] |= 1 << other
        m[fed(p, visits, other)] |= 1 << one


def end_of(p: Any, m: Any, i: Any, visits: Any) -> Any:
    """Return the first visit after those of flow `i`."""
    return m[words_of_flow(i + 1) + FlowWord.FIRST] if i + 1 < p[Radio.FLOWS] else visits


def _leg(row: Row, visit: Any, i: Any, leg: Any, size: Any, back: Any, cost: Any) -> Any:
    """Append the visit of a wired leg, if there is one; return the number of visits."""
    p, network, f = row.p, row.network, row.f
    if leg == NOBODY:
        return visit
    w, g = _visit(p, row.m, f, visit, i, radios(p) + leg, back)
    columns = network[p[Radio.LEGS_AT] + leg * _LEG :]
    w[VisitWord.KIND] = LEG
    ns = float(columns[Leg.BYTE_TIME]) * _BYTE * float(size + columns[Leg.OVERHEAD])
    read = columns[Leg.READ_TIME] if columns[Leg.READ] > 0 else columns[Leg.READ]
    g[VisitFloat.SERVICE] = ns + float(columns[Leg.PACKET_TIME] + read)
    g[VisitFloat.ANSWER] = float(cost)
    if columns[Leg.READ] > 0:
        g[VisitFloat.READ] = float(columns[Leg.READ]) / float(columns[Leg.SIZE])
    delay = float(columns[Leg.DELAY]) + float(columns[Leg.TICK]) / 2.0
    f[floats_of_flow(p, i) + FlowFloat.TRIP] += delay
    return visit + 1


def _link(row: Row, visit: Any, i: Any, path: Any, hop: Any, size: Any, back: Any) -> Any:
    """Append the visit of the node at which a link begins; return the number of visits."""
    p, network = row.p, row.network
    number = network[p[Radio.PATHS_AT] + path + hop]
    link = network[p[Radio.LINKS_AT] + number * _LINK :]
    w, g = _visit(p, row.m, row.f, visit, i, link[Link.FROM], back)
    w[VisitWord.TO] = link[Link.TO]
    w[VisitWord.KIND] = SOURCE if hop == 0 else RELAY
    w[VisitWord.FRAME] = size + p[Radio.MAC_OVERHEAD]
    it = cost(p, network, w[VisitWord.FRAME], link[Link.RATE])
    g[VisitFloat.AIR], g[VisitFloat.CONTROL] = it.air, it.control
    g[VisitFloat.SERVICE], g[VisitFloat.VAIN] = it.service, it.vain
    g[VisitFloat.EXPOSED], g[VisitFloat.PATIENCE] = it.exposed, it.patience
    if EDCA:
        agreement = network[p[Radio.PATHS_AT] + p[Radio.PATH_WORDS] + path + hop]
        function = network[p[Radio.AGREEMENTS_AT] + agreement * _AGREEMENT + Agreement.FUNCTION]
        w[VisitWord.AGREEMENT], w[VisitWord.SERVER] = agreement, function
    heard = row.nodes[link[Link.TO], Node.NEAR] >> link[Link.FROM] & 1
    g[VisitFloat.NOISE] = _noise(row.losses[link[Link.LOSS]]) if heard else 1.0
    return visit + 1


class Cost(NamedTuple):
    """Durations of a frame at a rate [ns]; the fields are those of `VisitFloat`."""

    air: Any
    control: Any
    service: Any
    vain: Any
    exposed: Any
    patience: Any


def cost(p: Any, network: Any, frame: Any, rate: Any) -> Cost:
    """Return the durations of a frame of `frame` bytes at a rate [ns]."""
    own = network[p[Radio.RATES_AT] + rate * _RATE :]
    answers = network[p[Radio.RATES_AT] + own[Rate.ANSWER] * _RATE :]
    sifs, difs = float(p[Radio.SIFS]), float(p[Radio.SIFS] + 2 * p[Radio.SLOT])
    ack = time_on_air(answers, ANSWER_BYTES)
    air = time_on_air(own, frame)
    control, service, vain, exposed = ack, air + sifs + ack + difs, air + difs, air
    if frame > p[Radio.RTS_THRESHOLD]:
        rts = time_on_air(answers, RTS_BYTES)
        control += rts + ack
        service += rts + ack + 2.0 * sifs
        vain = rts + difs
        exposed = rts
    elif p[Radio.PROTECTION] != NOBODY and own[Rate.DSSS] == 0:
        cts = time_on_air(network[p[Radio.RATES_AT] + p[Radio.PROTECTION] * _RATE :], ANSWER_BYTES) + sifs
        control += cts - sifs
        service += cts
        vain += cts
    patience = float(p[Radio.SIFS] + p[Radio.SLOT] + answers[Rate.PREAMBLE])
    return Cost(air, control, service, vain, exposed, patience)


def _visit(p: Any, m: Any, f: Any, visit: Any, i: Any, number: Any, back: Any) -> Any:
    """Initialise a visit; return its words and floats."""
    w, g = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
    for column in range(VisitFloat.SIZE):
        g[column] = 0.0
    w[VisitWord.FLOW] = i
    w[VisitWord.SERVER] = number
    w[VisitWord.TO] = NOBODY
    w[VisitWord.BACK] = back
    w[VisitWord.FEEDS] = NOBODY
    w[VisitWord.AGREEMENT] = NOBODY
    g[VisitFloat.BATCH] = 1.0
    return w, g


def time_on_air(rate: Any, size: Any) -> Any:
    """Return the duration of a PPDU of `size` bytes at a rate, including the preamble [ns]."""
    bits, sixth_bits = 6 * (8 * size + rate[Rate.EXTRA_BITS]), rate[Rate.SIXTH_BITS]
    symbols = (bits + sixth_bits - 1) // sixth_bits
    return float(rate[Rate.PREAMBLE] + rate[Rate.SYMBOL] * symbols + rate[Rate.EXTENSION])


def _noise(digits: Any) -> Any:
    """Return the loss probability that a row of thresholds (`base.loss`) represents."""
    if digits[31] == _NO_LOSS:
        return 0.0
    odd = float(digits[0]) / 4294967296.0  # q / (1 + q)
    return 1.0 - odd / (1.0 - odd)
