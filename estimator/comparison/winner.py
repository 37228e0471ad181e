"""Sequential decision which of several scenarios has the best mean of an outcome.

All scenarios have common random numbers, so their differences are paired. Replications are added in growing
batches until the mean of one scenario is better than that of each other one. Test k of a pair may err with
the probability e / (k (k + 1)), which sums to e over any number of tests; e is 5 % over the number of pairs.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from netcarlo.comparison.differences import student
from netcarlo.errors import InputError
from netcarlo.estimation import verdicts
from netcarlo.estimation.replications import Replications
from netcarlo.estimation.sample import Step
from netcarlo.networks.outcome import LESS, MORE
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.simulation import measurable
from netcarlo.simulation.outcomes import BY_NAME
from netcarlo.simulation.progress import Report


class Winner(NamedTuple):
    """Answer which side has the best mean of an outcome."""

    outcome: str
    """Outcome whose means are compared."""
    side: int | None
    """Index of the best side; None if it is not decided."""
    replications: int
    """Number of replications of each side."""

    def record(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return the answer as data for JSON; `labels` are those of the sides."""
        return {**self._asdict(), "side": None if self.side is None else labels[self.side]}


def decide(runs: Sequence[Replications], of: str, *, most: int, progress: Report | None = None) -> Winner:
    """Replicate scenarios until it is known which has the best mean of `of`, or each has `most` replications.

    With 95 % confidence no other scenario is better. Raises InputError for an outcome of which neither more
    nor less is better.
    """
    for one in runs:
        measurable.check([of], one.scenario)
    if BY_NAME[of].better not in (MORE, LESS):
        raise InputError(
            f"neither more nor less of {of} is better, so no side is best; choose another outcome"
        )
    n = test = 0
    while True:
        n, test = verdicts.following(n, most), test + 1
        for one in runs:
            one.extend(Step(one.fidelity, n), progress=progress)
        best = _best([one.values(of)[:n] for one in runs], of, test)
        if best is not None or n >= most:
            return Winner(of, best, n)


def _best(values: Sequence[Floats], of: str, test: int) -> int | None:
    """Return the index of the values [n] whose mean is the best by test number `test`; None if none is."""
    sign, sides = -1.0 if BY_NAME[of].better == LESS else 1.0, len(values)
    wrong = (1 - statistics.LEVEL) / math.comb(sides, 2) / (test * (test + 1))
    wins = np.zeros((sides, sides), bool)
    for i, j in combinations(range(sides), 2):
        change = sign * (values[j] - values[i])
        seen = statistics.mean(change[~np.isnan(change)])
        error = seen.sd / math.sqrt(seen.n) if seen.n else math.nan
        low, high = student(np.array(seen.mean), np.array(error), np.array(seen.n - 1.0))(wrong)
        wins[j, i], wins[i, j] = low > 0, high < 0
    return next((k for k in range(sides) if wins[k].sum() == sides - 1), None)
