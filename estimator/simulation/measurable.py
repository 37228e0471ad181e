"""Outcomes that the runs of a scenario measure.

They follow from the declarations of outcomes (`Outcome.when` and `Outcome.fluid`) for some rows of the
scenario; formulae are evaluated. A measured outcome may have no value in a run: a transfer may not finish.
"""

from collections.abc import Collection, Mapping
from typing import NoReturn

import numpy as np

from netcarlo.errors import InputError, suggest
from netcarlo.networks.outcome import dimension
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.schema.fields import flat
from netcarlo.schema.quantity import bounds
from netcarlo.simulation import fidelity
from netcarlo.simulation import outcomes as named
from netcarlo.simulation.ensemble import build_rows
from netcarlo.simulation.outcomes import MEANING, of_classes

ROWS = 16
"""Number of replications whose rows are examined, because a drawn value may enable an outcome in some
only."""

EVERYWHERE = frozenset({"goodput_bps"})
"""Outcomes of every scenario."""


def outcomes(scenario: Scenario, given: Mapping[str, Floats] | None = None) -> tuple[str, ...]:
    """Return the outcomes that runs of the scenario measure, in the order of its frame. Raises InputError.

    `given` has values of fields for some networks, as in `ensemble.build_rows`.
    """
    if scenario.fidelity != "packet":
        fidelity.check(scenario, scenario.fidelity)
    if not given:  # the maximum number of flows, so that each type of flow occurs
        counts = [(name, value) for name, value in flat(scenario) if name.endswith(".count")]
        given = {name: np.full(ROWS, bounds(value)[1]) for name, value in counts}
    n = len(next(iter(given.values()), range(ROWS)))
    built = build_rows(scenario, replications=np.arange(n), given=given)
    if scenario.fidelity == "formula":
        frame = named.by_formula(scenario, *built).frame
        return tuple(name for name in named.listed(frame) if frame[name].notna().any())
    return tuple(named.ordered(scenario.network.measured(built.rows, scenario.fidelity)))


def check(names: Collection[str], scenario: Scenario) -> None:
    """Raise InputError unless the scenario measures all of these outcomes."""
    if set(names) <= EVERYWHERE:
        return
    have = outcomes(scenario)
    for name in names:
        if name not in have:
            refuse(name, scenario, have)


def refuse(name: str, scenario: Scenario, have: Collection[str]) -> NoReturn:
    """Raise InputError for an outcome that a scenario does not measure, with those that it measures."""
    words = [scenario.network.key, scenario.transport.protocol, f"fidelity {scenario.fidelity}"]
    has = suggest(name, have, cutoff=0.8) if (of_class := of_classes([name])) else ""
    if not has.startswith("did you mean"):
        has = f"measured: {_listed(have, like=name)}"
        if of_class:
            has += "; give flows a class to measure its delays"
    raise InputError(f"'{name}' is not measured here ({', '.join(words)}); {has}")


def _listed(names: Collection[str], *, like: str) -> str:
    """Return outcomes in one line, those with the same dimension as `like` first."""
    ordered = [*(name for name in MEANING if name in names), *sorted(of_classes(names))]
    alike = [name for name in ordered if dimension(name) is dimension(like)]
    return ", ".join([*alike, *(name for name in ordered if name not in alike)])
