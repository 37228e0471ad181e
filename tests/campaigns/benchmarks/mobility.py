"""Cost of handovers, and the path of the mobility study without them compared with ns-2.

    python -m tests.campaigns mobility

Prints the tables of docs/results/speed-mobility.md, all on one core. Without ns-2 (`apt-get install ns2`),
only netcarlo is measured.
"""

import math
import shutil
import time
from collections.abc import Sequence

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import FOREVER, Hop, Out, Rows
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import model_of
from netcarlo.studies import study as studies
from tests.campaigns import parser
from tests.campaigns.benchmarks.ns2 import run_ns2

PROTOCOLS = "mipv6", "hmipv6", "fmipv6", "s_binding", "s_mip", "fhmipv6", "himipv6"
TCPS = "tahoe", "reno", "vegas"
LOSSES = 0.0, 0.01, 0.02, 0.05
REPLICATIONS = 300
ROUNDS = 7
SAME = 0.003
"""Allowed relative difference of packets sent, because flows start at different times within 0.1 s."""


def scenario(
    *, tcp: str, protocol: str, loss: float, times: Sequence[str] = ("10 s", "30 s", "50 s")
) -> Scenario:
    """Return a cell of the mobility study with handovers at these times."""
    file = studies.load("mobility").folder / "mobility.yaml"
    return load_scenario(file).with_values({
        "transport.protocol": tcp, "mobility.protocol": protocol, "hops.1.loss": loss,
        "mobility.times": list(times), "replications": REPLICATIONS,
    })  # fmt: skip


def fixed(rows: Rows) -> Rows:
    """Return the same path to a fixed host: the delay to the access router is part of the first hop."""
    hops = rows.hops.copy()
    for column in (Hop.DELAY, Hop.R_DELAY):
        hops[:, 0, 0, column] += rows.parameters[:, MobileP.MAP_TO_AR]
    outages = rows.outages.copy()
    outages[...] = FOREVER
    return rows._replace(hops=hops, outages=outages)


def rates(cells: dict[str, tuple[object, Rows]]) -> dict[str, tuple[float, float]]:
    """Return packets sent per second of processor time (best of some runs) and mean goodput [kbit/s]."""
    best: dict[str, tuple[float, float]] = {}
    for _ in range(ROUNDS):
        for name, (model, rows) in cells.items():
            start = time.process_time()
            out = launch.run(model, rows, threads=1)
            rate = int(out[:, Out.SENT].sum()) / (time.process_time() - start)
            goodput = float(out[:, Out.RECEIVED].mean()) * 8 / 60
            best[name] = max(best.get(name, (0.0, goodput)), (rate, goodput))
    return best


def ns2(*, tcp: str, loss: float, seed: int, duration_s: float) -> tuple[int, float]:
    """Return the packets that ns-2 sends on the path without handovers, and the processor time [s]."""
    one = scenario(tcp=tcp, protocol="hmipv6", loss=loss)
    wired, radio = one.paths[0].hops
    assert one.mobility is not None
    delay_s = wired.delay + one.mobility.map_to_ar  # type: ignore[union-attr,operator]
    agent = {"tahoe": "TCP", "reno": "TCP/Reno", "vegas": "TCP/Vegas"}[tcp]
    script = f"""
        global defaultRNG
        $defaultRNG seed {seed}
        set ns [new Simulator]
        remove-all-packet-headers
        add-packet-header IP TCP Flags
        foreach n {{a b c}} {{ set $n [$ns node] }}
        $ns duplex-link $a $b {wired.rate:.0f} {delay_s} DropTail
        $ns queue-limit $a $b 1000
        $ns duplex-link $b $c {radio.rate:.0f} {radio.delay} DropTail
        set lossy [new ErrorModel]
        $lossy unit pkt
        $lossy set rate_ {loss}
        $lossy ranvar [new RandomVariable/Uniform]
        $ns lossmodel $lossy $b $c
        set tcp [new Agent/{agent}]
        $tcp set window_ {one.transport.window:.0f}
        $tcp set packetSize_ 1000
        $tcp set tcpTick_ 0.01
        set sink [new Agent/TCPSink]
        $ns attach-agent $a $tcp
        $ns attach-agent $c $sink
        $ns connect $tcp $sink
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp
        set u [new RandomVariable/Uniform]
        $ns at [expr 0.1 * [$u value]] "$ftp start"
        $ns at {duration_s} {{puts [$tcp set ndatapack_]; exit 0}}
        $ns run
    """  # type: ignore[union-attr]
    return run_ns2(script)


