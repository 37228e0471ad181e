"""Answers without packets: what a fluid model or formulae say of the rows that an engine would simulate.

They take microseconds where packets take milliseconds, and they are biased.  `known_bias` says by how much:
`python -m tests.benchmarks.fidelity` measures it on networks drawn at random (docs/fidelity.md).
"""

import csv
import functools
import importlib.resources
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.errors import InputError, nearest
from netcarlo.kernels.shared.layout import KINDS
from netcarlo.networks.shared.description import kinds as shared_kinds
from netcarlo.scenario import Hops, Scenario
from netcarlo.schema.quantity import bounds
from netcarlo.simulation import fluid, steady_state
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import MEANING, Outcomes
from netcarlo.simulation.simulate import largest_launch
from netcarlo.transport.tcp import Tcp
from netcarlo.transport.udp import Udp

CHEAP = ("fluid", "formula")

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
    text = (importlib.resources.files("netcarlo.configs") / "references" / "known_bias.csv").read_text()
    return {
        (row["fidelity"], row["network"], row["protocol"]): Bias(
            *(float(row[field]) for field in Bias._fields)
        )
        for row in csv.DictReader(text.splitlines())
    }


def known_bias(scenario: Scenario) -> Bias | None:
    """The measured bias of the goodput by the scenario's fidelity; None for packets, and where none was
    measured: of a user's congestion control, say, or of flows that are not all of one TCP."""
    network = "paths" if scenario.paths else "cells"
    protocol: str = scenario.transport.protocol
    control = getattr(scenario.transport, "congestion_control", None)
    if control is not None:
        protocol = str(control) if protocol == "sack" else f"{protocol} with {control}"
    if scenario.shared is not None:
        network = "dumbbells" if scenario.shared.dumbbell is not None else "graphs"
        kinds = shared_kinds(scenario.shared, scenario.transport)
        streams = any(flow.udp is not None for _, flow in scenario.shared.each_flow())
        protocol = "mixed" if streams or len(kinds) != 1 else kinds.pop()
    return measured().get((scenario.fidelity, network, protocol))


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


def simulate(scenario: Scenario, *, first: int = 0, replications: int | None = None) -> Outcomes:
    """The outcomes of replications by formulae, of the networks that packets would meet; no integers.

    What the formulae do not know is NaN.  Raises InputError where there are none for the scenario.
    """
    check(scenario, "formula")
    count = scenario.replications if replications is None else replications
    size = largest_launch([scenario])
    parts = [
        approximate(scenario, *build(scenario, first=at, replications=min(size, first + count - at)))
        for at in range(first, first + count, size)
    ]
    return Outcomes(np.concatenate([part.integers for part in parts]), pd.concat([p.frame for p in parts]))


def approximate(scenario: Scenario, rows: Any, drawn: pd.DataFrame) -> Outcomes:
    """The same of rows of a scenario, which `check` has passed; `drawn` is set beside them."""
    model: Callable[[Any], dict[str, Any]] = steady_state.path
    if scenario.wireless is not None:
        model = steady_state.cell
    elif scenario.shared is not None:
        model = steady_state.shared
    found = model(rows)
    frame = pd.DataFrame({name: found.get(name, np.nan) for name in MEANING}, index=drawn.index)
    return Outcomes(np.zeros((len(drawn), 0), np.int64), pd.concat([frame, drawn], axis=1))


def check(scenario: Scenario, fidelity: str) -> None:
    """Raises InputError unless the scenario has a cheap model of this fidelity."""
    if fidelity not in CHEAP:
        raise InputError(f"fidelity = '{fidelity}' is no cheap one; {nearest(fidelity, CHEAP)}")
    problem = fluid.unknown(scenario) if fidelity == "fluid" else _unknown_to_formulas(scenario)
    if problem:
        raise InputError(f"fidelity = {fidelity} does not know this scenario: {problem}; write packet")


def _unknown_to_formulas(scenario: Scenario) -> str:
    """What a scenario has that the formulae do not know; empty if nothing."""
    if scenario.wireless is not None:
        return _unknown_to_bianchi(scenario)
    if scenario.adhoc is not None:
        return "there is no formula of ad hoc networks"
    if scenario.shared is not None:
        return _unknown_to_shares(scenario)
    transport = scenario.transport
    if not isinstance(transport, Tcp) or transport.protocol == "linux":
        return f"there is no formula of {transport.protocol}"
    control = transport.congestion_control
    if control is not None and (control not in KINDS or transport.protocol != "sack"):
        unknown = f"{control} of {transport.protocol}"
        return f"the formulae know the congestion controls of sack only, and not {unknown}"
    if scenario.mobility is not None:
        return "there is no formula of mobile hosts"
    if transport.bytes is not None or transport.packets is not None:
        return "the formulae are of endless transfers, and bytes or packets ends this one"
    hops = [hop.each if isinstance(hop, Hops) else hop for hop in scenario.paths[0].hops]
    if any(hop.outages for hop in hops):
        return "the formulae know no outages"
    return ""


def _unknown_to_shares(scenario: Scenario) -> str:
    assert scenario.shared is not None
    flows = [scenario.transport, *(flow for _, flow in scenario.shared.each_flow())]
    if any(flow.bytes is not None or flow.packets is not None for flow in flows):
        return "the formulae are of endless flows, and bytes or packets ends one"
    return ""


def _unknown_to_bianchi(scenario: Scenario) -> str:
    wireless, transport = scenario.wireless, scenario.transport
    assert wireless is not None
    if wireless.cell is None or wireless.flows != "up" or wireless.reach is not None:
        return "Bianchi's model is of a cell whose stations hear each other and send up"
    if not isinstance(transport, Udp) or transport.packets is not None or transport.bytes is not None:
        return "Bianchi's model is of endless UDP"
    if wireless.rate_control != "fixed" or wireless.each != type(wireless.each)():
        return "Bianchi's model has one fixed rate for all stations"
    if bounds(wireless.burst)[1] != 1:
        return "Bianchi's model sends 1 frame per access, and burst is more"
    if bounds(wireless.frame_error)[1] > 0:
        return "Bianchi's model knows no noise, and frame_error is above 0"
    if bounds(wireless.cw_min)[0] < 1:
        return "Bianchi's model needs a backoff, and cw_min can be 0"
    if wireless.wire is not None or wireless.receiver is not None or wireless.sender_delay is not None:
        return "Bianchi's model ends at the access point"
    return ""
