"""Requirements: a comparison of outcomes with a bound, and the probability with which it must hold."""

import operator
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.networks.outcome import dimension
from netcarlo.numerics.arrays import Floats
from netcarlo.schema import expressions, units
from netcarlo.schema.axes import DIMENSIONS
from netcarlo.simulation.outcomes import MEANING, check_threshold, of_classes

_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True)
class Requirement:
    """Requirement that the comparison of `measure` with `bound` holds with `probability`."""

    name: str
    """Name of the requirement."""
    text: str
    """The comparison as it is written in the file."""
    measure: str
    """Outcome, or expression of outcomes and of the planned quantity."""
    comparison: str
    """One of `>=`, `<=`, `>`, `<`."""
    bound: float
    """Bound in SI units."""
    probability: float
    """Probability with which the comparison must hold in a replication."""
    quantity: str
    """Name of the planned quantity."""
    outcomes: tuple[str, ...]
    """Outcomes in `measure`."""

    @property
    def at_least(self) -> bool:
        """True if the measure must be above the bound."""
        return self.comparison.startswith(">")

    def measured(self, outcomes: Mapping[str, Floats], value: float) -> Floats:
        """Return the measure in each replication, [n], at a value of the quantity; NaN where it is not
        finite."""
        known = {name: outcomes[name] for name in self.outcomes}
        with np.errstate(all="ignore"):  # a division by 0 gives NaN, which meets no bound
            found = expressions.evaluate(self.measure, {**known, self.quantity: value})
        numbers = np.asarray(found, np.float64)
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        return np.array(np.broadcast_to(numbers, len(next(iter(known.values())))))

    def held(self, measured: Floats) -> NDArray[np.bool_]:
        """Return True for each replication in which the comparison holds; NaN never does."""
        return np.asarray(_COMPARE[self.comparison](measured, self.bound))

    def quantile(self, measured: Floats, weights: Floats | None = None) -> float:
        """Return the value that the measure reaches with the required probability, in these replications.

        `weights` are their probabilities; by default they are equal.
        """
        sign = 1.0 if self.at_least else -1.0
        signed = np.where(np.isnan(measured), -np.inf, sign * measured)
        if weights is None:
            at = int((1 - self.probability) * len(signed) + 1e-9)
            return sign * float(np.sort(signed)[min(at, len(signed) - 1)])
        worst_first = np.argsort(signed, kind="stable")
        at = int(np.searchsorted(np.cumsum(weights[worst_first]), 1 - self.probability, "right"))
        return sign * float(signed[worst_first[min(at, len(signed) - 1)]])

    def margin(self, quantile: float) -> float:
        """Return the distance of a quantile from the bound; negative if the requirement fails."""
        return quantile - self.bound if self.at_least else self.bound - quantile


def parse(
    name: str,
    text: str,
    probability: float,
    quantity: str,
    *,
    values: Sequence[float],
    known: Collection[str],
) -> Requirement:
    """Parse a requirement such as `goodput_bps / users >= 1 Mbit/s`. Raises InputError.

    `known` are the outcomes of the scenario. The measure is evaluated at all `values` of the quantity as a
    check.
    """
    match = re.fullmatch(r"\s*(.+?)\s*(>=|<=|>|<)\s*([^<>=]+?)\s*", text)
    if match is None:
        raise InputError(f"{name}: '{text}' is not a comparison; write one such as goodput_bps >= 1 Mbit/s")
    measure, comparison, value = match.groups()
    words = set(re.findall(r"[A-Za-z_]\w*", measure))
    outcomes = *(word for word in MEANING if word in words), *sorted(of_classes(words))
    # Outcomes that this scenario does not have are reported elsewhere, with the reason.
    expressions.check(measure, [*known, *outcomes, quantity], what="not an outcome")
    if not outcomes:
        raise InputError(f"{name}: '{measure}' contains no outcome; write one such as goodput_bps")
    bound = _bound(name, value, measure)
    found = Requirement(name, text.strip(), measure, comparison, bound, probability, quantity, outcomes)
    _try(found, values)
    return found


TRIED = 10.0 ** np.linspace(-9, 12, 64)
"""Values of outcomes for the check of measures, in SI units: from delays to rates."""


def _try(requirement: Requirement, values: Sequence[float]) -> None:
    """Raise InputError unless the measure of a requirement is a number for some outcomes at each value."""
    rng = np.random.default_rng(0)
    outcomes = {name: rng.permutation(TRIED) for name in requirement.outcomes}
    for value in values:
        try:
            fine = bool(np.isfinite(requirement.measured(outcomes, value)).any())
            problem = "" if fine else " (it is never a finite number)"
        except Exception as error:  # an expression may raise any error
            problem = f" ({error})"
        if problem:
            where = f"'{requirement.measure}' has no value at {requirement.quantity} = {value:g}{problem}"
            raise InputError(f"{requirement.name}: {where}; write one such as goodput_bps")


def _bound(name: str, value: str, measure: str) -> float:
    kinds = [dimension(measure)] if measure in MEANING else list(DIMENSIONS)
    error = None
    for kind in kinds:
        try:
            found = units.parse(value, kind)
        except InputError as problem:
            error = error or problem
            continue
        if measure in MEANING:
            check_threshold(measure, found)
        return found
    raise InputError(f"{name}: '{value}' {error}")
