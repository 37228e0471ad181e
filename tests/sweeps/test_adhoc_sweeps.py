"""Sweeps of ad hoc networks: numbers, words and transports as axes, drawn networks, their reconstruction."""

import json
from typing import Any

import numpy as np
import pytest

from netcarlo import simulate
from netcarlo.errors import InputError
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.analysis.sensitivity import indices
from netcarlo.sweeps.execution.chunk import run_chunk
from netcarlo.sweeps.execution.rerun import rerun
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import load_sweep, make_sweep
from netcarlo.sweeps.store.export import results
from netcarlo.sweeps.store.store import Store

WALK = {"model": "random_waypoint", "speed": "5 m/s"}
BASE: dict[str, Any] = {
    "duration": "20 s",
    "replications": 3,
    "transport": {"protocol": "newreno", "packets": 50, "payload": "1000 B"},
    "adhoc": {"nodes": 4, "area": {"side": "300 m"}, "range": "150 m", "mobility": WALK},
}
GRID: dict[str, Any] = {
    "name": "grid",
    "scenario": BASE,
    "axes": {
        "routing": {"field": "adhoc.routing", "values": ["dsr", "ideal"]},
        "adhoc.nodes": [3, 9],
        "adhoc.mobility.speed": ["1 m/s", "20 m/s"],
        "battery": {"field": "adhoc.energy.battery", "values": ["1 kJ", "2 kJ"]},
    },
    "compare": "routing",
    "outcomes": ["goodput_bps", "energy_J", "transfer_s", "network_life_s"],
    "goals": {"in_time": "transfer_s <= 10 s", "cheap": "energy_J <= 100 J", "rare": "outages_per_s <= 0.1"},
}
DRAWN: dict[str, Any] = {
    "name": "drawn",
    "scenario": {
        **BASE,
        "replications": 1,
        "adhoc": {
            **BASE["adhoc"],
            "nodes": {"integers": [3, 12]},
            "area": {"side": {"uniform": ["100 m", "600 m"]}},
            "mobility": {**WALK, "speed": {"min": "1 m/s", "max": {"uniform": ["2 m/s", "20 m/s"]}}},
            "energy": {"idle": {"uniform": ["0.5 W", "1 W"]}},
        },
    },
    "axes": {"adhoc.range": ["100 m", "200 m"]},
    "draw": {"count": 64, "method": "sobol", "blocks": 8},
    "outcomes": ["connected_share", "mean_degree", "transfer_s"],
}
INPUTS = ["adhoc.nodes", "adhoc.area.side", "adhoc.mobility.speed.max", "adhoc.energy.idle"]


def chunk(data: dict[str, Any], cells: Any) -> Any:
    sweep = make_sweep(data)
    return run_chunk(json.dumps(sweep.definition), np.asarray(cells), version=model_version())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    sweep = make_sweep(DRAWN)
    store = Store.create(str(tmp_path_factory.mktemp("store")), sweep.manifest())
    found = chunk(DRAWN, np.arange(sweep.n_cells))
    store.write(found.cells, found.replications)
    return store


def test_the_cells_of_a_grid_are_as_if_simulated_alone() -> None:
    sweep = make_sweep(GRID)
    found = chunk(GRID, range(16)).cells.to_pandas()
    assert sweep.n_cells == 16
    assert (found["status"] == "ok").all()
    assert (found["n_hops"] == 1).all()
    for cell in (2, 13):
        scenario = identity.scenario(sweep, cell)
        alone = simulate(scenario, target="cpu").frame
        for name in ("goodput_bps", "energy_J", "network_life_s"):
            assert found[name][cell] == pytest.approx(alone[name].mean(), rel=1e-12)
        assert found["key"][cell] == identity.key(scenario)
        assert found["rare"][cell] == (alone["outages_per_s"] <= 0.1).mean()
    assert found["key"].nunique() == 16
    # The engine does not simulate batteries, and movement does not depend on the routing protocol.
    one, two = (found[found["battery"] == joules].reset_index(drop=True) for joules in (1000, 2000))
    assert np.allclose(2 * one["network_life_s"], two["network_life_s"], rtol=1e-12)
    assert (one["energy_J"] == two["energy_J"]).all()


def test_a_transport_is_an_axis_like_any_other() -> None:
    protocols = ["newreno", "probing", "new_probing", "elfn", "eln"]
    grid = {**GRID, "outcomes": ["goodput_bps"], "goals": {}, "axes": {"transport.protocol": protocols}}
    sweep = make_sweep({**grid, "compare": "transport.protocol"})
    assert [model.name for model in sweep.models()] == [f"manet_{name}" for name in protocols]
    hops = {**BASE, "hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}]}
    del hops["adhoc"]
    with pytest.raises(InputError, match=r"elfn: transport\.protocol = 'elfn' is not supported"):
        make_sweep({**grid, "scenario": hops, "compare": None})


def test_drawn_networks_come_out_again_from_their_keys(store: Store) -> None:
    frame = store.frame()
    assert list(make_sweep(DRAWN).manifest()["sweep"]["inputs"]) == INPUTS
    assert frame["key"].nunique() == 128
    for cell in (5, 100):
        again = rerun(store, frame.set_index("cell").loc[cell, "key"])
        assert again.equal
        assert again.scenario.adhoc is not None
        assert again.scenario.adhoc.nodes == frame.set_index("cell").loc[cell, "adhoc.nodes"]
        assert again.scenario.adhoc.mobility.model == "random_waypoint"


def test_the_size_of_the_area_decides_who_is_in_range(store: Store) -> None:
    frame = store.frame()
    some = frame[frame["adhoc.range"] == 100]
    found = indices(some, inputs=INPUTS, of="mean_degree", draw=make_sweep(DRAWN).manifest()["sweep"]["draw"])
    assert found["first"].idxmax() == "adhoc.area.side"
    assert found.loc["adhoc.area.side", "first_low"] > 0
    assert found.loc["adhoc.energy.idle", "first_low"] < 0 < found.loc["adhoc.energy.idle", "first_high"]


def test_energy_has_its_unit_in_an_export(tmp_path: Any) -> None:
    sweep = make_sweep(GRID)
    store = Store.create(str(tmp_path), sweep.manifest())
    found = chunk(GRID, range(16))
    store.write(found.cells, found.replications)
    data = results(store)
    assert data["energy_J"].attrs["units"] == data["battery"].attrs["units"] == "J"
    assert data["adhoc.mobility.speed"].attrs["units"] == "m/s"


def test_random_motion_is_enough_to_draw() -> None:
    found = chunk({**DRAWN, "scenario": {**BASE, "replications": 1}}, range(128)).cells.to_pandas()
    assert found["connected_share"].nunique() > 10
    places = [[{"time": "0 s", "x": f"{x} m"}] for x in (0, 50)]
    still = {"range": "90 m", "mobility": {"model": "given", "nodes": places}}
    with pytest.raises(InputError, match="needs a random field"):
        make_sweep({**DRAWN, "scenario": {**BASE, "adhoc": still}})


def test_the_sweep_that_comes_along_is_sound() -> None:
    sweep = load_sweep("configs/adhoc_planning.yaml")
    assert sweep.n_cells == 12_288
    for batch in sweep.batches(np.arange(0, sweep.n_cells, 97)):
        assert all(np.isfinite(values).all() for values in batch.features.values())
        assert len(set(identity.keys(sweep, batch))) == len(batch.at)
