"""Emulation of simulated numbers by polynomials, and the likelihood of measured runs."""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from netcarlo.calibration.fit.observed import Kind, Target
from netcarlo.numerics.arrays import Bools, Floats

REACH = 1.5
"""Width of the weights of simulated candidates, in standard deviations of the samples of the posterior."""
PER_TERM = 4.0
"""Least effective number of candidates for each term of a polynomial."""
SHRINK = 0.2
"""Weight of independence in the correlation of the numbers of a run."""
RIDGE = 1e-6
"""Relative penalty of coefficients, which keeps the regression solvable."""

COUNTS: tuple[Kind, ...] = ("retransmitted", "loss")
"""Quantities whose square root is emulated; of others it is the logarithm."""
LEAST = {"goodput_bps": 1e3, "rtt_s": 1e-5, "least_rtt_s": 1e-6}
"""Smallest value of a quantity whose logarithm is emulated."""


def transformed(kind: Kind, values: Floats) -> Floats:
    """Return values on the scale of the emulation, on which they are nearly linear in the free fields."""
    return np.asarray(np.sqrt(values) if kind in COUNTS else np.log(np.maximum(values, LEAST[kind])))


def restored(kind: Kind, values: Floats) -> Floats:
    """Return values in SI units from those on the scale of the emulation."""
    return np.asarray(np.maximum(values, 0.0) ** 2 if kind in COUNTS else np.exp(values))


def slope(kind: Kind, value: float) -> float:
    """Return the derivative of the transformation at a value."""
    return 0.5 / max(value, 0.25 if kind == "retransmitted" else 1e-6) ** 0.5 if kind in COUNTS else 1 / value


def distance(values: Floats, measured: Sequence[Target]) -> Floats:
    """Return the sum of squares of simulated minus measured numbers over their floors, float64[n].

    `values` [n, targets] are simulated numbers of single runs on the scale of the emulation.
    """
    value, floor = _measured(measured)
    return np.asarray((_bounded((values - value) / floor, measured) ** 2).sum(axis=1))


def _bounded(off: Floats, targets: Sequence[Target]) -> Floats:
    """Return deviations [n, targets] with 0 where a simulated number respects a measured bound."""
    bound = np.array([one.kind == "least_rtt_s" for one in targets])
    return np.where(bound, np.maximum(off, 0.0), off)


def _measured(targets: Sequence[Target]) -> tuple[Floats, Floats]:
    """Return measured values and floors on the scale of the emulation."""
    value = [float(transformed(one.kind, np.array(one.value))) for one in targets]
    return np.array(value), np.array([one.floor * slope(one.kind, one.value) for one in targets])


class Numbers(NamedTuple):
    """Emulated numbers of candidates for one run, on the scale of the emulation."""

    mean: Floats
    """Mean over runs, float64[candidates, targets]."""
    variance: Floats
    """Variance of one run, with the error of the emulation, float64[candidates, targets]."""
    correlation: Floats
    """Correlation between the numbers of a run, float64[targets, targets]."""

    def misfit(self, measured: Sequence[Target], used: Bools) -> tuple[Floats, Floats]:
        """Return minus twice the logarithm of the likelihood, and its sum of squares, float64[candidates].

        It is z' C^-1 z + ln det(C) - ln det(F): C is the covariance of the difference between simulation and
        measurement (scatter of the measured run, error of the emulation, squares F of the floors), as in
        `netcarlo.calibration.misfit`, with correlations. Only the targets `used` [targets] count.
        """
        if not used.any():
            return np.zeros(len(self.mean)), np.zeros(len(self.mean))
        some = [one for one, use in zip(measured, used, strict=True) if use]
        value, floor = _measured(some)
        off = _bounded((self.mean[:, used] - value) / floor, some)
        sd = np.sqrt(self.variance[:, used]) / floor
        covariance = sd[:, :, None] * sd[:, None, :] * self.correlation[np.ix_(used, used)]
        covariance += np.eye(len(some))
        lower = np.linalg.cholesky(covariance)
        z = np.linalg.solve(lower, off[..., None])[..., 0]
        squares = (z**2).sum(axis=1)
        return squares + 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1), squares


