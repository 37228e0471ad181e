"""Requirements: a comparison of what comes of a replication, and how probably it must hold."""

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcarlo import expressions, units
from netcarlo.errors import InputError
from netcarlo.outcomes import MEANING, dimension
from netcarlo.sweeps.axes import DIMENSIONS

Floats = NDArray[np.float64]

_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True)
class Requirement:
    """`measure` compared with `bound` must hold with `probability`."""

    name: str
    text: str
    measure: str
    """An outcome, or an expression of outcomes and of the planned quantity."""
    comparison: str
    bound: float
    """In SI units."""
    probability: float
    quantity: str
    outcomes: tuple[str, ...]

    @property
    def at_least(self) -> bool:
        """Whether more is better."""
        return self.comparison.startswith(">")

    def measured(self, outcomes: Mapping[str, Floats], value: float) -> Floats:
        """The measure in each replication, at this value of the quantity."""
        known = {name: outcomes[name] for name in self.outcomes}
        found = expressions.evaluate(self.measure, {**known, self.quantity: value})
        return np.asarray(found, np.float64)

    def held(self, measured: Floats) -> NDArray[np.bool_]:
        """In which replications it holds; what did not happen holds in none."""
        return np.asarray(_COMPARE[self.comparison](measured, self.bound))

    def quantile(self, measured: Floats) -> float:
        """What the measure reaches with the probability asked for, in these replications."""
        sign = 1.0 if self.at_least else -1.0
        worst_first = np.sort(np.where(np.isnan(measured), -np.inf, sign * measured))
        at = int((1 - self.probability) * len(worst_first) + 1e-9)
        return sign * float(worst_first[min(at, len(worst_first) - 1)])

    def margin(self, quantile: float) -> float:
        """How far a quantile is on the good side of the bound."""
        return quantile - self.bound if self.at_least else self.bound - quantile


def parse(name: str, text: str, probability: float, quantity: str) -> Requirement:
    """Read a requirement such as `goodput_bps / users >= 1 Mbit/s`.  Raises InputError."""
    match = re.fullmatch(r"\s*(.+?)\s*(>=|<=|>|<)\s*([^<>=]+?)\s*", text)
    if match is None:
        raise InputError(f"{name}: '{text}' is no comparison; write it as 'goodput_bps >= 1 Mbit/s'")
    measure, comparison, value = match.groups()
    expressions.check(measure, [*MEANING, quantity])
    words = set(re.findall(r"[A-Za-z_]\w*", measure))
    outcomes = tuple(word for word in MEANING if word in words)
    if not outcomes:
        raise InputError(f"{name}: '{measure}' has no outcome in it; write one such as goodput_bps")
    bound = _bound(name, value, measure)
    return Requirement(name, text.strip(), measure, comparison, bound, probability, quantity, outcomes)


def _bound(name: str, value: str, measure: str) -> float:
    kinds = [dimension(measure)] if measure in MEANING else list(DIMENSIONS)
    error = None
    for kind in kinds:
        try:
            return units.parse(value, kind)
        except InputError as problem:
            error = error or problem
    raise InputError(f"{name}: '{value}' {error}")
