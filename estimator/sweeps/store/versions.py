"""What a store was before it grew: files of those sweeps stay as they are, and are read with today's numbers.

A sweep that grew has all cells of the one before, under other numbers where an axis got values.  Where it has
more replications the rows of the one before no longer count, but the replications do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from netcarlo.numerics.arrays import Ints
from netcarlo.sweeps.store import manifest as manifests
from netcarlo.sweeps.store.manifest import About


@dataclass(frozen=True)
class Version:
    """A sweep whose files are in the store: the newest, or one that it grew from."""

    about: About
    schemas: Mapping[str, pa.Schema]
    """Of its files, by their kind."""
    shape: tuple[int, ...]
    """How many draws and points of each axis it has, in the order in which cells are numbered."""
    places: tuple[Ints, ...]
    """Where each of them is in the newest,"""
    newest: tuple[int, ...]
    """whose shape this is."""
    counts: bool
    """Whether its cells are whole; else more replications are asked for now."""

    @cached_property
    def moved(self) -> bool:
        """Whether some of its cells have another number now."""
        same = all(np.array_equal(place, np.arange(len(place))) for place in self.places)
        return not same or self.shape[1:] != self.newest[1:]

    def renumber(self, cells: Ints) -> Ints:
        """The numbers that its cells [n] have now; they ascend as before."""
        if not self.moved:
            return cells
        point = np.unravel_index(cells, self.shape)
        now = [place[at] for place, at in zip(self.places, point, strict=True)]
        return np.asarray(np.ravel_multi_index(now, self.newest), np.int64)


def versions(manifest: Mapping[str, Any]) -> dict[str, Version]:
    """The sweeps of a checked manifest by their digests, the newest first.

    Raises ValueError where one has no place in the newest.
    """
    newest = manifests.about(manifest)
    found = {}
    at: Mapping[str, Any] | None = manifest
    while at is not None:
        about = manifests.about(at)
        rows, replications = manifests.schema(about), manifests.schema_of_replications(about)
        found[about.digest] = Version(
            about=about,
            schemas={"cells": rows, "screened": rows, "replications": replications},
            shape=_shape(about),
            places=_places(about, newest),
            newest=_shape(newest),
            counts=about.replications == newest.replications,
        )
        at = at["grown_from"]["manifest"] if at.get("grown_from") else None
    return found


def ordered(about: About) -> list[manifests.Axis]:
    """The axes in the order in which cells are numbered, the compared one last and fastest."""
    return sorted(about.axes, key=lambda axis: axis.name == about.compare)


def _shape(about: About) -> tuple[int, ...]:
    return (about.draw.size if about.draw else 1, *(len(axis.values) for axis in ordered(about)))


def _places(old: About, new: About) -> tuple[Ints, ...]:
    names = [[axis.name for axis in ordered(about)] for about in (old, new)]
    draws, most = _shape(old)[0], _shape(new)[0]
    if names[0] != names[1] or draws > most or old.replications > new.replications:
        raise ValueError("grown_from: is no part of the sweep")
    axes = [where(a.values, b.values) for a, b in zip(ordered(old), ordered(new), strict=True)]
    if any(place is None for place in axes):
        raise ValueError("grown_from: has values that the sweep has not, or in another order")
    return (np.arange(draws), *(place for place in axes if place is not None))


def where(old: Sequence[float | str], new: Sequence[float | str]) -> Ints | None:
    """Where the old values of an axis are among the new ones; None unless all are, in the same order."""
    at = {value: i for i, value in enumerate(new)}
    found = np.array([at.get(value, -1) for value in old], np.int64)
    return found if found[0] >= 0 and (np.diff(found) > 0).all() else None
