"""Simulated seconds per second of processor time of the 802.11 engine, compared with ns-3.

    python -m tests.campaigns wifi

Prints the tables of docs/results/speed-wifi.md, all on one core.  Without ns-3
(`apt-get install libns3-dev libgsl-dev g++`), only netcarlo is measured.
"""

import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from netcarlo.kernels.runtime import launch
from netcarlo.kernels.wireless.layout import WifiOut
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import model_of
from netcarlo.simulation.outcomes import outcomes
from tests.campaigns import parser
from tests.campaigns.benchmarks import ns3

ROUNDS = 5


class Speed(NamedTuple):
    """Speed of a simulation, and its throughput."""

    simulated_s: float  # per second of processor time
    frames: float  # on the air, per second of processor time
    throughput_mbps: float


def chain(*, hops: int, protocol: str = "udp", duration_s: float, **wireless: Any) -> Scenario:
    """Return an 802.11g chain at 54 Mbit/s whose nodes are all in range of each other."""
    transport: dict[str, Any] = {"protocol": protocol, "payload": "1470 B"}
    if protocol == "udp":
        transport |= {"rate": "10 Mbit/s"}
    else:
        transport |= {"window": 45, "header": "52 B", "ack": "52 B"}
    return Scenario.check({
        "name": "chain", "duration": f"{duration_s + 1} s", "warm_up": "1 s", "replications": 1,
        "transport": transport,
        "wireless": {"standard": "802.11g", "chain": {"hops": hops}, "rate": "54 Mbit/s", **wireless},
    })  # fmt: skip


def cell(*, stations: int, duration_s: float) -> Scenario:
    """Return a saturated cell at 54 Mbit/s."""
    return Scenario.check({
        "name": "cell", "duration": f"{duration_s + 1} s", "warm_up": "1 s", "replications": 1,
        "transport": {"protocol": "udp", "payload": "1470 B", "rate": "30 Mbit/s"},
        "wireless": {"standard": "802.11g", "cell": {"stations": stations}, "rate": "54 Mbit/s"},
    })  # fmt: skip


def measure(scenario: Scenario, *, rounds: int = ROUNDS) -> Speed:
    """Return the best of some runs on one core, without compilation."""
    ensemble = build(scenario)
    model = model_of(scenario)
    out = launch.run(model, ensemble.rows, threads=1)
    best = min(seconds(model, ensemble.rows) for _ in range(rounds))
    goodput = float(outcomes(scenario.network, out, *ensemble).frame["goodput_bps"].mean())
    return Speed(float(scenario.duration) / best, out[0, WifiOut.EVENTS] / best, goodput / 1e6)  # type: ignore[arg-type]


def seconds(model: Any, rows: Any) -> float:
    """Return the processor time of a launch on one core [s]."""
    start = time.process_time()
    launch.run(model, rows, threads=1)
    return time.process_time() - start


def main() -> None:
    """Print the tables."""
    parser(__doc__).parse_args()
    print("| network | simulated s per s | M frames/s | Mbit/s |\n|---|---|---|---|")
    networks = {
        "cell, 1 station": cell(stations=1, duration_s=30),
        "cell, 10 stations": cell(stations=10, duration_s=30),
        "cell, 50 stations": cell(stations=50, duration_s=10),
        "chain, 1 hop": chain(hops=1, duration_s=30),
        "chain, 4 hops": chain(hops=4, duration_s=30),
        "chain, 4 hops, ARF": chain(hops=4, duration_s=30, rate_control="arf"),
        "chain, 4 hops, TCP SACK": chain(hops=4, protocol="sack", duration_s=30),
        "chain, 16 hops": chain(hops=16, duration_s=10),
    }
    for name, scenario in networks.items():
        speed = measure(scenario)
        print(
            f"| {name} | {speed.simulated_s:.0f} | {speed.frames / 1e6:.2f} | {speed.throughput_mbps:.2f} |",
            flush=True,
        )
    if not ns3.available():
        print(f"\nns-3 is missing: apt-get install {ns3.PACKAGES}")
        return
    print("\n| UDP chain | netcarlo [s per s] | ns-3 [s per s] | ratio | netcarlo [Mbit/s] | ns-3 [Mbit/s] |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        program = ns3.compiled(Path(ns3.__file__).with_name("ns3_chain.cc"), Path(folder))
        for hops in (1, 2, 4):
            throughput, seconds = ns3.run_chain(program, hops=hops, offered=10, duration=9, warm=1)
            own = measure(chain(hops=hops, duration_s=99))
            theirs = 10 / seconds
            print(
                f"| {hops} hops, 10 Mbit/s | {own.simulated_s:.0f} | {theirs:.2f} | "
                f"{own.simulated_s / theirs:.0f} | {own.throughput_mbps:.2f} | {throughput:.2f} |",
                flush=True,
            )
