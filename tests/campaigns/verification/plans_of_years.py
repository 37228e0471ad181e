"""Plans about the year compared with brute-force years, on accelerated small cases.

    python -m tests.campaigns plans_of_years [REPETITIONS]

Exit 1 if in fewer than 95 % of the plans of a case everything that the plan states is true, or if plans are
not narrow enough.

The brute-force year of each value of the plan is that of the campaign `availability`: windows with the whole
history of outages that come every minute. A plan is right if the value at which requirements start to fail
lies in its interval, and all of its confidence bands contain the share of the brute-force year. Plans of the
stream have the known answer of that campaign.

Power with 100 plans of a case: if 98 % of its plans are right, the campaign fails with probability 1.5 %;
if 90 % are right, with 94 %; if 85 % are right, with 99.8 %.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from netcarlo.planning import make_plan, plan
from netcarlo.planning.run import Answer
from tests.campaigns import parser
from tests.campaigns.verification import availability
from tests.campaigns.verification.availability import LEAST_COVERED, Case, calls, stream

REPETITIONS = 100
WINDOWS = 20_000
"""Windows of the brute-force year of each value."""
APART = 3.0
"""Least distance between the required share and that of any value [standard error of the year]."""
REPLICATIONS = 4_000
"""Replications at a value, at most."""


@dataclass(frozen=True)
class Planned:
    """Plans of each seed, with the true share of the year at each value."""

    name: str
    plan: Callable[[int], dict[str, Any]]
    """Plan as in a file."""
    shares: Sequence[float]
    """Share of the year in which the goal is met, for each value."""
    asked: float
    """Required share of the year."""
    smallest: bool
    """True if the goal is met at large values."""
    widest: float
    """Limit of the mean width of the intervals [steps]."""
    error: float = 0.0
    """Largest standard error of the shares."""

    @property
    def limit(self) -> int:
        """Index in `Plan.values` of the last value that holds; values that hold come first."""
        return sum(share >= self.asked for share in self.shares) - 1


@dataclass(frozen=True)
class Quantity:
    """Quantity of a plan of calls."""

    name: str
    fields: Sequence[str]
    values: Sequence[float]
    unit: str
    asked: float
    smallest: bool
    widest: float

    def of_calls(self, case: Case, windows: int) -> Planned:
        """Return the plans of a case, with the brute-force year at each value.

        Raises ValueError if the year is too short to know which value is the answer.
        """
        shares, errors = zip(
            *(
                availability.brute_force(case, windows, {field: self.shown(value) for field in self.fields})
                for value in self.values
            ),
            strict=True,
        )
        for share, error in zip(shares, errors, strict=True):
            if abs(share - self.asked) < APART * error:
                raise ValueError(f"{case.name}: a share of {share:.4f} is too near {self.asked}")
        made = partial(self.made, case)
        return Planned(case.name, made, shares, self.asked, self.smallest, self.widest, max(errors))

    def shown(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{value:g} {self.unit}"

    def made(self, case: Case, seed: int) -> dict[str, Any]:
        """Return the plan of a seed."""
        return {
            "scenario": case.rare(seed),
            "quantity": {
                "name": self.name, "field": list(self.fields), "values": [*map(self.shown, self.values)]
            },
            "find": "smallest" if self.smallest else "largest",
            "requirements": {"it": {"goal": case.goal, "probability": self.asked}},
            "replications": REPLICATIONS,
        }  # fmt: skip


BACKUP = ("shared.links.2.rate", "shared.links.4.rate")
RATES = (150, 165, 180, 195, 210, 225)
"""Rates of the backup [kbit/s], over which three calls of 40 to 70 kbit/s run."""


def backup_rate(windows: int) -> Planned:
    """Return plans of the rate of the backup."""
    case = calls("rate of the backup", [("0", 60, 20)], detection_s=1)
    return Quantity("rate", BACKUP, RATES, "kbit/s", 0.87, True, 3).of_calls(case, windows)


def backup_that_fails(windows: int) -> Planned:
    """Return plans of the rate of a backup that also fails; both lines are down in 2.5 % of the year."""
    case = calls("rate of a backup that fails", [("0", 60, 20), ("1", 90, 10)], detection_s=1)
    return Quantity("rate", BACKUP, RATES, "kbit/s", 0.78, True, 4).of_calls(case, windows)


def detection(windows: int) -> Planned:
    """Return plans of the time after which an outage is detected."""
    case = calls("time of detection", [("0", 60, 20)], detection_s=1)
    field = ["shared.flows.0.each.detection"]
    return Quantity("detection", field, (1, 6, 12, 18, 24, 30), "s", 0.85, False, 4).of_calls(case, windows)


def up_time(windows: int) -> Planned:
    """Return plans of the up time of a path whose stream loses nothing; the shares of the year are known."""
    del windows
    up_s = (20, 30, 40, 50, 60, 80, 100)
    shares = [up / (up + availability.DOWN_S) * math.exp(-availability.RUN_S / up) for up in up_s]

    def made(seed: int) -> dict[str, Any]:
        field = "hops.0.outages.mtbf"
        return {
            "scenario": stream(seed),
            "quantity": {"name": "up", "field": field, "values": [f"{up} s" for up in up_s]},
            "find": "smallest",
            "requirements": {"it": {"goal": "drops_outage <= 0", "probability": 0.68}},
            "replications": REPLICATIONS,
        }

    return Planned("up time of a path", made, shares, 0.68, True, 3)


CASES: Sequence[Callable[[int], Planned]] = backup_rate, backup_that_fails, detection, up_time


def right(case: Planned, answer: Answer) -> bool:
    """Return whether the interval and all bands of an answer are true."""
    values = answer.plan.values
    shares = dict(zip(values, reversed(case.shares) if case.smallest else case.shares, strict=True))
    low = -1 if answer.holds is None else values.index(answer.holds)
    high = len(values) if answer.fails is None else values.index(answer.fails)
    bands = (point.shares[0].low <= shares[point.value] <= point.shares[0].high for point in answer.curve)
    return low <= case.limit < high and all(bands)


def repeated(case: Planned, repetitions: int) -> Iterator[tuple[bool, int, int]]:
    """Yield whether the plan of each seed is right, its width [steps] and its replications."""
    for seed in range(1, repetitions + 1):
        answer = plan(make_plan(case.plan(seed)))
        yield right(case, answer), 1 + len(answer.undecided), answer.cost["replications"]


def main() -> int:
    """Print a line for each case; returns 1 if plans are right too seldom or too wide."""
    arguments = parser(__doc__)
    arguments.add_argument("repetitions", nargs="?", type=int, default=REPETITIONS)
    arguments.add_argument("--windows", type=int, default=WINDOWS, help="Windows of a brute-force year.")
    given = arguments.parse_args()
    good = True
    for make in CASES:
        case, begun = make(given.windows), time.process_time()
        found = [*repeated(case, given.repetitions)]
        share, width, replications = (sum(column) / len(found) for column in zip(*found, strict=True))
        print(
            f"{case.name}: year {', '.join(f'{share:.4f}' for share in case.shares)} +- {case.error:.4f}, "
            f"asked {case.asked}; {100 * share:.0f} % of {len(found)} plans are right, "
            f"mean width {width:.2f} steps, {replications:.0f} replications, "
            f"{time.process_time() - begun:.0f} s of processor time",
            flush=True,
        )
        if share < LEAST_COVERED or width > case.widest:
            print(f"    expected: {100 * LEAST_COVERED:.0f} % or more, {case.widest:g} steps or less")
            good = False
    return 0 if good else 1
