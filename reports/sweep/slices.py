"""Slices of a sweep: the values of axes that a reader can choose."""

from collections.abc import Iterable

import numpy as np

from netcarlo.numerics.arrays import Bools, Ints
from netcarlo.reports.parts.choices import Choice
from netcarlo.reports.sweep.results import Axis, Results

MOST, MOST_EACH = 5, 3
"""Values to choose from, beside the average over all: of one axis, and of each of several."""


class Slices:
    """Select boxes for axes with more than one value.

    Drawn networks are shown at first averaged over axes, a grid at its middle, where points are cells.
    """

    def __init__(self, results: Results, axes: Iterable[Axis], *, averages: bool) -> None:
        self._results = results
        self._axes = [axis for axis in axes if len(axis.values) > 1]
        self._places: list[list[int | None]] = []
        self.choices: list[Choice] = []
        most = MOST if len(self._axes) == 1 else MOST_EACH
        for axis in self._axes:
            shown = sorted({*thinned(len(axis.values), most - 1).tolist(), axis.middle})
            places: list[int | None] = [*shown, None] if averages else [*shown]
            start = places.index(None if averages and results.drawn else axis.middle)
            texts = [axis.texts[i] for i in shown] + (["average"] if averages else [])
            self._places.append(places)
            self.choices.append(Choice(axis.title, texts, start))

    def inside(self, *chosen: int) -> Bools:
        """Return the points of the grid that are in the slice of these options, bool[points]."""
        found = np.ones(self._results.points, dtype=bool)
        for axis, places, option in zip(self._axes, self._places, chosen, strict=True):
            if (place := places[option]) is not None:
                found &= self._results.places[axis.name] == place
        return found


def thinned(count: int, most: int) -> Ints:
    """Places of at most `most` of `count` values, evenly spread, the first and the last among them."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.round(np.linspace(0, count - 1, most)).astype(np.int64))


def sampled(count: int, most: int) -> Ints:
    """Places of at most `most` of `count` networks, always the same ones.

    Drawn at random, as every k-th point of a Sobol sequence is no fair sample of it.
    """
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
