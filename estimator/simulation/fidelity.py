"""Answers without packets: what a fluid model or formulae say of the rows that an engine would simulate.

They take microseconds where packets take milliseconds, and they are biased.  `known_bias` says by how much:
`python -m tests.campaigns fidelity` measures it on networks drawn at random (docs/fidelity.md).
"""

import csv
import functools
import importlib.resources
from collections.abc import Iterable
from typing import NamedTuple

from netcarlo.errors import InputError, suggest
from netcarlo.networks.family import Fidelity
from netcarlo.scenario import Scenario
from netcarlo.simulation import ignored_fields

CHEAP: tuple[Fidelity, ...] = ("fluid", "formula")

OF = "goodput_bps"
"""The outcome whose bias was measured."""


class Bias(NamedTuple):
    """How far the goodput of a cheap model was off that of packets, as a part of it, on drawn networks."""

    median: float
    low: float
    """It was below this on 5 % of the networks,"""
    high: float
    """and above this on 5 %."""


@functools.cache
def measured() -> dict[tuple[str, str, str], Bias]:
    """The biases that were measured, by fidelity, network and protocol."""
    file = importlib.resources.files("netcarlo.configs") / "references" / "known_bias.csv"
    text = file.read_text(encoding="utf-8")
    return {
        (row["fidelity"], row["network"], row["protocol"]): Bias(
            *(float(row[field]) for field in Bias._fields)
        )
        for row in csv.DictReader(text.splitlines())
    }


def known_bias(scenario: Scenario) -> Bias | None:
    """The measured bias of the goodput by the scenario's fidelity; None for packets, and where none was
    measured: of a user's congestion control, say, or of flows that are not all of one TCP."""
    return measured().get((scenario.fidelity, *scenario.network.population(scenario)))


def sentence(scenario: Scenario, outcomes: Iterable[str] = (OF,)) -> str | None:
    """What a result about `outcomes` by a cheap fidelity has to say about itself; None for packets."""
    if scenario.fidelity == "packet":
        return None
    said = [f"fidelity {scenario.fidelity}: no packet was simulated"]
    bias, asked = known_bias(scenario), dict.fromkeys(outcomes)
    if bias is not None and OF in asked:
        median, low, high = (f"{100 * part:+.0f} %" for part in bias)
        drawn = "on networks drawn at random its goodput was off by"
        said.append(f"{drawn} {median} (median), {low} to {high} on nine in ten (docs/fidelity.md)")
    if unknown := [name for name in asked if bias is None or name != OF]:
        said.append(f"how far off its {', '.join(unknown)} is was not measured")
    if left_out := ignored_fields.fields(scenario):
        said.append(f"what {', '.join(left_out)} changes is not in it")
    return "; ".join(said)


def check_known(scenario: Scenario, outcomes: Iterable[str]) -> None:
    """Raise InputError if a decision about `outcomes` would rest on a cheap model of unknown bias."""
    if scenario.fidelity == "packet":
        return
    bias = known_bias(scenario)
    if unknown := [name for name in dict.fromkeys(outcomes) if bias is None or name != OF]:
        known = "" if bias is None else f", only that of its {OF}"
        what = f"fidelity = {scenario.fidelity} decides nothing about {', '.join(unknown)} here"
        raise InputError(f"{what}: how far off it is was not measured{known}; write fidelity: packet")


def check(scenario: Scenario, fidelity: str) -> None:
    """Raises InputError unless the scenario has a cheap model of this fidelity."""
    if fidelity not in CHEAP:
        raise InputError(f"fidelity = '{fidelity}' is no cheap one; {suggest(fidelity, CHEAP)}")
    if problem := scenario.network.unknown(scenario, fidelity):
        raise InputError(f"fidelity = {fidelity} does not know this scenario: {problem}; write packet")
