"""Delays by class compared with packet traces of ns-2 (shared links, ad hoc chains) and ns-3 (802.11 cells).

    python -m tests.campaigns delays [SCENARIOS] [links] [cells] [chains]

Simulates random dumbbells and cells (20 of each by default) that datagrams and TCPs share, and chains with
one stream or transfer. ns-2 and ns-3 trace every packet at the hosts, in some runs with different start
times. Quantiles, mean, jitter and loss are compared by class.
"""

import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate
from tests.campaigns import parser
from tests.campaigns.verification import cells, chains
from tests.campaigns.verification.packets import MEASURES, Packets

DURATION_S, WARM_UP_S = 40.0, 5.0
RUNS = 4
"""Runs of ns-2."""
REPLICATIONS = 32
ACCESS_MS = 1.0
AGENTS = {"newreno": ("TCP/Newreno", "TCPSink"), "sack": ("TCP/Sack1", "TCPSink/Sack1")}


@dataclass(frozen=True)
class Case:
    """Dumbbell that datagrams and TCPs share."""

    mbps: float
    delay_ms: float
    queue: int
    videos: int
    video_kbps: int
    payload: int
    random: bool
    """True if gaps between datagrams vary by 50 %."""
    tcps: int
    tcp: str
    window: int


def cases(count: int, *, seed: int = 0) -> list[Case]:
    """Return random dumbbells: datagrams use 20 to 60 % of the rate beside downloads, 70 to 95 % alone."""
    found = []
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        mbps, videos = round(float(rng.uniform(2, 20)), 1), int(rng.integers(1, 7))
        tcps = int(rng.integers(0, 5))
        share = rng.uniform(0.2, 0.6) if tcps else rng.uniform(0.7, 0.95)
        found.append(Case(
            mbps, round(float(rng.uniform(2, 40)), 1), int(rng.integers(10, 150)), videos,
            int(1000 * mbps * share / videos), int(rng.integers(200, 1400)),
            bool(rng.random() < 0.7 or not tcps), tcps, str(rng.choice(list(AGENTS))),
            int(rng.integers(16, 65)),
        ))  # fmt: skip
    return found


def scenario(case: Case) -> Scenario:
    """Return the case as a scenario of netcarlo."""
    udp = {
        "rate": f"{case.video_kbps} kbit/s", "payload": f"{case.payload} B", "header": "0 B",
        "jitter": "50 %" if case.random else "0 %",
    }  # fmt: skip
    flows: list[dict[str, Any]] = [{"count": case.videos, "each": {"class": "video", "udp": udp}}]
    if case.tcps:
        flows.append({"count": case.tcps, "each": {"class": "download"}})
    start = {"uniform": ["0 s", "1 s"]}
    return Scenario.check({
        "duration": f"{DURATION_S} s", "warm_up": f"{WARM_UP_S} s",
        "transport": {
            "protocol": case.tcp, "window": case.window, "payload": "1000 B", "header": "40 B",
            "start": start,
        },
        "shared": {
            "dumbbell": {
                "rate": f"{case.mbps} Mbit/s", "delay": f"{case.delay_ms} ms", "queue": case.queue,
                "reverse": {"queue": 10000},
            },
            "access": {
                "rate": "1 Gbit/s", "source_delay": f"{ACCESS_MS} ms", "sink_delay": f"{ACCESS_MS} ms",
            },
            "flows": flows,
        },
    })  # fmt: skip


def script(case: Case, seed: int) -> str:
    """Return the case as a script of ns-2, which writes `trace`.

    The class of a packet is its flow identifier divided by 100.
    """
    rng = np.random.default_rng(seed)
    agent, sink = AGENTS[case.tcp]
    lines = [
        f"ns-random {seed + 1}", "set ns [new Simulator]", "set f [open trace w]",
        "set a [$ns node]", "set b [$ns node]",
        f"$ns duplex-link $a $b {case.mbps}Mb {case.delay_ms}ms DropTail",
        f"$ns queue-limit $a $b {case.queue}", "$ns queue-limit $b $a 10000",
    ]  # fmt: skip
    for i in range(case.videos + case.tcps):
        lines += [
            f"set s{i} [$ns node]", f"set d{i} [$ns node]",
            f"$ns duplex-link $s{i} $a 1Gb {ACCESS_MS}ms DropTail",
            f"$ns duplex-link $b $d{i} 1Gb {ACCESS_MS}ms DropTail",
            f"$ns queue-limit $s{i} $a 10000", f"$ns queue-limit $b $d{i} 10000",
            f"$ns trace-queue $s{i} $a $f", f"$ns trace-queue $b $d{i} $f",
        ]  # fmt: skip
        if i < case.videos:
            gap_s = 8e-3 * case.payload / case.video_kbps
            lines += [
                f"set t{i} [new Agent/UDP]", f"set k{i} [new Agent/Null]", f"$t{i} set packetSize_ 2000",
                f"set g{i} [new Application/Traffic/CBR]", f"$g{i} set packetSize_ {case.payload}",
                f"$g{i} set rate_ {case.video_kbps}kb", f"$g{i} set random_ {int(case.random)}",
            ]  # fmt: skip
            start, fid = rng.uniform(0, gap_s), 100 + i
        else:
            lines += [
                f"set t{i} [new Agent/{agent}]", f"set k{i} [new Agent/{sink}]",
                f"$t{i} set window_ {case.window}", f"$t{i} set packetSize_ 1000",
                f"set g{i} [new Application/FTP]",
            ]  # fmt: skip
            start, fid = rng.uniform(0, 1), 200 + i
        lines += [
            f"$t{i} set fid_ {fid}", f"$ns attach-agent $s{i} $t{i}", f"$ns attach-agent $d{i} $k{i}",
            f"$ns connect $t{i} $k{i}", f"$g{i} attach-agent $t{i}", f'$ns at {start:.9f} "$g{i} start"',
        ]  # fmt: skip
    return "\n".join([*lines, f'$ns at {DURATION_S} "close $f; exit 0"', "$ns run"])


