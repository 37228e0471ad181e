"""Packet runs and time saved by a control variate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from netcarlo.estimation.control_variates import Controlled
from netcarlo.estimation.replications import Replications


@dataclass(frozen=True)
class Saving:
    """Packet runs and time saved by a control variate, compared with the plain mean of packet runs."""

    control: str
    packet_runs: int
    draws: int
    """Draws of the cheap fidelity [n]."""
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


def saved(runs: Replications, control: str, found: Mapping[str, Controlled]) -> Saving:
    """Return the savings by a control; `found` has the means with the control by outcome."""
    table = pd.DataFrame(
        [(f.coefficient, f.correlation, f.variance_ratio, f.runs_saved) for f in found.values()],
        columns=["coefficient", "correlation", "variance_ratio", "runs_saved"],
        index=pd.Index(list(found), name="outcome"),
    )
    packet_s, draws_s = (runs.seconds[fidelity] for fidelity in (runs.fidelity, control))
    return Saving(control, runs.done(), runs.done(control), packet_s, draws_s, table)
