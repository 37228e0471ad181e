"""Bias of the fluid models against the packet models, outcome by outcome, on small random networks.

    python -m tests.kernels.fluid.bias > tests/kernels/fluid/bias.csv

Each case has one family, one sender and one impairment: random loss, full queues, outages, handovers or
hidden nodes. The table contains the sum of each outcome over the networks of a case, for the packet model and
the fluid model. Fluid models run as plain Python, so that the comparison with the table compiles nothing.
"""

import csv
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared.layout import FlowOut, LinkOut
from netcarlo.kernels.wireless.layout import FlowOut as WifiFlow
from netcarlo.kernels.wireless.layout import NodeOut
from netcarlo.networks.shared import outcomes as shared
from netcarlo.networks.wireless import outcomes as wireless
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.kernels.beside_twin import run_as_python

FILE = Path(__file__).with_name("bias.csv")
LEAST = 20
"""Smallest number of events in the packet model; the bias of a rarer outcome is noise."""
CONTROLS = ("bic", "cubic", "westwood")
LINUX = ("linux_reno", "linux_cubic", "linux_bbr")
ALONE = ("linux_bbr3",)
"""Controls of today's Linux whose fluid model supports paths only."""
OTHERS = ("probing", "new_probing", "linux26")
KINDS = ("tahoe", "reno", "newreno", "sack", "vegas", *CONTROLS)


class Case(NamedTuple):
    """Random networks on which packets and fluid are compared."""

    scenario: Scenario
    networks: int


class Bias(NamedTuple):
    """Row of the table: an outcome, summed over the networks of a case."""

    case: str
    outcome: str
    packets: int
    fluid: int


def sender(kind: str, **more: Any) -> dict[str, Any]:
    """Return the transport section of a scenario with this TCP."""
    if kind in (*LINUX, *ALONE):
        return {"protocol": "linux", "congestion_control": kind.removeprefix("linux_"), **more}
    if kind in CONTROLS:
        return {"protocol": "sack", "congestion_control": kind, **more}
    return {"protocol": kind, **more}


HOP = {
    "rate": {"log_uniform": ["1 Mbit/s", "20 Mbit/s"]},
    "delay": {"uniform": ["5 ms", "40 ms"]},
    "queue": {"integers": [5, 60]},
    "loss": {"choice": [0, "0.1 %", "1 %", "4 %"]},
}
WINDOW = {"log_uniform": [4, 100]}
LOADS = {"log_uniform": ["500 kbit/s", "10 Mbit/s"]}
"""Rate of a stream of datagrams."""


def paths() -> Iterator[tuple[str, Case]]:
    """Yield cases of one TCP over a hop with losses and outages, and over hops with cross traffic."""
    hop = {**HOP, "outages": {"up": "8 s", "down": "0.5 s"}}
    for kind in (*KINDS, *OTHERS, *LINUX, *ALONE):
        data = {"duration": "30 s", "transport": sender(kind, window=WINDOW), "hops": [hop]}
        yield f"path, {kind}", Case(Scenario.check(data), 30)
    data = {"duration": "30 s", "transport": {"protocol": "udp", "rate": LOADS}, "hops": [HOP, hop]}
    yield "path, udp", Case(Scenario.check(data), 30)
    cross = {**HOP, "cross_traffic": {"rate": "800 kbit/s", "packet": "500 B"}, "loss": "0.5 %"}
    data = {"duration": "30 s", "transport": sender("newreno", window=WINDOW), "hops": [HOP, cross, hop]}
    yield "path, newreno over three hops", Case(Scenario.check(data), 30)


def associations() -> Iterator[tuple[str, Case]]:
    """Yield cases of SCTP over one or two paths, with and without outages."""
    transport = {"protocol": "sctp", "receiver_window": {"log_uniform": ["8 kB", "200 kB"]}}
    for count, name in ((1, "one path"), (2, "two paths")):
        for outages in ({}, {"outages": {"up": "6 s", "down": "1.5 s"}}):
            hops = [HOP, {**HOP, "loss": {"choice": [0, "2 %"]}, **outages}]
            most = {"path_max_retrans": {"integers": [0, 1]}} if count > 1 else {}
            data = {"duration": "40 s", "transport": {**transport, **most}, "paths": [{"hops": hops}] * count}
            what = "with outages" if outages else "with losses"
            yield f"sctp, {name} {what}", Case(Scenario.check(data), 25)


WALKERS = {
    "mipv6": "newreno", "hmipv6": "sack", "fmipv6": "newreno", "s_binding": "reno", "s_mip": "tahoe",
    "fhmipv6": "vegas", "himipv6": "westwood",
}  # fmt: skip
"""Sender used with each handover protocol."""


