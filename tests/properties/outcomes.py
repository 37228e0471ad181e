"""Impossible outcomes of a run: values outside their bounds, and violated relations.

The campaign `outcomes` checks them in many random scenarios. Kernels run as plain Python, so that nothing is
compiled.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np

from netcarlo.errors import InputError
from netcarlo.estimation.estimate import summary
from netcarlo.kernels.base.layout import ENDLESS, NS
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.kernels.base.rows import trim
from netcarlo.kernels.models import Model
from netcarlo.kernels.shared.layout import Flow, SharedRows
from netcarlo.networks import classes
from netcarlo.networks.family import Fidelity
from netcarlo.networks.outcome import POSITIVE, Values
from netcarlo.networks.relations import RELATIONS
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.launches import Job, model_of
from netcarlo.simulation.outcomes import BY_NAME, Outcomes, by_formula, listed, of_classes, outcomes
from netcarlo.transport.tcp import Tcp
from tests.kernels.beside_twin import run_as_python
from tests.properties import capacity

TOLERANCE = 1e-9
PARTS = "flows", "links", "classes"
FIDELITIES: tuple[Fidelity, ...] = get_args(Fidelity)
CHAINS = ("ci_low", "mean", "ci_high"), tuple(f"q{round(100 * q):02d}" for q in statistics.QUANTILES)
"""Columns of an answer that must ascend."""


class Run(NamedTuple):
    """Scenario and the outcomes of all its replications."""

    scenario: Scenario
    rows: Any
    found: Outcomes


@functools.cache
def _bound_once(model: Model) -> Model:
    """Return the model with its functions bound only once."""
    return replace(model, make=functools.cache(model.make))


def run(scenario: Scenario) -> Run:
    """Simulate with the uncompiled kernel, or by formulae."""
    part = Job(scenario, 0, scenario.replications).part()
    if scenario.fidelity == "formula":
        return Run(scenario, part.rows, by_formula(scenario, part.rows, part.drawn))
    integers = trim(run_as_python(_bound_once(model_of(scenario)), part.rows), part.rows, part.rows)
    return Run(scenario, part.rows, outcomes(scenario.network, integers, part.rows, part.drawn))


def broken(given: Run) -> list[str]:
    """Return the impossible outcomes of the run, of its classes, flows and links, and of the answer."""
    scenario, _, found = given
    frame = {name: found.frame[name].to_numpy(np.float64) for name in listed(found.frame)}
    wrong = [*outside(frame), *unrelated(given, frame | _limits(given))]
    for word, values in _by_class(frame).items():
        wrong += [f"class {word}: {text}" for text in unrelated(given, values | _limits(given))]
    for part in PARTS if found.integers.size else ():
        try:
            table = scenario.network.by_part(part, found.integers, given.rows)
        except InputError:  # the network has no such parts
            continue
        own = {name: np.asarray(values, np.float64) for name, values in table.items()}
        limits = _limits(given, part)
        wrong += [f"by {part}: {text}" for text in [*outside(own), *unrelated(given, own | limits)]]
    return [*wrong, *capacity.broken(scenario, found), *unanswerable(found)]


def outside(found: Mapping[str, Floats]) -> Iterator[str]:
    """Yield values outside the bounds of their outcomes."""
    for name, values in found.items():
        bounds = _bounds(name)
        low, high = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
        if low < bounds.least or high > bounds.most + TOLERANCE or np.isinf(values).any():
            yield f"{name} is {low:.12g} to {high:.12g}"


def unrelated(given: Run, found: Mapping[str, Floats]) -> Iterator[str]:
    """Yield violated relations, without those of outcomes that a cheap model does not measure."""
    scenario = given.scenario
    measured = set(measurable.outcomes(scenario)) if scenario.fidelity != "packet" else set(BY_NAME)
    unknown = {name for name in BY_NAME if name not in measured}
    for relation in RELATIONS:
        if relation.but == scenario.network.key or (relation.since_start and scenario.warm_up):
            continue
        for left, sign, right in relation.pairs:
            if left[0] not in found or right[0] not in found or unknown & {*left, *right}:
                continue
            a, b = (sum(np.nan_to_num(found[n]) for n in side if n in found) for side in (left, right))
            known = ~np.isnan(found[left[0]] + found[right[0]])
            slack = TOLERANCE * np.maximum(np.abs(a), np.abs(b))
            bad = known & ((a > b + slack) | ((sign == "=") & (a < b - slack)))
            for x, y in zip(*(np.broadcast_to(side, bad.shape)[bad] for side in (a, b)), strict=True):
                yield f"not {' + '.join(left)} {sign} {' + '.join(right)}: {x:.12g}, {y:.12g}"
                break


def unanswerable(found: Outcomes) -> Iterator[str]:
    """Return the impossible means, intervals and quantiles over the replications."""
    table = summary(found.frame)
    for name, row in table[table["n"] > 0].iterrows():
        bounds = _bounds(str(name))
        for chain in CHAINS:
            values = np.array([bounds.least, *row[list(chain)].dropna(), bounds.most])
            with np.errstate(invalid="ignore"):
                falls = values[:-1] > values[1:] + TOLERANCE * np.abs(values[1:])
            if falls.any():
                yield f"answer of {name}: {', '.join(chain)} = {values[1:-1].tolist()}"


def _bounds(name: str) -> Values:
    return BY_NAME[name].values if name in BY_NAME else POSITIVE


def _limits(given: Run, part: str = "") -> dict[str, Floats]:
    """Return the known quantities of `relations.RUN`, [n] each; of parts [n, 1] or [n, parts]."""
    scenario, rows, _ = given
    p, shared = rows.parameters, isinstance(rows, SharedRows)
    of_flow = rows.flows if shared else p[:, None]
    found = {"one": np.ones(len(p)), "tick_s": of_flow[:, :, TcpP.TICK].max(axis=1) / NS}
    if scenario.fidelity != "formula":  # whose rates are those of a steady state
        found["duration_s"] = p[:, RowP.END] / NS
    if scenario.network.key == "adhoc":
        found["neighbours"] = np.full(len(p), rows.times.shape[1] - 1.0)
        found["capacity_bps"] = np.full(len(p), capacity.radio_bps(scenario))
    if scenario.network.key == "wireless":
        found["capacity_bps"] = np.full(len(p), capacity.radio_bps(scenario))
    if scenario.network.key == "paths" and not shared:
        found["capacity_bps"] = capacity.path_bps(rows, exact=scenario.fidelity == "formula")
    found = {name: values[:, None] for name, values in found.items()} if part else found
    single = scenario.network.key in ("paths", "adhoc") and not shared
    if single or (shared and part == "flows"):
        limit, window = (of_flow[:, :, column].astype(np.float64) for column in (RowP.LIMIT, RowP.WINDOW))
        slots = of_flow[:, :, Flow.CLASS] > 0 if shared else np.zeros(limit.shape, bool)
        limit = np.where((limit < ENDLESS) & ~slots, limit, np.nan)
        tuned = getattr(scenario.transport, "autotuning", False)
        window = window if isinstance(scenario.transport, Tcp) and not tuned else np.full_like(window, np.nan)
        each = {"limit_packets": limit, "window_packets": window}
        found |= {name: values if part else values[:, 0] for name, values in each.items()}
    return found


def _by_class(frame: Mapping[str, Floats]) -> dict[str, dict[str, Floats]]:
    """Return the outcomes of each class of flows by their names without that of the class."""
    found: dict[str, dict[str, Floats]] = {}
    for name in of_classes(frame):
        kind = max((kind.name for kind in classes.CLASS_OUTCOMES if name.endswith(f"_{kind.name}")), key=len)
        found.setdefault(name.removesuffix(f"_{kind}"), {})[kind] = frame[name]
    return found
