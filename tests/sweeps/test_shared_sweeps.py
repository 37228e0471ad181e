"""Sweeps of shared networks: numbers and words as axes, drawn networks, reconstruction, and fidelities."""

import json
from typing import Any

import numpy as np
import pytest

from netcarlo import simulate
from netcarlo.errors import InputError
from netcarlo.reports.sweep.answers import verdict
from netcarlo.reports.sweep.results import Results
from netcarlo.reports.sweep.wins import best, judged
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.execution.chunk import run_chunk
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import load_sweep, make_sweep

TREES: dict[str, Any] = {
    "name": "trees",
    "scenario": {
        "duration": "3 s",
        "warm_up": "1 s",
        "replications": 1,
        "transport": {"protocol": "newreno", "window": 32},
        "shared": {
            "tree": {
                "routers": {"integers": [3, 5]},
                "each": {"rate": {"log_uniform": ["1 Mbit/s", "4 Mbit/s"]}, "delay": "5 ms"},
            },
            "flows": [
                {"count": {"integers": [1, 3]}, "each": {"start": {"uniform": ["0 s", "1 s"]}}},
                {"udp": {"rate": "100 kbit/s"}},
            ],
        },
    },
    "axes": {"shared.tree.each.queue": [5, 50]},
    "draw": {"count": 4, "method": "sobol", "blocks": 2},
    "outcomes": ["goodput_bps", "utilisation", "fairness"],
}


def chunk(data: dict[str, Any], cells: Any) -> Any:
    sweep = make_sweep(data)
    return run_chunk(json.dumps(sweep.definition), np.asarray(cells), version=model_version())


def test_drawn_trees_have_their_own_cables_and_flows() -> None:
    sweep = make_sweep(TREES)
    assert [each.name for each in sweep.inputs] == [
        "shared.tree.routers",
        *(f"shared.tree.each.{k}.rate" for k in range(4)),
        "shared.flows.0.count",
        *(f"shared.flows.0.each.{k}.start" for k in range(3)),
    ]
    found = chunk(TREES, range(8)).cells.to_pandas()
    assert (found["status"] == "ok").all()
    assert found["key"].nunique() == 8
    for cell in range(8):
        assert found["key"][cell] == identity.key(identity.scenario(sweep, cell))
    assert (found.groupby("draw")["shared.tree.each.0.rate"].nunique() == 1).all()
    absent = found["shared.flows.0.each.2.start"].isna()
    assert (absent == (found["shared.flows.0.count"] < 3)).all()


def test_a_drawn_tree_comes_out_again_from_its_resolved_scenario() -> None:
    found = chunk(TREES, [5]).cells.to_pandas()
    resolved = identity.scenario(make_sweep(TREES), 5)
    assert isinstance(resolved.shared.tree.each, list)  # type: ignore[union-attr]
    alone = simulate(resolved, target="cpu").frame
    for name in TREES["outcomes"]:
        assert found[name][0] == alone[name][0]


def test_numbers_of_flows_are_an_axis() -> None:
    scenario = {**TREES["scenario"], "shared": {"dumbbell": {"rate": "2 Mbit/s", "delay": "5 ms"}}}
    scenario["shared"]["flows"] = [{"count": 1}]
    axes = {"users": {"field": "shared.flows.0.count", "values": [1, 4]}}
    data = {"name": "users", "scenario": scenario, "axes": axes, "outcomes": ["goodput_bps", "mean_flow_bps"]}
    found = chunk(data, [0, 1]).cells.to_pandas()
    assert (found["mean_flow_bps"] * [1, 4]).tolist() == pytest.approx(
        found["goodput_bps"].tolist(), rel=1e-9
    )
    axes["users"]["values"] = [1, 1025]
    with pytest.raises(InputError, match=r"shared.flows can be up to 1025; expected 1 to 1024"):
        make_sweep(data)


@pytest.mark.parametrize("fidelity", ["fluid", "formula"])
def test_a_sweep_of_a_cheap_fidelity_simulates_no_packets(fidelity: str) -> None:
    data = {**TREES, "scenario": {**TREES["scenario"], "fidelity": fidelity}}
    found = chunk(data, range(8)).cells.to_pandas()
    packets = chunk(TREES, range(8)).cells.to_pandas()
    assert (found["status"] == "ok").all()
    assert not set(found["key"]) & set(packets["key"])
    assert (found["goodput_bps"] > 0).all() and (found["goodput_bps"] != packets["goodput_bps"]).all()
    alone = simulate(identity.scenario(make_sweep(data), 3)).frame
    assert found["goodput_bps"][3] == pytest.approx(alone["goodput_bps"][0], rel=1e-12)


def test_a_fidelity_must_know_what_it_is_asked() -> None:
    data = {**TREES, "scenario": {**TREES["scenario"], "fidelity": "formula"}}
    flows = [{"count": 2, "each": {"bytes": "100 kB"}}]
    data["scenario"]["shared"] = {**TREES["scenario"]["shared"], "flows": flows}
    with pytest.raises(InputError, match="endless flows"):
        make_sweep(data).models()


def test_the_sweep_that_comes_along_is_sound() -> None:
    sweep = load_sweep("configs/shared_planning.yaml")
    some = np.arange(0, sweep.n_cells, 97)
    for batch in sweep.batches(some):
        assert all(np.isfinite(values).all() for values in batch.features.values())
        assert len(set(identity.keys(sweep, batch))) == len(batch.at)


def test_the_queue_with_the_fewest_drops_is_the_best_in_the_report() -> None:
    shared = {"dumbbell": {"rate": "2 Mbit/s", "delay": "5 ms"}}
    scenario = {**TREES["scenario"], "duration": "10 s", "shared": shared}
    scenario["shared"]["flows"] = [{"count": 3}, {"packets": 10, "start": "1 s"}]
    axes = {"queue": {"field": "shared.dumbbell.queue", "values": [3, 100]}}
    outcomes = ["drop_ratio", "completion_p95_s", "transmissions"]
    data = {"name": "queues", "scenario": scenario, "axes": axes, "compare": "queue", "outcomes": outcomes}
    found = chunk(data, [0, 1]).cells.to_pandas()
    drops, times = found["drop_ratio"], found["completion_p95_s"]
    assert drops[0] > drops[1]
    assert times.notna().all()
    results = Results(make_sweep(data).manifest(), found)
    assert judged(results) == ["drop_ratio", "completion_p95_s"]
    assert best(results, "drop_ratio").tolist() == [[1]]
    assert best(results, "completion_p95_s").tolist() == [[int(times.argmin())]]
    assert verdict(results)["head"].startswith("100 packets has the lowest mean drops at the busiest link")
