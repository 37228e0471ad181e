"""Availability by states of the year compared with a brute-force year, on accelerated small cases.

    python -m tests.campaigns availability [REPETITIONS]

Exit 1 if fewer than 95 % of the intervals of a case contain the truth.

Failures come every minute, so that a brute-force year is affordable. For shared links this year consists of
many windows, each at the end of a run with the whole history of its outages. They begin long before the
window, are drawn by the field `outages: {up: ..., down: ...}`, and determine the queues and routes of the
window. For a path the truth is known: runs without outages have no loss.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from netcarlo.estimation import goals
from netcarlo.estimation.availability import availability
from netcarlo.scenario import Scenario
from netcarlo.simulation.simulate import simulate
from tests.campaigns import parser

REPETITIONS = 100
WINDOWS = 40_000
"""Windows of a brute-force year."""
HISTORY_S = 150.0
"""Time before a window [s]; in a tenth of it the correlation of outages decays at least sevenfold in all
cases."""
RUNS = 50
"""Minimum number of replications for each state of an estimate."""
LEAST_COVERED = 0.95
SEED = 1 << 40
"""Seed of brute-force years; those of estimates are small."""

Failures = Sequence[tuple[str, float, float]]
"""Cables that fail together, with their mean up and down times [s]."""


@dataclass(frozen=True)
class Case:
    """A scenario with its goal and failures."""

    name: str
    scenario: dict[str, Any]
    goal: str
    failures: Failures

    def rare(self, seed: int) -> dict[str, Any]:
        """Return the scenario with outages of a year."""
        return self._with(
            [{"mtbf": f"{up} s", "mttr": f"{down} s"} for _, up, down in self.failures], seed=seed
        )

    def history(self) -> dict[str, Any]:
        """Return the scenario whose windows have a history."""
        data = self._with(
            [{"up": f"{up} s", "down": f"{down} s"} for _, up, down in self.failures], seed=SEED
        )
        warm_up, duration = (float(self.scenario[name].split()[0]) for name in ("warm_up", "duration"))
        start = HISTORY_S - warm_up
        return {**data, "warm_up": f"{HISTORY_S} s", "duration": f"{start + duration} s"}

    def _with(self, outages: list[dict[str, str]], *, seed: int) -> dict[str, Any]:
        failures = [
            {"cables": cables, "outages": each}
            for (cables, *_), each in zip(self.failures, outages, strict=True)
        ]
        shared = {**self.scenario["shared"], "failures": failures}
        return {**self.scenario, "seed": seed, "shared": shared}


def calls(name: str, failures: Failures, *, detection_s: float) -> Case:
    """Return three calls over a line; the backup carries them if their random rates are low enough."""
    lines = ((0, 1, "2 Mbit/s"), (0, 2, "200 kbit/s"), (2, 1, "200 kbit/s"))
    links = [
        {"ends": list(ends), "rate": rate, "delay": "10 ms", "queue": 30}
        for a, b, rate in lines
        for ends in ((a, b), (b, a))
    ]
    udp = {"rate": {"uniform": ["40 kbit/s", "70 kbit/s"]}, "payload": "500 B", "jitter": "30 %"}
    each = {"class": "call", "late": "150 ms", "udp": udp, "route": "0", "backup": "2 4"}
    each["detection"] = f"{detection_s} s"
    scenario = {
        "duration": "8 s", "warm_up": "3 s", "transport": {"protocol": "newreno"},
        "shared": {"links": links, "flows": [{"count": 3, "each": each}]},
    }  # fmt: skip
    return Case(name, scenario, "call_in_time >= 95 %", failures)


def pages() -> Case:
    """Return arriving flows over a backup that is too slow for many of them at a time."""
    case = calls("arriving flows", [("0", 60, 20)], detection_s=1)
    each = {"route": "0", "backup": "2 4", "detection": "1 s"}
    flows = {
        "count": 8, "size": {"uniform": ["4 kB", "20 kB"]}, "arrivals": {"poisson": "1 /s"}, "each": each
    }  # fmt: skip
    shared = {**case.scenario["shared"], "flows": [flows]}
    return Case(case.name, {**case.scenario, "shared": shared}, "completion_mean_s <= 1 s", case.failures)


CASES = (
    lambda: calls("one cable", [("0", 60, 20)], detection_s=1),
    lambda: calls("slow detection", [("0", 60, 20)], detection_s=4),
    lambda: calls("short outages", [("0", 30, 2)], detection_s=1),
    lambda: calls("two cables", [("0", 60, 20), ("1", 90, 10)], detection_s=1),
    lambda: calls("in one duct", [("0 1", 100, 10), ("2", 60, 10), ("0", 80, 10)], detection_s=1),
    pages,
)


def brute_force(
    case: Case, windows: int, values: Mapping[str, str] = MappingProxyType({})
) -> tuple[float, float]:
    """Return the share of the windows of a year in which the goal is met, and its standard error.

    `values` replace fields of the scenario."""
    scenario = Scenario.check(case.history()).with_values({**values})
    held = goals.parse(case.goal).held(simulate(scenario, replications=windows).frame)
    share = float(np.mean(held))
    return share, math.sqrt(share * (1 - share) / windows)


UP_S, DOWN_S, RUN_S = 40.0, 15.0, 5.0


def stream(seed: int) -> dict[str, Any]:
    """Return a path whose stream loses packets in each outage."""
    hop = {"rate": "1 Mbit/s", "delay": "5 ms", "outages": {"mtbf": f"{UP_S} s", "mttr": f"{DOWN_S} s"}}
    transport = {"protocol": "udp", "rate": "800 kbit/s", "payload": "100 B"}
    return {"duration": f"{RUN_S} s", "seed": seed, "transport": transport, "hops": [hop]}


STREAM_SHARE = UP_S / (UP_S + DOWN_S) * math.exp(-RUN_S / UP_S)


def covers(data: dict[str, Any], goal: str, truth: float) -> tuple[bool, float]:
    """Return whether the interval contains the truth, and its half-width."""
    share = availability(Scenario.check(data), goals=[goal], replications=RUNS).share
    return share.ci_low <= truth <= share.ci_high, (share.ci_high - share.ci_low) / 2


def main() -> int:
    """Print a line for each case; returns 1 if the truth is covered too seldom."""
    arguments = parser(__doc__)
    arguments.add_argument("repetitions", nargs="?", type=int, default=REPETITIONS)
    arguments.add_argument("--windows", type=int, default=WINDOWS, help="Windows of a brute-force year.")
    given = arguments.parse_args()
    good = report("stream over a path", lambda seed: covers(stream(seed), "drops_outage <= 0", STREAM_SHARE),
                  given.repetitions, STREAM_SHARE, 0.0)  # fmt: skip
    for make in CASES:
        case = make()
        truth, error = brute_force(case, given.windows)
        one: Callable[[int], tuple[bool, float]] = lambda seed, case=case, truth=truth: covers(  # noqa: E731
            case.rare(seed), case.goal, truth
        )
        good &= report(case.name, one, given.repetitions, truth, error)
    return 0 if good else 1


def report(
    name: str, one: Callable[[int], tuple[bool, float]], repetitions: int, truth: float, error: float
) -> bool:
    """Print a line of the table.  Returns whether enough intervals contain the truth."""
    begun = time.process_time()
    found = [one(seed) for seed in range(1, repetitions + 1)]
    share = np.mean([covered for covered, _ in found])
    half = np.mean([width for _, width in found])
    print(
        f"{name:20} year {truth:.4f} +- {error:.4f}, {100 * share:5.1f} % of {len(found)} cover it, "
        f"half-width {half:.4f}, {time.process_time() - begun:.0f} s of processor time",
        flush=True,
    )
    if share < LEAST_COVERED:
        print(f"    expected: {100 * LEAST_COVERED:.0f} % or more")
    return bool(share >= LEAST_COVERED)
