from collections import Counter

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.sweeps import rerun as reruns
from netcarlo.sweeps.chunk import failed
from netcarlo.sweeps.rerun import rerun
from netcarlo.sweeps.store import Store
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


def test_a_cell_comes_out_the_same(store):
    again = rerun(store, key(store, 4)[:10])
    assert again.equal and again.stored["cell"] == 4 and again.scenario.topology == 1
    assert again.table.loc["goodput_bps", "mean"] == again.stored["goodput_bps"]


def test_a_replication_comes_out_the_same(store):
    again = rerun(store, key(store, 4), replication=2)
    kept = store.replications(cells=[4]).set_index("replication").loc[2]
    assert again.equal and again.table.loc["goodput_bps", "value"] == kept["goodput_bps"]
    assert rerun(store, key(store, 4), replication=99).equal is None


def test_a_changed_result_is_noticed(store, monkeypatch):
    stored = reruns.find(store, key(store, 4))
    monkeypatch.setattr(reruns, "find", lambda *_: {**stored, "timeouts_sd": 123.0})
    assert rerun(store, key(store, 4)).equal is False


def test_a_failed_cell_is_simulated(store):
    again = rerun(store, key(store, 9))
    assert again.equal is None and again.stored["status"] == "failed" and not again.error


def test_keys_must_name_one_cell(store, monkeypatch):
    with pytest.raises(InputError, match="no cell has the key 'zz'"):
        rerun(store, "zz")
    firsts = Counter(key[0] for key in store.frame()["key"])
    first, times = firsts.most_common(1)[0]
    assert times > 1  # 24 keys, 16 digits
    with pytest.raises(InputError, match=f"begin with '{first}'.*write more of it"):
        rerun(store, first)


def test_other_models_cannot_rerun(store, monkeypatch):
    monkeypatch.setattr(reruns, "model_version", lambda: "another")
    with pytest.raises(InputError, match="these are another; use that version"):
        rerun(store, key(store, 0))
