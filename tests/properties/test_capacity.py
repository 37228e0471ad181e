"""Capacity: no fidelity delivers more than the links carry.

The tests use a few of the random scenarios of `scenarios.draw`; they were run once over 1,072 of fluids and
732 of formulae.
"""

import pytest

from netcarlo.scenario import Scenario
from netcarlo.simulation.launches import Job
from netcarlo.simulation.simulate import simulate_all
from tests.properties.capacity import broken
from tests.properties.scenarios import FAMILIES, draw

FEW = {"path": "newreno", "shared": "", "wireless": ""}
"""Only protocol of each family that is run with fluids, because each protocol has a model of its own."""


def some(family: str, fidelity: str, numbers: range) -> list[tuple[str, Scenario]]:
    """Return the scenarios of these numbers whose model other tests compile, too."""
    protocol = FEW[family]
    found = []
    for number in numbers:
        drawn = draw(number, family=family, fidelity=fidelity)
        if drawn is None:
            continue
        if fidelity == "fluid":
            address = drawn[1].network.address(drawn[1], fluid=True)
            other = protocol not in ("", drawn[1].transport.protocol)
            if other or address.mobile or address.delays:
                continue
        found.append(drawn)
    return found


def check(fidelity: str, family: str, numbers: range) -> None:
    drawn = some(family, fidelity, numbers)
    assert len(drawn) >= 5
    outcomes = simulate_all([Job(scenario, 0, 2) for _, scenario in drawn], target="cpu", threads=1)
    for (feature, scenario), found in zip(drawn, outcomes, strict=True):
        assert not broken(scenario, found), f"{family} {feature} {scenario.seed}: {broken(scenario, found)}"


@pytest.mark.full
def test_fluids_stay_below_capacity() -> None:
    for family, most in (("path", 300), ("shared", 60), ("wireless", 60)):
        check("fluid", family, range(most))


@pytest.mark.full
def test_formulae_stay_below_capacity() -> None:
    for family in ("path", "shared"):
        check("formula", family, range(40))


def test_every_feature_can_be_drawn() -> None:
    for family, (_, features) in FAMILIES.items():
        for number, feature in enumerate(features):
            drawn = draw(number, family=family)
            assert drawn is not None and drawn[0] == feature
