"""Coverage of known answers by the intervals of plans.

    python -m tests.campaigns plan_coverage [REPETITIONS]

Exit 1 if an answer is covered in fewer than 95 % of the repetitions, or if the intervals are too wide.

The simulated networks are a window over a round-trip time, TCP flows that share a link, and an 802.11 cell by
Bianchi's model. Each draws a parameter at random, so the probability is known and near the required one at
the answer. A plan of two quantities is covered if the answers at all values of the second one are, and the
cost of the true cheapest design lies between the two stated costs. Plans over failures have calls that one
failed cable interrupts: single failures, and cables that fail independently or together. Plans with classes
require a quantile of the delays of one class in the queue M/D/1. `coins` has no network: its curve meets the
required probability exactly at the answer, which is the worst case of the tests.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from netcarlo.kernels.base.delays import SHIFT
from netcarlo.networks.wireless import bianchi
from netcarlo.numerics.histogram import edges
from netcarlo.planning import Frontier, make_plan
from netcarlo.planning.definition import Plan
from netcarlo.planning.ledger import Ledger
from netcarlo.planning.runner import ReplicationRunner
from netcarlo.planning.search import Bracket, search
from netcarlo.scenario import Scenario
from tests.campaigns import parser
from tests.campaigns.verification.queues import wait

REPETITIONS = 200
WIDEST = 4.0
"""Limit of the mean width of intervals [steps]; cases whose probability falls slowly have a larger one."""
LEAST_COVERED = 0.95
COINS = (0.5, 0.05, 6), (0.9, 0.02, 6), (0.95, 0.01, 6), (0.95, 0.1, 6), (0.99, 0.002, 12)
"""Required probability, its decrease per step, and the limit of the mean width [steps]."""


@dataclass(frozen=True)
class Case:
    """Plan of each seed, and the last value at which its requirement truly holds.

    For two quantities there is one such value for each value of the second."""

    name: str
    plan: Callable[[int], Plan]
    truths: tuple[float, ...]
    widest: float = WIDEST
    """Limit of the mean width of its intervals [steps]."""


def window_over_rtt() -> Case:
    """Return a case whose goodput is window / RTT; the RTT is twice a fixed delay and one drawn from 0 to 2
    ms.
    """
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
    return Case("window / RTT", _seeded(data), (float(f"{fixed_s[holds][-1]:.12g}"),))


def rate_over_flows() -> Case:
    """Return a case of flows that share a link with a random rate: each gets an equal share of the
    payload.
    """
    payload, header, asked, bound = 1000, 40, 0.78, 1.0e5
    flows = np.arange(2, 17)
    # Required rate of the link, headers included; the rate is drawn from 0.4 to 1.2 Mbit/s.
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
    return Case("link rate / flows", _seeded(data), (float(flows[holds][-1]),))


def cell_of_bianchi() -> Case:
    """Return a case of a saturated cell at one of four rates, whose throughput is that of Bianchi's model."""
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
    return Case("Bianchi", _seeded(data), (float(stations[np.array(probability) >= asked][-1]),))


def windows_and_delays() -> Case:
    """Return `window_over_rtt` for windows of 2, 3 and 4 packets; short delays and large windows cost
    more.
    """
    payload, bound, asked, duration_s, windows = 1000, 5.0e5, 0.88, 4.0, (2, 3, 4)
    fixed_s = np.arange(1, 41) * 8e-4
    truths = []
    for window in windows:
        longest_s = duration_s / (math.ceil(bound * duration_s / (8 * window * payload)) + 0.5) / 2
        truths.append(float(f"{fixed_s[(longest_s - fixed_s) / 8e-3 >= asked][-1]:.12g}"))
    data = {
        "scenario": {
            "duration": f"{duration_s} s",
            "transport": {"protocol": "newreno", "payload": f"{payload} B"},
            "hops": [
                {"rate": "unlimited", "delay": "0.8 ms"},
                {"rate": "unlimited", "delay": {"uniform": ["0 ms", "8 ms"]}},
            ],
        },
        "quantity": {
            "name": "delay",
            "field": "hops.0.delay",
            "linear": ["0.8 ms", "32 ms"],
            "step": "0.8 ms",
        },
        "across": {
            "name": "packets",
            "field": ["transport.window", "transport.initial_window"],
            "values": list(windows),
        },
        "cost": "packets + 0.03 / delay",
        "requirements": {"goodput": {"goal": f"goodput_bps >= {bound:.0f} bit/s", "probability": asked}},
        "replications": 600,
    }
    return Case("windows and delays", _seeded(data), tuple(truths))


