"""Mobile hosts in sweeps: the handover protocol as an axis, other fields as numeric axes."""

from pathlib import Path

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.parameters import MobileP, P
from netcarlo.simulation.ensemble import build, build_rows
from netcarlo.sweeps.execution.rerun import rerun
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import load_sweep
from netcarlo.sweeps.store.store import Store
from tests.sweeps.examples import all_keys, same, simulated, sweep

ROOT = Path(__file__).parents[2]

WIRED = {"rate": "2 Mbit/s", "delay": "10 ms", "cross_traffic": {"rate": "300 kbit/s"}}
RADIO = {"rate": "11 Mbit/s", "delay": "5 ms"}
GRID = {
    "name": "grid",
    "scenario": {
        "duration": "6 s",
        "replications": 3,
        "transport": {"protocol": "newreno", "payload": "1000 B"},
        "mobility": {"protocol": "hmipv6", "every": "2 s", "anticipation": "1 s", "preparation": "0.5 s"},
        "hops": [WIRED, RADIO],
    },
    "axes": {
        "mobility.protocol": ["hmipv6", "fmipv6", "himipv6"],
        "outage": {"field": "mobility.outage", "values": ["50 ms", "0.5 s"]},
        "mobility.every": ["1 s", "3 s"],
        "hops.1.loss": [0, "1 %"],
        "share": [0.5, 2],
    },
    "derive": {"mobility.buffer": "max(1, share * bdp_packets)"},
    "compare": "mobility.protocol",
    "outcomes": ["goodput_bps", "handovers", "lost_in_handover"],
}
SPEEDS = {
    **GRID,
    "name": "speeds",
    "scenario": {
        **GRID["scenario"],
        "mobility": {
            "protocol": "hmipv6",
            "cell_radius": {"choice": ["10 m", "40 m"]},
            "speed": {"uniform": ["36 km/h", "20 m/s"]},
            "outage": {"log_uniform": ["10 ms", "1 s"]},
            "buffer": {"choice": [0, 20, "unlimited"]},
            "signalling_loss": True,
        },
        "hops": [{"count": {"integers": [1, 3]}, "each": WIRED}, {**RADIO, "loss": {"choice": [0, 0.1]}}],
    },
    "axes": {"mobility.protocol": ["fmipv6", "himipv6"]},
    "derive": {},
    "draw": {"count": 8, "blocks": 2},
}


@pytest.mark.parametrize("data", [GRID, SPEEDS], ids=lambda data: data["name"])
def test_cells_are_their_scenarios(data):
    space = sweep(data)
    keys = all_keys(space)
    assert len(set(keys)) == space.n_cells
    for cell in range(0, space.n_cells, 7):
        scenario = identity.scenario(space, cell)
        assert identity.key(scenario) == keys[cell]
        batch = next(iter(space.batches(np.array([cell]))))
        variant = space.variants[batch.variant]
        mine = build_rows(variant, replications=np.zeros(1, np.int64), given=batch.given)
        alone = build(scenario, replications=1)
        assert (mine.rows.parameters == alone.rows.parameters).all()
        used = alone.rows.hops.shape[2]
        columns = [c for c in range(mine.rows.hops.shape[3]) if c not in (3, 7)]  # rows of the loss table
        assert (mine.rows.hops[:, :, :used, columns] == alone.rows.hops[..., columns]).all()


def test_every_protocol_meets_the_same_moves():
    space = sweep(GRID)
    batches = {b.variant: b for b in space.batches(np.arange(3))}
    rows = [
        build_rows(space.variants[v], replications=np.arange(1), given=b.given).rows.parameters
        for v, b in batches.items()
    ]
    differ = {P(column) for row in rows for column in np.flatnonzero((row != rows[0]).any(axis=0))}
    assert differ == {MobileP.HANDOVER}


@pytest.mark.full
@pytest.mark.parametrize("data", [GRID, SPEEDS], ids=lambda data: data["name"])
def test_results_do_not_depend_on_the_chunk_and_come_out_again(data, tmp_path):
    space = sweep(data, keep="replications")
    whole = simulated(space)
    assert set(whole.cells["status"].to_pylist()) == {"ok"}
    for cells in np.array_split(np.arange(space.n_cells), 3):
        part = simulated(space, cells)
        assert same(part.cells, whole.cells.take(cells))
    store = Store.create(str(tmp_path / "store"), space.manifest())
    store.write(whole.cells, whole.replications)
    for cell in (1, space.n_cells - 1):
        key = whole.cells["key"][cell].as_py()
        assert rerun(store, key).equal
        assert rerun(store, key, replication=2).equal


def test_given_times_may_be_axes():
    mobility = {"protocol": "fmipv6", "times": ["1 s", "3 s"]}
    scenario = {**GRID["scenario"], "mobility": mobility}
    axes = {"mobility.times.1": ["2 s", "4 s", "0.5 s"]}
    space = sweep(GRID, scenario=scenario, axes=axes, derive={}, compare=None)
    batch = next(iter(space.batches(np.arange(3))))
    rows = build_rows(space.variants[0], replications=np.zeros(3, np.int64), given=batch.given).rows
    assert rows.outages[:, 0, 1, :, 0].tolist() == [[1e9, 2e9], [1e9, 4e9], [5e8, 1e9]]


def test_too_many_handovers_are_refused_before_any_work():
    axes = {"mobility.every": {"log": ["1 ms", "1 s"], "points": 4}}
    mobility = {"protocol": "fmipv6", "every": "1 s", "least_stay": "1 ms"}
    scenario = {**GRID["scenario"], "mobility": mobility}
    with pytest.raises(InputError, match="can cause 6000 handovers"):
        sweep(GRID, scenario=scenario, axes=axes, derive={}, compare=None)
    derive = {"mobility.every": "0.001 * rounds"}
    with pytest.raises(InputError, match="can cause 6000 handovers"):
        sweep(GRID, scenario=scenario, axes={"rounds": [100, 1, 10]}, derive=derive, compare=None)


def test_the_handover_map_is_a_sweep_of_seven_protocols():
    space = load_sweep(ROOT / "configs" / "handover_map.yaml")
    assert space.compare.name == "protocol"
    assert space.group == len({variant.mobility.protocol for variant in space.variants}) == 7
    look = [batch.features["base_rtt_s"] for batch in space.batches(np.arange(space.n_cells))]
    assert np.abs(np.unique(np.round(np.concatenate(look), 2)) - [0.06, 0.11, 0.21, 0.41]).max() < 0.01
