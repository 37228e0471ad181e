"""Decisions of `fidelity: auto` on the ready sweeps over drawn networks, compared with packets everywhere.

    python -m tests.campaigns adaptive [sweep ...] [--networks 64] [--replications 5] [--wrong 0.01]
                                       [--sample 0.1]

Prints the table of docs/results/adaptive-fidelity.md.  Each sweep (all four unless named) is run twice on one
core: with `fidelity: auto`, which decides goals and winner, and with packets alone.  The second run is the
reference for the first:

* goals: number of cells in which more than half of the replications meet the goal in both runs or in neither,
* winners: number of networks, at each point of the other axes, on which both name the same setting,
* leaders: number of points at which both name the same setting as the best on average over the networks.

Of the decisions that differ, it counts those that differ beyond chance: the intervals by packets of the two
settings do not overlap, or that of the goal does not contain one half. That needs a few replications per
cell.  It also prints the processor time of each [s], without compiling.
"""

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo import configs
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.numerics.arrays import Floats
from netcarlo.reports.sweep import wins
from netcarlo.reports.sweep.results import Results
from netcarlo.schema import document
from netcarlo.sweeps.execution import adaptive
from netcarlo.sweeps.execution.run import Summary
from netcarlo.sweeps.space.file import make_sweep
from netcarlo.sweeps.space.space import Sweep
from netcarlo.sweeps.store.store import Store
from tests.campaigns import parser

CONFIGS = Path(str(configs.__file__)).parent
READY = ("link_planning", "multihoming_planning", "mesh_planning", "mobility_planning")

NOT_FLUID = {"modern": {"pair": "bbr beside cubic", "jitter": "5 ms"}}
"""Cases of the axes of a sweep that the fluid model does not support. They are left out."""


class Answers(NamedTuple):
    """Results of a sweep, and its time."""

    sweep: Sweep
    frame: pd.DataFrame
    screened: pd.DataFrame
    summary: Summary
    seconds: float

    @property
    def results(self) -> Results:
        cheap = self.screened if self.sweep.screening is not None else None
        return Results(self.sweep.manifest(), self.frame, cheap)


class Agreement(NamedTuple):
    """Number of decisions, of those that are equal, and of those that differ beyond the intervals."""

    of: int
    same: int
    apart: int


def definition(name: str, *, networks: int, replications: int, **auto: Any) -> dict[str, Any]:
    """Return the definition of a shipped sweep over `networks` networks with `fidelity: auto`."""
    found = dict(document.read_yaml(CONFIGS / f"{name}.yaml").data)
    found["draw"] = {k: v for k, v in found["draw"].items() if k != "blocks"} | {"count": networks}
    for axis, case in NOT_FLUID.get(name, {}).items():
        axes = {k: v for k, v in found["axes"].items() if k != axis}
        cases = {k: v for k, v in found["axes"][axis]["cases"].items() if k != case}
        found["axes"] = {axis: {"cases": cases}, **axes} if len(cases) > 1 else axes
    found["scenario"] = {**found["scenario"], "replications": replications, "fidelity": "auto"}
    found["auto"] = {"decide": [*(["goals"] if "goals" in found else []), "winner"], **auto}
    return found


def by_packets(definition: dict[str, Any]) -> dict[str, Any]:
    """Return the definition of the same sweep without screening."""
    plain = {key: value for key, value in definition.items() if key != "auto"}
    return plain | {"scenario": {**plain["scenario"], "fidelity": "packet"}}


def run(definition: dict[str, Any]) -> Answers:
    """Run a sweep on one thread, and measure its processor time."""
    sweep = make_sweep(definition)
    for model in sweep.models():
        compilers.cpu_loop(model)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        store = Store.create(Path(folder) / "store", sweep.manifest())
        began = time.process_time()
        summary = adaptive.run(sweep, store, executor=pool, slots=lambda: 1)
        seconds = time.process_time() - began
        return Answers(sweep, store.frame(), store.screened(), summary, seconds)