def walks() -> Iterator[tuple[str, Case]]:
    """Yield cases of a host with a handover every few seconds."""
    mobility = {
        "every": {"uniform": ["4 s", "10 s"]}, "outage": {"log_uniform": ["50 ms", "600 ms"]},
        "map_to_ar": "8 ms", "map_to_map": "20 ms", "home_agent": "60 ms", "domain_size": 2,
        "buffer": {"integers": [5, 60]}, "false_alarm": "10 %",
    }  # fmt: skip
    hops = [{**HOP, "loss": 0}, {**HOP, "queue": 80, "loss": {"choice": [0, "0.3 %"]}}]
    others = [("fmipv6", "sctp"), ("s_mip", "sctp"), ("hmipv6", "sctp"), ("fmipv6", "udp"), ("mipv6", "udp")]
    others += [("fmipv6", "linux26"), ("mipv6", "new_probing")]
    for protocol, kind in [*WALKERS.items(), *others]:
        transport = sender(kind, window={"log_uniform": [4, 100]})
        if kind == "sctp":
            transport = {"protocol": "sctp", "receiver_window": {"log_uniform": ["8 kB", "150 kB"]}}
        if kind == "udp":
            transport = {"protocol": "udp", "rate": LOADS}
        data = {"duration": "60 s", "transport": transport, "hops": hops,
                "mobility": {"protocol": protocol, **mobility}}  # fmt: skip
        yield f"mobile, {kind} with {protocol}", Case(Scenario.check(data), 10)


def dumbbells() -> Iterator[tuple[str, Case]]:
    """Yield cases of flows of one TCP over a saturated link, RED, ECN, two-way traffic or several links."""
    link = {**HOP, "rate": {"log_uniform": ["2 Mbit/s", "20 Mbit/s"]}, "queue": {"integers": [10, 80]}}
    base = {"duration": "30 s", "warm_up": "5 s"}
    hosts = {"source_delay": {"uniform": ["1 ms", "30 ms"]}, "sink_delay": "1 ms"}
    for kind in KINDS:
        flows = [{"count": 4, "each": {"protocol": kind, "access": hosts}}]
        data = {**base, "transport": {"protocol": "newreno", "window": 80, "header": "40 B"},
                "shared": {"dumbbell": link, "flows": flows}}  # fmt: skip
        yield f"shared, {kind}", Case(Scenario.check(data), 12)
    for kind in LINUX:
        flows = [{"count": 4, "each": {"access": hosts}}]
        data = {**base, "transport": sender(kind, window=80), "shared": {"dumbbell": link, "flows": flows}}
        yield f"shared, {kind}", Case(Scenario.check(data), 12)
    data = {**base, "transport": {"protocol": "sctp", "receiver_window": "120 kB"},
            "shared": {"dumbbell": link, "flows": [{"count": 4, "each": {"access": hosts}}]}}  # fmt: skip
    yield "shared, sctp", Case(Scenario.check(data), 12)
    red = {"least": 5, "most": 20, "probability": 0.1}
    bursts = {"udp": {"rate": "2 Mbit/s", "payload": "500 B", "on": "2 s", "off": "1 s"}}
    mixed: dict[str, dict[str, Any]] = {
        "RED": {"dumbbell": {**link, "queue": 60, "red": red}, "flows": [{"count": 6}]},
        "RED with ECN": {
            "dumbbell": {**link, "queue": 60, "red": {**red, "mark": True}},
            "flows": [{"count": 6, "each": {"ecn": True}}],
        },
        "CoDel": {"dumbbell": {**link, "queue": "codel"}, "flows": [{"count": 6}]},
        "FQ-CoDel with ECN": {
            "dumbbell": {**link, "queue": "fq_codel"},
            "flows": [{"count": 3, "each": {"ecn": True}}, {"count": 2}, bursts],
        },
        "bursts of UDP": {"dumbbell": link, "flows": [{"count": 2}, bursts]},
        "parking lot": {
            "parking_lot": {"links": 3, "each": link},
            "flows": [{"count": 2}, {"count": 1, "each": {"between": "hops"}}],
        },
        "both directions": {
            "dumbbell": {**link, "reverse": link},
            "flows": [{"count": 2}, {"count": 2, "each": {"source": 1, "sink": 0}}],
        },
    }
    for name, network in mixed.items():
        transport = {"protocol": "sack", "window": 80, "header": "40 B"}
        yield f"shared, {name}", Case(Scenario.check({**base, "transport": transport, "shared": network}), 12)


