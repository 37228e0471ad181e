import json
from pathlib import Path

import numpy as np
import pytest

import netcarlo
from netcarlo.numerics.statistics import StoppingRule
from netcarlo.simulation.executors import WrongVersion
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.execution import chunk as chunks
from netcarlo.sweeps.execution.chunk import failed, run_chunk
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.columns import STATISTICS
from netcarlo.sweeps.space.file import make_sweep
from tests.sweeps.examples import DRAWN, GRID, all_keys, same, simulated, sweep

SPACES = {"grid": sweep(GRID), "drawn": sweep(DRAWN)}


@pytest.mark.full
@pytest.mark.parametrize("name", ["grid", "drawn"])
def test_a_cell_is_the_estimate_of_its_scenario_to_the_bit(name):
    space = SPACES[name]
    cells = np.arange(0, space.n_cells, 7)
    rows = simulated(space, cells).cells.to_pandas().set_index("cell")
    names = dict(
        zip(STATISTICS, ("sd", "ci_low", "ci_high", "n", "q05", "q25", "q50", "q75", "q95"), strict=True)
    )
    for cell in cells:
        table = netcarlo.estimate(identity.scenario(space, int(cell))).table
        for outcome in space.outcomes:
            for suffix, column in {"": "mean", **names}.items():
                ours, theirs = rows.loc[cell, outcome + suffix], table.loc[outcome, column]
                assert ours == theirs or (np.isnan(ours) and np.isnan(theirs)), (cell, outcome + suffix)


def test_a_derived_field_is_a_column_under_the_name_it_was_given():
    space = SPACES["grid"]
    cells = np.arange(space.n_cells)
    queues = [identity.scenario(space, int(cell)).paths[0].hops[0].queue for cell in cells[::7]]
    assert failed(space, cells, "?").to_pandas()["hops.0.queue"].tolist()[::7] == queues
    assert len(set(queues)) > 2


@pytest.mark.full
@pytest.mark.parametrize("name", ["grid", "drawn"])
def test_rows_do_not_depend_on_what_is_simulated_with_them(name):
    space = SPACES[name]
    whole = simulated(space).cells
    cells = np.random.default_rng(1).permutation(space.n_cells)
    for some in np.array_split(cells, 5):
        assert same(simulated(space, some).cells, whole.take(np.sort(some)))


@pytest.mark.full
def test_gains_are_paired_differences():
    space = SPACES["drawn"]
    rows = simulated(space, [3, 4, 5]).cells.to_pandas()
    base, other = (identity.scenario(space, cell) for cell in (3, 5))
    table = netcarlo.compare(base, other).table.loc["goodput_bps"]
    row = rows.loc[2, ["goodput_bps_gain", "goodput_bps_gain_low", "goodput_bps_gain_high"]]
    assert row.tolist() == table[["difference", "ci_low", "ci_high"]].tolist()
    assert np.isnan(rows.loc[0, "goodput_bps_gain"])
    alone = simulated(space, [5]).cells  # its baseline is simulated, but is not a row of this chunk
    assert same(alone, simulated(space, [3, 4, 5]).cells.slice(2, 1))


def test_protocols_share_random_numbers_and_networks_do_not():
    fixed = {**DRAWN["scenario"], "hops": [{"rate": "9 Mbit/s", "delay": "5 ms", "loss": "2 %"}]}
    data = {**DRAWN, "scenario": fixed, "keep": "replications"}
    each = simulated(
        sweep(data, axes={"w": {"field": "transport.initial_window", "values": [1, 2]}})
    ).replications
    sent = each.to_pandas().pivot(index="cell", columns="replication", values="drops_random").to_numpy()
    assert np.corrcoef(sent[::2].ravel(), sent[1::2].ravel())[0, 1] > 0.5  # same network, other window
    assert len({tuple(row) for row in sent[::2]}) > 1  # networks differ


def test_precision_replicates_every_cell_until_it_is_reached():
    space = sweep(GRID, precision="2 %", axes={"hops.0.loss": [0, "3 %"]}, derive={})
    rows = simulated(space).cells.to_pandas()
    half = (rows["goodput_bps_high"] - rows["goodput_bps_low"]) / 2
    assert half.tolist() == pytest.approx((0.02 * rows["goodput_bps"]).tolist(), rel=0.1)
    assert (
        rows["replications"].tolist() == rows["goodput_bps_n"].tolist()
        and rows["replications"].nunique() == 2
    )
    found = netcarlo.estimate(identity.scenario(space, 1)).table.loc["goodput_bps"]
    assert (found["mean"], found["n"]) == (rows.loc[1, "goodput_bps"], rows.loc[1, "replications"])


class Scripted(StoppingRule):
    """Batches of two cells whose values are 0 and 1, by their number of replications."""

    def next_after(self, n, estimate):
        return 10 if n == 0 else ({10: 1, 11: 3}, {10: 4, 14: 3})[round(estimate().mean)].get(n, 0)


