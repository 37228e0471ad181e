"""A scenario in one phrase: traffic, network, duration and number of replications."""

from netcarlo.scenario import Scenario
from netcarlo.schema.readable import counted, quantity


def simulated(scenario: Scenario, replications: int | None = None) -> str:
    """Return what a scenario simulates: `NewReno over one hop (10 Mbit/s, 10 ms), 30 s, 200 replications`."""
    parts = [scenario.network.phrase(scenario), quantity(scenario.duration, "s")]
    if scenario.fidelity != "packet":
        parts.append(f"{scenario.fidelity} model")
    if replications is not None:
        parts.append(counted(replications, "replication"))
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]
