"""Completion times of flows that arrive and leave, compared with ns-2.

    python -m tests.campaigns arrivals [RUNS]

Dumbbells with short transfers alone or beside downloads.  ns-2 gets the arrival times and sizes that netcarlo
draws, in each of RUNS runs (10 by default), and both report completion times.
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netcarlo import Scenario, simulate, trace
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from tests.campaigns import parser

DURATION_S, WARM_UP_S = 100.0, 10.0
SLOTS = 64
ACCESS_MS = 1.0
AGENTS = {"newreno": ("TCP/Newreno", "TCPSink"), "sack": ("TCP/Sack1", "TCPSink/Sack1")}
ACK = 40


@dataclass(frozen=True)
class Case:
    """Dumbbell with flows that arrive; their sizes are lognormal with a median in kB."""

    tcp: str
    mbps: float
    delay_ms: float
    queue: int
    per_s: float
    median_kb: float
    sigma: float
    bulk: int = 0


CASES = [
    Case("newreno", 10, 20, 100, 10, 12, 1.6, 1), Case("newreno", 10, 20, 50, 10, 12, 1.6),
    Case("sack", 10, 5, 30, 20, 12, 1.2, 1), Case("newreno", 5, 50, 40, 5, 12, 1.6),
    Case("sack", 5, 50, 40, 5, 20, 1.4, 2), Case("newreno", 50, 20, 200, 40, 20, 1.6),
    Case("sack", 50, 20, 200, 40, 12, 1.8, 2), Case("newreno", 2, 100, 25, 2, 12, 1.4),
    Case("newreno", 20, 10, 60, 30, 12, 1.6, 1), Case("sack", 20, 40, 150, 20, 20, 1.6, 1),
]  # fmt: skip


def flows(case: Case, **bulk: Any) -> list[dict[str, Any]]:
    """Return the downloads, with further fields `bulk`, and the flows that arrive and leave."""
    size = {"lognormal": {"median": f"{case.median_kb} kB", "sigma": case.sigma, "max": "20 MB"}}
    web = {"count": SLOTS, "arrivals": {"poisson": f"{case.per_s} /s"}, "size": size}
    return [*(bulk for _ in range(case.bulk)), web]


def scenario(case: Case, of: list[dict[str, Any]]) -> Scenario:
    """Return the case as a scenario of netcarlo with such flows."""
    return Scenario.check({
        "duration": f"{DURATION_S} s", "warm_up": f"{WARM_UP_S} s",
        "transport": {"protocol": case.tcp, "window": 64, "payload": "1000 B", "header": "40 B"},
        "shared": {
            "dumbbell": {
                "rate": f"{case.mbps} Mbit/s", "delay": f"{case.delay_ms} ms", "queue": case.queue,
                "reverse": {"queue": 10000},
            },
            "access": {
                "rate": "1 Gbit/s", "source_delay": f"{ACCESS_MS} ms", "sink_delay": f"{ACCESS_MS} ms",
            },
            "flows": of,
        },
    })  # fmt: skip


def arrivals(case: Case, replication: int) -> pd.DataFrame:
    """Return `time_s`, `flow` (slot) and `bytes` of every arrival; they do not depend on the downloads."""
    frame = trace(scenario(case, flows(case, packets=1)), replication=replication, large=True).frame
    return frame.loc[frame.event == "begin", ["time_s", "flow", "bytes"]]


def script(case: Case, came: pd.DataFrame) -> str:
    """Return the case as a script of ns-2 that prints the arrival of each flow and of its last ACK."""
    agent, sink = AGENTS[case.tcp]
    lines = [
        "set ns [new Simulator]", "set a [$ns node]", "set b [$ns node]",
        f"$ns duplex-link $a $b {case.mbps}Mb {case.delay_ms}ms DropTail",
        f"$ns queue-limit $a $b {case.queue}", "$ns queue-limit $b $a 10000",
        "Agent/TCP instproc done {} {",
        "    global ns came", '    if {[info exists came($self)]} {puts "$came($self) [$ns now]"}', "}",
        "proc flow {i packets} {",
        "    global ns came s d",
        f"    set t [new Agent/{agent}]", f"    set k [new Agent/{sink}]",
        "    $t set window_ 64", "    $t set packetSize_ 1000", "    $t reset",  # ssthresh_ follows window_
        "    $ns attach-agent $s($i) $t", "    $ns attach-agent $d($i) $k", "    $ns connect $t $k",
        "    set g [new Application/FTP]", "    $g attach-agent $t",
        "    if {$packets > 0} {set came($t) [$ns now]; $g produce $packets} else {$g start}",
        "}",
        f"for {{set i 0}} {{$i < {case.bulk + SLOTS}}} {{incr i}} {{",
        "    set s($i) [$ns node]", "    set d($i) [$ns node]",
        f"    $ns duplex-link $s($i) $a 1Gb {ACCESS_MS}ms DropTail",
        f"    $ns duplex-link $b $d($i) 1Gb {ACCESS_MS}ms DropTail",
        "    $ns queue-limit $s($i) $a 10000", "    $ns queue-limit $b $d($i) 10000",
        "}",
        *(f'$ns at 0 "flow {i} 0"' for i in range(case.bulk)),
    ]  # fmt: skip
    for time, slot, size in came.itertuples(index=False):
        lines.append(f'$ns at {time:.9f} "flow {slot} {-(-size // 1000)}"')
    return "\n".join([*lines, f'$ns at {DURATION_S} "exit 0"', "$ns run"])


def completions(case: Case, came: pd.DataFrame, folder: Path) -> tuple[Floats, Floats]:
    """Return start and duration [s], without the last ACK, of each flow that ended in ns-2."""
    (folder / "run.tcl").write_text(script(case, came))
    ran = subprocess.run(["ns", "run.tcl"], cwd=folder, check=True, capture_output=True, text=True)
    began, ended = np.array([line.split() for line in ran.stdout.splitlines()], float).T
    back = 1e-3 * (2 * ACCESS_MS + case.delay_ms) + 8 * ACK * (1e-6 / case.mbps + 2e-9)
    return began, ended - began - back


def of_ns2(case: Case, replication: int) -> tuple[float, float]:
    """Return mean and p95 of the completion times in ns-2 [s]."""
    with tempfile.TemporaryDirectory() as folder:
        began, times = completions(case, arrivals(case, replication), Path(folder))
    measured = times[began >= WARM_UP_S]
    return float(measured.mean()), float(np.quantile(measured, 0.95))


def main() -> None:
    """Print a row for each network."""
    arguments = parser(__doc__)
    arguments.add_argument("runs", nargs="?", type=int, default=10)
    runs = arguments.parse_args().runs
    print("| network | mean completion time | its p95 |\n|---|---|---|")
    every = []
    for case in CASES:
        frame = simulate(scenario(case, flows(case)), replications=runs, target="cpu").frame
        assert (frame.blocked_share == 0).all()
        ours = frame[["completion_mean_s", "completion_p95_s"]].to_numpy()
        theirs = np.array([of_ns2(case, replication) for replication in range(runs)])
        apart = 100 * (ours - theirs) / theirs.mean(axis=0)
        every.append(apart.mean(axis=0))
        found = [statistics.mean(column) for column in apart.T]
        cells = [f"{each.mean:+.1f} ± {each.half_width:.1f} %" for each in found]
        words = f"{case.tcp}, {case.mbps:g} Mbit/s, {case.delay_ms:g} ms, queue {case.queue}"
        beside = f", {case.bulk} bulk" if case.bulk else ""
        print(f"| {words}, {case.per_s:g} /s{beside} | {' | '.join(cells)} |", flush=True)
    print("median of the size:", np.median(np.abs(every), axis=0).round(1))
