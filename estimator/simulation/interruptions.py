"""When links are down in a replication, where that is known before it runs."""

from netcarlo.networks.interruption import Interruption
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build


def interruptions(scenario: Scenario, *, replication: int = 0) -> list[Interruption]:
    """Those of a replication that begin before it ends, in order of time; none but over paths."""
    rows = build(scenario, first=replication, replications=1).rows
    return list(scenario.network.interruptions(rows))
