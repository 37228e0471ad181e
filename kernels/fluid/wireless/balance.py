"""Offered and carried load of flows: UDP at its rate, TCP at its window per round trip.

A TCP flow is a closed queueing network: its window is the number of packets at servers, in propagation, or
acknowledged by ACKs that have not arrived yet. Source: Schweitzer, "Approximate analysis of multiclass closed
networks of queues" (1979).
"""

import math
from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.fluid.wireless import linux, routes
from netcarlo.kernels.fluid.wireless.state import (
    LEG,
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
from netcarlo.kernels.wireless.layout import NOBODY, Flow, Radio

EDCA: Any = slot("edca")
"""True for EDCA, False for the DCF."""
_DAMPING = 0.2
_FULL = 0.98  # largest share of a server's time that UDP takes from TCP
_FLOW = len(Flow)


def begin(p: Any, network: Any, m: Any, f: Any, visits: Any) -> None:
    """Initialise the rates with those of each flow alone in the network."""
    for i in range(p[Radio.FLOWS]):
        g = f[floats_of_flow(p, i) :]
        trip = g[FlowFloat.TRIP]
        for visit in range(m[words_of_flow(i) + FlowWord.FIRST], routes.end_of(p, m, i, visits)):
            v = f[floats_of_visit(p, visit) :]
            v[VisitFloat.STAY] = v[VisitFloat.SERVICE]
            v[VisitFloat.RATE] = 0.0
            trip += v[VisitFloat.SERVICE]
            o = f[server(m[words_of_visit(p, visit) + VisitWord.SERVER]) :]
            o[ServerFloat.SERVICE] = max(o[ServerFloat.SERVICE], v[VisitFloat.SERVICE])
        g[FlowFloat.RATE] = 0.0
        if m[words_of_flow(i) + FlowWord.ACTIVE] != 0:
            flow = network[p[Radio.FLOWS_AT] + i * _FLOW :]
            every = max(trip, 1.0) if flow[Flow.TCP] != 0 else float(max(flow[Flow.INTERVAL], 1))
            g[FlowFloat.RATE] = 1.0 / every


def offer(p: Any, network: Any, m: Any, f: Any, visits: Any) -> None:
    """Update the flows from the servers, then the servers from the flows."""
    servers = radios(p) + p[Radio.LEGS]
    for i in range(p[Radio.FLOWS]):
        if m[words_of_flow(i) + FlowWord.ACTIVE] != 0:
            last = routes.end_of(p, m, i, visits)
            if network[p[Radio.FLOWS_AT] + i * _FLOW + Flow.TCP] != 0:
                _window(p, network, m, f, i, last)
            _pass(p, network, m, f, i, last)
    for k in range(servers):
        g = f[server(k) :]
        g[ServerFloat.LOAD] = 0.0
        g[ServerFloat.OPEN] = 0.0
        g[ServerFloat.QUEUE] = 0.0
        g[ServerFloat.FED] = 0.0
        if k >= radios(p):
            g[ServerFloat.SERVICE] = 0.0
    for visit in range(visits):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        g = f[server(w[VisitWord.SERVER]) :]
        g[ServerFloat.LOAD] += v[VisitFloat.RATE]
        if w[VisitWord.FEEDS] != NOBODY:
            f[server(w[VisitWord.FEEDS]) + ServerFloat.FED] += v[VisitFloat.RATE]
        if w[VisitWord.KIND] == LEG:
            answer = v[VisitFloat.ANSWER] / f[floats_of_flow(p, w[VisitWord.FLOW]) + FlowFloat.PER_ACK]
            g[ServerFloat.SERVICE] += v[VisitFloat.RATE] * (v[VisitFloat.SERVICE] + answer)
        if network[p[Radio.FLOWS_AT] + w[VisitWord.FLOW] * _FLOW + Flow.TCP] != 0:
            g[ServerFloat.QUEUE] += v[VisitFloat.RATE] * v[VisitFloat.STAY]
        else:
            g[ServerFloat.OPEN] += v[VisitFloat.RATE]
    for k in range(servers):
        _occupy(p, f[server(k) :], k)


def _occupy(p: Any, g: Any, k: Any) -> None:
    """Update the utilisation of server `k` with the floats `g` from its load."""
    if g[ServerFloat.LOAD] == 0.0:
        g[ServerFloat.BUSY] = 0.0
        g[ServerFloat.TAU] = 0.0
        return
    if k >= radios(p):
        g[ServerFloat.SERVICE] = g[ServerFloat.SERVICE] / g[ServerFloat.LOAD]
    g[ServerFloat.OPEN] = g[ServerFloat.OPEN] * g[ServerFloat.SERVICE]
    busy = min(g[ServerFloat.LOAD] * g[ServerFloat.SERVICE], 1.0)
    g[ServerFloat.BUSY] += _DAMPING * (busy - g[ServerFloat.BUSY])
    g[ServerFloat.TAU] += _DAMPING * (g[ServerFloat.BUSY] * g[ServerFloat.ATTEMPT] - g[ServerFloat.TAU])
    fed = min(g[ServerFloat.FED] / g[ServerFloat.LOAD], 1.0)
    g[ServerFloat.OWN] = 1.0 - (1.0 - g[ServerFloat.BUSY] * g[ServerFloat.BUSY]) * fed
    over = min(max(g[ServerFloat.QUEUE] / g[ServerFloat.ROOM], 0.5), 2.0)
    g[ServerFloat.CROWD] = max(g[ServerFloat.CROWD] * (1.0 + 0.1 * (over - 1.0)), 1.0)


def _window(p: Any, network: Any, m: Any, f: Any, i: Any, last: Any) -> None:
    """Update the rate of TCP flow `i`: its window divided by its round trip."""
    g = f[floats_of_flow(p, i) :]
    trip, data, answers, reads = g[FlowFloat.TRIP], 1.0, 1.0, 0.0
    window = float(p[RowP.WINDOW])
    if p[TcpP.SEND_BUFFER] > 0:
        window = min(window, float(p[TcpP.SEND_BUFFER]))
    for visit in range(m[words_of_flow(i) + FlowWord.FIRST], last):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        o = f[server(w[VisitWord.SERVER]) :]
        batch = v[VisitFloat.BATCH]
        customers = max((g[FlowFloat.WINDOW] if EDCA else window) / batch, 1.0)
        if EDCA and w[VisitWord.BACK] != 0:
            customers = max(customers / g[FlowFloat.PER_ACK], 1.0)
        seen = max(o[ServerFloat.QUEUE] - v[VisitFloat.RATE] * v[VisitFloat.STAY] / customers, 0.0)
        own = v[VisitFloat.SERVICE] + v[VisitFloat.ANSWER] / g[FlowFloat.PER_ACK]
        if w[VisitWord.KIND] != LEG:
            own = o[ServerFloat.SERVICE] * batch
        # If the application lags behind, one ACK acknowledges all packets that it reads at once.
        reads = max(reads, v[VisitFloat.READ] * o[ServerFloat.BUSY])
        stay = (own + o[ServerFloat.SERVICE] * seen) / (1.0 - min(o[ServerFloat.OPEN], _FULL))
        v[VisitFloat.STAY] += _DAMPING * (stay - v[VisitFloat.STAY])
        trip += v[VisitFloat.STAY]
        if w[VisitWord.BACK] != 0:
            answers = max(answers, o[ServerFloat.CROWD])
        else:
            data = max(data, o[ServerFloat.CROWD])
    every = float(max(p[ReliableP.ACK_EVERY], 1))
    kind = network[p[Radio.FLOWS_AT] + i * _FLOW + Flow.KIND]
    at_once = linux.recovering(kind, g[FlowFloat.RATE] * trip) if data > 1.0 else 0.0
    g[FlowFloat.PER_ACK] = max(every / (1.0 + at_once * (every - 1.0)) * answers, reads)
    window = max(window / data - (every - 1.0) / 2.0, 1.0)
    g[FlowFloat.WINDOW] = window
    rate = window / trip
    loss = g[FlowFloat.LOSS]
    if loss > 1e-9:
        rate = min(rate, _pftk(p, loss, trip))
    g[FlowFloat.RATE] = rate


def _pftk(p: Any, loss: Any, trip: Any) -> Any:
    """Return the rate of a TCP flow with packet loss probability `loss` and round trip `trip` [packet / ns].

    Source: Padhye, Firoiu, Towsley, Kurose, "Modeling TCP throughput" (SIGCOMM 1998), equation 30.
    """
    b = float(max(p[ReliableP.ACK_EVERY], 1))
    timer = max(float(p[ReliableP.MIN_RTO]), 2.0 * trip)
    again = min(1.0, 3.0 * math.sqrt(3.0 * b * loss / 8.0)) * loss * (1.0 + 32.0 * loss * loss)
    return 1.0 / (trip * math.sqrt(2.0 * b * loss / 3.0) + timer * again)


def _pass(p: Any, network: Any, m: Any, f: Any, i: Any, last: Any) -> None:
    """Update the frame rate of flow `i` at each server on its route."""
    g = f[floats_of_flow(p, i) :]
    tcp = network[p[Radio.FLOWS_AT] + i * _FLOW + Flow.TCP] != 0
    rate, kept, through = g[FlowFloat.RATE], 1.0, 1.0
    back = False
    for visit in range(m[words_of_flow(i) + FlowWord.FIRST], last):
        w, v = m[words_of_visit(p, visit) :], f[floats_of_visit(p, visit) :]
        o = f[server(w[VisitWord.SERVER]) :]
        if w[VisitWord.BACK] != 0 and not back:
            back = True
            through = kept
            rate = g[FlowFloat.RATE] * through / g[FlowFloat.PER_ACK]
            kept = 1.0
        if EDCA and not tcp and w[VisitWord.KIND] != LEG:
            kept *= o[ServerFloat.ACCEPTED]
        v[VisitFloat.RATE] = rate * kept
        if not tcp:
            kept *= min(1.0, 1.0 / max(o[ServerFloat.OPEN], 1e-9))
        if w[VisitWord.KIND] != LEG:
            kept *= 1.0 - o[ServerFloat.DROP]
    g[FlowFloat.THROUGH] = through if back else kept
    g[FlowFloat.LOSS] = 1.0 - through
