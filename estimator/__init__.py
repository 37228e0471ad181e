"""Monte Carlo estimates of the performance of transport protocols over random networks, packet by packet.

The functions are named like the commands: `availability`, `estimate`, `compare` (with measured runs
`compare_measured`), `fit`, `plan`, `plot`, `report`, `reproduce`, `simulate`, `sweep`, `trace`, `validate`.
`open` returns the stored results of a sweep. Within `on_workers` all of them simulate on the workers of a
cluster.

What a name needs is imported when it is used first (PEP 562; Scientific Python's SPEC 1).
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netcarlo.calibration.fit.fit import Fitted, fit
    from netcarlo.captures.capture import capture
    from netcarlo.comparison.compare import compare
    from netcarlo.comparison.comparison import Comparison
    from netcarlo.comparison.measured import Measured, compare_measured
    from netcarlo.errors import InputError
    from netcarlo.estimation.availability import Availability, availability
    from netcarlo.estimation.estimate import Estimate, estimate
    from netcarlo.estimation.validate import Validation, validate
    from netcarlo.planning.designs import Frontier, frontier
    from netcarlo.planning.run import Answer, plan
    from netcarlo.reports.plot import plot
    from netcarlo.reports.report import report
    from netcarlo.scenario import Scenario, load_scenario
    from netcarlo.simulation.outcomes import Outcomes
    from netcarlo.simulation.simulate import simulate
    from netcarlo.simulation.spread import on_workers
    from netcarlo.simulation.trace import trace
    from netcarlo.studies.reproduce import reproduce
    from netcarlo.sweeps.api import sweep
    from netcarlo.sweeps.stored import StoredSweep, open
    from netcarlo.transport.congestion import trust

logging.getLogger("netcarlo").addHandler(logging.NullHandler())  # silent without handlers

_HOMES = {
    "calibration.fit.fit": ["Fitted", "fit"],
    "captures.capture": ["capture"],
    "comparison.compare": ["compare"],
    "comparison.comparison": ["Comparison"],
    "comparison.measured": ["Measured", "compare_measured"],
    "errors": ["InputError"],
    "estimation.availability": ["Availability", "availability"],
    "estimation.estimate": ["Estimate", "estimate"],
    "estimation.validate": ["Validation", "validate"],
    "planning.designs": ["Frontier", "frontier"],
    "planning.run": ["Answer", "plan"],
    "reports.plot": ["plot"],
    "reports.report": ["report"],
    "scenario": ["Scenario", "load_scenario"],
    "simulation.outcomes": ["Outcomes"],
    "simulation.simulate": ["simulate"],
    "simulation.spread": ["on_workers"],
    "simulation.trace": ["trace"],
    "studies.reproduce": ["reproduce"],
    "sweeps.api": ["sweep"],
    "sweeps.stored": ["StoredSweep", "open"],
    "transport.congestion": ["trust"],
}

__all__ = [
    "Answer",
    "Availability",
    "Comparison",
    "Estimate",
    "Fitted",
    "Frontier",
    "InputError",
    "Measured",
    "Outcomes",
    "Scenario",
    "StoredSweep",
    "Validation",
    "availability",
    "capture",
    "compare",
    "compare_measured",
    "estimate",
    "fit",
    "frontier",
    "load_scenario",
    "on_workers",
    "open",
    "plan",
    "plot",
    "report",
    "reproduce",
    "simulate",
    "sweep",
    "trace",
    "trust",
    "validate",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(import_module(f"netcarlo.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
