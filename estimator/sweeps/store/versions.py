"""Versions of the sweep of a store that has grown. Files of earlier versions are read with renumbered cells.

A sweep that has grown contains all cells of the previous version, with other numbers if an axis has new
values. If it has more replications, rows of cells of the previous version are not used, but their
replications are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from netcarlo.numerics.arrays import Ints
from netcarlo.sweeps.store import manifest as manifests
from netcarlo.sweeps.store.manifest import SweepEntry


@dataclass(frozen=True)
class Version:
    """Version of the sweep of a store: the newest or an earlier one."""

    sweep_entry: SweepEntry
    """Entry `sweep` of its manifest."""
    schemas: Mapping[str, pa.Schema]
    """Columns of its files, by kind."""
    shape: tuple[int, ...]
    """Number of draws, and of points of each axis, in the order in which cells are numbered."""
    places: tuple[Ints, ...]
    """Index of each draw and of each point in the newest version."""
    newest: tuple[int, ...]
    """Shape of the newest version."""
    complete: bool
    """False if the newest version has more replications, so that its cells are incomplete."""

    @cached_property
    def renumbered(self) -> bool:
        """True if some cells have another number in the newest version."""
        same = all(np.array_equal(place, np.arange(len(place))) for place in self.places)
        return not same or self.shape[1:] != self.newest[1:]

    def renumber(self, cells: Ints) -> Ints:
        """Return the numbers of cells [n] in the newest version, which are ascending as before."""
        if not self.renumbered:
            return cells
        point = np.unravel_index(cells, self.shape)
        now = [place[at] for place, at in zip(self.places, point, strict=True)]
        return np.asarray(np.ravel_multi_index(now, self.newest), np.int64)


def versions(manifest: Mapping[str, Any]) -> dict[str, Version]:
    """Return the versions of the sweep in a checked manifest by digest, newest first.

    Raises ValueError if one of them is not part of the newest.
    """
    newest = manifests.sweep_entry(manifest)
    found = {}
    at: Mapping[str, Any] | None = manifest
    while at is not None:
        about = manifests.sweep_entry(at)
        rows, replications = manifests.schema(about), manifests.schema_of_replications(about)
        found[about.digest] = Version(
            sweep_entry=about,
            schemas={"cells": rows, "screened": rows, "replications": replications},
            shape=_shape(about),
            places=_places(about, newest),
            newest=_shape(newest),
            complete=about.replications == newest.replications,
        )
        at = at["grown_from"]["manifest"] if at.get("grown_from") else None
    return found


def ordered_axes(about: SweepEntry) -> list[manifests.Axis]:
    """Return the axes in the order in which cells are numbered: the compared one last and fastest."""
    return sorted(about.axes, key=lambda axis: axis.name == about.compare)


def _shape(about: SweepEntry) -> tuple[int, ...]:
    return (about.draw.size if about.draw else 1, *(len(axis.values) for axis in ordered_axes(about)))


def _places(old: SweepEntry, new: SweepEntry) -> tuple[Ints, ...]:
    names = [[axis.name for axis in ordered_axes(about)] for about in (old, new)]
    draws, most = _shape(old)[0], _shape(new)[0]
    if names[0] != names[1] or draws > most or old.replications > new.replications:
        raise ValueError("grown_from: is not part of the sweep")
    axes = [
        positions_in(a.values, b.values) for a, b in zip(ordered_axes(old), ordered_axes(new), strict=True)
    ]
    if any(place is None for place in axes):
        raise ValueError("grown_from: has values that the sweep does not have, or has them in another order")
    return (np.arange(draws), *(place for place in axes if place is not None))


def positions_in(old: Sequence[float | str], new: Sequence[float | str]) -> Ints | None:
    """Return the index of each old value of an axis among the new ones; None unless all exist in the same
    order."""
    at = {value: i for i, value in enumerate(new)}
    found = np.array([at.get(value, -1) for value in old], np.int64)
    return found if found[0] >= 0 and (np.diff(found) > 0).all() else None
