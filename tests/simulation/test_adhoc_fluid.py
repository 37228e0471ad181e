"""The fluid of ad hoc networks where others ask for it: as a control of packets, in sweeps, in plans."""

import json
import math
from typing import Any

import numpy as np
import pytest

from netcarlo import Scenario, estimate, simulate
from netcarlo.errors import InputError
from netcarlo.planning import make_plan, plan
from netcarlo.simulation import fidelity
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.execution.chunk import run_chunk
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import make_sweep
from tests.campaigns.benchmarks.fluid_adhoc import drawn


@pytest.fixture(scope="module")
def walkers() -> Scenario:
    return drawn("newreno", moves=True).with_values({"duration": "20 s"})


def test_as_a_control_it_saves_packets(walkers: Scenario) -> None:
    sharp = estimate(walkers, control="fluid", replications=100, target="cpu")
    plain = estimate(walkers, replications=100, target="cpu")
    many = estimate(walkers, replications=1000, seed=9, target="cpu")
    assert sharp.saving is not None
    assert sharp.saving.table.loc["goodput_bps"]["variance_ratio"] >= 4
    row, truth = sharp.table.loc["goodput_bps"], many.table.loc["goodput_bps"]
    widths = row["ci_high"] - row["ci_low"], truth["ci_high"] - truth["ci_low"]
    assert abs(row["mean"] - truth["mean"]) <= 1.5 * math.hypot(*widths) / 2
    assert sharp.outcomes.frame.equals(plain.outcomes.frame)


def test_what_it_says_of_the_network_is_what_packets_say(walkers: Scenario) -> None:
    packets = simulate(walkers, replications=30).frame
    fluid = simulate(walkers.with_values({"fidelity": "fluid"}), replications=30).frame
    for name in ("connected_share", "mean_shortest_hops", "kept_breaks", "outages_per_s", "mean_degree"):
        assert fluid[name].equals(packets[name])
    assert fluid["energy_J"].isna().all() and packets["energy_J"].notna().all()


def test_a_sweep_of_it_simulates_no_packets() -> None:
    network = {"nodes": 10, "area": {"side": {"uniform": ["200 m", "600 m"]}}, "range": "150 m"}
    network["mobility"] = {"model": "random_waypoint", "speed": "5 m/s"}
    data = {
        "name": "walkers",
        "scenario": {
            "duration": "20 s", "replications": 1, "fidelity": "fluid",
            "transport": {"protocol": "newreno"}, "adhoc": network,
        },
        "axes": {"adhoc.range": ["100 m", "200 m"]},
        "draw": {"count": 4, "method": "sobol", "blocks": 2},
        "outcomes": ["goodput_bps", "connected_share"],
    }  # fmt: skip
    sweep = make_sweep(data)
    chunk = run_chunk(json.dumps(sweep.definition), np.arange(8), version=model_version())
    found = chunk.cells.to_pandas()
    assert (found["status"] == "ok").all()
    alone = simulate(identity.scenario(sweep, 3)).frame
    assert found["goodput_bps"][3] == pytest.approx(alone["goodput_bps"][0], rel=1e-12)
    with pytest.raises(InputError, match="energy_J' is not measured here"):
        make_sweep({**data, "outcomes": ["energy_J"]})


def test_a_plan_rests_on_goodput_alone() -> None:
    network = {"nodes": 10, "area": {"side": "400 m"}, "range": "150 m"}
    network["mobility"] = {"model": "random_waypoint", "speed": {"uniform": ["1 m/s", "10 m/s"]}}
    data = {
        "scenario": {
            "duration": "30 s", "fidelity": "fluid", "transport": {"protocol": "newreno"}, "adhoc": network,
        },
        "find": "smallest",
        "quantity": {"name": "range", "field": "adhoc.range", "linear": ["80 m", "250 m"], "step": "10 m"},
        "requirements": {"share": {"goal": "goodput_bps >= 300 kbit/s", "probability": 0.9}},
    }  # fmt: skip
    found = plan(make_plan(data), target="cpu")
    assert found.holds is not None and found.fails is not None and found.fails < found.holds
    requirements = {"breaks": {"goal": "drops_route <= 1", "probability": 0.9}}
    with pytest.raises(InputError, match="decides nothing about drops_route"):
        make_plan({**data, "requirements": requirements})


@pytest.mark.parametrize(
    ("transport", "reason"),
    [
        ({"protocol": "sctp"}, "no fluid model of sctp"),
        ({"protocol": "linux26"}, "no fluid model of linux26"),
        ({"protocol": "newreno", "congestion_control": "cubic"}, "controls of sack only, and not cubic"),
        ({"protocol": "newreno", "send_buffer": {"size": "64 KiB"}}, "has no send_buffer"),
    ],
)
def test_what_it_does_not_know_is_refused(transport: dict[str, Any], reason: str) -> None:
    network = {"nodes": 3, "area": {"side": "50 m"}, "range": "100 m", "mobility": {"model": "static"}}
    scenario = Scenario.check({"duration": "10 s", "transport": transport, "adhoc": network})
    with pytest.raises(InputError, match=reason):
        fidelity.check(scenario, "fluid")
    with pytest.raises(InputError, match=reason):
        simulate(scenario.with_values({"fidelity": "fluid"}), replications=1)
