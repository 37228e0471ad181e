"""Emulation of simulated numbers by polynomials, and the likelihood of measured runs."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from netcarlo.calibration.fit.observed import Kind, Target
from netcarlo.numerics.arrays import Bools, Floats

REACH = 1.5
"""Width of the weights of simulated candidates, in standard deviations of the samples of the posterior."""
NEIGHBOURS = 60
"""Number of candidates to which each linear function is fitted."""
SHRINK = 0.2
"""Weight of independence in the correlation of the numbers of a run."""
RIDGE = 1e-6
"""Relative penalty of coefficients, which keeps the regression solvable."""

FREEDOM = 3.0
"""Degrees of freedom of Student's t, the distribution of the deviations."""
EXPECTED = 1.545
"""Mean of `misfit_of` for deviations that have this distribution."""

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
    if kind in COUNTS:
        return 0.5 / math.sqrt(max(value, 0.25 if kind == "retransmitted" else 1e-6))
    return 1 / max(value, LEAST[kind])


def distance(values: Floats, measured: Sequence[Target]) -> Floats:
    """Return the misfit of simulated numbers whose only errors are the floors, float64[n].

    `values` [n, targets] are simulated numbers of single runs on the scale of the emulation.
    """
    value, floor, _ = _measured(measured)
    return np.asarray(misfit_of(_bounded((values - value) / floor, measured)).sum(axis=1))


def _bounded(off: Floats, targets: Sequence[Target]) -> Floats:
    """Return deviations [n, targets] with 0 where a simulated number respects a measured bound."""
    bound = np.array([one.kind == "least_rtt_s" for one in targets])
    return np.where(bound, np.maximum(off, 0.0), off)


def _measured(targets: Sequence[Target]) -> tuple[Floats, Floats, Floats]:
    """Return measured values, floors, and shared errors on the scale of the emulation."""
    value = [float(transformed(one.kind, np.array(one.value))) for one in targets]
    slopes = np.array([slope(one.kind, one.value) for one in targets])
    floor, shared = np.array([(one.floor, one.common) for one in targets]).T * slopes
    return np.array(value), floor, shared


def misfit_of(z: Floats) -> Floats:
    """Return minus twice the logarithm of the density of Student's t at `z`, relative to its maximum."""
    return np.asarray((FREEDOM + 1) * np.log1p(z**2 / FREEDOM))


class Numbers(NamedTuple):
    """Emulated numbers of candidates for one run, on the scale of the emulation."""

    mean: Floats
    """Mean over runs, float64[candidates, targets]."""
    variance: Floats
    """Variance of one run, with the error of the emulation, float64[candidates, targets]."""
    correlation: Floats
    """Correlation between the numbers of a run, float64[targets, targets]."""

    def misfit(self, measured: Sequence[Target], used: Bools) -> tuple[Floats, Floats]:
        """Return minus twice the logarithm of the likelihood, and its first term, float64[candidates].

        It is the sum of `misfit_of(L^-1 d)` plus ln det(C) - ln det(F): d are the differences of simulation
        and measurement; C = L L' is their covariance (scatter of the measured run, error of the emulation,
        squares F of the floors, errors that numbers share). Student's t is used because in a few runs single
        numbers are far off. The second value is the first term over its expectation for one number. Only the
        targets `used` [targets] count.
        """
        if not used.any():
            return np.zeros(len(self.mean)), np.zeros(len(self.mean))
        some = [one for one, use in zip(measured, used, strict=True) if use]
        value, floor, shared = _measured(some)
        off = (self.mean[:, used] - value) / floor
        sd = np.sqrt(self.variance[:, used]) / floor
        covariance = sd[:, :, None] * sd[:, None, :] * self.correlation[np.ix_(used, used)]
        counts = np.array([one.kind == "retransmitted" for one in some])
        together = np.outer(shared / floor, shared / floor) * (counts[:, None] == counts)
        covariance += np.eye(len(some)) + together
        lower = np.linalg.cholesky(covariance)
        z = np.linalg.solve(lower, off[..., None])[..., 0]
        # A bound is the last target, so its deviation here is that from its expectation given the others.
        found = misfit_of(_bounded(z, some)).sum(axis=1)
        return found + 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1), found / EXPECTED


class Emulator(NamedTuple):
    """Linear functions of the free fields for the numbers of a run around each simulated candidate."""

    metric: Floats
    """Factor [fields, fields] of positions, that scales distances equally in all directions."""
    tree: Any
    """Search tree of the candidates."""
    at: Floats
    """Candidates, float64[candidates, fields]."""
    mean: Floats
    """Value at the candidate and slopes, float64[candidates, 1 + fields, targets]."""
    variance: Floats
    """Variance of one run with the error of the emulation, float64[candidates, targets]."""
    correlation: Floats

    def numbers(self, positions: Floats) -> Numbers:
        """Return the numbers of candidates at positions [n, fields]."""
        at = positions @ self.metric
        _, nearest = self.tree.query(at)
        mean = np.einsum("nd,ndk->nk", _design(at - self.at[nearest]), self.mean[nearest])
        return Numbers(mean, self.variance[nearest], self.correlation)


def emulator(pool: Floats, values: Floats, samples: Floats) -> Emulator:
    """Fit local linear functions to simulated candidates at `pool` [n, fields].

    `values` [n, targets] are on the scale of the emulation. Distances are measured in standard deviations of
    `samples` of the posterior, near which the correlation of the numbers is estimated.
    """
    from scipy.spatial import KDTree

    d = samples.shape[1]
    covariance = np.cov(samples, rowvar=False).reshape(d, d) + 1e-8 * np.eye(d)
    metric = np.linalg.inv(np.linalg.cholesky(covariance)).T
    at = pool @ metric
    tree = KDTree(at)
    far, near = tree.query(at, k=min(NEIGHBOURS, len(at)))
    design = _design(at[near] - at[:, None])
    weight = (1 - (far / (far[:, -1:] * 1.01 + 1e-12)) ** 3) ** 3 + 1e-3  # tricube
    weighted = design * weight[..., None]
    left = np.swapaxes(weighted, 1, 2) @ design
    left += RIDGE * np.einsum("nii,ij->nij", left, np.eye(1 + d))
    mean = np.linalg.solve(left, np.swapaxes(weighted, 1, 2) @ values[near])
    residual = values[near] - design @ mean
    freedom = weight.sum(axis=1) ** 2 / (weight**2).sum(axis=1)
    factor = freedom / np.maximum(freedom - 1 - d, 1)
    square = np.einsum("nm,nmk->nk", weight / weight.sum(axis=1, keepdims=True), residual**2)
    variance = square * factor[:, None] + 1e-12
    centre = samples.mean(axis=0) @ metric
    close = np.exp(-((at - centre) ** 2).sum(axis=1) / (2 * REACH**2)) + 1e-6
    z = np.clip(residual[:, 0] / np.sqrt(variance), -5, 5) * np.sqrt(close)[:, None]
    scale = np.sqrt(np.maximum((z**2).mean(axis=0), 1e-12))
    correlation = (1 - SHRINK) * (z / scale).T @ (z / scale) / len(z)
    np.fill_diagonal(correlation, 1.0)
    return Emulator(metric, tree, at, mean, variance, correlation)


def _design(off: Floats) -> Floats:
    """Return 1 and the coordinates of offsets [..., fields]."""
    return np.concatenate([np.ones((*off.shape[:-1], 1)), off], axis=-1)