def adhoc() -> Iterator[tuple[str, Case]]:
    """Yield cases of mobile nodes for each sender, and of static chains with noise."""
    network = {
        "nodes": {"integers": [4, 12]}, "area": {"side": {"uniform": ["200 m", "500 m"]}}, "range": "180 m",
        "frame_error": {"uniform": ["0 %", "10 %"]}, "residual_error": {"choice": [0, "1 %", "4 %"]},
        "mobility": {"model": "random_waypoint", "speed": {"uniform": ["5 m/s", "20 m/s"]}},
    }  # fmt: skip
    more = {"payload": "1000 B", "window": {"integers": [2, 24]}}
    for kind in (*KINDS, *OTHERS, "elfn", "eln", "udp", "sctp"):
        transport: dict[str, Any] = {**sender(kind), **more}
        if kind == "udp":
            rate = {"log_uniform": ["50 kbit/s", "2 Mbit/s"]}
            transport = {"protocol": "udp", "payload": "1000 B", "rate": rate}
        if kind == "sctp":
            buffer = {"log_uniform": ["2032 B", "24384 B"]}
            transport = {"protocol": "sctp", "payload": "1000 B", "receiver_window": buffer}
        data = {"duration": "40 s", "transport": transport, "adhoc": network}
        yield f"adhoc, {kind}", Case(Scenario.check(data), 12)
    for kind in ("newreno", "udp"):
        nodes = [[{"time": "0 s", "x": f"{200 * k} m"}] for k in range(5)]
        chain = {"range": "250 m", "mobility": {"model": "given", "nodes": nodes}, "sink": 4,
                 "frame_error": {"uniform": ["0 %", "10 %"]}}  # fmt: skip
        stream = {"protocol": "udp", "payload": "1000 B", "rate": "1 Mbit/s"}
        transport = stream if kind == "udp" else {**sender(kind), **more}
        data = {"duration": "20 s", "transport": transport, "adhoc": chain}
        yield f"adhoc, {kind} over a chain with noise", Case(Scenario.check(data), 8)


def radio() -> Iterator[tuple[str, Case]]:
    """Yield cases of 802.11 cells, meshes and chains with noise, rate control and hidden nodes."""
    rate = {"choice": ["6 Mbit/s", "24 Mbit/s", "54 Mbit/s"]}
    noise = {"uniform": ["0 %", "20 %"]}
    cell = {"standard": "802.11g", "cell": {"stations": {"integers": [2, 6]}}, "rate": rate}
    mesh = {"standard": "802.11g", "rate": "24 Mbit/s"}
    chain = {"standard": "802.11g", "chain": {"hops": 3}, "rate": rate}
    stream = {"protocol": "udp", "payload": {"integers": ["200 B", "1460 B"]},
              "rate": {"log_uniform": ["1 Mbit/s", "10 Mbit/s"]}}  # fmt: skip
    bulk = {"protocol": "newreno", "payload": {"integers": ["200 B", "1460 B"]}, "window": 20}
    association = {"protocol": "sctp", "payload": "1000 B", "receiver_window": "32 kB"}
    wire = {"rate": {"log_uniform": ["2 Mbit/s", "20 Mbit/s"]}, "delay": "10 ms"}
    area = {"stations": {"integers": [4, 8]}, "side": "100 m"}
    loss = {"power_dbm": 20, "exponent": {"uniform": [2.7, 3.3]}, "shadowing_db": 4}
    networks: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "udp in a cell": (stream, {**cell, "frame_error": noise}),
        "udp in a cell with RTS": (stream, {**cell, "rts_threshold": "0 B"}),
        "tcp in a cell": (bulk, {**cell, "flows": "both"}),
        "tcp in a cell with noise": (bulk, {**cell, "frame_error": noise, "flows": "down"}),
        "tcp in a cell with more noise": (bulk, {**cell, "frame_error": {"uniform": ["40 %", "60 %"]}}),
        "tcp with delayed acknowledgements": ({**bulk, "ack_every": 2}, {**cell, "flows": "down"}),
        "sctp in a cell": (association, {**cell, "flows": "down"}),
        "tcp behind a wire": (bulk, {**cell, "wire": wire}),
        "udp over a chain with ARF": (stream, {**chain, "rate_control": "arf"}),
        "tcp over a chain": (bulk, chain),
        "udp over a chain with hidden nodes": (stream, {**chain, "reach": {"sense": 2}}),
        "udp in a mesh": (stream, {**mesh, "area": area, "path_loss": loss}),
    }  # fmt: skip
    for name, (transport, network) in networks.items():
        duration = "6 s" if "ARF" in name else "3 s"
        data = {"duration": duration, "warm_up": "1 s", "transport": transport, "wireless": network}
        yield f"802.11, {name}", Case(Scenario.check(data), 8)