def test_no_cell_gets_a_batch_of_another(monkeypatch):
    """The third batch of cell 0 is as large as a batch of cell 1, and ends where that one begins."""
    space = sweep(GRID, precision="2 %", axes={"hops.0.loss": [0, "3 %"]}, derive={})
    made = []

    def replicate(run, batch, chosen, first, n):
        made.extend((int(i), first, n) for i in chosen)
        values = np.repeat(np.asarray(chosen, np.float64)[:, None], n, axis=1)
        return chunks._Part(batch.at[chosen], {"goodput_bps": values})

    monkeypatch.setattr(chunks._ChunkRun, "_replicate", replicate)
    run = chunks._ChunkRun(space, np.arange(2), "cpu", 1)
    [batch] = space.batches(run.cells)
    parts = list(run._until_precise(Scripted(0.02))(batch, np.arange(2)))
    assert [part.values["goodput_bps"].shape[1] for part in parts] == [14, 17]
    assert sorted(made) == [(0, 0, 10), (0, 10, 1), (0, 11, 3), (1, 0, 10), (1, 10, 4), (1, 14, 3)]


def test_goals_are_probabilities():
    rows = simulated(sweep(GRID, keep="replications"))
    each = rows.replications.to_pandas()
    share = (each["goodput_bps"] >= 1e6).groupby(each["cell"]).mean()
    assert rows.cells.column("fast").to_pylist() == share.tolist()
    assert 0 < share.mean() < 1
    assert len(each) == rows.networks == 5 * GRID_CELLS and rows.packets == each["sent"].sum()


GRID_CELLS = SPACES["grid"].n_cells

BROKEN = '''
"""Additive increase that refuses a large constant."""

CONSTANTS = {"increase": 1.0}


def grow(cwnd, ssthresh, now, rtt, constants, memory):
    if constants[0] > 2.0:
        raise ValueError("increase is too large")
    if cwnd < ssthresh:
        return cwnd + 1.0
    return cwnd + constants[0] / cwnd


def reduce(window, timeout, now, rtt, constants, memory):
    return window * 0.5
'''


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Return a sweep over a congestion control, of which two of five cells raise."""
    file = tmp_path_factory.mktemp("control") / "broken.py"
    file.write_text(BROKEN)
    netcarlo.trust(file)
    transport = {"protocol": "newreno", "congestion_control": str(file), "window": 32}
    axes = {"increase": {"field": "transport.constants.increase", "values": [1, 3, 2, 4, 0.5]}}
    return sweep({**GRID, "derive": {}}, scenario={**GRID["scenario"], "transport": transport}, axes=axes)


@pytest.mark.full
def test_a_cell_that_raises_is_recorded_and_the_others_finish(broken):
    rows = simulated(broken).cells.to_pandas()
    assert rows["status"].tolist() == ["ok", "failed", "ok", "failed", "ok"]
    assert rows["error"].tolist() == ["", "ValueError: increase is too large"] * 2 + [""]
    bad = rows[rows["status"] == "failed"]
    assert (
        bad["goodput_bps"].isna().all()
        and (bad["replications"] == 0).all()
        and (bad["goodput_bps_n"] == 0).all()
    )
    assert rows.loc[rows["status"] == "ok", "goodput_bps"].notna().all()
    assert same(failed(broken, np.array([1, 3]), bad["error"].iloc[0]), simulated(broken, [1, 3]).cells)


@pytest.mark.full
def test_schemas_do_not_depend_on_what_happened(broken):
    assert simulated(broken, [1]).cells.schema == simulated(broken, [0]).cells.schema
    for space in SPACES.values():
        assert failed(space, np.array([0]), "x").schema == simulated(space, [1]).cells.schema


def test_other_models_are_refused():
    with pytest.raises(WrongVersion, match=f"{model_version()}, the client has 0123"):
        run_chunk(json.dumps(SPACES["grid"].definition), np.array([0]), version="0123")


@pytest.mark.full
def test_columns_are_those_of_the_contract():
    chunk = simulated(SPACES["drawn"], [0, 4])
    rows = chunk.cells.to_pandas()
    assert list(rows.columns[:6]) == ["cell", "key", "status", "error", "draw", "block"]
    assert rows["protocol"].tolist() == ["newreno", "vegas"] and rows["draw"].tolist() == [0, 1]
    inputs = [each.name for each in SPACES["drawn"].inputs]
    assert "paths.0.hops.0.each.2.rate" in inputs and set(inputs) <= set(rows.columns)
    for cell, hops in zip(rows["cell"], rows["n_hops"], strict=True):
        scenario = identity.scenario(SPACES["drawn"], cell)
        assert len(scenario.paths[0].hops) == hops
        third = rows.loc[rows["cell"] == cell, "paths.0.hops.0.each.2.rate"].iloc[0]
        assert np.isnan(third) if hops < 4 else third == scenario.paths[0].hops[2].rate


@pytest.mark.full
def test_a_congestion_control_travels_with_the_sweep(broken):
    here = simulated(broken, [0]).cells.column("key").to_pylist()
    digest = broken.digest
    file = Path(next(iter(broken.definition["files"])))
    file.rename(file.with_name("gone.py"))
    try:
        there = type(broken).from_definition(broken.definition)
        assert str(file) not in json.dumps(there.definition["scenario"])
        assert there.digest == digest and simulated(there, [0]).cells.column("key").to_pylist() == here
    finally:
        file.with_name("gone.py").rename(file)
    (file.parent / "edited.py").write_text(BROKEN.replace("0.5", "0.6"))
    netcarlo.trust(file.parent / "edited.py")
    scenario = broken.definition["scenario"]
    transport = {**scenario["transport"], "congestion_control": str(file.parent / "edited.py")}
    again = {key: value for key, value in broken.definition.items() if key != "files"}
    other = make_sweep({**again, "scenario": {**scenario, "transport": transport}})
    assert other.digest != digest and list(all_keys(other)) != here
