"""Which compared label is best where, how surely, and by how much."""

from typing import NamedTuple

import numpy as np

from netcarlo.reports.sweep_results import LARGER, SMALLER, Bools, Estimates, Floats, Ints, Results
from netcarlo.sweeps import population

TIE, UNKNOWN = -1, -2


class Wins(NamedTuple):
    """Shares of points, or of networks at points, in which each label is best, float64[labels].

    Labels that are equally good share a point.
    """

    share: Floats
    low: Floats
    high: Floats
    lead: Floats
    """Median relative distance to the next best where a label is best."""


def judged(results: Results) -> list[str]:
    """The outcomes of which it is clear whether more or less is better, if anything is compared."""
    several = len(results.labels) > 1
    return [o for o in results.outcomes if several and o in LARGER | SMALLER]


def sign(outcome: str) -> int:
    """1 if more is better, -1 if less is."""
    return -1 if outcome in SMALLER else 1


def scores(results: Results, outcome: str) -> Floats:
    """The outcome with more being better, float64[draws, points, labels]; NaN where a cell is missing.

    What did not happen, such as a completion, is worse than anything that did.
    """
    value = sign(outcome) * results.cube(outcome)
    return np.where((results.keys != "") & np.isnan(value), -np.inf, value)


def best(results: Results, outcome: str) -> Ints:
    """The best label at each point, int64[draws, points]; TIE, or UNKNOWN where a cell is missing."""
    value = scores(results, outcome)
    first = np.where(np.isnan(value), -np.inf, value).argmax(axis=2)
    several = (value == np.take_along_axis(value, first[:, :, None], axis=2)).sum(axis=2) > 1
    return np.where(np.isnan(value).any(axis=2), UNKNOWN, np.where(several, TIE, first))


def wins(results: Results, outcome: str, inside: Bools | None = None) -> Wins:
    """Shares over the points `inside`, bool[draws, points]; over all without.

    Over drawn networks with the interval of the population.  A grid is no sample: there the interval goes
    from the share of points at which a label is clearly best to that at which it is not clearly beaten.
    """
    value = scores(results, outcome)
    known = np.asarray(~np.isnan(value).any(axis=2))
    if inside is not None:
        known &= inside
    labels = np.arange(len(results.labels))
    if not known.any():
        nothing = np.full(len(labels), np.nan)
        return Wins(nothing, nothing, nothing, nothing)
    blocks = np.repeat(results.blocks, results.points).reshape(results.shape[:2])[known]
    found = population.wins({str(k): value[known, k] for k in labels}, blocks)
    share, low, high = (found[name].to_numpy(dtype=float) for name in ("share", "ci_low", "ci_high"))
    if not results.drawn:
        clear = _clear_at_points(results, outcome)[known[0]]
        low = np.mean(clear.sum(axis=2) == len(labels) - 1, axis=0)
        high = np.mean(~clear.any(axis=1), axis=0)
    distance = _distance(value)
    winner = best(results, outcome)
    lead = [distance[known & (winner == k) & np.isfinite(distance)] for k in labels]
    return Wins(share, low, high, np.array([np.median(x) if len(x) else np.nan for x in lead]))


def clearly_better(outcome: str, values: Estimates, gains: Estimates) -> Bools:
    """Whether label i is better than j beyond doubt at 95 %, bool[groups, i, j].

    Against the baseline by the paired difference; two others by intervals that do not overlap.
    """
    s = sign(outcome)
    low = np.where(s > 0, values.low, -values.high)
    high = np.where(s > 0, values.high, -values.low)
    better = low[:, :, None] > high[:, None, :]
    gain_low = np.where(s > 0, gains.low, -gains.high)
    gain_high = np.where(s > 0, gains.high, -gains.low)
    better[:, :, 0] = gain_low > 0
    better[:, 0, :] = gain_high < 0
    return better


def _clear_at_points(results: Results, outcome: str) -> Bools:
    every = np.arange(results.points)
    values = results.estimates(outcome, every, results.points)
    gains = results.estimates(f"{outcome}_gain", every, results.points)
    return clearly_better(outcome, values, gains)


def _distance(value: Floats) -> Floats:
    """From the best to the next best, relative to the latter, float64[draws, points]."""
    first, second = np.moveaxis(np.sort(value, axis=2)[:, :, [-1, -2]], 2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((first - second) / np.abs(second))
