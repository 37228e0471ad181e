"""Capacity of links: the law that no fidelity may break.

A packet takes `on_wire` whole nanoseconds of a link, so the most packets that a link carries in a time are
known exactly.
"""

from typing import Any

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, NEVER, NS, Hop, Out, P
from netcarlo.kernels.base.loss import DIGITS
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.shared.layout import Flow, FlowOut, Link, Shared
from netcarlo.networks.shared.outcomes import tables
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import Outcomes

TOLERANCE = 1e-9


def broken(scenario: Scenario, found: Outcomes) -> list[str]:
    """Return, in words, the outcomes that exceed what the links of the scenario can carry."""
    rows = build(scenario, replications=len(found.frame)).rows
    if scenario.network.key == "paths":
        return _of_paths(scenario, rows, found)
    if scenario.network.key == "shared":
        return _of_links(rows, found) if found.integers.size else _of_formula(scenario, rows, found)
    return _of_radio(scenario, rows, found)


def _takes(size: Any, byte_time: Any, *, exact: bool) -> float:
    """Return the time of a packet on a link [ns]: whole nanoseconds for kernels, exact for formulae."""
    time = size * byte_time / 2.0**BYTE_TIME_BITS
    return max(time if exact else float(on_wire(size, byte_time)), 1e-3)


def _lossy(losses: Any, line: int) -> bool:
    return bool(losses[line, DIGITS - 1] != 0xFFFFFFFF and losses[line, 0] == 0)


def _of_paths(scenario: Scenario, rows: Any, found: Outcomes) -> list[str]:
    wrong = []
    for i in range(len(rows.parameters)):
        p = rows.parameters[i]
        size = p[P.DATA] + p[P.CHUNK_HEADER] + p[P.HEADER]
        per_s, dead = 0.0, True
        for path in range(max(int(p[P.N_PATHS]), 1)):
            hops = [h for h in rows.hops[i, path] if h[Hop.PRESENT]]
            slowest = max(_takes(size, h[Hop.BYTE_TIME], exact=not found.integers.size) for h in hops)
            per_s += NS / slowest
            dead &= any(_lossy(rows.losses, h[Hop.LOSS]) for h in hops)
        seconds = (p[P.END] - p[P.START]) / NS
        goodput = found.frame["goodput_bps"].iloc[i]
        if goodput > 8.0 * p[P.DATA] * per_s * (1 + TOLERANCE):
            wrong.append(f"goodput {goodput:.6g} of {8.0 * p[P.DATA] * per_s:.6g} bit/s")
        if found.integers.size:
            out = found.integers[i]
            if out[Out.COMPLETED] != NEVER:
                seconds = (out[Out.COMPLETED] - p[P.START]) / NS
            if out[Out.RECEIVED] > seconds * per_s * (1 + TOLERANCE):
                wrong.append(f"received {out[Out.RECEIVED]} of {seconds * per_s:.6g}")
            if dead and out[Out.RECEIVED] > 0:
                wrong.append(f"received {out[Out.RECEIVED]} where all is lost")
        if dead and goodput > 0:
            wrong.append(f"goodput {goodput:.6g} where all is lost")
    return wrong


def _of_links(rows: Any, found: Outcomes) -> list[str]:
    wrong = []
    flows_out = tables(found.integers, rows).flows
    for i in range(len(rows.parameters)):
        p, flows = rows.parameters[i], rows.flows[i]
        for link in range(p[Shared.LINKS]):
            taken = late = 0
            for f in range(p[Shared.FLOWS]):
                flow, out = flows[f], flows_out[i, f]
                if link in flow[Flow.ROUTE : Flow.ROUTE + flow[Flow.HOPS]] and flow[Flow.BACKUP] == 0:
                    each = float(on_wire(flow[P.DATA] + flow[P.HEADER], rows.links[i, link, Link.BYTE_TIME]))
                    taken += out[FlowOut.RECEIVED] * each
                    late += max(out[FlowOut.USEFUL], 0) / flow[P.DATA] * each
                    if _lossy(rows.losses, rows.links[i, link, Link.LOSS]) and out[FlowOut.RECEIVED]:
                        wrong.append(f"flow {f} received {out[FlowOut.RECEIVED]} where all is lost")
            window = float(p[P.END] - p[Shared.WARM_UP])
            if taken > p[P.END] * (1 + TOLERANCE):
                wrong.append(f"link {link} carries {taken / p[P.END]:.6g} of its rate")
            if late > window * (1 + TOLERANCE) and rows.flows.shape[1] and not flows[:, Flow.CLASS].any():
                wrong.append(f"link {link} carries {late / window:.6g} of its rate after the warm-up")
    return wrong


def _of_formula(scenario: Scenario, rows: Any, found: Outcomes) -> list[str]:
    wrong = []
    for i in range(len(rows.parameters)):
        p, flows = rows.parameters[i], rows.flows[i]
        flows = flows[: p[Shared.FLOWS]]
        sizes = flows[:, P.DATA] + flows[:, P.CHUNK_HEADER] + flows[:, P.HEADER]
        total, share = 0.0, float((flows[:, P.DATA] / sizes).max())
        for link in range(p[Shared.LINKS]):
            if any(link in f[Flow.ROUTE : Flow.ROUTE + f[Flow.HOPS]] for f in flows):
                total += NS / _takes(1, rows.links[i, link, Link.BYTE_TIME], exact=True)
        goodput, most = found.frame["goodput_bps"].iloc[i], 8.0 * total * share
        if goodput > most * (1 + TOLERANCE):
            wrong.append(f"goodput {goodput:.6g} of {most:.6g}")
    return wrong


def _of_radio(scenario: Scenario, rows: Any, found: Outcomes) -> list[str]:
    wrong = []
    if scenario.network.key == "wireless":
        rates = scenario.wireless.rate
        top = 54e6 if rates is None else float(rates)
    else:
        top = float(scenario.adhoc.radio.rate)
    spatial = 1 if scenario.network.key == "adhoc" or scenario.wireless.cell else 3
    for goodput in found.frame["goodput_bps"]:
        if goodput > spatial * top:
            wrong.append(f"goodput {goodput:.6g} over a radio of {top:.6g} bit/s")
    return wrong
