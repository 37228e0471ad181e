"""netcarlo: how well will this transport do on networks like these?

Monte Carlo simulation of transport protocols, packet by packet.  The words are those of the command
line: `estimate`, `compare`, `reproduce`, `simulate`, `sweep`, `trace`, `validate`.
"""

from netcarlo.errors import InputError
from netcarlo.estimation.estimate import Comparison, Estimate, compare, estimate
from netcarlo.estimation.validate import Validation, validate
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.simulation.outcomes import Outcomes
from netcarlo.simulation.simulate import simulate
from netcarlo.simulation.trace import trace
from netcarlo.studies.reproduce import reproduce
from netcarlo.sweeps.api import sweep
from netcarlo.transport.congestion import trust

__all__ = [
    "Comparison",
    "Estimate",
    "InputError",
    "Outcomes",
    "Scenario",
    "Validation",
    "compare",
    "estimate",
    "load_scenario",
    "reproduce",
    "simulate",
    "sweep",
    "trace",
    "trust",
    "validate",
]
