"""Delays by class of the fluids of shared links and of paths, compared with packets.

    python -m tests.campaigns fluid_delays [SCENARIOS]

Simulates the random dumbbells of `delays`, and as many random paths (30 by default).  Prints the signed error
of each measure: its median and its range.
"""

from collections import defaultdict

import numpy as np

from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate
from tests.campaigns import parser
from tests.campaigns.verification.delays import Case, cases, scenario

REPLICATIONS = 16
MEASURES = ("mean_delay_s", "delay_p50_s", "delay_p95_s", "delay_p99_s")


def path(number: int) -> Scenario:
    """Return a random path with one or two hops; a third of the paths have no random losses."""
    rng = np.random.default_rng([1, number])
    hops = [
        {
            "rate": f"{rng.uniform(1, 20):.1f} Mbit/s", "delay": f"{rng.uniform(1, 40):.1f} ms",
            "queue": int(rng.integers(10, 150)),
            "loss": float(10 ** rng.uniform(-4, -2)) if rng.random() < 2 / 3 else 0.0,
        }
        for _ in range(rng.integers(1, 3))
    ]  # fmt: skip
    transport = {"protocol": str(rng.choice(["newreno", "sack", "cubic"])), "class": "path"}
    transport["window"] = int(rng.integers(16, 150))
    return Scenario.check({"duration": "40 s", "transport": transport, "paths": [{"hops": hops}]})


def errors(asked: Scenario, words: dict[str, str]) -> dict[tuple[str, str], float]:
    """Return the relative error of the mean of each measure, by class (named by `words`) and by measure."""
    asked = asked.with_values({"replications": REPLICATIONS})
    fluid, packets = (
        simulate(each, target="cpu").frame.mean()
        for each in (asked.with_values({"fidelity": "fluid"}), asked)
    )
    return {
        (said, name): fluid[f"{word}_{name}"] / packets[f"{word}_{name}"] - 1
        for word, said in words.items()
        for name in MEASURES
    }


def classes_of(case: Case) -> dict[str, str]:
    """Return the names of the classes; videos without other flows have a separate class."""
    return {"video": "video", "download": "download"} if case.tcps else {"video": "video alone"}


def main() -> None:
    """Print the table."""
    every = defaultdict(list)
    arguments = parser(__doc__)
    arguments.add_argument("scenarios", nargs="?", type=int, default=30)
    count = arguments.parse_args().scenarios
    asked = [(scenario(case), classes_of(case)) for case in cases(count)]
    for each, words in [*asked, *((path(number), {"path": "path"}) for number in range(count))]:
        for key, error in errors(each, words).items():
            every[key].append(error)
    print("| class | networks | measure | error [%]: median (range) |\n|---|---|---|---|")
    for (word, name), values in every.items():
        low, middle, high = np.percentile(values, [0, 50, 100]) * 100
        print(f"| {word} | {len(values)} | {name} | {middle:+.0f} ({low:+.0f} .. {high:+.0f}) |")
