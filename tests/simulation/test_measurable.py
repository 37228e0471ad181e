"""Outcomes that a scenario has, compared with those that runs of every network and fidelity measure."""

from typing import Any

import pytest

from netcarlo import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import model_of
from netcarlo.simulation.outcomes import MEANING, by_formula, outcomes
from tests.kernels.beside_twin import run_as_python

pytestmark = pytest.mark.full

HOPS = [{"rate": "2 Mbit/s", "delay": "5 ms", "queue": 10}, {"rate": "4 Mbit/s", "delay": "2 ms"}]
OUTAGE = [{**HOPS[0], "outages": [{"start": "0.6 s", "duration": "0.2 s"}]}]
CELL = {"duration": "0.5 s", "wireless": {"cell": {"stations": 3}, "best_interval": "0.1 s"}}
DUMBBELL = {"rate": "2 Mbit/s", "delay": "5 ms", "queue": 10}
STREAM = {"udp": {"rate": "1 Mbit/s"}}
ADHOC = {
    "duration": "20 s",
    "transport": {"protocol": "newreno", "packets": 20},
    "adhoc": {
        "nodes": 6,
        "area": {"side": "400 m"},
        "range": "180 m",
        "mobility": {"model": "random_waypoint", "speed": {"min": "20 m/s", "max": "40 m/s"}},
        "energy": {"battery": "5 kJ"},
    },
}


def paths(hops: list[Any] = HOPS, **transport: Any) -> dict[str, Any]:
    return {"duration": "2 s", "transport": {"protocol": "newreno", **transport}, "hops": hops}


def shared(*flows: Any, **transport: Any) -> dict[str, Any]:
    network = {"dumbbell": DUMBBELL, "flows": list(flows)}
    return {"duration": "2 s", "transport": {"protocol": "newreno", **transport}, "shared": network}


SCENARIOS: dict[str, dict[str, Any]] = {
    "path": paths(),
    "file": paths(packets=50),
    "outage": paths(OUTAGE),
    "vegas": paths(protocol="vegas"),
    "linux": paths(protocol="linux", congestion_control="cubic"),
    "linux26": paths(protocol="linux26", congestion_control="cubic"),
    "sctp": paths(OUTAGE, protocol="sctp"),
    "datagrams": paths(protocol="udp", rate="1 Mbit/s"),
    "mobile": {
        **paths([HOPS[0], {"rate": "2 Mbit/s", "delay": "2 ms"}]),
        "mobility": {"protocol": "fmipv6", "every": "0.5 s", "outage": "0.1 s"},
    },
    "udp cell": {**CELL, "transport": {"protocol": "udp", "rate": "1 Mbit/s", "payload": "1000 B"}},
    "udp file": {**CELL, "transport": {"protocol": "udp", "rate": "1 Mbit/s", "packets": 5}},
    "tcp cell": {**CELL, "transport": {"protocol": "newreno"}},
    "adhoc": ADHOC,
    "shared": shared({"count": 2}),
    "shared files": shared({"count": 2, "each": {"packets": 20}}, STREAM),
    "shared kinds": shared({"protocol": "vegas"}, {"protocol": "sack"}),
    "shared linux": shared({"protocol": "linux", "congestion_control": "bbr"}, {"protocol": "sack"}),
    "streams": shared(STREAM, STREAM),
    "perhaps a stream": shared({"count": 1}, {"count": {"integers": [0, 1]}, "each": STREAM}),
}
FLUID = (
    *("path", "file", "outage", "vegas", "udp cell", "udp file", "tcp cell", "shared", "shared files"),
    "adhoc",
    "streams",
)
FORMULA = ("path", "vegas", "shared", "streams", "perhaps a stream", "udp cell")
CASES = [
    *((name, "packet") for name in SCENARIOS),
    *((name, "fluid") for name in FLUID),
    *((name, "formula") for name in FORMULA),
]


def scenario(name: str, cheap: str = "packet") -> Scenario:
    return Scenario.check({**SCENARIOS[name], "fidelity": cheap})


def measured(asked: Scenario) -> set[str]:
    """Return the outcomes that have a value in at least one of a few runs."""
    built = build(asked, replications=6)
    if asked.fidelity == "formula":
        frame = by_formula(asked, *built).frame
    else:
        integers = run_as_python(model_of(asked).name, built.rows)
        frame = outcomes(asked.network, integers, *built).frame
    return {name for name in MEANING if name in frame and frame[name].notna().any()}


MANY = {"shared": {"dumbbell": DUMBBELL, "flows": [{"count": 60}]}}, {"wireless": {"cell": {"stations": 30}}}


@pytest.mark.parametrize("network", MANY, ids=lambda network: next(iter(network)))
def test_many_finite_flows_have_a_completion_time(network: dict[str, Any]) -> None:
    asked = {"duration": "1 s", "transport": {"protocol": "newreno", "packets": 10}, **network}
    assert "completion_s" in measurable.outcomes(Scenario.check(asked))


@pytest.mark.parametrize(("name", "cheap"), CASES, ids=lambda each: each)
def test_outcomes_are_those_that_runs_measure(name: str, cheap: str) -> None:
    asked = scenario(name, cheap)
    found, have = measured(asked), measurable.outcomes(asked)
    assert "goodput_bps" in have
    if cheap == "fluid":  # fluids report zero for counts that they do not model
        found &= {*have, *(each for each in MEANING if each.endswith("_s"))}
    if name == "adhoc":  # none of these may end in so few runs
        found |= {"mean_outage_s", "mean_route_life_s"}
    assert found == set(have)
