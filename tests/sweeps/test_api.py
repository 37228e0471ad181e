import numpy as np
import pandas as pd
import pytest

from netcarlo import InputError
from netcarlo.sweeps.api import sweep
from netcarlo.sweeps.space.file import make_sweep
from netcarlo.sweeps.store.store import Store

PLAIN = {
    "name": "plain",
    "scenario": {
        "duration": "2 s",
        "transport": {"protocol": "newreno", "window": 8},
        "hops": [{"rate": "1 Mbit/s", "delay": "10 ms"}],
    },
    "axes": {"loss": {"field": "hops.0.loss", "values": [0, "1 %", "5 %"]}},
    "replications": 4,
}


def test_axes_become_a_dataset(tmp_path):
    found = sweep(PLAIN, out=tmp_path / "store")
    assert dict(found.sizes) == {"loss": 3}
    assert found["goodput_bps"].sel(loss=0.05) < found["goodput_bps"].sel(loss=0)
    computed = []
    again = sweep(PLAIN, out=tmp_path / "store", progress=lambda summary: computed.append(summary.chunks))
    assert computed == []
    assert again.identical(found)


def test_drawn_topologies_become_a_frame():
    drawn = PLAIN | {"draw": 4, "axes": {}}
    drawn["scenario"] = PLAIN["scenario"] | {
        "hops": [{"rate": {"uniform": ["1 Mbit/s", "2 Mbit/s"]}, "delay": "10 ms"}]
    }
    found = sweep(make_sweep(drawn), replications=2, seed=5)
    assert isinstance(found, pd.DataFrame)
    assert set(found["replications"]) == {2}
    assert set(found["seed"]) == {5}
    assert len(np.unique(found["paths.0.hops.0.rate"])) == 4


def test_a_store_of_another_sweep_is_refused(tmp_path):
    Store.create(tmp_path, make_sweep(PLAIN).manifest())
    with pytest.raises(InputError, match="has another sweep"):
        sweep(PLAIN, out=tmp_path, replications=3)
