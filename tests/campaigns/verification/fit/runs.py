"""Measured runs with known truth: iperf3 between two network namespaces of the running Linux kernel."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DURATION_S = 10
CONTROLS = ("cubic", "reno", "cubic", "bbr")
"""Congestion controls of runs 0, 1, 2, ..., in turn."""
SHAPED = 0.3
"""Share of runs, the last ones, whose rate and queue come from the kernel's token bucket `tbf`.

It limits the traffic that arrives at the receiving host (through an `ifb` device), so it drops packets as a
router does. On the sending host it would drop none: the kernel reports a full queue to TCP.
"""
BURST = 3000
"""Size of that token bucket [byte]."""
LATE = 0.003
"""Largest share of packets that may be delivered more than 1 ms late; a run with more is repeated."""
TRIES = 4
FREE = (
    "hops.0.rate=1..50 Mbit/s", "hops.0.delay=1..100 ms", "hops.0.queue=5..1000", "hops.0.loss=0..5 %",
)  # fmt: skip
"""Fields and ranges of each fit."""


class Truth(NamedTuple):
    """Path of a run."""

    id: int
    rate_bps: float
    delay_s: float
    """One-way delay [s]."""
    queue_packets: int
    loss: float
    """Probability that a data packet is lost at random."""
    control: str
    """Congestion control of the sender."""
    shaped: bool
    """True if rate and queue come from `tbf`, whose limit is in bytes."""


def scenario(truth: Truth) -> dict[str, Any]:
    """Return the scenario that is fitted to a run."""
    return {
        "duration": f"{DURATION_S} s",
        "transport": {"protocol": "linux", "congestion_control": truth.control},
        "hops": [{"rate": "10 Mbit/s", "delay": "20 ms", "queue": 50, "loss": "0.1 %"}],
    }


def true_values(truth: Truth) -> dict[str, float]:
    """Return the true values by the last part of the name of a fitted field [SI]."""
    return {
        "rate": truth.rate_bps, "delay": truth.delay_s, "queue": float(truth.queue_packets),
        "loss": truth.loss,
    }  # fmt: skip


def drawn(count: int, *, seed: int) -> list[Truth]:
    """Draw paths: 2 to 20 Mbit/s, 5 to 50 ms, queues of 0.2 to 3 BDP, half of them with 0.05 to 1 % loss."""
    rng = np.random.default_rng([seed, 45])
    found = []
    for k in range(count):
        rate = float(f"{_log_uniform(rng, 2e6, 20e6):.3g}")
        delay = round(_log_uniform(rng, 5e-3, 50e-3), 4)
        queue = max(8, round(_log_uniform(rng, 0.2, 3) * rate * 2 * delay / 12_000))
        loss = float(f"{_log_uniform(rng, 5e-4, 1e-2):.2g}") if rng.random() < 0.5 else 0.0
        shaped = k >= round((1 - SHAPED) * count)
        found.append(Truth(k, rate, delay, queue, loss, CONTROLS[k % len(CONTROLS)], shaped))
    return found


def _log_uniform(rng: np.random.Generator, least: float, most: float) -> float:
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))


def produce(truths: list[Truth], folder: Path, *, seed: int, side_by_side: int = 4) -> None:
    """Measure the runs that `folder` lacks: `run_00.json` of iperf3 and `run_00.truth.json` for each.

    Needs root, gcc, iperf3 and real time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    program = compiled(folder)
    missing = [truth for truth in truths if not (folder / f"run_{truth.id:02d}.truth.json").exists()]
    with ThreadPoolExecutor(side_by_side) as pool:
        for truth, note in pool.map(lambda truth: (truth, _measure(truth, folder, program, seed)), missing):
            print(f"{time.strftime('%H:%M:%S')} run {truth.id} {note}", file=sys.stderr, flush=True)


def compiled(folder: Path) -> Path:
    """Compile the emulated path."""
    program = folder / "path"
    here = Path(__file__).parent
    sources = [here / "path.c", here.parent / "kernel" / "hosts.c"]
    subprocess.run(["gcc", "-O2", "-o", program.resolve(), *sources], check=True)
    return program.resolve()


def _measure(truth: Truth, folder: Path, program: Path, seed: int) -> dict[str, Any]:
    target = (folder / f"run_{truth.id:02d}.json").resolve()
    client = f"iperf3 -c 10.0.0.2 -t {DURATION_S} -i 0.1 -J --get-server-output -C {truth.control} > {target}"
    server = "exec iperf3 -s -1 -J > /dev/null"
    if truth.shaped:
        server = (
            "ip link add ifb0 type ifb && ip link set ifb0 up txqueuelen 10000 && "
            "tc qdisc add dev link ingress && tc filter add dev link parent ffff: protocol ip u32 "
            "match u32 0 0 action mirred egress redirect dev ifb0 && "
            f"tc qdisc add dev ifb0 root tbf rate {truth.rate_bps:.0f}bit burst {BURST} "
            f"limit {truth.queue_packets * 1500} && {server}"
        )
    note: dict[str, Any] = {}
    for attempt in range(TRIES):
        words = [
            0 if truth.shaped else int(truth.rate_bps), truth.delay_s, truth.queue_packets, truth.loss,
            seed * 1_000_000 + truth.id * 1000 + attempt, client, server,
        ]  # fmt: skip
        with subprocess.Popen(
            ["timeout", str(6 * DURATION_S), program, *map(str, words)],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            said = process.communicate()[1]
        if process.returncode or not json.loads(target.read_text())["end"]["sum_received"]["bytes"]:
            continue  # the run failed, or the results of the server are missing
        note = json.loads(said.splitlines()[-1])
        if note["late_share"] <= LATE:
            break
    if not note:
        raise SystemExit(f"error: run {truth.id} failed {TRIES} times")
    record = truth._asdict() | note
    (folder / f"run_{truth.id:02d}.truth.json").write_text(json.dumps(record, indent=1) + "\n")
    return note
