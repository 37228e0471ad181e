"""Packets per second on one core of 16 TCP flows over a 10 Mbit/s dumbbell, compared with ns-2.

    python -m tests.campaigns shared
    python -m tests.campaigns shared flows

Prints the table of docs/results/speed-shared.md. With `flows`, prints the table of docs/results/scaling.md:
speed and memory of dumbbells whose rate grows with the number of flows. Without ns-2 (`apt-get install ns2`),
only netcarlo is measured.
"""

import functools
import math
import shutil
import time
from typing import Any

import numpy as np

from netcarlo.kernels import models
from netcarlo.kernels.base.rows import replications
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.networks.shared.outcomes import by_flow, by_link
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.campaigns import parser
from tests.campaigns.benchmarks.ns2 import PEAK, Ran, ran_ns2

FLOWS = 16
CROWDS = (16, 64, 256, 1024)
RATE_BPS = 10e6  # for 16 flows; rate and queue grow in proportion to the flows
DELAY_MS = 20.0
SINK_DELAY_MS = 1.0
QUEUE = 200  # packets
WINDOW = 64  # packets
PAYLOAD = 1000  # bytes
DURATION_S = 100.0
REPLICATIONS = 8
ROUNDS = 5
"""Number of rounds in which both are measured in turn. The best of each is reported, because other work on
the machine disturbs it least."""
NS2_AGENTS = {"reno": "TCP/Reno", "newreno": "TCP/Newreno", "sack": "TCP/Sack1", "vegas": "TCP/Vegas"}


def source_delay_ms(flow: int) -> float:
    """Return the one-way delay between the source of a flow and the first router [ms]."""
    return 1.0 + flow % FLOWS


def scenario(protocol: str, *, flows: int = FLOWS, duration_s: float = DURATION_S) -> Scenario:
    """Return the dumbbell. As in ns-2, the queue limit includes the packet in transmission."""
    delays = [f"{source_delay_ms(i)} ms" for i in range(flows)]
    start = {"uniform": ["0 s", "0.1 s"]}
    return Scenario.check(
        {
            "duration": f"{duration_s} s",
            "sample_interval": "1 s",
            "transport": {"protocol": protocol, "window": WINDOW, "payload": f"{PAYLOAD} B", "start": start},
            "shared": {
                "dumbbell": {
                    "rate": f"{RATE_BPS * flows / FLOWS:.0f} bit/s",
                    "delay": f"{DELAY_MS} ms",
                    "queue": QUEUE * flows // FLOWS,
                },
                "access": {"rate": "1 Gbit/s", "sink_delay": f"{SINK_DELAY_MS} ms"},
                "flows": [{"count": 1, "each": {"access": {"source_delay": delay}}} for delay in delays],
            },
        }
    )


def kernel_rates(rows: SharedRows, model: Any, *, repeats: int = 3) -> tuple[float, float, float]:
    """Return data packets sent and packets on links per second of processor time, and the drop ratio.

    The rates are the best of some launches. The drop ratio is the share of packets that queues drop.
    """
    best = math.inf
    for _ in range(repeats):
        start = time.process_time()
        out = launch.run(model, rows, target="cpu", threads=1)
        best = min(best, time.process_time() - start)
    links = by_link(out, rows)
    sent = float(by_flow(out, rows)["sent"].sum())
    carried = float(links["transmissions"].sum())
    return sent / best, carried / best, float(links["drops"].sum() / links["arrivals"].sum())