class Emulator(NamedTuple):
    """Polynomials of the free fields for the numbers of a run, near samples of the posterior."""

    centre: Floats
    metric: Floats
    """Factor [fields, fields] of positions minus `centre`."""
    terms: tuple[tuple[int, ...], ...]
    """Products of coordinates; () is 1."""
    mean: Floats
    """Coefficients of the mean, float64[terms, targets]."""
    spread: Floats
    """Coefficients of the logarithm of the variance, float64[fields + 1, targets]."""
    correlation: Floats

    def numbers(self, positions: Floats) -> Numbers:
        """Return the numbers of candidates at positions [n, fields]."""
        at = (positions - self.centre) @ self.metric
        low, high = np.log(1e-12), 50.0
        variance = np.exp(np.clip(_design(at, self.terms[: 1 + at.shape[1]]) @ self.spread, low, high))
        return Numbers(_design(at, self.terms) @ self.mean, variance, self.correlation)


def emulator(pool: Floats, values: Floats, samples: Floats) -> Emulator:
    """Fit polynomials to simulated candidates at `pool` [n, fields], weighted by nearness to `samples`.

    `values` [n, targets] are on the scale of the emulation. Cubic polynomials are used if enough
    candidates are near, else quadratic or linear ones.
    """
    centre = samples.mean(axis=0)
    covariance = np.cov(samples, rowvar=False).reshape(len(centre), -1) + 1e-8 * np.eye(len(centre))
    metric = np.linalg.inv(np.linalg.cholesky(covariance)).T
    at = (pool - centre) @ metric
    weight = np.exp(-(at**2).sum(axis=1) / (2 * REACH**2)) + 1e-6
    weight /= weight.max()
    effective = weight.sum() ** 2 / (weight**2).sum()
    d = len(centre)
    terms: tuple[tuple[int, ...], ...] = ((),)
    for degree in 1, 2, 3:
        more = terms + tuple(combinations_with_replacement(range(d), degree))
        if degree > 1 and effective < PER_TERM * len(more):
            break
        terms = more
    mean = _regression(_design(at, terms), values, weight)
    residual = values - _design(at, terms) @ mean
    freedom = effective / max(effective - len(terms), 1.0)
    square = residual**2 * freedom
    level = (weight @ square) / weight.sum()
    spread = _regression(_design(at, terms[: 1 + d]), np.log(square + 1e-2 * level + 1e-14), weight)
    # The mean of the variance is kept; its logarithm only shapes it.
    shape = np.exp(np.clip(_design(at, terms[: 1 + d]) @ spread, -60, 50))
    spread[0] += np.log((weight @ square + 1e-14) / (weight @ shape))
    sd = np.sqrt(np.maximum(shape * (weight @ square) / (weight @ shape), 1e-14))
    z = np.clip(residual / sd, -5, 5) * np.sqrt(weight)[:, None]
    scale = np.sqrt(np.maximum((z**2).mean(axis=0), 1e-12))
    correlation = (1 - SHRINK) * (z / scale).T @ (z / scale) / len(z)
    np.fill_diagonal(correlation, 1.0)
    return Emulator(centre, metric, terms, mean, spread, correlation)


def _design(at: Floats, terms: Sequence[tuple[int, ...]]) -> Floats:
    return np.stack(
        [np.prod(at[:, list(term)], axis=1) if term else np.ones(len(at)) for term in terms], axis=1
    )


def _regression(design: Floats, y: Floats, weight: Floats) -> Floats:
    left = design.T @ (weight[:, None] * design)
    left += RIDGE * np.diag(np.diag(left))
    return np.asarray(np.linalg.solve(left, design.T @ (weight[:, None] * y)))
