"""How often the interval of a plan contains a known answer.

    python -m tests.verification.plan_coverage [repetitions]

Simulated networks: a window over a round-trip time, TCP flows that share a link, an 802.11 cell by Bianchi's
model; each draws something, so that the probability is known and is near the one asked for at the answer.
`coins` has no network: a curve that meets the probability asked for exactly at the answer, which is the worst
case of the tests.
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.networks.wireless import bianchi
from netcarlo.planning import make_plan
from netcarlo.planning.file import Plan
from netcarlo.planning.ledger import Ledger
from netcarlo.planning.runner import ReplicationRunner
from netcarlo.planning.search import Bracket, search
from netcarlo.scenario import Scenario

REPETITIONS = 200


@dataclass(frozen=True)
class Case:
    """A plan of each seed, and the largest value at which its requirement truly holds."""

    name: str
    plan: Callable[[int], Plan]
    truth: float


def window_over_rtt() -> Case:
    """Goodput is window / RTT; RTT is twice the delay of a fixed hop and of one drawn from 0 to 2 ms."""
    window, payload, bound, asked, duration_s = 2, 1000, 2.0e6, 0.88, 4.0
    # A window arrives every RTT, the first one after a handshake, 1.5 RTT from the start.
    windows = math.ceil(bound * duration_s / (8 * window * payload))
    longest_s = duration_s / (windows + 0.5) / 2
    fixed_s = np.arange(1, 31) * 2e-4
    holds = (longest_s - fixed_s) / 2e-3 >= asked
    data = {
        "scenario": {
            "duration": f"{duration_s} s",
            "transport": {
                "protocol": "newreno",
                "window": window,
                "initial_window": window,
                "payload": f"{payload} B",
            },
            "hops": [
                {"rate": "unlimited", "delay": "0.2 ms"},
                {"rate": "unlimited", "delay": {"uniform": ["0 ms", "2 ms"]}},
            ],
        },
        "quantity": {
            "name": "delay",
            "field": "hops.0.delay",
            "linear": ["0.2 ms", "6 ms"],
            "step": "0.2 ms",
        },
        "requirements": {"goodput": {"goal": f"goodput_bps >= {bound:.0f} bit/s", "probability": asked}},
        "replications": 1000,
    }
    return Case("window / RTT", _seeded(data), float(f"{fixed_s[holds][-1]:.12g}"))


def rate_over_flows() -> Case:
    """Flows share a link whose rate is drawn: its payload over their number is the goodput of each."""
    payload, header, asked, bound = 1000, 40, 0.78, 1.0e5
    flows = np.arange(2, 17)
    # The link must carry so many bit/s, headers included; its rate is drawn from 0.4 to 1.2 Mbit/s.
    needed = flows * bound * (payload + header) / payload
    holds = (1.2e6 - needed) / 0.8e6 >= asked
    data = {
        "scenario": {
            "duration": "12 s",
            "warm_up": "4 s",
            "transport": {
                "protocol": "newreno",
                "window": 32,
                "payload": f"{payload} B",
                "header": f"{header} B",
                "start": {"uniform": ["0 s", "1 s"]},
            },
            "shared": {
                "dumbbell": {
                    "rate": {"uniform": ["0.4 Mbit/s", "1.2 Mbit/s"]},
                    "delay": "5 ms",
                    "queue": 60,
                },
                "flows": [{"count": 2, "each": {}}],
            },
        },
        "quantity": {"name": "flows", "field": "shared.flows.0.count", "linear": [2, 16]},
        "requirements": {
            "share": {"goal": f"goodput_bps / flows >= {bound:.0f} bit/s", "probability": asked}
        },
        "replications": 1000,
    }
    return Case("link rate / flows", _seeded(data), float(flows[holds][-1]))


def cell_of_bianchi() -> Case:
    """Stations of a saturated cell share what Bianchi's model says, at one of four rates."""
    rates, asked, bound = ("6 Mbit/s", "12 Mbit/s", "24 Mbit/s", "36 Mbit/s"), 0.65, 1.0e6
    scenario: dict[str, Any] = {
        "duration": "0.5 s",
        "warm_up": "0.1 s",
        "transport": {"protocol": "udp", "rate": "10 Mbit/s", "payload": "1470 B"},
        "wireless": {"standard": "802.11g", "cell": {"stations": 5}, "rate": {"choice": list(rates)}},
    }
    stations = np.arange(2, 17)
    probability = []
    for n in stations:
        each = [_saturation(scenario, rate, int(n)) / n for rate in rates]
        probability.append(np.mean([share >= bound for share in each]))
    data = {
        "scenario": scenario,
        "quantity": {"name": "users", "field": "wireless.cell.stations", "linear": [2, 16]},
        "requirements": {
            "share": {"goal": f"goodput_bps / users >= {bound:.0f} bit/s", "probability": asked}
        },
        "replications": 1000,
    }
    return Case("Bianchi", _seeded(data), float(stations[np.array(probability) >= asked][-1]))


