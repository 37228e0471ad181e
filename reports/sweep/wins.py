"""Best compared label at each point, with significance and lead."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.sweep.results import Estimates, Results
from netcarlo.sweeps.analysis import population

TIE, UNKNOWN = -1, -2

NEAR = 0.01
"""Relative distance to the best value below which the choice hardly matters."""


class Wins(NamedTuple):
    """Shares of points, or of networks at points, in which each label is best, float64[labels]."""

    share: Floats
    low: Floats
    high: Floats


def judged(results: Results) -> list[str]:
    """The outcomes of which more is better, or less, if anything is compared."""
    several = len(results.labels) > 1
    return [o for o in results.outcomes if several and results.sign(o)]


def gain_scale(means: Floats, unit: str) -> Scale | None:
    """The scale of gains of an outcome that is somewhere negative: percent of the baseline would mislead."""
    found = means[np.isfinite(means)]
    return scales.scale(found, unit) if (found < 0).any() else None


def best(results: Results, outcome: str) -> Ints:
    """The best label at each point, int64[draws, points]; TIE, or UNKNOWN."""
    value = results.scores(outcome)
    first = np.where(np.isnan(value), -np.inf, value).argmax(axis=2)
    several = (value == np.take_along_axis(value, first[:, :, None], axis=2)).sum(axis=2) > 1
    return np.where(_decided(value), np.where(several, TIE, first), UNKNOWN)


def wins(results: Results, outcome: str, inside: Bools | None = None) -> Wins:
    """Shares over the points `inside`, bool[draws, points], or over all; equally good labels share a point.

    Over drawn networks with the interval of the population.  A grid is no sample: there the interval goes
    from the share of points at which a label is clearly best to that at which it is not clearly beaten.
    """
    value = results.scores(outcome)
    known = _decided(value) if inside is None else _decided(value) & inside
    labels = range(len(results.labels))
    if not known.any():
        nothing = np.full(len(labels), np.nan)
        return Wins(nothing, nothing, nothing)
    points = np.full(results.points, True) if inside is None else np.asarray(inside.any(axis=0))
    if results.screened is not None and results.drawn and results.screened.clear[:, points].any():
        cheap = results.sign(outcome) * results.screened.cube(outcome)
        return Wins(*results.screened.wins(_credit(value), _credit(cheap), points, results.blocks))
    blocks = np.repeat(results.blocks, results.points).reshape(known.shape)[known]
    found = population.wins({str(k): value[known, k] for k in labels}, blocks)
    share, low, high = found[["share", "ci_low", "ci_high"]].to_numpy(dtype=float).T
    if not results.drawn:
        clear = _clear_at_points(results, outcome)[known[0]]
        low = np.mean(clear.sum(axis=2) == len(labels) - 1, axis=0)
        high = np.mean(~clear.any(axis=1), axis=0)
    return Wins(share, low, high)


class Places(NamedTuple):
    """Shares of the networks or points in which each label is in a place, float64[labels]."""

    alone: Floats
    """Better than all others."""
    tied: Floats
    """Equal to the best other one."""
    near: Floats
    """Best, or within `NEAR` of the best."""


def places(results: Results, outcome: str) -> Places | None:
    """Return how often each label is best alone, tied, and near the best; None if cheap models answered.

    The answers of cheap models decide who is best, and not by how much.
    """
    value = results.scores(outcome)
    value = value[_decided(value)]
    if not len(value) or (results.screened is not None and results.screened.clear.any()):
        return None
    top = value.max(axis=1, keepdims=True)
    best = value == top
    alone = best & (best.sum(axis=1, keepdims=True) == 1)
    near = value >= top - NEAR * np.abs(top)
    return Places(*(each.mean(axis=0) for each in (alone, best & ~alone, near)))


def _credit(value: Floats) -> Floats:
    """Return the share of each label in the win at each point, [draws, points, labels].

    Labels that are equally good share it; NaN where nothing is decided.
    """
    best = value == value.max(axis=2, keepdims=True)
    return np.where(
        _decided(value)[:, :, None], best / np.maximum(best.sum(axis=2, keepdims=True), 1), np.nan
    )


def leads(results: Results, outcome: str) -> Floats:
    """Return the median relative distance to the next best label where a label is best, float64[labels]."""
    value, winner = results.scores(outcome), best(results, outcome)
    first, second = np.moveaxis(np.sort(value, axis=2)[:, :, [-1, -2]], 2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (first - second) / np.abs(second)
    mine = [distance[(winner == k) & np.isfinite(distance)] for k in range(len(results.labels))]
    return np.array([np.median(x) if len(x) else np.nan for x in mine])


def _decided(value: Floats) -> Bools:
    """Return the points with a result in every cell and a finite one in some, bool[draws, points]."""
    return np.asarray(~np.isnan(value).any(axis=2) & np.isfinite(value).any(axis=2))


def clearly_better(sign: int, values: Estimates, gains: Estimates) -> Bools:
    """Return whether label i is better than j at 95 % confidence, bool[groups, i, j].

    Against the baseline by the paired difference; two others by intervals that do not overlap.
    """
    low = np.where(sign > 0, values.low, -values.high)
    high = np.where(sign > 0, values.high, -values.low)
    better = low[:, :, None] > high[:, None, :]
    gain_low = np.where(sign > 0, gains.low, -gains.high)
    gain_high = np.where(sign > 0, gains.high, -gains.low)
    better[:, :, 0] = gain_low > 0
    better[:, 0, :] = gain_high < 0
    return better


@lru_cache(maxsize=4)
def _clear_at_points(results: Results, outcome: str) -> Bools:
    every = np.arange(results.points)
    values = results.estimates(outcome, every, results.points)
    gains = results.estimates(f"{outcome}_gain", every, results.points)
    return clearly_better(results.sign(outcome), values, gains)