def goals(auto: Answers, packets: Answers) -> Agreement:
    """Compare the verdicts on each goal in each cell."""
    of = same = apart = 0
    for goal in packets.sweep.goals:
        one, other = (each.frame[goal] > 0.5 for each in (auto, packets))
        low, high = packets.frame[f"{goal}_low"], packets.frame[f"{goal}_high"]
        of += len(one)
        same += int((one == other).sum())
        apart += int(((one != other) & ((low > 0.5) | (high < 0.5))).sum())
    return Agreement(of, same, apart)


def winners(auto: Answers, packets: Answers) -> Agreement:
    """Compare the winners on each network at each point."""
    outcome = wins.judged(packets.results)[0]

    def column(answers: Answers, name: str) -> Floats:
        return answers.frame[name].to_numpy(np.float64).reshape(-1, answers.sweep.group)

    ends = (column(packets, f"{outcome}_{end}") for end in ("low", "high"))
    means = (column(each, outcome) for each in (auto, packets))
    return _compared(packets.results.sign(outcome), *means, *ends)


def leaders(auto: Answers, packets: Answers) -> Agreement:
    """Compare the settings that are best over all networks at each point."""
    outcome = wins.judged(packets.results)[0]
    found = [
        each.estimates(outcome, np.arange(each.points), each.points)
        for each in (auto.results, packets.results)
    ]
    return _compared(packets.results.sign(outcome), found[0].mean, found[1].mean, found[1].low, found[1].high)


def _compared(sign: int, mine: Floats, theirs: Floats, low: Floats, high: Floats) -> Agreement:
    # Values are [groups, settings]. `low` and `high` are bounds of `theirs`; any of its tied
    # settings counts as best.
    known = np.isfinite(mine).all(axis=1) & np.isfinite(theirs).all(axis=1)
    mine, theirs, low, high = mine[known], theirs[known], low[known], high[known]
    chosen, best, at = (sign * mine).argmax(axis=1), (sign * theirs).argmax(axis=1), np.arange(len(mine))
    same = theirs[at, chosen] == theirs[at, best]
    gap = low[at, best] - high[at, chosen] if sign > 0 else low[at, chosen] - high[at, best]
    return Agreement(len(mine), int(same.sum()), int((~same & (gap > 0)).sum()))


def answered(auto: Answers) -> str:
    """Return the shares of the cells that fluid and packets answered, by reason."""
    total = sum(auto.summary.answered.values())
    parts = (f"{because} {100 * n / total:.0f} %" for (_, because), n in auto.summary.answered.items())
    return ", ".join(parts)


def main() -> None:
    """Run the sweeps and print a table."""
    arguments = parser(__doc__)
    arguments.add_argument("sweeps", nargs="*", default=list(READY))
    arguments.add_argument("--networks", type=int, default=64)
    arguments.add_argument("--replications", type=int, default=5)
    arguments.add_argument("--wrong", type=float, default=0.01)
    arguments.add_argument("--sample", type=float, default=0.1)
    asked = arguments.parse_args()
    for name in asked.sweeps:
        made = definition(
            name, networks=asked.networks, replications=asked.replications,
            wrong=asked.wrong, sample=asked.sample,
        )  # fmt: skip
        packets = run(by_packets(made))
        auto = run(made)
        print(f"{name}, {asked.networks} networks, {asked.replications} replications: {answered(auto)}")
        for compare in (goals, winners, leaders) if packets.sweep.goals else (winners, leaders):
            of, same, apart = compare(auto, packets)
            print(f"  {compare.__name__}: {100 * same / of:.2f} % of {of} the same, {apart} apart")
        print(f"  packets {packets.seconds:.1f} s, auto {auto.seconds:.1f} s", end=", ")
        print(f"ratio {packets.seconds / auto.seconds:.2f}", flush=True)
