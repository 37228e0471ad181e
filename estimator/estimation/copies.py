"""Detection of replications that are copies of one run, because nothing in the scenario is random."""

import warnings
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pydantic import BaseModel

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.schema import units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.notes import PROBABILITIES, Note
from netcarlo.schema.quantity import bounds
from netcarlo.simulation.outcomes import listed

OF_CLOCK = ("mean_rtt_s",)
"""Outcomes that vary with the phase of the sender's clock, even where nothing else varies."""

RANDOM = (
    *PROBABILITIES, "bursts", "ack_bursts", "jitter", "ack_jitter", "failures", "arrivals", "up", "red",
    "on", "ping_pong", "false_alarm",
)  # fmt: skip
"""Fields that make a network random unless they are 0 or omitted."""


def are_copies(scenario: Scenario, frame: pd.DataFrame) -> bool:
    """Return True if all replications in a frame of outcomes are copies of one run.

    They are if nothing in the scenario is random and no outcome differs, except for those `OF_CLOCK`. Equal
    outcomes alone do not prove it: a rare loss may not occur in a few replications.
    """
    if len(frame) < 2 or _is_random(scenario):
        return False
    columns = [name for name in listed(frame) if name not in OF_CLOCK]
    values = frame[columns]
    first = values.iloc[0]
    return bool(((values == first) | (values.isna() & first.isna())).all(axis=None))


def note(scenario: Scenario, count: int) -> None:
    """Warn that `count` replications of this scenario are copies of one run, and suggest how to randomise
    it."""
    text = f"nothing in this scenario is random: all {count} replications are the same run and count as one"
    if remedy := _remedy(scenario):
        text += f"; draw the start of each flow: {remedy}; or write replications: 1"
    else:
        text += "; write replications: 1"
    warnings.warn(text, Note, stacklevel=3)


def _remedy(scenario: Scenario) -> str:
    """Return options that make the start times random; empty if the scenario does not accept them."""
    width = min(1.0, bounds(scenario.duration)[0] / 10)
    starts = {"uniform": ["0 s", units.show(width, units.TIME)]}
    values = dict.fromkeys(scenario.network.starts(), starts)
    try:
        scenario.with_values(values)
    except InputError:
        return ""
    uniform = f"'{{uniform: [{', '.join(starts['uniform'])}]}}'"
    return " ".join(f"--set {name}={uniform}" for name in values)


def _is_random(scenario: Scenario) -> bool:
    """Return True if a field of the scenario makes replications differ."""
    fields = dict(_fields(scenario, ""))
    if scenario.fidelity == "formula":
        return any(isinstance(value, Distribution) for value in fields.values())
    return any(
        isinstance(value, Distribution) or (name in RANDOM and value not in (None, 0, [], ()))
        for (name, _), value in fields.items()
    )


def _fields(record: Any, name: str, place: str = "") -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield the fields of a record at any depth: their names, with a place that identifies each."""
    yield (name, place), record
    if isinstance(record, BaseModel):
        for field in type(record).model_fields:
            yield from _fields(getattr(record, field), field, f"{place}.{field}")
    elif isinstance(record, list | tuple):
        for k, each in enumerate(record):
            yield from _fields(each, name, f"{place}.{k}")
