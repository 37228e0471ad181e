"""Control variates: fast models and drawn quantities reduce the variance of an estimate over random networks.

Packet runs give an outcome y and, for the same draws, values of controls. The mean of a control is either
known exactly, as that of the random number from which a quantity is drawn (`inputs`), or estimated from many
more draws of a fast model. The part of y that the controls explain then adds almost nothing to the error.
docs/fidelity.md describes the interval and its coverage.
"""

import math
from collections.abc import Mapping, Sequence
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

RUNS_PER_CONTROL = 8
"""Minimum number of packet runs per control. Later controls are left out if there are fewer."""

MAX_DRAWS = {"formula": 64, "fluid": 8}
"""Maximum number of draws per packet run, so that draws never cost more than the runs."""

TINY = 1e-9
"""Part of the variance that is never explained, so that ratios are finite."""

INPUTS = "inputs"
"""Name of the controls that are computed from drawn quantities."""


class Controlled(NamedTuple):
    """Mean estimated with control variates."""

    mean: Mean  # sd is that of the outcome without control
    coefficient: float  # of the fast model; NaN without one, or with several
    correlation: float  # multiple correlation between outcome and controls; with one control, with its sign
    variance_ratio: float  # plain mean of as many packet runs, over this mean
    of_draws: float = 0.0  # variance of a draw of the fast models, over that of a corrected run

    @property
    def runs_saved(self) -> int:
        """Number of additional packet runs that the plain mean would need for an interval of the same
        width."""
        return round(self.mean.n * (self.variance_ratio - 1))


def _listed(x: Floats | Sequence[Floats]) -> list[Floats]:
    return [x] if isinstance(x, np.ndarray) and x.ndim == 1 else [*x]


