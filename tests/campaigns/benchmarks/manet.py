"""Speed of the ad hoc engine on one core, compared with ns-2 on the same scenarios.

    python -m tests.campaigns manet

Prints the tables of docs/results/speed-adhoc.md. The second table compares its model of the medium (one event
per frame exchange) with the engine that simulates each frame. Without ns-2 (`apt-get install ns2`), only
netcarlo is measured.
"""

import shutil
import time
from typing import Any, NamedTuple

from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import model_of
from netcarlo.simulation.outcomes import outcomes
from netcarlo.simulation.simulate import simulate
from tests.campaigns import parser
from tests.campaigns.benchmarks.ns2 import run_ns2

PACKETS = 5000  # of 1000 bytes
END_S = 1500
REPLICATIONS = 50
ROUNDS = 3
SEEDS = 4

SCRIPT = """
proc reach {{metres}} {{ return [expr 0.28183815 * pow(1.5, 4) / pow($metres, 4)] }}
Phy/WirelessPhy set RXThresh_ [reach {range}]
Phy/WirelessPhy set CSThresh_ [reach [expr 2.2 * {range}]]
Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set basicRate_ 1Mb
set ns [new Simulator]
ns-random {seed}
$ns trace-all [open /dev/null w]
set topo [new Topography]
$topo load_flatgrid 400 400
create-god 10
proc damage {{}} {{
  set model [new ErrorModel]
  $model unit pkt
  $model set rate_ {frame_error}
  $model ranvar [new RandomVariable/Uniform]
  return $model
}}
if {{{frame_error} > 0}} {{ $ns node-config -IncomingErrProc damage }}
$ns node-config -adhocRouting DSR -llType LL -macType Mac/802_11 -ifqType CMUPriQueue -ifqLen 50 \\
  -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \\
  -channel [new Channel/WirelessChannel] -topoInstance $topo \\
  -energyModel EnergyModel -initialEnergy 100000 -txPower 1.327 -rxPower 0.967 -idlePower 0.843 \\
  -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
set places [new RNG]
$places seed [expr 7 * {seed} + 1]
for {{set i 0}} {{$i < 10}} {{incr i}} {{
  set node($i) [$ns node]
  $node($i) random-motion 0
  set x [$places uniform 0.1 399.9]
  set y [$places uniform 0.1 399.9]
  $node($i) set X_ $x
  $node($i) set Y_ $y
  $node($i) set Z_ 0
  set t 0.0
  while {{$t < 400}} {{
    set to_x [$places uniform 0.1 399.9]
    set to_y [$places uniform 0.1 399.9]
    $ns at $t "$node($i) setdest $to_x $to_y {speed}"
    set t [expr $t + hypot($to_x - $x, $to_y - $y) / {speed}]
    set x $to_x
    set y $to_y
  }}
}}
set tcp [new Agent/TCP/Newreno]
$tcp set packetSize_ 1000
$tcp set window_ 20
set sink [new Agent/TCPSink]
$ns attach-agent $node(0) $tcp
$ns attach-agent $node(1) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 5.0 "$ftp produce {packets}"
proc watch {{}} {{
  global ns tcp
  if {{[$tcp set ack_] >= {packets} || [$ns now] > 400}} {{
    puts "result [expr round(([$ns now] - 5.0) * 1000)]"
    flush stdout
    exit 0
  }}
  $ns at [expr [$ns now] + 0.01] watch
}}
$ns at 5.0 watch
$ns run
"""


class Speed(NamedTuple):
    """Processor time of a run [s], its mean throughput, and frames sent per second of processor time."""

    seconds: float
    throughput_kbps: float
    frames: float


def network(*, range_m: float, speed_mps: float, frame_error: float, nodes: int = 10) -> Scenario:
    """Return a transfer of 5 MB between two of `nodes` nodes that move in a square of 400 m."""
    return Scenario.check({
        "name": "network", "duration": f"{END_S} s", "replications": REPLICATIONS,
        "transport": {
            "protocol": "newreno", "packets": PACKETS, "payload": "1000 B", "window": 20, "start": "5 s",
        },
        "adhoc": {
            "nodes": nodes, "area": {"side": "400 m"}, "range": f"{range_m} m", "frame_error": frame_error,
            "mobility": {"model": "random_waypoint", "speed": f"{speed_mps} m/s"},
        },
    })  # fmt: skip