def ns2(protocol: str, *, duration_s: float, flows: int = FLOWS) -> Ran:
    """Return the cost of the scenario in ns-2, and the data packets that its sources send.

    Flows with equal delays share a host in ns-2, which would need minutes to compute routes for a host per
    flow.
    """
    lines = [
        "set ns [new Simulator]", "remove-all-packet-headers", "add-packet-header IP TCP Flags",
        "set a [$ns node]", "set b [$ns node]",
        f"$ns duplex-link $a $b {RATE_BPS * flows / FLOWS:.0f} {DELAY_MS}ms DropTail",
        f"$ns queue-limit $a $b {QUEUE * flows // FLOWS}", "$ns queue-limit $b $a 100000",
    ]  # fmt: skip
    for i in range(FLOWS):
        lines += [
            f"set s{i} [$ns node]", f"set d{i} [$ns node]",
            f"$ns duplex-link $s{i} $a 1Gb {source_delay_ms(i)}ms DropTail",
            f"$ns duplex-link $b $d{i} 1Gb {SINK_DELAY_MS}ms DropTail",
            f"$ns queue-limit $s{i} $a 10000", f"$ns queue-limit $b $d{i} 10000",
        ]  # fmt: skip
    sink = "TCPSink/Sack1" if protocol == "sack" else "TCPSink"
    for i in range(flows):
        lines += [
            f"set t{i} [new Agent/{NS2_AGENTS[protocol]}]", f"set k{i} [new Agent/{sink}]",
            f"$t{i} set window_ {WINDOW}", f"$t{i} set packetSize_ {PAYLOAD}",
            f"$ns attach-agent $s{i % FLOWS} $t{i}", f"$ns attach-agent $d{i % FLOWS} $k{i}",
            f"$ns connect $t{i} $k{i}",
            f"set f{i} [new Application/FTP]", f"$f{i} attach-agent $t{i}",
            f'$ns at {0.1 * i / flows} "$f{i} start"',
        ]  # fmt: skip
    total = " + ".join(f"[$t{i} set ndatapack_]" for i in range(flows))
    lines += [f'$ns at {duration_s} {{ puts "result [expr {total}]"; {PEAK}; exit 0 }}', "$ns run"]
    return ran_ns2("\n".join(lines))


@functools.cache
def _ns2_start_s(protocol: str, flows: int) -> float:
    return min(ns2(protocol, duration_s=0.001, flows=flows).seconds for _ in range(max(1, 80 // flows)))


def ns2_rate(protocol: str, *, flows: int = FLOWS, duration_s: float = 3 * DURATION_S) -> tuple[float, float]:
    """Return data packets sent by ns-2 per second of processor time, without start-up, and memory [MiB]."""
    packets, seconds, memory = ns2(protocol, duration_s=duration_s, flows=flows)
    return packets / (seconds - _ns2_start_s(protocol, flows)), memory


def memory_mib(rows: SharedRows, model: Any) -> float:
    """Return the memory of a row in a launch: input, outcomes and scratch [MiB]."""
    words, floats = model.scratch(launch._with_rings(rows, launch._rings(model, rows)))
    row = sum(array[0].nbytes for array in replications(rows))
    return (8 * (words + floats + model.outcomes(rows)) + row) / 2**20


def by_flows(protocol: str = "newreno") -> None:
    """Print speed and memory of dumbbells by number of flows."""
    print("| flows | data packets [M/s] | a row [MiB] | ns-2: data packets [M/s] | process [MiB] | ratio |")
    print("|---|---|---|---|---|---|")
    model, with_ns2 = models.model(f"shared_{protocol}"), shutil.which("ns") is not None
    for flows in CROWDS:
        duration_s = min(max(12_800 / flows, 20.0), DURATION_S)
        rows = build(
            scenario(protocol, flows=flows, duration_s=duration_s), replications=max(1, 128 // flows)
        ).rows
        data = theirs = memory = math.nan
        for _ in range(ROUNDS):
            data = np.fmax(data, kernel_rates(rows, model)[0])
            if with_ns2:
                rate, memory = ns2_rate(protocol, flows=flows, duration_s=duration_s)
                theirs = np.fmax(theirs, rate)
        print(
            f"| {flows} | {data / 1e6:.1f} | {memory_mib(rows, model):.2f} "
            f"| {theirs / 1e6:.2f} | {memory:.0f} | {data / theirs:.0f} |",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    arguments = parser(__doc__)
    arguments.add_argument("what", nargs="?", choices=("flows",))
    if arguments.parse_args().what:
        return by_flows()
    with_ns2 = shutil.which("ns") is not None
    print(
        "| TCP | drops | data packets [M/s] | all packets on links [M/s] | ns-2: data packets [M/s] | ratio |"
    )
    print("|---|---|---|---|---|---|")
    for protocol in NS2_AGENTS:
        rows = build(scenario(protocol), replications=REPLICATIONS).rows
        data = carried = drops = 0.0
        theirs = math.nan
        for _ in range(ROUNDS):
            one, two, drops = kernel_rates(rows, models.model(f"shared_{protocol}"))
            data, carried = max(data, one), max(carried, two)
            if with_ns2:
                theirs = np.fmax(theirs, ns2_rate(protocol)[0])
        print(
            f"| {protocol} | {drops:.1%} | {data / 1e6:.1f} | {carried / 1e6:.1f} "
            f"| {theirs / 1e6:.2f} | {data / theirs:.0f} |",
            flush=True,
        )
