"""Export of a store as one file for other tools, or as an xarray Dataset."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from netcarlo.errors import InputError
from netcarlo.networks.outcome import dimension
from netcarlo.schema import destination, output
from netcarlo.simulation.outcomes import MEANING
from netcarlo.sweeps.store.store import Store

ROWS = 20_000
"""Minimum number of rows that are written together."""


def export(store: Store, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write all cells in ascending order to one file.

    The `format` is `csv`, `parquet` or `netcdf`; by default it follows from the suffix of `path`. CSV and
    Parquet have a row for each cell and are written in parts; NaN is an empty field in CSV and null in
    Parquet. In CSV, a text that a spreadsheet would interpret as a formula begins with an apostrophe. netCDF
    has the content of `dataset`. The file is replaced atomically. Raises InputError if it cannot be written
    or if the store has no cells, and MachineError if the disk is full.
    """
    target = Path(path)
    chosen = format or SUFFIXES.get(target.suffix.lower())
    if chosen not in WRITERS:
        raise InputError(
            f"export {target}: format '{chosen or target.suffix}' is not supported; "
            f"expected {', '.join(WRITERS)}, or a file name with one of the suffixes {', '.join(SUFFIXES)}"
        )
    destination.write(target, lambda scratch: WRITERS[chosen](store, scratch))


def results(store: Store) -> Any:
    """Return the results of a store: an xarray Dataset over the axes, or a DataFrame for drawn networks."""
    return store.frame() if store.sweep["draw"] else dataset(store)


def dataset(store: Store) -> Any:
    """Return an xarray Dataset over the axes, and over `draw` if networks are drawn.

    Every column of a cell is a variable over all dimensions; drawn fields are variables over `draw`. In
    missing cells numbers are NaN and texts are empty, so integers are int64 only if no cell is missing.
    Attributes have units, meanings and the provenance.
    """
    import xarray as xr

    frame = _some(store.frame(), store)
    sweep = store.sweep
    axes = {axis["name"]: axis for axis in sweep["axes"]}
    places = {name: axis["values"] for name, axis in axes.items()}
    drawn = []
    if sweep["draw"]:
        places = {"draw": range(sweep["draw"]["size"]), **places}
        drawn = [name for name in ("block", *sweep["inputs"]) if name in frame]
    words = [
        name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name]) and name not in axes
    ]
    frame[words] = frame[words].astype(object)
    index = list(places)
    found = xr.Dataset.from_dataframe(frame.drop(columns=drawn).set_index(index)) if index else None
    if found is None:  # neither axes nor a draw: one cell
        found = xr.Dataset.from_dataframe(frame).isel(index=0, drop=True)
    found = found.reindex({name: list(values) for name, values in places.items()})
    for name in words:
        found[name] = found[name].where(found[name].notnull(), "").astype(str)
    for name in drawn:
        column = frame.groupby("draw")[name].first().reindex(places["draw"])
        found[name] = ("draw", column.to_numpy())
    for name in found.variables:
        found[name].attrs = _attributes(str(name), store)
    found.attrs = _provenance(store)
    return found


def _attributes(name: str, store: Store) -> dict[str, str]:
    for axis in store.sweep["axes"]:
        if axis["name"] == name:
            return {"units": axis["unit"]} if axis["unit"] else {}
    outcome = next((o for o in store.sweep["outcomes"] if name == o or name.startswith(f"{o}_")), "")
    base = outcome or name
    counted = name == f"{outcome}_n"
    unit = "" if counted else dimension(base).unit
    meaning = "replications with a value" if counted else MEANING.get(base, "")
    meaning = meaning or store.sweep["goals"].get(name, "")
    return {key: text for key, text in (("units", unit), ("long_name", meaning)) if text}


def _provenance(store: Store) -> dict[str, str]:
    manifest, sweep = store.manifest, store.sweep
    return {
        "title": sweep["name"],
        "description": sweep["description"],
        "source": "netcarlo " + manifest["versions"].get("netcarlo", ""),
        "sweep": manifest["source"],
        "sweep_digest": sweep["digest"],
        "model_version": sweep["model_version"],
        "versions": json.dumps(manifest["versions"]),
        "seed": str(sweep["seed"]),
        "seed_scheme": manifest["seed_scheme"],
        "created": manifest["created"],
    }


def _some(frame: pd.DataFrame, store: Store) -> pd.DataFrame:
    if frame.empty:
        raise InputError(f"store {store.url}: has no finished cells yet; wait for the first chunk")
    return frame


def _parts(store: Store) -> Iterator[pa.Table]:
    """Yield the cells in parts of at least `ROWS` rows, with null instead of NaN."""
    waiting: list[pa.Table] = []
    for table in store.tables():
        waiting.append(table)
        if sum(part.num_rows for part in waiting) >= ROWS:
            yield _nulls(pa.concat_tables(waiting))
            waiting = []
    if waiting:
        yield _nulls(pa.concat_tables(waiting))


def _nulls(table: pa.Table) -> pa.Table:
    return pa.table(
        {
            name: pc.if_else(pc.is_nan(column), None, column) if column.type == pa.float64() else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        },
        schema=table.schema,
    )


def _csv(store: Store, path: Path) -> None:
    from pyarrow import csv

    _stream(store, lambda schema: csv.CSVWriter(path, schema), _literal)


def _parquet(store: Store, path: Path) -> None:
    about = _provenance(store)
    _stream(store, lambda schema: pq.ParquetWriter(path, schema.with_metadata(about), compression="zstd"))


def _literal(table: pa.Table) -> pa.Table:
    """Return the table with texts and names of columns escaped by `output.literal`."""
    columns = [
        pa.array([output.literal(text) for text in column.to_pylist()], column.type)
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=[output.literal(name) for name in table.column_names])


def _stream(
    store: Store,
    opened: Callable[[pa.Schema], Any],
    shown: Callable[[pa.Table], pa.Table] = lambda part: part,
) -> None:
    writer = None
    try:
        for part in map(shown, _parts(store)):
            writer = writer or opened(part.schema)
            writer.write_table(part)
    finally:
        if writer:
            writer.close()
    if not writer:
        _some(pd.DataFrame(), store)


def _netcdf(store: Store, path: Path) -> None:
    import numpy as np

    found = dataset(store)
    for name, variable in found.variables.items():
        # netCDF 3 has no 64 bit integers.
        if variable.dtype == np.int64 and (abs(variable) > np.iinfo(np.int32).max).any():
            found[name] = found[name].astype(np.float64, keep_attrs=True)
    found.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


WRITERS: dict[str, Callable[[Store, Path], None]] = {"csv": _csv, "parquet": _parquet, "netcdf": _netcdf}
SUFFIXES = {".csv": "csv", ".parquet": "parquet", ".nc": "netcdf"}
