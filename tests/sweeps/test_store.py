"""Store: no cell is lost or duplicated after any fault of its files and writers."""

import errno
import json
import math
import os
import resource
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo import InputError
from netcarlo.sweeps.store import chunk_files, digests, files
from netcarlo.sweeps.store.store import Store
from tests.sweeps import tables

ROOT = Path(__file__).parents[2]
SMALL = tables.manifest(outcomes=("goodput_bps",), goals={})
"""Manifest of 20 cells in groups of 5."""
KEEPING = tables.manifest(outcomes=("goodput_bps",), goals={}, keep_replications=True)


def memory() -> str:
    """Return a new URL in memory, so that properties are quick."""
    return f"memory://{uuid.uuid4().hex}/store"


def chunk_names(store: Store) -> list[str]:
    return sorted(store.files.names("chunks"))


def poke(store: Store, name: str, data: bytes) -> None:
    store.files.filesystem.pipe_file(store.files.path(f"chunks/{name}"), data)


def same(one: pa.Table, other: pa.Table) -> bool:
    return digests.digest([one]) == digests.digest([other])


# ---------------------------------------------------------------- tables read equal tables written

cells_of_20 = st.sets(st.integers(0, 19), min_size=1).map(sorted)


@pytest.mark.full
@given(
    st.lists(st.tuples(cells_of_20, st.sets(st.integers(0, 19), max_size=5)), max_size=6),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_each_cell_once_whatever_files_overlap(chunks: list[tuple[list[int], set[int]]], random: Any) -> None:
    first, second = Store.create(memory(), SMALL), Store.create(memory(), SMALL)
    for cells, failed in chunks:
        first.write(tables.table(SMALL, cells, failed=failed))
    for cells, failed in random.sample(chunks, len(chunks)):
        second.write(tables.table(SMALL, cells, failed=failed))
    done = {cell for cells, failed in chunks for cell in cells if cell not in failed}
    there = {cell for cells, _ in chunks for cell in cells}
    scan = first.scan()
    assert set(np.flatnonzero(scan.done)) == done
    assert set(np.flatnonzero(scan.failed)) == there - done
    assert not scan.damaged
    expected = tables.table(SMALL, sorted(there), failed=there - done)
    assert first.digest() == second.digest() == (digests.digest([expected]) if there else "0" * 32)
    found = list(first.tables())
    assert [cell for part in found for cell in part.column("cell").to_pylist()] == sorted(there)
    if there:
        assert same(pa.concat_tables(found), expected)
        assert first.frame()["cell"].tolist() == sorted(there)


def test_frame_has_the_columns_asked_for() -> None:
    store = Store.create(memory(), SMALL)
    assert store.frame().empty and list(store.frame(["goodput_bps"])) == ["goodput_bps"]
    store.write(tables.table(SMALL, range(10, 20)))
    store.write(tables.table(SMALL, range(10)))
    frame = store.frame(["goodput_bps", "protocol"])
    assert list(frame) == ["goodput_bps", "protocol"]
    assert frame.equals(tables.table(SMALL, range(20)).to_pandas()[["goodput_bps", "protocol"]])
    frame.loc[0, "goodput_bps"] = 0.0  # it is a copy for the caller
    with pytest.raises(InputError, match=r"no column 'goodput'; did you mean 'goodput_bps'"):
        store.frame(["goodput"])


def test_replications_once_each_and_only_of_finished_cells() -> None:
    store = Store.create(memory(), KEEPING)
    store.write(
        tables.table(KEEPING, range(5, 15), failed=[7]), tables.replications(KEEPING, [5, 6, *range(8, 15)])
    )
    store.write(tables.table(KEEPING, range(10)), tables.replications(KEEPING, range(10)))
    expected = tables.replications(KEEPING, range(15)).to_pandas()
    assert store.replications().equals(expected)
    wanted = expected[expected["cell"].isin([3, 7])].reset_index(drop=True)
    assert store.replications([7, 3, 19]).equals(wanted)
    with pytest.raises(InputError, match=r"keep: replications"):
        Store.create(memory(), SMALL).replications()


def test_a_chunk_that_contradicts_the_manifest_is_refused() -> None:
    store, keeping = Store.create(memory(), SMALL), Store.create(memory(), KEEPING)
    for cells in ([], [3, 3], [4, 3], [19, 20]):
        rows = [tables.table(SMALL, [min(cell, 19)]) for cell in cells] or [tables.table(SMALL, [])]
        table = pa.concat_tables(rows).set_column(0, "cell", pa.array(cells, pa.int64()))
        with pytest.raises(ValueError, match="cells"):
            store.write(table)
    with pytest.raises(ValueError, match="keep_replications"):
        store.write(tables.table(SMALL, [1]), tables.replications(SMALL, [1]))
    with pytest.raises(ValueError, match="keep_replications"):
        keeping.write(tables.table(KEEPING, [1]))
    keeping.write(tables.table(KEEPING, [1], failed=[1]))
    assert chunk_names(store) == []


# ---------------------------------------------------------------- files


def test_equal_chunks_are_one_file_and_small(tmp_path: Path) -> None:
    outcomes = ("goodput_bps", "timeouts", "mean_rtt_s", "completion_s", "throughput_bps", "sent")
    manifest = tables.manifest(draw=64, outcomes=outcomes)
    store = Store.create(tmp_path / "s", manifest)
    table = tables.table(manifest, range(200))
    assert table.num_columns >= 95
    store.write(table.slice(50, 100))
    pieces = pa.concat_tables([tables.table(manifest, range(lo, lo + 10)) for lo in range(50, 150, 10)])
    store.write(pieces)
    (name,) = chunk_names(store)
    assert name.startswith("cells-0000000050-100-")
    assert store.scan().n_bytes / 100 < 800


def test_every_truncation_and_every_flipped_byte_is_seen() -> None:
    store = Store.create(memory(), SMALL)
    store.write(tables.table(SMALL, range(5)))
    store.write(tables.table(SMALL, range(5, 10)))
    name = chunk_names(store)[0]
    data = store.files.read(f"chunks/{name}")
    assert data is not None
    file = chunk_files.ChunkFile.parse(name)
    for at in range(len(data)):
        for bad in (data[:at], data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]):
            poke(store, name, bad)
            with pytest.raises(chunk_files.TruncationError):
                store._table(file)
    poke(store, name, data[: len(data) // 2])
    scan = store.scan()
    assert scan.damaged == {name: "truncated or altered"}
    assert np.flatnonzero(scan.done).tolist() == store.frame()["cell"].tolist() == [5, 6, 7, 8, 9]
    store.write(tables.table(SMALL, range(5)))  # the same name again
    assert not store.scan().damaged and store.scan().done[:10].all()


def test_damaged_replications_make_their_cells_run_again() -> None:
    store = Store.create(memory(), KEEPING)
    for lo in (0, 5):
        store.write(tables.table(KEEPING, range(lo, lo + 5)), tables.replications(KEEPING, range(lo, lo + 5)))
    (name,) = [name for name in chunk_names(store) if name.startswith("replications-0000000005")]
    poke(store, name, b"PAR1")
    assert np.flatnonzero(store.scan().done).tolist() == [0, 1, 2, 3, 4]
    assert set(store.replications()["cell"]) == {0, 1, 2, 3, 4}


def test_files_that_do_not_belong_are_named_and_left_out() -> None:
    other = tables.manifest(outcomes=("goodput_bps",), goals={}, name="other")
    store, stranger = Store.create(memory(), SMALL), Store.create(memory(), other)
    store.write(tables.table(SMALL, range(5)))
    stranger.write(tables.table(other, range(5, 10)))
    (mine,), (foreign,) = chunk_names(store), chunk_names(stranger)
    copy = store.files.read(f"chunks/{mine}")
    assert copy is not None
    renamed, shorter = (mine.replace("0000000000-5", other) for other in ("0000000005-5", "0000000000-4"))
    poke(store, foreign, stranger.files.read(f"chunks/{foreign}") or b"")
    poke(store, renamed, copy)
    poke(store, shorter, copy)
    poke(store, mine.replace(".parquet", " (1).parquet"), copy)
    before = chunk_names(store)
    scan = store.scan(repair=True)
    assert {name: reason.split(" (")[0] for name, reason in scan.damaged.items()} == {
        foreign: "a file of another sweep",
        renamed: "renamed",
        shorter: "renamed",
        mine.replace(".parquet", " (1).parquet"): "not the name of a chunk file",
    }
    assert other["sweep"]["digest"] in scan.damaged[foreign]
    assert np.flatnonzero(scan.done).tolist() == store.frame()["cell"].tolist() == [0, 1, 2, 3, 4]
    assert chunk_names(store) == before


def test_repair_removes_truncated_files_and_old_leftovers_only(tmp_path: Path) -> None:
    store = Store.create(tmp_path, SMALL)
    store.write(tables.table(SMALL, range(5)))
    store.write(tables.table(SMALL, range(5, 10)))
    bad, good = chunk_names(store)
    chunks = tmp_path / "chunks"
    os.truncate(chunks / bad, 100)
    old, young = chunks / f".{bad}.0123.tmp", chunks / f".{bad}.4567.tmp"
    for scratch in (old, young):
        scratch.write_bytes(b"half a fi")
    os.utime(old, (time.time() - 2 * files.ABANDONED_S,) * 2)
    assert list(store.scan().damaged) == [bad]
    assert len(list(chunks.iterdir())) == 4
    assert list(store.scan(repair=True).damaged) == [bad]
    assert sorted(chunks.iterdir()) == sorted([young, chunks / good])


def test_a_file_that_changes_while_it_is_read_is_an_error() -> None:
    store = Store.create(memory(), SMALL)
    for lo in (0, 10):
        store.write(tables.table(SMALL, range(lo, lo + 10)))
    parts = store.tables()
    assert next(parts).num_rows == 10
    poke(store, chunk_names(store)[1], b"")
    with pytest.raises(InputError, match=r"a file became invalid .truncated or altered"):
        next(parts)


# ---------------------------------------------------------------- the manifest


def test_create_opens_the_same_sweep_and_refuses_another(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "a" / "b", SMALL)
    assert {**SMALL, "created": store.manifest["created"]} == store.manifest
    assert Store.create(tmp_path / "a" / "b", SMALL).manifest == store.manifest
    assert Store.open(tmp_path / "a" / "b").manifest == store.manifest
    renamed = tables.manifest(outcomes=("goodput_bps",), goals={}, name="mine")
    longer = tables.manifest(outcomes=("goodput_bps", "sent"), goals={})
    physics = tables.manifest(outcomes=("goodput_bps",), goals={}, model_version="fedcba")
    for manifest, reason in (
        (renamed, "has the sweep 'example', not 'mine'"),
        (longer, r"has another sweep 'example' \(they differ in outcomes\)"),
        (physics, "of model version 0123456789abcdef, this is fedcba"),
    ):
        with pytest.raises(InputError, match=rf"{reason}.*; name another folder"):
            Store.create(tmp_path / "a" / "b", manifest)


ODD = [
    ("sweep", None, "sweep = None is not a mapping"),
    ("sweep.n_cells", 10**13, "sweep.n_cells = 10000000000000 is out of range; expected 1000000000 or less"),
    ("sweep.n_cells", -1, "sweep.n_cells = -1 is out of range; expected 1 or more"),
    ("sweep.n_cells", 21, "n_cells is 21, but the axes and the draw give 20"),
    ("sweep.axes", [{"name": 5}], r"sweep.axes.0.name = 5 is not a text"),
    ("sweep.compare", "nothing", "compare is 'nothing', which is not an axis"),
    ("versions", None, "versions = None is not a mapping"),
    ("definition", [], r"definition = \[\] is not a mapping"),
]


@pytest.mark.parametrize(("name", "value", "words"), ODD)
def test_odd_manifests_are_refused(tmp_path: Path, name: str, value: Any, words: str) -> None:
    Store.create(tmp_path, SMALL)
    data = json.loads((tmp_path / "manifest.json").read_text())
    *above, last = name.split(".")
    (data[above[0]] if above else data)[last] = value
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=rf"manifest.json is damaged .*{words}"):
        Store.open(tmp_path)
    (tmp_path / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="is damaged"):
        Store.open(tmp_path)


def test_tables_that_no_sweep_wrote_are_left_out() -> None:
    store = Store.create(memory(), SMALL)
    good = tables.table(SMALL, range(5, 8))
    store.write(good)
    cells = pa.array([1, 3, 2], pa.int64())
    odd = {
        "lacking the column 'status'": good.drop(["status"]),
        "lacking the column 'goodput_bps'": good.drop(["goodput_bps"]),
        "lacking the column 'protocol'": good.set_column(
            good.column_names.index("protocol"), "protocol", pa.array([1, 2, 3])
        ),
        "cells are not ascending numbers": good.set_column(0, "cell", cells),
        "numbers from 0 to 19": good.set_column(0, "cell", pa.array([18, 19, 20], pa.int64())),
        "inconsistent: its cells": good.set_column(0, "cell", pa.array([-5, 1, 2], pa.int64())),
        "lacking cells": good.set_column(0, "cell", pa.array([1, None, 2], pa.int64())),
    }
    digest = store.digest()
    for words, table in odd.items():
        about = {"sweep": SMALL["sweep"]["digest"], "model_version": "x"}
        file, data = chunk_files.pack("cells", table, **about)
        name = file.name.replace("cells--000000005", "cells-0000000005")
        store.files.write(name, data)
        scan = store.scan()
        assert words in scan.damaged[name.rpartition("/")[2]]
        assert store.digest() == digest and len(store.frame()) == 3
        store.files.remove(name)
    empty = pa.BufferOutputStream()
    pq.write_table(good.slice(0, 0).replace_schema_metadata({"netcarlo.sweep": about["sweep"]}), empty)
    data = empty.getvalue().to_pybytes()
    store.files.write(chunk_files.ChunkFile(0, 0, "cells", chunk_files._checksum(data)).name, data)
    assert list(store.scan().damaged.values()) == ["lacking cells"]


def test_odd_records_of_runs_are_left_out() -> None:
    store = Store.create(memory(), SMALL)
    for number, text in enumerate(("[]", "5", "null", "{}", "[" * 100_000)):
        store.files.write(f"runs/{number}.json", text.encode())
    assert store.runs() == [{}]


def test_what_is_no_store_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not exist.*netcarlo sweep FILE --out"):
        Store.open(tmp_path)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(
        InputError, match=r"is not a store and is not empty \(it contains thesis.tex\); name a new folder"
    ):
        Store.create(tmp_path, SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match=r"cannot be written"):
        Store.create(tmp_path / "thesis.tex", SMALL)
    with pytest.raises(InputError, match=r"cannot be read|there is none"):
        Store.open(tmp_path / "thesis.tex")
    with pytest.raises(InputError, match=r"nosuch.*name a local folder"):
        Store.open("nosuch://bucket/store")


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(InputError, match=r"Install s3fs"):
        Store.open("s3://bucket/store")


def test_a_manifest_that_cannot_be_understood(tmp_path: Path) -> None:
    store = Store.create(tmp_path, SMALL)
    store.write(tables.table(SMALL, range(20)))
    path = tmp_path / "manifest.json"
    whole = path.read_text()
    path.write_text(json.dumps({**SMALL, "format": 3, "sweep": "in other words"}))
    with pytest.raises(InputError, match=r"format 3 was written by a later netcarlo.*upgrade"):
        Store.open(tmp_path)
    for text in (whole[:100], "", "[]", '{"format": 1}', '{"format": null}', '{"format": 1, "sweep": []}'):
        path.write_text(text)
        with pytest.raises(InputError, match=r"damaged.*remove it and run the sweep again"):
            Store.create(tmp_path, SMALL)
    path.unlink()
    assert Store.create(tmp_path, SMALL).scan().done.all()  # no cell was lost


def test_runs_are_kept_in_order(tmp_path: Path) -> None:
    store = Store.create(tmp_path, SMALL)
    assert store.runs() == []
    for number in range(3):
        store.add_run({"number": number})
    (tmp_path / "runs" / "99990101T000000-0.json").write_text('{"number"')
    assert [run["number"] for run in store.runs()] == [0, 1, 2]


# ---------------------------------------------------------------- full disks and dead writers


def python(code: str, *args: object, **options: Any) -> subprocess.Popen[str]:
    """Return a process that runs `code` from the root of the project."""
    head = "import sys, time\nfrom netcarlo.sweeps.store.store import Store\n"
    head += "from tests.sweeps import tables\nSMALL = tables.manifest(outcomes=('goodput_bps',), goals={})\n"
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *map(str, args)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


@pytest.mark.full
def test_when_the_disk_is_full_the_chunk_leaves_no_trace(tmp_path: Path) -> None:
    # The limit on file sizes makes the system fail in the middle of a file.
    store = Store.create(tmp_path, SMALL)
    store.write(tables.table(SMALL, range(5)))
    process = python(
        "store = Store.open(sys.argv[1])\n"
        "try: store.write(tables.table(SMALL, range(5, 20)))\n"
        "except ValueError as error: print(error)",
        tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY)),
    )
    out, err = process.communicate(timeout=60)
    assert out.count("\n") == 1, err
    assert "cannot be written (File too large); finished chunks are stored; free space and run" in out
    assert len(list((tmp_path / "chunks").iterdir())) == 1
    assert np.flatnonzero(store.scan().done).tolist() == [0, 1, 2, 3, 4]


