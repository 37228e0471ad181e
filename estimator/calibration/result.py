"""Result of a calibration: the records of `calibration.json`."""

from pathlib import Path
from typing import Literal

from netcarlo.errors import InputError
from netcarlo.schema.document import read_text
from netcarlo.schema.problems import explain
from netcarlo.schema.record import Record
from netcarlo.studies.calibrated import Calibration

Verdict = Literal["identified", "bounded below", "bounded above", "not identified", "acts on nothing"]


class Step(Record):
    """Point of a profile."""

    value: float
    """Value of the parameter."""
    rise: float
    """Misfit minus the best misfit."""
    doubt: float
    """Standard error of the misfit."""
    kept: bool
    """False if the value is excluded."""


class Parameter(Record):
    """Fitted parameter."""

    name: str
    """Name of the parameter."""
    value: float
    """Best value."""
    low: float | None
    """Nearest excluded value below; None if the profile excludes none."""
    high: float | None
    """Nearest excluded value above; None if the profile excludes none."""
    verdict: Verdict
    """Statement on how well the published numbers determine the parameter."""
    numbers: int
    """Number of published numbers that the parameter affects."""
    profile: list[Step]
    """Profile in increasing order of values."""


class Number(Record):
    """Published number and its estimate, from random numbers that the search has not used."""

    conditions: dict[str, str | float]
    metric: str
    unit: str
    published: float
    estimate: float
    standard_error: float
    sd: float
    z: float
    """Standardised residual (estimate - published) / sigma."""
    error: float
    """Estimate minus published value; relative if the floor of the target is, else in the unit of the
    metric."""


class Errors(Record):
    """Absolute errors of the numbers of one metric."""

    metric: str
    n: int
    mean: float
    median: float
    worst: float
    worst_at: dict[str, str | float]


class Fold(Record):
    """Fit without some cells, with its parameters and its errors on these cells."""

    condition: str
    value: str | float
    parameters: dict[str, float]
    unseen: list[str]
    """Parameters that affect none of the cells of the fit; they have the middle of their range."""
    left_out: list[Errors]
    numbers: list[Number]
    """Numbers of the cells that were left out."""


class Work(Record):
    """Cost of the calibration."""

    candidates: int
    runs: int
    packets: int
    wall_s: float
    versions: dict[str, str]


class Calibrated(Record):
    """Content of `calibration.json`."""

    format: Literal[1] = 1
    study: str
    declared: Calibration
    metrics: dict[str, str]
    parameters: list[Parameter]
    settings: dict[str, str]
    """Scenario fields of the best candidate, as they are written in a file."""
    misfit: float
    doubt: float
    """Standard error of the misfit."""
    numbers: list[Number]
    in_sample: list[Errors]
    present: list[Errors]
    """Errors of the scenario files without changes."""
    present_misfit: float
    left_out: list[Errors]
    """Errors over all folds: each number once for each condition that is left out."""
    folds: list[Fold]
    work: Work

    @property
    def chi_square(self) -> float:
        """Mean of z^2 over the numbers; about 1 if model and noise are right."""
        return sum(number.z**2 for number in self.numbers) / len(self.numbers)


def read(path: Path) -> Calibrated:
    """Read a `calibration.json`. Raises InputError."""
    from pydantic import ValidationError

    text = read_text(path)
    try:
        return Calibrated.model_validate_json(text)
    except ValidationError as error:
        what = "is not JSON" if error.errors()[0]["type"] == "json_invalid" else explain(error).lines[0]
        raise InputError(
            f"{path}: is not a calibration of this version ({what}); run netcarlo calibrate again"
        ) from None
