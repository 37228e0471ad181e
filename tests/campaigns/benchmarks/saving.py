"""Coverage of estimates with control variates, and packets per answer: the tables of docs/results/saving.md.

    python -m tests.campaigns saving coverage [REPETITIONS [METHOD ...]]
    python -m tests.campaigns saving questions [NAME ...]

`coverage` repeats estimates of artificial outcomes whose mean is known. Exit 1 if a method covers the mean in
fewer than 95 % of the repetitions of all problems together, less two standard errors. `questions` answers
questions about shipped scenarios with and without the methods that `--precision` chooses.
"""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from netcarlo import estimate, load_scenario
from netcarlo.estimation import verdicts
from netcarlo.estimation.control_variates import INPUTS
from netcarlo.estimation.replications import Replications
from netcarlo.estimation.sample import Aim, Sample, Step
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import StoppingRule
from netcarlo.scenario import Scenario
from tests.campaigns import parser

REPETITIONS = 1000
OF = "goodput_bps"
"""Name of the artificial outcome. Its bounds do not matter."""
SIZES = 64, 256, 0
"""Numbers of replications; 0 for the precision of each problem."""
MOST = 4096
"""Maximum number of replications of an estimate."""

EXAMPLES = Path(__file__).parents[3] / "configs" / "examples"


class Problem(NamedTuple):
    """Outcome with a known mean, of inputs [n, 4] that are uniform from 0 to 1."""

    name: str
    mean: float
    outcome: Callable[[Floats, np.random.Generator], Floats]
    formula: Callable[[Floats], Floats]
    """Biased approximation of the outcome."""
    relative: float
    """Precision that takes some hundred replications."""


def _smooth(u: Floats) -> Floats:
    return np.asarray(np.exp(u.sum(axis=1) / 2))


def _bottleneck(u: Floats) -> Floats:
    return np.minimum(10 * u[:, 0], 8 * u[:, 1])


SMOOTH = (2 * math.sqrt(math.e) - 2) ** 4
BOTTLENECK = 8 / 2 - 8**2 / 60
PROBLEMS = (
    Problem(
        "smooth", SMOOTH,
        lambda u, rng: _smooth(u) + 0.2 * rng.normal(size=len(u)),
        lambda u: 1.3 * (1 + u.sum(axis=1) / 2) ** 1.2, 0.01,
    ),
    Problem(
        "bottleneck", BOTTLENECK,
        lambda u, rng: _bottleneck(u) * (1 + 0.1 * rng.normal(size=len(u))),
        lambda u: 0.8 * _bottleneck(u) ** 1.3, 0.03,
    ),
    Problem(
        "skewed", SMOOTH + 1,
        lambda u, rng: _smooth(u) + rng.exponential(1, len(u)),
        _smooth, 0.02,
    ),
    Problem(
        "timeouts", 0.95 * SMOOTH,
        lambda u, rng: _smooth(u) * np.where(rng.random(len(u)) < 0.1, 0.5, 1.0),
        _smooth, 0.02,
    ),
    Problem(
        "useless formula", 10.0,
        lambda u, rng: 10 + rng.normal(size=len(u)),
        lambda u: u[:, 2] ** 3, 0.01,
    ),
)  # fmt: skip

METHODS: dict[str, tuple[str, ...]] = {
    "plain": (), "formula": ("formula",), "inputs": (INPUTS,), "formula, inputs": ("formula", INPUTS),
    "fluid": ("fluid",), "fluid, inputs": ("fluid", INPUTS),
    "formula, fluid, inputs": ("formula", "fluid", INPUTS),
}  # fmt: skip
"""Control variates by method. The artificial fluid is near the formula. With a fluid there are at most 8
cheap draws per run, so the error of their mean matters more than with a formula alone."""


class Artificial(Sample):
    """Replications of a problem, computed on demand."""

    def __init__(self, problem: Problem, seed: int) -> None:
        """Draw the inputs."""
        super().__init__("packet")
        self.problem, self.known = problem, {"packet": 0, "formula": 0, "fluid": 0}
        rng = np.random.default_rng(seed)
        self.u = rng.random((9 * MOST, 4))
        self.made: dict[str, Floats] = {}
        self.rng = rng

    def done(self, fidelity: str | None = None) -> int:
        """Return the number of replications of a fidelity."""
        return self.known[fidelity or "packet"]

    def values(self, of: str, fidelity: str | None = None) -> Floats:
        """Return the outcomes of a fidelity."""
        return self.made.get(fidelity or "packet", np.zeros(0))

    def inputs(self, n: int) -> Floats:
        """Return the first two Legendre polynomials of each input."""
        u = self.u[:n]
        return np.hstack([2 * u - 1, 6 * u * u - 6 * u + 1])

    def extend(self, step: Step) -> None:
        """Make the replications of a step."""
        first = self.done(step.fidelity)
        u = self.u[first : step.until]
        if step.fidelity == "packet":
            new = self.problem.outcome(u, self.rng)
        else:
            new = self.problem.formula(u)
            if step.fidelity == "fluid":
                new = new * 1.1 + 0.05 * u[:, 3] ** 4
        self.made[step.fidelity] = np.append(self.values("", step.fidelity), new)
        self.known[step.fidelity] = step.until


