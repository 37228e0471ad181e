"""Capacity of links, which no fidelity may exceed.

A packet takes `on_wire` whole nanoseconds of a link, so the most packets that a link carries in a time are
known exactly.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, NEVER, NS, Hop, Out
from netcarlo.kernels.base.loss import DIGITS
from netcarlo.kernels.base.parameters import LinuxP, RowP, SctpP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.shared.layout import Flow, FlowOut, Link, Shared, SharedRows
from netcarlo.networks.shared.outcomes import tables
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import Outcomes

TOLERANCE = 1e-9


def broken(scenario: Scenario, found: Outcomes) -> list[str]:
    """Return, in words, the outcomes that exceed what the links of the scenario can carry."""
    rows = build(scenario, replications=len(found.frame)).rows
    if scenario.network.key == "paths" and not isinstance(rows, SharedRows):
        return _of_paths(scenario, rows, found)
    if isinstance(rows, SharedRows):
        if not found.integers.size:
            return _of_formula(rows, found)
        return _of_links(rows, found, fluid=scenario.fidelity == "fluid")
    return _of_radio(scenario, found)


def _takes(size: Any, byte_time: Any, *, exact: bool) -> float:
    """Return the time of a packet on a link [ns]: whole nanoseconds for kernels, exact for formulae."""
    time = size * byte_time / 2.0**BYTE_TIME_BITS
    return max(time if exact else float(on_wire(size, byte_time)), 1e-3)


def _lossy(losses: Any, line: int) -> bool:
    return bool(losses[line, DIGITS - 1] != 0xFFFFFFFF and losses[line, 0] == 0)


def _of_paths(scenario: Scenario, rows: Any, found: Outcomes) -> list[str]:
    wrong, most = [], path_bps(rows, exact=not found.integers.size)
    for i in range(len(rows.parameters)):
        p = rows.parameters[i]
        dead, size = True, p[RowP.DATA] + p[RowP.CHUNK_HEADER] + p[RowP.HEADER]
        per_s = most[i] / (8.0 * size)
        for path in range(max(int(p[SctpP.N_PATHS]), 1)):
            hops = [h for h in rows.hops[i, path] if h[Hop.PRESENT]]
            dead &= any(_lossy(rows.losses, h[Hop.LOSS]) for h in hops)
        seconds = (p[RowP.END] - p[RowP.START]) / NS
        goodput = found.frame["goodput_bps"].iloc[i]
        if goodput > 8.0 * p[RowP.DATA] * per_s * (1 + TOLERANCE):
            wrong.append(f"goodput {goodput:.6g} of {8.0 * p[RowP.DATA] * per_s:.6g} bit/s")
        if found.integers.size:
            out = found.integers[i]
            if out[Out.COMPLETED] != NEVER:
                seconds = (out[Out.COMPLETED] - p[RowP.START]) / NS
            whole = p[LinuxP.MESSAGES] == 0  # the last packets of messages are shorter than others
            if whole and out[Out.RECEIVED] > seconds * per_s * (1 + TOLERANCE):
                wrong.append(f"received {out[Out.RECEIVED]} of {seconds * per_s:.6g}")
            if dead and out[Out.RECEIVED] > 0:
                wrong.append(f"received {out[Out.RECEIVED]} where all is lost")
        if dead and goodput > 0:
            wrong.append(f"goodput {goodput:.6g} where all is lost")
    return wrong


def _of_links(rows: Any, found: Outcomes, *, fluid: bool) -> list[str]:
    wrong = []
    flows_out = tables(found.integers, rows).flows
    for i in range(len(rows.parameters)):
        p, flows, warm_up = rows.parameters[i], rows.flows[i], rows.parameters[i, Shared.WARM_UP]
        for link in range(p[Shared.LINKS]):
            if rows.links[i, link, Link.VARIES]:
                continue
            taken = late = 0.0
            for f in range(p[Shared.FLOWS]):
                flow, out = flows[f], flows_out[i, f]
                if link in flow[Flow.ROUTE : Flow.ROUTE + flow[Flow.HOPS]] and flow[Flow.BACKUP] == 0:
                    each = float(
                        on_wire(flow[RowP.DATA] + flow[RowP.HEADER], rows.links[i, link, Link.BYTE_TIME])
                    )
                    taken += out[FlowOut.RECEIVED] * each
                    useful = out[FlowOut.USEFUL] - (fluid and warm_up > 0)  # its whole bytes are rounded
                    late += max(useful, 0) / flow[RowP.DATA] * each
                    if _lossy(rows.losses, rows.links[i, link, Link.LOSS]) and out[FlowOut.RECEIVED]:
                        wrong.append(f"flow {f} received {out[FlowOut.RECEIVED]} where all is lost")
            window = float(p[RowP.END] - warm_up)
            if taken > p[RowP.END] * (1 + TOLERANCE):
                wrong.append(f"link {link} carries {taken / p[RowP.END]:.6g} of its rate")
            if late > window * (1 + TOLERANCE) and rows.flows.shape[1] and not flows[:, Flow.CLASS].any():
                wrong.append(f"link {link} carries {late / window:.6g} of its rate after the warm-up")
    return wrong


def _of_formula(rows: Any, found: Outcomes) -> list[str]:
    wrong = []
    for i in range(len(rows.parameters)):
        p, flows = rows.parameters[i], rows.flows[i]
        flows = flows[: p[Shared.FLOWS]]
        sizes = flows[:, RowP.DATA] + flows[:, RowP.CHUNK_HEADER] + flows[:, RowP.HEADER]
        total, share = 0.0, float((flows[:, RowP.DATA] / sizes).max())
        for link in range(p[Shared.LINKS]):
            if any(link in f[Flow.ROUTE : Flow.ROUTE + f[Flow.HOPS]] for f in flows):
                total += NS / _takes(1, rows.links[i, link, Link.BYTE_TIME], exact=True)
        goodput, most = found.frame["goodput_bps"].iloc[i], 8.0 * total * share
        if goodput > most * (1 + TOLERANCE):
            wrong.append(f"goodput {goodput:.6g} of {most:.6g}")
    return wrong


def _of_radio(scenario: Scenario, found: Outcomes) -> list[str]:
    most = float(radio_bps(scenario))
    return [f"goodput {rate:.6g} of {most:.6g}" for rate in found.frame["goodput_bps"] if rate > most]


def radio_bps(scenario: Scenario) -> float:
    """Return the highest rate of a radio, times the possible simultaneous transmissions."""
    network: Any = scenario.network
    if network.key == "adhoc":
        return float(network.radio.rate)
    fixed = network.rate is not None and network.rate_control == "fixed"
    return (float(network.rate) if fixed else 54e6) * (1 if network.cell else 3)


def path_bps(rows: Any, *, exact: bool) -> NDArray[np.float64]:
    """Return the bits of data packets, headers included, that the paths of rows [n] carry per second
    together."""
    found = np.zeros(len(rows.parameters))
    for i, p in enumerate(rows.parameters):
        size = p[RowP.DATA] + p[RowP.CHUNK_HEADER] + p[RowP.HEADER]
        for path in range(max(int(p[SctpP.N_PATHS]), 1)):
            hops = [hop for hop in rows.hops[i, path] if hop[Hop.PRESENT]]
            found[i] += 8.0 * size * NS / max(_takes(size, hop[Hop.BYTE_TIME], exact=exact) for hop in hops)
    return found
