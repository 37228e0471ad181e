"""Goals for an outcome, written as `goodput_bps >= 1 Mbit/s` or `restart_s <= 5 s`."""

import operator
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo import units
from netcarlo.errors import InputError, nearest
from netcarlo.outcomes import MEANING

_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_DIMENSIONS = {"_bps": units.RATE, "_s": units.TIME, "_packets": units.PACKETS}


@dataclass(frozen=True)
class Goal:
    """An outcome compared with a threshold in SI units."""

    text: str
    outcome: str
    comparison: str
    threshold: float

    def held(self, outcomes: Any) -> NDArray[np.bool_]:
        """In which replications it is met, given arrays by outcome; a time that did not happen meets none."""
        return np.asarray(_COMPARE[self.comparison](np.asarray(outcomes[self.outcome]), self.threshold))


def parse(text: str) -> Goal:
    """Read a goal; raises InputError."""
    match = re.fullmatch(r"\s*(\w+)\s*(>=|<=|>|<)\s*(.+?)\s*", text)
    if match is None:
        raise InputError(f"goal '{text}' is no comparison; write it as 'goodput_bps >= 1 Mbit/s'")
    outcome, comparison, value = match.groups()
    known_outcome(outcome)
    dimension = next((d for suffix, d in _DIMENSIONS.items() if outcome.endswith(suffix)), units.PLAIN)
    try:
        threshold = units.parse(value, dimension)
    except InputError as error:
        raise InputError(f"goal '{text}': '{value}' {error}") from None
    return Goal(text.strip(), outcome, comparison, threshold)


def known_outcome(name: str) -> str:
    """The name itself; InputError if it is no outcome."""
    if name not in MEANING:
        raise InputError(f"'{name}' is no outcome; {nearest(name, MEANING)}")
    return name
