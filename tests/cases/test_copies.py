"""Replications of a scenario without randomness: one is run, with a note."""

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from netcarlo import Estimate, estimate
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.schema.notes import Note

CASE = Path(__file__).with_name("identical_replications.yaml")
GOAL = "worst_flow_bps >= 4.5 Mbit/s"
HOP = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "50 packets"}


def estimated(scenario: Any, **more: Any) -> tuple[Estimate, str]:
    """Return an estimate and its notes."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = estimate(scenario, **more)
    return result, " ".join(str(each.message) for each in found if issubclass(each.category, Note))


def test_copies_count_as_one() -> None:
    found, text = estimated(load_scenario(CASE), goals=[GOAL], replications=40)
    goal = found.goals.loc[GOAL]
    assert (goal["n"], goal["probability"]) == (1, 1)
    assert goal["ci_low"] < 0.3
    assert "all 40 replications are the same run" in text
    assert found.provenance["copies"] is True


def test_the_remedy_makes_them_differ() -> None:
    _, text = estimated(load_scenario(CASE), replications=10)
    values = {
        name: {"uniform": re.findall(r"[\d.]+ m?s", value)}
        for name, value in re.findall(r"--set (\S+)='([^']+)'", text)
    }
    found, text = estimated(load_scenario(CASE, values=values), goals=[GOAL], replications=40)
    assert text == ""
    assert found.goals.loc[GOAL, "n"] == 40
    assert found.table.loc["worst_flow_bps", "sd"] > 0


@pytest.mark.full
def test_a_precision_reached_by_copies_is_noted() -> None:
    found, text = estimated(load_scenario(CASE), precision="1 %")
    assert found.precise
    assert "nothing in this scenario is random" in text


@pytest.mark.parametrize("network", [
    {"hops": [HOP]},
    {"shared": {"dumbbell": HOP, "flows": [{}, {"start": "1 s"}]}},
])  # fmt: skip
def test_other_networks(network: dict[str, Any]) -> None:
    data = {"duration": "10 s", "transport": {"protocol": "newreno"}, **network}
    _, text = estimated(Scenario.check(data), replications=8)
    fields = re.findall(r"--set (\S+)=", text)
    assert fields == (
        ["transport.start"] if "hops" in network else ["shared.flows.0.start", "shared.flows.1.start"]
    )


@pytest.mark.parametrize("values", [
    {"hops.0.loss": "1e-9"},  # rare, but each replication is still a sample
    {"hops.0.loss": "1 %"},
    {"hops.0.delay": {"uniform": ["20 ms", "21 ms"]}},
    {"transport": {"protocol": "udp", "rate": "1 Mbit/s"}},
    {"replications": 1},
])  # fmt: skip
def test_random_scenarios_are_not_noted(values: dict[str, Any]) -> None:
    data = {"duration": "5 s", "transport": {"protocol": "newreno"}, "hops": [HOP], "replications": 20}
    found, text = estimated(Scenario.check(data).with_values(values), goals=["goodput_bps > 1 bit/s"])
    assert "random" not in text
    assert found.goals["n"].item() == values.get("replications", 20)
