"""netcarlo: how well will this transport do on networks like these?

Monte Carlo simulation of transport protocols, packet by packet.  The words are those of the command
line: `estimate`, `compare`, `simulate`, `sweep`, `trace`, `validate`.
"""

from netcarlo.control import trust
from netcarlo.errors import InputError
from netcarlo.estimate import Comparison, Estimate, compare, estimate
from netcarlo.outcomes import Outcomes
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.simulate import simulate
from netcarlo.sweeps.api import sweep
from netcarlo.traces import trace
from netcarlo.validate import Validation, validate

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
    "simulate",
    "sweep",
    "trace",
    "trust",
    "validate",
]
