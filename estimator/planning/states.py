"""States of the year in a plan, and how many replications their shares need."""

from dataclasses import dataclass

import numpy as np

from netcarlo.estimation.states import Year
from netcarlo.estimation.strata import Strata
from netcarlo.estimation.verdicts import FIRST, following
from netcarlo.numerics import evidence
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.scenario import Scenario


@dataclass(frozen=True)
class States:
    """States of the year that are simulated."""

    shares: Floats
    """Share of the year of each state [K]."""
    scenarios: tuple[Scenario, ...]
    """Scenario of each state."""

    @classmethod
    def of(cls, scenario: Scenario) -> "States":
        """Return the states of a scenario: no outage, and one of them at a time."""
        fields = scenario.network.one_by_one()
        each = scenario.with_values(fields) if fields else scenario
        year = Year.of(each)
        single = [(s.share, year.scenario(each, s.parts)) for s in year.states if s.parts is not None]
        return cls(np.array([share for share, _ in single]), tuple(s for _, s in single))

    def needed(self, probability: float, level: float, cap: int | None = None) -> int | None:
        """Return the number of replications at which a share of the year above `probability` is shown if all
        succeed, None if `cap` replications are too few.

        The tests are those of a value of a plan (`YearLedger`) with this error probability. Raises
        ValueError if no number is enough, because several outages at once take the rest of the year.
        """
        if self.shares.sum() <= probability:
            raise ValueError
        strata, n = Strata(self.shares), 0
        while cap is None or n < cap:
            trials = allocated(strata, following(n, cap or 1 << 62))
            strata.n, strata.met, n = trials, trials, int(trials.sum())
            if self.shares @ evidence.lower(trials, trials, level / len(self.shares)) >= probability:
                return n
        return None


def allocated(strata: Strata, n: int) -> Ints:
    """Return the replications [K] of the states, together `n` or more; `strata` has the present ones."""
    trials = strata.n + strata.wanted(n, least=FIRST)
    trials[0] += max(n - int(trials.sum()), 0)  # what remains by rounding
    return np.asarray(trials)
