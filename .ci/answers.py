"""Results that `.ci/versions` compares: an estimate, a sweep of Sobol points on threads, and a report."""

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import numpy as np

from netcarlo.sweeps.space.designs import Design

SCENARIO = """
duration: 5 s
replications: 300
transport: {protocol: newreno, window: {normal: {mean: 32, sd: 10}}}
hops:
  - {rate: {log_uniform: [1 Mbit/s, 20 Mbit/s]}, delay: {normal: {mean: 10 ms, sd: 5 ms}}}
  - {rate: 10 Mbit/s, delay: 5 ms, queue: {integers: [10, 50]}, loss: 0.1 %}
"""
SWEEP = """
scenario: scenario.yaml
axes: {window: {field: transport.window, values: [16, 64]}}
draw: 256
replications: 5
outcomes: [goodput_bps, mean_rtt_s, timeouts, retransmitted]
goals: {fast: goodput_bps >= 1 Mbit/s}
"""


def command(*arguments: str) -> str:
    """Return the output of a netcarlo command."""
    program = Path(sys.executable).with_name("netcarlo")
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def digest(data: bytes) -> str:
    """Return a hash of data, 32 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()[:32]


def points(seed: int) -> bytes:
    """Return the points of a Sobol design as bytes; threads call this at the same time."""
    return Design(method="sobol", count=512, dimensions=10 + seed, seed=seed).points(np.arange(512)).tobytes()


def main() -> None:
    """Print versions and digests."""
    packages = ("netcarlo", "numpy", "scipy", "numba", "pandas", "pint", "typer")
    print("  ", ", ".join(f"{name} {version(name)}" for name in packages))
    with ThreadPoolExecutor(8) as pool:
        print("   digest of points", digest(b"".join(pool.map(points, range(8)))))
    Path("scenario.yaml").write_text(SCENARIO)
    Path("sweep.yaml").write_text(SWEEP)
    found = json.loads(command("estimate", "scenario.yaml", "--goal", "goodput_bps >= 1 Mbit/s", "--json"))
    found.pop("provenance")
    print("   digest of estimate", digest(json.dumps(found, sort_keys=True).encode()))
    command("sweep", "sweep.yaml", "--out", "store", "--quiet")
    print("   digest of sweep", json.loads(command("status", "store", "--json"))["digest"])
    command("sensitivity", "store", "--of", "goodput_bps")
    command("report", "store", "--out", "report.html")
    print("   a report of", Path("report.html").stat().st_size // 1000, "kB")


if __name__ == "__main__":
    main()
