"""Estimates that a cheap fidelity sharpens: its value of each drawn network is a control variate.

Packet runs give pairs (y, x) of an outcome and of the cheap value of the same draw; many more draws, of
which only x is computed, say where the mean of x lies.  What y owes to the draw, as far as x knows it, then
adds next to nothing to the error.  docs/fidelity.md says how the interval is found and how often it covers.
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
"""Packet runs below which a coefficient is not worth estimating."""

MAX_DRAWS = {"formula": 64, "fluid": 8}
"""Draws per packet run at most: a control that says nearly all shall not cost more than the runs."""


class Controlled(NamedTuple):
    """A mean with a control variate beside it."""

    mean: Mean  # its sd is that of the outcome itself
    coefficient: float
    correlation: float  # of the outcome and its control
    variance_ratio: float  # variance of the plain mean of as many packet runs, over that of this one

    @property
    def runs_saved(self) -> int:
        """Packet runs that the plain mean would need on top for an interval as narrow."""
        return round(self.mean.n * (self.variance_ratio - 1))


def controlled(y: Floats, x: Floats) -> Controlled | None:
    """Mean of `y` [n] with the control `x` [m], m >= n, whose first n values belong to those of `y`.

    Each pair is corrected with the coefficient of the others, so that no value decides on its own correction;
    the interval is that of the corrected values, and the error of the mean of `x` is counted.  None where a
    value is missing, the control is constant, or there are too few pairs.
    """
    n, m = len(y), len(x)
    if n < MIN_RUNS or not (np.isfinite(y).all() and np.isfinite(x).all()):
        return None
    everywhere, plain = statistics.mean(x), statistics.mean(y)
    a, b = x[:n] - math.fsum(x[:n]) / n, y - math.fsum(y) / n
    sxx, sxy, syy = (math.fsum(u * v) for u, v in ((a, a), (a, b), (b, b)))
    without = sxx - a * a * (n / (n - 1))
    # What varies by rounding errors alone is constant.
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
    """So many cheap draws for the packet runs `y` that the mean of the control adds a third to the variance.

    At most `most` for each run.
    """
    n = len(y)
    found = controlled(y, x[:n])
    if found is None:
        return n
    known = found.correlation**2
    each = 3 * known / max(1 - known, 1e-9)
    return n + math.ceil(n * min(each, most))


def check(scenario: Scenario, control: str) -> None:
    """Raise InputError unless a cheap fidelity can be the control variate of packet runs of a scenario."""
    fidelity.check(scenario, control)
    if scenario.fidelity != "packet":
        raise InputError(f"control = {control} is for packet runs; write fidelity: packet, or no control")