def covered(problem: Problem, rule: StoppingRule, controls: tuple[str, ...], seed: int) -> tuple[bool, int]:
    """Return whether the interval of an estimate contains the mean, and its number of replications."""
    sample, aim = Artificial(problem, seed), Aim(OF, rule, controls)
    while step := sample.wanted(aim):
        sample.extend(step)
    found = sample.mean(aim)
    return found.ci_low <= problem.mean <= found.ci_high, found.n


def least(estimates: int) -> float:
    """Return the least share of covered means, two standard errors below 95 %."""
    return 0.95 - 2 * math.sqrt(0.05 * 0.95 / estimates)


def coverage(repetitions: int, sizes: Sequence[int] = (), methods: Sequence[str] = ()) -> bool:
    """Print the coverage of each method. Return False if one covers too seldom."""
    print("| control variates | replications |", " | ".join(p.name for p in PROBLEMS), "| all |")
    print("|" + "---|" * (len(PROBLEMS) + 3))
    good = True
    for name in methods or METHODS:
        controls = METHODS[name]
        for size in sizes or SIZES:
            shares, cells = [], []
            for k, problem in enumerate(PROBLEMS):
                rule = StoppingRule.fixed(size) if size else StoppingRule(problem.relative, most=MOST)
                found = [covered(problem, rule, controls, 10_000 * k + seed) for seed in range(repetitions)]
                shares.append(np.mean([hit for hit, _ in found]))
                used = "" if size else f" ({np.mean([n for _, n in found]):.0f})"
                cells.append(f"{100 * shares[-1]:.1f}{used}")
            everything = np.mean(shares)
            good &= bool(everything >= least(repetitions * len(PROBLEMS)))
            label = str(size) if size else "`--precision`"
            print(f"| {name} | {label} |", " | ".join(cells), f"| {100 * everything:.1f} |", flush=True)
    return good


SHARES = 0.5, 0.9, 0.95, 0.99


def goals(repetitions: int) -> bool:
    """Print how often verdicts on goals are wrong at the limit, and the replications halfway above it."""
    print("\n| required | wrong at the limit [%] | replications, halfway above | fixed number |")
    print("|---|---|---|---|")
    good = True
    for share in SHARES:
        wrong = np.mean(_verdicts(share, share, repetitions)[0] == verdicts.FAILS)
        used = np.mean(_verdicts((1 + share) / 2, share, repetitions)[1])
        fixed = fixed_number(share, 0.05)
        print(f"| {share:.0%} | {100 * wrong:.1f} | {used:.0f} | {fixed:.0f} |", flush=True)
        good &= bool(wrong <= 0.05)
    return good


def fixed_number(share: float, error: float) -> float:
    """Return the number of replications that distinguishes a probability `share` from the one halfway to 1,
    with an error probability `error` in both directions."""
    above = (1 + share) / 2
    spread = math.sqrt(share * (1 - share)) + math.sqrt(above * (1 - above))
    return float((ndtri(1 - error) * spread / (above - share)) ** 2)


def _verdicts(probability: float, share: float, repetitions: int) -> tuple[NDArray[np.object_], Floats]:
    """Return the verdicts on goals with a probability, [repetitions], and their numbers of replications."""
    coins = np.random.default_rng(1).random((repetitions, verdicts.MAX_REPLICATIONS)) < probability
    held, error = coins.cumsum(axis=1).astype(float), 1 - statistics.LEVEL
    found, used = np.full(repetitions, verdicts.OPEN, object), np.zeros(repetitions)
    n = 0
    while n < verdicts.MAX_REPLICATIONS:
        n, open_ = verdicts.following(n, verdicts.MAX_REPLICATIONS), found == verdicts.OPEN
        used[open_] = n
        found[open_] = verdicts.tested(held[open_, n - 1], n, share, error)
    return found, used


class Question(NamedTuple):
    """Question about the mean of an outcome of a shipped scenario."""

    family: str
    file: str
    of: str = OF
    relative: float = 0.01


