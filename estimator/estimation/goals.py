"""Goals for an outcome, written as `goodput_bps >= 1 Mbit/s` or `restart_s <= 5 s`.

A sweep that compares variants also accepts `goodput_bps >= 95 % of baseline`, relative to the same
replication of the baseline.
"""

import operator
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError, suggest
from netcarlo.networks.outcome import dimension
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.schema import units
from netcarlo.simulation import measurable
from netcarlo.simulation.outcomes import BY_NAME, MEANING, check_threshold

_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True)
class Goal:
    """Goal: an outcome compared with a threshold in SI units, or with a share of the baseline's outcome."""

    text: str
    outcome: str
    comparison: str
    threshold: float
    relative: bool = False

    def held(self, outcomes: Any, baseline: Any = None) -> NDArray[np.bool_]:
        """Return in which replications the goal is met, given arrays by outcome; not for a time that did
        not occur."""
        limit = self._limit(baseline)
        return np.asarray(_COMPARE[self.comparison](np.asarray(outcomes[self.outcome]), limit))

    def margins(self, outcomes: Any, baseline: Any = None) -> Floats:
        """Return by how much more than half of the replications meet the goal, for arrays [cells, n] by
        outcome.

        The unit is that of `Outcome.steps`. The result is positive if more than half meet the goal, and -inf
        if the deciding time did not occur.
        """
        steps = BY_NAME[self.outcome].steps
        with np.errstate(invalid="ignore"):
            off = steps(np.asarray(outcomes[self.outcome])) - steps(self._limit(baseline))
        off = np.where(
            np.isnan(np.asarray(outcomes[self.outcome])),
            -np.inf,
            np.nan_to_num(
                off if self.comparison.startswith(">") else -off, nan=0.0, posinf=np.inf, neginf=-np.inf
            ),
        )
        best_first = -np.sort(-off, axis=1)
        return np.asarray(best_first[:, best_first.shape[1] // 2])

    def _limit(self, baseline: Any) -> Floats:
        limit = np.asarray(self.threshold, np.float64)
        return limit * np.asarray(baseline[self.outcome], np.float64) if self.relative else limit


def parse(text: str, scenario: Scenario | None = None) -> Goal:
    """Parse a goal. Raises InputError, which suggests outcomes of the scenario."""
    match = re.fullmatch(r"(\w+)\s*(>=|<=|>|<)\s*(.+)", text.strip(), re.DOTALL)
    if match is None:
        raise InputError(f"goal '{text}' is not a comparison; write it as 'goodput_bps >= 1 Mbit/s'")
    outcome, comparison, value = match.groups()
    known_outcome(outcome, scenario)
    of_baseline = value.endswith(" of baseline")
    value = value.removesuffix(" of baseline")
    try:
        threshold = units.parse(value, units.FRACTION if of_baseline else dimension(outcome))
    except InputError as error:
        raise InputError(f"goal '{text}': '{value}' {error}") from None
    if not of_baseline:
        check_threshold(outcome, threshold)
    return Goal(text.strip(), outcome, comparison, threshold, of_baseline)


def known_outcome(name: str, scenario: Scenario | None = None) -> str:
    """Return the name of an outcome. Raises InputError if no outcome has this name."""
    if name not in MEANING:  # `measurable` reports missing classes
        known = measurable.outcomes(scenario) if scenario is not None else MEANING
        raise InputError(f"'{name}' is not an outcome; {suggest(name, known, cutoff=0.6)}")
    return name
