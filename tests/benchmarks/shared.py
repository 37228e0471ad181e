"""Packets per second on one core, 16 TCP flows over a 10 Mbit/s dumbbell, beside ns-2 in the same run.

    python -m tests.benchmarks.shared

prints the table of docs/performance.md.  ns-2 (`apt-get install ns2`) is left out where it is missing.
"""

import functools
import math
import shutil
import time
from typing import Any

from netcarlo.kernels import models
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.networks.shared.outcomes import by_flow, by_link
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.benchmarks.ns2 import run_ns2

FLOWS = 16
RATE_BPS = 10e6
DELAY_MS = 20.0
SINK_DELAY_MS = 1.0
QUEUE = 200  # packets
WINDOW = 64  # packets
PAYLOAD = 1000  # bytes
DURATION_S = 100.0
REPLICATIONS = 8
ROUNDS = 5
"""Both are measured in turns; the best of each counts, other work on the machine least."""
NS2_AGENTS = {"reno": "TCP/Reno", "newreno": "TCP/Newreno", "sack": "TCP/Sack1", "vegas": "TCP/Vegas"}


def source_delay_ms(flow: int) -> float:
    """The one-way delay between the source of a flow and the first router."""
    return 1.0 + flow


def scenario(protocol: str) -> Scenario:
    """The dumbbell; queue as ns-2 counts it, the packet in transmission included."""
    delays = [f"{source_delay_ms(i)} ms" for i in range(FLOWS)]
    start = {"uniform": ["0 s", "0.1 s"]}
    return Scenario.check(
        {
            "duration": f"{DURATION_S} s",
            "sample_interval": "1 s",
            "transport": {"protocol": protocol, "window": WINDOW, "payload": f"{PAYLOAD} B", "start": start},
            "shared": {
                "dumbbell": {"rate": "10 Mbit/s", "delay": f"{DELAY_MS} ms", "queue": QUEUE},
                "access": {"rate": "1 Gbit/s", "sink_delay": f"{SINK_DELAY_MS} ms"},
                "flows": [{"count": 1, "each": {"access": {"source_delay": delay}}} for delay in delays],
            },
        }
    )


def kernel_rates(rows: SharedRows, model: Any, *, repeats: int = 3) -> tuple[float, float, float]:
    """Data packets put out, and packets carried by the shared links, per second of processor time, the best
    of some repeats; and the packets lost by the queues, as a share."""
    best = math.inf
    for _ in range(repeats):
        start = time.process_time()
        out = launch.run(model, rows, target="cpu", threads=1)
        best = min(best, time.process_time() - start)
    links = by_link(out, rows)
    sent = float(by_flow(out, rows)["sent"].sum())
    carried = float(links["transmissions"].sum())
    return sent / best, carried / best, float(links["drops"].sum() / links["arrivals"].sum())


def ns2(protocol: str, *, duration_s: float) -> tuple[int, float]:
    """Data packets that ns-2's sources put out, and the seconds of processor time it takes."""
    lines = [
        "set ns [new Simulator]", "remove-all-packet-headers", "add-packet-header IP TCP Flags",
        "set a [$ns node]", "set b [$ns node]",
        f"$ns duplex-link $a $b {RATE_BPS:.0f} {DELAY_MS}ms DropTail",
        f"$ns queue-limit $a $b {QUEUE}", "$ns queue-limit $b $a 10000",
    ]  # fmt: skip
    for i in range(FLOWS):
        sink = "TCPSink/Sack1" if protocol == "sack" else "TCPSink"
        lines += [
            f"set s{i} [$ns node]", f"set d{i} [$ns node]",
            f"$ns duplex-link $s{i} $a 1Gb {source_delay_ms(i)}ms DropTail",
            f"$ns duplex-link $b $d{i} 1Gb {SINK_DELAY_MS}ms DropTail",
            f"$ns queue-limit $s{i} $a 10000", f"$ns queue-limit $b $d{i} 10000",
            f"set t{i} [new Agent/{NS2_AGENTS[protocol]}]", f"set k{i} [new Agent/{sink}]",
            f"$t{i} set window_ {WINDOW}", f"$t{i} set packetSize_ {PAYLOAD}",
            f"$ns attach-agent $s{i} $t{i}", f"$ns attach-agent $d{i} $k{i}", f"$ns connect $t{i} $k{i}",
            f"set f{i} [new Application/FTP]", f"$f{i} attach-agent $t{i}",
            f'$ns at {0.1 * i / FLOWS} "$f{i} start"',
        ]  # fmt: skip
    total = " + ".join(f"[$t{i} set ndatapack_]" for i in range(FLOWS))
    lines += [f'$ns at {duration_s} {{ puts "result [expr {total}]"; exit 0 }}', "$ns run"]
    return run_ns2("\n".join(lines))


@functools.cache
def _ns2_start_s(protocol: str) -> float:
    return min(ns2(protocol, duration_s=0.001)[1] for _ in range(5))


def ns2_rate(protocol: str) -> float:
    """Data packets that ns-2 puts out per second of processor time, without the time it takes to start."""
    packets, seconds = ns2(protocol, duration_s=3 * DURATION_S)
    return packets / (seconds - _ns2_start_s(protocol))


def main() -> None:
    """Print the table."""
    with_ns2 = shutil.which("ns") is not None
    print(
        "| TCP | drops | data packets [M/s] | all packets on links [M/s] | ns-2: data packets [M/s] | ratio |"
    )
    print("|---|---|---|---|---|---|")
    for protocol in NS2_AGENTS:
        rows = build(scenario(protocol), replications=REPLICATIONS).rows
        data = carried = theirs = drops = 0.0
        for _ in range(ROUNDS):
            one, two, drops = kernel_rates(rows, models.model(f"shared_{protocol}"))
            data, carried = max(data, one), max(carried, two)
            theirs = max(theirs, ns2_rate(protocol) if with_ns2 else math.nan)
        print(
            f"| {protocol} | {drops:.1%} | {data / 1e6:.1f} | {carried / 1e6:.1f} "
            f"| {theirs / 1e6:.2f} | {data / theirs:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
