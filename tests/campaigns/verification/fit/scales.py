"""Scales of the model's errors in a fit, by maximum likelihood from runs with known paths."""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from netcarlo.calibration.fit.candidates import Simulator
from netcarlo.calibration.fit.free import free_fields
from netcarlo.calibration.fit.likelihood import Numbers, slope, transformed
from netcarlo.calibration.fit.observed import SCALES, Observed, Scales, observed, span, targets
from netcarlo.measurements import read
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import scenario_of
from tests.campaigns.verification.fit.runs import FREE, Truth, scenario, true_values

REPLICATIONS = 128
"""Simulated runs of each known path."""


def estimated(truths: list[Truth], folder: Path) -> tuple[Scales, float]:
    """Return the most likely scales, and minus twice the logarithm of their likelihood relative to `SCALES`.

    Each measured run is compared with simulated runs of its true path; both vary at random. The likelihood is
    that of the fit.
    """
    runs = []
    for truth in truths:
        run = observed(read(folder / f"run_{truth.id:02d}.json")[0])
        runs.append((run, simulated(truth, run)))
        print(f"run {truth.id} simulated", file=sys.stderr, flush=True)

    def misfit(logs: Floats) -> float:
        scales = Scales(*np.exp(logs).tolist())
        return sum(_misfit(run, numbers, scales) for run, numbers in runs)

    start = np.log(np.array(SCALES))
    found = minimize(misfit, start, method="Powell", options={"maxiter": 4, "xtol": 0.02, "ftol": 1e-4})
    return Scales(*np.exp(found.x).tolist()), float(found.fun) - misfit(start)


def simulated(truth: Truth, run: Observed) -> Numbers:
    """Return the numbers of runs of the true path."""
    made = scenario_of(scenario(truth)).with_values({"seed": 7})
    fields = free_fields(made, FREE)
    values = true_values(truth)
    position = [float(one.positions(np.array(values[one.name.rpartition(".")[2]]))) for one in fields]
    found = Simulator(made, fields).run(np.tile(position, (REPLICATIONS, 1)), span(run), first=0)
    numbers = np.stack(
        [transformed(one.kind, found.of(one)[found.connected]) for one in targets(run)], axis=-1
    )
    covariance = np.cov(numbers, rowvar=False) + 1e-12 * np.eye(numbers.shape[1])
    sd = np.sqrt(np.diag(covariance))
    return Numbers(numbers.mean(axis=0)[None], sd[None] ** 2, covariance / np.outer(sd, sd))


def _misfit(run: Observed, numbers: Numbers, scales: Scales) -> float:
    found = targets(run, scales)
    floors = np.array([one.floor * slope(one.kind, one.value) for one in found])
    # The likelihood of the fit is relative to the floors, which are fixed there.
    relative, _ = numbers.misfit(found, np.ones(len(found), bool))
    return float(relative[0] + 2 * np.log(floors).sum())
