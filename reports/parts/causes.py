"""Outcomes that are zero in every replication of a scenario, because nothing in it can cause them."""

import pandas as pd

from netcarlo.networks.causes import given
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.outcomes import declarations, listed


def zero_by_construction(scenario: Scenario, frame: pd.DataFrame) -> frozenset[str]:
    """Return the outcomes of a frame that are 0 in all its rows and that nothing in the scenario can cause.

    An outcome with any other value is never among them.
    """
    zero = {name for name in listed(frame) if (frame[name] == 0).all()}
    if not zero:
        return frozenset()
    there = given(scenario)
    declared = declarations(scenario.network).items()
    without = {name for name, each in declared if each.cause is not None and not each.cause(there)}
    return frozenset(zero & (without | (zero - {*measurable.outcomes(scenario)})))
