"""Speed of two versions of netcarlo, measured in turn.

    python -m tests.campaigns versions OLD NEW [NAME ...]

OLD and NEW are folders into which each was installed (`pip install --no-deps --target FOLDER .`). Both run
the same scenarios alternately, each in its own process. Other work on the machine affects neighbouring runs
alike, so the median of their ratios is meaningful on a busy machine.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from tests.campaigns import parser

EXAMPLES = Path(__file__).parents[3] / "configs" / "examples"
PAIRS = 25

SERVE = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from netcarlo import Scenario, simulate
for line in sys.stdin:
    data, replications = json.loads(line)
    scenario = Scenario.check(data)
    began = time.process_time()
    simulate(scenario, replications=replications, target="cpu")
    print(time.process_time() - began, flush=True)
"""


def hop(protocol: str, loss: str, *, hops: int = 1) -> dict[str, object]:
    """Return a scenario of a TCP or SCTP over equal lossy hops."""
    way = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": 50, "loss": loss}
    transport: dict[str, object] = {"protocol": protocol}
    if protocol != "sctp":
        transport["window"] = 64
    return {"duration": "60 s", "seed": 5, "transport": transport, "hops": [way] * hops}


def example(name: str) -> dict[str, object]:
    """Return a shipped scenario."""
    data: dict[str, object] = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
    return data


def random_topologies(protocol: str, loss: str) -> dict[str, object]:
    """Return the scenario of the shipped sweep `random_topologies` with a protocol and a loss per hop."""
    sweep = yaml.safe_load((EXAMPLES.parent / "random_topologies.yaml").read_text())
    data: dict[str, object] = sweep["scenario"]
    data["transport"] |= {"protocol": protocol}  # type: ignore[operator]
    data["hops"][0]["each"] |= {"loss": loss}  # type: ignore[index]
    return data


CASES = {
    "newreno 0.01 %": (hop("newreno", "0.01 %"), 100),
    "newreno 0.1 %": (hop("newreno", "0.1 %"), 100),
    "newreno 1 %": (hop("newreno", "1 %"), 100),
    "sack 1 %": (hop("sack", "1 %"), 100),
    "cubic 0.1 %": (hop("cubic", "0.1 %"), 100),
    "newreno, two hops 0.1 %": (hop("newreno", "0.1 %", hops=2), 60),
    "newreno, two hops 1 %": (hop("newreno", "1 %", hops=2), 60),
    **{
        f"random topologies, {protocol} {loss}": (random_topologies(protocol, loss), 3000)
        for protocol in ("newreno", "sack", "vegas")
        for loss in ("0 %", "0.1 %", "1 %")
    },
    "linux26 0.1 %": (hop("linux26", "0.1 %"), 100),
    "linux26 1 %": (hop("linux26", "1 %"), 100),
    "linux 0.1 %": (hop("linux", "0.1 %"), 50),
    "linux 1 %": (hop("linux", "1 %"), 50),
    "sctp 0.1 %": (hop("sctp", "0.1 %"), 20),
    "sctp 1 %": (hop("sctp", "1 %"), 20),
    "handover": (example("handover"), 100),
    "shared": (example("shared"), 10),
    "wifi_cell": (example("wifi_cell"), 4),
    "wifi_mesh": (example("wifi_mesh"), 4),
    "adhoc": (example("adhoc"), 600),
}
"""Scenario and number of replications by name."""


class Version:
    """Process that runs one version with an empty cache."""

    def __init__(self, folder: str, cache: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": folder, "NETCARLO_CACHE": str(cache)}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVE],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def seconds(self, data: dict[str, object], replications: int) -> float:
        """Return the processor time of the replications [s]."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([data, replications]) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def main() -> None:
    """Print a line for each scenario."""
    arguments = parser(__doc__)
    arguments.add_argument("folders", nargs=2, metavar="FOLDER")
    arguments.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES).replace("%", "%%"))
    given = arguments.parse_args()
    if unknown := [name for name in given.names if name not in CASES]:
        arguments.error(f"scenario {unknown[0]!r} is unknown; choose from {', '.join(CASES)}")
    with tempfile.TemporaryDirectory() as folder:
        old, new = (Version(at, Path(folder) / str(k)) for k, at in enumerate(given.folders))
        print("| | new over old | first use, old [s] | new [s] |\n|---|---|---|---|")
        for name in given.names or CASES:
            data, replications = CASES[name]
            first = old.seconds(data, 2), new.seconds(data, 2)
            pairs = [(old.seconds(data, replications), new.seconds(data, replications)) for _ in range(PAIRS)]
            ratio = statistics.median(before / after for before, after in pairs)
            print(f"| {name} | {ratio:.2f} | {first[0]:.1f} | {first[1]:.1f} |", flush=True)
