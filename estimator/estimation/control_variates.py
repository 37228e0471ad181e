"""Control variates: a fast fidelity reduces the variance of an estimate over random networks.

Packet runs give pairs (y, x) of an outcome and of the fast model's value for the same draw. Many more draws,
for which only x is computed, estimate the mean of x. The part of y that x explains then adds almost nothing
to the error. docs/fidelity.md describes the interval and its coverage.
"""

import math
from typing import NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean
from netcarlo.scenario import Scenario
from netcarlo.simulation import fidelity

MIN_RUNS = 10
"""Minimum number of packet runs for estimating a coefficient."""

MAX_DRAWS = {"formula": 64, "fluid": 8}
"""Maximum number of draws per packet run, so that draws never cost more than the runs."""


class Controlled(NamedTuple):
    """Mean estimated with a control variate."""

    mean: Mean  # sd is that of the outcome without control
    coefficient: float
    correlation: float  # between outcome and control
    variance_ratio: float  # plain mean of as many packet runs, over this mean

    @property
    def runs_saved(self) -> int:
        """Number of additional packet runs that the plain mean would need for an interval of the same
        width."""
        return round(self.mean.n * (self.variance_ratio - 1))


def controlled(y: Floats, x: Floats) -> Controlled | None:
    """Return the mean of `y` [n] with the control `x` [m], m >= n, whose first n values belong to those of
    `y`.

    Each pair is corrected with the coefficient of the other pairs, so that no value influences its own
    correction. The interval is that of the corrected values, and includes the error of the mean of `x`.
    Returns None if a value is missing, the control is constant, or there are too few pairs.
    """
    n, m = len(y), len(x)
    if n < MIN_RUNS or not (np.isfinite(y).all() and np.isfinite(x).all()):
        return None
    everywhere, plain = statistics.mean(x), statistics.mean(y)
    a, b = x[:n] - math.fsum(x[:n]) / n, y - math.fsum(y) / n
    sxx, sxy, syy = (math.fsum(u * v) for u, v in ((a, a), (a, b), (b, b)))
    without = sxx - a * a * (n / (n - 1))
    # Values that differ only by rounding errors count as constant.
    varied = [v > n * (1e-9 * w.mean) ** 2 for v, w in ((sxx, everywhere), (syy, plain))]
    if not (all(varied) and (without > 1e-12 * sxx).all()):
        return None
    others = (sxy - a * b * (n / (n - 1))) / without
    corrected = statistics.mean(y - others * (x[:n] - everywhere.mean))
    coefficient = sxy / sxx
    far = abs(coefficient) * everywhere.half_width
    centre = corrected.mean
    low = centre - math.hypot(centre - corrected.ci_low, far)
    high = centre + math.hypot(corrected.ci_high - centre, far)
    return Controlled(
        Mean(n, centre, plain.sd, low, high),
        coefficient,
        sxy / math.sqrt(sxx * syy),
        plain.sd**2 / (corrected.sd**2 + (coefficient * everywhere.sd) ** 2 * n / m),
    )


def draws_needed(y: Floats, x: Floats, *, most: float) -> int:
    """Return the number of fast draws for packet runs `y` at which the mean of the control adds a third to
    the variance.

    There are at most `most` draws per run.
    """
    n = len(y)
    found = controlled(y, x[:n])
    if found is None:
        return n
    known = found.correlation**2
    each = 3 * known / max(1 - known, 1e-9)
    return n + math.ceil(n * min(each, most))


def check(scenario: Scenario, control: str) -> None:
    """Raise InputError unless a fast fidelity can be the control variate of packet runs of a scenario."""
    fidelity.check(scenario, control)
    if scenario.fidelity != "packet":
        raise InputError(
            f"control = {control} needs packet runs; write fidelity: packet, or remove the control"
        )