def single_failures() -> Case:
    """Return a case of a call that ends before the failure, or uses another of three equally likely cables.

    The failure begins in the first 20 s, so a call of T s has no loss with the probability 1 - T / 60 s.
    Packets in flight at the end count, too: this adds 0.2 s, and the answer is 0.5 s from the edges of its
    step.
    """
    length_s, asked = np.arange(2, 21), 0.792
    data = _call({"cables": "one", "outages": [{"start": {"uniform": ["0 s", "20 s"]}, "duration": "50 s"}]})
    data["quantity"] = {"name": "length", "field": "duration", "linear": ["2 s", "20 s"], "step": "1 s"}
    data["requirements"] = {"call": {"goal": "loss_ratio <= 0", "probability": asked}}
    return Case("single failures", _seeded(data), (float(length_s[1 - length_s / 60 >= asked][-1]),), 12)


def cables_by_themselves() -> Case:
    """Return a case of a call of T s over two cables, one of which shares a duct with the third.

    The plan searches the up time of a cable. Up times are exponential with mean M, that of the duct with mean
    200 s, so a call has no loss with the probability exp(-2 T / M - T / 200 s).
    """
    length_s, asked, up_s = 20.0, 0.7, np.arange(40, 401, 20)
    data = _call(
        {"cables": "each", "outages": {"up": "40 s", "down": "50 s"}},
        {"cables": "0 2", "outages": {"up": "200 s", "down": "50 s"}},
    )
    data["scenario"]["duration"] = f"{length_s} s"
    flow = data["scenario"]["shared"]["flows"][0]
    flow["route"] = "2 4"
    del flow["backup"], flow["detection"]
    data["quantity"] = {
        "name": "up", "field": "shared.failures.0.outages.up", "linear": ["40 s", "400 s"], "step": "20 s",
    }  # fmt: skip
    data["find"] = "smallest"
    data["requirements"] = {"call": {"goal": "loss_ratio <= 0", "probability": asked}}
    holds = np.exp(-2 * length_s / up_s - length_s / 200) >= asked
    return Case("cables by themselves", _seeded(data), (float(up_s[holds][0]),), 12)


MOST_DATA = 2, 4, 6
"""Numbers of data sources beside the video in the plan of two quantities."""


def video_in_a_queue() -> Case:
    """Return a case in which 95 % of the packets of a class must arrive within about 125 ms; see `_queue`."""
    data, truths = _queue(MOST_DATA[:1])
    data["scenario"]["shared"]["flows"][1]["count"] = MOST_DATA[0]
    return Case("a class in M/D/1", _seeded(data), truths)


def video_beside_data() -> Case:
    """Return the case with several numbers of data sources beside the video."""
    data, truths = _queue(MOST_DATA)
    data["across"] = {"name": "data", "field": "shared.flows.1.count", "values": list(MOST_DATA)}
    return Case("a class beside another", _seeded(data), truths)


def _queue(beside: Sequence[int]) -> tuple[dict[str, Any], tuple[float, ...]]:
    """Return the plan of a queue M/D/1 that Poisson sources of video and data share, and its answers.

    The rate of the link is drawn from 120 to 280 kbit/s. The path of the data is so long that their packets
    always exceed the bound of the video. The bound is an edge of a bin of the delays. The required
    probability is half a step (0.05) from that of the true answer; the finite duration of runs shifts it by
    less.
    """
    bins_s = (edges(1024) << SHIFT) / 1e9
    bound_s = float(bins_s[np.abs(bins_s - 0.125).argmin()])
    asked, delay_s, bits, each = 0.67, 5e-3, 8000, 1.0  # packets/s of a source
    low, high = 120e3, 280e3

    def late(rate: float, sources: int) -> float:
        service_s = bits / rate
        return 0.95 - wait(bound_s - delay_s - service_s, service_s, sources * each * service_s)

    def probability(sources: int) -> float:
        """Return the probability that the random rate exceeds the one at which exactly 5 % are late."""
        least = 1.001 * max(sources * each * bits, bits / (bound_s - delay_s))
        return float(high - brentq(late, least, 10 * high, (sources,))) / (high - low)

    # The source sends one packet in each active period.
    source = {"rate": "10 kbit/s", "payload": f"{bits // 8} B", "header": "0 B"}
    source |= {"on": "1 ms", "off": f"{1 / each - 1e-3} s"}
    far = {"source_delay": "200 ms"}
    data = {
        "scenario": {
            "duration": "200 s",
            "warm_up": "20 s",
            "transport": {"protocol": "newreno"},
            "shared": {
                "dumbbell": {
                    "rate": {"uniform": [f"{low} bit/s", f"{high} bit/s"]},
                    "delay": f"{delay_s} s",
                    "queue": "unlimited",
                },
                "access": {"rate": "1 Gbit/s"},
                "flows": [
                    {"count": 1, "each": {"class": "video", "udp": source}},
                    {"count": 1, "each": {"class": "data", "udp": source, "access": far}},
                ],
            },
        },
        "quantity": {"name": "streams", "field": "shared.flows.0.count", "linear": [2, 14], "step": 2},
        "requirements": {"video": {"goal": f"video_delay_p95_s <= {bound_s} s", "probability": asked}},
        "replications": 600,
    }
    sources = np.arange(2, 20, 2)
    most = sources[np.array([probability(int(n)) for n in sources]) >= asked][-1]
    return data, tuple(float(most - n) for n in beside)


