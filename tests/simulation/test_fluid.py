"""Fluid models of 802.11 and ad hoc networks in use: as control variate, in sweeps, in plans."""

import json
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from netcarlo import Scenario, estimate, load_scenario, simulate
from netcarlo.errors import InputError
from netcarlo.planning import make_plan, plan
from netcarlo.simulation import fidelity
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.execution.chunk import run_chunk
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import make_sweep
from tests.campaigns.benchmarks.fidelity import EXAMPLES
from tests.campaigns.benchmarks.fluid_adhoc import drawn


class Family(NamedTuple):
    """Network, and the questions about it."""

    scenario: Scenario
    replications: int
    """Replications of an estimate with the fluid model as control variate."""
    saving: float
    """Minimum ratio of the variances without and with the control variate."""
    sweep: dict[str, Any]
    unmeasured: str
    """Outcome that the fluid model does not measure."""
    plan: dict[str, Any]
    undecided: str
    """Requirement that the fluid model cannot decide."""


WALKERS = {
    "nodes": 10, "area": {"side": {"uniform": ["200 m", "600 m"]}}, "range": "150 m",
    "mobility": {"model": "random_waypoint", "speed": "5 m/s"},
}  # fmt: skip
WALK = {
    "nodes": 10, "area": {"side": "400 m"}, "range": "150 m",
    "mobility": {"model": "random_waypoint", "speed": {"uniform": ["1 m/s", "10 m/s"]}},
}  # fmt: skip
DOWN = {  # TCP from the access point, for which there is no formula
    "transport": {"protocol": "newreno", "payload": {"integers": ["200 B", "1460 B"]}},
    "wireless.flows": "down",
}
FAMILIES = {
    "adhoc": Family(
        drawn("newreno", moves=True).with_values({"duration": "20 s"}), 100, 4,
        sweep={
            "scenario": {"duration": "20 s", "transport": {"protocol": "newreno"}, "adhoc": WALKERS},
            "axes": {"adhoc.range": ["100 m", "200 m"]},
            "outcomes": ["goodput_bps", "connected_share"],
        },
        unmeasured="energy_J",
        plan={
            "scenario": {"duration": "30 s", "transport": {"protocol": "newreno"}, "adhoc": WALK},
            "find": "smallest",
            "quantity": {
                "name": "range", "field": "adhoc.range", "linear": ["80 m", "250 m"], "step": "10 m",
            },
            "requirements": {"share": {"goal": "goodput_bps >= 300 kbit/s", "probability": 0.9}},
        },
        undecided="drops_route <= 1",
    ),
    "wireless": Family(
        load_scenario(EXAMPLES / "wifi_cells.yaml").with_values(DOWN), 60, 3,
        sweep={
            "scenario": {
                "duration": "1 s", "transport": {"protocol": "newreno", "payload": "1000 B"},
                "wireless": {
                    "cell": {"stations": 5}, "rate": "24 Mbit/s", "frame_error": {"uniform": [0, 0.1]},
                },
            },
            "axes": {"wireless.cell.stations": [1, 20]},
            "outcomes": ["goodput_bps", "failed_attempt_ratio"],
        },
        unmeasured="mean_delay_s",
        plan={
            "scenario": {
                "duration": "1 s", "transport": {"protocol": "newreno"},
                "wireless": {"cell": {"stations": 5}, "rate": {"choice": ["24 Mbit/s", "54 Mbit/s"]}},
            },
            "quantity": {"name": "users", "field": "wireless.cell.stations", "linear": [1, 30]},
            "requirements": {"share": {"goal": "goodput_bps / users >= 2 Mbit/s", "probability": 0.9}},
        },
        undecided="loss_retries <= 0.01",
    ),
}  # fmt: skip
each_family = pytest.mark.parametrize("name", FAMILIES)


