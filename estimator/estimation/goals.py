"""Goals for an outcome, written as `goodput_bps >= 1 Mbit/s` or `restart_s <= 5 s`.

In a sweep that compares, also as `goodput_bps >= 95 % of baseline`: of the same replication of the baseline.
"""

import operator
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError, nearest
from netcarlo.networks.outcome import dimension
from netcarlo.scenario import Scenario
from netcarlo.schema import units
from netcarlo.simulation import measurable
from netcarlo.simulation.outcomes import MEANING

_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True)
class Goal:
    """An outcome compared with a threshold in SI units, or with that part of the baseline's."""

    text: str
    outcome: str
    comparison: str
    threshold: float
    relative: bool = False

    def held(self, outcomes: Any, baseline: Any = None) -> NDArray[np.bool_]:
        """In which replications it is met, given arrays by outcome; a time that did not happen meets none."""
        limit = np.asarray(self.threshold)
        if self.relative:
            limit = limit * np.asarray(baseline[self.outcome], np.float64)
        return np.asarray(_COMPARE[self.comparison](np.asarray(outcomes[self.outcome]), limit))


def parse(text: str, scenario: Scenario | None = None) -> Goal:
    """Read a goal; raises InputError, which hints at outcomes of the scenario."""
    match = re.fullmatch(r"(\w+)\s*(>=|<=|>|<)\s*(.+)", text.strip(), re.DOTALL)
    if match is None:
        raise InputError(f"goal '{text}' is no comparison; write it as 'goodput_bps >= 1 Mbit/s'")
    outcome, comparison, value = match.groups()
    known_outcome(outcome, scenario)
    of_baseline = value.endswith(" of baseline")
    value = value.removesuffix(" of baseline")
    try:
        threshold = units.parse(value, units.FRACTION if of_baseline else dimension(outcome))
    except InputError as error:
        raise InputError(f"goal '{text}': '{value}' {error}") from None
    return Goal(text.strip(), outcome, comparison, threshold, of_baseline)


def known_outcome(name: str, scenario: Scenario | None = None) -> str:
    """The name itself; InputError if it is no outcome."""
    if name not in MEANING:
        known = measurable.outcomes(scenario) if scenario is not None else MEANING
        raise InputError(f"'{name}' is no outcome; {nearest(name, known, cutoff=0.6)}")
    return name