def of_ns2(case: Case) -> dict[str, dict[str, float]]:
    """Return each measure of each class by ns-2, over all runs."""
    packets = Packets(since=WARM_UP_S, lost_since=WARM_UP_S)
    for seed in range(RUNS):
        packets.begin_run()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "run.tcl").write_text(script(case, seed))
            subprocess.run(["ns", "run.tcl"], cwd=folder, check=True, capture_output=True)
            for line in (Path(folder) / "trace").read_text().splitlines():
                event, at, _, to, kind, _, _, fid, _, _, number, uid = line.split()
                word = "video" if fid.startswith("1") else "download"
                if kind == "ack" or (kind == "tcp" and number == "0"):  # a SYN
                    continue
                data = number if kind == "tcp" else uid
                if event == "+" and to == "0":
                    packets.put_out(word, fid, data, float(at))
                elif event == "r" and to not in "01":
                    packets.arrived(word, fid, data, float(at))
    return packets.measures()


KINDS: dict[str, tuple[Callable[..., Sequence[Any]], Callable[[Any], Any], Callable[[Any], Scenario]]] = {
    "links": (cases, of_ns2, scenario),
    "cells": (cells.cases, cells.of_ns3, cells.scenario),
    "chains": (chains.cases, chains.of_ns2, chains.scenario),
}
"""Functions that draw scenarios, run one in the other simulator, and return it as a scenario of netcarlo."""


def errors(kind: str, case: Any) -> dict[tuple[str, str], float]:
    """Return relative errors by class and measure; for loss, the difference.

    Quantiles are means over replications."""
    _, of_others, here = KINDS[kind]
    theirs, frame = of_others(case), simulate(here(case), replications=REPLICATIONS, target="cpu").frame
    found = {}
    for word, values in theirs.items():
        for name, value in values.items():
            ours = float(frame[f"{word}_{name}"].mean())
            found[word, name] = ours - value if name == "loss_ratio" else ours / value - 1
    return found


CLOSE = {"links": (1, 2), "chains": (1,)}
"""Numbers of the scenarios in which all measures agree; in others some measures differ."""
MOST = 0.02
"""Largest relative error of a measure in these scenarios."""
MOST_JITTER = 0.05
"""Largest relative error of the jitter in these scenarios."""


def far(found: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Return the errors beyond the limits of scenarios that agree."""
    return {
        (word, name): error
        for (word, name), error in found.items()
        if abs(error) >= (MOST_JITTER if name == "jitter_s" else MOST)
    }


def main() -> int:
    """Print a line for each scenario, and medians. Return 1 if a scenario of `CLOSE` does not agree."""
    arguments = parser(__doc__)
    arguments.add_argument("words", nargs="*", metavar="SCENARIOS | KIND", help=", ".join(KINDS))
    words = arguments.parse_args().words
    if wrong := [word for word in words if not word.isdecimal() and word not in KINDS]:
        arguments.error(f"{wrong[0]!r} is neither a number of scenarios nor one of {', '.join(KINDS)}")
    count = next((int(word) for word in words if word.isdecimal()), 20)
    both: list[float] = []
    status = 0
    for kind in [word for word in words if word in KINDS] or list(KINDS):
        every: dict[tuple[str, str], list[float]] = defaultdict(list)
        for number, case in enumerate(KINDS[kind][0](count)):
            found = errors(kind, case)
            print(case, flush=True)
            for word in dict.fromkeys(word for word, _ in found):
                line = ", ".join(f"{name} {found[word, name]:+.1%}" for name in MEASURES)
                print(f"  {word}: {line}", flush=True)
            if number in CLOSE.get(kind, ()) and (beyond := far(found)):
                print(f"  beyond {100 * MOST:.0f} % (jitter {100 * MOST_JITTER:.0f} %): {beyond}", flush=True)
                status = 1
            for key, error in found.items():
                every[key].append(abs(error))
        print(f"\n| {kind} | measure | scenarios | median | ninth of ten | worst |")
        print("|---|---|---|---|---|---|")
        for (word, name), values in sorted(every.items(), reverse=True):
            middle, high = np.quantile(values, [0.5, 0.9])
            print(f"| {word} | {name} | {len(values)} | {middle:.1%} | {high:.1%} | {max(values):.1%} |")
            both += values if name == "delay_p95_s" else []
    print(f"\np95 of {len(both)} classes: {np.median(both):.1%} in the median")
    return status
