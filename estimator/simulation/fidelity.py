"""Fast approximations: a fluid model or formulae in place of the simulation of packets.

They take microseconds where packets take milliseconds, and they are biased. `known_bias` returns the bias
that `python -m tests.campaigns fidelity` measured on random networks (docs/fidelity.md).
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
"""Outcome whose bias was measured."""


class Bias(NamedTuple):
    """Relative error of the goodput of a fast model, compared with packets, on random networks."""

    median: float
    low: float
    """5 % quantile of the relative error."""
    high: float
    """95 % quantile of the relative error."""


@functools.cache
def measured() -> dict[tuple[str, str, str], Bias]:
    """Return the measured biases by fidelity, network and protocol."""
    file = importlib.resources.files("netcarlo.configs") / "references" / "known_bias.csv"
    text = file.read_text(encoding="utf-8")
    return {
        (row["fidelity"], row["network"], row["protocol"]): Bias(
            *(float(row[field]) for field in Bias._fields)
        )
        for row in csv.DictReader(text.splitlines())
    }


def known_bias(scenario: Scenario) -> Bias | None:
    """Return the measured bias of the goodput for the scenario's fidelity; None for packets, and where it was
    not measured.

    It was not measured for users' congestion controls and for flows of different TCPs, for example.
    """
    return measured().get((scenario.fidelity, *scenario.network.population(scenario)))


def sentence(scenario: Scenario, outcomes: Iterable[str] = (OF,)) -> str | None:
    """Return the caveat of a result about `outcomes` by a fast fidelity; None for packets."""
    if scenario.fidelity == "packet":
        return None
    said = [f"fidelity {scenario.fidelity}: an approximation without simulated packets"]
    bias, asked = known_bias(scenario), dict.fromkeys(outcomes)
    if bias is not None and OF in asked:
        median, low, high = (f"{round(100 * part):+d} %" for part in bias)
        drawn = "on random networks its goodput differed from that of packets by"
        said.append(f"{drawn} {median} (median), {low} to {high} in nine of ten (docs/fidelity.md)")
    if unknown := [name for name in asked if bias is None or name != OF]:
        said.append(f"the accuracy of its {', '.join(unknown)} was not measured")
    if left_out := ignored_fields.fields(scenario):
        said.append(f"it ignores {', '.join(left_out)}")
    return "; ".join(said)


def check_known(scenario: Scenario, outcomes: Iterable[str]) -> None:
    """Raise InputError if a decision about `outcomes` would rest on a fast model of unknown bias."""
    if scenario.fidelity == "packet":
        return
    bias = known_bias(scenario)
    if unknown := [name for name in dict.fromkeys(outcomes) if bias is None or name != OF]:
        known = "" if bias is None else f", only that of {OF}"
        what = f"fidelity = {scenario.fidelity} cannot decide about {', '.join(unknown)} here"
        raise InputError(f"{what}: its accuracy was not measured{known}; write fidelity: packet")


def check(scenario: Scenario, fidelity: str) -> None:
    """Raise InputError unless this fidelity has a fast model of the scenario."""
    if fidelity not in CHEAP:
        raise InputError(f"fidelity = '{fidelity}' is not a fast model; {suggest(fidelity, CHEAP)}")
    if problem := scenario.network.unknown(scenario, fidelity):
        others = [name for name in CHEAP if name != fidelity and not scenario.network.unknown(scenario, name)]
        remedy = f"write {' or '.join([*others, 'packet'])}"
        raise InputError(f"fidelity = {fidelity} does not support this scenario: {problem}; {remedy}")
