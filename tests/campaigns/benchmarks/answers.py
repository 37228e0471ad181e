"""Packets per answer for twelve questions about means, goals, winners and plans (docs/results/saving.md).

    python -m tests.campaigns answers [WORD ...]

Asks three questions of each kind for each kind of network, from shipped examples, sweeps and plans. A WORD
selects the questions whose row of the table contains it. The function of each kind of question describes how
the cost without the methods is counted.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from netcarlo import compare, estimate
from netcarlo.estimation import verdicts
from netcarlo.planning.file import as_plan
from netcarlo.planning.run import Search
from netcarlo.planning.runner import ReplicationRunner
from netcarlo.scenario import Scenario
from tests.campaigns import parser
from tests.campaigns.benchmarks import saving

CONFIGS = Path(__file__).parents[3] / "configs"
POWER = 1.96 + 1.645
"""Sum of the normal quantiles of a two-sided test at the 5 % level with a power of 95 %."""
SENT = "sent"
"""Outcome that counts the packets of a replication."""


class Answered(NamedTuple):
    """Answer to a question and its cost."""

    answer: str
    replications: int
    packets: float
    plain: int
    """Replications without the methods."""
    plain_packets: float
    stopping: float = 0.0
    """Part of the saving that is due to stopping when the winner is known; 0 for other kinds of questions."""

    @property
    def times(self) -> float:
        """Ratio of the packets without the methods to those with them."""
        return self.plain_packets / self.packets


def sweep(file: str, name: str = "", **values: Any) -> Scenario:
    """Return the scenario of a shipped sweep with some fields set; dots are written as two underscores."""
    data = yaml.safe_load((CONFIGS / f"{file}.yaml").read_text())
    given = {field.replace("__", "."): value for field, value in values.items()}
    return Scenario.check({"name": name or file} | data["scenario"]).with_values(given)


def mean(file: str) -> Answered:
    """Estimate a goodput with a precision of 1 %. The cost without the methods: no control variates,
    and the first look at 256 replications."""
    found = saving.cost(saving.Question("", file))
    said = found.used.replace("inputs", "drawn quantities") or "no control variates"
    return Answered(said, found.replications, found.packets, found.plain, found.plain_packets)


def goal(scenario: Scenario, text: str, share: float) -> Answered:
    """Decide whether a goal holds with a probability. The cost without the
    methods: `saving.fixed_number` for an error of 5 %."""
    found = estimate(scenario, goals=[text], probability=share, target="cpu")
    sent, row = found.outcomes.frame[SENT], found.goals.iloc[0]
    plain = math.ceil(saving.fixed_number(share, 0.05))
    said = f"{row['verdict']}, {row['probability']:.0%}"
    return Answered(said, len(sent), float(sent.sum()), plain, plain * float(sent.mean()))


def winner(scenarios: list[Scenario], of: str = "goodput_bps") -> Answered:
    """Decide which scenario is better.

    The cost without the methods: independent replications of each scenario, as many as a test at the 5 %
    level needs for a power of 95 %, and at least those of the first sequential test. `stopping` compares with
    the same test on pairs with common random numbers.
    """
    found = compare(*scenarios, of=of, until_decided=True, target="cpu")
    frames = [side.outcomes.frame for side in found.sides if side.outcomes is not None]
    values = np.stack([frame[of].to_numpy() for frame in frames])
    change = values[1] - values[0]
    plain, paired = (
        max(math.ceil((POWER / float(change.mean())) ** 2 * float(variance)), verdicts.FIRST)
        for variance in (values.var(axis=1, ddof=1).sum(), change.var(ddof=1))
    )
    sent = [frame[SENT] for frame in frames]
    best = found.winner.side if found.winner is not None else None
    said = "open" if best is None else found.sides[best].label
    n, each = len(change), sum(float(one.mean()) for one in sent)
    return Answered(said, n, n * each, plain, plain * each, paired / n)


def plan(name: str) -> Answered:
    """Search the limit of a plan; its curve and resources are not computed.

    The cost without the methods: at each value of the search, the largest `saving.fixed_number` of its
    requirements for the error that the plan allows at a value.
    """
    asked = as_plan(CONFIGS / "plans" / f"{name}.yaml")
    runner = ReplicationRunner([*asked.recorded, SENT], target="cpu")
    found = Search(asked, runner)
    found.decide()
    ledger = found.ledger
    fixed = math.ceil(max(saving.fixed_number(r.probability, asked.level) for r in asked.requirements))
    used = sum(n * ledger.mean(i, SENT) for i, n in ledger.replications.items())
    plain = sum(fixed * ledger.mean(i, SENT) for i in ledger.replications)
    low, high = found.bracket
    said = " to ".join(f"{asked.values[i]:.4g}" for i in (low, high) if 0 <= i < len(asked.values))
    n = sum(ledger.replications.values())
    return Answered(said, n, used, fixed * len(ledger.replications), plain)


def _tcp(file: str, *protocols: str, **values: Any) -> list[Scenario]:
    return [sweep(file, one, **values, transport__protocol=one) for one in protocols]


QUESTIONS: dict[tuple[str, str, str], Callable[[], Answered]] = {
    ("paths", "mean", "`random_topology`: goodput"): lambda: mean("random_topology"),
    ("paths", "winner", "`random_topologies`, loss 0.1 %: NewReno or SACK"): lambda: winner(
        _tcp("random_topologies", "newreno", "sack", hops__0__each__loss="0.1 %")
    ),
    ("paths", "plan", "`satellite_buffer`"): lambda: plan("satellite_buffer"),
    ("shared", "mean", "`random_dumbbells`: goodput"): lambda: mean("random_dumbbells"),
    ("shared", "goal", "`shared_planning`: each of 10 users 100 kbit/s, 90 %"): lambda: goal(
        sweep("shared_planning"), "worst_flow_bps >= 100 kbit/s", 0.9
    ),
    ("shared", "plan", "`shared_link_flows`"): lambda: plan("shared_link_flows"),
    ("802.11", "goal", "`random_homes`, 5 GHz: 99 % of the video in time, 90 %"): lambda: goal(
        sweep("random_homes", wireless__band="5 GHz"), "video_in_time >= 99 %", 0.9
    ),
    ("802.11", "winner", "`mesh_planning`, 1 Mbit/s offered: 24 or 54 Mbit/s"): lambda: winner(
        [
            sweep("mesh_planning", rate, wireless__rate=rate, transport__rate="1 Mbit/s")
            for rate in ("24 Mbit/s", "54 Mbit/s")
        ]
    ),
    ("802.11", "plan", "`access_point_users`"): lambda: plan("access_point_users"),
    ("ad hoc", "mean", "`adhoc`: goodput"): lambda: mean("adhoc"),
    ("ad hoc", "goal", "`adhoc_planning`: 1 MB in a minute, 90 %"): lambda: goal(
        sweep("adhoc_planning"), "transfer_s <= 60 s", 0.9
    ),
    ("ad hoc", "winner", "`adhoc_planning`: NewReno or ELFN"): lambda: winner(
        _tcp("adhoc_planning", "newreno", "elfn")
    ),
}
"""Three questions of each kind of network and of each kind of question."""


def main() -> int:
    """Print the table, and the geometric mean of its last column."""
    arguments = parser(__doc__)
    arguments.add_argument("words", nargs="*")
    words = arguments.parse_args().words
    print(
        "| network | kind | question | answer | replications | without | packets, millions | without |",
        "times |",
    )
    print("|---|---|---|---|---|---|---|---|---|")
    ratios, stopping = [], []
    for key, ask in QUESTIONS.items():
        if words and not any(word in " ".join(key) for word in words):
            continue
        found = ask()
        ratios.append(found.times)
        stopping.append(found.stopping or found.times)
        print(
            f"| {' | '.join(key)} | {found.answer} | {found.replications:,} | {found.plain:,} |"
            f" {found.packets / 1e6:.3g} | {found.plain_packets / 1e6:.3g} | {found.times:.1f} |",
            flush=True,
        )
    alone = f"{_geometric(stopping):.1f} if pairs are not counted as a method"
    print(f"\ngeometric mean of {len(ratios)}: {_geometric(ratios):.1f}; {alone}")
    return 0


def _geometric(ratios: list[float]) -> float:
    return math.exp(float(np.mean(np.log(ratios))))