def refuse(number: int) -> Callable[..., Any]:
    def refused(*_: object, **__: object) -> Any:
        raise OSError(number, os.strerror(number))

    return refused


@pytest.mark.parametrize("where", ["os.fsync", "os.replace", "pathlib.Path.mkdir"])
def test_no_step_of_a_write_leaves_a_trace(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.create(tmp_path, SMALL)
    with monkeypatch.context() as patched:
        patched.setattr(where, refuse(errno.ENOSPC))
        with pytest.raises(
            InputError, match=r"\(No space left on device\).*free space and run the same command"
        ):
            store.write(tables.table(SMALL, range(5)))
        patched.setattr(where, refuse(errno.EROFS))
        with pytest.raises(InputError, match=r"\(Read-only file system\).*allow writing there"):
            store.write(tables.table(SMALL, range(5)))
    assert not (tmp_path / "chunks").exists() or not list((tmp_path / "chunks").iterdir())
    store.write(tables.table(SMALL, range(5)))
    assert store.scan().done.sum() == 5


def test_a_remote_file_system_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.create(memory(), SMALL)
    system = fsspec.filesystem("memory")

    def cut(path: str, value: bytes, **_: object) -> None:
        with system.open(path, "wb") as file:
            file.write(value[:100])
        raise RuntimeError("connection lost")

    monkeypatch.setattr(store.files.filesystem, "pipe_file", cut)
    with pytest.raises(InputError, match=r"cannot be written \(RuntimeError: connection lost\)"):
        store.write(tables.table(SMALL, range(5)))
    assert not system.find(store.files.path("chunks"))


WRITER = """
store = Store.create(sys.argv[1], SMALL)
first, step = int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
for k in range(int(sys.argv[4])):
    for lo in range(first, 20, step):
        store.write(tables.table(SMALL, range(lo, min(lo + step, 20))))
"""


@pytest.mark.full
def test_two_clients_at_once(tmp_path: Path) -> None:
    both = [python(WRITER, tmp_path / "s", *args) for args in ((0, 3, 20), (1, 4, 20))]
    assert [process.wait(timeout=60) for process in both] == [0, 0], both[0].stderr
    store = Store.open(tmp_path / "s")
    scan = store.scan()
    assert scan.done.all() and not scan.damaged and scan.n_files == 7 + 5
    assert store.digest() == digests.digest([tables.table(SMALL, range(20))])
    assert not list((tmp_path / "s").rglob(".*"))


@pytest.mark.full
def test_a_client_that_is_killed_loses_no_chunk_it_wrote(tmp_path: Path) -> None:
    # It writes chunks of all sizes repeatedly, so it is killed within a write.
    process = python(WRITER, tmp_path, 0, 1, 10**6)
    assert process.stdout and process.stdout.readline() == "ready\n"
    while len(list(tmp_path.glob("chunks/cells-*"))) < 20:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate()
    store = Store.create(tmp_path, SMALL)
    assert store.scan().done.all() and not store.scan().damaged
    assert store.digest() == digests.digest([tables.table(SMALL, range(20))])


@pytest.mark.parametrize("links", [True, False])
def test_of_two_that_create_at_once_the_first_wins(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tables.manifest(name="other")
    write = files.Files.write

    def late(self: files.Files, name: str, data: bytes, **options: Any) -> None:
        monkeypatch.setattr(files.Files, "write", write)
        Store.create(tmp_path, other)  # between two writes
        write(self, name, data, **options)

    monkeypatch.setattr(files.Files, "write", late)
    if not links:
        monkeypatch.setattr("os.link", refuse(errno.EPERM))
    with pytest.raises(InputError, match=r"has the sweep 'other', not 'example'"):
        Store.create(tmp_path, SMALL)
    assert Store.open(tmp_path).sweep["name"] == "other"
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


# ---------------------------------------------------------------- digest and memory


def test_digest_is_what_its_docstring_says() -> None:
    table = pa.table({"a": pa.array([1, -2]), "b": pa.array([math.nan, -0.0]), "c": pa.array(["", "é"])})
    key = blake2b(b"a int64\nb double\nc string", digest_size=16).digest()
    nan = bytes.fromhex("7ff8000000000000")[::-1]
    total = 0
    for a, b, c in ((1, nan, b""), (-2, bytes(7) + b"\x80", "é".encode())):
        row = a.to_bytes(8, "little", signed=True) + b + blake2b(c, digest_size=16).digest()
        total += int.from_bytes(blake2b(row, digest_size=16, key=key).digest(), "little")
    assert digests.digest([table]) == f"{total % 2**128:032x}"
    payload = np.array([0x7FF8000000000001, 0x8000000000000000], np.uint64).view(np.float64)
    assert digests.digest([table.set_column(1, "b", pa.array(payload))]) == digests.digest([table])


def test_digest_sees_every_value_and_every_row() -> None:
    table = tables.table(SMALL, range(20), failed=[4])
    seen = {digests.digest([table]), digests.digest([table.slice(1)]), digests.digest([table, table])}
    for i, field in enumerate(table.schema):
        values = table.column(i).to_pylist()
        values[7] = "x" if field.type == pa.string() else 1 + (values[7] if values[7] == values[7] else 0)
        seen.add(digests.digest([table.set_column(i, field, pa.array(values, field.type))]))
        seen.add(
            digests.digest(
                [table.rename_columns([*table.column_names[:i], "x", *table.column_names[i + 1 :]])]
            )
        )
    assert len(seen) == 3 + 2 * table.num_columns


MEASURE = """
import resource
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def work(url):
    store = Store.open(url)
    scan = store.scan()
    assert scan.done.all() and sum(part.num_rows for part in store.tables()) == len(scan.done)
work(sys.argv[1])
before = peak()
work(sys.argv[2])
print(peak() - before)
"""


@pytest.mark.full
def test_memory_does_not_grow_with_the_cells(tmp_path: Path) -> None:
    for name, draw in (("small", 500), ("large", 10_000)):
        manifest = tables.manifest(draw=draw, outcomes=("goodput_bps",))
        store = Store.create(tmp_path / name, manifest)
        size = manifest["sweep"]["n_cells"]
        for lo in range(0, size, 2000):
            store.write(tables.table(manifest, range(lo, min(lo + 2000, size))))
        scan = store.scan()
    assert len(scan.done) == 200_000 and scan.n_bytes > 20e6
    out, err = python(MEASURE, tmp_path / "small", tmp_path / "large").communicate(timeout=120)
    assert float(out) < 10, err  # MiB: the flags and the names of 100 files