@functools.cache
def cases() -> dict[str, Case]:
    """Return the cases by name; a name begins with the family."""
    parts = (paths(), associations(), walks(), dumbbells(), adhoc(), radio())
    return {name: case for part in parts for name, case in part}


OF_A_PATH = [Out[name] for name in (
    "DELIVERED", "RETRANSMITTED", "TIMEOUTS", "FAST_RETRANSMITS", "CWND_CUTS", "DROPS_QUEUE", "DROPS_RANDOM",
    "DROPS_OUTAGE", "DROPS_HANDOVER", "DROPS_BUFFER", "SENT_ALTERNATE", "CWND_SUM", "RTT_SUM", "RTT_SAMPLES",
)]  # fmt: skip
OF_A_FLOW = [FlowOut[name] for name in (
    "DELIVERED", "RETRANSMITTED", "DROPS_QUEUE", "DROPS_RANDOM", "ACKS_SENT", "ACK_DROPS", "MARKED",
    "TIMEOUTS", "FAST_RETRANSMITS", "CWND_CUTS", "CWND_SUM", "RTT_SUM",
)]  # fmt: skip
OF_A_LINK = [LinkOut[name] for name in (
    "ARRIVALS", "DROPS", "EARLY", "SENT", "BUSY", "QUEUE_SUM", "WAIT_MAX",
)]  # fmt: skip
OF_A_ROUTE = [ManetOut[name] for name in (
    "DELIVERED", "RETRANSMITTED", "TIMEOUTS", "FAST_RETRANSMITS", "CWND_CUTS", "PROBES", "PROBE_CYCLES",
    "PROBE_TIME", "SPARED", "DROPS_QUEUE", "DROPS_ROUTE", "DROPS_BUFFER", "DROPS_RANDOM", "HOPS",
    "FALSE_BREAKS", "WAITED",
)]  # fmt: skip
OF_A_CELL = [WifiFlow[name] for name in (
    "SENT", "DELIVERED", "DROPS_SOURCE", "DROPS_RELAY", "DROPS_LEG", "RETRY_LOST", "ACKS_SENT", "LOST",
)]  # fmt: skip
OF_A_NODE = [NodeOut[name] for name in ("QUEUED", "DROPS", "ATTEMPTS", "FAILED", "RETRY_DROPS", "AIR_DATA")]


def simulate(name: str, *, fluid: bool) -> dict[str, int]:
    """Return the outcomes of a case, summed over its networks."""
    scenario, networks = cases()[name]
    rows = build(scenario, replications=networks).rows
    family = name.partition(",")[0]
    model = models.at(scenario.network.address(scenario, fluid=fluid))
    if family == "shared" and not fluid and "sctp" not in name:
        kinds = "shared_mixed_linux" if "linux" in name else "shared_mixed"
        model = models.model(f"{kinds}_aqm" if model.address.aqm else kinds)
    plain = fluid and family != "shared"
    out = run_as_python(model, rows) if plain else launch.run(model, rows)
    if family == "shared":
        flows, links = shared.tables(out, rows)
        return {**summed(flows, OF_A_FLOW), **summed(links, OF_A_LINK)}
    if family == "802.11":
        both = wireless.tables(out, flows=rows.most_flows)
        return {**summed(both.flows, OF_A_CELL), **summed(both.nodes, OF_A_NODE)}
    if family == "adhoc":
        return summed(out, OF_A_ROUTE)
    out[:, Out.DROPS_OUTAGE] += out[:, Out.DESTROYED]  # the fluid model counts both as outage drops
    return summed(out, OF_A_PATH)


def summed(table: NDArray[np.int64], columns: list[Any]) -> dict[str, int]:
    """Return the sums of some columns of a table of outcomes."""
    return {column.name: int(table[..., column].clip(0).sum()) for column in columns}


def measured(name: str) -> list[Bias]:
    """Return the rows of the table for a case."""
    packets, fluid = simulate(name, fluid=False), simulate(name, fluid=True)
    return [Bias(name, key, packets[key], fluid[key]) for key in packets if packets[key] >= LEAST]


@functools.cache
def recorded() -> dict[str, list[Bias]]:
    """Return the table in `bias.csv`, by case."""
    found: dict[str, list[Bias]] = {}
    with FILE.open() as lines:
        for row in csv.DictReader(lines):
            bias = Bias(row["case"], row["outcome"], int(row["packets"]), int(row["fluid"]))
            found.setdefault(bias.case, []).append(bias)
    return found


def main() -> None:
    """Print the table."""
    write = csv.writer(sys.stdout, lineterminator="\n")
    write.writerow(Bias._fields)
    for name in cases():
        write.writerows(measured(name))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
