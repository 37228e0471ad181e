"""SQL queries: they return every cell once, and can read the store only."""

import os
import uuid
from pathlib import Path

import pytest

from netcarlo import InputError
from netcarlo.sweeps.store.query import query
from netcarlo.sweeps.store.store import Store
from tests.sweeps import tables

MANIFEST = tables.manifest(outcomes=("goodput_bps",), keep_replications=True)
"""Manifest of 20 cells in groups of 5, with 20 replications each."""


def write(store: Store, cells: range, failed: tuple[int, ...] = ()) -> None:
    finished = [cell for cell in cells if cell not in failed]
    store.write(tables.table(MANIFEST, cells, failed=failed), tables.replications(MANIFEST, finished))


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return a store of cells 0 to 14; cell 3 failed first, and cell 12 last."""
    url = tmp_path / "a store" if request.param == "folder" else f"memory://{uuid.uuid4().hex}"
    found = Store.create(url, MANIFEST)
    write(found, range(10), failed=(3,))
    write(found, range(2, 5))
    write(found, range(10, 15), failed=(12,))
    return found


def test_each_cell_and_replication_once(store: Store) -> None:
    assert query(store, "SELECT * EXCLUDE cell FROM cells ORDER BY cell").equals(
        store.frame().drop(columns="cell")
    )
    counts = query(store, "SELECT status, count(*) AS n FROM cells GROUP BY ALL ORDER BY ALL")
    assert counts.values.tolist() == [["failed", 1], ["ok", 14]]
    found = query(store, "SELECT * FROM replications ORDER BY cell, replication")
    assert found.equals(store.replications())
    joined = "SELECT count(*) FROM cells JOIN replications USING (cell) WHERE protocol = 'sack'"
    assert query(store, joined).iat[0, 0] == 3 * 20


def test_without_overlap_and_without_replications() -> None:
    manifest = tables.manifest()
    store = Store.create(f"memory://{uuid.uuid4().hex}", manifest)
    with pytest.raises(InputError, match="no finished cells yet"):
        query(store, "SELECT * FROM cells")
    store.write(tables.table(manifest, range(10, 20)))
    store.write(tables.table(manifest, range(10)))
    assert query(store, "SELECT * FROM cells ORDER BY cell").equals(store.frame())
    with pytest.raises(InputError, match="replications does not exist"):
        query(store, "SELECT * FROM replications")


def test_numbers_that_do_not_exist_are_left_out_of_averages(store: Store) -> None:
    frame = store.frame(["goodput_bps", "goodput_bps_gain"])
    found = query(store, "SELECT avg(goodput_bps), max(goodput_bps_gain), count(goodput_bps_gain) FROM cells")
    assert found.iloc[0].tolist() == pytest.approx(
        [*frame.mean().iloc[:1], frame["goodput_bps_gain"].max(), 11]
    )


def test_damaged_files_are_not_read(tmp_path: Path) -> None:
    store = Store.create(tmp_path, MANIFEST)
    write(store, range(10))
    write(store, range(10, 15))
    os.truncate(next(tmp_path.glob("chunks/cells-0000000000-*")), 1000)
    for view in ("cells", "replications"):
        counted = query(store, f"SELECT min(cell), count(DISTINCT cell) FROM {view}")
        assert counted.iloc[0].tolist() == [10, 5]


@pytest.mark.full
@pytest.mark.parametrize(
    "sql",
    [
        "COPY cells TO '{}'",
        "COPY (SELECT 1) TO '{}'",
        "ATTACH '{}'",
        "EXPORT DATABASE '{}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "CREATE TABLE x AS SELECT 1",
        "DROP VIEW cells",
        "DELETE FROM cells",
        "SELECT 1; COPY cells TO '{}'",
        "",
    ],
)
def test_a_statement_can_neither_write_nor_look_elsewhere(sql: str, store: Store, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError):
        query(store, sql.format(tmp_path / "out"))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT goodput FROM cells", "goodput_bps.*correct the statement"),
        ("SELECT paths.0.loss FROM cells", r'syntax error.*double quotes, as in "hops.0.loss"'),
        ("SELEC 1", "syntax error"),
        ("SELECT * FROM cell", "Did you mean.*tables are cells, replications"),
        ("SELECT status::INT FROM cells", "(?i)could not convert"),
        ("DROP VIEW cells", "not one SELECT"),
    ],
)
def test_what_is_wrong_is_said_on_one_line(sql: str, said: str, store: Store) -> None:
    with pytest.raises(InputError, match=said) as raised:
        query(store, sql)
    assert "LINE 1" not in str(raised.value)


def test_names_with_dots(store: Store) -> None:
    found = query(store, 'SELECT DISTINCT "paths.0.loss" AS loss FROM cells ORDER BY loss')
    assert found["loss"].tolist() == [0.0, 0.001, 0.01]
