"""Delays by class over shared links beside packet traces of ns-2.

    python -m tests.verification.delays [SCENARIOS]

Random dumbbells (20 unless said) that datagrams and TCPs share.  ns-2 traces every packet at the hosts, in
some runs that differ in when flows start; both are asked for quantiles, mean, jitter and loss by class.
"""

import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate

DURATION_S, WARM_UP_S = 40.0, 5.0
RUNS = 4
"""Of ns-2."""
REPLICATIONS = 32
ACCESS_MS = 1.0
AGENTS = {"newreno": ("TCP/Newreno", "TCPSink"), "sack": ("TCP/Sack1", "TCPSink/Sack1")}
MEASURES = ("delay_p50_s", "delay_p95_s", "delay_p99_s", "mean_delay_s", "jitter_s", "loss_ratio")


@dataclass(frozen=True)
class Case:
    """A dumbbell."""

    mbps: float
    delay_ms: float
    queue: int
    videos: int
    video_kbps: int
    payload: int
    random: bool
    """Whether gaps between datagrams vary by half of themselves."""
    tcps: int
    tcp: str
    window: int


def cases(count: int, *, seed: int = 0) -> list[Case]:
    """Random ones: beside downloads 20 to 60 % of the rate is that of datagrams, alone 70 to 95 %."""
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
    """The same as netcarlo has it."""
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
    """The same for ns-2, which writes `trace`; the class of a packet is its flow identifier over 100."""
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
    """Each measure of each class, of all runs together."""
    delays, jitters = defaultdict(list), defaultdict(list)
    sent, came = defaultdict(int), defaultdict(int)
    for seed in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "run.tcl").write_text(script(case, seed))
            subprocess.run(["ns", "run.tcl"], cwd=folder, check=True, capture_output=True)
            first: dict[tuple[str, str], float] = {}  # when data was first put out, by flow and number
            out, at_sink = set(), set()
            latest: dict[str, float] = {}
            jitter: dict[str, float] = defaultdict(float)
            for line in (Path(folder) / "trace").read_text().splitlines():
                event, at, _, to, kind, _, _, fid, _, _, number, uid = line.split()
                word = "video" if fid.startswith("1") else "download"
                if kind == "ack" or (kind == "tcp" and number == "0"):  # a SYN
                    continue
                t, data = float(at), (fid, number if kind == "tcp" else uid)
                if event == "+" and to == "0":
                    out.add((word, uid))
                    first.setdefault(data, t)
                elif event == "r" and to not in "01":
                    at_sink.add((word, uid))
                    if (begin := first.pop(data, -1.0)) < 0:
                        continue  # it came before
                    first[data] = -1.0
                    delay = t - begin
                    jitter[fid] += (abs(delay - latest.get(fid, delay)) - jitter[fid]) / 16
                    latest[fid] = delay
                    if t >= WARM_UP_S:
                        delays[word].append(delay)
                        jitters[word].append(jitter[fid])
            for word in "video", "download":
                sent[word] += sum(each == word for each, _ in out)
                came[word] += sum(each == word for each, _ in at_sink)
    found = {}
    for word, values in delays.items():
        p50, p95, p99 = np.quantile(values, [0.5, 0.95, 0.99])
        numbers = (p50, p95, p99, np.mean(values), np.mean(jitters[word]), 1 - came[word] / sent[word])
        found[word] = dict(zip(MEASURES, map(float, numbers), strict=True))
    return found


def of_netcarlo(case: Case) -> dict[str, dict[str, float]]:
    """The same; of quantiles the mean over the replications."""
    frame = simulate(scenario(case), replications=REPLICATIONS, target="cpu").frame
    words = ["video", *(["download"] if case.tcps else [])]
    return {word: {name: float(frame[f"{word}_{name}"].mean()) for name in MEASURES} for word in words}


def errors(case: Case) -> dict[tuple[str, str], float]:
    """Relative errors by class and measure; of loss the difference."""
    theirs, ours = of_ns2(case), of_netcarlo(case)
    return {
        (word, name): ours[word][name] - value if name == "loss_ratio" else ours[word][name] / value - 1
        for word, values in theirs.items()
        for name, value in values.items()
    }


def main() -> None:
    """Print a line for each scenario, and medians."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    every: dict[tuple[str, str], list[float]] = defaultdict(list)
    for case in cases(count):
        found = errors(case)
        print(case, flush=True)
        for word in dict.fromkeys(word for word, _ in found):
            print(
                f"  {word}: " + ", ".join(f"{name} {found[word, name]:+.1%}" for name in MEASURES), flush=True
            )
        for key, error in found.items():
            every[key].append(abs(error))
    print("\n| class | measure | scenarios | median | ninth of ten | worst |\n|---|---|---|---|---|---|")
    for (word, name), values in sorted(every.items(), reverse=True):
        middle, high = np.quantile(values, [0.5, 0.9])
        print(f"| {word} | {name} | {len(values)} | {middle:.1%} | {high:.1%} | {max(values):.1%} |")


if __name__ == "__main__":
    main()
