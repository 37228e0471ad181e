"""Exported files: they have the content of the store."""

import errno
import json
import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import xarray as xr
from pyarrow import csv

from netcarlo import InputError
from netcarlo.errors import MachineError
from netcarlo.sweeps.store import export as module
from netcarlo.sweeps.store.export import dataset, export, results
from netcarlo.sweeps.store.store import Store
from tests.sweeps import tables

GRID = tables.manifest(outcomes=("goodput_bps", "mean_rtt_s"), seed=2**40)
"""Grid of 4 losses x 5 protocols."""
DRAWN = tables.manifest(draw=8, outcomes=("goodput_bps",))
"""Grid of 8 topologies x 4 losses x 5 protocols."""


def filled(manifest: dict[str, Any], *chunks: range, failed: tuple[int, ...] = ()) -> Store:
    store = Store.create(f"memory://{uuid.uuid4().hex}", manifest)
    for cells in chunks:
        store.write(tables.table(manifest, cells, failed=failed))
    return store


@pytest.fixture(params=[1, 7, 20_000])
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Yield parts of different sizes."""
    monkeypatch.setattr(module, "ROWS", request.param)


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "A.CSV"])
def test_tables_hold_every_cell_in_order(name: str, tmp_path: Path) -> None:
    store = filled(DRAWN, range(90, 160), range(50), range(40, 90), failed=(4, 44))
    path = tmp_path / "new folder" / name
    export(store, path)
    if name == "a.parquet":
        found = pd.read_parquet(path)
    else:
        types = csv.ConvertOptions(column_types=tables.schema(DRAWN))
        found = csv.read_csv(path, convert_options=types).to_pandas()
    expected = store.frame()
    assert expected["cell"].tolist() == list(range(160))
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_no_text_is_a_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    evil = ["=cmd|' /C calc'!A0", "+A1", "-1+2", "@SUM(1)", "plain = text", "-1.5e-3"]
    store = filled(tables.manifest(axes=[tables.axis("@case", evil)], compare=None), range(6))
    export(store, tmp_path / "a.csv")
    found = pd.read_csv(tmp_path / "a.csv")
    assert found["'@case"].tolist() == [*(f"'{text}" for text in evil[:4]), *evil[4:]]
    assert found["goodput_bps"].tolist() == store.frame()["goodput_bps"].tolist()
    export(store, tmp_path / "a.parquet")
    assert pd.read_parquet(tmp_path / "a.parquet")["@case"].tolist() == evil


def test_missing_numbers_are_empty_fields_and_nulls(tmp_path: Path) -> None:
    store = filled(GRID, range(20), failed=(4,))
    export(store, tmp_path / "a", format="csv")
    assert "nan" not in (tmp_path / "a").read_text().lower()
    export(store, tmp_path / "b", format="parquet")
    table = pq.read_table(tmp_path / "b")
    assert table.column("goodput_bps").null_count == 1
    assert table.schema.metadata[b"sweep_digest"].decode() == GRID["sweep"]["digest"]


def test_the_same_csv_for_any_chunks(tmp_path: Path) -> None:
    export(filled(GRID, range(20)), tmp_path / "a.csv")
    export(filled(GRID, range(5, 20), range(10)), tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_dataset_has_a_place_for_every_cell() -> None:
    store = filled(GRID, range(5, 15), failed=(7,))
    found = dataset(store)
    assert dict(found.sizes) == {"paths.0.loss": 4, "protocol": 5}
    assert found["protocol"].values.tolist() == list(tables.PROTOCOLS)
    assert found["paths.0.loss"].values.tolist() == list(tables.LOSS)
    for row in store.frame().to_dict("records"):
        here = found.sel({"paths.0.loss": row["paths.0.loss"], "protocol": row["protocol"]})
        for name in (
            "cell",
            "key",
            "status",
            "error",
            "goodput_bps",
            "goodput_bps_n",
            "goal_fast_low",
            "seed",
        ):
            np.testing.assert_equal(here[name].item(), row[name])
    assert (found["status"] == "").sum() == found["goodput_bps_n"].isnull().sum() == 10
    assert found["goodput_bps"].attrs["units"] == found["goodput_bps_gain"].attrs["units"] == "bit/s"
    assert found["mean_rtt_s_q95"].attrs["units"] == "s"
    assert "units" not in found["mean_rtt_s_n"].attrs
    assert found["goal_fast"].attrs["long_name"] == tables.GOALS["goal_fast"]
    assert found.attrs["sweep"] == GRID["source"] and found.attrs["seed"] == str(2**40)
    assert json.loads(found.attrs["versions"]) == GRID["versions"]


def test_dataset_of_drawn_topologies() -> None:
    store = filled(DRAWN, range(20), range(40, 160))
    found = dataset(store)
    assert dict(found.sizes) == {"draw": 8, "paths.0.loss": 4, "protocol": 5}
    frame = store.frame()
    for name in ("block", *tables.INPUTS):
        assert found[name].dims == ("draw",)
        assert np.isnan(found[name].values[1])
        assert found[name].values[2] == frame.loc[frame["draw"] == 2, name].iat[0]
    assert int(found["goodput_bps"].isnull().sum()) == 20
    place = {"draw": 7, "paths.0.loss": 0.03, "protocol": "cubic"}
    assert found["goodput_bps"].sel(place).item() == frame["goodput_bps"][frame["cell"] == 158].item()


def test_dataset_of_one_cell() -> None:
    found = dataset(filled(tables.manifest(axes=[], compare=None), range(1)))
    assert not found.sizes and found["status"].item() == "ok" and found["goodput_bps"].item() > 0


@pytest.mark.parametrize("manifest", [GRID, DRAWN])
@pytest.mark.parametrize("last", [20, 15])
def test_netcdf_reads_back(manifest: dict[str, Any], last: int, tmp_path: Path) -> None:
    store = filled(manifest, range(last), failed=(3,))
    export(store, tmp_path / "a.nc")
    expected = dataset(store)
    with xr.open_dataset(tmp_path / "a.nc") as found:
        assert dict(found.sizes) == dict(expected.sizes)
        xr.testing.assert_equal(found.astype(expected.dtypes), expected)
        assert {name: found[name].attrs for name in found} == {
            name: expected[name].attrs for name in expected
        }
        assert found.attrs == expected.attrs


def test_results_are_what_an_analyst_wants() -> None:
    assert isinstance(results(filled(GRID, range(20))), xr.Dataset)
    drawn = filled(DRAWN, range(20))
    assert results(drawn).equals(drawn.frame())


def test_unknown_formats_and_empty_stores_are_refused(tmp_path: Path) -> None:
    store = filled(GRID, range(20))
    for name, format in (("a.xls", None), ("a", None), ("a.csv", "excel")):
        with pytest.raises(
            InputError, match=r"expected csv, parquet, netcdf, or a file name .* \.csv, \.parquet, \.nc"
        ):
            export(store, tmp_path / name, format=format)
    for name in ("a.csv", "a.parquet", "a.nc"):
        with pytest.raises(InputError, match="no finished cells yet"):
            export(filled(GRID), tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.nc"])
def test_an_export_appears_whole_or_not_at_all(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text("before")
    store = filled(GRID, range(20))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(MachineError, match=r"cannot be written \(No space left on device\); make room"):
        export(store, path)
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    with pytest.raises(InputError, match="cannot be written"):
        export(store, path / "b.csv")
    export(store, path)
    assert path.read_bytes() != b"before" and list(tmp_path.iterdir()) == [path]
