"""What a store that has grown holds already of cells that need more replications, or are compared with."""

import numpy as np
import pyarrow as pa

from netcarlo.numerics.arrays import Ints
from netcarlo.sweeps.store.chunk_files import DamageError
from netcarlo.sweeps.store.store import Store


class Begun:
    """Looks them up; of each cell those of the newest version that has some, which are the most."""

    def __init__(self, store: Store) -> None:
        """Find the files of a store that keeps replications."""
        scan, order = store.scan(), list(store.versions)
        self.store = store
        self.files = sorted(
            [*scan.replications, *scan.begun], key=lambda each: order.index(each.version.about.digest)
        )

    def __call__(self, cells: Ints) -> pa.Table | None:
        """A row per replication of some of the `cells` [n], each with all that it has; None without any."""
        left, found = np.unique(cells), []
        for each in self.files:
            if not len(left) or each.first > left[-1] or each.last < left[0]:
                continue
            try:
                table, _ = each.file.table(self.store.files, versions=self.store.versions)
            except DamageError:  # meanwhile; they are simulated again
                continue
            cell = table.column("cell").to_numpy()
            if (here := np.isin(cell, left)).any():
                found.append(table.filter(pa.array(here)))
                left = np.setdiff1d(left, cell)
        return pa.concat_tables(found) if found else None


def begun(store: Store) -> Begun | None:
    """Of a store that has grown; None where there is nothing to go on with."""
    return Begun(store) if store.sweep["keep_replications"] and len(store.versions) > 1 else None
