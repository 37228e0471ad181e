"""Sequential decision whether goals hold in a required share of the replications.

Batches grow until every goal is decided. With 95 % confidence no verdict is wrong, however often the goals
are tested, because of the tests of `numerics.evidence`; G goals have a G-th of the error each.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.estimation.goals import Goal
from netcarlo.estimation.replications import Replications
from netcarlo.estimation.sample import Step
from netcarlo.numerics import evidence, statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.simulation.progress import Report

FIRST, GROWTH = 32, 1.5
"""Number of replications before the first test, and ratio of the numbers at successive tests."""

MAX_REPLICATIONS = 4000
"""Maximum number of replications, unless the caller gives one."""

HOLDS, FAILS, OPEN = "holds", "fails", "open"
"""Verdicts."""


def following(n: int, most: int) -> int:
    """Return the number of replications at the test after that of `n`."""
    return min(most, max(FIRST, math.ceil(GROWTH * n)))


def tested(held: Floats, n: int, share: float, error: float) -> NDArray[np.object_]:
    """Return the verdict on each goal, given in how many of `n` replications it `held` [goals]."""
    verdicts = np.full(len(held), OPEN, object)
    verdicts[evidence.above(held, n, share) >= -math.log(error)] = HOLDS
    verdicts[evidence.below(held, n, share) >= -math.log(error)] = FAILS
    return verdicts


def decide(
    runs: Replications, goals: Sequence[Goal], share: float, *, most: int, progress: Report | None = None
) -> pd.DataFrame:
    """Simulate until it is decided whether each goal holds in at least `share` of the replications, or there
    are `most`.

    Returns a row per goal: n, probability, the ends ci_low and ci_high of a confidence interval that holds at
    all times together, and the verdict.
    """
    error = (1 - statistics.LEVEL) / len(goals)
    while True:
        n = following(runs.done(), most)
        runs.extend(Step(runs.fidelity, n), progress=progress)
        frame = runs.outcomes().frame
        held = np.array([goal.held(frame).sum() for goal in goals], np.float64)
        verdicts = tested(held, n, share, error)
        if n >= most or not (verdicts == OPEN).any():
            break
    return pd.DataFrame(
        {
            "n": n, "probability": held / n, "ci_low": evidence.lower(held, n, error / 2),
            "ci_high": evidence.upper(held, n, error / 2), "verdict": verdicts,
        },
        index=pd.Index([goal.text for goal in goals], name="goal"),
    )  # fmt: skip
