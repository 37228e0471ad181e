"""Random 802.11g cells that datagrams and TCPs share, for ns-3 and for netcarlo."""

import functools
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netcarlo.scenario import Scenario
from tests.campaigns.benchmarks import ns3
from tests.campaigns.verification.packets import Packets

DURATION_S, WARM_UP_S = 10.0, 2.0
RUNS = 2
"""Runs of ns-3."""
CONTROL = {6: 6, 12: 12, 18: 12, 24: 24, 36: 24, 54: 24}
"""Rate of the ACK for each data rate [Mbit/s]."""
WORDS = {"udp": "video", "tcp": "transfer"}
"""Classes of flows by kind."""


@dataclass(frozen=True)
class Cell:
    """Stations around a gateway."""

    stations: int
    rate: int
    """Data rate [Mbit/s]."""
    queue: int
    videos: tuple[int, ...]
    """Rates of the videos [kbit/s]; they differ, so that the phases between their packets vary."""
    up: int
    """Number of the videos that stations send."""
    payload: int
    downloads: int
    uploads: int
    window: int

    @property
    def flows(self) -> list[tuple[str, int, int]]:
        """Return kind, source and sink of each flow."""
        gateway, found = self.stations, []
        for k in range(len(self.videos)):
            station = k % self.stations
            found.append(("udp", station, gateway) if k < self.up else ("udp", gateway, station))
        first = len(self.videos)
        for k in range(first, first + self.downloads):
            found.append(("tcp", gateway, k % self.stations))
        for k in range(first + self.downloads, first + self.downloads + self.uploads):
            found.append(("tcp", k % self.stations, gateway))
        return found


def cases(count: int, *, seed: int = 0) -> list[Cell]:
    """Return random cells: datagrams use 20 to 50 % of the capacity beside TCP, 60 to 95 % alone."""
    found = []
    for k in range(count):
        rng = np.random.default_rng([seed, k, 1])
        rate, videos = int(rng.choice(list(CONTROL))), int(rng.integers(1, 7))
        tcps, payload = int(rng.integers(0, 5)), int(rng.integers(200, 1400))
        exchange_us = 28 + 67.5 + 26 + 8 * (payload + 64) / rate + 16 + 44  # approximate, with overhead
        share = rng.uniform(0.2, 0.5) if tcps else rng.uniform(0.6, 0.95)
        uploads = int(rng.integers(0, tcps + 1))
        kbps = 8e3 * payload / exchange_us * share / videos * rng.uniform(0.9, 1.1, videos)
        found.append(Cell(
            int(rng.integers(1, 9)), rate, int(rng.integers(20, 150)), tuple(kbps.astype(int).tolist()),
            int(rng.integers(0, videos + 1)), payload, tcps - uploads, uploads, int(rng.integers(6, 41)),
        ))  # fmt: skip
    return found


def scenario(cell: Cell) -> Scenario:
    """Return the cell as a scenario of netcarlo."""
    flows: list[dict[str, Any]] = []
    for k, (kind, source, sink) in enumerate(cell.flows):
        ends = ("gateway" if node == cell.stations else node for node in (source, sink))
        flow: dict[str, Any] = dict(zip(("source", "sink"), ends, strict=True)) | {"class": WORDS[kind]}
        if kind == "udp":
            rate = f"{cell.videos[k]} kbit/s"
            flow["udp"] = {"rate": rate, "payload": f"{cell.payload} B", "header": "28 B"}
        flows.append(flow)
    return Scenario.check({
        "duration": f"{DURATION_S} s", "warm_up": f"{WARM_UP_S} s",
        "transport": {
            "protocol": "newreno", "window": cell.window, "payload": "1000 B", "header": "40 B",
            "ack": "40 B", "min_rto": "1 s", "start": {"uniform": ["0 s", "1 s"]},
        },
        "wireless": {
            "standard": "802.11g", "cell": {"stations": cell.stations}, "rate": f"{cell.rate} Mbit/s",
            "answer_rate": f"{CONTROL[cell.rate]} Mbit/s", "queue": cell.queue, "flows": flows,
        },
    })  # fmt: skip


def of_ns3(cell: Cell) -> dict[str, dict[str, float]]:
    """Return each measure of each class by ns-3, over all runs."""
    packets = Packets(since=WARM_UP_S, lost_since=WARM_UP_S)
    for seed in range(RUNS):
        packets.begin_run()
        for line in _run(cell, seed):
            event, at, flow, number = line.split()
            note = packets.put_out if event == "s" else packets.arrived
            kind, *_ = cell.flows[int(flow)]
            note(WORDS[kind], flow, number, int(at) * 1e-9)
    return packets.measures()


def _run(cell: Cell, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    lines = []
    for k, (kind, source, sink) in enumerate(cell.flows):
        if kind == "udp":
            gap_ns = round(8e6 * cell.payload / cell.videos[k])
            lines.append(f"udp {source} {sink} {cell.payload} {gap_ns} {rng.integers(gap_ns)}")
        else:
            lines.append(f"tcp {source} {sink} 1000 {1000 * cell.window} {rng.integers(10**9)}")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines))
        file.flush()
        options = {
            "stations": cell.stations, "rate": cell.rate, "control": CONTROL[cell.rate],
            "queue": cell.queue, "duration": DURATION_S, "seed": seed + 1, "flows": file.name,
        }  # fmt: skip
        arguments = [f"--{name}={value}" for name, value in options.items()]
        done = subprocess.run([str(_program()), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@functools.cache
def _program() -> Path:
    return ns3.compiled(Path(__file__).with_name("ns3_cell.cc"), Path(tempfile.mkdtemp()))
