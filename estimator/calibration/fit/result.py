"""Result of a fit."""

from typing import Any, Literal, NamedTuple

from netcarlo.calibration.fit.free import FreeField
from netcarlo.calibration.fit.observed import Observed
from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.schema.arguments import checked

Verdict = Literal["determined", "bounded above", "bounded below", "not determined"]

COVERAGE_RUNS = 40
"""Measured runs of a Linux kernel on paths with known fields (docs/results/fit.md)."""
COVERED = {"rate": 40, "delay": 39, "queue": 37, "loss": 39}
"""Number of those runs whose 95 % interval contained the true value of a field."""


class Parameter(NamedTuple):
    """A fitted field."""

    free: FreeField
    """Field and range."""
    value: float
    """Median of the posterior [SI]."""
    low: float
    """Lower end of the 95 % interval [SI]; that of the range if the data set no lower bound."""
    high: float
    """Upper end of the 95 % interval [SI]; that of the range if the data set no upper bound."""
    verdict: Verdict
    """Statement on how well the data determine the field."""
    density: tuple[tuple[float, float], ...]
    """Posterior density relative to its maximum, where the data allow it, by value [SI]."""

    def record(self) -> dict[str, Any]:
        """Return the field as JSON data in SI units."""
        return {
            "field": self.free.name, "unit": self.free.unit, "value": self.value, "low": self.low,
            "high": self.high, "verdict": self.verdict, "searched": [self.free.low, self.free.high],
            "scale": self.free.scale,
        }  # fmt: skip


class Pair(NamedTuple):
    """Two fields whose values compensate each other."""

    one: str
    other: str
    correlation: float
    """Correlation of their positions in the posterior."""


class Number(NamedTuple):
    """A measured number, its simulated value, and the prediction of a fit without it."""

    run: str
    kind: str
    start_s: float
    end_s: float
    measured: float
    fitted: float
    sd: float
    """Standard deviation of one simulated run and of the posterior."""
    left_out: float
    """Prediction of the fit without the part or run that contains the number; NaN if there is none."""


class Error(NamedTuple):
    """Errors of one quantity."""

    kind: str
    fitted: float
    """Mean absolute error of the fitted numbers: a share, for counts in packets."""
    left_out: float
    """Mean absolute error of predictions of numbers that were left out; NaN if there is none."""
    n: int
    """Number of numbers."""


class Curve(NamedTuple):
    """A measured and a fitted curve over time."""

    run: str
    kind: str
    measured_s: Floats
    measured: Floats
    fitted_s: Floats
    fitted: Floats
    low: Floats
    """2.5 % quantile of simulated runs."""
    high: Floats
    """97.5 % quantile of simulated runs."""


class Fitted(NamedTuple):
    """Result of `fit`."""

    scenario: Scenario
    """Scenario with the fitted values."""
    settings: dict[str, str | int]
    """Fitted fields as they are written in a scenario."""
    runs: list[Observed]
    parameters: list[Parameter]
    pairs: list[Pair]
    numbers: list[Number]
    errors: list[Error]
    folds: str
    """Unit that cross-validation leaves out: `runs`, `parts of the run`, or empty."""
    curves: list[Curve]
    fit_ratio: float
    """Smallest misfit due to deviations over its expectation; intervals are widened if it exceeds 1."""
    widened: float
    """Factor by which variances were widened, 1 or more."""
    candidates: int
    """Number of candidates simulated."""
    replications: int
    """Number of replications simulated."""
    wall_s: float
    seed: int

    @checked
    def parameter(self, name: str) -> Parameter:
        """Return a fitted field by the name that the user wrote. Raises InputError."""
        for one in self.parameters:
            if one.free.name == name:
                return one
        names = ", ".join(one.free.name for one in self.parameters)
        raise InputError(f"name = {name!r} is not a fitted field; expected {names}")

    def record(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        return {
            "settings": self.settings,
            "parameters": [one.record() for one in self.parameters],
            "compensating": [one._asdict() for one in self.pairs],
            "numbers": [one._asdict() for one in self.numbers],
            "errors": [one._asdict() for one in self.errors],
            "left_out": self.folds,
            "fit_ratio": self.fit_ratio,
            "variance_widened_by": self.widened,
            "candidates": self.candidates,
            "replications": self.replications,
            "runs": [run.name for run in self.runs],
            "seed": self.seed,
        }


def verdict(low_open: bool, high_open: bool) -> Verdict:
    """Return what the data say about a field of which they do not exclude one or both ends of the range."""
    if low_open and high_open:
        return "not determined"
    if low_open:
        return "bounded above"
    return "bounded below" if high_open else "determined"