class _Basis:
    """Orthonormal basis of controls over n runs, with the displacement of their sample mean from their
    mean."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.vectors: list[Floats] = []
        self.shifts: list[float] = []
        self.leverage = np.full(n, 1.0 / n)
        self.steps: list[tuple[int, list[float], float]] = []  # number of the control, products, norm

    def add(self, number: int, values: Floats, mean: float) -> None:
        """Add a control unless it is constant, depends on the others, or varies in one run only."""
        centre = math.fsum(values.tolist()) / self.n
        rest, shift = values - centre, centre - mean
        size = statistics.dot(rest, rest)
        if size <= self.n * (1e-9 * centre) ** 2:  # varies only by rounding errors
            return
        products = []
        for vector, moved in zip(self.vectors, self.shifts, strict=True):
            products.append(statistics.dot(vector, rest))
            rest = rest - products[-1] * vector
            shift -= products[-1] * moved
        left = statistics.dot(rest, rest)
        if left <= 1e-9 * size:
            return
        norm = math.sqrt(left)
        leverage = self.leverage + (rest / norm) ** 2
        if leverage.max() >= 1 - 1e-9:
            return
        self.vectors.append(rest / norm)
        self.shifts.append(shift / norm)
        self.leverage = leverage
        self.steps.append((number, products, norm))

    def coefficients(self, slopes: Sequence[float]) -> dict[int, float]:
        """Return the coefficient of each control, by its number, for coefficients of the basis."""
        found: dict[int, float] = {}
        left = list(slopes)
        for k in reversed(range(len(self.steps))):
            number, products, norm = self.steps[k]
            found[number] = left[k] / norm
            left[:k] = [s - found[number] * p for s, p in zip(left, products, strict=False)]
        return found


def controlled(
    y: Floats, x: Floats | Sequence[Floats] = (), known: Floats | None = None
) -> Controlled | None:
    """Return the mean of `y` [n] with controls.

    `x` are the values [m] of one or of several fast models, m >= n, whose first n belong to those of `y`.
    `known` [m, k] are controls of mean 0 for the same draws. Each run is corrected with the coefficients of
    the other runs, so that no value influences its own correction. The interval is that of the corrected
    values, and includes the error of the mean of `x`. Returns None if a value is missing, no control varies,
    or there are too few runs.
    """
    fast = _listed(x)
    n = len(y)
    free = np.zeros((max([n, *map(len, fast)]), 0)) if known is None else known
    if n < MIN_RUNS or not all(np.isfinite(each).all() for each in (y, *fast)):
        return None
    m = len(fast[0]) if fast else n
    plain = statistics.mean(y)
    about = y - plain.mean
    if statistics.dot(about, about) <= n * (1e-9 * plain.mean) ** 2:
        return None
    basis = _Basis(n)
    room = max(1, n // RUNS_PER_CONTROL)
    means = [_mean(each, free[:m]) for each in fast]
    for k, each in enumerate(fast):
        basis.add(k, each[:n], means[k][0].mean)
    for j in range(min(free.shape[1], room - len(fast))):
        basis.add(len(fast) + j, free[:n, j], 0.0)
    if not basis.vectors:
        return None
    slopes = [statistics.dot(vector, about) for vector in basis.vectors]
    corrected = statistics.mean(y - _corrections(about, basis, slopes))
    by_control = basis.coefficients(slopes)
    far, spread = _error({k: b for k, b in by_control.items() if k < len(fast)}, fast, means, free[:m])
    stretch = _quantile(n + 1 - len(basis.vectors)) / _quantile(n)
    centre = corrected.mean
    low = centre - math.hypot(stretch * (centre - corrected.ci_low), far)
    high = centre + math.hypot(stretch * (corrected.ci_high - centre), far)
    explained = min(1.0, math.fsum(s * s for s in slopes) / statistics.dot(about, about))
    correlation = math.sqrt(explained)
    return Controlled(
        Mean(n, centre, plain.sd, low, high),
        by_control.get(0, math.nan) if len(fast) == 1 else math.nan,
        math.copysign(correlation, slopes[0]) if len(slopes) == 1 else correlation,
        plain.sd**2 / max(corrected.sd**2 + spread**2 * n / m, TINY * plain.sd**2),
        spread**2 / max(plain.sd**2 * (1 - explained), TINY * plain.sd**2),
    )


def _corrections(about: Floats, basis: _Basis, slopes: Sequence[float]) -> Floats:
    """Return by how much each value exceeds the mean because of its controls, by the coefficients of the
    other runs."""
    fit, own, moved = np.zeros_like(about), basis.leverage - 1.0 / basis.n, np.zeros_like(about)
    shift = 0.0
    for vector, away, slope in zip(basis.vectors, basis.shifts, slopes, strict=True):
        fit = fit + slope * vector
        moved = moved + away * vector
        shift += slope * away
    return fit + shift - (about - fit) / (1.0 - basis.leverage) * (own + moved)


def _mean(values: Floats, known: Floats) -> tuple[Mean, float]:
    """Return the mean of a fast model [m], and its standard deviation without the part that the `known`
    controls explain."""
    found = controlled(values, known=known) if known.shape[1] else None
    if found is None:
        plain = statistics.mean(values)
        return plain, plain.sd
    return found.mean, found.mean.sd / math.sqrt(found.variance_ratio)


def _error(
    weights: Mapping[int, float], fast: Sequence[Floats], means: Sequence[tuple[Mean, float]], known: Floats
) -> tuple[float, float]:
    """Return half-width and standard deviation of the weighted sum of fast models, see `_mean`."""
    if len(weights) > 1:
        mean, sd = _mean(np.asarray(sum(b * fast[k] for k, b in weights.items())), known)
        return mean.half_width, sd
    for k, weight in weights.items():
        return abs(weight) * means[k][0].half_width, abs(weight) * means[k][1]
    return 0.0, 0.0


def _quantile(n: int) -> float:
    """Return the quantile of Student's t for the interval of the mean of `n` values."""
    return float(statistics.student_t(n - 1))


def draws_needed(y: Floats, x: Floats | Sequence[Floats], known: Floats | None = None, *, most: float) -> int:
    """Return the number of fast draws for packet runs `y` at which the mean of the fast models adds a third
    to the variance.

    There are at most `most` draws per run.
    """
    n = len(y)
    found = controlled(y, [each[:n] for each in _listed(x)], None if known is None else known[:n])
    return n if found is None else n + math.ceil(n * min(3 * found.of_draws, most))


def check(scenario: Scenario, control: str) -> None:
    """Raise InputError unless a fast fidelity can be the control variate of packet runs of a scenario."""
    fidelity.check(scenario, control)
    if scenario.fidelity != "packet":
        raise InputError(
            f"control = {control} needs packet runs; write fidelity: packet, or remove the control"
        )