def ns2_rate(*, tcp: str, loss: float) -> float:
    """Return the packets that ns-2 sends per second of processor time, without its start-up time."""
    start_s = min(ns2(tcp=tcp, loss=loss, seed=1, duration_s=0.2)[1] for _ in range(3))
    packets, seconds = ns2(tcp=tcp, loss=loss, seed=1, duration_s=3000.0)
    return packets / (seconds - start_s)


def ns2_goodput(*, tcp: str, loss: float, runs: int = 20) -> float:
    """Return the mean goodput of 60 s in ns-2 [kbit/s]: packets sent, minus the average share lost."""
    sent = sum(ns2(tcp=tcp, loss=loss, seed=seed, duration_s=60.0)[0] for seed in range(1, runs + 1))
    return sent / runs * (1 - loss) * 8 / 60


def without_handovers(tcp: str) -> tuple[float, float]:
    """Return the mean packets sent in 60 s without handovers and losses, by netcarlo and by ns-2."""
    one = scenario(tcp=tcp, protocol="hmipv6", loss=0.0, times=())
    sent = launch.run(model_of(one), build(one, replications=50).rows)[:, Out.SENT].mean()
    theirs = [ns2(tcp=tcp, loss=0.0, seed=seed, duration_s=60.0)[0] for seed in (1, 2)]
    return float(sent), sum(theirs) / 2


def main() -> int:
    """Print the tables.  Return 1 if the packets sent without handovers and losses differ."""
    parser(__doc__).parse_args()
    with_ns2 = shutil.which("ns") is not None
    print("| TCP | errors | fixed host [M packets/s] | " + " | ".join(PROTOCOLS) + " |")
    print("|---|---|---|" + "---|" * len(PROTOCOLS))
    for tcp in TCPS:
        for loss in (0.0, 0.01):
            cells = {"fixed": (models.model(f"tcp_{tcp}"), fixed(_rows(tcp, "hmipv6", loss)))}
            for protocol in PROTOCOLS:
                one = scenario(tcp=tcp, protocol=protocol, loss=loss)
                cells[protocol] = (model_of(one), build(one).rows)
            found = rates(cells)
            base = found["fixed"][0]
            ratios = " | ".join(f"{found[protocol][0] / base:.2f}" for protocol in PROTOCOLS)
            print(f"| {tcp} | {loss:.0%} | {base / 1e6:.1f} | {ratios} |", flush=True)
    print("\n| TCP | errors | netcarlo [kbit/s] | ns-2 [kbit/s] | netcarlo [M packets/s] | ns-2 | ratio |")
    print("|---|---|---|---|---|---|---|")
    for tcp in TCPS:
        for loss in LOSSES:
            one = scenario(tcp=tcp, protocol="hmipv6", loss=loss, times=())
            rate, goodput = rates({"": (model_of(one), build(one).rows)})[""]
            theirs = ns2_rate(tcp=tcp, loss=loss) if with_ns2 else math.nan
            theirs_goodput = ns2_goodput(tcp=tcp, loss=loss) if with_ns2 else math.nan
            print(
                f"| {tcp} | {loss:.0%} | {goodput:.1f} | {theirs_goodput:.1f} | {rate / 1e6:.1f} "
                f"| {theirs / 1e6:.2f} | {rate / theirs:.0f} |",
                flush=True,
            )
    apart = []
    for tcp in TCPS if with_ns2 else ():
        ours, theirs = without_handovers(tcp)
        print(f"{tcp}, no handovers or losses: {ours:.0f} packets, ns-2 {theirs:.0f}", flush=True)
        apart += [tcp] if abs(ours / theirs - 1) > SAME else []
    return 1 if apart else 0


def _rows(tcp: str, protocol: str, loss: float) -> Rows:
    return build(scenario(tcp=tcp, protocol=protocol, loss=loss)).rows
