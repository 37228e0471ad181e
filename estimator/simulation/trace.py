"""Trace of one replication: every packet, acknowledgement, timeout and loss, with the sender's state."""

from typing import NamedTuple

import pandas as pd

from netcarlo.errors import InputError
from netcarlo.networks.registry import NETWORKS
from netcarlo.scenario import Scenario, ScenarioLike, scenario_of
from netcarlo.schema.arguments import checked
from netcarlo.simulation import launches, workload
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import Outcomes


class Traced(NamedTuple):
    """A replication with its trace."""

    frame: pd.DataFrame
    """One row per event in the order of the simulation; docs/reference/trace.md describes the columns."""
    outcomes: Outcomes
    """Outcomes of the replication, equal to those of `simulate`."""


@checked
def trace(scenario: ScenarioLike, *, replication: int = 0, large: bool = False) -> Traced:
    """Simulate one replication with its trace.

    A run that is forecast to be large (`workload`) is refused unless `large` is true. Raises InputError.
    """
    scenario = scenario_of(scenario)
    network = scenario.network
    if network.untraced or scenario.fidelity != "packet":
        what = network.untraced or f"fidelity {scenario.fidelity}"
        *others, last = (network.key for network in NETWORKS if not network.untraced)
        allowed = f"packets over {', '.join(others)} and {last}"
        raise InputError(f"traces of {what} are not supported; supported: {allowed}")
    if not large:
        workload.check([workload.forecast(scenario, 1, traced=True)])
    with launches.refusals():
        events, outcomes = launches.trace(scenario, replication=replication)
    rows = build(scenario, first=replication, replications=1).rows
    return Traced(network.events(scenario, rows, events), outcomes)


def per_second(scenario: Scenario, frame: pd.DataFrame, *, replication: int = 0) -> pd.DataFrame | None:
    """Return the goodput of each flow in each second of a trace [bit/s]; None if the trace does not show
    it."""
    rows = build(scenario, first=replication, replications=1).rows
    return scenario.network.per_second(rows, frame)
