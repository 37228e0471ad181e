"""Sweeps of wireless networks: numbers and words as axes, drawn networks, goals of the baseline."""

import json
from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.estimation.goals import parse
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.execution.chunk import run_chunk
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import load_sweep, make_sweep

BASE: dict[str, Any] = {
    "duration": "0.3 s",
    "replications": 3,
    "transport": {"protocol": "udp", "rate": "8 Mbit/s", "payload": "1000 B"},
}
CHAIN: dict[str, Any] = {
    "name": "chain",
    "scenario": {**BASE, "wireless": {"chain": {"hops": 2}, "reach": {}}},
    "axes": {
        "control": {
            "cases": {
                "fixed": {"wireless.rate_control": "fixed"},
                "ARF": {"wireless.rate_control": "arf"},
            }
        },
        "wireless.chain.hops": [1, 4],
        "offered": {"field": "transport.rate", "values": ["1 Mbit/s", "20 Mbit/s"]},
    },
    "compare": "offered",
    "outcomes": ["goodput_bps", "loss_ratio"],
    "goals": {"scales": "goodput_bps >= 1000 % of baseline", "works": "loss_ratio <= 10 %"},
}
MESH: dict[str, Any] = {
    "name": "mesh",
    "scenario": {
        **BASE,
        "wireless": {
            "area": {"stations": {"integers": [2, 5]}, "side": "120 m"},
            "ranges": {"decode": "80 m"},
            "each": {"frame_error": {"uniform": [0, "20 %"]}},
        },
    },
    "axes": {"wireless.rate": ["6 Mbit/s", "54 Mbit/s"]},
    "compare": "wireless.rate",
    "draw": {"count": 4, "method": "sobol", "blocks": 2},
    "outcomes": ["goodput_bps", "attempts"],
}


def chunk(data: dict[str, Any], cells: Any) -> Any:
    sweep = make_sweep(data)
    return run_chunk(json.dumps(sweep.definition), np.asarray(cells), version=model_version())


def test_the_cells_of_a_chain_are_as_if_simulated_alone() -> None:
    from netcarlo import simulate

    sweep = make_sweep(CHAIN)
    assert sweep.n_cells == 8
    found = chunk(CHAIN, range(8)).cells.to_pandas()
    assert (found["status"] == "ok").all()
    assert found["n_hops"].tolist() == [1, 1, 4, 4] * 2
    for cell in (1, 6):
        scenario = identity.scenario(sweep, cell)
        alone = simulate(scenario, target="cpu").frame
        assert found["goodput_bps"][cell] == pytest.approx(alone["goodput_bps"].mean(), rel=1e-12)
        assert found["key"][cell] == identity.key(scenario)


def test_a_goal_of_the_baseline_compares_replication_by_replication() -> None:
    found = chunk(CHAIN, range(8)).cells.to_pandas()
    base, other = found[found["offered"] == 1e6], found[found["offered"] == 2e7]
    assert (base["scales"] == 0).all()  # no goodput is ten times itself
    assert other["scales"].tolist() == [1, 0, 1, 0]  # one hop carries 20 Mbit/s, four do not carry 10
    assert (other["scales_low"] < other["scales_high"]).all()
    assert base["works"].tolist() == [1, 1, 1, 1]
    # Chunks include the baseline.
    alone = chunk(CHAIN, [1]).cells.to_pandas()
    assert alone["scales"].tolist() == [1]
    goal = parse("goodput_bps >= 95 % of baseline")
    values = {"goodput_bps": np.array([94.0, 96.0, np.nan])}
    assert goal.held(values, {"goodput_bps": np.full(3, 100.0)}).tolist() == [False, True, False]


def test_drawn_meshes_have_their_own_links_and_places() -> None:
    sweep = make_sweep(MESH)
    assert [each.name for each in sweep.inputs] == [
        *(f"wireless.each.{k}.frame_error" for k in range(5)), "wireless.area.stations"
    ]  # fmt: skip
    found = chunk(MESH, range(8)).cells.to_pandas()
    assert found["key"].nunique() == 8
    for cell in range(8):
        assert found["key"][cell] == identity.key(identity.scenario(sweep, cell))
    by_draw = found.groupby("draw")["wireless.each.0.frame_error"].nunique()
    assert (by_draw == 1).all()
    assert found["wireless.each.0.frame_error"].nunique() == 4


def test_a_drawn_mesh_comes_out_again_from_its_resolved_scenario() -> None:
    from netcarlo import simulate

    sweep = make_sweep(MESH)
    found = chunk(MESH, [5]).cells.to_pandas()
    resolved = identity.scenario(sweep, 5)
    assert isinstance(resolved.wireless.each, list)
    alone = simulate(resolved, target="cpu").frame
    assert found["goodput_bps"][0] == pytest.approx(alone["goodput_bps"].mean(), rel=1e-12)
    assert found["attempts"][0] == alone["attempts"].mean()


def test_random_places_are_enough_to_draw() -> None:
    wireless = {"area": {"stations": 3, "side": "50 m"}, "ranges": {"decode": "80 m"}, "redraw": False}
    data = {**MESH, "scenario": {**BASE, "wireless": wireless}}
    found = chunk(data, range(8)).cells.to_pandas()
    assert found["goodput_bps"].nunique() == 8
    data["scenario"]["wireless"] = {"cell": {"stations": 3}}
    with pytest.raises(InputError, match="needs a random field"):
        make_sweep(data)


def test_a_goal_of_the_baseline_needs_one() -> None:
    data = {**CHAIN, "axes": {"transport.rate": ["1 Mbit/s", "2 Mbit/s"]}, "compare": None}
    with pytest.raises(InputError, match=r"goals\.scales: refers to a baseline"):
        make_sweep({key: value for key, value in data.items() if value is not None})


@pytest.mark.parametrize(("name", "cells"), [("mesh_capacity", 540), ("buffer_planning", 4800)])
def test_the_sweeps_that_come_along_are_sound(name: str, cells: int) -> None:
    sweep = load_sweep(f"configs/{name}.yaml")
    assert sweep.n_cells == cells
    some = np.arange(0, cells, 97)
    for batch in sweep.batches(some):
        assert all(np.isfinite(values).all() for values in batch.features.values())
        assert len(set(identity.keys(sweep, batch))) == len(batch.at)