def chain(*, hops: int, frame_by_frame: bool) -> Scenario:
    """Return a transfer of 3 MB over a chain with a fixed route and a carrier sense range of two hops."""
    transport = {
        "protocol": "newreno", "packets": 3000, "payload": "1000 B", "window": 20, "start": "1 s",
    }  # fmt: skip
    data = {"name": "chain", "duration": "600 s", "replications": 12, "transport": transport}
    if frame_by_frame:
        radio = {
            "standard": "802.11b", "chain": {"hops": hops}, "rates": ["1 Mbit/s", "2 Mbit/s"],
            "rate": "2 Mbit/s", "answer_rate": "1 Mbit/s", "rts_threshold": "0 B", "mac_overhead": "54 B",
            "long_retry": 4, "reach": {"sense": 2, "decode": 1, "control": 1, "disturb": 1},
        }  # fmt: skip
        return Scenario.check({**data, "wireless": radio})
    order = [0, hops, *range(1, hops)]  # node 0 sends to node 1
    tracks = [[{"time": "0 s", "x": f"{225 * place} m", "y": "0 m"}] for place in order]
    adhoc = {
        "nodes": hops + 1, "area": {"width": "2 km", "height": "100 m"}, "range": "250 m",
        "routing": "ideal", "mobility": {"model": "given", "nodes": tracks},
    }  # fmt: skip
    return Scenario.check({**data, "adhoc": adhoc})


def measure(scenario: Scenario) -> Speed:
    """Return the best of some runs on one core, without compilation."""
    ensemble, model = build(scenario), model_of(scenario)
    out = launch.run(model, ensemble.rows, threads=1)
    best = min(_seconds(model, ensemble.rows) for _ in range(ROUNDS))
    frame = outcomes(scenario.network, out, ensemble.rows, ensemble.drawn).frame
    frames = float(out[:, ManetOut.EXCHANGES].sum()) / best
    return Speed(best / len(out), float(frame["transfer_bps"].mean()) / 1e3, frames)


def _seconds(model: Any, rows: Any) -> float:
    start = time.process_time()
    launch.run(model, rows, threads=1)
    return time.process_time() - start


def measure_ns2(**options: Any) -> Speed:
    """Return the mean of a few seeds of ns-2."""
    runs = [run_ns2(SCRIPT.format(seed=seed, packets=PACKETS, **options)) for seed in range(1, SEEDS + 1)]
    kbps = [8 * PACKETS / (ms / 1e3) for ms, _ in runs]
    return Speed(sum(seconds for _, seconds in runs) / SEEDS, sum(kbps) / SEEDS, float("nan"))


def main() -> None:
    """Print the tables."""
    parser(__doc__).parse_args()
    if not shutil.which("ns"):
        print("ns-2 is missing: apt-get install ns2")
    print("| 10 nodes, 5 MB | netcarlo [ms] | M frames/s | ns-2 [ms] | ratio | kbit/s | ns-2 |")
    print("|---|---|---|---|---|---|---|")
    for range_m, speed, error in ((250, 10, 0.0), (250, 10, 0.05), (150, 10, 0.0)):
        own = measure(network(range_m=range_m, speed_mps=speed, frame_error=error))
        line = f"| {range_m} m, {speed} m/s, frame error {error:.0%} | {own.seconds * 1e3:.2f} | "
        line += f"{own.frames / 1e6:.2f} | "
        if shutil.which("ns"):
            theirs = measure_ns2(range=range_m, speed=speed, frame_error=error)
            line += f"{theirs.seconds * 1e3:.0f} | {theirs.seconds / own.seconds:.0f} | "
            line += f"{own.throughput_kbps:.0f} | {theirs.throughput_kbps:.0f} |"
        else:
            line += f"- | - | {own.throughput_kbps:.0f} | - |"
        print(line, flush=True)
    for nodes in (25, 50, 64):
        own = measure(network(range_m=150, speed_mps=10, frame_error=0.0, nodes=nodes))
        print(f"| {nodes} nodes, 150 m, 10 m/s | {own.seconds * 1e3:.2f} | {own.frames / 1e6:.2f} | | | | |")
    print("\n| chain | one event per exchange [kbit/s] | frame by frame | difference |\n|---|---|---|---|")
    for hops in range(1, 6):
        ours, full = (
            float((24e3 / simulate(chain(hops=hops, frame_by_frame=full)).frame["completion_s"]).mean())
            for full in (False, True)
        )
        print(f"| {hops} hops | {ours:.0f} | {full:.0f} | {ours / full - 1:+.1%} |", flush=True)
