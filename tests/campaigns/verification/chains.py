"""Random static chains of ad hoc nodes with one stream or transfer, for ns-2 and for netcarlo."""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netcarlo.scenario import Scenario
from tests.campaigns.verification.packets import Packets

DURATION_S = 60.0
RUNS = 4
"""Runs of ns-2."""
SPACING_M, RANGE_M = 225, 250
MOST_KBPS = (1000, 500, 270, 180)
"""Approximate throughput of NewReno by number of hops [kbit/s]; the rate of a stream is a share of it."""

HEAD = """
proc reach {metres} { return [expr 0.28183815 * pow(1.5, 4) / pow($metres, 4)] }
Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set basicRate_ 1Mb
set ns [new Simulator]
set f [open trace w]
$ns trace-all $f
set topo [new Topography]
$topo load_flatgrid 2000 100
"""
NODES = """
$ns node-config -adhocRouting DSR -llType LL -macType Mac/802_11 -ifqType CMUPriQueue -ifqLen 50 \\
  -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \\
  -channel [new Channel/WirelessChannel] -topoInstance $topo \\
  -agentTrace ON -routerTrace OFF -macTrace OFF -movementTrace OFF
"""


@dataclass(frozen=True)
class Chain:
    """Chain of nodes, whose first node sends to the last one."""

    hops: int
    kbps: int
    """Rate of the stream [kbit/s], or 0 for a transfer."""
    payload: int
    window: int
    """Window of the transfer [packet]."""

    @property
    def word(self) -> str:
        """Class of the flow."""
        return "video" if self.kbps else "download"


def cases(count: int, *, seed: int = 0) -> list[Chain]:
    """Return random chains of 1 to 4 hops; every second one has a stream of 20 to 80 % of the capacity."""
    found = []
    for k in range(count):
        rng = np.random.default_rng([seed, k, 2])
        hops, payload = 1 + k // 2 % len(MOST_KBPS), int(rng.integers(400, 1400))
        kbps = int(rng.uniform(0.2, 0.8) * MOST_KBPS[hops - 1] * payload / (payload + 250))
        found.append(Chain(hops, 0 if k % 2 else kbps, payload, int(rng.integers(2, 21))))
    return found


def scenario(chain: Chain) -> Scenario:
    """Return the chain as a scenario of netcarlo."""
    order = [0, chain.hops, *range(1, chain.hops)]  # node 0 sends to node 1
    transfer = {
        "protocol": "newreno", "window": chain.window, "header": "40 B", "start": {"uniform": ["0 s", "1 s"]},
    }  # fmt: skip
    stream = {"protocol": "udp", "rate": f"{chain.kbps} kbit/s", "header": "0 B"}
    return Scenario.check({
        "duration": f"{DURATION_S} s",
        "transport": {
            **(stream if chain.kbps else transfer), "payload": f"{chain.payload} B", "class": chain.word,
        },
        "adhoc": {
            "range": f"{RANGE_M} m", "mobility": {
                "model": "given",
                "nodes": [[{"time": "0 s", "x": f"{SPACING_M * place} m"}] for place in order],
            },
        },
    })  # fmt: skip


def script(chain: Chain, seed: int) -> str:
    """Return the chain as a script of ns-2, which writes `trace`."""
    rng = np.random.default_rng(seed)
    gap_s = 8e-3 * chain.payload / max(chain.kbps, 1)
    lines = [
        f"ns-random {seed + 1}", HEAD, f"create-god {chain.hops + 1}",
        f"Phy/WirelessPhy set RXThresh_ [reach {RANGE_M}]",
        f"Phy/WirelessPhy set CSThresh_ [reach [expr 2.2 * {RANGE_M}]]", NODES,
    ]  # fmt: skip
    for k in range(chain.hops + 1):
        lines += [
            f"set n{k} [$ns node]", f"$n{k} random-motion 0", f"$n{k} set X_ {1 + SPACING_M * k}",
            f"$n{k} set Y_ 50", f"$n{k} set Z_ 0",
        ]  # fmt: skip
    if chain.kbps:
        start = rng.uniform(0, gap_s)
        lines += [
            "set t [new Agent/UDP]", "set k [new Agent/Null]", "$t set packetSize_ 2000",
            "set g [new Application/Traffic/CBR]", f"$g set packetSize_ {chain.payload}",
            f"$g set rate_ {chain.kbps}kb", "$g set random_ 0",
        ]  # fmt: skip
    else:
        start = rng.uniform(0, 1)
        lines += [
            "set t [new Agent/TCP/Newreno]", "set k [new Agent/TCPSink]", f"$t set window_ {chain.window}",
            f"$t set packetSize_ {chain.payload}", "set g [new Application/FTP]",
        ]  # fmt: skip
    return "\n".join([
        *lines, "$ns attach-agent $n0 $t", f"$ns attach-agent $n{chain.hops} $k", "$ns connect $t $k",
        "$g attach-agent $t", f'$ns at {start:.9f} "$g start"', f'$ns at {DURATION_S} "close $f; exit 0"',
        "$ns run",
    ])  # fmt: skip


def of_ns2(chain: Chain) -> dict[str, dict[str, float]]:
    """Return each measure of the class by ns-2, over all runs."""
    packets = Packets(since=0.0)
    for seed in range(RUNS):
        packets.begin_run()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "run.tcl").write_text(script(chain, seed))
            subprocess.run(["ns", "run.tcl"], cwd=folder, check=True, capture_output=True)
            lines = (Path(folder) / "trace").read_text().splitlines()
        for line in lines:
            if line[:2] not in ("s ", "r "):  # of a host
                continue
            event, at, _, _, _, _, kind, *_ = line.split()
            number = line[line.rindex("[") + 1 : line.rindex("]")].split()[0]
            if kind == "ack" or (kind == "tcp" and number == "0"):  # a SYN
                continue
            note = packets.put_out if event == "s" else packets.arrived
            note(chain.word, "", number, float(at))
    return packets.measures()