@pytest.mark.full
@each_family
def test_as_a_control_it_saves_packets(name: str) -> None:
    scenario, replications, saving, *_ = FAMILIES[name]
    sharp = estimate(scenario, control="fluid", replications=replications, target="cpu")
    plain = estimate(scenario, replications=replications, target="cpu")
    many = estimate(scenario, replications=10 * replications, seed=9, target="cpu")
    assert sharp.saving is not None
    assert sharp.saving.table.loc["goodput_bps"]["variance_ratio"] >= saving
    row, truth = sharp.table.loc["goodput_bps"], many.table.loc["goodput_bps"]
    widths = row["ci_high"] - row["ci_low"], truth["ci_high"] - truth["ci_low"]
    assert abs(row["mean"] - truth["mean"]) <= 1.5 * math.hypot(*widths) / 2
    assert sharp.outcomes.frame.equals(plain.outcomes.frame)


@pytest.mark.full
@each_family
def test_a_sweep_of_it_simulates_no_packets(name: str) -> None:
    data = {"name": name, "draw": {"count": 4, "method": "sobol", "blocks": 2}, **FAMILIES[name].sweep}
    data["scenario"] = {**data["scenario"], "replications": 1, "fidelity": "fluid"}
    sweep = make_sweep(data)
    chunk = run_chunk(json.dumps(sweep.definition), np.arange(8), version=model_version())
    found = chunk.cells.to_pandas()
    assert (found["status"] == "ok").all()
    alone = simulate(identity.scenario(sweep, 3)).frame
    assert found["goodput_bps"][3] == pytest.approx(alone["goodput_bps"][0], rel=1e-12)
    unmeasured = FAMILIES[name].unmeasured
    with pytest.raises(InputError, match=f"{unmeasured}' is not measured here"):
        make_sweep({**data, "outcomes": [unmeasured]})


@pytest.mark.full
@each_family
def test_a_plan_rests_on_goodput_alone(name: str) -> None:
    data = dict(FAMILIES[name].plan)
    data["scenario"] = {**data["scenario"], "fidelity": "fluid"}
    found = plan(make_plan(data), target="cpu")
    assert found.holds is not None and found.fails is not None
    if name == "wireless":  # the plan seeks the largest number of users
        assert 3 <= found.holds < found.fails <= 12
    else:
        assert found.fails < found.holds
    goal = FAMILIES[name].undecided
    requirements = {"other": {"goal": goal, "probability": 0.9}}
    with pytest.raises(InputError, match=f"cannot decide about {goal.split()[0]}"):
        make_plan({**data, "requirements": requirements})


@pytest.mark.full
def test_what_it_says_of_the_network_is_what_packets_say() -> None:
    walkers = FAMILIES["adhoc"].scenario
    packets = simulate(walkers, replications=30).frame
    fluid = simulate(walkers.with_values({"fidelity": "fluid"}), replications=30).frame
    for name in ("connected_share", "mean_shortest_hops", "kept_breaks", "outages_per_s", "mean_degree"):
        assert fluid[name].equals(packets[name])
    assert fluid["energy_J"].isna().all() and packets["energy_J"].notna().all()


@pytest.mark.parametrize(
    ("transport", "reason"),
    [
        ({"protocol": "sctp", "rules": "rfc9260"}, "supports the rules of ns-2 only, not rfc9260"),
        ({"protocol": "linux26", "congestion_control": "westwood"}, "westwood is 10 % below packets"),
        ({"protocol": "newreno", "congestion_control": "cubic"}, "of sack and linux26 only, not cubic"),
        ({"protocol": "newreno", "send_buffer": {"size": "64 KiB"}}, "does not support send_buffer"),
    ],
)
def test_what_it_does_not_know_is_refused(transport: dict[str, Any], reason: str) -> None:
    network = {"nodes": 3, "area": {"side": "50 m"}, "range": "100 m", "mobility": {"model": "static"}}
    scenario = Scenario.check({"duration": "10 s", "transport": transport, "adhoc": network})
    with pytest.raises(InputError, match=reason):
        fidelity.check(scenario, "fluid")
    with pytest.raises(InputError, match=reason):
        simulate(scenario.with_values({"fidelity": "fluid"}), replications=1)