def _call(*failures: dict[str, Any]) -> dict[str, Any]:
    """Return a call over one of three lines between three sites; each cable of its route always has a
    packet.
    """
    ends = ([0, 1], [1, 0], [0, 2], [2, 0], [2, 1], [1, 2])
    return {
        "scenario": {
            "duration": "2 s",
            "transport": {"protocol": "newreno"},
            "shared": {
                "links": [{"ends": list(each), "rate": "5 Mbit/s", "delay": "150 ms"} for each in ends],
                "failures": list(failures),
                "flows": [
                    {
                        "udp": {"rate": "0.1 Mbit/s", "payload": "1200 B"},
                        "route": "0",
                        "backup": "2 4",
                        "detection": "0.5 s",
                    }
                ],
            },
        },
        "replications": 600,
    }


CASES: Sequence[Callable[[], Case]] = (
    window_over_rtt, rate_over_flows, cell_of_bianchi, windows_and_delays, single_failures,
    cables_by_themselves, video_in_a_queue, video_beside_data,
)  # fmt: skip


def covers(case: Case, seed: int) -> tuple[bool, float]:
    """Return whether the interval of one repetition contains the truth, and its length in steps.

    For two quantities: whether all intervals do, and their mean length. Only the search is run, which decides
    the interval, not the curve beside it.
    """
    made = case.plan(seed)
    runner = ReplicationRunner(made.outcomes, target="cpu")
    return _together(
        _covers(one, Ledger(one, runner), one.values.index(truth))
        for one, truth in zip(made.designs or (made,), case.truths, strict=True)
    )


class Coins:
    """Random numbers instead of a network: replication k holds at value i if number k is below probability i.

    With a second quantity, each of its values has its own row of probabilities."""

    def __init__(self, probabilities: NDArray[np.float64], seed: int) -> None:
        self.probabilities, self.rng = np.atleast_2d(probabilities), np.random.default_rng(seed)
        self.coins = np.zeros(0)
        self.simulated = self.used = self.damaged = 0

    def of(self, scenario: Scenario, n: int) -> dict[str, NDArray[np.float64]]:
        """Return `goodput_bps`: 1 if it holds, else 0.

        The queue length encodes the value, the rate the row.
        """
        if n > len(self.coins):
            self.coins = np.append(self.coins, self.rng.random(n - len(self.coins)))
        hop = scenario.paths[0].hops[0]
        row, place = round(hop.rate / 1e6) - 1, int(hop.queue) - 1  # type: ignore[operator, arg-type]
        return {"goodput_bps": (self.coins[:n] < self.probabilities[row, place]).astype(np.float64)}


def coins(asked: float, slope: float, *, values: int = 40, most: int = 2000) -> tuple[Plan, list[float], int]:
    """Return a plan without a network, its curve, and the index of its answer, where the curve equals
    `asked`.
    """
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


def covers_coins(asked: float, slope: float, seed: int) -> tuple[bool, float]:
    """Return the result of `covers` for a plan without a network."""
    made, curve, answer = coins(asked, slope)
    return _covers(made, Ledger(made, Coins(np.array(curve), seed)), answer)  # type: ignore[arg-type]


