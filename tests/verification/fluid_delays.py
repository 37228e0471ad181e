"""Delays by class of the fluid of shared links beside packets: what it is off by.

    python -m tests.verification.fluid_delays [SCENARIOS]

The random dumbbells of `delays` (30 unless said).  Prints the signed error of each measure: its median, and
between which values it lies.
"""

import sys
from collections import defaultdict

import numpy as np

from netcarlo.simulation.simulate import simulate
from tests.verification.delays import Case, cases, scenario

REPLICATIONS = 16
MEASURES = ("mean_delay_s", "delay_p50_s", "delay_p95_s", "delay_p99_s")


def errors(case: Case) -> dict[tuple[str, str], float]:
    """The relative error of the mean of each measure, by class and measure; videos alone are a class, too."""
    asked = scenario(case).with_values({"replications": REPLICATIONS})
    fluid, packets = (
        simulate(each, target="cpu").frame.mean()
        for each in (asked.with_values({"fidelity": "fluid"}), asked)
    )
    found = {}
    for word in ("video", "newreno", "sack", "download"):
        for name in MEASURES:
            if f"{word}_{name}" in packets:
                alone = "" if case.tcps else " alone"
                found[word + alone, name] = fluid[f"{word}_{name}"] / packets[f"{word}_{name}"] - 1
    return found


def main() -> None:
    """Print the table."""
    every = defaultdict(list)
    for case in cases(int(sys.argv[1]) if len(sys.argv) > 1 else 30):
        for key, error in errors(case).items():
            every[key].append(error)
    print("| class | networks | measure | error [%]: median (range) |\n|---|---|---|---|")
    for (word, name), values in every.items():
        low, middle, high = np.percentile(values, [0, 50, 100]) * 100
        print(f"| {word} | {len(values)} | {name} | {middle:+.0f} ({low:+.0f} .. {high:+.0f}) |")


if __name__ == "__main__":
    main()
