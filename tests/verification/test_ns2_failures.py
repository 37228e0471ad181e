"""Failing cables compared with ns-2 (`rtmodel-at`): static routes, and routes that change immediately
(`Session`)."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate

pytestmark = pytest.mark.full

SCRIPT = """
lassign $argv agent rate delay queue window down up session start
set ns [new Simulator]
if {$session} {$ns rtproto Session}
foreach i {0 1 2 3 4} {set n($i) [$ns node]}
foreach {a b} {0 1 0 2 2 1} {
    $ns duplex-link $n($a) $n($b) ${rate}Mb ${delay}ms DropTail
    $ns queue-limit $n($a) $n($b) $queue
    $ns queue-limit $n($b) $n($a) $queue
}
foreach {a b} {3 0 1 4} {
    $ns duplex-link $n($a) $n($b) 1Gb 1ms DropTail
    $ns queue-limit $n($a) $n($b) 10000
    $ns queue-limit $n($b) $n($a) 10000
}
if {$agent == "UDP"} {
    set source [new Agent/UDP]
    set sink [new Agent/LossMonitor]
    set application [new Application/Traffic/CBR]
    $source set packetSize_ 2000
    $application set packetSize_ 1000
    $application set rate_ 2Mb
} else {
    set source [new Agent/$agent]
    set sink [new Agent/TCPSink]
    set application [new Application/FTP]
    $source set packetSize_ 960
    $source set window_ $window
}
$ns attach-agent $n(3) $source
$ns attach-agent $n(4) $sink
$ns connect $source $sink
$application attach-agent $source
$ns at $start "$application start"
$ns rtmodel-at $down down $n(0) $n(1)
$ns rtmodel-at $up up $n(0) $n(1)
proc finish {} {
    global agent source sink
    if {$agent == "UDP"} {puts [$sink set npkts_]} else {puts [$source set ack_]}
    exit 0
}
$ns at 30 finish
$ns run
"""
CASES = [
    (agent, rate, delay, queue, window, down, up, session)
    for agent in ("UDP", "TCP/Newreno")
    for rate, delay, queue, window, down, up in (
        (5, 10, 50, 40, 10.0, 14.0), (3, 30, 20, 30, 8.0, 8.7), (10, 5, 100, 20, 5.0, 20.0)
    )
    for session in (0, 1)
]  # fmt: skip


def of_ns2(folder: Path, *case: Any) -> float:
    """Return the mean of packets delivered, over starts within a tenth of a second."""
    script = folder / "fails.tcl"
    script.write_text(SCRIPT)
    counts = []
    for start in (0.01, 0.03, 0.05, 0.07, 0.09):
        arguments = [str(value) for value in (*case, start)]
        run = subprocess.run(["ns", str(script), *arguments], capture_output=True, text=True, check=True)
        counts.append(float(run.stdout.split()[-1]))
    return float(np.mean(counts))


def of_netcarlo(
    agent: str, rate: int, delay: int, queue: int, window: int, down: float, up: float, session: int
) -> float:  # fmt: skip
    line = {"rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": queue}
    ends = ((0, 1), (1, 0), (0, 2), (2, 0), (2, 1), (1, 2))
    flow: dict[str, Any] = {"route": 0, "start": {"uniform": ["0 s", "100 ms"]}}
    if agent == "UDP":
        udp = {"rate": "2 Mbit/s", "payload": "1000 B", "header": "0 B", "start": "50 ms"}
        flow = {"route": 0, "udp": udp}
    if session:
        flow |= {"backup": "2 4", "detection": "0 s"}
    scenario = Scenario.check({
        "duration": "30 s",
        "transport": {"protocol": "newreno", "payload": "960 B", "window": window},
        "shared": {
            "links": [{"ends": list(pair), **line} for pair in ends],
            "access": {"rate": "1 Gbit/s", "source_delay": "1 ms", "sink_delay": "1 ms"},
            "failures": [{"cables": 0, "outages": [{"start": f"{down} s", "duration": f"{up - down} s"}]}],
            "flows": [flow],
        },
    })  # fmt: skip
    found = simulate(scenario, replications=50).frame
    return float(np.mean(found["received" if agent == "UDP" else "acked"]))


@pytest.mark.needs("ns")
@pytest.mark.parametrize("case", CASES)
def test_delivers_as_many_as_ns2(case: Any, tmp_path: Path) -> None:
    theirs, ours = of_ns2(tmp_path, *case), of_netcarlo(*case)
    assert ours == pytest.approx(theirs, rel=0.01), f"{ours:.0f} and {theirs:.0f}"
