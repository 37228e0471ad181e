"""Results of a sweep for analysis in Python."""

import os
from functools import cached_property
from typing import Any

import pandas as pd

from netcarlo.schema.arguments import checked
from netcarlo.sweeps.store import export
from netcarlo.sweeps.store.query import query
from netcarlo.sweeps.store.store import Store


class StoredSweep:
    """Results of a sweep in its store. New cells of a running sweep are seen after it is opened again."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Table with a row per cell: fields, features of the network, and outcomes with 95 % intervals
        (`goodput_bps`, `goodput_bps_low`, `goodput_bps_high`), in SI units."""
        return self.store.frame()

    @cached_property
    def replications(self) -> pd.DataFrame:
        """Table with a row per replication of each cell, if the sweep keeps its replications."""
        return self.store.replications()

    def to_xarray(self) -> Any:
        """Return an xarray Dataset over the axes, and over `draw` if networks are drawn."""
        return export.dataset(self.store)

    @checked
    def query(self, sql: str) -> pd.DataFrame:
        """Return the rows of one SELECT on `cells`, `replications` and `screened`. Raises InputError."""
        return query(self.store, sql)

    @property
    def axes(self) -> dict[str, list[Any]]:
        """Values of each axis, by its name."""
        return {axis["name"]: list(axis["values"]) for axis in self.store.sweep["axes"]}

    def __repr__(self) -> str:
        axes = ", ".join(f"{name} ({len(values)})" for name, values in self.axes.items())
        return f"<StoredSweep {self.store.url}: {len(self.cells)} cells; axes {axes or 'none'}>"

    def _repr_html_(self) -> str:
        """Return the table of cells for a notebook."""
        return str(self.cells.to_html(max_rows=20, max_cols=20))


@checked
def open(store: str | os.PathLike[str]) -> StoredSweep:
    """Return the results of a sweep that are stored in a folder or at an fsspec URL. Raises InputError."""
    return StoredSweep(Store.open(store))
