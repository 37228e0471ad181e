"""The fluid of 802.11 networks where others ask for it: as a control of packets, in sweeps, in plans."""

import json
import math

import numpy as np
import pytest

from netcarlo import Scenario, estimate, load_scenario, simulate
from netcarlo.errors import InputError
from netcarlo.planning import make_plan, plan
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.execution.chunk import run_chunk
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import make_sweep
from tests.campaigns.benchmarks.fidelity import EXAMPLES


@pytest.fixture(scope="module")
def cells() -> Scenario:
    """TCP from the access point, which no formula knows."""
    transport = {"protocol": "newreno", "payload": {"integers": ["200 B", "1460 B"]}}
    scenario = load_scenario(EXAMPLES / "wifi_cells.yaml")
    return scenario.with_values({"transport": transport, "wireless.flows": "down"})


def test_as_a_control_it_saves_packets(cells: Scenario) -> None:
    sharp = estimate(cells, control="fluid", replications=60, target="cpu")
    plain = estimate(cells, replications=60, target="cpu")
    many = estimate(cells, replications=600, seed=9, target="cpu")
    assert sharp.saving is not None
    assert sharp.saving.table.loc["goodput_bps"]["variance_ratio"] >= 3
    row, truth = sharp.table.loc["goodput_bps"], many.table.loc["goodput_bps"]
    widths = row["ci_high"] - row["ci_low"], truth["ci_high"] - truth["ci_low"]
    assert abs(row["mean"] - truth["mean"]) <= 1.5 * math.hypot(*widths) / 2
    assert sharp.outcomes.frame.equals(plain.outcomes.frame)


def test_a_sweep_of_it_simulates_no_packets() -> None:
    data = {
        "name": "cells",
        "scenario": {
            "duration": "1 s", "replications": 1, "fidelity": "fluid",
            "transport": {"protocol": "newreno", "payload": "1000 B"},
            "wireless": {"cell": {"stations": 5}, "rate": "24 Mbit/s", "frame_error": {"uniform": [0, 0.1]}},
        },
        "axes": {"wireless.cell.stations": [1, 20]},
        "draw": {"count": 4, "method": "sobol", "blocks": 2},
        "outcomes": ["goodput_bps", "failed_attempt_ratio"],
    }  # fmt: skip
    sweep = make_sweep(data)
    chunk = run_chunk(json.dumps(sweep.definition), np.arange(8), version=model_version())
    found = chunk.cells.to_pandas()
    assert (found["status"] == "ok").all()
    alone = simulate(identity.scenario(sweep, 3)).frame
    assert found["goodput_bps"][3] == pytest.approx(alone["goodput_bps"][0], rel=1e-12)
    with pytest.raises(InputError, match="mean_delay_s' is not measured here"):
        make_sweep({**data, "outcomes": ["mean_delay_s"]})


def test_a_plan_rests_on_goodput_alone() -> None:
    data = {
        "scenario": {
            "duration": "1 s", "fidelity": "fluid", "transport": {"protocol": "newreno"},
            "wireless": {"cell": {"stations": 5}, "rate": {"choice": ["24 Mbit/s", "54 Mbit/s"]}},
        },
        "quantity": {"name": "users", "field": "wireless.cell.stations", "linear": [1, 30]},
        "requirements": {"share": {"goal": "goodput_bps / users >= 2 Mbit/s", "probability": 0.9}},
    }  # fmt: skip
    found = plan(make_plan(data), target="cpu")
    assert found.holds is not None and found.fails is not None
    assert 3 <= found.holds < found.fails <= 12
    requirements = {"loss": {"goal": "loss_retries <= 0.01", "probability": 0.9}}
    with pytest.raises(InputError, match="decides nothing about loss_retries"):
        make_plan({**data, "requirements": requirements})
