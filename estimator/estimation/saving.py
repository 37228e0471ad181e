"""Packet runs and time saved by control variates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from netcarlo.estimation.control_variates import INPUTS, Controlled
from netcarlo.estimation.replications import Replications
from netcarlo.estimation.sample import Aim

WORDS = {INPUTS: "the drawn quantities"}


@dataclass(frozen=True)
class Saving:
    """Packet runs and time saved by control variates, compared with the plain mean of packet runs."""

    control: str
    """Names of the control variates: fidelities, and `inputs` for drawn quantities."""
    packet_runs: int
    draws: int
    """Draws of the cheap fidelities [n]; `packet_runs` without any."""
    packet_s: float
    draws_s: float
    """Time spent on draws [s], without compilation; `packet_s` is that of packet runs."""
    table: pd.DataFrame
    """A row per outcome that has a control: coefficient, correlation, variance_ratio and runs_saved."""

    def seconds(self, outcome: str) -> float:
        """Return the time saved for an outcome [s]; negative if the draws cost more."""
        return self.packet_s / self.packet_runs * float(self.table["runs_saved"][outcome]) - self.draws_s

    def sentence(self, outcome: str) -> str:
        """Return a sentence about the saving for an outcome."""
        if outcome not in self.table.index:
            return f"{outcome} has no control variate: {self.control} does not model it, or it is constant"
        ratio, saved = (float(self.table[name][outcome]) for name in ("variance_ratio", "runs_saved"))
        if saved <= 0:
            return f"{outcome}: the control variate does not narrow the interval; use more runs without it"
        time_s = self.seconds(outcome)
        cost = f"{time_s:.3g} s saved" if time_s > 0 else f"{-time_s:.3g} s lost"
        without = f"{self.packet_runs * ratio:.0f} without the control variate"
        return f"{outcome}: {self.packet_runs} packet runs are as precise as {without} ({cost})"

    def record(self) -> dict[str, Any]:
        """Return the savings as data for JSON."""
        return {**vars(self), "table": self.table.to_dict("index")}


def saved(runs: Replications, aim: Aim, found: Mapping[str, Controlled]) -> Saving:
    """Return the savings by the control variates of `aim`; `found` has the means with them by outcome."""
    table = pd.DataFrame(
        [(f.coefficient, f.correlation, f.variance_ratio, f.runs_saved) for f in found.values()],
        columns=["coefficient", "correlation", "variance_ratio", "runs_saved"],
        index=pd.Index(list(found), name="outcome"),
    )
    draws_s = sum(runs.seconds[fidelity] for fidelity in aim.fast)
    draws = min(map(runs.done, aim.fast), default=runs.done())
    return Saving(", ".join(aim.controls), runs.done(), draws, runs.seconds[runs.fidelity], draws_s, table)


def explanation(aim: Aim, saving: Saving | None, runs: int) -> str:
    """Return a sentence on the replications and control variates of an estimate, and on what they saved."""
    used = f"{aim.of}: {runs:,} replications"
    if not aim.controls:
        return f"{used}, no control variates"
    names = " and ".join(WORDS.get(name, f"the {name}") for name in aim.controls)
    if saving is None or aim.of not in saving.table.index:
        return f"{used}; {names} explain too little to be control variates"
    ratio = float(saving.table["variance_ratio"][aim.of])
    draws = f" ({saving.draws:,} draws)" if aim.fast else ""
    return (
        f"{used} with control variates: {names}{draws}. Without them an interval of this width takes about "
        f"{runs * ratio:,.0f} ({ratio:.1f} times as many)"
    )