CASES: Sequence[Callable[[], Case]] = (window_over_rtt, rate_over_flows, cell_of_bianchi)


def covers(case: Case, seed: int) -> tuple[bool, int]:
    """Whether the interval of one repetition contains the truth, and how many steps of the values it has.

    Only the search is run, which decides the interval, not the curve beside it.
    """
    made = case.plan(seed)
    runner = ReplicationRunner(made.outcomes, target="cpu")
    return _covers(made, Ledger(made, runner), made.values.index(case.truth))


class Coins:
    """Coins instead of a network: replication k holds at value i if coin k is below probability i."""

    def __init__(self, probabilities: NDArray[np.float64], seed: int) -> None:
        self.probabilities, self.rng = probabilities, np.random.default_rng(seed)
        self.coins = np.zeros(0)
        self.simulated = self.used = self.damaged = 0

    def of(self, scenario: Scenario, n: int) -> dict[str, NDArray[np.float64]]:
        """`goodput_bps` is 1 where it holds; the value is in the length of the queue."""
        if n > len(self.coins):
            self.coins = np.append(self.coins, self.rng.random(n - len(self.coins)))
        place = int(scenario.paths[0].hops[0].queue) - 1  # type: ignore[union-attr, arg-type]
        return {"goodput_bps": (self.coins[:n] < self.probabilities[place]).astype(np.float64)}


def coins(asked: float, slope: float, *, values: int = 40, most: int = 2000) -> tuple[Plan, list[float], int]:
    """A plan without a network, its curve, and the place of its answer: there it is just what was asked."""
    answer = values // 3
    curve = [min(1.0, max(0.0, asked + slope * (answer - i))) for i in range(values)]
    data = {
        "scenario": {
            "duration": "1 s",
            "transport": {"protocol": "newreno"},
            "hops": [{"rate": "1 Mbit/s", "delay": "1 ms", "queue": 1}],
        },
        "quantity": {"name": "queue", "field": "hops.0.queue", "linear": [1, values]},
        "requirements": {"it": {"goal": "goodput_bps >= 0.5 bit/s", "probability": asked}},
        "replications": most,
    }
    return make_plan(data), curve, answer


def covers_coins(asked: float, slope: float, seed: int) -> tuple[bool, int]:
    """`covers` of the tests alone."""
    made, curve, answer = coins(asked, slope)
    return _covers(made, Ledger(made, Coins(np.array(curve), seed)), answer)  # type: ignore[arg-type]


def _covers(made: Plan, ledger: Ledger, answer: int) -> tuple[bool, int]:
    bracket = Bracket(-1, len(made.values))
    for found in search(len(made.values), ledger.decide, most=made.most):
        bracket = found
    return bracket.low <= answer < bracket.high, bracket.high - bracket.low


def _seeded(data: dict[str, Any]) -> Callable[[int], Plan]:
    return lambda seed: make_plan({**data, "seed": seed})


def _saturation(scenario: dict[str, Any], rate: str, stations: int) -> float:
    wireless = Scenario.check({**scenario, "wireless": {**scenario["wireless"], "rate": rate}}).wireless
    assert wireless is not None
    return bianchi.saturation(wireless, stations=stations, payload=1470).throughput_bps


def main(repetitions: int) -> None:
    """Print how often each truth was covered, and how wide intervals were: 1 step is the narrowest."""
    for asked, slope in ((0.5, 0.05), (0.9, 0.02), (0.95, 0.01), (0.95, 0.1), (0.99, 0.002)):
        print_one(
            f"coins {asked}, {slope} a step", [covers_coins(asked, slope, s) for s in range(repetitions)]
        )
    for make in CASES:
        case, begun = make(), time.process_time()
        found = [covers(case, seed) for seed in range(1, repetitions + 1)]
        print_one(case.name, found, time.process_time() - begun)


def print_one(name: str, found: list[tuple[bool, int]], seconds: float | None = None) -> None:
    """A line of the table."""
    share = np.mean([covered for covered, _ in found])
    width = np.mean([width for _, width in found])
    took = "" if seconds is None else f", {seconds:.0f} s of processor time"
    print(
        f"{name:24} {100 * share:5.1f} % of {len(found)} covered, mean width {width:.2f} steps{took}",
        flush=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS)
