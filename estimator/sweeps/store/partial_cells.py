"""Stored replications of cells that need more of them after a store has grown, and of their baselines."""

import numpy as np
import pyarrow as pa

from netcarlo.numerics.arrays import Ints
from netcarlo.sweeps.store.chunk_files import DamageError
from netcarlo.sweeps.store.store import Store


class PartialCells:
    """Lookup of stored replications: for each cell those of the newest version of the store that has any."""

    def __init__(self, store: Store) -> None:
        """List the files of a store that has replications."""
        scan, order = store.scan(), list(store.versions)
        self.store = store
        self.files = sorted(
            [*scan.replications, *scan.begun],
            key=lambda each: order.index(each.version.sweep_entry.digest),
        )

    def __call__(self, cells: Ints) -> pa.Table | None:
        """Return all stored replications of `cells` [n], a row each; None if there are none."""
        left, found = np.unique(cells), []
        for each in self.files:
            if not len(left) or each.first > left[-1] or each.last < left[0]:
                continue
            try:
                table, _ = each.file.table(self.store.files, versions=self.store.versions)
            except DamageError:  # damaged after the scan; simulate again
                continue
            cell = table.column("cell").to_numpy()
            if (here := np.isin(cell, left)).any():
                found.append(table.filter(pa.array(here)))
                left = np.setdiff1d(left, cell)
        return pa.concat_tables(found) if found else None


def partial_cells(store: Store) -> PartialCells | None:
    """Return the lookup for a store that has grown and has replications, else None."""
    return PartialCells(store) if store.sweep["keep_replications"] and len(store.versions) > 1 else None