def covers_coins_across(asked: float, slope: float, seed: int, *, rows: int = 3) -> tuple[bool, float]:
    """Return the result of `covers` for a plan of two quantities without a network: rows and cheapest cost.

    The answer moves by 4 values from row to row, and meets the required probability exactly in each.
    """
    made, curve, answer = coins(asked, slope)
    data = made.spec.model_dump(exclude_none=True) | {
        "across": {
            "name": "rate",
            "field": "hops.0.rate",
            "linear": ["1 Mbit/s", f"{rows} Mbit/s"],
            "points": rows,
        },
        "cost": "rate / 1e6 + 40 / queue",
    }
    both = make_plan(data)
    curves = np.clip([np.array(curve) + slope * 4 * row for row in range(rows)], 0, 1)
    runner: Any = Coins(curves, seed)
    places = [answer + 4 * row for row in range(rows)]
    brackets = [_bracket(one, Ledger(one, runner)) for one in both.designs]
    answers: Any = [
        SimpleNamespace(
            plan=one,
            holds=one.values[bracket.low] if bracket.low >= 0 else None,
            fails=one.values[bracket.high] if bracket.high < len(one.values) else None,
        )
        for one, bracket in zip(both.designs, brackets, strict=True)
    ]
    found = Frontier(both, answers)
    truth = min(row + 1 + 40 / (place + 1) for row, place in enumerate(places))
    assert found.least is not None and found.cheapest is not None
    priced = found.least.cost <= truth <= found.cheapest.cost
    covered, width = _together(map(_within, brackets, places))
    return covered and priced, width


def _together(rows: Iterable[tuple[bool, float]]) -> tuple[bool, float]:
    """Return whether all intervals cover the truth, and the mean of their widths."""
    covered, widths = zip(*rows, strict=True)
    return all(covered), float(np.mean(widths))


def _covers(made: Plan, ledger: Ledger, answer: int) -> tuple[bool, float]:
    return _within(_bracket(made, ledger), answer)


def _bracket(made: Plan, ledger: Ledger) -> Bracket:
    bracket = Bracket(-1, len(made.values))
    for found in search(len(made.values), ledger.decide, most=made.max_replications):
        bracket = found
    return bracket


def _within(bracket: Bracket, answer: int) -> tuple[bool, float]:
    return bracket.low <= answer < bracket.high, bracket.high - bracket.low


def _seeded(data: dict[str, Any]) -> Callable[[int], Plan]:
    return lambda seed: make_plan({**data, "seed": seed})


def _saturation(scenario: dict[str, Any], rate: str, stations: int) -> float:
    wireless = Scenario.check({**scenario, "wireless": {**scenario["wireless"], "rate": rate}}).wireless
    assert wireless is not None
    return bianchi.saturation(wireless, stations=stations, payload=1470).throughput_bps


def main() -> int:
    """Print how often each truth was covered, and how wide intervals were; the narrowest is 1 step.

    Return 1 if a truth was covered too seldom or the intervals were too wide.
    """
    arguments = parser(__doc__)
    arguments.add_argument("repetitions", nargs="?", type=int, default=REPETITIONS)
    repetitions = arguments.parse_args().repetitions
    good = True
    for asked, slope, widest in COINS:
        found = [covers_coins(asked, slope, seed) for seed in range(repetitions)]
        good &= print_one(f"coins {asked}, {slope} a step", found, widest)
    found = [covers_coins_across(0.9, 0.02, seed) for seed in range(repetitions)]
    good &= print_one("coins at 3 rates", found, 6)
    for make in CASES:
        case, begun = make(), time.process_time()
        found = [covers(case, seed) for seed in range(1, repetitions + 1)]
        good &= print_one(case.name, found, case.widest, time.process_time() - begun)
    return 0 if good else 1


def print_one(
    name: str, found: Sequence[tuple[bool, float]], widest: float, seconds: float | None = None
) -> bool:
    """Print a line of the table. Return whether coverage and width are within their limits."""
    share = np.mean([covered for covered, _ in found])
    width = np.mean([width for _, width in found])
    took = "" if seconds is None else f", {seconds:.0f} s of processor time"
    print(
        f"{name:24} {100 * share:5.1f} % of {len(found)} covered, mean width {width:.2f} steps{took}",
        flush=True,
    )
    good = bool(share >= LEAST_COVERED and width <= widest)
    if not good:
        least = f"{100 * LEAST_COVERED:.0f} % covered or more"
        print(f"    expected: {least}, mean width of {widest:g} steps or less")
    return good
