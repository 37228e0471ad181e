"""The fluids of SCTP and of mobile hosts compared with packets, on paths drawn at random.

    python -m tests.campaigns fluid_paths sctp [networks]
    python -m tests.campaigns fluid_paths mobility [networks [senders]]
    python -m tests.campaigns fluid_paths datagrams [networks]

Prints the tables of docs/results/fluid-*.md: the error of the delivered packets, and the share of an outage
that a second path hides.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from netcarlo.kernels import models, senders
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.layout import FOREVER, Out, Rows
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.networks.path.mobility import PROTOCOLS
from netcarlo.networks.path.switched import switched
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.campaigns import parser
from tests.campaigns.benchmarks.fluid import HEADING, TCPS, describe

HOP = {
    "rate": {"log_uniform": ["0.5 Mbit/s", "50 Mbit/s"]},
    "delay": {"uniform": ["1 ms", "40 ms"]},
    "queue": {"integers": [10, 100]},
    "loss": {"choice": [0, "0.01 %", "0.1 %", "1 %"]},
}
ROUTE = {"hops": [{"count": {"integers": [2, 6]}, "each": HOP}]}
"""Path of configs/examples/random_topology.yaml."""

CONTROLS = senders.WINDOWS
LINUX = senders.LINUX_FLUID

LEAST = 50
"""Number of delivered packets below which no relative error is computed."""

SWITCHED = {"never down": None, "down 1 s in 20": (20.0, 1.0), "down 5 s in 10": (10.0, 5.0)}


def associations(rules: str, paths: int, networks: int, *, retransmissions: int = 5) -> Rows:
    """Return SCTP associations over one or two paths of 2 to 6 hops for 60 s."""
    transport = {
        "protocol": "sctp", "rules": rules, "path_max_retrans": retransmissions,
        "receiver_window": {"log_uniform": ["16 kB", "256 kB"]},
    }  # fmt: skip
    scenario = {"duration": "60 s", "transport": transport, "paths": [ROUTE] * paths}
    rows: Rows = build(Scenario.check(scenario), replications=networks).rows
    return rows


def both(sender: str, rows: Rows, **address: Any) -> tuple[Any, Any, list[float]]:
    """Return the outcomes of the fluid and of packets, and the processor time of each [us per network]."""
    found, took = [], []
    for fluid in (True, False):
        model = models.at(Address("path", sender, fluid=fluid, **address))
        compilers.cpu_loop(model)
        start = time.process_time()
        found.append(launch.run(model, rows))
        took.append((time.process_time() - start) / len(rows.parameters) * 1e6)
    return found[0], found[1], took


def sctp(networks: int) -> None:
    """Print errors with one and two paths, with and without outages of the first hop."""
    print(f"error of what is delivered [%]       {HEADING}    us a network, packets")
    for rules in ("ns2-2.35", "ns2-2.29"):
        for paths, retransmissions in ((1, 5), (2, 5), (2, 0)):
            calm = associations(rules, paths, networks, retransmissions=retransmissions)
            for name, times in SWITCHED.items():
                rows = switched(calm, up_s=times[0], down_s=times[1]) if times else calm
                fluid, packets, took = both("sctp", rows)
                some = packets[:, Out.IN_ORDER] >= LEAST
                error = fluid[some, Out.DELIVERED] / packets[some, Out.IN_ORDER] - 1
                what = f"{rules}, {paths} x, pmr {retransmissions}, {name}"
                print(f"{what:36s} {describe(error)} {took[0]:9.0f} {took[1]:9.0f}")
    hidden(networks)


def hidden(networks: int) -> None:
    """Print the share of the loss by an outage of 10 s on one path that a second path avoids."""
    print("share of the outage hidden by a second path [%]: packets, fluid, difference (median of its size)")
    for retransmissions in (0, 2, 5):
        delivered = {}
        for paths in (1, 2):
            calm = associations("ns2-2.35", paths, networks, retransmissions=retransmissions)
            for is_down in (False, True):
                outages = np.full((*calm.outages.shape[:3], 1, 2), FOREVER)
                if is_down:
                    outages[:, 0, 0, 0] = 25_000_000_000, 35_000_000_000
                fluid, packets, _ = both("sctp", calm._replace(outages=outages))
                delivered[paths, is_down] = fluid[:, Out.DELIVERED], packets[:, Out.IN_ORDER]
        parts = []
        for k in range(2):
            lost = np.maximum(delivered[1, False][k] - delivered[1, True][k], 1)
            kept = 1 - (delivered[2, False][k] - delivered[2, True][k]) / lost
            parts.append(100 * np.clip(kept, -1.0, 2.0))
        off = np.abs(parts[0] - parts[1])
        print(f"path_max_retrans {retransmissions}: {np.median(parts[1]):.0f}, {np.median(parts[0]):.0f}, "
              f"{np.median(off):.1f}")  # fmt: skip


LOADS = {"log_uniform": ["64 kbit/s", "20 Mbit/s"]}
"""Rate of a stream of datagrams, which many of the paths cannot carry."""


def streams(networks: int, *, outages: bool, cross: bool = False) -> Rows:
    """Return streams of datagrams over the paths of `ROUTE` for 60 s, with outages or cross traffic."""
    more: dict[str, Any] = {"outages": {"up": "8 s", "down": "0.5 s"}} if outages else {}
    if cross:
        more["cross_traffic"] = {"rate": "400 kbit/s", "packet": "500 B"}
    hops = [{"count": {"integers": [2, 6]}, "each": HOP | more}]
    scenario = {"duration": "60 s", "transport": {"protocol": "udp", "rate": LOADS}, "hops": hops}
    rows: Rows = build(Scenario.check(scenario), replications=networks).rows
    return rows


def walk_of_datagrams(protocol: str) -> Scenario:
    """Return the mobile host of `walk` with a stream of datagrams."""
    return walk(protocol, "newreno").with_values({"transport": {"protocol": "udp", "rate": LOADS}})


def streams_to_mobile(protocol: str, networks: int) -> Rows:
    """Return streams of datagrams to mobile hosts."""
    rows: Rows = build(walk_of_datagrams(protocol), replications=networks).rows
    return rows


def datagrams(networks: int) -> None:
    """Print errors of streams over paths and to mobile hosts."""
    print(f"error of what is delivered [%]       {HEADING}    us a network, packets")
    of_paths = {
        "paths": streams(networks, outages=False), "outages": streams(networks, outages=True),
        "cross traffic": streams(networks, outages=False, cross=True),
    }  # fmt: skip
    for name, rows in (of_paths | {p: streams_to_mobile(p, networks) for p in PROTOCOLS}).items():
        fluid, packets, took = both("udp", rows, mobile=name in PROTOCOLS)
        some = packets[:, Out.DELIVERED] >= LEAST
        error = fluid[some, Out.DELIVERED] / packets[some, Out.DELIVERED] - 1
        print(f"{name:36s} {describe(error)} {took[0]:9.0f} {took[1]:9.0f}")


def walk(protocol: str, sender: str) -> Scenario:
    """Return a host that moves through cells of 20 to 200 m at 1 to 30 m/s, with every kind of link."""
    radio = {
        "rate": {"log_uniform": ["2 Mbit/s", "20 Mbit/s"]},
        "delay": {"uniform": ["1 ms", "20 ms"]},
        "queue": {"integers": [20, 100]},
        "loss": {"choice": [0, "0.1 %", "1 %", "3 %"]},
    }
    wired = {
        "count": {"integers": [1, 4]},
        "each": {**HOP, "loss": 0, "rate": {"log_uniform": ["1 Mbit/s", "50 Mbit/s"]}},
    }
    mobility = {
        "protocol": protocol,
        "cell_radius": {"log_uniform": ["20 m", "200 m"]},
        "speed": {"log_uniform": ["1 m/s", "30 m/s"]},
        "outage": {"log_uniform": ["50 ms", "1 s"]},
        "outage_jitter": "20 ms", "ping_pong": "10 %", "false_alarm": "5 %",
        "map_to_map": {"uniform": ["5 ms", "40 ms"]}, "home_agent": {"uniform": ["10 ms", "150 ms"]},
        "domain_size": {"integers": [1, 4]}, "buffer": {"integers": [10, 100]},
    }  # fmt: skip
    transport: dict[str, Any] = {"protocol": sender, "window": {"integers": [16, 128]}}
    if sender == "sctp":
        transport = {"protocol": sender, "receiver_window": {"log_uniform": ["24 kB", "190 kB"]}}
    if sender in LINUX:
        transport = {"protocol": "linux", "congestion_control": sender.removeprefix("linux_")}
    if sender in CONTROLS:
        transport |= {"protocol": "sack", "congestion_control": sender}
    scenario = {"duration": "120 s", "transport": transport, "hops": [wired, radio], "mobility": mobility}
    return Scenario.check(scenario)


def walks(protocol: str, sender: str, networks: int) -> Rows:
    """Return random networks of mobile hosts with a handover protocol and a sender."""
    rows: Rows = build(walk(protocol, sender), replications=networks).rows
    return rows


def of_mobile(protocol: str, sender: str, networks: int) -> tuple[Any, Any, list[float]]:
    """Return the outcomes of the fluid and of packets on `walks`, and the processor time of each."""
    tcp, control = sender, ""
    if sender in CONTROLS:
        tcp, control = "sack", sender
    if sender in LINUX:
        tcp, control = "linux", sender.removeprefix("linux_")
    return both(tcp, walks(protocol, sender, networks), control=control, mobile=True)


SENDERS = (*TCPS, *LINUX, "sctp")


def mobility(networks: int, senders: Sequence[str] = SENDERS) -> None:
    """Print errors of each handover protocol with each TCP and SCTP."""
    print(f"error of what is delivered [%]       {HEADING}    us a network, packets")
    for protocol in PROTOCOLS:
        for sender in senders:
            fluid, packets, took = of_mobile(protocol, sender, networks)
            some = packets[:, Out.IN_ORDER] >= LEAST
            error = fluid[some, Out.DELIVERED] / packets[some, Out.IN_ORDER] - 1
            print(f"{protocol + ', ' + sender:36s} {describe(error)} {took[0]:9.0f} {took[1]:9.0f}")


def main() -> None:
    """Print a table."""
    arguments = parser(__doc__)
    arguments.add_argument("what", choices=("sctp", "mobility", "datagrams"))
    arguments.add_argument("networks", nargs="?", type=int, default=500)
    arguments.add_argument("senders", nargs="*", metavar="sender", help="mobility: all unless named")
    given = arguments.parse_args()
    if given.what == "sctp":
        sctp(given.networks)
    elif given.what == "datagrams":
        datagrams(given.networks)
    else:
        mobility(given.networks, given.senders or SENDERS)
