"""Times at which links are down in a replication, as far as they are known before it runs."""

from netcarlo.networks.interruption import Interruption
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build


def interruptions(scenario: Scenario, *, replication: int = 0) -> list[Interruption]:
    """Return the interruptions of a replication that begin before its end, in order of time."""
    rows = build(scenario, first=replication, replications=1).rows
    return list(scenario.network.interruptions(rows))
