from collections import Counter

import numpy as np
import pytest

import netcarlo
from netcarlo.errors import InputError
from netcarlo.reports.sweep.page import sweep_page
from netcarlo.simulation.launches import model_of
from netcarlo.sweeps.execution import rerun as reruns
from netcarlo.sweeps.execution.chunk import failed
from netcarlo.sweeps.execution.rerun import rerun
from netcarlo.sweeps.space.file import load_sweep
from netcarlo.sweeps.store.store import Store
from netcarlo.transport import congestion as control
from tests.marking import CONTROL
from tests.sweeps.examples import DRAWN, simulated, sweep


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    space = sweep(DRAWN, keep="replications")
    store = Store.create(str(tmp_path_factory.mktemp("store")), space.manifest())
    chunk = simulated(space, np.delete(np.arange(space.n_cells), 9))
    store.write(chunk.cells, chunk.replications)
    store.write(failed(space, np.array([9]), "MemoryError: too little"), chunk.replications.slice(0, 0))
    return store


def key(store, cell):
    return store.frame().set_index("cell").loc[cell, "key"]


@pytest.mark.full
def test_a_cell_comes_out_the_same(store):
    again = rerun(store, key(store, 4)[:10])
    assert again.equal and again.stored["cell"] == 4 and again.scenario.topology == 1
    assert again.table.loc["goodput_bps", "mean"] == again.stored["goodput_bps"]


@pytest.mark.full
def test_a_replication_comes_out_the_same(store):
    again = rerun(store, key(store, 4), replication=2)
    kept = store.replications(cells=[4]).set_index("replication").loc[2]
    assert again.equal and again.table.loc["goodput_bps", "value"] == kept["goodput_bps"]
    assert rerun(store, key(store, 4), replication=99).equal is None


@pytest.mark.full
def test_a_changed_result_is_noticed(store, monkeypatch):
    stored = reruns.find(store, key(store, 4))
    monkeypatch.setattr(reruns, "find", lambda *_: {**stored, "timeouts_sd": 123.0})
    assert rerun(store, key(store, 4)).equal is False


@pytest.mark.full
def test_a_failed_cell_is_simulated(store):
    again = rerun(store, key(store, 9))
    assert again.equal is None and again.stored["status"] == "failed" and not again.error


def test_keys_must_name_one_cell(store, monkeypatch):
    with pytest.raises(InputError, match="no cell has the key 'zz'"):
        rerun(store, "zz")
    firsts = Counter(key[0] for key in store.frame()["key"])
    first, times = firsts.most_common(1)[0]
    assert times > 1  # 24 keys, 16 digits
    with pytest.raises(InputError, match=f"begin with '{first}'.*write more digits"):
        rerun(store, first)


def test_other_models_cannot_rerun(store, monkeypatch):
    monkeypatch.setattr(reruns, "model_version", lambda: "another")
    with pytest.raises(InputError, match="this is another; use that version"):
        rerun(store, key(store, 0))


@pytest.fixture
def controlled(tmp_path):
    """Return a store of failed cells with a user's control without its file, the mark of its run, and its
    text.
    """
    mark, file = tmp_path / "it-ran", tmp_path / "sweep" / "own.py"
    file.parent.mkdir()
    file.write_text(CONTROL.format(mark=str(mark)))
    (file.parent / "s.yaml").write_text(
        "scenario: {duration: 1 s, transport: {protocol: newreno, congestion_control: own.py}, "
        "hops: [{rate: 1 Mbit/s, delay: 10 ms}]}\naxes: {transport.constants.up: [1, 2]}\n"
    )
    space = load_sweep(file.parent / "s.yaml")
    store = Store.create(tmp_path / "store", space.manifest())
    store.write(failed(space, np.arange(2), "MemoryError: too little"))
    text = file.read_text()
    file.unlink()
    control._trusted.clear()
    return store, mark, text


def test_python_of_a_store_does_not_run_unless_it_is_trusted(controlled, tmp_path, monkeypatch):
    store, mark, text = controlled
    simulated = []
    monkeypatch.setattr(reruns, "estimate", lambda scenario, **_: simulated.append(model_of(scenario)))
    digest = control.sha256(text.encode())
    with pytest.raises(InputError, match=rf"came with the store .*SHA-256 {digest}.*--trust {digest}") as no:
        rerun(store, key(store, 1))
    assert "\n" not in str(no.value) and not simulated and not mark.exists()
    other = tmp_path / "other.py"
    other.write_text(text + "# another\n")
    netcarlo.trust(other)
    with pytest.raises(InputError, match="came with the store"):
        rerun(store, key(store, 1))
    other.write_text(text)
    netcarlo.trust(other)
    assert not mark.exists()
    rerun(store, key(store, 1))
    assert simulated and mark.exists()


def test_a_store_cannot_point_at_python_of_this_machine(controlled, tmp_path):
    store, mark, text = controlled
    mine = tmp_path / "mine.py"
    mine.write_text(text)
    definition = store.manifest["definition"]
    del definition["files"]
    definition["scenario"]["transport"]["congestion_control"] = str(mine)
    with pytest.raises(InputError, match="altered"):
        rerun(store, key(store, 1))
    assert not mark.exists()


def test_a_manifest_must_be_that_of_the_cell(controlled):
    store, mark, text = controlled
    (path,) = store.manifest["definition"]["files"]
    store.manifest["definition"]["files"][path] = text + "# altered\n"
    netcarlo.trust(control.sha256((text + "# altered\n").encode()))
    with pytest.raises(InputError, match="not match its manifest, so it was altered"):
        rerun(store, key(store, 1))
    for files in (5, {"own.py": 5}):
        store.manifest["definition"]["files"] = files
        with pytest.raises(InputError, match=r"definition\.files is not a mapping of paths to texts"):
            rerun(store, key(store, 1))
    scenario = store.manifest["definition"]["scenario"] | {"transport": {"protocol": "reno"}}
    for odd, words in ({}, "scenario"), ({"scenario": scenario, "outcomes": 5}, "outcomes"), (
        {"scenario": scenario}, "altered",
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            rerun(Store(store.files, {**store.manifest, "definition": odd}), key(store, 1))
    assert not mark.exists()


def test_a_report_needs_no_files_and_runs_none(controlled, tmp_path):
    store, mark, _ = controlled
    page = sweep_page(store.manifest, store.frame(), store="store")
    assert "transport.constants.up" in page or "up" in page
    assert not mark.exists()
