"""The fluid of ad hoc networks compared with packets, on networks drawn at random.

    python -m tests.campaigns fluid_adhoc error [networks]
    python -m tests.campaigns fluid_adhoc groups [networks]
    python -m tests.campaigns fluid_adhoc speed [networks]

Prints the tables of docs/results/fluid-adhoc.md: the error of the goodput by transport and by properties of
the networks, and the time of a number of networks.
"""

import time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.runtime.threads import cores
from netcarlo.kernels.senders import WITH_FLUID
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import outcomes
from tests.campaigns import parser
from tests.campaigns.benchmarks.fluid import CONTROLS, HEADING, describe

KINDS = (*WITH_FLUID, "sctp")
"""Senders with a fluid of ad hoc networks."""
LEAST = 2_000
"""Goodput by packets [bit/s] below which no relative error is computed."""

WALK = {
    "model": "random_waypoint", "speed": {"log_uniform": ["1 m/s", "20 m/s"]},
    "pause": {"min": "0 s", "max": "20 s"},
}  # fmt: skip
NETWORK = {
    "nodes": {"integers": [5, 20]},
    "area": {"side": {"uniform": ["200 m", "600 m"]}},
    "range": {"uniform": ["100 m", "250 m"]},
    "frame_error": {"uniform": ["0 %", "8 %"]},
    "residual_error": {"choice": [0, 0, "1 %", "5 %"]},
}
ASSOCIATION = {
    "protocol": "sctp", "payload": "1000 B", "receiver_window": {"uniform": ["4064 B", "33527 B"]}
}  # fmt: skip
"""SCTP with a receive window of 4 to 32 packets, like that of TCP."""
DATAGRAMS = {"protocol": "udp", "payload": "1000 B", "rate": {"log_uniform": ["50 kbit/s", "2 Mbit/s"]}}


def drawn(kind: str, *, moves: bool) -> Scenario:
    """Return 60 s of one flow in a network of 5 to 20 nodes in a square of 200 to 600 m."""
    transport: dict[str, Any] = {"payload": "1000 B", "window": {"integers": [4, 32]}, "protocol": kind}
    if kind in CONTROLS:
        transport |= {"protocol": "sack", "congestion_control": kind}
    network = NETWORK | {"mobility": WALK if moves else {"model": "static"}}
    transport = {"udp": DATAGRAMS, "sctp": ASSOCIATION}.get(kind, transport)
    return Scenario.check({"duration": "60 s", "transport": transport, "adhoc": network})


def both(scenario: Scenario, networks: int) -> tuple[pd.DataFrame, pd.DataFrame, list[float]]:
    """Return the outcomes of the fluid and of packets, and the processor time of each [us per network]."""
    ensemble = build(scenario, replications=networks)
    frames, took = [], []
    for fluid in (True, False):
        model = models.at(scenario.network.address(scenario, fluid=fluid))
        compilers.cpu_loop(model)
        start = time.process_time()
        integers = launch.run(model, ensemble.rows)
        took.append((time.process_time() - start) / networks * 1e6)
        frames.append(outcomes(scenario.network, integers, *ensemble).frame)
    return frames[0], frames[1], took


def error(scenario: Scenario, networks: int) -> tuple[NDArray[np.float64], pd.DataFrame, list[float]]:
    """Return errors of the goodput, the outcomes of packets on these networks, and the processor times."""
    fluid, packets, took = both(scenario, networks)
    some = packets["goodput_bps"] > LEAST
    off = (fluid["goodput_bps"] / packets["goodput_bps"].where(some) - 1)[some]
    return off.to_numpy(np.float64), packets[some], took


def errors(networks: int) -> None:
    """Print the errors of each transport with moving and with static nodes."""
    print(f"error of the goodput [%]             {HEADING}   us a network, packets")
    for moves in (True, False):
        for kind in KINDS:
            off, _, took = error(drawn(kind, moves=moves), networks)
            what = f"{kind}, {'walking' if moves else 'static'}"
            print(f"{what:36s} {describe(off)} {took[0]:9.0f} {took[1]:9.0f}", flush=True)


GROUPS = {
    "1 hop": lambda frame: frame["mean_shortest_hops"] < 1.05,
    "1 to 1.5 hops": lambda frame: frame["mean_shortest_hops"].between(1.05, 1.5),
    "1.5 to 2.5 hops": lambda frame: frame["mean_shortest_hops"].between(1.5, 2.5),
    "2.5 hops and more": lambda frame: frame["mean_shortest_hops"] > 2.5,
    "always connected": lambda frame: frame["connected_share"] > 0.999,
    "connected for less than 90 %": lambda frame: frame["connected_share"] < 0.9,
    "more than 0.1 route breaks a second": lambda frame: frame["breaks_per_connected_s"] > 0.1,
}
"""Groups of networks, by outcomes of the packet model."""


def groups(networks: int) -> None:
    """Print the errors of NewReno and UDP by length of the routes, outages and link breaks."""
    print(f"error of the goodput [%]                      {HEADING}")
    for kind in ("newreno", "udp"):
        found = [error(drawn(kind, moves=moves), networks) for moves in (True, False)]
        off = np.concatenate([each[0] for each in found])
        frame = pd.concat([each[1] for each in found])
        for name, chosen in GROUPS.items():
            some = chosen(frame).to_numpy()
            print(f"{f'{kind}: {name} ({some.sum()})':45s} {describe(off[some])}", flush=True)


def speed(networks: int) -> None:
    """Print the wall time of rows, fluid and packets for a number of networks on all cores [s]."""
    for kind in ("newreno", "udp"):
        scenario = drawn(kind, moves=True)
        start = time.perf_counter()
        rows = build(scenario, replications=networks).rows
        took = [time.perf_counter() - start]
        for fluid in (True, False):
            model = models.at(scenario.network.address(scenario, fluid=fluid))
            compilers.cpu_loop(model)
            start = time.perf_counter()
            launch.run(model, rows)
            took.append(time.perf_counter() - start)
        what = f"{networks} networks of {kind} on {cores()} cores"
        print(f"{what}: rows {took[0]:.1f} s, fluid {took[1]:.1f} s, packets {took[2]:.1f} s", flush=True)


TABLES = {"error": (errors, 500), "groups": (groups, 500), "speed": (speed, 10_000)}
"""Function that prints each table, and its default number of networks."""


def main() -> None:
    """Print a table."""
    arguments = parser(__doc__)
    arguments.add_argument("what", choices=TABLES)
    arguments.add_argument("networks", nargs="?", type=int)
    given = arguments.parse_args()
    table, usual = TABLES[given.what]
    table(given.networks or usual)
