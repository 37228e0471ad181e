"""Fields, drawn inputs and outcomes of one replication, as text."""

import math
import re
from typing import Any

import pandas as pd

from netcarlo.reports.parts import scales
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.record import Record
from netcarlo.simulation.outcomes import MEANING, listed

FIRST = ("goodput_bps", "completion_s", "sent", "retransmitted", "timeouts", "loss_ratio")
"""Outcomes that stand above the figures."""

NOT_OF_A_RUN = (*fields.WORDS, "replications", "precision", "seed", "topology")
"""Fields that say nothing about one replication, or stand in its title."""


def setting(scenario: Scenario | None, outcomes: pd.DataFrame | None) -> list[dict[str, str]]:
    """The fields of the scenario that are not at their defaults, with what was drawn of random ones."""
    if scenario is None:
        return []
    found = []
    for name, value in fields.flat(scenario):
        if name in NOT_OF_A_RUN or value == _default(scenario, name):
            continue
        unit = scales.field_unit(scenario, name)
        random = isinstance(value, Distribution)
        found.append(
            {
                "name": name,
                "title": scales.name_of(name, scenario) if "." in name else name.replace("_", " "),
                "value": scales.distribution(scenario, name) if random else _text(value, unit),
                "drawn": _drawn(name, unit, outcomes) if random else "",
            }
        )
    return found


def outcomes_of(outcomes: pd.DataFrame | None) -> list[dict[str, str]]:
    """Every outcome that there is, in words, with what it means."""
    if outcomes is None:
        return []
    row = outcomes.iloc[0]
    return [
        {
            "title": scales.name_of(name),
            "value": _text(float(row[name]), scales.unit_of(name)),
            "meaning": MEANING[name],
        }
        for name in listed(outcomes)
        if math.isfinite(row[name])
    ]


def tiles(outcomes: pd.DataFrame | None) -> list[dict[str, str]]:
    """The outcomes that one asks for first."""
    if outcomes is None:
        return []
    row = outcomes.iloc[0]
    return [
        {"label": scales.name_of(name), "value": _text(float(row[name]), scales.unit_of(name))}
        for name in FIRST
        if name in row and math.isfinite(row[name])
    ]


def _default(scenario: Scenario, name: str) -> Any:
    """The default of a field; None where there is none."""
    above, _, last = name.rpartition(".")
    owner = fields.value(scenario, above) if above else scenario
    if isinstance(owner, Record) and last in type(owner).model_fields:
        return type(owner).model_fields[last].get_default(call_default_factory=True)
    return None


def _drawn(name: str, unit: str, outcomes: pd.DataFrame | None) -> str:
    """Return the value drawn for a field, or the values of its hops."""
    if outcomes is None:
        return ""
    row, each = outcomes.iloc[0], re.compile(re.escape(name).replace(r"\.each\.", r"\.each\.(\d+\.)?"))
    columns = [str(column) for column in outcomes]
    return ", ".join(_text(float(row[column]), unit) for column in columns if each.fullmatch(column))


def _text(value: Any, unit: str) -> str:
    """A value with its unit; names and switches as they are written."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    return scales.say(value, unit, 5)