QUESTIONS = (
    Question("paths", "random_topology"), Question("paths", "lossy_hop"), Question("paths", "handover"),
    Question("shared", "random_dumbbells"), Question("shared", "shared"), Question("shared", "fair_queue"),
    Question("802.11", "wifi_cells"), Question("802.11", "wifi_mesh"), Question("802.11", "wifi_cell"),
    Question("ad hoc", "adhoc"), Question("ad hoc", "adhoc", "delivered"), Question("ad hoc", "adhoc_linux"),
)  # fmt: skip
"""Three scenarios of each family: many fields drawn at random, few, and none."""

FORMER = 256
"""Replications at the first look of version 1 of the stopping rule, without control variates."""

LONGEST = 20_000
"""Number of replications beyond which those without the methods are predicted and not simulated."""


def questions(names: Sequence[str]) -> None:
    """Print the table of replications and packets with and without the methods."""
    print("| scenario | outcome | control variates | replications | without | packets, millions | without |",
          "times | s | without |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    ratios = []
    for question in QUESTIONS:
        if names and question.file not in names:
            continue
        ratios.append(_answer(question))
    print(f"\ngeometric mean of {len(ratios)}: {math.exp(np.mean(np.log(ratios))):.1f}")


class Cost(NamedTuple):
    """Cost of the answer to a question with and without the methods."""

    used: str
    """Control variates."""
    replications: int
    packets: float
    seconds: float
    plain: int
    """Replications without the methods."""
    plain_packets: float
    plain_seconds: float | None
    """Processor time without the methods [s]; None if their replications are predicted."""

    @property
    def times(self) -> float:
        """Ratio of the packets without the methods to those with them."""
        return self.plain_packets / self.packets


def _answer(question: Question) -> float:
    """Print the row of a question. Return how many times fewer packets it takes."""
    found = cost(question)
    about = "about " if found.plain_seconds is None else ""
    seconds = "" if found.plain_seconds is None else f"{found.plain_seconds:.1f}"
    print(
        f"| {question.file} | {question.of} | {found.used} | {found.replications:,} |"
        f" {about}{found.plain:,} | {found.packets / 1e6:.3g} | {about}{found.plain_packets / 1e6:.3g} |"
        f" {found.times:.1f} | {found.seconds:.1f} | {seconds} |",
        flush=True,
    )
    return found.times


def cost(question: Question) -> Cost:
    """Answer a question with the methods; without them if this does not take too long."""
    scenario = load_scenario(EXAMPLES / f"{question.file}.yaml")
    estimate(scenario, replications=2, target="cpu")  # compiles
    begun = time.process_time()
    found = estimate(scenario, of=question.of, precision=question.relative, target="cpu")
    spent = time.process_time() - begun
    n, sent = len(found.outcomes.frame), found.outcomes.frame["sent"]
    row = found.table.loc[question.of]
    rule = StoppingRule(question.relative, first=FORMER)
    wanted = rule.margin * (1.96 * row["sd"] / (question.relative * row["mean"])) ** 2
    plain = int(max(FORMER, wanted))
    plain_sent, seconds = plain * float(sent.mean()), None
    if wanted <= LONGEST:
        begun = time.process_time()
        outcomes = _former(scenario, question.of, rule)
        plain, plain_sent = len(outcomes), float(outcomes["sent"].sum())
        seconds = time.process_time() - begun
    helped = found.saving is not None and question.of in found.saving.table.index
    used = found.saving.control if found.saving is not None and helped else ""
    return Cost(used, n, float(sent.sum()), spent, plain, plain_sent, seconds)


def _former(scenario: Scenario, of: str, rule: StoppingRule) -> pd.DataFrame:
    """Return the outcomes of the replications that a plain mean needs by a stopping rule."""
    runs = Replications(scenario, target="cpu")
    aim = Aim(of, rule)
    while step := runs.wanted(aim):
        runs.extend(step)
    return runs.outcomes().frame


def main() -> int:
    """Print the tables. Return 1 if a method covers too seldom."""
    arguments = parser(__doc__)
    arguments.add_argument("what", choices=("coverage", "questions"))
    arguments.add_argument("rest", nargs="*", help="repetitions and methods, or names of questions")
    given = arguments.parse_args()
    if given.what == "coverage":
        repetitions = int(given.rest[0]) if given.rest else REPETITIONS
        methods = given.rest[1:]
        good = [coverage(repetitions, methods=methods), bool(methods) or goals(repetitions)]
        return 0 if all(good) else 1
    questions(given.rest)
    return 0
